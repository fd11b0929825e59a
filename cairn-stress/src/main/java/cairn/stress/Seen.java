package cairn.stress;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.ScopeSnapshot;
import cairn.report.UnfinishedSpan;
import java.util.List;
import java.util.Map;

/**
 * What a report shows of a victim.
 *
 * @param trail as in {@link Report#trail}
 * @param scope as in {@link Report#scope}
 * @param openSpans as in {@link Report#openSpans}
 * @param counters as in {@link Report#counters}
 * @param cause of its end
 */
public record Seen(
    List<Breadcrumb> trail,
    ScopeSnapshot scope,
    List<UnfinishedSpan> openSpans,
    Map<String, Long> counters,
    Cause cause) {
  /** {@return what that report shows} */
  public static Seen of(Report report) {
    return new Seen(
        report.trail(),
        report.scope(),
        report.openSpans(),
        report.counters(),
        report.verdict().cause());
  }
}
