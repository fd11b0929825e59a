package cairn;

import cairn.report.Report;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The run before this one: adopted at most once, by the first of several new processes.
 *
 * <p>Any thread. The only place where the recorder reads reports; what it costs (some 10 MB of
 * garbage and 50 ms of a processor, for a box of 4 MiB) is paid by the housekeeper some seconds
 * after the start, or by the caller who does not want to wait for that.
 */
final class LastRun {
  private final Path root;
  private final Path own;
  private boolean asked;
  private @Nullable Report report;

  /**
   * Looks at nothing yet.
   *
   * @param own the directory of the run that adopts
   */
  LastRun(Path root, Path own) {
    this.root = root;
    this.own = own;
  }

  /** {@return its report, the same at each call; empty if there is none, or it can't be read} */
  synchronized Optional<Report> get() {
    if (!asked) {
      asked = true;
      report = adopt().orElse(null);
    }
    return Optional.ofNullable(report);
  }

  private Optional<Report> adopt() {
    try {
      return Runs.under(root).adoptPrevious(own);
    } catch (IOException | RuntimeException e) {
      Log.warnOnce("last run cannot be read: dir=" + own.getParent() + ", reason=" + e, e);
      return Optional.empty();
    }
  }

  /** Says in the log how it ended, if it ended badly. */
  void tell() {
    Optional<Report> last = get();
    if (last.isPresent() && !last.get().endedWell()) {
      Log.warn(
          "the last run ended badly: "
              + last.get().verdict().headline()
              + " (see: cairn why "
              + last.get().run().id()
              + ")");
    }
  }
}
