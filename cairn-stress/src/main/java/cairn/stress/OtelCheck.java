package cairn.stress;

import cairn.report.UnfinishedSpan;
import cairn.stress.OtelPlan.Mark;
import cairn.stress.OtelPlan.Pipeline;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Compares the open spans of a report with what the threads of an {@link OtelVictim} had begun and
 * not ended when it was killed.
 *
 * <p>A thread's spans must be what they are after all calls that returned, or after the one call in
 * flight too. A span whose begin was in flight may have the first of the attributes it was to get.
 */
final class OtelCheck {
  private final OtelPlan plan;
  private final Oracle oracle;
  private final List<String> violations = new ArrayList<>();
  private final Map<String, UnfinishedSpan> byId = new HashMap<>();
  private final Map<String, UnfinishedSpan> byBegin = new HashMap<>();

  private OtelCheck(OtelPlan plan, Oracle oracle) {
    this.plan = plan;
    this.oracle = oracle;
  }

  /** {@return what is wrong, in words; empty if nothing is} */
  static List<String> of(OtelPlan plan, Oracle oracle, List<UnfinishedSpan> seen) {
    OtelCheck check = new OtelCheck(plan, oracle);
    check.index(seen);
    for (int t = 0; t < plan.threads(); t++) {
      check.thread(t);
    }
    return check.violations;
  }

  private void index(List<UnfinishedSpan> seen) {
    for (UnfinishedSpan span : seen) {
      int thread = OtelPlan.threadOf(span.name());
      if (thread < 0 || thread >= plan.threads()) {
        violations.add("no thread began it: " + span);
        continue;
      }
      if (byId.put(span.spanId(), span) != null) {
        violations.add("two spans have one id: " + span);
      }
      if (byBegin.put(OtelPlan.name(thread, OtelPlan.begunAt(span.name())), span) != null) {
        violations.add("shown twice: " + span);
      }
    }
  }

  private void thread(int t) {
    if (oracle.failures(t) > 0) {
      violations.add("calls threw: thread=" + t + ", count=" + oracle.failures(t));
    }
    long returned = oracle.returned(t, Oracle.Stream.SPANS);
    long started = oracle.started(t, Oracle.Stream.SPANS);
    Map<Long, Mark> before = plan.new Walk(t).after(returned);
    Map<Long, Mark> after = plan.new Walk(t).after(started);
    TreeSet<Long> begins = new TreeSet<>(before.keySet());
    begins.addAll(after.keySet());
    for (long begin : begins) {
      UnfinishedSpan span = byBegin.remove(OtelPlan.name(t, begin));
      Mark old = before.get(begin);
      Mark fresh = after.get(begin);
      if (span != null) {
        compare(t, span, old, fresh);
      } else if (old != null && fresh != null) {
        violations.add("lost: " + fresh.name + ", returned=" + returned + ", started=" + started);
      }
    }
    byBegin.forEach(
        (begin, span) -> {
          if (OtelPlan.threadOf(span.name()) == t) {
            violations.add(
                "ended or never begun: "
                    + span
                    + ", returned="
                    + returned
                    + ", started="
                    + started);
          }
        });
  }

  /**
   * Compares one span.
   *
   * @param old as it was before the call in flight; null if that began it
   * @param fresh as it is after it; null if that ended it
   */
  private void compare(int t, UnfinishedSpan span, @Nullable Mark old, @Nullable Mark fresh) {
    Mark first = old == null ? fresh : old;
    Mark second = fresh == null ? old : fresh;
    boolean isExact =
        isOneOf(span.name(), first.name, second.name)
            && isOneOf(span.status(), first.status, second.status)
            && isOneOf(span.statusDescription(), first.description, second.description)
            && span.kind() != null
            && span.kind().equals(first.kind)
            && OtelPlan.threadName(t).equals(span.thread())
            && hasRightFlags(span)
            && isOneOf(span.events(), first.events, second.events);
    boolean hasRightAttributes =
        old == null
            ? isPrefix(span.attributes(), fresh.attributes)
            : isOneOf(span.attributes(), first.attributes, second.attributes);
    if (!isExact || !hasRightAttributes || !hasRightParent(t, span, first)) {
      violations.add(
          "is not as it was: " + span + ", expected " + text(first) + " or " + text(second));
    }
  }

  private static boolean isOneOf(@Nullable Object value, @Nullable Object a, @Nullable Object b) {
    return Objects.equals(value, a) || Objects.equals(value, b);
  }

  private static boolean isPrefix(Map<String, ?> some, Map<String, Object> all) {
    List<Map.Entry<String, ?>> entries = new ArrayList<>(some.entrySet());
    List<Map.Entry<String, ?>> expected = new ArrayList<>(all.entrySet());
    return entries.size() <= expected.size() && entries.equals(expected.subList(0, entries.size()));
  }

  /** Sampled or not, and that the trace id is random. */
  private boolean hasRightFlags(UnfinishedSpan span) {
    return span.traceFlags() == (plan.pipeline() == Pipeline.DROPPED ? 2 : 3);
  }

  private boolean hasRightParent(int t, UnfinishedSpan span, Mark mark) {
    if (mark.isRoot()) {
      return span.parentSpanId() == null;
    }
    UnfinishedSpan parent = byId.get(span.parentSpanId());
    // One that has ended meanwhile is not in the report.
    return span.parentSpanId() != null
        && (parent == null
            || (OtelPlan.threadOf(parent.name()) == t
                && OtelPlan.begunAt(parent.name()) == mark.parentBegunAt
                && Objects.equals(parent.traceId(), span.traceId())));
  }

  private static String text(Mark mark) {
    return mark.name
        + " "
        + mark.kind
        + " parent="
        + mark.parentBegunAt
        + " "
        + mark.attributes
        + " "
        + mark.status
        + " "
        + mark.description
        + " events="
        + mark.events;
  }
}
