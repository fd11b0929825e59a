package cairn.report;

import cairn.format.BoxLayout;
import cairn.format.CopyLayout;
import cairn.format.CounterLayout;
import cairn.format.PressureLayout;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.format.VitalsLayout;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Writes a box by hand, straight from docs/FORMAT.md and independent of the recorder. Values are
 * plain Java values; a map's keys are text or small integers.
 */
public final class BoxBuilder {
  /** Of every box: 2026-11-30T14:00:00Z. */
  public static final long START_WALL = 1_796_047_200_000L;

  /** The monotonic clock at that time. */
  public static final long START_NANOS = 5_000_000_000_000L;

  public static final String RUN_ID = "20261130-140000-000-4711-0badcafe";
  public static final String APP = "orders";
  public static final String BOOT_ID = "6b1f0c1e-1111-4222-8333-444455556666";
  public static final String HOST = "web-1";

  /** A section. */
  public record Part(int tag, int unit, int count, int offset) {
    public int length() {
      return unit * count;
    }
  }

  private final Map<Integer, Part> parts = new LinkedHashMap<>();
  private final byte[] bytes;
  private final ByteBuffer box;
  private final long nonce = 0x0123456789ABCDEFL;
  private final Map<Object, Object> identity = new LinkedHashMap<>();
  private final Map<Integer, Integer> spanEnds = new LinkedHashMap<>();
  private final Map<Integer, Long> samples = new LinkedHashMap<>();
  private long trailPosition;
  private long scopeGeneration = 1;
  private int scopeAt;

  private BoxBuilder(int[][] sizes) {
    int offset = BoxLayout.FIRST_SECTION_OFFSET;
    for (int[] size : sizes) {
      parts.put(size[0], new Part(size[0], size[1], size[2], offset));
      offset += (size[1] * size[2] + 511) / 512 * 512;
    }
    bytes = new byte[offset + BoxLayout.TRAILER_SIZE];
    box = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    trailPosition = part(BoxLayout.TRAIL).length();
    header();
    identity.put("runId", RUN_ID);
    identity.put("app", APP);
    identity.put("release", "1.4.2");
    identity.put("environment", "prod");
    identity.put("pid", 4711L);
    identity.put("processStart", 123_456L);
    identity.put("bootId", BOOT_ID);
    identity.put("pidNamespace", "pid:[4026531836]");
    identity.put("host", HOST);
    identity.put("workingDirectory", "/srv/orders");
    identity.put("wallMillis", START_WALL);
    identity.put("nanos", START_NANOS);
    identity.put("durability", "process");
    identity.put("mode", "mapped");
    identity.put("cairn", "0.1.0");
    copies(BoxLayout.IDENTITY, 1, cbor(identity));
    life("state", "OPEN");
    beat(0);
    ByteBuffer head = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, 1);
    copies(BoxLayout.SCOPE_HEAD, 1, head.array());
  }

  /** {@return a box of the sizes that the recorder uses, but for a trail of 64 KiB} */
  public static BoxBuilder box() {
    return new BoxBuilder(
        new int[][] {
          {BoxLayout.IDENTITY, 4096, 2},
          {BoxLayout.LIFE, 2048, 2},
          {BoxLayout.BEAT, 512, 2},
          {BoxLayout.UNCAUGHT, 4096, 2},
          {BoxLayout.COUNTERS, 512, 2},
          {BoxLayout.SCOPE_HEAD, 512, 2},
          {BoxLayout.VITALS_SECONDS, 192, 600},
          {BoxLayout.VITALS_MINUTES, 192, 1440},
          {BoxLayout.SCOPE_LOG, 65_536, 2},
          {BoxLayout.SPANS, 512, 64},
          {BoxLayout.TRAIL, 32, 2048},
          {BoxLayout.PRESSURE, 8192, 2},
        });
  }

  /** {@return a box of about 16 KiB, for what is done once per byte} */
  public static BoxBuilder small() {
    return new BoxBuilder(
        new int[][] {
          {BoxLayout.IDENTITY, 512, 2},
          {BoxLayout.LIFE, 256, 2},
          {BoxLayout.BEAT, 64, 2},
          {BoxLayout.UNCAUGHT, 256, 2},
          {BoxLayout.COUNTERS, 128, 2},
          {BoxLayout.SCOPE_HEAD, 64, 2},
          {BoxLayout.VITALS_SECONDS, 192, 4},
          {BoxLayout.VITALS_MINUTES, 192, 2},
          {BoxLayout.SCOPE_LOG, 512, 2},
          {BoxLayout.SPANS, 256, 4},
          {BoxLayout.TRAIL, 32, 32},
          {BoxLayout.PRESSURE, 256, 2},
        });
  }

  /** {@return where a section is} */
  public Part part(int tag) {
    Part part = parts.get(tag);
    if (part == null) {
      throw new IllegalArgumentException("no such section: tag=" + tag);
    }
    return part;
  }

  private void header() {
    ByteBuffer header = ByteBuffer.allocate(BoxLayout.HEADER_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(BoxLayout.MAGIC_OFFSET, BoxLayout.MAGIC);
    header.putShort(BoxLayout.MAJOR_OFFSET, (short) BoxLayout.MAJOR);
    header.putShort(BoxLayout.MINOR_OFFSET, (short) BoxLayout.MINOR);
    header.putLong(BoxLayout.FILE_LENGTH_OFFSET, bytes.length);
    header.putLong(BoxLayout.NONCE_OFFSET, nonce);
    header.putInt(BoxLayout.SECTION_COUNT_OFFSET, parts.size());
    int at = BoxLayout.ENTRIES_OFFSET;
    for (Part part : parts.values()) {
      header.putInt(at, part.tag);
      header.putInt(at + BoxLayout.ENTRY_VERSION_OFFSET, 1);
      header.putLong(at + BoxLayout.ENTRY_OFFSET_OFFSET, part.offset);
      header.putLong(at + BoxLayout.ENTRY_LENGTH_OFFSET, part.length());
      header.putInt(at + BoxLayout.ENTRY_UNIT_OFFSET, part.unit);
      header.putInt(at + BoxLayout.ENTRY_COUNT_OFFSET, part.count);
      at += BoxLayout.ENTRY_SIZE;
    }
    putHeader(header.array());
  }

  private void putHeader(byte[] header) {
    ByteBuffer buffer = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    CRC32C crc = new CRC32C();
    crc.update(header, 0, BoxLayout.HEADER_CRC_OFFSET);
    buffer.putInt(BoxLayout.HEADER_CRC_OFFSET, (int) crc.getValue());
    box.put(0, header);
    box.put(bytes.length - BoxLayout.TRAILER_SIZE, header);
  }

  /** Sets a 16-bit word of both headers, such as the version. */
  public BoxBuilder headerShort(int offset, int value) {
    byte[] header = Arrays.copyOf(bytes, BoxLayout.HEADER_SIZE);
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putShort(offset, (short) value);
    putHeader(header);
    return this;
  }

  /** Sets a 32-bit word of both headers, such as a section's tag or version. */
  public BoxBuilder headerInt(int offset, int value) {
    byte[] header = Arrays.copyOf(bytes, BoxLayout.HEADER_SIZE);
    ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN).putInt(offset, value);
    putHeader(header);
    return this;
  }

  // Two copies

  /** Writes a payload of a section in two copies, both alike. */
  public BoxBuilder copies(int tag, long generation, byte[] payload) {
    for (int i = 0; i < 2; i++) {
      copy(tag, i, generation, payload);
    }
    return this;
  }

  /** Writes one copy. */
  public BoxBuilder copy(int tag, int index, long generation, byte[] payload) {
    Part part = part(tag);
    int at = part.offset + index * part.unit;
    if (payload.length > part.unit - CopyLayout.PAYLOAD_OFFSET) {
      throw new IllegalArgumentException("payload does not fit: length=" + payload.length);
    }
    Arrays.fill(bytes, at, at + part.unit, (byte) 0);
    box.putLong(at, generation);
    box.putInt(at + CopyLayout.LENGTH_OFFSET, payload.length);
    box.put(at + CopyLayout.PAYLOAD_OFFSET, payload);
    box.putInt(
        at + CopyLayout.CRC_OFFSET,
        checksum(Arrays.copyOfRange(bytes, at, at + CopyLayout.PAYLOAD_OFFSET + payload.length)));
    return this;
  }

  /** {@return CRC-32C over the nonce and these bytes} */
  private int checksum(byte[] content) {
    CRC32C crc = new CRC32C();
    crc.update(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, nonce).array());
    crc.update(content, 0, content.length);
    return (int) crc.getValue();
  }

  /** Sets an entry of the identity; a null value removes it. */
  public BoxBuilder identity(String key, Object value) {
    if (value == null) {
      identity.remove(key);
    } else {
      identity.put(key, value);
    }
    return copies(BoxLayout.IDENTITY, 1, cbor(identity));
  }

  /** Sets the life cycle: keys and values in turn. */
  public BoxBuilder life(Object... entries) {
    return copies(BoxLayout.LIFE, 1, cbor(map(entries)));
  }

  /** Sets the end marker, at that many milliseconds after the start. */
  public BoxBuilder end(String state, String reason, long millis, Object... more) {
    Map<Object, Object> map = map(more);
    map.put("state", state);
    map.put("reason", reason);
    map.put("wallMillis", START_WALL + millis);
    map.put("nanos", START_NANOS + millis * 1_000_000);
    return copies(BoxLayout.LIFE, 2, cbor(map));
  }

  /** Sets the heartbeat, at that many milliseconds after the start. */
  public BoxBuilder beat(long millis) {
    return beat(millis, millis);
  }

  /** As {@link #beat(long)}, where the wall clock was set in between. */
  public BoxBuilder beat(long millis, long wallMillis) {
    ByteBuffer payload = ByteBuffer.allocate(16).order(ByteOrder.LITTLE_ENDIAN);
    payload.putLong(START_WALL + wallMillis).putLong(START_NANOS + millis * 1_000_000);
    return copies(BoxLayout.BEAT, 1, payload.array());
  }

  /** Sets the last uncaught exception, at that many milliseconds after the start. */
  public BoxBuilder uncaught(
      long millis, String thread, String type, String message, Object... more) {
    Map<Object, Object> map = map(more);
    map.put("thread", thread);
    map.put("type", type);
    map.put("message", message);
    map.put("stack", List.of("com.acme.Orders.load(Orders.java:12)"));
    map.put("wallMillis", START_WALL + millis);
    map.put("nanos", START_NANOS + millis * 1_000_000);
    return copies(BoxLayout.UNCAUGHT, 1, cbor(map));
  }

  /** Sets the only snapshot, at 95 % of a limit, at that many milliseconds after the start. */
  public BoxBuilder pressure(
      long millis, int limit, long used, long limitBytes, Map<?, ?>... spans) {
    Map<Object, Object> snapshot = new LinkedHashMap<>();
    snapshot.put(PressureLayout.LIMIT, (long) limit);
    snapshot.put(PressureLayout.PERCENT, 95L);
    snapshot.put(PressureLayout.USED, used);
    snapshot.put(PressureLayout.LIMIT_BYTES, limitBytes);
    snapshot.put(PressureLayout.WALL_MILLIS, START_WALL + millis);
    snapshot.put(PressureLayout.NANOS, START_NANOS + millis * 1_000_000);
    snapshot.put(PressureLayout.OPEN_SPANS, (long) spans.length);
    snapshot.put(PressureLayout.SPANS, List.of(spans));
    return copies(BoxLayout.PRESSURE, 1, cbor(Map.of(limit * PressureLayout.LEVELS + 2, snapshot)));
  }

  /** {@return a span of a snapshot} */
  public static Map<Object, Object> pressed(
      String name, long id, long millis, String thread, long allocated, long allocatedMillis) {
    Map<Object, Object> map = new LinkedHashMap<>();
    map.put(PressureLayout.SPAN_NAME, name);
    map.put(PressureLayout.SPAN_ID, id);
    map.put(PressureLayout.SPAN_NANOS, START_NANOS + millis * 1_000_000);
    map.put(PressureLayout.SPAN_THREAD, thread);
    map.put(PressureLayout.SPAN_ALLOCATED, allocated);
    map.put(PressureLayout.SPAN_ALLOCATED_NANOS, allocatedMillis * 1_000_000);
    return map;
  }

  /** Sets a counter of {@link CounterLayout}. */
  public BoxBuilder counter(int index, long value) {
    Part part = part(BoxLayout.COUNTERS);
    box.putLong(part.offset + 8 * index, value);
    box.putLong(part.offset + part.unit + 8 * index, value);
    return this;
  }

  // Vitals

  /** Adds a sample at that many milliseconds after the start: index and value in turn. */
  public BoxBuilder sample(int tag, long millis, long... values) {
    Part part = part(tag);
    long sequence = samples.merge(tag, 1L, Long::sum);
    int at = part.offset + (int) ((sequence - 1) % part.count) * part.unit;
    int length = VitalsLayout.VALUES_OFFSET + 8 * VitalsLayout.COUNT;
    Arrays.fill(bytes, at, at + part.unit, (byte) 0);
    box.putLong(at, sequence);
    box.putInt(at + VitalsLayout.LENGTH_OFFSET, length);
    for (int i = 0; i < VitalsLayout.COUNT; i++) {
      box.putLong(at + VitalsLayout.VALUES_OFFSET + 8 * i, VitalsLayout.UNKNOWN);
    }
    box.putLong(at + VitalsLayout.VALUES_OFFSET, START_WALL + millis);
    box.putLong(at + VitalsLayout.VALUES_OFFSET + 8, START_NANOS + millis * 1_000_000);
    for (int i = 0; i < values.length; i += 2) {
      box.putLong(at + VitalsLayout.VALUES_OFFSET + 8 * (int) values[i], values[i + 1]);
    }
    box.putInt(at + VitalsLayout.CRC_OFFSET, checksum(Arrays.copyOfRange(bytes, at, at + length)));
    return this;
  }

  /** As {@link #sample}, one of a second. */
  public BoxBuilder second(long millis, long... values) {
    return sample(BoxLayout.VITALS_SECONDS, millis, values);
  }

  // Records

  /** {@return a whole record} */
  private byte[] record(long position, long wallMillis, int type, int level, byte[] payload) {
    int length = RecordLayout.HEADER_SIZE + payload.length;
    ByteBuffer record = ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    record.putLong(RecordLayout.POSITION_OFFSET, position);
    record.putInt(RecordLayout.LENGTH_OFFSET, length);
    record.putLong(RecordLayout.TIME_OFFSET, wallMillis);
    record.putShort(RecordLayout.TYPE_OFFSET, (short) type);
    record.put(RecordLayout.LEVEL_OFFSET, (byte) level);
    record.put(RecordLayout.HEADER_SIZE, payload);
    record.putInt(RecordLayout.CRC_OFFSET, checksum(record.array()));
    return record.array();
  }

  /** Adds a record to the trail, whatever its payload is. */
  public BoxBuilder trailRecord(int type, int level, long millis, byte[] payload) {
    Part part = part(BoxLayout.TRAIL);
    byte[] record = record(trailPosition, START_WALL + millis, type, level, payload);
    for (int i = 0; i < record.length; i++) {
      bytes[part.offset + (int) ((trailPosition + i) % part.length())] = record[i];
    }
    return skipTrail(record.length);
  }

  /** Claims that many bytes of the trail and never writes them. */
  public BoxBuilder skipTrail(int length) {
    trailPosition += RecordLayout.aligned(length);
    return this;
  }

  /** {@return where in the file the next trail record will begin} */
  public int nextTrailOffset() {
    Part part = part(BoxLayout.TRAIL);
    return part.offset + (int) (trailPosition % part.length());
  }

  /** Adds a breadcrumb at that many milliseconds after the start. */
  public BoxBuilder crumb(long millis, int level, String category, String message, Object... data) {
    Map<Object, Object> map = new LinkedHashMap<>();
    if (category != null) {
      map.put(RecordLayout.CRUMB_CATEGORY, category);
    }
    if (message != null) {
      map.put(RecordLayout.CRUMB_MESSAGE, message);
    }
    if (data.length > 0) {
      map.put(RecordLayout.CRUMB_DATA, map(data));
    }
    map.put(RecordLayout.CRUMB_THREAD, "http-1");
    return trailRecord(RecordLayout.TYPE_BREADCRUMB, level, millis, cbor(map));
  }

  /** Adds an update of the scope; a null value removes the field. */
  public BoxBuilder scope(int kind, String key, Object value) {
    Map<Object, Object> map = new LinkedHashMap<>();
    map.put(RecordLayout.FIELD_KIND, kind);
    if (key != null) {
      map.put(RecordLayout.FIELD_KEY, key);
    }
    if (value != null) {
      map.put(RecordLayout.FIELD_VALUE, value);
    }
    Part part = part(BoxLayout.SCOPE_LOG);
    long position = scopeGeneration * part.unit + scopeAt;
    byte[] record = record(position, START_WALL, RecordLayout.TYPE_SCOPE_FIELD, 0, cbor(map));
    box.put(part.offset + (int) (scopeGeneration % 2) * part.unit + scopeAt, record);
    scopeAt += RecordLayout.aligned(record.length);
    return this;
  }

  /** Begins the next half of the scope; the head names it only if {@code active}. */
  public BoxBuilder scopeGeneration(long generation, boolean active) {
    scopeGeneration = generation;
    scopeAt = 0;
    if (active) {
      ByteBuffer head =
          ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, generation);
      copies(BoxLayout.SCOPE_HEAD, generation, head.array());
    }
    return this;
  }

  // Spans

  /** {@return a begin record} */
  public static Map<Object, Object> begin(String name, long id, long millis, String thread) {
    Map<Object, Object> map = new LinkedHashMap<>();
    map.put(SpanLayout.BEGIN_NAME, name);
    map.put(SpanLayout.BEGIN_SPAN_ID, id);
    map.put(SpanLayout.BEGIN_NANOS, START_NANOS + millis * 1_000_000);
    map.put(SpanLayout.BEGIN_THREAD, thread);
    return map;
  }

  /** Opens a span in a slot. */
  public BoxBuilder span(int slot, Map<Object, Object> begin, Object... attributes) {
    Part part = part(BoxLayout.SPANS);
    spanEnds.put(slot, SpanLayout.FIRST_ENTRY_OFFSET);
    box.putLong(part.offset + slot * part.unit, 7L << SpanLayout.GENERATION_SHIFT | 1);
    spanEntry(slot, cbor(begin));
    for (int i = 0; i < attributes.length; i += 2) {
      ByteArrayOutputStream payload = new ByteArrayOutputStream();
      encode(payload, attributes[i]);
      encode(payload, attributes[i + 1]);
      spanEntry(slot, payload.toByteArray());
    }
    return this;
  }

  /** Claims an entry of a slot and never fills it. */
  public BoxBuilder skipSpanEntry(int slot, int length) {
    spanEnds.merge(slot, (length + 7) / 8 * 8, Integer::sum);
    return this;
  }

  /** Adds an entry to a slot. */
  public BoxBuilder spanEntry(int slot, byte[] payload) {
    Part part = part(BoxLayout.SPANS);
    int at = slot * part.unit + spanEnds.get(slot);
    ByteBuffer seed = ByteBuffer.allocate(24 + payload.length).order(ByteOrder.LITTLE_ENDIAN);
    seed.putLong(box.getLong(part.offset + slot * part.unit)).putLong(at);
    seed.putLong(payload.length).put(payload);
    box.putInt(part.offset + at, payload.length);
    box.putInt(part.offset + at + 4, checksum(seed.array()));
    box.put(part.offset + at + SpanLayout.ENTRY_HEADER_SIZE, payload);
    spanEnds.merge(slot, SpanLayout.ENTRY_HEADER_SIZE + (payload.length + 7) / 8 * 8, Integer::sum);
    return this;
  }

  /** Ends the span in a slot. */
  public BoxBuilder endSpan(int slot) {
    Part part = part(BoxLayout.SPANS);
    int at = part.offset + slot * part.unit;
    box.putLong(at, ~box.getLong(at));
    return this;
  }

  // Out

  /** {@return a copy of the box} */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** Writes a run with this box and a free lock below {@code root}. */
  public Run writeTo(Path root) {
    return write(root, RUN_ID, bytes);
  }

  /** Writes a run with any bytes as its box and a free lock below {@code root}. */
  public static Run write(Path root, String runId, byte[] bytes) {
    try {
      Path run = Files.createDirectories(root.resolve(APP).resolve(runId));
      Files.write(run.resolve("lock"), new byte[0]);
      Files.write(run.resolve("box"), bytes);
      return new Run(run, APP, runId);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  // CBOR

  /** {@return a map of keys and values in turn} */
  public static Map<Object, Object> map(Object... entries) {
    Map<Object, Object> map = new LinkedHashMap<>();
    for (int i = 0; i < entries.length; i += 2) {
      map.put(entries[i], entries[i + 1]);
    }
    return map;
  }

  /** {@return a value as CBOR} */
  public static byte[] cbor(Object value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    encode(out, value);
    return out.toByteArray();
  }

  private static void encode(ByteArrayOutputStream out, Object value) {
    if (value == null) {
      out.write(0xf6);
    } else if (value instanceof Boolean flag) {
      out.write(flag ? 0xf5 : 0xf4);
    } else if (value instanceof Integer || value instanceof Long) {
      long number = ((Number) value).longValue();
      head(out, number < 0 ? 1 : 0, number < 0 ? -1 - number : number);
    } else if (value instanceof Double number) {
      out.write(0xfb);
      out.writeBytes(ByteBuffer.allocate(8).putDouble(0, number).array());
    } else if (value instanceof String text) {
      byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
      head(out, 3, utf8.length);
      out.writeBytes(utf8);
    } else if (value instanceof byte[] raw) {
      head(out, 2, raw.length);
      out.writeBytes(raw);
    } else if (value instanceof BigInteger number) {
      head(out, 6, number.signum() < 0 ? 3 : 2);
      encode(out, (number.signum() < 0 ? number.not() : number).toByteArray());
    } else if (value instanceof BigDecimal number) {
      head(out, 6, 4);
      encode(out, List.of((long) -number.scale(), number.unscaledValue()));
    } else if (value instanceof List<?> list) {
      head(out, 4, list.size());
      list.forEach(item -> encode(out, item));
    } else if (value instanceof Map<?, ?> map) {
      head(out, 5, map.size());
      new ArrayList<>(map.entrySet())
          .forEach(
              entry -> {
                encode(out, entry.getKey());
                encode(out, entry.getValue());
              });
    } else {
      throw new IllegalArgumentException("no CBOR form: type=" + value.getClass());
    }
  }

  private static void head(ByteArrayOutputStream out, int major, long argument) {
    if (argument < 24 && argument >= 0) {
      out.write(major << 5 | (int) argument);
    } else {
      out.write(major << 5 | 27);
      out.writeBytes(ByteBuffer.allocate(8).putLong(0, argument).array());
    }
  }
}
