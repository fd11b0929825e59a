package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.NotRegularFileException;
import cairn.storage.SegmentLog;
import cairn.storage.SegmentName;
import cairn.storage.SegmentScan;
import cairn.storage.Storage;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;

/** What an opener finds of earlier processes. */
final class JournalRecovery {
  /*
   * Which number comes next. A number must never be used twice for what a reader may have seen or a
   * consumer may have acknowledged, so it is one more than the highest of: all frames in the newest
   * segments, the staging file, the positions of the consumers, and what the newest segment says its first number is.
   * Newest segments: from the newest back to one that holds a frame and does not bear AFTER_ERROR; what is
   * before that one has lower numbers only.
   */

  private static final SegmentScan.Problems NOBODY = (file, offset, text) -> {};

  final List<SegmentLog.Segment> segments = new ArrayList<>();

  /** Highest number in the segments. */
  long lastWritten;

  /** Highest number anywhere. */
  long last;

  /** What only the staging file has. */
  final List<JournalCursor.Frame> staged = new ArrayList<>();

  long dropped;
  Staging.Evicted evicted = Staging.Evicted.NONE;

  /** Segments that may hold what was never forced. */
  final List<Unforced> unforced = new ArrayList<>();

  /** A segment and where its frames end. */
  record Unforced(String name, long end) {}

  JournalRecovery(Storage storage) throws IOException {
    boolean newest = true;
    List<Long> numbers = SegmentName.numbers(storage);
    for (int i = numbers.size() - 1; i >= 0; i--) {
      long number = numbers.get(i);
      String name = SegmentName.of(number);
      try (SegmentScan scan = SegmentScan.open(storage, name, true, NOBODY)) {
        requireJournal(scan, storage, name);
        long lastIn = scan.firstSequence() - 1;
        long newestMillis = scan.createdMillis();
        // Copied or renamed by hand: nothing follows from where it stands.
        boolean isOdd =
            scan.hasHeader()
                && (scan.number() != number
                    || (!segments.isEmpty()
                        && scan.firstSequence() > segments.get(0).firstSequence()));
        if (newest || isOdd) {
          long end = 0;
          while (scan.hasHeader() && scan.next()) {
            end = scan.frameOffset() + JournalLayout.FRAME_HEADER_SIZE + scan.payloadLength();
            lastIn = Math.max(lastIn, lastNumber(scan));
            newestMillis = Math.max(newestMillis, scan.millis());
          }
          unforced.add(new Unforced(name, end));
          newest = isOdd || lastIn < scan.firstSequence() || scan.isAfterError();
        } else {
          // Before the newest: its last number is below the next one's first.
          lastIn = segments.get(0).firstSequence() - 1;
          newestMillis = Math.max(newestMillis, createdOf(storage, segments.get(0)));
        }
        lastWritten = Math.max(lastWritten, lastIn);
        segments.add(
            0,
            new SegmentLog.Segment(
                number, scan.firstSequence(), scan.size(), lastIn, newestMillis));
      } catch (NoSuchFileException e) {
        // Deleted by its living writer; who opens as a writer has no such neighbour.
      }
    }
    last = Math.max(0, lastWritten);
    lastWritten = last;
    for (long acknowledged : JournalReader.consumers(storage).values()) {
      last = Math.max(last, acknowledged);
    }
    for (JournalCursor.Frame frame : StagingFile.read(storage, lastWritten, null)) {
      if (frame.type() != JournalLayout.TYPE_GAP) {
        staged.add(frame);
        last = Math.max(last, frame.sequence());
      }
    }
    StagingFile.GivenUp givenUp = StagingFile.givenUp(storage, lastWritten);
    dropped = givenUp.dropped();
    evicted = givenUp.evicted();
    last = Math.max(last, evicted.to());
  }

  /** Refuses a run's directory, before anything is written into it. */
  static void requireJournal(Storage storage) throws IOException {
    for (long number : SegmentName.numbers(storage)) {
      String name = SegmentName.of(number);
      try (SegmentScan scan = SegmentScan.open(storage, name, true, NOBODY)) {
        requireJournal(scan, storage, name);
        if (scan.hasHeader()) {
          return;
        }
      } catch (NoSuchFileException | NotRegularFileException e) {
        // The next one tells.
      }
    }
  }

  private static void requireJournal(SegmentScan scan, Storage storage, String name)
      throws IOException {
    if (scan.hasHeader() && scan.kind() != JournalLayout.KIND_JOURNAL) {
      throw new IOException(
          "not a journal: file="
              + storage
              + "/"
              + name
              + " (it is a run's; choose another directory)");
    }
  }

  /** {@return the number of the frame, or the last of those that a gap says are gone} */
  private static long lastNumber(SegmentScan scan) {
    Gap gap = scan.type() == JournalLayout.TYPE_GAP ? Gap.decode(scan.payload()) : null;
    return gap == null ? scan.sequence() : Math.max(scan.sequence(), gap.to());
  }

  private static long createdOf(Storage storage, SegmentLog.Segment segment) {
    try (SegmentScan scan =
        SegmentScan.open(storage, SegmentName.of(segment.number()), true, NOBODY)) {
      return scan.createdMillis();
    } catch (IOException e) {
      return 0;
    }
  }

  /** {@return the highest number in use} */
  static long lastSequence(Storage storage) throws IOException {
    JournalRecovery found = new JournalRecovery(storage);
    return found.staged.isEmpty()
        ? found.lastWritten
        : found.staged.get(found.staged.size() - 1).sequence();
  }

  /** {@return a number below that of the first segment to read for that sequence number} */
  static long segmentBefore(Storage storage, long sequence) throws IOException {
    List<Long> numbers = SegmentName.numbers(storage);
    for (int i = numbers.size() - 1; i >= 0 && sequence > 1; i--) {
      try (SegmentScan head =
          SegmentScan.open(storage, SegmentName.of(numbers.get(i)), true, NOBODY)) {
        boolean isInPlace = head.hasHeader() && head.number() == numbers.get(i);
        if (isInPlace && !head.isAfterError() && head.firstSequence() <= sequence) {
          return numbers.get(i) - 1;
        }
      } catch (NotRegularFileException e) {
        // Not ours: the one before it.
      } catch (NoSuchFileException e) {
        break; // deleted by its writer, and so is all before it
      }
    }
    return numbers.isEmpty() ? 0 : numbers.get(0) - 1;
  }
}
