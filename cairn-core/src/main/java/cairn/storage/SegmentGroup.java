package cairn.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A segment and those right behind it that repeat what an error had left of it, read as one: frames
 * in the order of their numbers.
 *
 * <p>One thread; never writes, never throws on damage. Nearly always one segment.
 */
public final class SegmentGroup implements Closeable {
  /*
   * After an error the numbers that were not durable come again in a new segment, and power loss may
   * have kept any of them in the old one: the last and not the one before it. A reader that finished the old segment first
   * would take the last, and pass over the one before it when it comes again. So the segments are
   * read side by side, the lowest number next. A number that is in two of them comes twice.
   *
   * While a writer lives, the newest segment may be about to repeat what an older one holds: frames
   * from its first number on wait until it shows a frame, or is finished.
   */

  /** One of the segments. */
  public static final class Segment {
    private final long number;
    private final SegmentScan scan;
    private boolean isReady;
    private boolean wasGrowing;

    private Segment(long number, SegmentScan scan) {
      this.number = number;
      this.scan = scan;
    }

    /** {@return its number, as its name says} */
    public long number() {
      return number;
    }

    /** {@return what reads it; to be asked only} */
    public SegmentScan scan() {
      return scan;
    }
  }

  private final Storage storage;
  private final LongFunction<SegmentScan.Problems> problems;
  private final List<Segment> segments = new ArrayList<>();
  private @Nullable Segment current;

  private SegmentGroup(Storage storage, LongFunction<SegmentScan.Problems> problems) {
    this.storage = storage;
    this.problems = problems;
  }

  /**
   * Opens the first segment behind that number, and what belongs to it.
   *
   * @param problems who is told what is not sound, by the segment's number; also told of each
   *     segment that is opened, by being asked
   * @return null if there is none
   */
  public static @Nullable SegmentGroup openAfter(
      Storage storage, long number, LongFunction<SegmentScan.Problems> problems)
      throws IOException {
    SegmentGroup group = new SegmentGroup(storage, problems);
    boolean done = false;
    try {
      // Nearly always the next number: to list the directory for each segment is quadratic.
      done = group.open(number + 1);
      for (long candidate : done ? List.<Long>of() : SegmentName.numbers(storage)) {
        if (candidate > number && group.open(candidate)) {
          done = true;
          break;
        }
      }
      if (!done) {
        return null;
      }
      done = false;
      group.addRepeating();
      done = true;
      return group;
    } finally {
      if (!done) {
        group.close();
      }
    }
  }

  /** Opens a segment; false if it is gone. */
  private boolean open(long number) throws IOException {
    try {
      segments.add(
          new Segment(
              number,
              SegmentScan.open(storage, SegmentName.of(number), true, problems.apply(number))));
      return true;
    } catch (NoSuchFileException e) {
      return false; // deleted meanwhile
    } catch (NotRegularFileException e) {
      problems.apply(number).found(SegmentName.of(number), 0, String.valueOf(e.getMessage()));
      return false;
    }
  }

  /** Opens the segments right behind the last one that repeat, also those that came since. */
  public void addRepeating() throws IOException {
    Boolean next = isRepeating(lastNumber() + 1);
    if (Boolean.FALSE.equals(next)) {
      return;
    }
    for (long candidate : SegmentName.numbers(storage)) {
      if (candidate > lastNumber()
          && (!Boolean.TRUE.equals(isRepeating(candidate)) || !open(candidate))) {
        return;
      }
    }
  }

  /** {@return whether that segment repeats what the one before it holds; null if it isn't there} */
  private @Nullable Boolean isRepeating(long number) throws IOException {
    try (SegmentScan scan =
        SegmentScan.open(storage, SegmentName.of(number), true, (file, offset, text) -> {})) {
      return scan.isAfterError();
    } catch (NoSuchFileException | NotRegularFileException e) {
      return null;
    }
  }

  /** {@return the number of the newest segment in it} */
  public long lastNumber() {
    return segments.get(segments.size() - 1).number;
  }

  /** {@return all its segments, oldest first} */
  public List<Segment> segments() {
    return List.copyOf(segments);
  }

  /**
   * Goes to the next frame.
   *
   * @param isFinished whether no writer is at work in the newest segment any more
   * @return false at the end, or if there is none for now
   */
  public boolean next(boolean isFinished) throws IOException {
    Segment newest = segments.get(segments.size() - 1);
    Segment taken = current;
    if (taken != null) {
      taken.isReady = false;
    }
    current = null;
    for (Segment segment : segments) {
      if (!segment.isReady && segment.scan.hasHeader()) {
        segment.isReady = goOn(segment, segment == newest && !isFinished);
      }
    }
    Segment lowest = null;
    for (Segment segment : segments) {
      if (segment.isReady && (lowest == null || segment.scan.sequence() < lowest.scan.sequence())) {
        lowest = segment;
      }
    }
    if (lowest == null) {
      return false;
    }
    boolean mayComeAgain =
        lowest != newest
            && !isFinished
            && !newest.isReady
            && lowest.scan.sequence() >= newest.scan.firstSequence();
    if (mayComeAgain) {
      return false;
    }
    current = lowest;
    return true;
  }

  private static boolean goOn(Segment segment, boolean isGrowing) throws IOException {
    SegmentScan scan = segment.scan;
    if (isGrowing && scan.nextOfLiving()) {
      return true;
    }
    if (isGrowing || segment.wasGrowing) {
      scan.refresh(); // what was read ahead may be older than what is there
      segment.wasGrowing = isGrowing;
    }
    return isGrowing ? scan.nextOfLiving() : scan.next();
  }

  /** {@return the segment that stands at the frame, after {@link #next} returned true} */
  public Segment frame() {
    Segment at = current;
    if (at == null) {
      throw new IllegalStateException("there is no frame: segments=" + segments.size());
    }
    return at;
  }

  @Override
  public void close() throws IOException {
    for (Segment segment : segments) {
      segment.scan.close();
    }
  }
}
