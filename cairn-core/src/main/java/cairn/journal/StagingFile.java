package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.SegmentScan;
import cairn.storage.Storage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Reads what a staging file holds, of a living writer or a dead one. */
final class StagingFile {
  /**
   * {@return the frames with numbers above {@code last}, and gaps, in the order of their numbers}
   *
   * @param findings told of damage; null for a living writer's file, which changes while it is read
   */
  static List<JournalCursor.Frame> read(
      Storage storage, long last, @Nullable List<JournalFinding> findings) throws IOException {
    List<JournalCursor.Frame> gaps = new ArrayList<>();
    TreeMap<Long, JournalCursor.Frame> frames = new TreeMap<>();
    try (SegmentScan scan =
        SegmentScan.open(
            storage,
            JournalLayout.STAGING_NAME,
            false,
            (file, offset, text) -> {
              if (findings != null && offset == 0) {
                findings.add(new JournalFinding(file, offset, false, text));
              }
            })) {
      if (scan.hasHeader() && scan.kind() == JournalLayout.KIND_STAGING) {
        while (scan.next()) {
          JournalCursor.Frame frame =
              new JournalCursor.Frame(scan.sequence(), scan.millis(), scan.type(), scan.payload());
          if (frame.type() == JournalLayout.TYPE_GAP) {
            if (frame.sequence() >= last) {
              gaps.add(frame);
            }
          } else if (frame.sequence() > last) {
            frames.put(frame.sequence(), frame);
          }
        }
      }
    } catch (NoSuchFileException e) {
      return List.of(); // closed in order, or its file system can't be mapped
    }
    List<JournalCursor.Frame> all = new ArrayList<>(gaps);
    all.addAll(frames.values());
    // Stable: a gap bears the number of the frame before it and comes before the next.
    all.sort(
        Comparator.comparingLong(
            frame -> 2 * frame.sequence() + (frame.type() == JournalLayout.TYPE_GAP ? 1 : 0)));
    return all;
  }

  /**
   * What the writer counted and no gap in a segment names.
   *
   * @param dropped records without a number
   * @param evicted lowest and highest number, and how many of those between
   */
  record GivenUp(long dropped, Staging.Evicted evicted) {}

  /**
   * {@return what was given up and is named nowhere else}
   *
   * @param last highest number in the segments: what was given up before it, a gap there names
   */
  static GivenUp givenUp(Storage storage, long last) throws IOException {
    long dropped = 0;
    Staging.Evicted evicted = Staging.Evicted.NONE;
    try (SegmentScan scan =
            SegmentScan.open(
                storage, JournalLayout.STAGING_NAME, false, (file, offset, text) -> {});
        Storage.Input input = storage.read(JournalLayout.STAGING_NAME)) {
      byte[] words = new byte[48];
      if (scan.hasHeader()
          && scan.kind() == JournalLayout.KIND_STAGING
          && input.read(JournalLayout.STAGING_DROPPED_OFFSET, words, 0, words.length)
              == words.length) {
        ByteBuffer in = ByteBuffer.wrap(words).order(ByteOrder.LITTLE_ENDIAN);
        long all = in.getLong(0);
        long logged = in.getLong(8);
        dropped = all > 0 && logged >= 0 && all > logged ? all - logged : 0;
        long from = Math.max(in.getLong(16), last + 1);
        long to = in.getLong(24);
        long count = in.getLong(32);
        if (count > 0 && in.getLong(16) > 0 && to >= from) {
          evicted = new Staging.Evicted(from, to, Math.min(count, to - from + 1));
        }
      }
    } catch (NoSuchFileException e) {
      // Closed in order, or never mapped.
    }
    return new GivenUp(dropped, evicted);
  }

  private StagingFile() {}
}
