package cairn.storage;

import cairn.format.FrameSeal;
import cairn.format.JournalLayout;
import java.io.Closeable;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes frames into segments: the one place that decides what is written, forced and given a name,
 * and in which order.
 *
 * <p>One caller at a time; every method may wait for the disk. After an {@link IOException} the
 * segment in work is given up for good: what was not durable must be added again and goes into a
 * new one.
 */
public final class SegmentLog implements Closeable {
  /*
   * A segment is made in this order:
   *   1 create .new-journal-N   2 fill it with zeros   3 header at both ends   4 force the file
   *   5 rename to journal-N     6 force the directory
   * Only then a frame goes into it. Death or power loss before 5 leaves a file that nobody reads and
   * the next opener deletes; after 5 a complete, empty segment; and a frame can be durable only in a
   * file whose name is (6).
   * Filled by writing, so that a forced write of frames needs no metadata: no allocation, no size.
   *
   * Frames are added to a batch in memory and written by one write, forced or not. The first error of
   * a write or a force poisons the segment: the kernel may have dropped the pages that it could not
   * write and call the next force a success. Nothing is written to that descriptor again, nor is it asked to force.
   * Frames of the failed batch may be in the file all the same; they come again in the next segment,
   * under the same numbers, and a reader takes each number once. Such a segment bears AFTER_ERROR, so that an
   * opener who looks for the highest number looks into the one before it too.
   *
   * A segment that was written without force is forced before the next one is begun: what is durable is a prefix.
   */

  /** Of a batch; more goes out in parts. */
  private static final int BATCH_BYTES = 256 * 1024;

  /** One page a write: forcing 250 bytes took 164 us behind that, 185 behind writes of 64 KiB. */
  private static final int FILL_CHUNK = 4096;

  private static final byte[] ZEROS = new byte[FILL_CHUNK];
  private static final SecureRandom RANDOM = new SecureRandom();

  /** A finished or current segment. */
  public static final class Segment {
    final long number;
    final long firstSequence;
    final long bytes;
    long lastSequence;
    long newestMillis;

    /** For one that was found in the directory. */
    public Segment(
        long number, long firstSequence, long bytes, long lastSequence, long newestMillis) {
      this.number = number;
      this.firstSequence = firstSequence;
      this.bytes = bytes;
      this.lastSequence = lastSequence;
      this.newestMillis = newestMillis;
    }

    public long number() {
      return number;
    }

    /** {@return the lowest number that it may hold} */
    public long firstSequence() {
      return firstSequence;
    }

    /** {@return the highest number that it holds; lower than the first if it holds none} */
    public long lastSequence() {
      return lastSequence;
    }

    /** {@return its size} */
    public long bytes() {
      return bytes;
    }

    /** {@return when its newest frame was made; when it was made itself if it holds none} */
    public long newestMillis() {
      return newestMillis;
    }
  }

  private final Storage storage;
  private final int kind;
  private final int maxSegmentBytes;
  private final LongSupplier clock;
  private final Deque<Segment> segments = new ArrayDeque<>();
  private int nextSegmentBytes;
  private long nextNumber;

  private Storage.@Nullable Output output;
  private @Nullable Segment current;
  private FrameSeal seal = new FrameSeal(0);

  /** Where the batch begins in the file. */
  private long position;

  private byte[] batch = new byte[4096];
  private int batchLength;
  private long batchLast;
  private long batchMillis;

  /** Whether anything was written and not forced. */
  private boolean unforced;

  private long added;
  private long durable;
  private long overlapUntil;
  private long forces;
  private long writes;
  private long bytesWritten;

  /**
   * Makes no file yet.
   *
   * @param found the segments that are there, oldest first
   * @param lastSequence the highest number in use; all up to it count as durable
   * @param firstSegmentBytes size of the first segment; each next is twice as large, up to the
   *     maximum
   */
  public SegmentLog(
      Storage storage,
      int kind,
      List<Segment> found,
      long lastSequence,
      int firstSegmentBytes,
      int maxSegmentBytes,
      LongSupplier clock) {
    this.storage = storage;
    this.kind = kind;
    this.maxSegmentBytes = maxSegmentBytes;
    this.nextSegmentBytes = Math.min(firstSegmentBytes, maxSegmentBytes);
    this.clock = clock;
    segments.addAll(found);
    nextNumber = found.isEmpty() ? 1 : found.get(found.size() - 1).number + 1;
    added = lastSequence;
    durable = lastSequence;
  }

  /** {@return the highest number that was added} */
  public long addedSequence() {
    return added;
  }

  /** {@return the highest number up to which all survive power loss} */
  public long durableSequence() {
    return durable;
  }

  /** {@return how often bytes were forced, making files included} */
  public long forces() {
    return forces;
  }

  /** {@return how often bytes were written, the filling of new segments not included} */
  public long writes() {
    return writes;
  }

  /** {@return bytes of frames written} */
  public long bytesWritten() {
    return bytesWritten;
  }

  /** {@return the segments, oldest first} */
  public List<Segment> segments() {
    return new ArrayList<>(segments);
  }

  /** {@return the number of the newest segment; 0 if none was made} */
  public long newestSegment() {
    return nextNumber - 1;
  }

  /**
   * Adds a frame to the batch. Where the segment has no room for it, the batch is committed and a
   * new segment made first.
   *
   * @param sequence one more than the last, or the last again for a frame that has no number
   * @param force whether what must be committed is forced
   */
  public void add(
      long sequence,
      long millis,
      int type,
      int flags,
      byte[] bytes,
      int from,
      int length,
      boolean force)
      throws IOException {
    int frame = JournalLayout.FRAME_HEADER_SIZE + length;
    int size = JournalLayout.aligned(frame);
    makeRoom(sequence, size, force);
    if (batchLength + size > batch.length) {
      byte[] larger =
          new byte[Math.max(batchLength + size, Math.min(batch.length * 2, BATCH_BYTES))];
      System.arraycopy(batch, 0, larger, 0, batchLength);
      batch = larger;
    }
    System.arraycopy(bytes, from, batch, batchLength + JournalLayout.FRAME_HEADER_SIZE, length);
    for (int i = batchLength + frame; i < batchLength + size; i++) {
      batch[i] = 0;
    }
    seal.seal(batch, batchLength, position + batchLength, sequence, frame, millis, type, flags);
    batchLength += size;
    batchLast = sequence;
    batchMillis = Math.max(batchMillis, millis);
  }

  private void makeRoom(long sequence, int size, boolean force) throws IOException {
    if (batchLength > 0 && batchLength + size > BATCH_BYTES) {
      commit(force);
    }
    Segment segment = current;
    if (segment == null
        || position + batchLength + size > segment.bytes - JournalLayout.HEADER_SIZE) {
      commit(force);
      // What has no number of its own bears the last one, which is in the segment before.
      begin(Math.max(sequence, added + 1), size);
    }
  }

  /**
   * Writes the batch.
   *
   * @param force whether it survives power loss when this returns; then all that was written before
   *     does as well
   */
  public void commit(boolean force) throws IOException {
    Storage.Output target = output;
    Segment segment = current;
    if (target == null || segment == null) {
      return;
    }
    try {
      if (batchLength > 0) {
        if (force && !unforced) {
          target.writeForced(position, batch, 0, batchLength);
          forces++;
        } else {
          target.write(position, batch, 0, batchLength);
          unforced = true;
        }
        writes++;
        bytesWritten += batchLength;
        position += batchLength;
        batchLength = 0;
        added = batchLast;
        segment.lastSequence = Math.max(segment.lastSequence, batchLast);
        segment.newestMillis = Math.max(segment.newestMillis, batchMillis);
      }
      if (force) {
        if (unforced) {
          target.force();
          forces++;
          unforced = false;
        }
        durable = added;
      }
    } catch (IOException | RuntimeException | Error e) {
      poison();
      throw e;
    }
  }

  /**
   * Gives up what was added and not written, and the segment in work: after an error elsewhere than
   * in {@link #commit}.
   */
  public void abandon() {
    if (output != null || batchLength > 0) {
      poison();
    }
  }

  /** Gives the segment in work up; numbers that are not durable may be in it. */
  private void poison() {
    overlapUntil = Math.max(overlapUntil, Math.max(added, batchLast));
    added = durable;
    batchLength = 0;
    unforced = false;
    closeOutput();
  }

  private void closeOutput() {
    Storage.Output closing = output;
    output = null;
    current = null;
    if (closing != null) {
      try {
        closing.close();
      } catch (IOException e) {
        // Close writes nothing back: what is forced is durable, and the rest is not promised.
      }
    }
  }

  /** Ends the segment in work, forced, so that the next frame begins a new one. */
  public void endSegment() throws IOException {
    commit(true);
    closeOutput();
  }

  /** Makes a new segment and goes on in it. */
  private void begin(long firstSequence, int size) throws IOException {
    if (unforced) {
      commit(true);
    }
    closeOutput();
    int needed =
        size + JournalLayout.FRAMES_OFFSET + JournalLayout.HEADER_SIZE + FILL_CHUNK - 1
            & -FILL_CHUNK;
    int bytes = Math.max(nextSegmentBytes, Math.min(needed, maxSegmentBytes));
    if (size + JournalLayout.FRAMES_OFFSET + JournalLayout.HEADER_SIZE > bytes) {
      throw new IllegalArgumentException(
          "record does not fit into a segment: length=" + size + ", segmentBytes=" + bytes);
    }
    long number = nextNumber;
    String name = SegmentName.of(number);
    String unfinished = SegmentName.unfinished(name);
    long now = clock.getAsLong();
    long nonce = RANDOM.nextLong();
    int flags = firstSequence <= overlapUntil ? JournalLayout.AFTER_ERROR : 0;
    byte[] header = JournalLayout.header(kind, nonce, number, firstSequence, bytes, now, flags);
    Storage.Output made = null;
    boolean done = false;
    try {
      storage.delete(unfinished);
      made = storage.create(unfinished);
      fill(made, bytes);
      made.write(0, header, 0, header.length);
      made.write(bytes - JournalLayout.HEADER_SIZE, header, 0, header.length);
      made.force();
      storage.rename(unfinished, name);
      nextNumber++; // from here on the name may be there
      storage.forceDirectory();
      forces += 2;
      done = true;
    } finally {
      if (!done) {
        abandon(made, unfinished);
      }
    }
    output = made;
    current = new Segment(number, firstSequence, bytes, firstSequence - 1, now);
    segments.add(current);
    seal = new FrameSeal(nonce);
    position = JournalLayout.FRAMES_OFFSET;
    unforced = false;
    nextSegmentBytes = (int) Math.min(maxSegmentBytes, 2L * nextSegmentBytes);
  }

  private void abandon(Storage.@Nullable Output made, String unfinished) {
    try {
      if (made != null) {
        made.close();
      }
      storage.delete(unfinished);
    } catch (IOException e) {
      // The first error is the one to report; the next opener deletes what is left.
    }
  }

  private static void fill(Storage.Output file, int bytes) throws IOException {
    for (int at = 0; at < bytes; at += FILL_CHUNK) {
      file.write(at, ZEROS, 0, Math.min(FILL_CHUNK, bytes - at));
    }
  }

  /** {@return bytes of all segments} */
  public long totalBytes() {
    long total = 0;
    for (Segment segment : segments) {
      total += segment.bytes;
    }
    return total;
  }

  /** What to delete, oldest first. */
  public interface Expiry {
    /**
     * {@return whether to delete that segment}
     *
     * @param oldest a segment that is not in work
     * @param totalBytes of all segments
     */
    boolean isExpired(Segment oldest, long totalBytes);
  }

  /**
   * Deletes the oldest segments for as long as they are expired; never the one in work.
   *
   * @return the highest number that was deleted, or 0
   */
  public long expire(Expiry expiry) throws IOException {
    long deleted = 0;
    long total = totalBytes();
    for (Iterator<Segment> i = segments.iterator(); i.hasNext(); ) {
      Segment oldest = i.next();
      if (oldest == current || !expiry.isExpired(oldest, total)) {
        break;
      }
      storage.delete(SegmentName.of(oldest.number));
      total -= oldest.bytes;
      deleted = Math.max(deleted, oldest.lastSequence);
      i.remove();
    }
    return deleted;
  }

  /** Closes the segment in work; forces nothing. */
  @Override
  public void close() {
    closeOutput();
  }
}
