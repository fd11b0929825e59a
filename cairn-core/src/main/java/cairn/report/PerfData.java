package cairn.report;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The performance counters that a HotSpot JVM keeps in a mapped file, {@code
 * /tmp/hsperfdata_<user>/<pid>}, which outlives its death until another JVM of that user starts.
 * Immutable; never throws, whatever the bytes are.
 */
final class PerfData {
  /*
   * Format 2.0 of the counters, as JDK 17 and 25 write it:
   *
   *    0  magic CA FE C0 C0   4  byte order, 1 = little   5  major, minor, accessible
   *    8  bytes used   12  overflow   16  time, 8 bytes   24  offset of the first entry   28  entries
   *
   *   entry:  0 length   4 offset of its name   8 elements, 0 = one value   12 type   13 flags, units,
   *          variability   16 offset of its value      offsets count from the begin of the entry
   *
   * Types used are J, a 64-bit number, and B, the bytes of a text that ends at a zero. Nothing says
   * when the file is damaged, so every offset and length is checked, and what follows an entry that
   * makes no sense is not looked at.
   *
   * The redacted form has the same layout, so that jstat reads it: all zeros but the head, the names,
   * the numbers and the texts in SAFE, which say how the JVM collects and what it is. Other texts
   * are command lines, paths and properties.
   */

  /** -XX:PerfDataMemorySize is 32 KiB by default. */
  static final int MAX_BYTES = 1024 * 1024;

  private static final int HEAD = 32;
  private static final int ENTRY_HEAD = 20;
  private static final int MAX_ENTRIES = 10_000;
  private static final int MAX_NAME = 200;
  private static final int MAX_TEXT = 200;

  /** Texts that hold nothing of the application, by the end of their names. */
  private static final Set<String> SAFE =
      Set.of(
          "sun.gc.cause",
          "sun.gc.lastCause",
          "sun.gc.policy.name",
          "java.property.java.vm.name",
          "java.property.java.vm.vendor",
          "java.property.java.vm.version",
          "java.property.java.vm.info",
          "java.property.java.version",
          "sun.rt.internalVersion");

  private final Map<String, Long> numbers = new HashMap<>();
  private final Map<String, String> texts = new HashMap<>();
  private final byte[] bytes;
  private final byte[] redacted;

  private PerfData(byte[] bytes) {
    this.bytes = bytes;
    this.redacted = new byte[bytes.length];
    keep(0, HEAD);
  }

  /** {@return the counters; null if the bytes are none} */
  static @Nullable PerfData parse(byte[] bytes) {
    if (bytes.length < HEAD || bytes.length > MAX_BYTES) {
      return null;
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    int order = bytes[4];
    if (buffer.getInt(0) != 0xcafec0c0 || order < 0 || order > 1 || bytes[5] != 2) {
      return null;
    }
    buffer.order(order == 1 ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    PerfData data = new PerfData(bytes);
    int at = buffer.getInt(24);
    int count = Math.min(buffer.getInt(28), MAX_ENTRIES);
    for (int i = 0; i < count; i++) {
      int length = data.entry(buffer, at);
      if (length <= 0) {
        break;
      }
      at += length;
    }
    return data;
  }

  /** {@return the length of the entry at {@code at}; 0 if there is none} */
  private int entry(ByteBuffer in, int at) {
    if (at < HEAD || at > in.limit() - ENTRY_HEAD) {
      return 0;
    }
    int length = in.getInt(at);
    int name = in.getInt(at + 4);
    int elements = in.getInt(at + 8);
    int value = in.getInt(at + 16);
    if (length < ENTRY_HEAD
        || length > in.limit() - at
        || name < ENTRY_HEAD
        || value <= name
        || value > length
        || elements < 0) {
      return 0;
    }
    String key = text(at + name, Math.min(value - name, MAX_NAME));
    keep(at, ENTRY_HEAD);
    keep(at + name, Math.min(value - name, key.length()));
    byte type = in.get(at + 12);
    if (type == 'J' && elements == 0 && value <= length - Long.BYTES) {
      numbers.put(key, in.getLong(at + value));
      keep(at + value, Long.BYTES);
    } else if (type == 'B' && elements <= length - value && isSafe(key)) {
      texts.put(key, text(at + value, elements));
      keep(at + value, elements);
    }
    return length;
  }

  private static boolean isSafe(String key) {
    return SAFE.contains(key)
        || (key.startsWith("sun.gc.") && key.endsWith(".name") && key.length() < 60);
  }

  private void keep(int at, int length) {
    System.arraycopy(bytes, at, redacted, at, length);
  }

  /** {@return the text that ends at a zero or after {@code max} bytes} */
  private String text(int from, int max) {
    int to = from;
    while (to < from + max && bytes[to] != 0) {
      to++;
    }
    return new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
  }

  /** {@return the same file without what the application keeps to itself} */
  byte[] redacted() {
    return Arrays.copyOf(redacted, redacted.length);
  }

  /** {@return when that JVM started; null if unknown} */
  @Nullable Instant startedAt() {
    Long begin = numbers.get("sun.rt.createVmBeginTime");
    return begin == null || begin <= 0 ? null : Names.instant(begin);
  }

  OptionalLong number(String name) {
    Long value = numbers.get(name);
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }

  private @Nullable String text(String name) {
    String text = texts.get(name);
    return text == null || text.isBlank() ? null : SafeText.cut(text, MAX_TEXT);
  }

  // For people

  /** {@return what it says about the death, a line for each} */
  List<String> facts() {
    List<String> facts = new ArrayList<>();
    String cause = text("sun.gc.cause");
    if (cause != null && !cause.equals("No GC")) {
      facts.add("a collection was under way: " + cause);
    }
    String last = text("sun.gc.lastCause");
    if (last != null && !last.equals("No GC")) {
      facts.add("the last collection was for: " + last);
    }
    for (int i = 0; i < 4; i++) {
      collector(i, facts);
    }
    OptionalLong live = number("java.threads.live");
    if (live.isPresent() && live.getAsLong() >= 0) {
      OptionalLong peak = number("java.threads.livePeak");
      facts.add(
          Names.count(live.getAsLong(), "thread", "threads")
              + (peak.isPresent() ? ", at most " + peak.getAsLong() : ""));
    }
    for (int i = 0; i < 3; i++) {
      generation(i, facts);
    }
    return facts;
  }

  private void collector(int index, List<String> facts) {
    String prefix = "sun.gc.collector." + index + ".";
    OptionalLong count = number(prefix + "invocations");
    OptionalLong ticks = number(prefix + "time");
    OptionalLong frequency = number("sun.os.hrt.frequency");
    if (count.isEmpty() || count.getAsLong() <= 0) {
      return;
    }
    String name = text(prefix + "name");
    StringBuilder fact = new StringBuilder("collector ");
    fact.append(name == null ? Integer.toString(index) : name).append(": ");
    fact.append(Names.count(count.getAsLong(), "collection", "collections"));
    if (ticks.isPresent() && ticks.getAsLong() >= 0 && frequency.orElse(0) > 0) {
      double seconds = (double) ticks.getAsLong() / frequency.getAsLong();
      fact.append(" in ").append(Names.duration((long) Math.min(seconds * 1000, 1e15)));
    }
    facts.add(fact.toString());
  }

  private void generation(int index, List<String> facts) {
    String prefix = "sun.gc.generation." + index + ".";
    String name = text(prefix + "name");
    long used = 0;
    boolean isKnown = false;
    for (int i = 0; i < 4; i++) {
      OptionalLong space = number(prefix + "space." + i + ".used");
      if (space.isPresent() && space.getAsLong() >= 0 && used <= Long.MAX_VALUE / 8) {
        used += Math.min(space.getAsLong(), Long.MAX_VALUE / 8);
        isKnown = true;
      }
    }
    if (isKnown && name != null) {
      OptionalLong max = number(prefix + "maxCapacity");
      facts.add(
          "generation "
              + name
              + ": "
              + Names.bytes(used)
              + (max.orElse(-1) > 0 ? " of " + Names.bytes(max.getAsLong()) : "")
              + " as of its last collection");
    }
  }
}
