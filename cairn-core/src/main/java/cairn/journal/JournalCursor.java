package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.NotRegularFileException;
import cairn.storage.SegmentGroup;
import cairn.storage.SegmentName;
import cairn.storage.SegmentScan;
import cairn.storage.Storage;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Goes through all frames of a journal in the order of their numbers: the segments, then what is
 * only in the staging file yet. Each number once.
 *
 * <p>One thread; takes no lock, writes nothing.
 */
final class JournalCursor implements Closeable {
  /*
   * After an I/O error frames come again in the next segment: a number that was passed is passed
   * over. A number that is missing is a finding, unless a gap frame says why, which comes before the
   * number behind the gap.
   *
   * A living writer moves frames from the staging file into a segment. So the segments are read, then
   * the staging file, then the newest segment again: what had moved before the staging file was read
   * is there.
   */

  /** What a segment turned out to hold. */
  static final class SegmentView {
    final String name;
    final long number;
    long firstSequence;
    long lastSequence;
    long createdMillis;
    long newestMillis;
    long bytes;
    long entries;
    int kind;
    boolean isReadable;
    boolean isAfterError;

    SegmentView(String name, long number) {
      this.name = name;
      this.number = number;
    }
  }

  private final Storage storage;
  private final BooleanSupplier living;

  /** Whether a writer was seen since we began; then what is odd may be its doing. */
  private boolean wasLive;

  private final List<JournalFinding> findings;
  private final List<SegmentView> views = new ArrayList<>();
  private final Map<String, Long> given = new TreeMap<>();
  private final Set<Long> gapIds = new HashSet<>();

  /** Numbers that gaps name, from and to; those that may still be missing. */
  private final List<long[]> explained = new ArrayList<>();

  private long next;
  private long last;
  private boolean seeking;
  private long foreignFrames;

  private @Nullable SegmentGroup group;
  private final Map<Long, SegmentView> viewOf = new HashMap<>();
  private final List<JournalFinding> atOpen = new ArrayList<>();
  private @Nullable SegmentView view;
  private long lastNumber;
  private boolean inStaging;
  private final List<Frame> staged = new ArrayList<>();
  private int stagedAt;

  /** A frame and its payload, which nobody changes. */
  @SuppressWarnings("ArrayRecordComponent")
  record Frame(long sequence, long millis, int type, byte[] payload) {}

  /**
   * @param from the first number that is wanted
   * @param living whether a writer is at work: then the end is not called torn
   */
  JournalCursor(Storage storage, long from, BooleanSupplier living, List<JournalFinding> findings)
      throws IOException {
    this.storage = storage;
    this.living = living;
    this.findings = findings;
    this.next = Math.max(1, from);
    this.last = next - 1;
    this.seeking = true;
    this.wasLive = living.getAsBoolean();
    this.lastNumber = JournalRecovery.segmentBefore(storage, next);
  }

  private SegmentScan open(long number, SegmentScan.Problems problems) throws IOException {
    return SegmentScan.open(storage, SegmentName.of(number), true, problems);
  }

  /** {@return the next frame of a number not seen yet, or a gap; null at the end} */
  @Nullable Frame next() throws IOException {
    while (true) {
      Frame found = inStaging ? nextStaged() : nextInSegments();
      if (found == null) {
        return null;
      }
      if (accept(found)) {
        return found;
      }
    }
  }

  /** Whether a frame is new; notes what is missing before it. */
  private boolean accept(Frame found) {
    if (found.type == JournalLayout.TYPE_GAP) {
      Gap gap = Gap.decode(found.payload);
      if (gap == null || !gapIds.add(gap.id())) {
        return false;
      }
      given.merge(gap.reason(), gap.count(), Long::sum);
      if (gap.from() > 0) {
        explained.add(new long[] {gap.from(), gap.to()});
      }
      return true;
    }
    if (found.sequence <= last) {
      return false;
    }
    if (found.sequence > next) {
      missing(next, found.sequence - 1);
    }
    last = found.sequence;
    next = last + 1;
    if (!explained.isEmpty()) {
      explained.removeIf(range -> range[1] < next);
    }
    seeking = false;
    return true;
  }

  private void missing(long from, long to) {
    if (seeking) {
      return; // deleted by retention: the oldest that is there is where the journal begins
    }
    long at = from;
    while (at <= to) {
      long end = explainedTo(at);
      if (end >= at) {
        at = end + 1;
        continue;
      }
      end = Math.min(to, nextExplained(at) - 1);
      findings.add(
          new JournalFinding(
              view == null ? JournalLayout.STAGING_NAME : view.name,
              0,
              true,
              "sequence numbers are missing: from=" + at + ", to=" + end));
      at = end + 1;
    }
  }

  /** {@return the last number that the gap names in which that one is; 0 if none does} */
  private long explainedTo(long at) {
    long end = 0;
    for (long[] range : explained) {
      if (range[0] <= at) {
        end = Math.max(end, range[1]);
      }
    }
    return end;
  }

  private long nextExplained(long at) {
    long nearest = Long.MAX_VALUE;
    for (long[] range : explained) {
      if (range[0] > at) {
        nearest = Math.min(nearest, range[0]);
      }
    }
    return nearest;
  }

  private @Nullable Frame nextInSegments() throws IOException {
    while (true) {
      SegmentGroup open = group;
      if (open == null) {
        if (!openNext()) {
          return toStaging() ? nextStaged() : null;
        }
        continue;
      }
      if (!open.next(true)) {
        closeGroup();
        continue;
      }
      SegmentScan frame = open.frame().scan();
      SegmentView current = viewOf.get(open.frame().number());
      if (current != null) {
        view = current;
        current.entries += frame.type() == JournalLayout.TYPE_GAP ? 0 : 1;
        current.lastSequence = Math.max(current.lastSequence, frame.sequence());
        current.newestMillis = Math.max(current.newestMillis, frame.millis());
      }
      if (frame.type() >= JournalLayout.FIRST_RUN_TYPE) {
        foreignFrames++;
        continue;
      }
      return new Frame(frame.sequence(), frame.millis(), frame.type(), frame.payload());
    }
  }

  private boolean openNext() throws IOException {
    SegmentGroup opened = SegmentGroup.openAfter(storage, lastNumber, this::problemsOf);
    if (opened == null) {
      reportUnopened();
      return false;
    }
    beginAgainIfDeleted(opened.segments().get(0).number());
    group = opened;
    lastNumber = opened.lastNumber();
    for (SegmentGroup.Segment segment : opened.segments()) {
      SegmentScan scan = segment.scan();
      SegmentView seen = new SegmentView(SegmentName.of(segment.number()), segment.number());
      seen.isReadable = scan.hasHeader();
      seen.kind = scan.kind();
      seen.firstSequence = scan.firstSequence();
      seen.lastSequence = scan.firstSequence() - 1;
      seen.createdMillis = scan.createdMillis();
      seen.newestMillis = scan.createdMillis();
      seen.isAfterError = scan.isAfterError();
      seen.bytes = scan.size();
      viewOf.put(segment.number(), seen);
      views.add(seen);
      view = seen;
      scan.mayGrow(this::isLive);
      beginAt(scan);
      reportAtOpen(seen);
    }
    reportUnopened();
    return true;
  }

  /** What is left was said of a segment that could not be opened at all. */
  private void reportUnopened() {
    for (JournalFinding finding : atOpen) {
      if (views.stream().noneMatch(seen -> seen.name.equals(finding.file()))) {
        findings.add(new JournalFinding(finding.file(), finding.offset(), true, finding.text()));
      }
    }
    atOpen.clear();
  }

  private boolean isLive() {
    wasLive |= living.getAsBoolean();
    return wasLive;
  }

  /** A living writer's retention may have overtaken us: then the journal begins anew behind it. */
  private void beginAgainIfDeleted(long number) throws IOException {
    boolean isSkipped = !views.isEmpty() && number > lastNumber + 1;
    if (isSkipped && isLive() && !SegmentName.numbers(storage).contains(lastNumber)) {
      seeking = true;
    }
  }

  /**
   * The journal begins where its oldest segment does: what is missing from there on was not
   * deleted.
   */
  private void beginAt(SegmentScan oldest) {
    if (seeking && oldest.hasHeader() && oldest.firstSequence() > 0) {
      seeking = false;
      next = Math.max(next, oldest.firstSequence());
      last = next - 1;
    }
  }

  private SegmentScan.Problems problemsOf(long number) {
    return (file, offset, text) -> {
      SegmentView seen = viewOf.get(number);
      if (seen == null) {
        atOpen.add(new JournalFinding(file, offset, false, text));
      } else {
        // Whether records are missing for it shows in the numbers.
        findings.add(new JournalFinding(file, offset, false, text));
      }
    };
  }

  /** Without a header all that a segment held is lost, whatever the numbers show. */
  private void reportAtOpen(SegmentView of) {
    for (JournalFinding finding : atOpen) {
      if (finding.file().equals(of.name)) {
        findings.add(new JournalFinding(of.name, finding.offset(), !of.isReadable, finding.text()));
      }
    }
  }

  private void closeGroup() throws IOException {
    SegmentGroup closing = group;
    group = null;
    if (closing != null) {
      closing.close();
    }
  }

  /** Reads the staging file; false if there is nothing new. */
  private boolean toStaging() throws IOException {
    boolean live = isLive();
    List<Frame> waiting = StagingFile.read(storage, last, live ? null : findings);
    noteGivenUp(StagingFile.givenUp(storage, last));
    if (live) {
      addMoved(staged);
    }
    staged.addAll(waiting);
    inStaging = !staged.isEmpty();
    return inStaging;
  }

  /** What no gap names yet; of a living writer one may come among what has moved on. */
  private void noteGivenUp(StagingFile.GivenUp givenUp) {
    Staging.Evicted evicted = givenUp.evicted();
    if (evicted.count() > 0) {
      explained.add(new long[] {evicted.from(), evicted.to()});
    }
    if (!wasLive && evicted.count() > 0) {
      given.merge(Gap.EVICTED, evicted.count(), Long::sum);
    }
    if (!wasLive && givenUp.dropped() > 0) {
      given.merge(Gap.DROPPED, givenUp.dropped(), Long::sum);
    }
  }

  /** What the writer has moved on into segments before the staging file was read. */
  private void addMoved(List<Frame> to) throws IOException {
    for (long number : SegmentName.numbers(storage)) {
      if (number < lastNumber) {
        continue;
      }
      try (SegmentScan again = open(number, (file, offset, text) -> {})) {
        while (again.hasHeader() && again.next()) {
          if (again.type() < JournalLayout.FIRST_RUN_TYPE && again.sequence() >= last) {
            to.add(new Frame(again.sequence(), again.millis(), again.type(), again.payload()));
          }
        }
      } catch (NoSuchFileException | NotRegularFileException e) {
        // Deleted meanwhile: it was read before.
      }
    }
  }

  private @Nullable Frame nextStaged() {
    return stagedAt < staged.size() ? staged.get(stagedAt++) : null;
  }

  /** {@return the highest number that was seen, or one less than the first that was wanted} */
  long last() {
    return last;
  }

  /** {@return whether the last frame is in no segment yet} */
  boolean isInStaging() {
    return inStaging;
  }

  /** {@return the segments that were looked into} */
  List<SegmentView> views() {
    return views;
  }

  /** {@return how many records were given up, by reason} */
  Map<String, Long> given() {
    return given;
  }

  /** {@return frames of a run's journal, which are no entries} */
  long foreignFrames() {
    return foreignFrames;
  }

  @Override
  public void close() throws IOException {
    closeGroup();
  }
}
