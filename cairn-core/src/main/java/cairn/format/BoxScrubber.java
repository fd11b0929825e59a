package cairn.format;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Makes of a box another that shows the same and holds nothing else, secrets redacted.
 *
 * <p>One thread. The bytes given are not written to. Takes time and memory in proportion to them.
 */
public final class BoxScrubber {
  /*
   * It starts from zeros and copies over what a report shows: so what nobody thought of is erased,
   * not kept. What is copied proved itself, keeps its place and its length, and is sealed anew.
   *
   * A record that proves itself and is not shown (an old value of the scope, the end of a span)
   * becomes an erased one of the same length: a hole would be taken for damage. What proves nothing
   * becomes zeros.
   */

  /** What the identity is given: when the box was scrubbed. */
  public static final String SCRUBBED = "scrubbed";

  /** What the identity is given too: how many losses a reader had found until then. */
  public static final String SCRUBBED_LOSSES = "scrubbedLosses";

  /** What is in the run's path or decides the verdict. */
  private static final Set<String> IDENTITY_KEPT =
      Set.of(
          "runId",
          "app",
          "pid",
          "processStart",
          "bootId",
          "pidNamespace",
          "durability",
          "mode",
          "cairn",
          "flags",
          "cgroup",
          "hostId",
          SCRUBBED,
          SCRUBBED_LOSSES);

  private static final Set<String> LIFE_KEPT = Set.of("state", "reason", "signal", "handler");

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /**
   * What came of it.
   *
   * @param image the new box; of the same length
   * @param changed whether it differs from the old one
   * @param valuesRedacted values, and keys, that were shown and are redacted now
   * @param bytesErased bytes other than zero that were not shown and are gone
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  public record Result(byte[] image, boolean changed, long valuesRedacted, long bytesErased) {}

  private final byte[] bytes;
  private final byte[] image;
  private final BoxReader reader;
  private final CborRedactor redactor;
  private final CRC32C crc = new CRC32C();
  private final Set<String> losses = new HashSet<>();
  private long kept;

  private BoxScrubber(byte[] bytes, String file, Secrets secrets) throws IOException {
    this.bytes = bytes;
    this.image = new byte[bytes.length];
    this.redactor = new CborRedactor(secrets);
    this.reader =
        BoxReader.open(
            bytes,
            file,
            false,
            (loss, where, text) -> {
              if (loss) {
                losses.add(where + text);
              }
            });
  }

  /**
   * Scrubs the box of a dead run.
   *
   * @param file how messages name it
   * @param wallMillis noted as the time, if anything changes
   * @throws IOException if it is no box, neither header is readable, or the version is unsupported
   */
  public static Result scrub(byte[] bytes, String file, Secrets secrets, long wallMillis)
      throws IOException {
    BoxScrubber scrubber = new BoxScrubber(bytes, file, secrets);
    try {
      scrubber.copyAll();
      boolean changed = !Arrays.equals(bytes, scrubber.image);
      if (changed) {
        scrubber.note(wallMillis);
      }
      return new Result(
          scrubber.image,
          changed,
          scrubber.redactor.values(),
          nonZero(bytes, 0, bytes.length) - scrubber.kept);
    } catch (CborReader.Malformed e) {
      throw new AssertionError(e); // what is redacted was checked to be well-formed
    }
  }

  private void copyAll() throws CborReader.Malformed {
    header();
    twoCopies(BoxLayout.IDENTITY, IDENTITY_KEPT);
    twoCopies(BoxLayout.LIFE, LIFE_KEPT);
    twoCopies(BoxLayout.UNCAUGHT, Set.of());
    pressure();
    words(BoxLayout.BEAT);
    words(BoxLayout.SCOPE_HEAD);
    counters();
    vitals(BoxLayout.VITALS_SECONDS);
    vitals(BoxLayout.VITALS_MINUTES);
    scope();
    spans();
  }

  // What is kept

  private static long nonZero(byte[] in, int from, int to) {
    long count = 0;
    for (int i = from; i < to; i++) {
      if (in[i] != 0) {
        count++;
      }
    }
    return count;
  }

  /** Notes that what is there stays, as it is or redacted. */
  private void keep(int from, int length) {
    kept += nonZero(bytes, from, from + length);
  }

  private void copy(int from, int length) {
    System.arraycopy(bytes, from, image, from, length);
    keep(from, length);
  }

  private void header() {
    int used = reader.header();
    long trailer =
        (long) LONG.get(bytes, used + BoxLayout.FILE_LENGTH_OFFSET) - BoxLayout.TRAILER_SIZE;
    for (long at : new long[] {0, trailer}) {
      if (at >= 0 && at <= image.length - BoxLayout.HEADER_SIZE) {
        int to = (int) at;
        System.arraycopy(bytes, used, image, to, BoxLayout.HEADER_SIZE);
        if (Arrays.equals(
            bytes, to, to + BoxLayout.HEADER_SIZE, image, to, to + BoxLayout.HEADER_SIZE)) {
          keep(to, BoxLayout.HEADER_SIZE);
        }
      }
    }
  }

  // Two copies

  private void twoCopies(int tag, Set<String> keptKeys) throws CborReader.Malformed {
    byte[] payload = reader.copy(tag);
    if (payload != null && reader.map(tag) != null) {
      redactor.texts(payload, 0, payload.length, keptKeys);
      putCopies(tag, payload, true);
    }
  }

  private void pressure() throws CborReader.Malformed {
    byte[] payload = reader.copy(BoxLayout.PRESSURE);
    CborSlice map = payload == null ? null : reader.map(BoxLayout.PRESSURE);
    if (payload == null || map == null) {
      return;
    }
    redactor.fields(
        payload,
        0,
        payload.length,
        kind ->
            kind >= 0 && kind < PressureLayout.LIMITS * PressureLayout.LEVELS
                ? CborRedactor.Treatment.KEEP
                : CborRedactor.Treatment.REDACT,
        null);
    for (CborSlice snapshot : map.entries().values()) {
      redactor.fields(
          payload, snapshot.offset(), snapshot.end(), BoxScrubber::snapshotTreatment, null);
      CborSlice spans = snapshot.entries().get(String.valueOf(PressureLayout.SPANS));
      for (CborSlice span : spans == null ? List.<CborSlice>of() : spans.items()) {
        redactor.fields(
            payload, span.offset(), span.end(), BoxScrubber::pressedSpanTreatment, null);
      }
    }
    putCopies(BoxLayout.PRESSURE, payload, true);
  }

  private static CborRedactor.Treatment snapshotTreatment(long number) {
    return number >= 0 && number <= PressureLayout.SPANS
        ? CborRedactor.Treatment.KEEP
        : CborRedactor.Treatment.REDACT;
  }

  private static CborRedactor.Treatment pressedSpanTreatment(long number) {
    if (number == PressureLayout.SPAN_NAME || number == PressureLayout.SPAN_THREAD) {
      return CborRedactor.Treatment.SEARCH;
    }
    return number >= 0 && number <= PressureLayout.SPAN_ALLOCATED_NANOS
        ? CborRedactor.Treatment.KEEP
        : CborRedactor.Treatment.REDACT;
  }

  private void words(int tag) {
    byte[] payload = reader.copy(tag);
    if (payload != null) {
      putCopies(tag, Arrays.copyOf(payload, Math.min(payload.length, 16)), true);
    }
  }

  /** Stores a payload in both copies, under the generation that the better one has. */
  private void putCopies(int tag, byte[] payload, boolean counts) {
    BoxReader.Section section = reader.section(tag);
    if (section == null) {
      return;
    }
    long generation = reader.generation(section);
    byte[] unit = new byte[section.unit()];
    LONG.set(unit, CopyLayout.GENERATION_OFFSET, generation);
    INT.set(unit, CopyLayout.LENGTH_OFFSET, payload.length);
    System.arraycopy(payload, 0, unit, CopyLayout.PAYLOAD_OFFSET, payload.length);
    int length = CopyLayout.PAYLOAD_OFFSET + payload.length;
    INT.set(unit, CopyLayout.CRC_OFFSET, checksum(unit, length));
    for (int i = 0; i < section.count() && (i + 1) * section.unit() <= section.available(); i++) {
      int at = section.offset() + i * section.unit();
      System.arraycopy(unit, 0, image, at, unit.length);
      if (counts && reader.isCopy(section, at) && (long) LONG.get(bytes, at) == generation) {
        keep(at, length);
      }
    }
  }

  /** Adds to the identity that the box was scrubbed; not if there is no room. */
  private void note(long wallMillis) throws CborReader.Malformed {
    BoxReader.Section section = reader.section(BoxLayout.IDENTITY);
    if (section == null || reader.map(BoxLayout.IDENTITY) == null) {
      return;
    }
    int at = section.offset();
    int from = at + CopyLayout.PAYLOAD_OFFSET;
    int to = from + (int) INT.get(image, at + CopyLayout.LENGTH_OFFSET);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(0xbf);
    long lossesBefore = copyEntries(image, new CborReader(image, from, to), out);
    number(out, SCRUBBED, wallMillis);
    long all = Math.max(losses.size(), lossesBefore);
    if (all > 0) {
      number(out, SCRUBBED_LOSSES, all);
    }
    out.write(0xff);
    if (out.size() <= section.unit() - CopyLayout.PAYLOAD_OFFSET) {
      putCopies(BoxLayout.IDENTITY, out.toByteArray(), false);
    }
  }

  /** Copies all but an earlier note and returns the losses that it tells. */
  private static long copyEntries(byte[] in, CborReader map, ByteArrayOutputStream out)
      throws CborReader.Malformed {

    long lossesBefore = 0;
    map.next();
    boolean open = map.indefinite();
    long count = map.argument();
    for (long i = 0; open || i != count; i++) {
      int at = map.offset();
      CborReader.Kind kind = map.next();
      if (kind == CborReader.Kind.BREAK) {
        break;
      }
      String key = map.key(kind, 1);
      int value = map.offset();
      map.skip();
      if (key.equals(SCRUBBED_LOSSES)) {
        CborSlice slice = CborSlice.of(in, value, map.offset());
        lossesBefore = slice == null ? 0 : slice.integer().orElse(0);
      } else if (!key.equals(SCRUBBED)) {
        out.write(in, at, map.offset() - at);
      }
    }
    return lossesBefore;
  }

  private static void number(ByteArrayOutputStream out, String key, long value) {
    byte[] utf8 = key.getBytes(StandardCharsets.US_ASCII);
    out.write(0x60 | utf8.length);
    out.writeBytes(utf8);
    out.write(0x1b);
    for (int shift = 56; shift >= 0; shift -= 8) {
      out.write((int) (value >>> shift));
    }
  }

  // Counters, vitals

  private void counters() {
    BoxReader.Section section = reader.section(BoxLayout.COUNTERS);
    long[] counters = reader.counters();
    if (section == null || counters == null) {
      return;
    }
    int length = Long.BYTES * counters.length;
    for (int i = 0; i < section.count() && (i + 1) * section.unit() <= section.available(); i++) {
      copy(section.offset() + i * section.unit(), length);
    }
  }

  private void vitals(int tag) {
    BoxReader.Section section = reader.section(tag);
    if (section == null || section.unit() < VitalsLayout.VALUES_OFFSET) {
      return;
    }
    reader.vitals(tag); // for what it misses
    int slots = section.available() / section.unit();
    long newest = 0;
    for (int i = 0; i < slots; i++) {
      if (reader.isSample(section, i)) {
        newest = Math.max(newest, (long) LONG.get(bytes, section.offset() + i * section.unit()));
      }
    }
    for (int i = 0; i < slots; i++) {
      int at = section.offset() + i * section.unit();
      if (reader.isSample(section, i) && (long) LONG.get(bytes, at) > newest - section.count()) {
        copy(at, (int) INT.get(bytes, at + VitalsLayout.LENGTH_OFFSET));
      }
    }
  }

  // Records

  /** The bytes of a record, joined where it wraps at the end of its section. */
  private byte[] take(BoxReader.Section section, int at, int length) {
    byte[] record = new byte[length];
    int straight = Math.min(length, section.length() - at);
    System.arraycopy(bytes, section.offset() + at, record, 0, straight);
    System.arraycopy(bytes, section.offset(), record, straight, length - straight);
    return record;
  }

  private void put(BoxReader.Section section, int at, byte[] record) {
    int straight = Math.min(record.length, section.length() - at);
    System.arraycopy(record, 0, image, section.offset() + at, straight);
    System.arraycopy(record, straight, image, section.offset(), record.length - straight);
    keep(section.offset() + at, straight);
    keep(section.offset(), record.length - straight);
  }

  private void putRedacted(
      BoxReader.Section section,
      int at,
      int length,
      CborRedactor.Treatments treatments,
      @Nullable String name)
      throws CborReader.Malformed {
    byte[] record = take(section, at, length);
    redactor.fields(record, RecordLayout.HEADER_SIZE, length, treatments, name);
    INT.set(record, RecordLayout.CRC_OFFSET, 0);
    INT.set(record, RecordLayout.CRC_OFFSET, checksum(record, length));
    put(section, at, record);
  }

  /** Stores a record that says that another was here; one that says so already stays. */
  private void putErased(BoxReader.Section section, int at, int length) {
    int from = section.offset() + at;
    if (reader.isErased(from)) {
      copy(from, RecordLayout.HEADER_SIZE);
      return;
    }
    byte[] header = new byte[RecordLayout.HEADER_SIZE];
    LONG.set(header, RecordLayout.POSITION_OFFSET, (long) LONG.get(bytes, from));
    INT.set(header, RecordLayout.LENGTH_OFFSET, RecordLayout.aligned(length));
    INT.set(header, RecordLayout.CRC_OFFSET, checksum(header, header.length));
    System.arraycopy(header, 0, image, from, header.length);
  }

  private int checksum(byte[] of, int length) {
    crc.reset();
    crc.update(reader.nonce());
    crc.update(of, 0, length);
    return (int) crc.getValue();
  }

  private static OptionalLong unsigned(Map<String, CborSlice> map, int key) {
    CborSlice slice = map.get(String.valueOf(key));
    return slice == null ? OptionalLong.empty() : slice.unsigned();
  }

  private static @Nullable String text(Map<String, CborSlice> map, int key) {
    CborSlice slice = map.get(String.valueOf(key));
    return slice == null ? null : slice.text();
  }

  // Scope

  private record Field(int kind, String key) {}

  private void scope() throws CborReader.Malformed {
    BoxReader.Section log = reader.section(BoxLayout.SCOPE_LOG);
    if (log == null) {
      return;
    }
    List<BoxReader.Place> places = reader.scopePlaces();
    Map<Field, BoxReader.Place> latest = new HashMap<>();
    for (BoxReader.Place place : places) {
      BoxRecord record = reader.scopeRecord(log, place);
      if (record != null && record.type() == RecordLayout.TYPE_SCOPE_FIELD) {
        Map<String, CborSlice> map = record.payload().entries();
        Field field = field(map);
        if (map.containsKey(String.valueOf(RecordLayout.FIELD_VALUE))) {
          latest.put(field, place);
        } else {
          latest.remove(field);
        }
      }
    }
    Set<BoxReader.Place> shown = new HashSet<>(latest.values());
    for (BoxReader.Place place : places) {
      BoxRecord record = shown.contains(place) ? reader.scopeRecord(log, place) : null;
      if (record == null) {
        putErased(log, place.slot(), place.length());
      } else {
        Field field = field(record.payload().entries());
        putRedacted(
            log,
            place.slot(),
            place.length(),
            number -> scopeTreatment(number, field),
            field.key.isEmpty() ? null : field.key);
      }
    }
  }

  private static Field field(Map<String, CborSlice> map) {
    CborSlice kind = map.get(String.valueOf(RecordLayout.FIELD_KIND));
    String key = text(map, RecordLayout.FIELD_KEY);
    return new Field(kind == null ? 0 : (int) kind.integer().orElse(0), key == null ? "" : key);
  }

  private CborRedactor.Treatment scopeTreatment(long number, Field field) {
    if (number == RecordLayout.FIELD_KIND || field.kind == RecordLayout.KIND_LEVEL) {
      return CborRedactor.Treatment.KEEP;
    }
    if (number == RecordLayout.FIELD_KEY) {
      return CborRedactor.Treatment.SEARCH;
    }
    return number == RecordLayout.FIELD_VALUE && !redactor.isSecret(field.key)
        ? CborRedactor.Treatment.SEARCH
        : CborRedactor.Treatment.REDACT;
  }

  // Spans, and the trail, where those without a slot are

  /** A span as the report joins it: which attributes lie in its slot, and which in the trail. */
  private static final class Span {
    final Map<String, Integer> offsets = new HashMap<>();
    final Map<String, BoxReader.Place> sets = new HashMap<>();
    BoxReader.@Nullable Place begin;

    /** Of one without a slot. */
    long id;
  }

  private void spans() throws CborReader.Malformed {
    Map<Long, Span> slots = new HashMap<>();
    List<BoxSpan> open = reader.spans();
    for (BoxSpan slot : open) {
      Span span = new Span();
      for (BoxSpan.Attribute attribute : slot.attributes()) {
        span.offsets.put(attribute.key(), attribute.offset());
      }
      slot.newestNotes()
          .forEach((key, note) -> span.offsets.put(BoxSpan.noteName(key), note.offset()));
      slots.put(id(slot), span);
    }
    trail(slots);
    BoxReader.Section table = reader.section(BoxLayout.SPANS);
    if (table == null || table.unit() <= SpanLayout.FIRST_ENTRY_OFFSET) {
      return;
    }
    for (int at = 0; at + table.unit() <= table.available(); at += table.unit()) {
      // Also of a slot that proves nothing: that a span was open there is all that is known of it.
      if (BoxReader.isOpenWord((long) LONG.get(bytes, table.offset() + at))) {
        copy(table.offset() + at, Long.BYTES);
      }
    }
    for (BoxSpan slot : open) {
      Span span = slots.get(id(slot));
      putBegin(table, slot, span);
      for (BoxSpan.Attribute attribute : slot.attributes()) {
        Integer latest = span == null ? null : span.offsets.get(attribute.key());
        if (span != null
            && latest != null
            && latest == attribute.offset()
            && !span.sets.containsKey(attribute.key())) {
          putEntry(table, slot.offset(), attribute.offset(), true);
        }
      }
      for (BoxSpan.Note note : slot.newestNotes().values()) {
        boolean isLatest = span == null || !span.sets.containsKey(BoxSpan.noteName(note.key()));
        if (isLatest
            && note.key() <= SpanLayout.NOTE_START) { // else of a newer writer: no report shows it
          // A time is no card's number, however it may look.
          putEntry(table, slot.offset(), note.offset(), note.key() != SpanLayout.NOTE_START);
        }
      }
    }
  }

  /** Stores the begin entry without what has another value by now. */
  private void putBegin(BoxReader.Section table, BoxSpan slot, @Nullable Span span)
      throws CborReader.Malformed {
    Set<Long> fields = new HashSet<>();
    Set<String> attributes = new HashSet<>();
    if (span != null) {
      attributes.addAll(span.offsets.keySet());
      attributes.addAll(span.sets.keySet());
      if (attributes.contains(BoxSpan.noteName(SpanLayout.NOTE_NAME))) {
        fields.add((long) SpanLayout.BEGIN_NAME);
      }
    }
    BoxSpan.Note thread = slot.newestNotes().get((long) SpanLayout.NOTE_THREAD);
    if (thread != null && thread.value().items().size() > 1) {
      String name = thread.value().items().get(1).text();
      if (name != null && !name.isEmpty()) {
        fields.add((long) SpanLayout.BEGIN_THREAD);
      }
    }
    int at = table.offset() + slot.offset() + SpanLayout.FIRST_ENTRY_OFFSET;
    int payload = at + SpanLayout.ENTRY_HEADER_SIZE;
    int end = payload + (int) INT.get(bytes, at);
    copy(at, end - at);
    redactor.erase(image, payload, end, fields, attributes);
    redactor.fields(image, payload, end, BoxScrubber::beginTreatment, null);
    seal(table, slot.offset(), SpanLayout.FIRST_ENTRY_OFFSET, payload, end - payload);
  }

  private void seal(BoxReader.Section table, int slot, int offset, int payload, int length) {
    long state = (long) LONG.get(bytes, table.offset() + slot);
    INT.set(
        image,
        payload - SpanLayout.ENTRY_HEADER_SIZE + 4,
        reader.entryChecksum(image, state, slot + offset, payload, length));
  }

  private static long id(BoxSpan slot) {
    return unsigned(slot.begin().entries(), SpanLayout.BEGIN_SPAN_ID).orElse(0);
  }

  private void putEntry(BoxReader.Section table, int slot, int offset, boolean search)
      throws CborReader.Malformed {
    int at = table.offset() + slot + offset;
    int length = (int) INT.get(bytes, at);
    int payload = at + SpanLayout.ENTRY_HEADER_SIZE;
    copy(at, SpanLayout.ENTRY_HEADER_SIZE + length);
    if (search) {
      redactor.attribute(image, payload, payload + length);
    }
    seal(table, slot, offset, payload, length);
  }

  private static CborRedactor.Treatment beginTreatment(long number) {
    if (number == SpanLayout.BEGIN_NAME
        || number == SpanLayout.BEGIN_THREAD
        || number == SpanLayout.BEGIN_ATTRIBUTES) {
      return CborRedactor.Treatment.SEARCH;
    }
    return number <= SpanLayout.BEGIN_EPOCH_NANOS && number >= 0
        ? CborRedactor.Treatment.KEEP
        : CborRedactor.Treatment.REDACT;
  }

  private static CborRedactor.Treatment crumbTreatment(long number) {
    if (number == RecordLayout.CRUMB_SPAN_ID) {
      return CborRedactor.Treatment.KEEP;
    }
    return number < RecordLayout.CRUMB_SPAN_ID && number >= 0
        ? CborRedactor.Treatment.SEARCH
        : CborRedactor.Treatment.REDACT;
  }

  private void trail(Map<Long, Span> slots) throws CborReader.Malformed {
    BoxReader.Section ring = reader.section(BoxLayout.TRAIL);
    if (ring == null) {
      return;
    }
    List<BoxReader.Place> places = reader.trailPlaces();
    Map<Long, Span> overflowed = new HashMap<>();
    List<BoxReader.Place> crumbs = new ArrayList<>();
    for (BoxReader.Place place : places) {
      BoxRecord record = reader.trailRecord(ring, place);
      if (record == null) {
        continue;
      }
      Map<String, CborSlice> map = record.payload().entries();
      switch (record.type()) {
        case RecordLayout.TYPE_BREADCRUMB -> crumbs.add(place);
        case RecordLayout.TYPE_SPAN_BEGIN -> {
          Span span = new Span();
          span.begin = place;
          span.id = unsigned(map, SpanLayout.BEGIN_SPAN_ID).orElse(0);
          overflowed.put(span.id | SpanLayout.OVERFLOWED, span);
        }
        case RecordLayout.TYPE_SPAN_SET -> set(map, place, slots, overflowed);
        case RecordLayout.TYPE_SPAN_END ->
            unsigned(map, RecordLayout.SET_SPAN_ID)
                .ifPresent(id -> overflowed.remove(id | SpanLayout.OVERFLOWED));
        default -> {} // a type of a newer writer, which no report of this version shows
      }
    }
    Set<BoxReader.Place> shown = new HashSet<>(crumbs);
    Set<BoxReader.Place> renamed = new HashSet<>();
    slots.values().forEach(span -> shown.addAll(span.sets.values()));
    for (Span span : overflowed.values()) {
      if (!slots.containsKey(span.id) && span.begin != null) {
        shown.add(span.begin);
        shown.addAll(span.sets.values());
        if (span.sets.containsKey(BoxSpan.noteName(SpanLayout.NOTE_NAME))) {
          renamed.add(span.begin);
        }
      }
    }
    for (BoxReader.Place place : places) {
      BoxRecord record = shown.contains(place) ? reader.trailRecord(ring, place) : null;
      if (record == null) {
        putErased(ring, place.slot(), place.length());
      } else {
        putTrail(ring, place, record, renamed.contains(place));
      }
    }
  }

  private static void set(
      Map<String, CborSlice> map,
      BoxReader.Place place,
      Map<Long, Span> slots,
      Map<Long, Span> overflowed) {
    OptionalLong id = unsigned(map, RecordLayout.SET_SPAN_ID);
    OptionalLong note = unsigned(map, RecordLayout.SET_NOTE);
    String name =
        note.isPresent() ? BoxSpan.noteName(note.getAsLong()) : text(map, RecordLayout.SET_KEY);
    if (id.isEmpty() || name == null || !map.containsKey(String.valueOf(RecordLayout.SET_VALUE))) {
      return;
    }
    Span span = slots.get(id.getAsLong());
    if (span == null) {
      span = overflowed.get(id.getAsLong() | SpanLayout.OVERFLOWED);
    }
    long used = unsigned(map, RecordLayout.SET_USED).orElse(Long.MAX_VALUE);
    // An entry of the slot at or behind what was in use then was set after this record.
    if (span != null && span.offsets.getOrDefault(name, -1) < used) {
      span.sets.put(name, place);
    }
  }

  private void putTrail(
      BoxReader.Section ring, BoxReader.Place place, BoxRecord record, boolean isRenamed)
      throws CborReader.Malformed {
    switch (record.type()) {
      case RecordLayout.TYPE_BREADCRUMB ->
          putRedacted(ring, place.slot(), place.length(), BoxScrubber::crumbTreatment, null);
      case RecordLayout.TYPE_SPAN_BEGIN ->
          putRedacted(
              ring,
              place.slot(),
              place.length(),
              number ->
                  isRenamed && number == SpanLayout.BEGIN_NAME
                      ? CborRedactor.Treatment.REDACT
                      : beginTreatment(number),
              null);
      default -> {
        String key = text(record.payload().entries(), RecordLayout.SET_KEY);
        boolean isSecret = key != null && redactor.isSecret(key);
        putRedacted(
            ring, place.slot(), place.length(), number -> setTreatment(number, isSecret), key);
      }
    }
  }

  private static CborRedactor.Treatment setTreatment(long number, boolean isSecret) {
    if (number == RecordLayout.SET_SPAN_ID
        || number == RecordLayout.SET_USED
        || number == RecordLayout.SET_NOTE) {
      return CborRedactor.Treatment.KEEP;
    }
    return number == RecordLayout.SET_KEY || (number == RecordLayout.SET_VALUE && !isSecret)
        ? CborRedactor.Treatment.SEARCH
        : CborRedactor.Treatment.REDACT;
  }
}
