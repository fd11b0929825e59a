package cairn.report;

import cairn.format.BoxRebuild;
import cairn.storage.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads a box and a journal from anywhere, as those of a dead run. */
public final class ReportOfRun {
  private ReportOfRun() {}

  /** The journal's frames, as a reader finds them. */
  public static List<BoxRebuild.Frame> frames(Storage journal) {
    try {
      return Remains.frames(journal, new ArrayList<>());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The report.
   *
   * @param box null if there is none
   */
  public static Report read(byte @Nullable [] box, Storage journal) {
    try {
      return ReportOfBytes.readOrThrow(rebuilt(box, journal).image());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What a reader makes of them. */
  public static BoxRebuild.Result rebuilt(byte @Nullable [] box, Storage journal)
      throws IOException {
    return BoxRebuild.rebuild(box, frames(journal), "memory");
  }
}
