package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Level;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.ScopeSnapshot;
import cairn.report.UnfinishedSpan;
import cairn.stress.Oracle.Stream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The check itself: it must see each kind of violation, and none where there is none. */
class VictimCheckTest {
  private static final int CAPACITY = 64 << 10;
  private static final int RECORD = 512;
  private static final int IN_RING = CAPACITY / RECORD;

  @TempDir Path directory;

  private final Plan plan = new Plan(7, 2, CAPACITY, 64, Scenario.MIXED);
  private final List<Breadcrumb> trail = new ArrayList<>();
  private final Map<String, Long> counters = new HashMap<>();
  private Oracle oracle;
  private long now;
  private long tail = CAPACITY;

  @BeforeEach
  void recordThreeLapsOnTwoThreads() throws IOException {
    oracle = Oracle.create(directory.resolve("oracle"), 2);
    for (String name :
        List.of(
            "dropped",
            "cut",
            "placeholders",
            "scopeDropped",
            "copyErrors",
            "beatErrors",
            "spansOverflowed",
            "attributesOverflowed")) {
      counters.put(name, 0L);
    }
    for (int i = 0; i < 3 * IN_RING; i++) {
      crumb(i % 2, i / 2);
    }
  }

  @Test
  void whatALapHasOverwrittenIsNotMissed() {
    keepNewest(IN_RING);

    assertThat(check().violations()).isZero();
    assertThat(check().recordsChecked()).isEqualTo(IN_RING);
  }

  @Test
  void oneMissingInTheMiddleIsLost() {
    keepNewest(IN_RING);
    trail.remove(IN_RING / 2);

    assertThat(wrong(check())).isEqualTo("lost=1");
  }

  @Test
  void theNewestMissingIsLost() {
    keepNewest(IN_RING);
    trail.remove(IN_RING - 1);

    assertThat(wrong(check())).isEqualTo("lost=1");
  }

  @Test
  void halfARingMissingIsLost() {
    keepNewest(IN_RING);
    // Thread 1 has nothing at all, although thread 0 has breadcrumbs from the whole ring.
    trail.removeIf(crumb -> CrumbLoad.thread(crumb) == 1);

    String sums = check().toString();

    assertThat(sums).contains("lost=").doesNotContain("lost=0 ");
  }

  @Test
  void aMissingFirstOfTheRunIsLostIfNothingWasOverwritten() throws IOException {
    trail.clear();
    oracle = Oracle.create(directory.resolve("short"), 2);
    tail = CAPACITY;
    for (int i = 0; i < 10; i++) {
      crumb(0, i);
    }
    trail.remove(0);

    assertThat(wrong(check())).isEqualTo("lost=1");
  }

  @Test
  void oneMissingNextToAStalledWriterIsLapped() {
    // Thread 1 begins a call and is not heard of while thread 0 records two laps.
    oracle.startCrumb(1, 3 * IN_RING / 2, now++);
    for (int i = 0; i < 2 * IN_RING; i++) {
      crumb(0, 3 * IN_RING / 2 + i);
    }
    keepNewest(IN_RING);
    trail.remove(IN_RING - 10);

    assertThat(wrong(check())).isEqualTo("lapped=1");
  }

  @Test
  void oneMissingWhileAnIdleThreadIsOutsideAnyCallIsLost() {
    for (int i = 0; i < 2 * IN_RING; i++) {
      crumb(0, 3 * IN_RING / 2 + i);
    }
    keepNewest(IN_RING);
    trail.remove(IN_RING - 10);

    assertThat(wrong(check())).isEqualTo("lost=1");
  }

  @Test
  void theCallInFlightMayShowOrNot() {
    long next = 3 * IN_RING / 2;
    oracle.startCrumb(0, next, now);
    keepNewest(IN_RING);
    assertThat(check().violations()).isZero();

    trail.add(CrumbLoad.expected(plan, 0, next, now, tail, Instant.EPOCH));
    trail.remove(0);
    assertThat(check().violations()).isZero();
  }

  @Test
  void oneThatWasNeverStartedIsAPhantom() {
    keepNewest(IN_RING);
    trail.add(CrumbLoad.expected(plan, 0, 3 * IN_RING / 2, now, tail, Instant.EPOCH));

    assertThat(wrong(check())).isEqualTo("phantom=1");
  }

  @Test
  void oneShownTwiceIsADuplicate() {
    keepNewest(IN_RING);
    trail.add(trail.get(IN_RING - 1));

    assertThat(wrong(check())).isEqualTo("duplicate=1");
  }

  @Test
  void oneChangedByteIsTorn() {
    keepNewest(IN_RING);
    Breadcrumb crumb = trail.get(3);
    trail.set(
        3,
        new Breadcrumb(
            crumb.position(),
            crumb.at(),
            crumb.level(),
            crumb.category(),
            crumb.message() + "x",
            crumb.data(),
            crumb.thread(),
            null));

    assertThat(wrong(check())).isEqualTo("torn=1");
  }

  @Test
  void twoInTheWrongOrderAreDisordered() {
    keepNewest(IN_RING);
    Breadcrumb first = trail.remove(3);
    trail.add(5, first);

    assertThat(check().toString()).contains("disordered=").doesNotContain("disordered=0");
  }

  @Test
  void scopeAfterTheReturnedUpdatesOrTheOneInFlightIsRight() {
    keepNewest(IN_RING);
    for (int step = 0; step < 50; step++) {
      oracle.start(0, Stream.SCOPE, step);
      if (step < 49) {
        oracle.returned(0, Stream.SCOPE, step);
      }
    }
    ScopeLoad load = new ScopeLoad(plan, 0);

    assertThat(check(load.after(49), List.of()).violations()).isZero();
    assertThat(check(load.after(50), List.of()).violations()).isZero();
    assertThat(wrong(check(load.after(48), List.of()))).isEqualTo("scopeViolations=1");
    assertThat(wrong(check(load.after(51), List.of()))).isEqualTo("scopeViolations=1");
    assertThat(check(Map.of("tag stranger", "x"), List.of()).violations()).isEqualTo(2);
  }

  @Test
  void openSpansAfterTheReturnedStepsOrTheOneInFlightAreRight() {
    keepNewest(IN_RING);
    for (int step = 0; step < 200; step++) {
      oracle.start(1, Stream.SPANS, step);
      if (step < 199) {
        oracle.returned(1, Stream.SPANS, step);
      }
    }

    assertThat(check(Map.of(), spans(199)).violations()).isZero();
    assertThat(check(Map.of(), spans(200)).violations()).isZero();
    assertThat(wrong(check(Map.of(), spans(198)))).isEqualTo("spanViolations=1");
    assertThat(wrong(check(Map.of(), spans(199).subList(1, spans(199).size()))))
        .isEqualTo("spanViolations=1");
  }

  @Test
  void aCallThatThrewAndACounterThatRoseAreViolations() {
    keepNewest(IN_RING);
    oracle.fail(0);
    counters.put("dropped", 1L);

    assertThat(wrong(check())).isEqualTo("otherViolations=2");
  }

  private void crumb(int thread, long number) {
    oracle.startCrumb(thread, number, now);
    trail.add(CrumbLoad.expected(plan, thread, number, now, tail, Instant.EPOCH));
    oracle.returnedCrumb(thread, number, now);
    tail += RECORD;
    now++;
  }

  private void keepNewest(int count) {
    trail.subList(0, trail.size() - count).clear();
  }

  private Tally check() {
    return check(Map.of(), List.of());
  }

  private Tally check(Map<String, Object> scope, List<UnfinishedSpan> spans) {
    Seen seen = new Seen(List.copyOf(trail), snapshot(scope), spans, counters, Cause.KILLED);
    return VictimCheck.of(plan, oracle, seen);
  }

  private List<UnfinishedSpan> spans(long steps) {
    List<UnfinishedSpan> spans = new ArrayList<>();
    new SpanLoad(plan, 1)
        .after(steps)
        .forEach(
            (name, attributes) ->
                spans.add(
                    new UnfinishedSpan(
                        name,
                        "id" + spans.size(),
                        null,
                        null,
                        "w1",
                        null,
                        0,
                        attributes,
                        null,
                        -1,
                        null,
                        null,
                        0)));
    return spans;
  }

  /** {@return the sums that are not zero} */
  private static String wrong(Tally tally) {
    return Arrays.stream(tally.toString().split(" "))
        .filter(sum -> !sum.endsWith("=0") && !sum.startsWith("recordsChecked="))
        .collect(Collectors.joining(" "));
  }

  @SuppressWarnings("unchecked")
  private static ScopeSnapshot snapshot(Map<String, Object> fields) {
    Map<String, Object> tags = new TreeMap<>();
    Map<String, Object> contexts = new TreeMap<>();
    Map<String, Object> extras = new TreeMap<>();
    fields.forEach(
        (name, value) -> {
          String key = name.substring(name.indexOf(' ') + 1);
          if (name.startsWith("tag ")) {
            tags.put(key, value);
          } else if (name.startsWith("context ")) {
            contexts.put(key, value);
          } else if (name.startsWith("extra ")) {
            extras.put(key, value);
          }
        });
    return new ScopeSnapshot(
        (Map<String, Object>) fields.getOrDefault("user", Map.of()),
        tags,
        contexts,
        extras,
        (Level) fields.get("level"),
        (String) fields.get("transaction"),
        (List<String>) fields.getOrDefault("fingerprint", List.of()),
        (Map<String, Object>) fields.getOrDefault("trace", Map.of()));
  }
}
