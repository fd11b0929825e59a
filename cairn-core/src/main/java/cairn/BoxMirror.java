package cairn;

import cairn.format.CborSlice;
import cairn.format.CounterLayout;
import cairn.format.FrameLayout;
import cairn.format.RecordLayout;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Finds what a box has gained since it was last asked, and makes frames of it.
 *
 * <p>One thread, the committer's. Never makes a caller wait: it reads what callers have published,
 * and looks again where one was in between.
 */
final class BoxMirror {
  /*
   * Everything in a box proves itself and says its place, so it is copied as it lies there; a
   * reader puts it back. What was overwritten before it was copied is left out: of a scope field
   * only the newest value of a pass, of a span that began and ended between two passes nothing.
   *
   * The trail. Positions that were claimed and not copied yet are kept as ranges. In a range that
   * a pass looks at, records that prove themselves are copied; what is between them belongs to
   * callers that have not returned, and stays in the ranges for the next pass: so nobody waits for
   * a stalled caller, and its record is not forgotten. What a lap has overwritten meanwhile is
   * counted. Records may so come in another order than their positions'.
   *
   * The scope. Records below the published end are final as long as the generation is; if that
   * changes, what was copied counts for nothing and the new half is taken from its beginning. The
   * head goes with the records of its own generation, or a reader would miss some.
   *
   * Spans. A slot is copied whole when its generation or its length has changed.
   */

  /** Takes frames. */
  interface Frames {
    void add(int type, byte[] bytes, int from, int length) throws IOException;
  }

  private static final int SEED = 8;
  private static final int MAX_FRAME = 64 * 1024;
  private static final int MAX_TRIES = 16;
  private static final int CLOSED_SIZE = FrameLayout.PREFIX_SIZE + Long.BYTES;

  private final Box box;
  private final Trail trail;
  private final ScopeLog scope;
  private final SpanTable spans;
  private final CRC32C crc = new CRC32C();

  /** The nonce, then records: what a checksum is computed over where it lies. */
  private final byte[] one;

  private final ByteBuffer words;

  /** Records of the trail that wait for a frame. */
  private final byte[] chunk = new byte[MAX_FRAME];

  private final ByteBuffer chunkWords = ByteBuffer.wrap(chunk).order(ByteOrder.LITTLE_ENDIAN);

  private int chunked;

  // Claimed positions that are not in the journal yet: from and to of each range, in order.
  private long[] ranges = new long[16];
  private int rangeCount;
  private long[] kept = new long[16];
  private int keptCount;
  private long end;

  private long scopeGeneration;
  private int scopeEnd;
  private final byte[] half;
  private final ByteBuffer halfWords;
  private final byte[] records;
  private final ByteBuffer recordWords;
  private final byte[] head = new byte[BoxPlan.COPY_UNIT];

  private final long[] copyGenerations = new long[Box.COPY_TAGS.length];
  private final byte[] copy = new byte[FrameLayout.PREFIX_SIZE + BoxPlan.PRESSURE_UNIT];
  private final ByteBuffer copyWords = ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN);

  private final long[] states;
  private final int[] used;

  private final byte[] counters = new byte[Long.BYTES * CounterLayout.NAMES.size()];
  private final ByteBuffer counterWords = ByteBuffer.wrap(counters).order(ByteOrder.LITTLE_ENDIAN);
  private long countersSum;

  BoxMirror(Box box) {
    this.box = box;
    trail = box.trail;
    scope = box.scope;
    spans = box.spans;
    one = new byte[SEED + RecordLayout.aligned(trail.maxRecordBytes())];
    words = ByteBuffer.wrap(one).order(ByteOrder.LITTLE_ENDIAN);
    words.putLong(0, box.nonce());
    half = new byte[scope.half()];
    halfWords = ByteBuffer.wrap(half).order(ByteOrder.LITTLE_ENDIAN);
    records = new byte[scope.half()];
    recordWords = ByteBuffer.wrap(records).order(ByteOrder.LITTLE_ENDIAN);
    states = new long[spans.slotCount()];
    used = new int[spans.slotCount()];
    startOver();
  }

  /** Forgets what was copied: all that is in the box now will be copied again. */
  void startOver() {
    forgetState();
    long tail = trail.tail();
    rangeCount = 0;
    end = Math.max(trail.capacity(), tail - trail.capacity());
    chunked = 0;
  }

  private void forgetState() {
    scopeGeneration = 0;
    scopeEnd = 0;
    Arrays.fill(copyGenerations, 0);
    Arrays.fill(states, 0);
    Arrays.fill(used, 0);
    countersSum = -1;
  }

  /** Hands over everything that is true now but for the trail. */
  void checkpoint(Frames out) throws IOException {
    forgetState();
    byte[] header = box.plan.header();
    out.add(FrameLayout.TYPE_BEGIN, header, 0, header.length);
    state(out);
  }

  /** Hands over what is new. */
  void changes(Frames out) throws IOException {
    trail(out);
    state(out);
  }

  private void state(Frames out) throws IOException {
    scope(out);
    spans(out);
    for (int i = 0; i < Box.COPY_TAGS.length; i++) {
      if (i != Box.SCOPE_HEAD) {
        copy(i, out);
      }
    }
    counters(out);
  }

  // Values in two copies

  private void copy(int index, Frames out) throws IOException {
    int size = box.copies(index).snapshot(copy, FrameLayout.PREFIX_SIZE);
    copied(index, size, out);
  }

  private void copied(int index, int size, Frames out) throws IOException {
    long generation = copyWords.getLong(FrameLayout.PREFIX_SIZE);
    if (size > 0 && generation != copyGenerations[index]) {
      copyWords.putInt(0, Box.COPY_TAGS[index]);
      copyWords.putInt(4, 0);
      out.add(FrameLayout.TYPE_COPY, copy, 0, FrameLayout.PREFIX_SIZE + size);
      copyGenerations[index] = generation;
    }
  }

  private void counters(Frames out) throws IOException {
    long sum = 0;
    for (int i = 0; i < CounterLayout.NAMES.size(); i++) {
      long value = box.counters.get(i);
      counterWords.putLong(Long.BYTES * i, value);
      // Each batch adds to the forces: they alone are no news.
      sum += i == CounterLayout.FORCES ? 0 : value;
    }
    if (sum != countersSum) {
      out.add(FrameLayout.TYPE_COUNTERS, counters, 0, counters.length);
      countersSum = sum;
    }
  }

  // Trail

  private void trail(Frames out) throws IOException {
    long tail = trail.tail();
    if (tail > end) {
      addRange(end, tail);
      end = tail;
    }
    keptCount = 0;
    for (int i = 0; i < rangeCount; i += 2) {
      range(ranges[i], ranges[i + 1], out);
    }
    flush(out);
    long[] swap = ranges;
    ranges = kept;
    rangeCount = keptCount;
    kept = swap;
  }

  private void addRange(long from, long to) {
    if (rangeCount == ranges.length) {
      ranges = Arrays.copyOf(ranges, 2 * rangeCount);
    }
    ranges[rangeCount++] = from;
    ranges[rangeCount++] = to;
  }

  private void keep(long from, long to) {
    if (keptCount == kept.length) {
      kept = Arrays.copyOf(kept, 2 * keptCount);
    }
    kept[keptCount++] = from;
    kept[keptCount++] = to;
  }

  /** Copies the records in a range; what is between them is kept for the next pass. */
  private void range(long from, long to, Frames out) throws IOException {
    long hole = -1;
    for (long at = from; at < to; ) {
      int length = proven(at);
      if (length >= 0) {
        if (hole >= 0) {
          keep(hole, at);
          hole = -1;
        }
        append(length, out);
        at += RecordLayout.aligned(length);
        continue;
      }
      long oldest = Math.min(to, trail.tail() - trail.capacity());
      if (at < oldest) {
        box.counters.add(CounterLayout.NOT_COMMITTED_BYTES, oldest - (hole >= 0 ? hole : at));
        hole = -1;
        at = oldest;
      } else {
        hole = hole >= 0 ? hole : at;
        at += RecordLayout.ALIGNMENT;
      }
    }
    if (hole >= 0) {
      keep(hole, to);
    }
  }

  /** {@return the length of the record there, which proves itself and lies in `one`; or -1} */
  private int proven(long position) {
    int length = trail.read(position, one, SEED);
    if (length < 0) {
      return -1;
    }
    int stored = words.getInt(SEED + RecordLayout.CRC_OFFSET);
    words.putInt(SEED + RecordLayout.CRC_OFFSET, 0);
    crc.reset();
    crc.update(one, 0, SEED + length);
    words.putInt(SEED + RecordLayout.CRC_OFFSET, stored);
    return (int) crc.getValue() == stored
            && words.getLong(SEED + RecordLayout.POSITION_OFFSET) == position
        ? length
        : -1;
  }

  private void append(int length, Frames out) throws IOException {
    int size = RecordLayout.aligned(length);
    if (chunked + size > chunk.length) {
      flush(out);
    }
    System.arraycopy(one, SEED, chunk, chunked, length);
    Arrays.fill(chunk, chunked + length, chunked + size, (byte) 0);
    chunked += size;
  }

  private void flush(Frames out) throws IOException {
    if (chunked > 0) {
      out.add(FrameLayout.TYPE_TRAIL, chunk, 0, chunked);
      chunked = 0;
    }
  }

  // Scope

  private void scope(Frames out) throws IOException {
    for (int tries = 0; tries < MAX_TRIES; tries++) {
      if (copyScope()) {
        scopeRecords(out);
        return;
      }
      Thread.onSpinWait();
    }
    boolean[] done = {false};
    scope.whileLocked(() -> done[0] = copyScope());
    if (!done[0]) {
      throw new AssertionError("scope changed under its lock");
    }
    scopeRecords(out);
  }

  // What copyScope found.
  private long foundGeneration;
  private int foundFrom;
  private int foundEnd;
  private int foundHead;

  /** Copies new records and the head; false if they may not belong together. */
  private boolean copyScope() {
    long published = scope.published();
    foundGeneration = published >>> ScopeLog.END_BITS;
    foundEnd = (int) (published & (1 << ScopeLog.END_BITS) - 1);
    foundFrom = foundGeneration == scopeGeneration ? scopeEnd : 0;
    scope.read(foundGeneration, foundFrom, half, foundFrom, foundEnd - foundFrom);
    foundHead = box.copies(Box.SCOPE_HEAD).snapshot(copy, FrameLayout.PREFIX_SIZE);
    System.arraycopy(copy, FrameLayout.PREFIX_SIZE, head, 0, foundHead);
    VarHandle.acquireFence();
    return scope.published() >>> ScopeLog.END_BITS == foundGeneration
        && copyWords.getLong(FrameLayout.PREFIX_SIZE + 16) == foundGeneration;
  }

  private void scopeRecords(Frames out) throws IOException {
    int length = coalesce();
    for (int at = 0; at < length; ) {
      int next = at;
      while (next < length && (next == at || next + framed(next) - at <= MAX_FRAME)) {
        next += framed(next);
      }
      out.add(FrameLayout.TYPE_SCOPE, records, at, next - at);
      at = next;
    }
    System.arraycopy(head, 0, copy, FrameLayout.PREFIX_SIZE, foundHead);
    copied(Box.SCOPE_HEAD, foundHead, out);
    scopeGeneration = foundGeneration;
    scopeEnd = foundEnd;
  }

  /** {@return how many bytes the record at that offset of `records` takes in a frame} */
  private int framed(int at) {
    return recordWords.getShort(at + RecordLayout.TYPE_OFFSET) == RecordLayout.TYPE_ERASED
        ? RecordLayout.HEADER_SIZE
        : RecordLayout.aligned(recordWords.getInt(at + RecordLayout.LENGTH_OFFSET));
  }

  /**
   * Copies to `records` what was found in the half, of each field the last record only; in place of
   * the others erased ones.
   *
   * @return their length
   */
  private int coalesce() {
    Map<String, Integer> last = new HashMap<>();
    for (int at = foundFrom; at < foundEnd; at += halfAligned(at)) {
      last.put(field(at), at);
    }
    int length = 0;
    int deadFrom = -1;
    for (int at = foundFrom; at < foundEnd; at += halfAligned(at)) {
      if (last.getOrDefault(field(at), -1) != at) {
        deadFrom = deadFrom < 0 ? at : deadFrom;
        continue;
      }
      if (deadFrom >= 0) {
        length = erased(deadFrom, at, length);
        deadFrom = -1;
      }
      int size = halfAligned(at);
      int used = halfWords.getInt(at + RecordLayout.LENGTH_OFFSET);
      System.arraycopy(half, at, records, length, used);
      Arrays.fill(records, length + used, length + size, (byte) 0);
      length += size;
    }
    return length;
  }

  private int halfAligned(int at) {
    return RecordLayout.aligned(halfWords.getInt(at + RecordLayout.LENGTH_OFFSET));
  }

  /** Writes the header of an erased record that stands for a part of the half. */
  private int erased(int from, int to, int at) {
    Arrays.fill(one, SEED, SEED + RecordLayout.HEADER_SIZE, (byte) 0);
    words.putLong(
        SEED + RecordLayout.POSITION_OFFSET,
        halfWords.getLong(from + RecordLayout.POSITION_OFFSET));
    words.putInt(SEED + RecordLayout.LENGTH_OFFSET, to - from);
    crc.reset();
    crc.update(one, 0, SEED + RecordLayout.HEADER_SIZE);
    words.putInt(SEED + RecordLayout.CRC_OFFSET, (int) crc.getValue());
    System.arraycopy(one, SEED, records, at, RecordLayout.HEADER_SIZE);
    return at + RecordLayout.HEADER_SIZE;
  }

  /** {@return what names the field of a record: the bytes of its payload before the value} */
  private String field(int at) {
    int from = at + RecordLayout.HEADER_SIZE;
    int stop = from + 3; // a map's begin, the key of the kind, the kind
    if (half[stop] == RecordLayout.FIELD_KEY) {
      CborSlice key =
          CborSlice.at(half, stop + 1, at + halfWords.getInt(at + RecordLayout.LENGTH_OFFSET));
      stop = key == null ? stop : key.end();
    }
    return new String(half, from, stop - from, StandardCharsets.ISO_8859_1);
  }

  // Spans

  private void spans(Frames out) throws IOException {
    int closed = 0;
    for (int slot = 0; slot < states.length; slot++) {
      if (!spans.wasUsed(slot)) {
        continue; // the table of slots is small, their state words are a cache line each
      }
      long state = spans.state(slot);
      if (state == states[slot] && (state <= 0 || spans.used(slot) == used[slot])) {
        continue;
      }
      if (state > 0) {
        open(slot, state, out);
        continue;
      }
      if (closed + CLOSED_SIZE > chunk.length) {
        out.add(FrameLayout.TYPE_CLOSED, chunk, 0, closed);
        closed = 0;
      }
      chunkWords.putLong(closed, slot);
      chunkWords.putLong(closed + FrameLayout.PREFIX_SIZE, state);
      closed += CLOSED_SIZE;
      states[slot] = state;
    }
    if (closed > 0) {
      out.add(FrameLayout.TYPE_CLOSED, chunk, 0, closed);
    }
  }

  private void open(int slot, long state, Frames out) throws IOException {
    int length = spans.used(slot);
    spans.read(slot, copy, FrameLayout.PREFIX_SIZE, length);
    if (spans.state(slot) == state) {
      copyWords.putLong(0, slot);
      out.add(FrameLayout.TYPE_SPAN, copy, 0, FrameLayout.PREFIX_SIZE + length);
      states[slot] = state;
      used[slot] = length;
    }
    // Else it was closed meanwhile, and whoever did that will say so.
  }
}
