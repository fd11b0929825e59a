package cairn.cli;

import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.RunIdentity;
import java.time.Clock;
import java.time.Duration;

/** One line that says which run is shown. */
final class RunLine {
  private RunLine() {}

  /** {@return such as {@code Run: orders 1.4.2, 20261130-…, last seen 2026-11-30T… (3 d ago)}} */
  static String of(Report report, Clock clock) {
    RunIdentity run = report.run();
    StringBuilder line = new StringBuilder("Run: ").append(run.app());
    if (run.release() != null) {
      line.append(' ').append(run.release());
    }
    line.append(", ").append(run.id());
    if (report.verdict().cause() == Cause.RUNNING) {
      line.append(", running");
    } else if (run.lastSeenAt() != null) {
      line.append(", last seen ")
          .append(Units.rfc3339(run.lastSeenAt()))
          .append(" (")
          .append(Units.age(Duration.between(run.lastSeenAt(), clock.instant())))
          .append(" ago)");
    }
    return Escape.line(line.toString());
  }
}
