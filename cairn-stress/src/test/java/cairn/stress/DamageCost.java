package cairn.stress;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.RunIdentity;
import cairn.report.UnfinishedSpan;
import cairn.report.VitalsSample;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;

/**
 * What damage took from a report, and whether it put anything in that the run never recorded.
 *
 * <p>A lost latest value may uncover an earlier one: the one before it of a scope field or an
 * attribute, or breadcrumbs older than the window if the newest is lost. Those were recorded, so
 * they are not invented; a field that changed counts as lost.
 */
final class DamageCost {
  private static final Duration ROUNDING = Duration.ofMillis(2);

  private final Plan plan;
  private final Oracle oracle;
  private final long oldest;
  private final Map<String, Long> counters;
  private final Cause cause;
  private final RunIdentity identity;
  private final Map<Long, Breadcrumb> trail = new HashMap<>();
  private final Map<String, UnfinishedSpan> spans = new HashMap<>();
  private final Map<String, Object> scope;
  private final Set<VitalsSample> vitals;

  DamageCost(Plan plan, Oracle oracle, Report sound) {
    this.plan = plan;
    this.oracle = oracle;
    this.oldest = sound.trail().get(0).position();
    this.counters = sound.counters();
    this.cause = sound.verdict().cause();
    this.identity = withoutLastSeen(sound.run());
    sound.trail().forEach(crumb -> trail.put(crumb.position(), crumb));
    sound.openSpans().forEach(span -> spans.put(span.spanId(), span));
    this.scope = ScopeLoad.flatten(sound.scope());
    this.vitals = new HashSet<>(sound.vitals());
  }

  /**
   * What a damaged report differs in.
   *
   * @param lost records, fields, spans, attributes, samples and counters that are missing or older
   * @param details what they are
   * @param invented what was never recorded
   */
  record Difference(int lost, List<String> details, List<String> invented) {}

  /** {@return how that report differs from the sound one} */
  Difference of(Report damaged) {
    return of(damaged, List.of(), true);
  }

  /**
   * {@return how that report differs from the sound one}
   *
   * @param alsoOpen spans that were open once, and so may be uncovered
   * @param withTrail whether to compare the trail too, which is the dear part
   */
  Difference of(Report damaged, List<UnfinishedSpan> alsoOpen, boolean withTrail) {
    List<String> lost = new ArrayList<>();
    List<String> invented = new ArrayList<>();
    if (withTrail) {
      compareTrail(damaged, lost, invented);
    }
    compareSpans(damaged, alsoOpen, lost, invented);
    compareScope(damaged, lost, invented);
    compareVitals(damaged, lost, invented);
    compareCounters(damaged, lost);
    compareRun(damaged, lost, invented);
    return new Difference(lost.size(), lost, invented);
  }

  private void compareTrail(Report damaged, List<String> lost, List<String> invented) {
    int found = 0;
    long last = -1;
    List<Breadcrumb> shown = damaged.trail();
    for (Breadcrumb crumb : shown) {
      Breadcrumb same = trail.get(crumb.position());
      if (same != null && same.equals(crumb)) {
        found++;
      } else if (crumb.position() >= oldest || !isGenuine(crumb)) {
        invented.add(crumb.toString());
      }
      if (crumb.position() <= last) {
        invented.add("out of order: " + crumb);
      }
      last = crumb.position();
    }
    if (found < trail.size()) {
      Set<Long> missing = new TreeSet<>(trail.keySet());
      shown.forEach(crumb -> missing.remove(crumb.position()));
      missing.forEach(position -> lost.add("breadcrumb " + position));
    }
  }

  private boolean isGenuine(Breadcrumb crumb) {
    int t = CrumbLoad.thread(crumb);
    long q = CrumbLoad.number(crumb);
    return t >= 0
        && t < plan.threads()
        && q >= 0
        && q < oracle.started(t, Oracle.Stream.CRUMBS)
        && CrumbLoad.isExact(plan, t, q, crumb);
  }

  private void compareSpans(
      Report damaged, List<UnfinishedSpan> alsoOpen, List<String> lost, List<String> invented) {
    Set<String> missing = new TreeSet<>(spans.keySet());
    for (UnfinishedSpan span : damaged.openSpans()) {
      UnfinishedSpan same = spans.get(span.spanId());
      if (same == null) {
        same =
            alsoOpen.stream()
                .filter(other -> other.spanId().equals(span.spanId()))
                .findFirst()
                .orElse(null);
      }
      if (same == null || !sameBegin(same, span)) {
        invented.add(span.toString());
        continue;
      }
      if (!missing.remove(span.spanId()) && spans.containsKey(span.spanId())) {
        invented.add("twice: " + span);
      }
      compareAttributes(same, span, lost, invented);
    }
    missing.forEach(id -> lost.add("span " + spans.get(id).name()));
  }

  private static boolean sameBegin(UnfinishedSpan one, UnfinishedSpan other) {
    return one.name().equals(other.name())
        && Objects.equals(one.parentSpanId(), other.parentSpanId())
        && Objects.equals(one.traceId(), other.traceId())
        && Objects.equals(one.thread(), other.thread())
        && isAbout(one.startedAt(), other.startedAt());
  }

  /** The clocks of another beat may round to another millisecond. */
  private static boolean isAbout(Instant one, Instant other) {
    return one == null || other == null
        ? one == other
        : Duration.between(one, other).abs().compareTo(ROUNDING) <= 0;
  }

  private void compareAttributes(
      UnfinishedSpan same, UnfinishedSpan span, List<String> lost, List<String> invented) {
    Set<String> keys = new TreeSet<>(same.attributes().keySet());
    keys.addAll(span.attributes().keySet());
    for (String key : keys) {
      Object value = span.attributes().get(key);
      if (Objects.equals(value, same.attributes().get(key))) {
        continue;
      }
      lost.add("attribute " + span.name() + " " + key);
      int t = SpanLoad.thread(span);
      long steps = oracle.started(t, Oracle.Stream.SPANS);
      if (value != null && !new SpanLoad(plan, t).everHeld(span.name(), key, value, steps)) {
        invented.add("attribute of " + span);
      }
    }
  }

  private void compareScope(Report damaged, List<String> lost, List<String> invented) {
    Map<String, Object> shown = ScopeLoad.flatten(damaged.scope());
    if (shown.equals(scope)) {
      return;
    }
    Set<String> names = new TreeSet<>(scope.keySet());
    names.addAll(shown.keySet());
    for (String name : names) {
      Object value = shown.get(name);
      if (Objects.equals(value, scope.get(name))) {
        continue;
      }
      lost.add("scope field " + name);
      int t = ScopeLoad.owner(name);
      if (value != null
          && (t >= plan.threads()
              || !new ScopeLoad(plan, t)
                  .everHeld(name, value, oracle.started(t, Oracle.Stream.SCOPE)))) {
        invented.add("scope field " + name + "=" + value);
      }
    }
  }

  private void compareVitals(Report damaged, List<String> lost, List<String> invented) {
    int found = 0;
    for (VitalsSample sample : damaged.vitals()) {
      if (vitals.contains(sample)) {
        found++;
      } else {
        invented.add(sample.toString());
      }
    }
    for (int i = found; i < vitals.size(); i++) {
      lost.add("vitals sample");
    }
  }

  private void compareCounters(Report damaged, List<String> lost) {
    Map<String, Long> shown = damaged.counters();
    counters.forEach(
        (name, value) -> {
          if (!value.equals(shown.get(name))) {
            lost.add("counter " + name);
          }
        });
  }

  private void compareRun(Report damaged, List<String> lost, List<String> invented) {
    Cause shown = damaged.verdict().cause();
    if (shown == Cause.UNKNOWN && cause != Cause.UNKNOWN) {
      lost.add("verdict");
    } else if (shown != cause) {
      invented.add("verdict " + damaged.verdict());
    }
    if (!withoutLastSeen(damaged.run()).equals(identity)) {
      invented.add("identity " + damaged.run());
    }
  }

  private static RunIdentity withoutLastSeen(RunIdentity run) {
    return new RunIdentity(
        run.id(),
        run.app(),
        run.release(),
        run.environment(),
        run.pid(),
        run.host(),
        run.startedAt(),
        null,
        run.durability(),
        run.more());
  }
}
