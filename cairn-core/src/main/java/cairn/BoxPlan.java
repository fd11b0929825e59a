package cairn;

import cairn.format.BoxLayout;
import cairn.format.CounterLayout;
import cairn.format.VitalsLayout;
import cairn.storage.Region;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Where each section of a new box lies, and the header that says so. Immutable. */
final class BoxPlan {
  static final int IDENTITY_UNIT = 4096;
  static final int LIFE_UNIT = 2048;
  static final int COPY_UNIT = 512;
  static final int UNCAUGHT_UNIT = 4096;
  static final int PRESSURE_UNIT = 8192;
  static final int COUNTER_UNIT = 512;
  static final int SECONDS = 600;
  static final int MINUTES = 24 * 60;

  /** What all fields of the scope together may take, unless it is set. */
  static final int SCOPE_BYTES = 32 * 1024;

  /** {@link ScopeLog#END_BITS} have room for no more. */
  static final int MAX_SCOPE_BYTES = 1024 * 1024;

  /** Bytes of a half-log for each byte that the live fields may take. */
  static final int SCOPE_HALVES = 2;

  static final int SPAN_SLOT = 768;
  static final int TRAIL_UNIT = 32;
  private static final int PAGE = 4096;

  final int identity;
  final int life;
  final int beat;
  final int uncaught;
  final int counters;
  final int scopeHead;
  final int pressure;
  final int seconds;
  final int minutes;
  final int scopeLog;
  final int spans;
  final int trail;

  /** Everything before this is small or changes rarely; the trail starts here. */
  final int size;

  final int spanSlots;
  final int trailBytes;
  final int scopeHalf;

  private final byte[] header = new byte[BoxLayout.HEADER_SIZE];
  private final ByteBuffer words = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
  private int count;
  private int next = BoxLayout.FIRST_SECTION_OFFSET;

  BoxPlan(long nonce, int spanSlots, int trailBytes, int scopeBytes) {
    if (COUNTER_UNIT < CounterLayout.COPY_SIZE) {
      throw new AssertionError();
    }
    this.spanSlots = spanSlots;
    this.trailBytes = trailBytes;
    this.scopeHalf = SCOPE_HALVES * scopeBytes;
    identity = section(BoxLayout.IDENTITY, IDENTITY_UNIT, 2);
    life = section(BoxLayout.LIFE, LIFE_UNIT, 2);
    beat = section(BoxLayout.BEAT, COPY_UNIT, 2);
    uncaught = section(BoxLayout.UNCAUGHT, UNCAUGHT_UNIT, 2);
    counters = section(BoxLayout.COUNTERS, COUNTER_UNIT, 2);
    scopeHead = section(BoxLayout.SCOPE_HEAD, COPY_UNIT, 2);
    pressure = section(BoxLayout.PRESSURE, PRESSURE_UNIT, 2);
    seconds = section(BoxLayout.VITALS_SECONDS, VitalsLayout.SLOT_SIZE, SECONDS);
    minutes = section(BoxLayout.VITALS_MINUTES, VitalsLayout.SLOT_SIZE, MINUTES);
    scopeLog = section(BoxLayout.SCOPE_LOG, scopeHalf, 2);
    spans = section(BoxLayout.SPANS, SPAN_SLOT, spanSlots);
    trail = section(BoxLayout.TRAIL, TRAIL_UNIT, trailBytes / TRAIL_UNIT);
    size = next + BoxLayout.TRAILER_SIZE;
    words.putLong(BoxLayout.MAGIC_OFFSET, BoxLayout.MAGIC);
    words.putShort(BoxLayout.MAJOR_OFFSET, (short) BoxLayout.MAJOR);
    words.putShort(BoxLayout.MINOR_OFFSET, (short) BoxLayout.MINOR);
    words.putLong(BoxLayout.FILE_LENGTH_OFFSET, size);
    words.putLong(BoxLayout.NONCE_OFFSET, nonce);
    words.putInt(BoxLayout.SECTION_COUNT_OFFSET, count);
    CRC32C crc = new CRC32C();
    crc.update(header, 0, BoxLayout.HEADER_CRC_OFFSET);
    words.putInt(BoxLayout.HEADER_CRC_OFFSET, (int) crc.getValue());
  }

  private int section(int tag, int unit, int units) {
    int offset = next;
    int length = unit * units;
    int entry = BoxLayout.ENTRIES_OFFSET + BoxLayout.ENTRY_SIZE * count;
    words.putInt(entry, tag);
    words.putInt(entry + BoxLayout.ENTRY_VERSION_OFFSET, 1);
    words.putLong(entry + BoxLayout.ENTRY_OFFSET_OFFSET, offset);
    words.putLong(entry + BoxLayout.ENTRY_LENGTH_OFFSET, length);
    words.putInt(entry + BoxLayout.ENTRY_UNIT_OFFSET, unit);
    words.putInt(entry + BoxLayout.ENTRY_COUNT_OFFSET, units);
    count++;
    next = (offset + length + PAGE - 1) & -PAGE;
    return offset;
  }

  byte[] header() {
    return header.clone();
  }

  /** Stores both copies of the header. */
  void writeHeader(Region region) {
    region.putBytesPlain(0, header, 0, header.length);
    region.putBytesPlain(size - BoxLayout.TRAILER_SIZE, header, 0, header.length);
  }
}
