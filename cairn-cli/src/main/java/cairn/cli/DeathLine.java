package cairn.cli;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.RunIdentity;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** How a run ended, on one line of bounded length. */
final class DeathLine {
  private static final int HEADLINE = 360;
  private static final int CRUMB = 120;

  private DeathLine() {}

  /** {@return such as {@code orders (pid 4711)}} */
  static String who(RunIdentity run) {
    return Text.cut(run.app(), 60) + (run.pid() > 0 ? " (pid " + run.pid() + ")" : "");
  }

  /**
   * {@return the verdict's sentence, with the last breadcrumb where no span says what it was doing}
   */
  static String what(Report report) {
    Cause cause = report.verdict().cause();
    StringBuilder line = new StringBuilder(Text.cut(report.verdict().headline(), HEADLINE));
    List<Breadcrumb> trail = report.trail();
    if (report.openSpans().isEmpty() && !cause.isClean() && !trail.isEmpty()) {
      String last = text(trail.get(trail.size() - 1));
      if (!last.isEmpty()) {
        line.append("; last breadcrumb: ").append(Text.cut(last, CRUMB));
      }
    }
    return line.toString();
  }

  private static String text(Breadcrumb crumb) {
    StringBuilder text = new StringBuilder();
    for (@Nullable String part : new @Nullable String[] {crumb.category(), crumb.message()}) {
      if (part != null && !part.isEmpty()) {
        text.append(text.isEmpty() ? "" : " ").append(part);
      }
    }
    return text.toString();
  }

  /** {@return a part of the run's id that a person can type} */
  static String shortId(String id) {
    return id.substring(id.lastIndexOf('-') + 1);
  }
}
