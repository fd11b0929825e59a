package cairn.stress;

import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.UnfinishedSpan;
import cairn.stress.Oracle.Stream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * Compares what a report shows of a dead victim with what its oracle knows. For one check.
 *
 * <p>Scope and spans of a thread must be exactly what its model says after all returned calls, or
 * after the one call in flight too.
 *
 * <p>After a power cut, and without the box, only what was called durable must be there: the calls
 * after it may have left their traces or not, each field and each span for itself.
 *
 * <p>A breadcrumb of the report must be one that was started, to the byte, once, and later in the
 * trail than the one before it of the same thread. A returned breadcrumb that the report doesn't
 * show is lost, unless
 *
 * <ol>
 *   <li>a lap has overwritten it. That is excluded if a breadcrumb is shown that had returned
 *       before the missing one was begun, and so lies before it in the ring, and not among the
 *       first bytes that the calls in flight at the death may have been overwriting; or
 *   <li>a lapped writer has destroyed it: another thread's call was under way when the missing one
 *       began, and by then the others had recorded at least half a ring since that call's begin.
 *       Those are counted as {@code lapped}.
 * </ol>
 */
final class VictimCheck {
  /** Counters that must be zero whatever happens: the load keeps within every limit. */
  private static final List<String> ALWAYS_ZERO =
      List.of("dropped", "cut", "placeholders", "scopeDropped", "copyErrors", "beatErrors");

  private static final List<String> ZERO_WITHOUT_OVERFLOW =
      List.of("spansOverflowed", "attributesOverflowed");

  private final Plan plan;
  private final Oracle oracle;
  private final Seen seen;

  /** How many calls of each thread and stream must show; null for all that returned. */
  private final Durable durable;

  private final Tally tally = new Tally();

  /** Begin of the earliest-known call after a breadcrumb that lies surely inside the window. */
  private long safeSince = Long.MAX_VALUE;

  private long capacityInCrumbs;

  private VictimCheck(Plan plan, Oracle oracle, Seen seen, Durable durable) {
    this.plan = plan;
    this.oracle = oracle;
    this.seen = seen;
    this.durable = durable;
  }

  /**
   * What is known to be durable at some moment.
   *
   * @param calls by thread
   */
  record Durable(List<Map<Stream, Long>> calls) {
    static Durable now(Plan plan, Oracle oracle) {
      List<Map<Stream, Long>> calls = new ArrayList<>();
      for (int t = 0; t < plan.threads(); t++) {
        Map<Stream, Long> own = new EnumMap<>(Stream.class);
        for (Stream stream : Stream.values()) {
          own.put(stream, oracle.durable(t, stream));
        }
        calls.add(own);
      }
      return new Durable(calls);
    }

    boolean isNothing() {
      return calls.stream().allMatch(own -> own.values().stream().allMatch(n -> n == 0));
    }
  }

  /**
   * {@return what is wrong with a report of what was left by a power cut}
   *
   * @param durable what was known to be durable before
   */
  static Tally ofPowerCut(Plan plan, Oracle oracle, Seen seen, Durable durable) {
    VictimCheck check = new VictimCheck(plan, oracle, seen, durable);
    check.all();
    return check.tally;
  }

  /** {@return how many calls must show} */
  private long promised(int t, Stream stream) {
    return durable == null ? oracle.returned(t, stream) : durable.calls().get(t).get(stream);
  }

  /** {@return what is wrong with the report of a victim that was killed} */
  static Tally ofKilled(Plan plan, Oracle oracle, Seen seen) {
    VictimCheck check = new VictimCheck(plan, oracle, seen, null);
    check.tally.kill();
    check.all();
    if (seen.cause().isClean() || seen.cause() == Cause.RUNNING) {
      check.tally.other("verdict of a killed victim: cause=" + seen.cause());
    }
    return check.tally;
  }

  /** {@return what is wrong with the report of a victim, however it ended} */
  static Tally of(Plan plan, Oracle oracle, Seen seen) {
    VictimCheck check = new VictimCheck(plan, oracle, seen, null);
    check.all();
    return check.tally;
  }

  private void all() {
    for (int t = 0; t < plan.threads(); t++) {
      if (oracle.failures(t) > 0) {
        tally.other("record calls threw: thread=" + t + ", count=" + oracle.failures(t));
      }
    }
    checkCounters();
    checkTrail();
    checkScope();
    checkSpans();
  }

  private void checkCounters() {
    List<String> zeros = new ArrayList<>(ALWAYS_ZERO);
    if (plan.scenario() != Scenario.OVERFLOWING) {
      zeros.addAll(ZERO_WITHOUT_OVERFLOW);
    }
    for (String name : zeros) {
      Long value = seen.counters().get(name);
      if (value == null || value != 0) {
        tally.other("counter: name=" + name + ", value=" + value + ", expected=0");
      }
    }
  }

  private void checkTrail() {
    List<Map<Long, Breadcrumb>> byThread = new ArrayList<>();
    for (int t = 0; t < plan.threads(); t++) {
      byThread.add(new HashMap<>());
    }
    long[] lastNumber = new long[plan.threads()];
    Arrays.fill(lastNumber, -1);
    long lastPosition = -1;
    for (Breadcrumb crumb : seen.trail()) {
      tally.checked(1);
      int t = CrumbLoad.thread(crumb);
      long q = CrumbLoad.number(crumb);
      if (t < 0 || t >= plan.threads() || q < 0 || q >= oracle.started(t, Stream.CRUMBS)) {
        tally.phantom(crumb.toString());
        continue;
      }
      if (byThread.get(t).put(q, crumb) != null) {
        tally.duplicate("t=" + t + ", q=" + q + ", position=" + crumb.position());
        continue;
      }
      if (!CrumbLoad.isExact(plan, t, q, crumb) || !hasRightNanos(t, q, crumb)) {
        tally.torn(crumb.toString());
      }
      if (q <= lastNumber[t] || crumb.position() <= lastPosition) {
        tally.disordered("t=" + t + ", q=" + q + ", position=" + crumb.position());
      }
      lastNumber[t] = q;
      lastPosition = crumb.position();
    }
    learnWindow(byThread);
    for (int t = 0; t < plan.threads(); t++) {
      checkPresence(t, byThread.get(t));
    }
  }

  private boolean hasRightNanos(int t, long q, Breadcrumb crumb) {
    return q < oracle.started(t, Stream.CRUMBS) - Oracle.HISTORY
        || CrumbLoad.nanos(crumb) == oracle.crumbNanos(t, q);
  }

  private void learnWindow(List<Map<Long, Breadcrumb>> byThread) {
    List<Breadcrumb> trail = seen.trail();
    if (trail.isEmpty()) {
      return;
    }
    int inFlight = 1;
    for (int t = 0; t < plan.threads(); t++) {
      for (Stream stream : Stream.values()) {
        inFlight += oracle.started(t, stream) > oracle.returned(t, stream) ? 1 : 0;
      }
    }
    long newest = trail.get(trail.size() - 1).position();
    long spread = newest - trail.get(0).position();
    capacityInCrumbs = spread == 0 ? 1 : plan.trailBytes() * (long) trail.size() / spread;
    long floor = newest + (long) inFlight * plan.maxRecordBytes() - plan.trailBytes();
    for (int t = 0; t < plan.threads(); t++) {
      for (Map.Entry<Long, Breadcrumb> entry : byThread.get(t).entrySet()) {
        long next = entry.getKey() + 1;
        if (entry.getValue().position() >= floor && hasHistory(t, next)) {
          safeSince = Math.min(safeSince, oracle.crumbNanos(t, next));
        }
      }
    }
  }

  private void checkPresence(int t, Map<Long, Breadcrumb> present) {
    long returned = promised(t, Stream.CRUMBS);
    for (long q = returned - 1; q >= 0 && hasHistory(t, q); q--) {
      if (present.containsKey(q)) {
        continue;
      }
      boolean nothingWasEvicted = !seen.trail().isEmpty() && !hasLapped();
      if (oracle.crumbNanos(t, q) < safeSince && !nothingWasEvicted) {
        // Whatever is older may have been overwritten too.
        break;
      }
      if (destroyedByLappedWriter(t, q)) {
        tally.lapped();
      } else {
        tally.lost(
            1, "t=" + t + ", q=" + q + ", returned=" + returned + ", " + neighbours(q, present));
      }
    }
    if (seen.trail().isEmpty() && returned > 0) {
      tally.lost(returned, "t=" + t + ": the trail is empty");
    }
  }

  /** Whether the ring may have begun to overwrite itself; its first position is its capacity. */
  private boolean hasLapped() {
    long newest = seen.trail().get(seen.trail().size() - 1).position();
    return newest + (plan.threads() + 1L) * plan.maxRecordBytes() >= 2L * plan.trailBytes();
  }

  private static String neighbours(long q, Map<Long, Breadcrumb> present) {
    Breadcrumb before = present.get(q - 1);
    Breadcrumb after = present.get(q + 1);
    return "positionBefore="
        + (before == null ? "?" : before.position())
        + ", positionAfter="
        + (after == null ? "?" : after.position());
  }

  private boolean destroyedByLappedWriter(int t, long q) {
    long begin = oracle.crumbNanos(t, q);
    for (int u = 0; u < plan.threads(); u++) {
      long last = lastBegunBefore(u, begin);
      if (u == t || last < 0) {
        continue;
      }
      // Where spans go to the trail too, it may have been any of its calls; else this one.
      boolean isUnderWay =
          plan.scenario() == Scenario.OVERFLOWING || oracle.crumbEndNanos(u, last) > begin;
      if (!isUnderWay) {
        continue;
      }
      long since = oracle.crumbNanos(u, last);
      long others = 0;
      for (int v = 0; v < plan.threads(); v++) {
        if (v != u) {
          others += lastBegunBefore(v, begin) - lastBegunBefore(v, since);
        }
      }
      if (2 * others >= capacityInCrumbs) {
        return true;
      }
    }
    return false;
  }

  /** {@return the number of the last breadcrumb of that thread begun before then; -1 if none} */
  private long lastBegunBefore(int t, long nanos) {
    long high = oracle.started(t, Stream.CRUMBS);
    long low = Math.max(0, high - Oracle.HISTORY + 1);
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (oracle.crumbNanos(t, middle) < nanos) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  private boolean hasHistory(int t, long q) {
    long started = oracle.started(t, Stream.CRUMBS);
    return q < started && q > started - Oracle.HISTORY;
  }

  private void checkScope() {
    Set<String> known = new HashSet<>();
    for (int t = 0; t < plan.threads(); t++) {
      ScopeLoad load = new ScopeLoad(plan, t);
      Map<String, Object> shown = load.seen(seen.scope());
      known.addAll(shown.keySet());
      tally.checked(shown.size());
      long returned = promised(t, Stream.SCOPE);
      long started = oracle.started(t, Stream.SCOPE);
      if (durable != null) {
        checkEach(shown, returned, started, load::after, tally::scope);
        continue;
      }
      Map<String, Object> before = load.after(returned);
      Map<String, Object> after = load.after(started);
      if (!shown.equals(before) && !shown.equals(after)) {
        tally.scope(
            "t="
                + t
                + ", returned="
                + returned
                + ", started="
                + started
                + ", "
                + difference(before, shown));
      }
    }
    for (String name : ScopeLoad.flatten(seen.scope()).keySet()) {
      if (!known.contains(name)) {
        tally.scope("never set: " + name);
      }
    }
  }

  private void checkSpans() {
    Map<Integer, Map<String, Map<String, Object>>> byThread = new HashMap<>();
    Set<String> ids = new HashSet<>();
    for (UnfinishedSpan span : seen.openSpans()) {
      tally.checked(1);
      int t = SpanLoad.thread(span);
      if (t < 0 || t >= plan.threads()) {
        tally.span("never begun: " + span);
        continue;
      }
      if (!Victim.threadName(t).equals(span.thread()) || !ids.add(span.spanId())) {
        tally.span("wrong thread or id: " + span);
      }
      Map<String, Map<String, Object>> own = byThread.computeIfAbsent(t, key -> new TreeMap<>());
      if (own.put(span.name(), new TreeMap<>(span.attributes())) != null) {
        tally.span("shown twice: " + span);
      }
    }
    boolean mayHaveEvictedSpans =
        plan.scenario() == Scenario.OVERFLOWING && (seen.trail().isEmpty() || hasLapped());
    for (int t = 0; t < plan.threads(); t++) {
      SpanLoad load = new SpanLoad(plan, t);
      long returned = promised(t, Stream.SPANS);
      long started = oracle.started(t, Stream.SPANS);
      Map<String, Map<String, Object>> shown = byThread.getOrDefault(t, Map.of());
      if (durable != null) {
        LongFunction<Map<String, ?>> after =
            calls -> {
              Map<String, ?> open = load.after(calls);
              open.keySet().retainAll(mayHaveEvictedSpans ? shown.keySet() : open.keySet());
              return open;
            };
        checkEach(shown, returned, started, after, tally::span);
        continue;
      }
      Map<String, Map<String, Object>> before = load.after(returned);
      Map<String, Map<String, Object>> after = load.after(started);
      if (mayHaveEvictedSpans) {
        // A span that overflowed into the trail goes when a lap overwrites its begin.
        before.keySet().retainAll(shown.keySet());
        after.keySet().retainAll(shown.keySet());
      }
      if (!shown.equals(before) && !shown.equals(after)) {
        tally.span(
            "t="
                + t
                + ", returned="
                + returned
                + ", started="
                + started
                + ", "
                + difference(before, shown));
      }
    }
  }

  /**
   * Each key has a value, or none, that it had after one of the calls from the last durable one to
   * the last started one.
   */
  private static void checkEach(
      Map<String, ?> shown,
      long durable,
      long started,
      LongFunction<? extends Map<String, ?>> after,
      Consumer<String> wrong) {
    Map<String, Object> unexplained = new TreeMap<>(shown);
    Map<String, ?> promised = after.apply(durable);
    Map<String, Object> missing = new TreeMap<>(promised);
    for (long calls = durable; calls <= started; calls++) {
      Map<String, ?> state = after.apply(calls);
      unexplained.entrySet().removeAll(state.entrySet());
      missing.keySet().retainAll(state.keySet());
      if (unexplained.isEmpty() && shown.keySet().containsAll(missing.keySet())) {
        return;
      }
    }
    missing.keySet().removeAll(shown.keySet());
    wrong.accept(
        "durable="
            + durable
            + ", started="
            + started
            + ", missing="
            + missing
            + ", not its value then or later="
            + unexplained);
  }

  private static String difference(Map<String, ?> expected, Map<String, ?> shown) {
    Map<String, Object> missing = new TreeMap<>(expected);
    Map<String, Object> surplus = new TreeMap<>(shown);
    missing.entrySet().removeAll(shown.entrySet());
    surplus.entrySet().removeAll(expected.entrySet());
    return "expected=" + missing + ", shown=" + surplus;
  }
}
