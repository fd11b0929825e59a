package cairn;

import cairn.format.CounterLayout;
import cairn.format.FrameLayout;
import cairn.format.JournalLayout;
import cairn.format.RecordLayout;
import cairn.storage.PrivateFiles;
import cairn.storage.SegmentLog;
import cairn.storage.SegmentName;
import cairn.storage.Storage;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A run's journal: what {@link BoxMirror} finds, in segments, and which of them are still needed.
 *
 * <p>One thread, the committer's. After an {@link IOException} the next pass starts over in a new
 * segment.
 */
final class RunJournal implements BoxMirror.Frames, SegmentLog.Expiry, LongSupplier, Closeable {
  /*
   * A pass writes what is new and forces it, as one batch. When a segment was begun since the last
   * checkpoint, the same batch ends with another. A segment is deleted when a checkpoint in a later
   * one is whole and forced, and no record of the trail in it is in the ring any more.
   *
   * Starting over: a new segment with a checkpoint and then all of the trail that is in the ring;
   * once that is forced, every segment before it is deleted. So after an error, in which nobody
   * knows what the segment in work holds; when segments are kept for a few records each and
   * take more than maxBytes; and when values were cleared that must not stay.
   */

  private static final int FIRST_SEGMENT_BYTES = 256 * 1024;
  private static final int MAX_SEGMENT_BYTES = 4 * 1024 * 1024;

  private final Box box;
  private final BoxMirror mirror;
  private final Storage storage;
  private final List<Path> parents;
  private final SegmentLog log;
  private final long maxBytes;

  /** By segment: the end of the newest record of the trail in it. */
  private final Map<Long, Long> trailEnds = new HashMap<>();

  private boolean isNew = true;
  private boolean startOver = true;
  private long sequence;
  private long bytes;
  private boolean hasScope;
  private long clears;

  /** Where the last checkpoint begins and ends; a later segment wants one of its own. */
  private long checkpointSegment;

  private long checkpointEnd;
  private long checkpointBytes;
  private long bytesAtCheckpoint;

  /** What is older is to be deleted, whatever it holds. */
  private long deleteBefore;

  private long rewriteAt;

  /**
   * @param storage the run's directory
   * @param parents directories that must be forced for that one to survive power loss, outermost
   *     last
   * @param before a journal of the same run that was given up, if there was one
   */
  RunJournal(Box box, Storage storage, List<Path> parents, @Nullable RunJournal before) {
    this(box, storage, parents, before, FIRST_SEGMENT_BYTES, segmentBytes(box.plan));
  }

  /**
   * Half the trail: so that what a lap overwrites soon goes in pieces. At least a half of the
   * scope, whose longest record must fit.
   */
  private static int segmentBytes(BoxPlan plan) {
    int wanted = Math.max(plan.trailBytes / 2, plan.scopeHalf);
    return Math.max(FIRST_SEGMENT_BYTES, Math.min(wanted, MAX_SEGMENT_BYTES));
  }

  /**
   * @param firstBytes size of the first segment
   * @param segmentBytes of the largest
   */
  RunJournal(
      Box box,
      Storage storage,
      List<Path> parents,
      @Nullable RunJournal before,
      int firstBytes,
      int segmentBytes) {
    this.box = box;
    this.storage = storage;
    this.parents = parents;
    this.mirror = new BoxMirror(box);
    this.maxBytes = 4L * Math.max(box.plan.trailBytes, 2 * segmentBytes);
    this.rewriteAt = maxBytes;
    this.sequence = before == null ? 0 : before.sequence;
    this.log =
        new SegmentLog(
            storage,
            JournalLayout.KIND_RUN,
            before == null ? List.of() : before.log.segments(),
            sequence,
            firstBytes,
            segmentBytes,
            this);
  }

  /** {@return the wall clock} For the headers of segments. */
  @Override
  public long getAsLong() {
    return box.clock.wallMillis();
  }

  /** {@return whether values were cleared that are in the journal still} */
  boolean holdsCleared() {
    return hasScope && box.scope.clears() != clears;
  }

  /**
   * Writes and forces what the box has gained.
   *
   * @param erase whether values that were cleared must leave the journal now
   */
  void pass(boolean erase) throws IOException {
    long clearsNow = box.scope.clears();
    boolean over = startOver || (erase && holdsCleared()) || log.totalBytes() > rewriteAt;
    startOver = true; // unless this pass comes to its end
    if (over) {
      log.endSegment();
      mirror.startOver();
      hasScope = false;
      checkpoint();
    }
    mirror.changes(this);
    if (log.newestSegment() > checkpointEnd && bytes - bytesAtCheckpoint >= checkpointBytes) {
      checkpoint();
    }
    log.commit(true);
    if (isNew) {
      forceParents();
      isNew = false;
    }
    startOver = false;
    box.counters.increment(CounterLayout.FORCES);
    if (over) {
      deleteBefore = checkpointSegment;
    }
    if (over || !hasScope) {
      clears = clearsNow;
    }
    delete(over);
  }

  private void checkpoint() throws IOException {
    long before = bytes;
    mirror.checkpoint(this);
    checkpointEnd = log.newestSegment();
    checkpointBytes = bytes - before;
    bytesAtCheckpoint = bytes;
  }

  @Override
  public void add(int type, byte[] payload, int from, int length) throws IOException {
    sequence++;
    log.add(sequence, box.clock.wallMillis(), type, 0, payload, from, length, false);
    bytes += JournalLayout.FRAME_HEADER_SIZE + length;
    switch (type) {
      case FrameLayout.TYPE_BEGIN -> checkpointSegment = log.newestSegment();
      case FrameLayout.TYPE_SCOPE -> hasScope = true;
      case FrameLayout.TYPE_TRAIL ->
          trailEnds.merge(log.newestSegment(), end(payload, from, length), Math::max);
      default -> {}
    }
  }

  /** {@return the highest position behind a record of the trail in that frame} */
  private static long end(byte[] records, int from, int length) {
    ByteBuffer words = ByteBuffer.wrap(records).order(ByteOrder.LITTLE_ENDIAN);
    long end = 0;
    for (int at = from, size; at < from + length; at += size) {
      size = RecordLayout.aligned(words.getInt(at + RecordLayout.LENGTH_OFFSET));
      end = Math.max(end, words.getLong(at + RecordLayout.POSITION_OFFSET) + size);
    }
    return end;
  }

  /** The directory's own name, and that of the one it is in. */
  private void forceParents() throws IOException {
    for (Path parent : parents) {
      PrivateFiles.forceDirectory(parent);
    }
  }

  private void delete(boolean over) {
    try {
      log.expire(this);
      if (over) {
        // Also one that was made and whose name could not be forced.
        for (long number : SegmentName.numbers(storage)) {
          if (number < deleteBefore) {
            storage.delete(SegmentName.of(number));
          }
        }
        storage.forceDirectory();
      }
    } catch (IOException e) {
      Log.warnOnce("old segment was not deleted: dir=" + storage, e); // the next pass tries again
    }
    if (over) {
      rewriteAt = Math.max(maxBytes, 2 * log.totalBytes());
    }
  }

  @Override
  public boolean isExpired(SegmentLog.Segment oldest, long totalBytes) {
    boolean expired =
        oldest.number() < deleteBefore
            || (oldest.number() < checkpointSegment
                && trailEnds.getOrDefault(oldest.number(), 0L)
                    <= box.trail.tail() - box.trail.capacity());
    if (expired) {
      trailEnds.remove(oldest.number());
    }
    return expired;
  }

  @Override
  public void close() {
    log.close();
  }
}
