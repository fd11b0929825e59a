package cairn;

import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.storage.Region;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The ring of records, oldest overwritten.
 *
 * <p>Any thread; wait-free but for the checksum and copy of one record. No system call, no
 * allocation. Survives process death once {@link #append} returns, until a lap overwrites it.
 */
final class Trail {
  /*
   * Claim    1 one fetch-and-add on the tail gives this record its positions
   * Fill     2 checksum over nonce, position and record   3 give up if already lapped
   *          4 copy all but the position
   * Commit   5 release-store the position
   *
   * Between 1 and 5 there is no user code, system call, lock or allocation, so the window is about
   * one memory copy. Death anywhere before 5 leaves a hole: the slot's old position is from an
   * older lap, or its bytes fail their checksum.
   *
   * A writer that stalls between 3 and 5 for a whole lap overwrites up to its own length of newer
   * records. Readers refuse them by checksum. Preventing it would need newer writers to wait for
   * a stalled one, and what is newest is what a black box is for.
   *
   * The tail lives in the heap: a reader finds the newest record by its position.
   */

  private static final int MAX_RECORD_BYTES = 32 * 1024;

  private final Region region;
  private final int offset;
  private final long capacity;
  private final Counters counters;
  private final Tail tail = new Tail();

  /** A counter with its cache line to itself. */
  @SuppressWarnings("unused")
  private static final class Tail extends AtomicLong {
    private static final long serialVersionUID = 1;
    long p1;
    long p2;
    long p3;
    long p4;
    long p5;
    long p6;
    long p7;
    long p8;
    long p9;
    long p10;
    long p11;
    long p12;
    long p13;
    long p14;
    long p15;
  }

  /**
   * @param capacity a power of two
   */
  Trail(Region region, int offset, int capacity, Counters counters) {
    this.region = region;
    this.offset = offset;
    this.capacity = capacity;
    this.counters = counters;
    tail.set(capacity);
  }

  /** Appends the record whose payload the scratch holds. */
  void append(Scratch scratch, int length, int type, int level, long wallMillis) {
    long position = tail.getAndAdd(RecordLayout.aligned(length));
    scratch.seal(position, length, type, level, wallMillis);
    if (tail.get() - position > capacity) {
      counters.increment(CounterLayout.LAPPED);
      return;
    }
    int start = (int) (position & (capacity - 1));
    int from = Scratch.RECORD + RecordLayout.LENGTH_OFFSET;
    int target = start + RecordLayout.LENGTH_OFFSET;
    int count = length - RecordLayout.LENGTH_OFFSET;
    int toEnd = (int) capacity - target;
    if (count <= toEnd) {
      region.putBytesPlain(offset + target, scratch.bytes, from, count);
    } else {
      region.putBytesPlain(offset + target, scratch.bytes, from, toEnd);
      region.putBytesPlain(offset, scratch.bytes, from + toEnd, count - toEnd);
    }
    // Release: publishes the record copied above. Partner: a reader's look at the position.
    region.putLongRelease(offset + start, position);
  }

  /**
   * Copies the record at a position, if one seems to be there: whether the bytes are one, its
   * checksum decides. A writer may overwrite them meanwhile.
   *
   * @return its length, or -1 if the slot shows another position, or a length that no record has
   */
  int read(long position, byte[] into, int to) {
    int start = (int) (position & (capacity - 1));
    if (region.getLongPlain(offset + start) != position) {
      return -1;
    }
    // Acquire: what was stored before the position. Partner: the release store in append.
    VarHandle.acquireFence();
    int length = region.getIntPlain(offset + start + RecordLayout.LENGTH_OFFSET);
    if (length < RecordLayout.HEADER_SIZE || length > maxRecordBytes()) {
      return -1;
    }
    int straight = Math.min(length, (int) capacity - start);
    region.getBytesPlain(offset + start, into, to, straight);
    if (straight < length) {
      region.getBytesPlain(offset, into, to + straight, length - straight);
    }
    return length;
  }

  /** {@return bytes of the ring} */
  long capacity() {
    return capacity;
  }

  /** {@return the longest record: a lapped writer destroys no more than 1/64 of the ring} */
  int maxRecordBytes() {
    return maxRecordBytes(capacity);
  }

  static int maxRecordBytes(long capacity) {
    return (int) Math.min(capacity / 64, MAX_RECORD_BYTES);
  }

  /** {@return the next position to be claimed} */
  long tail() {
    return tail.get();
  }
}
