package cairn;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.CounterLayout;
import cairn.report.UnfinishedSpan;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class SpanTableTest {
  private final MemoryBox memory = new MemoryBox(16, 64 * 1024);
  private final SpanTable spans = memory.box.spans;

  private void set(long handle, String key, Object value) {
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

  private List<UnfinishedSpan> open() {
    memory.box.beat();
    return memory.report().openSpans();
  }

  @Test
  void openSpanIsShownWithItsAttributesAndAClosedOneIsNot() {
    long handle = spans.begin("POST /orders");
    set(handle, "order.id", 17L);
    set(handle, "user", "42");
    set(handle, "total", 12.5);
    set(handle, "express", true);

    UnfinishedSpan span = open().get(0);
    assertThat(span.name()).isEqualTo("POST /orders");
    assertThat(span.thread()).isEqualTo(Thread.currentThread().getName());
    assertThat(span.attributes())
        .containsExactly(
            java.util.Map.entry("order.id", 17L),
            java.util.Map.entry("user", "42"),
            java.util.Map.entry("total", 12.5),
            java.util.Map.entry("express", true));

    spans.close(handle);
    assertThat(open()).isEmpty();
  }

  @Test
  void latestValueOfAnAttributeWins() {
    long handle = spans.begin("job");
    for (int i = 0; i < 5; i++) {
      set(handle, "step", (long) i);
    }

    assertThat(open().get(0).attributes()).containsEntry("step", 4L);
  }

  @Test
  void childOfTheThreadsOpenSpanNamesItAndItsTrace() {
    long parent = spans.begin("parent");
    long child = spans.begin("child");

    List<UnfinishedSpan> open = open();
    assertThat(open).extracting(UnfinishedSpan::name).containsExactly("parent", "child");
    assertThat(open.get(0).parentSpanId()).isNull();
    assertThat(open.get(1).parentSpanId()).isEqualTo(open.get(0).spanId());
    assertThat(open.get(1).traceId()).isEqualTo(open.get(0).traceId()).hasSize(32);

    spans.close(child);
    long sibling = spans.begin("sibling");
    assertThat(open().get(1).parentSpanId()).isEqualTo(open.get(0).spanId());
    spans.close(sibling);
    spans.close(parent);
    spans.begin("root");
    assertThat(open().get(0).parentSpanId()).isNull();
  }

  @Test
  void spanClosedOutOfOrderNoLongerCountsAsCurrent() {
    long outer = spans.begin("outer");
    long inner = spans.begin("inner");
    spans.close(outer);
    assertThat(spans.current()).isEqualTo(inner);
    spans.close(inner);
    assertThat(spans.current()).isEqualTo(SpanTable.NONE);
  }

  @Test
  void lateCallsOnAClosedSpanLeaveTheSlotsNewOwnerAlone() {
    long old = spans.begin("old");
    spans.close(old);
    List<Long> fresh = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      fresh.add(spans.begin("fresh"));
    }

    set(old, "late", "value");
    spans.close(old);

    List<UnfinishedSpan> open = open();
    assertThat(open).hasSize(16).allMatch(span -> span.attributes().isEmpty());
    assertThat(fresh).allMatch(spans::isOpen);
  }

  @Test
  void spanWithoutASlotIsKeptInTheTrailAndCounted() {
    for (int i = 0; i < 16; i++) {
      spans.begin("fits");
    }
    long handle = spans.begin("overflow");
    set(handle, "user", "42");
    assertThat(open())
        .hasSize(17)
        .filteredOn(span -> span.name().equals("overflow"))
        .singleElement()
        .satisfies(span -> assertThat(span.attributes()).containsEntry("user", "42"));
    assertThat(memory.box.counters.get(CounterLayout.SPANS_OVERFLOWED)).isEqualTo(1);

    spans.close(handle);
    assertThat(open()).hasSize(16).noneMatch(span -> span.name().equals("overflow"));
  }

  @Test
  void attributeThatFindsNoRoomGoesToTheTrailAndTheReportJoinsIt() {
    long handle = spans.begin("job");
    for (int i = 0; i < 30; i++) {
      set(handle, "attribute" + i, "value-" + i + "-" + "x".repeat(20));
    }

    assertThat(open().get(0).attributes())
        .hasSize(30)
        .containsEntry("attribute0", "value-0-" + "x".repeat(20))
        .containsEntry("attribute29", "value-29-" + "x".repeat(20));
    assertThat(memory.box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isPositive();
  }

  @Test
  void latestValueWinsAcrossSlotAndTrail() {
    long handle = spans.begin("job");
    for (int i = 0; i < 5; i++) {
      set(handle, "filler" + i, "x".repeat(100));
    }
    set(handle, "first in trail", "x".repeat(200));
    set(handle, "first in trail", true);
    assertThat(open().get(0).attributes()).containsEntry("first in trail", true);

    set(handle, "first in slot", false);
    set(handle, "first in slot", "y".repeat(200));
    assertThat(open().get(0).attributes()).containsEntry("first in slot", "y".repeat(200));
    assertThat(memory.box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isEqualTo(2);
  }

  @Test
  void longAttributeIsCutVisiblyAndCounted() {
    long handle = spans.begin("job");
    set(handle, "long", "ä".repeat(1_000));

    Object value = open().get(0).attributes().get("long");
    assertThat(value).asString().startsWith("ää").endsWith("…").hasSizeBetween(100, 128);
    assertThat(memory.box.counters.get(CounterLayout.CUT)).isEqualTo(1);
  }

  @Test
  void longNamesAndNullNamesAreTaken() {
    spans.begin("n".repeat(5_000));
    spans.begin(null);

    assertThat(open().get(0).name()).endsWith("…").hasSizeLessThan(200);
    assertThat(open().get(1).name()).isEmpty();
  }

  @Test
  void spanMayBeSetAndClosedOnAnotherThread() throws Exception {
    long handle = spans.begin("hand-over");
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      other.submit(() -> set(handle, "on", "other")).get();
      assertThat(open().get(0).attributes()).containsEntry("on", "other");
      other.submit(() -> spans.close(handle)).get();
      assertThat(open()).isEmpty();
      assertThat(spans.current()).isEqualTo(SpanTable.NONE);
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void racingSetsClosesAndBeginsNeverMixSpans() throws Exception {
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch go = new CountDownLatch(1);
    java.util.concurrent.atomic.AtomicLong shared = new java.util.concurrent.atomic.AtomicLong();
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      futures.add(
          pool.submit(
              () -> {
                go.await();
                for (int i = 0; i < 20_000; i++) {
                  // Everybody sets and closes what anybody began last: misuse, but defined.
                  long mine = spans.begin("span");
                  shared.set(mine);
                  set(shared.get(), "a", (long) i);
                  set(mine, "b", "text");
                  spans.close(shared.get());
                  spans.close(mine);
                }
                return null;
              }));
    }
    go.countDown();
    for (Future<?> future : futures) {
      future.get();
    }
    pool.shutdownNow();

    assertThat(spans.openCount()).isZero();
    assertThat(open()).isEmpty();
    Set<Long> handles = new HashSet<>();
    for (int i = 0; i < 16; i++) {
      handles.add(spans.begin("after"));
    }
    assertThat(handles).hasSize(16).allMatch(handle -> handle > 0);
    assertThat(memory.report().findings()).isEmpty();
  }

  @Test
  void ageRunsToTheLastSignOfLifeAlsoIfThatIsABreadcrumb() {
    memory.box.beat();
    memory.clock.advanceMillis(100);
    spans.begin("after the beat");
    memory.clock.advanceMillis(400);
    memory.box.breadcrumb(Level.INFO, "c", "last sign of life", null);

    UnfinishedSpan span = memory.report().openSpans().get(0);
    assertThat(span.ageMillis()).isBetween(399L, 400L);
    assertThat(span.startedAt()).isEqualTo(memory.report().trail().get(0).at().minusMillis(400));
  }

  @Test
  void truncatedBoxDoesNotSayThatNothingWasInFlight() {
    spans.begin("lost with the rest of the file");
    byte[] cut = java.util.Arrays.copyOf(memory.image(), memory.box.plan.spans);

    var report = cairn.report.ReportOfBytes.read(cut);
    assertThat(report.verdict().headline()).contains("unknown: the box is truncated");
    assertThat(report.toJson()).doesNotContain("openSpans", "\"trail\"");
    assertThat(report.toText()).contains("unknown: the box is truncated");
  }

  @Test
  void damagedSpanDoesNotSayThatNothingWasInFlight() {
    spans.begin("damaged");
    byte[] image = memory.image();
    for (int slot = 0; slot < memory.box.plan.spanSlots; slot++) {
      image[memory.box.plan.spans + slot * BoxPlan.SPAN_SLOT + 20] ^= 1; // in the begin entry
    }

    var report = cairn.report.ReportOfBytes.read(image);
    assertThat(report.openSpans()).isEmpty();
    assertThat(report.verdict().headline()).contains("in flight is unknown");
    assertThat(report.toJson()).doesNotContain("openSpans");
  }

  @Test
  void negativeCounterIsDamageAndNotANumber() {
    byte[] image = memory.image();
    for (int copy = 0; copy < 2; copy++) {
      image[memory.box.plan.counters + copy * BoxPlan.COUNTER_UNIT + 15] = (byte) 0x80;
    }

    var report = cairn.report.ReportOfBytes.read(image);
    assertThat(report.counters()).doesNotContainKey("dropped").containsKey("lapped");
    assertThat(report.findings().toString()).contains("counter is damaged: name=dropped");
  }

  // What Cairn's own thread sees

  private List<String> seen() {
    SpanTable.Sight sight = new SpanTable.Sight();
    SpanNames names = new SpanNames(spans.slotSize());
    List<String> seen = new ArrayList<>();
    for (int i = 0; i < spans.slotCount(); i++) {
      if (spans.look(i, sight) && names.read(spans, i, sight.state)) {
        seen.add(
            new String(names.bytes, names.from, names.length, UTF_8)
                + " ["
                + new String(names.bytes, names.threadFrom, names.threadLength, UTF_8)
                + "] "
                + Long.toHexString(sight.spanId));
      }
    }
    return seen;
  }

  @Test
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  void lookSeesNameThreadIdAndBeginOfWhatIsOpen() {
    long ended = spans.begin("ended");
    long now = memory.clock.nanos.get();
    long handle = spans.begin("Käse");
    set(handle, "n", 1L);
    spans.close(ended);

    UnfinishedSpan span = open().get(0);
    assertThat(seen())
        .containsExactly(
            "Käse ["
                + Thread.currentThread().getName()
                + "] "
                + Long.toHexString(Long.parseUnsignedLong(span.spanId(), 16)));
    SpanTable.Sight sight = new SpanTable.Sight();
    int index = 0;
    while (!spans.look(index, sight)) {
      index++;
    }
    assertThat(sight.threadId).isEqualTo(Thread.currentThread().getId());
    assertThat(sight.nanos).isBetween(now, now + 2);
    assertThat(sight.spanId).isEqualTo(spans.spanId(handle));
    spans.close(handle);
    assertThat(seen()).isEmpty();
  }

  @Test
  void laterNameIsTheOneThatIsSeen() {
    long handle = spans.begin("GET", 1, 2, 3, 0, 1, 1, 0, 0, null);
    memory.box.rename(handle, "GET /orders");
    memory.box.rename(handle, "GET /orders/{id}");
    assertThat(seen()).singleElement().asString().startsWith("GET /orders/{id} [");

    spans.close(handle);
    spans.begin("next", 1, 2, 3, 0, 1, 1, 0, 0, null);
    assertThat(seen()).singleElement().asString().startsWith("next [");
  }

  @Test
  void lookNeverMixesSpansThatComeAndGo() throws Exception {
    // Each span's name is its thread's id, and the clock grows: what is seen must belong together.
    int threads = 3;
    java.util.concurrent.atomic.AtomicBoolean stop =
        new java.util.concurrent.atomic.AtomicBoolean();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      futures.add(
          pool.submit(
              () -> {
                String name = Thread.currentThread().getName();
                while (!stop.get()) {
                  spans.close(spans.begin(name));
                }
              }));
    }
    SpanTable.Sight sight = new SpanTable.Sight();
    SpanNames names = new SpanNames(spans.slotSize());
    Map<String, Long> threadIds = new HashMap<>();
    Map<Long, Long> ids = new HashMap<>();
    int seen = 0;
    while (seen < 50_000) {
      for (int i = 0; i < spans.slotCount(); i++) {
        if (!spans.look(i, sight)) {
          continue;
        }
        // The clock never gives a time twice.
        assertThat(ids.merge(sight.nanos, sight.spanId, (old, now) -> old)).isEqualTo(sight.spanId);
        if (!names.read(spans, i, sight.state)) {
          continue;
        }
        seen++;
        String name = new String(names.bytes, names.from, names.length, UTF_8);
        assertThat(new String(names.bytes, names.threadFrom, names.threadLength, UTF_8))
            .isEqualTo(name);
        assertThat(threadIds.merge(name, sight.threadId, (old, now) -> old))
            .isEqualTo(sight.threadId);
      }
    }
    stop.set(true);
    for (Future<?> future : futures) {
      future.get();
    }
    pool.shutdownNow();
    assertThat(threadIds).hasSizeGreaterThan(1);
  }

  @Test
  void idsOfManySpansDiffer() {
    Set<Long> ids = new HashSet<>();
    for (int i = 0; i < 100_000; i++) {
      long handle = spans.begin("x");
      ids.add(spans.spanId(handle));
      spans.close(handle);
    }
    assertThat(ids).hasSize(100_000);
  }
}
