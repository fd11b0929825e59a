package cairn.report;

import cairn.format.BoxRebuild;
import cairn.format.JournalLayout;
import cairn.storage.DiskStorage;
import cairn.storage.SegmentName;
import cairn.storage.SegmentScan;
import cairn.storage.Storage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * What a run has left in its directory, as one box: the box itself, and what of its journal that
 * lacks. Immutable; writes nothing.
 */
final class Remains {
  /** No writer makes a box as large as this; what is larger is not read into memory. */
  private static final int MAX_BOX_BYTES = 256 << 20;

  private static final int PIECE = 8192;

  /** Nor a journal as large as this. */
  private static final long MAX_JOURNAL_BYTES = 1L << 30;

  /** One file that is damaged everywhere must not hide what is wrong with the others. */
  private static final int MAX_PROBLEMS_PER_SEGMENT = 4;

  private final byte[] box;
  private final List<Finding> findings;

  private final boolean rebuilt;

  private Remains(byte[] box, List<Finding> findings, boolean rebuilt) {
    this.box = box;
    this.findings = findings;
    this.rebuilt = rebuilt;
  }

  /** {@return whether anything in it is from the journal} */
  boolean isRebuilt() {
    return rebuilt;
  }

  /** {@return a box} Not to be written to. */
  byte[] box() {
    return box;
  }

  /** {@return where it comes from, if not from the box alone} */
  List<Finding> findings() {
    return findings;
  }

  /**
   * Reads a run.
   *
   * @param living whether its process lives: then its box is all there is to know
   * @throws IOException if there is no readable box, and no journal that one can be made of
   */
  static Remains read(Path directory, boolean living) throws IOException {
    Path file = directory.resolve("box");
    boolean exists = Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS);
    byte[] bytes = exists ? readBox(file) : null;
    if (bytes != null && living) {
      return new Remains(bytes, List.of(), false);
    }
    List<Finding> problems = new ArrayList<>();
    List<BoxRebuild.Frame> frames = frames(new DiskStorage(directory), problems);
    if (frames.isEmpty() && bytes != null) {
      return new Remains(bytes, List.of(), false);
    }
    if (frames.isEmpty()) {
      throw new IOException(
          "no box in this run: file="
              + file
              + (problems.isEmpty() ? "" : ", and of its journal: " + problems.get(0).text()));
    }
    BoxRebuild.Result result = BoxRebuild.rebuild(bytes, frames, file.toString());
    List<Finding> findings = new ArrayList<>();
    if (!result.taken().isEmpty()) {
      findings.add(
          new Finding(
              Finding.Severity.INFO,
              "journal",
              "taken from the journal, where the box is older or damaged: "
                  + String.join(", ", result.taken())));
      findings.addAll(problems);
    }
    for (String problem : result.problems()) {
      findings.add(new Finding(Finding.Severity.WARNING, "journal", problem));
    }
    return new Remains(result.image(), findings, !result.taken().isEmpty());
  }

  /** {@return the box, or its beginning if {@code cut}} */
  static byte[] readBox(Path box, int limit, boolean cut) throws IOException {
    if (!Files.isRegularFile(box, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException("no box in this run: file=" + box);
    }
    try (InputStream in =
        Files.newInputStream(box, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      byte[] bytes = read(in, cut ? limit : (int) Math.min(Files.size(box), limit) + 1);
      if (!cut && bytes.length > limit) {
        throw new IOException(
            "box is too large: file="
                + box
                + ", length="
                + Files.size(box)
                + ", limit="
                + limit
                + " (no cairn writes such a box)");
      }
      return bytes;
    }
  }

  /** In small pieces: each goes through direct memory of its size, which may be short. */
  private static byte[] read(InputStream in, int limit) throws IOException {
    byte[] bytes = new byte[limit];
    int length = 0;
    int count;
    while (length < limit
        && (count = in.read(bytes, length, Math.min(PIECE, limit - length))) > 0) {
      length += count;
    }
    return length == limit ? bytes : Arrays.copyOf(bytes, length);
  }

  private static byte[] readBox(Path box) throws IOException {
    return readBox(box, MAX_BOX_BYTES, false);
  }

  /** {@return whether there is any segment of a journal} */
  static boolean hasJournal(Path directory) throws IOException {
    return !SegmentName.numbers(new DiskStorage(directory)).isEmpty();
  }

  /** {@return the frames of all segments, oldest first} */
  static List<BoxRebuild.Frame> frames(Storage storage, List<Finding> problems) throws IOException {
    List<BoxRebuild.Frame> frames = new ArrayList<>();
    long left = MAX_JOURNAL_BYTES;
    for (long number : SegmentName.numbers(storage)) {
      left = frames(storage, SegmentName.of(number), left, frames, problems);
      if (left <= 0) {
        problems.add(
            warning("journal is too large, the rest is not read: limit=" + MAX_JOURNAL_BYTES));
        break;
      }
    }
    return frames;
  }

  private static long frames(
      Storage storage,
      String name,
      long limit,
      List<BoxRebuild.Frame> frames,
      List<Finding> problems) {
    int[] found = {0};
    SegmentScan.Problems sink =
        (file, offset, text) -> {
          if (++found[0] <= MAX_PROBLEMS_PER_SEGMENT) {
            problems.add(warning(text + ": file=" + file + ", offset=" + offset));
          }
        };
    long left = limit;
    try (SegmentScan scan = SegmentScan.open(storage, name, true, sink)) {
      while (scan.kind() == JournalLayout.KIND_RUN && left > 0 && scan.next()) {
        byte[] payload = scan.payload();
        left -= payload.length + JournalLayout.FRAME_HEADER_SIZE;
        frames.add(new BoxRebuild.Frame(scan.type(), payload));
      }
    } catch (IOException e) {
      problems.add(warning("segment cannot be read: file=" + name + ", reason=" + e.getMessage()));
    }
    return left;
  }

  private static Finding warning(String text) {
    return new Finding(Finding.Severity.WARNING, "journal", text);
  }
}
