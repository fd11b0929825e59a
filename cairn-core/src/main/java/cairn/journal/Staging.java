package cairn.journal;

import cairn.format.FrameSeal;
import cairn.format.JournalLayout;
import cairn.storage.Region;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Where records wait for the commit: two halves, of which one takes new records while the other is
 * being written to a segment.
 *
 * <p>Guarded by the journal's staging lock, but for {@link #drain}. In a mapped file a record
 * survives process death once {@link #put} returns.
 */
final class Staging {
  /*
   * Put:    1 store the frame without its number   2 release-store the number: the commit
   * Death before 2 leaves an older number over new bytes: its checksum refuses it. A frame of an
   * earlier use of the half proves itself still, but its number is one that the segments have.
   *
   * A half is taken up again only when all it holds is in the segments, written at least.
   *
   * Making room by dropping the oldest moves what stays to the front of the half, each frame by at least its
   * own size, so that a frame is never written over itself: death in between leaves it in one of both places.
   */

  private static final int HEADER = JournalLayout.FRAMES_OFFSET;
  private static final int FRAME = JournalLayout.FRAME_HEADER_SIZE;

  private final Region region;
  private final int half;
  private final FrameSeal seal;
  private byte[] scratch = new byte[1024];

  private int active;
  private int end;
  private int records;
  private long activeLast;

  private int drainingEnd;
  private long drainingLast;

  /** Of this process: how many records were dropped, and how many of those a gap names. */
  private long dropped;

  private long logged;

  private Evicted evicted = Evicted.NONE;
  private Evicted evictedDraining = Evicted.NONE;

  /** Numbers that were taken out for newer records. */
  record Evicted(long from, long to, long count) {
    static final Evicted NONE = new Evicted(0, 0, 0);

    Evicted and(Evicted newer) {
      if (count == 0 || newer.count == 0) {
        return count == 0 ? newer : this;
      }
      return new Evicted(from, newer.to, count + newer.count);
    }
  }

  /** {@return bytes of a staging file whose halves have that size} */
  static int fileBytes(int half) {
    return HEADER + 2 * half;
  }

  /**
   * @param region holds the header already
   */
  Staging(Region region, int half, long nonce) {
    this.region = region;
    this.half = half;
    this.seal = new FrameSeal(nonce);
  }

  /** {@return whether a payload of that length fits into the active half now} */
  boolean fits(int length) {
    return end + JournalLayout.aligned(FRAME + length) <= half;
  }

  /** Stores a frame. */
  void put(long sequence, long millis, int type, byte[] bytes, int from, int length) {
    int frame = FRAME + length;
    int size = JournalLayout.aligned(frame);
    if (scratch.length < size) {
      scratch = new byte[Math.max(size, Math.min(2 * scratch.length, half))];
    }
    System.arraycopy(bytes, from, scratch, FRAME, length);
    store(end, sequence, frame, millis, type);
    records++;
    activeLast = sequence;
    end += size;
  }

  /** Seals the frame in the scratch and stores it at that place of the active half. */
  private void store(int at, long sequence, int frame, long millis, int type) {
    int offset = HEADER + active * half + at;
    seal.seal(scratch, 0, offset, sequence, frame, millis, type, 0);
    region.putBytesPlain(offset + 8, scratch, 8, frame - 8);
    // Release: publishes the frame stored above. Partner: a reader's look at the number.
    region.putLongRelease(offset, sequence);
  }

  /** {@return records that wait and are not being written} */
  int records() {
    return records;
  }

  /** {@return bytes of the active half that are taken} */
  int activeBytes() {
    return end;
  }

  int halfBytes() {
    return half;
  }

  /** {@return whether the other half waits to be written} */
  boolean isDraining() {
    return drainingEnd > 0;
  }

  /** {@return the last number in the half that is being written} */
  long drainingLast() {
    return drainingLast;
  }

  /** Makes the active half the one to be written. The other must be free. */
  void flip() {
    drainingEnd = end;
    drainingLast = activeLast;
    evictedDraining = evicted;
    evicted = Evicted.NONE;
    active = 1 - active;
    end = 0;
    records = 0;
  }

  /**
   * Frees the half that was written, and notes that gaps name what was given up.
   *
   * @param namedDropped {@link #dropped} when the gap was made
   */
  void release(long namedDropped) {
    drainingEnd = 0;
    logged = namedDropped;
    region.putLongRelease(JournalLayout.STAGING_LOGGED_OFFSET, logged);
    evictedDraining = Evicted.NONE;
    storeEvicted();
  }

  /** {@return what was evicted since the halves were flipped, or before that and no gap says so} */
  Evicted evicted() {
    return evicted;
  }

  private void storeEvicted() {
    Evicted all = evictedDraining.and(evicted);
    // Stored before anything is overwritten, and never without a range in between, as long as there
    // is one:
    // the range only grows at its end, or, when a gap names its beginning, shrinks from there.
    if (all.count > 0) {
      region.putLongRelease(JournalLayout.STAGING_EVICTED_FROM_OFFSET, all.from);
      region.putLongRelease(JournalLayout.STAGING_EVICTED_TO_OFFSET, all.to);
    }
    // Release: publishes the range. Partner: whoever opens the journal next.
    region.putLongRelease(JournalLayout.STAGING_EVICTED_COUNT_OFFSET, all.count);
  }

  /** Copies the half that is being written; the committer's, without the lock. */
  int drain(byte[] into) {
    int length = drainingEnd;
    region.getBytesPlain(HEADER + (1 - active) * half, into, 0, length);
    return length;
  }

  /**
   * Drops the oldest records of the active half until that many bytes are free, and some more, so
   * that it isn't the next call again.
   *
   * @return what was dropped
   */
  Evicted evict(int bytesNeeded) {
    byte[] image = new byte[end];
    region.getBytesPlain(HEADER + active * half, image, 0, end);
    ByteBuffer words = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
    // What moves goes at least as far as the largest frame is long.
    int target = Math.max(bytesNeeded, half / 4);
    for (int at = 0; at < end; at += size(words, at)) {
      target = Math.max(target, size(words, at));
    }
    int from = 0;
    int count = 0;
    long last = 0;
    while (from < end && from < target) {
      last = words.getLong(from);
      from += size(words, from);
      count++;
    }
    if (count == 0) {
      return Evicted.NONE;
    }
    Evicted now = new Evicted(words.getLong(0), last, count);
    evicted = evicted.and(now);
    storeEvicted();
    end = 0;
    records = 0;
    for (int at = from; at < image.length; at += size(words, at)) {
      put(
          words.getLong(at),
          words.getLong(at + JournalLayout.TIME_OFFSET),
          words.getShort(at + JournalLayout.TYPE_OFFSET),
          image,
          at + FRAME,
          words.getInt(at + JournalLayout.LENGTH_OFFSET) - FRAME);
    }
    return now;
  }

  private static int size(ByteBuffer words, int at) {
    return JournalLayout.aligned(words.getInt(at + JournalLayout.LENGTH_OFFSET));
  }

  /** Counts a record that found no room. */
  void drop() {
    dropped++;
    // Release: the count itself is what is published. Partner: whoever opens the journal next.
    region.putLongRelease(JournalLayout.STAGING_DROPPED_OFFSET, dropped);
  }

  /** {@return how many records found no room, since the process began} */
  long dropped() {
    return dropped;
  }

  /** {@return how many dropped records no gap names yet} */
  long unlogged() {
    return dropped - logged;
  }
}
