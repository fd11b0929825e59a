package cairn.stress;

import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import java.nio.file.Path;

/**
 * Prints what a report says, as a process that is somewhere else than the harness: one line of
 * cause and confidence, then the report as text.
 *
 * <p>Arguments: root directory, run id.
 */
public final class DeathReader {
  private DeathReader() {}

  /** Reads and prints. */
  public static void main(String[] args) throws Exception {
    for (Run run : Runs.under(Path.of(args[0]))) {
      if (run.id().equals(args[1])) {
        Report report = run.report();
        System.out.println(report.verdict().cause() + " " + report.verdict().confidence());
        System.out.println(report.toText());
      }
    }
  }
}
