package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.format.VitalsLayout;
import cairn.report.Breadcrumb;
import cairn.report.Finding;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.ScopeSnapshot;
import cairn.report.UnfinishedSpan;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Death after every single store of every action: a report shows what was before it or after it.
 */
class CrashPointsTest {
  private static final int RING = 64 * 1024;
  private static final int MAX_RECORD = RING / 64;

  private final CrashPoints points = new CrashPoints(16, RING);
  private final Box box = points.box;

  /** Everything that a report shows but counters and what the moment of reading decides. */
  private record View(
      List<Breadcrumb> trail,
      ScopeSnapshot scope,
      Map<String, Map<String, Object>> spans,
      Object lastSeen,
      Object cause,
      Object vitals,
      Object identity) {
    static View of(byte[] image) {
      Report report = ReportOfBytes.read(image);
      assertThat(report.findings())
          .noneMatch(finding -> finding.severity() == Finding.Severity.ERROR);
      Map<String, Map<String, Object>> spans = new TreeMap<>();
      for (UnfinishedSpan span : report.openSpans()) {
        Map<String, Object> all = new TreeMap<>(span.attributes());
        all.put("(state)", List.of(span.events(), "" + span.status() + span.statusDescription()));
        all.put("(thread)", "" + span.thread());
        assertThat(spans.put(span.name() + " " + span.spanId(), all)).isNull();
      }
      return new View(
          report.trail(),
          report.scope(),
          spans,
          report.run().lastSeenAt(),
          report.verdict().cause(),
          report.vitals(),
          List.of(report.run().id(), report.run().app(), report.run().pid()));
    }
  }

  private void set(long handle, String key, Object value) {
    SpanTable spans = box.spans;
    if (value instanceof String text) {
      spans.set(handle, key, SpanTable.TEXT, 0, text);
    } else if (value instanceof Double number) {
      spans.set(handle, key, SpanTable.FLOATING, Double.doubleToRawLongBits(number), "");
    } else if (value instanceof Boolean flag) {
      spans.set(handle, key, SpanTable.BOOLEAN, flag ? 1 : 0, "");
    } else {
      spans.set(handle, key, SpanTable.INTEGER, (Long) value, "");
    }
  }

  /**
   * Both states are seen at the ends, nothing else between, and never the old one after the new.
   */
  private void assertOldOrNewAtEachStoreOf(Runnable action) {
    View before = View.of(points.memory.image());
    List<View> seen = new ArrayList<>();

    int images = points.forEachStoreOf(action, image -> seen.add(View.of(image)));

    View after = View.of(points.memory.image());
    assertThat(images).isEqualTo(seen.size()).isGreaterThan(2);
    assertThat(after).isNotEqualTo(before);
    for (List<View> replay :
        List.of(seen.subList(0, images / 2), seen.subList(images / 2, images))) {
      int commit = replay.indexOf(after);
      assertThat(replay.subList(0, commit)).isNotEmpty().allMatch(before::equals);
      assertThat(replay.subList(commit, replay.size())).allMatch(after::equals);
    }
  }

  @Test
  void breadcrumbIsThereOrNot() {
    box.breadcrumb(Level.INFO, "db", "one", Map.of("rows", 1));

    assertOldOrNewAtEachStoreOf(
        () -> box.breadcrumb(Level.ERROR, "http", "two", Map.of("status", 500)));
  }

  @Test
  void spanWithIdsOfItsOwnIsThereOrNot() {
    assertOldOrNewAtEachStoreOf(
        () -> box.spans.begin("GET", 1, 2, 3L + points.memory.clock.nanos(), 0, 1, 1, 4, 0, null));
  }

  @Test
  void spanIsThereWithAllAttributesThatItBeganWithOrNot() {
    OpenSpans.Attributes attributes =
        new OpenSpans.Attributes() {
          @Override
          public int count() {
            return 3;
          }

          @Override
          public String name(int index) {
            return "k" + index;
          }

          @Override
          public int kind(int index) {
            return TEXT;
          }

          @Override
          public String text(int index) {
            return "value";
          }

          @Override
          public long bits(int index) {
            return 0;
          }
        };
    assertOldOrNewAtEachStoreOf(
        () ->
            box.spans.begin(
                "GET", 1, 2, 3L + points.memory.clock.nanos(), 0, 1, 1, 4, 0, attributes));
  }

  @Test
  void whatBecomesKnownOfASpanIsThereOrNot() {
    long handle = box.spans.begin("GET", 1, 2, 3, 0, 1, 1, 4, 0, null);

    assertOldOrNewAtEachStoreOf(() -> box.rename(handle, "GET /" + box.spans.used(slot(handle))));
    assertOldOrNewAtEachStoreOf(
        () -> box.status(handle, 2, "no answer " + box.spans.used(slot(handle))));
    assertOldOrNewAtEachStoreOf(
        () -> box.setAttribute(handle, "k" + box.spans.used(slot(handle)), List.of(1, 2)));
  }

  @Test
  void countOfEventsIsTheOldOrTheNewOne() {
    long handle = box.spans.begin("GET", 1, 2, 3, 0, 1, 1, 4, 0, null);

    for (int i = 0; i < 5; i++) {
      assertOldOrNewAtEachStoreOf(() -> box.spans.event(handle));
    }
  }

  private static int slot(long handle) {
    return (int) (handle & 0xffff);
  }

  @Test
  void breadcrumbThatWrapsAtTheEndOfTheRingIsThereOrNot() {
    while (box.trail.tail() < 2 * RING - 2 * MAX_RECORD) {
      box.breadcrumb(Level.INFO, "c", "x".repeat(600), null);
    }
    while (box.trail.tail() < 2 * RING - 96) {
      box.breadcrumb(Level.INFO, "c", "m", null);
    }
    assertEvictedGoThenNewComes(
        () -> box.breadcrumb(Level.INFO, "wrapping", "x".repeat(300), null));
  }

  @Test
  void breadcrumbThatOverwritesTheOldestCostsNoOther() {
    for (int i = 0; i < 500; i++) {
      box.breadcrumb(Level.INFO, "c", "m" + i, Map.of("x", "y".repeat(i % 700)));
    }

    assertEvictedGoThenNewComes(() -> box.breadcrumb(Level.INFO, "new", "x".repeat(300), null));
  }

  /** While a lap overwrites, what it evicts may go before the new one is there, in any order. */
  private void assertEvictedGoThenNewComes(Runnable action) {
    List<Breadcrumb> before = View.of(points.memory.image()).trail();
    List<List<Breadcrumb>> seen = new ArrayList<>();

    points.forEachStoreOf(action, image -> seen.add(View.of(image).trail()));

    List<Breadcrumb> after = View.of(points.memory.image()).trail();
    Breadcrumb added = after.get(after.size() - 1);
    List<Breadcrumb> kept = after.subList(0, after.size() - 1);
    assertThat(kept).isNotEmpty();
    assertThat(before).doesNotContain(added).endsWith(kept.toArray(Breadcrumb[]::new));
    for (List<Breadcrumb> trail : seen) {
      if (trail.contains(added)) {
        assertThat(trail).isEqualTo(after);
      } else {
        assertThat(trail).isSubsetOf(before).endsWith(kept.toArray(Breadcrumb[]::new));
        assertThat(trail).isSortedAccordingTo(Comparator.comparingLong(Breadcrumb::position));
      }
    }
    assertThat(seen).contains(before, after);
  }

  @Test
  void tagHasTheOldOrTheNewValue() {
    box.setScope(RecordLayout.KIND_TAG, "other", "stays");
    box.setScope(RecordLayout.KIND_TAG, "region", "eu");

    assertOldOrNewAtEachStoreOf(() -> box.setScope(RecordLayout.KIND_TAG, "region", "us"));
  }

  @Test
  void firstTagOfARunIsThereOrNot() {
    assertOldOrNewAtEachStoreOf(() -> box.setScope(RecordLayout.KIND_TAG, "region", "us"));
  }

  @Test
  void contextHasTheOldOrTheNewValue() {
    box.setScope(RecordLayout.KIND_CONTEXT, "cart", Map.of("items", List.of(1, 2, 3)));

    assertOldOrNewAtEachStoreOf(
        () -> box.setScope(RecordLayout.KIND_CONTEXT, "cart", Map.of("items", List.of(4))));
  }

  @Test
  void removedTagIsThereOrNot() {
    box.setScope(RecordLayout.KIND_TAG, "other", "stays");
    box.setScope(RecordLayout.KIND_TAG, "region", "eu");

    assertOldOrNewAtEachStoreOf(() -> box.setScope(RecordLayout.KIND_TAG, "region", null));
  }

  @Test
  void clearRemovesAllOrNothing() {
    box.setScope(RecordLayout.KIND_USER, null, "42");
    box.setScope(RecordLayout.KIND_TAG, "region", "eu");

    assertOldOrNewAtEachStoreOf(box::clearScope);

    assertThat(View.of(points.memory.image()).scope().tags()).isEmpty();
  }

  @Test
  void secondClearBringsNoOlderGenerationBack() {
    box.setScope(RecordLayout.KIND_TAG, "region", "eu");
    box.clearScope();
    box.setScope(RecordLayout.KIND_TAG, "region", "us");

    assertOldOrNewAtEachStoreOf(box::clearScope);
  }

  @Test
  void updateThatCompactsShowsTheOldOrTheNewValue() {
    box.setScope(RecordLayout.KIND_TAG, "other", "stays");
    box.setScope(RecordLayout.KIND_EXTRA, "gone", 1);
    box.setScope(RecordLayout.KIND_EXTRA, "gone", null);
    updateUntilCompacted();
    int period = updateUntilCompacted();
    for (int i = 1; i < period; i++) {
      box.setScope(RecordLayout.KIND_TAG, "region", "old");
    }

    long compactions = box.counters.get(CounterLayout.COMPACTIONS);
    assertOldOrNewAtEachStoreOf(() -> box.setScope(RecordLayout.KIND_TAG, "region", "new"));
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(compactions + 1);
  }

  /** {@return how many updates it took} */
  private int updateUntilCompacted() {
    long compactions = box.counters.get(CounterLayout.COMPACTIONS);
    int updates = 0;
    while (box.counters.get(CounterLayout.COMPACTIONS) == compactions) {
      box.setScope(RecordLayout.KIND_TAG, "region", "old");
      updates++;
    }
    return updates;
  }

  @Test
  void earlyCompactionChangesNothingAtAnyStore() {
    for (int i = 0; i < 900; i++) {
      box.setScope(RecordLayout.KIND_TAG, "region", "v" + i);
    }
    View before = View.of(points.memory.image());

    points.forEachStoreOf(
        box.scope::compactEarly,
        image -> {
          assertThat(View.of(image)).isEqualTo(before);
          assertThat(ReportOfBytes.read(image).findings())
              .noneMatch(finding -> finding.where().equals("SSCL"));
        });
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(1);
  }

  @Test
  void begunSpanIsOpenOrNot() {
    box.spans.begin("outer");

    assertOldOrNewAtEachStoreOf(() -> box.spans.begin("inner"));
  }

  @Test
  void spanBegunInAUsedSlotIsOpenOrNot() {
    long[] handles = new long[16];
    for (int i = 0; i < handles.length; i++) {
      handles[i] = box.spans.begin("span " + i);
      set(handles[i], "text", "value " + i);
      set(handles[i], "long", (long) i);
    }
    box.spans.close(handles[7]);

    assertOldOrNewAtEachStoreOf(() -> box.spans.begin("x".repeat(30)));
  }

  @Test
  void attributeHasTheOldOrTheNewValue() {
    long span = box.spans.begin("span");
    set(span, "text", "old");

    assertOldOrNewAtEachStoreOf(() -> set(span, "text", "new value"));
    assertOldOrNewAtEachStoreOf(() -> set(span, "long", 17L));
    assertOldOrNewAtEachStoreOf(() -> set(span, "double", 0.5));
    assertOldOrNewAtEachStoreOf(() -> set(span, "boolean", true));
  }

  @Test
  void attributeWithoutRoomInTheSlotIsThereOrNot() {
    long span = box.spans.begin("span");
    for (int i = 0; box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED) == 0; i++) {
      set(span, "filler" + i, "x".repeat(60));
    }

    assertOldOrNewAtEachStoreOf(() -> set(span, "late", "y".repeat(60)));
  }

  @Test
  void latestValueWinsWhetherItFoundRoomInTheSlotOrNot() {
    long span = box.spans.begin("span");
    set(span, "key", "first");
    for (int i = 0; i < 7; i++) {
      set(span, "filler" + i, "x".repeat(70));
    }
    // Too long for what is left of the slot, then short enough for it, then too long again.
    assertOldOrNewAtEachStoreOf(() -> set(span, "key", "z".repeat(200)));
    assertThat(box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isEqualTo(1);
    assertOldOrNewAtEachStoreOf(() -> set(span, "key", true));
    assertThat(points.memory.report().openSpans().get(0).attributes()).containsEntry("key", true);
    assertOldOrNewAtEachStoreOf(() -> set(span, "key", "z".repeat(190)));
  }

  @Test
  void endIsOneStore() {
    long outer = box.spans.begin("outer");
    long inner = box.spans.begin("inner");
    set(inner, "text", "value");

    // One store: before it the span is open, after it is not.
    assertThat(points.forEachStoreOf(() -> box.spans.close(inner), image -> {})).isEqualTo(4);
    assertOldOrNewAtEachStoreOfOne(() -> box.spans.close(outer));
  }

  private void assertOldOrNewAtEachStoreOfOne(Runnable action) {
    View before = View.of(points.memory.image());
    List<View> seen = new ArrayList<>();
    points.forEachStoreOf(action, image -> seen.add(View.of(image)));
    View after = View.of(points.memory.image());
    assertThat(seen).containsExactly(before, after, before, after);
    assertThat(after).isNotEqualTo(before);
  }

  @Test
  void spanWithoutASlotIsOpenOrNot() {
    for (int i = 0; i < 16; i++) {
      box.spans.begin("span " + i);
    }
    long[] span = new long[1];

    assertOldOrNewAtEachStoreOf(() -> span[0] = box.spans.begin("one too many"));
    assertOldOrNewAtEachStoreOf(() -> set(span[0], "text", "value"));
    assertOldOrNewAtEachStoreOf(() -> box.spans.close(span[0]));
  }

  @Test
  void lastSignOfLifeIsTheOldOrTheNewOne() {
    points.memory.clock.wallMillis.addAndGet(5_000);

    assertOldOrNewAtEachStoreOf(box::beat);
  }

  @Test
  void powerLossDuringACompactionNeverCostsAFieldAndBringsNoRemovedOneBack() {
    fillBothHalves();
    box.setScope(RecordLayout.KIND_TAG, "long", "l".repeat(700)); // over two sectors, soon dead
    box.setScope(RecordLayout.KIND_TAG, "gone", null);
    box.setScope(RecordLayout.KIND_TAG, "long", "latest");

    int images =
        points.forEachMixOfSectors(
            this::compactWithoutNeed,
            image ->
                assertThat(ReportOfBytes.read(image).scope().tags())
                    .isEqualTo(Map.of("other", "set long before", "long", "latest")));
    assertThat(images).isGreaterThan(100);
  }

  @Test
  void powerLossDuringAClearBringsBackNoValueThatNeverWasWithAnother() {
    fillBothHalves();
    box.setScope(RecordLayout.KIND_TAG, "gone", null);
    Map<String, Object> before = points.memory.report().scope().tags();

    points.forEachMixOfSectors(
        box::clearScope,
        image ->
            assertThat(before.entrySet())
                .containsAll(ReportOfBytes.read(image).scope().tags().entrySet()));
    assertThat(points.memory.report().scope().tags()).isEmpty();
  }

  /** Leaves live fields in both halves, and one value that only the older half has not seen go. */
  private void fillBothHalves() {
    box.setScope(RecordLayout.KIND_TAG, "other", "set long before");
    box.setScope(RecordLayout.KIND_TAG, "gone", "value that goes");
    box.setScope(RecordLayout.KIND_TAG, "long", "short at first");
    box.setScope(RecordLayout.KIND_TAG, "long", "short still");
    compactWithoutNeed();
  }

  /** As the housekeeper does when an old value has been there for long. */
  private void compactWithoutNeed() {
    long compactions = box.counters.get(CounterLayout.COMPACTIONS);
    for (int i = 0; i < ScopeLog.MAX_STALE_BEATS; i++) {
      box.scope.compactEarly();
    }
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(compactions + 1);
  }

  @Test
  void endOfTheRunIsTheOldOrTheNewOne() {
    assertOldOrNewOrLaterAtEachStoreOf(() -> box.life.closing(LifeCycle.End.of("CLOSED"), false));
    assertOldOrNewAtEachStoreOf(() -> box.life.clean());
  }

  /** As the other, where what a report shows may stay the same. */
  private void assertOldOrNewOrLaterAtEachStoreOf(Runnable action) {
    View before = View.of(points.memory.image());
    Set<View> seen = new HashSet<>();
    points.forEachStoreOf(action, image -> seen.add(View.of(image)));
    assertThat(seen).isSubsetOf(before, View.of(points.memory.image()));
  }

  @Test
  void uncaughtExceptionIsThereOrNot() {
    IllegalStateException thrown = new IllegalStateException("boom");

    assertOldOrNewOrLaterAtEachStoreOf(() -> box.life.uncaught(Thread.currentThread(), thrown));
    assertOldOrNewOrLaterAtEachStoreOf(() -> box.life.uncaught(Thread.currentThread(), thrown));
  }

  @Test
  void vitalsSampleIsThereOrNot() {
    long[] values = new long[VitalsLayout.COUNT];
    for (int i = 0; i < values.length; i++) {
      values[i] = 1_700_000_000_000L + i;
    }
    box.sample(values);
    values[VitalsLayout.WALL_MILLIS] += 1_000;
    values[VitalsLayout.NANOS] += 1_000_000_000;

    assertOldOrNewAtEachStoreOf(() -> box.sample(values));
  }

  @Test
  void counterIsTheOldOneOrTheNewOne() {
    Set<Long> seen = new HashSet<>();
    points.forEachStoreOf(
        () -> box.counters.add(CounterLayout.CUT, 3),
        image -> seen.add(ReportOfBytes.read(image).counters().get("cut")));

    assertThat(seen).containsExactlyInAnyOrder(0L, 3L);
  }

  @Test
  void anyMixOfOldAndNewSectorsShowsNothingThatWasNeverThere() {
    box.breadcrumb(Level.INFO, "c", "one", Map.of("x", "y".repeat(400)));
    box.setScope(RecordLayout.KIND_TAG, "region", "eu");
    long span = box.spans.begin("span");
    set(span, "key", "old");
    View before = View.of(points.memory.image());

    int images =
        points.forEachMixOfSectors(
            () -> {
              box.breadcrumb(Level.INFO, "c", "two", Map.of("x", "y".repeat(700)));
              box.setScope(RecordLayout.KIND_TAG, "region", "z".repeat(600));
              set(span, "key", "new");
              box.spans.begin("other");
            },
            image -> assertOnlyOldOrNew(View.of(image), before));

    assertThat(images).isGreaterThan(32);
  }

  private void assertOnlyOldOrNew(View view, View before) {
    View after = View.of(points.memory.image());
    assertThat(view.trail()).isSubsetOf(after.trail());
    if (!view.scope().tags().isEmpty()) {
      assertThat(view.scope().tags()).isIn(before.scope().tags(), after.scope().tags());
    }
    view.spans()
        .forEach(
            (name, attributes) -> {
              assertThat(after.spans()).containsKey(name);
              assertThat(attributes)
                  .isIn(before.spans().get(name), after.spans().get(name), Map.of());
            });
  }
}
