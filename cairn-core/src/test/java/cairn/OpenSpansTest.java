package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.CounterLayout;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OpenSpansTest {
  private static final long HIGH = 0x0af7651916cd43ddL;
  private static final long LOW = 0x8448eb211c80319cL;

  @TempDir Path root;

  private final MemoryBox memory = new MemoryBox(16, 64 * 1024);
  private final SpanTable spans = memory.box.spans;

  private long begin(String name, long id) {
    return spans.begin(name, HIGH, LOW, id, 0, 1, 1, 0, 0, null);
  }

  private List<UnfinishedSpan> open() {
    memory.box.beat();
    return memory.report().openSpans();
  }

  private UnfinishedSpan only(long unused) {
    return only();
  }

  private UnfinishedSpan only() {
    List<UnfinishedSpan> open = open();
    assertThat(open).hasSize(1);
    return open.get(0);
  }

  @Test
  void spanIsShownWithTheIdsThatItCameWith() {
    spans.begin(
        "GET /", HIGH, LOW, 0x00f067aa0ba902b7L, -1, 3, 0x103, 1_700_000_000_123_456_789L, 0, null);

    UnfinishedSpan span = only();
    assertThat(span.traceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
    assertThat(span.spanId()).isEqualTo("00f067aa0ba902b7");
    assertThat(span.parentSpanId()).isEqualTo("ffffffffffffffff");
    assertThat(span.kind()).isEqualTo("PRODUCER");
    assertThat(span.traceFlags()).isEqualTo(3);
    assertThat(span.startedAt()).isEqualTo(Instant.ofEpochSecond(1_700_000_000, 123_456_789));
    assertThat(span.status()).isNull();
    assertThat(span.events()).isZero();
  }

  @Test
  void startInTheFutureIsNoSignOfLife() {
    spans.begin("GET /", HIGH, LOW, 1, 0, 1, 1, Long.MAX_VALUE, 0, null);

    memory.box.beat();
    Report report = memory.report();
    assertThat(report.openSpans().get(0).startedAt()).isAfter(report.run().lastSeenAt());
    assertThat(report.openSpans().get(0).ageMillis()).isZero();
  }

  @Test
  void laterNameStatusAndEventsAreShown() {
    long handle = begin("GET", 5);
    memory.box.rename(handle, "GET /orders/{id}");
    memory.box.status(handle, 2, "first");
    memory.box.status(handle, 2, "timeout");
    for (int i = 0; i < 3; i++) {
      spans.event(handle);
    }

    UnfinishedSpan span = only();
    assertThat(span.name()).isEqualTo("GET /orders/{id}");
    assertThat(span.status()).isEqualTo("ERROR");
    assertThat(span.statusDescription()).isEqualTo("timeout");
    assertThat(span.events()).isEqualTo(3);

    memory.box.status(handle, 1, null);
    assertThat(only().status()).isEqualTo("OK");
    assertThat(only().statusDescription()).isNull();
  }

  @Test
  void startThatIsLearnedLaterReplacesTheOneFromTheBeginning() {
    long handle = begin("receive", 5);
    spans.started(handle, 1_700_000_000_123_456_789L);

    assertThat(only().startedAt()).isEqualTo(Instant.ofEpochSecond(1_700_000_000, 123_456_789));

    spans.close(handle);
    spans.started(handle, 1);
    assertThat(only(begin("next", 6)).startedAt()).isAfter(Instant.ofEpochSecond(1));
  }

  @Test
  void attributesOfAServersRequestFindRoomInTheSlot() {
    long handle = begin("GET /api/orders/{id}", 5);
    for (String key :
        List.of(
            "http.request.method",
            "http.route",
            "http.response.status_code",
            "url.path",
            "url.scheme",
            "url.query",
            "server.address",
            "server.port",
            "client.address",
            "network.peer.address",
            "network.protocol.version",
            "error.type")) {
      spans.set(handle, key, SpanTable.TEXT, 0, "twenty characters...");
    }
    spans.event(handle);

    assertThat(only().attributes()).hasSize(12);
    assertThat(memory.box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isZero();
  }

  @Test
  void threadTakesTheSlotThatItGaveBackAgain() {
    long first = begin("first", 5);
    long nested = begin("nested", 6);
    assertThat(OpenSpans.slot(nested)).isNotEqualTo(OpenSpans.slot(first));

    spans.close(nested);
    assertThat(OpenSpans.slot(begin("again", 7))).isEqualTo(OpenSpans.slot(nested));
    assertThat(OpenSpans.slot(-5)).isEqualTo(-1);
    assertThat(OpenSpans.slot(OpenSpans.NONE)).isEqualTo(-1);
  }

  @Test
  void aMillionEventsTakeNoMoreRoomThanOne() {
    long handle = begin("stream", 5);
    spans.event(handle);
    int used = spans.used((int) (handle & 0xffff));
    for (int i = 1; i < 1_000_000; i++) {
      spans.event(handle);
    }

    assertThat(spans.used((int) (handle & 0xffff))).isEqualTo(used);
    assertThat(only().events()).isEqualTo(1_000_000);
    assertThat(memory.box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isZero();
  }

  @Test
  void listsAreAttributesAndWhatFindsNoRoomGoesToTheTrail() {
    long handle = begin("list", 5);
    memory.box.setAttribute(handle, "ids", List.of(1L, 2L));
    memory.box.setAttribute(handle, "password", List.of("hunter2"));
    memory.box.setAttribute(handle, "long", List.of("x".repeat(120), "y".repeat(60)));
    memory.box.setAttribute(handle, "filler", List.of("f".repeat(220)));
    memory.box.setAttribute(handle, "longer", List.of("z".repeat(200)));

    Map<String, Object> attributes = only().attributes();
    assertThat(attributes).containsEntry("ids", List.of(1L, 2L));
    assertThat(attributes.get("password").toString()).doesNotContain("hunter2");
    assertThat(attributes).containsEntry("long", List.of("x".repeat(120), "y".repeat(60)));
    assertThat(attributes).containsEntry("longer", List.of("z".repeat(200)));
    assertThat(memory.box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isOne();
  }

  @Test
  void whatBecomesKnownOfASpanWithAFullSlotIsKeptToo() {
    long handle = begin("GET", 5);
    for (int i = 0; i < 20; i++) {
      spans.set(handle, "k" + i, SpanTable.TEXT, 0, "x".repeat(30));
    }
    memory.box.rename(handle, "GET /orders/{id}");
    memory.box.status(handle, 2, "cause " + "s".repeat(100));
    spans.event(handle);
    spans.event(handle);

    UnfinishedSpan span = only();
    assertThat(span.attributes()).hasSize(20);
    assertThat(span.name()).isEqualTo("GET /orders/{id}");
    assertThat(span.status()).isEqualTo("ERROR");
    assertThat(span.statusDescription()).hasSize(106);
    assertThat(span.events()).isEqualTo(2);

    memory.box.status(handle, 1, null);
    assertThat(only().status()).isEqualTo("OK");
  }

  @Test
  void whatBecomesKnownOfASpanWithoutASlotIsKeptToo() {
    for (int i = 1; i <= 16; i++) {
      begin("filler", i);
    }
    long handle = begin("GET", 77);
    memory.box.rename(handle, "GET /orders/{id}");
    memory.box.status(handle, 2, "timeout");

    assertThat(open())
        .filteredOn(span -> span.name().equals("GET /orders/{id}"))
        .singleElement()
        .extracting(UnfinishedSpan::statusDescription)
        .isEqualTo("timeout");
  }

  /** Attributes as a tracer has them: text, number and so on in turn. */
  private record Given(List<Object> values) implements OpenSpans.Attributes {
    @Override
    public int count() {
      return values.size();
    }

    @Override
    public String name(int index) {
      return values.get(index).equals("hunter2") ? "password" : "k" + index;
    }

    @Override
    public int kind(int index) {
      Object value = values.get(index);
      if (value instanceof String) {
        return TEXT;
      }
      if (value instanceof Boolean) {
        return BOOLEAN;
      }
      return value instanceof Long ? LONG : value instanceof Double ? DOUBLE : OTHER;
    }

    @Override
    public String text(int index) {
      return (String) values.get(index);
    }

    @Override
    public long bits(int index) {
      Object value = values.get(index);
      if (value instanceof Boolean flag) {
        return flag ? 1 : 0;
      }
      return value instanceof Double number
          ? Double.doubleToRawLongBits(number)
          : ((Number) value).longValue();
    }
  }

  private long begin(String name, long id, Object... values) {
    return spans.begin(name, HIGH, LOW, id, 0, 1, 1, 0, 0, new Given(List.of(values)));
  }

  @Test
  void spanBeginsWithItsAttributesAndLaterOnesWin() {
    long handle = begin("GET", 5, "text", 7L, 0.5, true, new Object(), "hunter2");
    assertThat(only().attributes())
        .isEqualTo(Map.of("k0", "text", "k1", 7L, "k2", 0.5, "k3", true, "password", "<redacted>"));
    assertThat(memory.box.counters.get(CounterLayout.REDACTED)).isOne();

    spans.set(handle, "k1", SpanTable.INTEGER, 8, "");
    assertThat(only().attributes()).containsEntry("k1", 8L).hasSize(5);
  }

  @Test
  void whatOfTheFirstAttributesFindsNoRoomGoesToTheTrail() {
    Object[] values = new Object[40];
    java.util.Arrays.setAll(values, i -> "value " + "x".repeat(i));
    long handle = begin("GET", 5, values);
    spans.event(handle);

    Map<String, Object> attributes = only().attributes();
    assertThat(attributes).hasSize(40);
    for (int i = 0; i < 40; i++) {
      assertThat(attributes).containsEntry("k" + i, values[i]);
    }
    assertThat(only().events()).isOne();
    spans.set(handle, "k39", SpanTable.INTEGER, 8, "");
    spans.set(handle, "k0", SpanTable.INTEGER, 9, "");
    assertThat(only().attributes()).containsEntry("k39", 8L).containsEntry("k0", 9L);
  }

  @Test
  void spanWithoutASlotHasItsFirstAttributesToo() {
    for (int i = 1; i <= 16; i++) {
      begin("filler", i);
    }
    begin("no slot", -77, "text", 7L);

    assertThat(open())
        .filteredOn(span -> span.name().equals("no slot"))
        .singleElement()
        .extracting(UnfinishedSpan::attributes)
        .isEqualTo(Map.of("k0", "text", "k1", 7L));
  }

  @Test
  void threadThatWorksOnTheSpanNowIsNamed() throws InterruptedException {
    long handle = begin("handed over", 5);
    for (int i = 0; i < 50; i++) {
      Thread worker = new Thread(() -> spans.bind(handle), "worker-" + i);
      worker.start();
      worker.join();
      assertThat(only().thread()).isEqualTo("worker-" + i);
    }
    spans.bind(handle);
    int used = spans.used((int) (handle & 0xffff));
    spans.bind(handle);
    assertThat(only().thread()).isEqualTo(Thread.currentThread().getName());
    assertThat(spans.used((int) (handle & 0xffff))).isEqualTo(used);
  }

  @Test
  void threadThatHasDoneWithTheSpanIsNotNamedAnyMore() throws InterruptedException {
    long handle = begin("helped", 5);
    Thread helper =
        new Thread(
            () -> {
              assertThat(spans.bind(handle)).isTrue();
              assertThat(spans.bind(handle)).isFalse();
              assertThat(only().thread()).isEqualTo("helper");
              spans.unbind(handle);
            },
            "helper");
    helper.start();
    helper.join();
    assertThat(only().thread()).isEqualTo(Thread.currentThread().getName());

    Thread first = new Thread(() -> assertThat(spans.bind(handle)).isTrue(), "first");
    first.start();
    first.join();
    spans.unbind(handle); // this thread has not taken it over
    assertThat(only().thread()).isEqualTo("first");
  }

  @Test
  void handleIsFoundAgainByTheIdHoweverFullTheTableWas() {
    Map<Long, Long> handles = new HashMap<>();
    Random random = new Random(42);
    for (int round = 0; round < 2_000; round++) {
      long id = random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(64) * 16 + 1;
      if (handles.containsKey(id)) {
        continue;
      }
      long handle = begin("s", id);
      if (handle > 0) {
        handles.put(id, handle);
      } else {
        spans.closeById(id);
      }
      handles.forEach((k, v) -> assertThat(spans.find(k)).isEqualTo(v));
      assertThat(spans.find(id + (1L << 40))).isEqualTo(SpanTable.NONE);
      if (random.nextInt(16) < handles.size()) {
        long gone = new ArrayList<>(handles.keySet()).get(random.nextInt(handles.size()));
        spans.close(handles.remove(gone));
        assertThat(spans.find(gone)).isEqualTo(SpanTable.NONE);
      }
    }
    assertThat(open()).hasSize(handles.size());
  }

  @Test
  void spanWithoutASlotIsKeptInTheTrailUntilItsEndAndItsAttributesToo() {
    for (int i = 1; i <= 16; i++) {
      begin("filler", i);
    }
    long positive = begin("positive id", 77);
    long negative = begin("negative id", -77);
    assertThat(positive).isNegative();
    spans.set(positive, "k", SpanTable.INTEGER, 1, "");
    memory.box.setAttribute(negative, "k", List.of(2));

    assertThat(open())
        .filteredOn(span -> span.name().endsWith("id"))
        .extracting(UnfinishedSpan::spanId, UnfinishedSpan::attributes, UnfinishedSpan::traceId)
        .containsExactlyInAnyOrder(
            org.assertj.core.groups.Tuple.tuple(
                "000000000000004d", Map.of("k", 1L), "0af7651916cd43dd8448eb211c80319c"),
            org.assertj.core.groups.Tuple.tuple(
                "ffffffffffffffb3", Map.of("k", List.of(2L)), "0af7651916cd43dd8448eb211c80319c"));

    spans.close(positive);
    spans.closeById(-77);
    assertThat(open()).extracting(UnfinishedSpan::name).containsOnly("filler");
  }

  @Test
  void spansThatALapOfTheTrailHasOverwrittenAreSaidToBeMissing() {
    for (int i = 1; i <= 16; i++) {
      begin("filler", i);
    }
    begin("no slot", 77);
    memory.box.beat();
    assertThat(memory.report().verdict().headline()).contains("; 17 operations");
    assertThat(memory.report().findings()).isEmpty();

    for (int i = 0; i < 2_000; i++) {
      memory.box.breadcrumb(Level.INFO, "c", "lap", Map.of("i", i));
    }
    Report report = memory.report();
    assertThat(report.openSpans()).hasSize(16);
    assertThat(report.verdict().headline()).contains("; at least 16 operations");
    assertThat(report.toText()).contains("Open spans (at least 16)");
    assertThat(report.findings().toString()).contains("had no slot").contains("count=1");
  }

  @Test
  void closedHandleDoesNothingToTheNextSpanInItsSlot() {
    long stale = begin("first", 1);
    spans.close(stale);
    begin("second", 1);

    spans.set(stale, "k", SpanTable.INTEGER, 1, "");
    memory.box.setAttribute(stale, "k", List.of(1));
    memory.box.rename(stale, "stale");
    memory.box.status(stale, 2, "stale");
    spans.event(stale);
    spans.bind(stale);
    spans.close(stale);

    UnfinishedSpan span = only();
    assertThat(span.name()).isEqualTo("second");
    assertThat(span.attributes()).isEmpty();
    assertThat(span.status()).isNull();
    assertThat(span.events()).isZero();
  }

  @Test
  void breadcrumbAndSpanByNameBelongToTheSpanThatTheTracerNames() {
    AtomicLong current = new AtomicLong();
    spans.outside(current::get);
    begin("request", 5);
    current.set(5);

    memory.box.breadcrumb(Level.INFO, "c", "in the request", null);
    long inner = spans.begin("inner");
    memory.box.breadcrumb(Level.INFO, "c", "in the inner one", null);
    memory.clock.advanceMillis(1);
    begin("client", 6);
    current.set(6);
    memory.box.breadcrumb(Level.INFO, "c", "in the client", null);
    current.set(99);
    memory.box.breadcrumb(Level.INFO, "c", "of a span that is not recorded", null);
    spans.close(inner);
    memory.box.breadcrumb(Level.INFO, "c", "the same", null);

    Report report = memory.report();
    UnfinishedSpan request = report.openSpans().get(0);
    assertThat(request.spanId()).isEqualTo("0000000000000005");
    String innerId = report.trail().get(1).spanId();
    assertThat(report.trail())
        .extracting(cairn.report.Breadcrumb::spanId)
        .containsExactly(
            "0000000000000005", innerId, "0000000000000006", innerId, "0000000000000063");
  }

  @Test
  void spanByNameIsBelowTheTracersSpanAndInItsTrace() {
    spans.outside(() -> 5);
    begin("request", 5);
    spans.begin("inner");

    assertThat(open())
        .filteredOn(span -> span.name().equals("inner"))
        .singleElement()
        .satisfies(
            span -> {
              assertThat(span.parentSpanId()).isEqualTo("0000000000000005");
              assertThat(span.traceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
            });
  }

  @Test
  void changesFromTwoThreadsLoseNothingButWhatIsCounted() throws InterruptedException {
    long handle = begin("shared", 5);
    CountDownLatch go = new CountDownLatch(1);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 2; t++) {
      Thread thread =
          new Thread(
              () -> {
                try {
                  go.await();
                } catch (InterruptedException e) {
                  return;
                }
                for (int i = 0; i < 50_000; i++) {
                  spans.event(handle);
                }
              });
      thread.start();
      threads.add(thread);
    }
    go.countDown();
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(only().events() + memory.box.counters.get(CounterLayout.CUT)).isEqualTo(100_000);
  }

  @Test
  void recorderGivesThemAndAClosedOneRecordsNothing() throws IOException {
    Recorder recorder = Recorder.builder("handles").directory(root).open();
    OpenSpans open = recorder.openSpans();
    long handle = open.begin("job", HIGH, LOW, 5, 0, 0, 1, 0);
    open.set(handle, "text", "t");
    open.set(handle, "long", 1L);
    open.set(handle, "double", 0.5);
    open.set(handle, "boolean", true);
    open.set(handle, "list", List.of(1));
    open.set(handle, null, "x");
    open.set(handle, "null", (String) null);
    open.rename(handle, "renamed");
    open.status(handle, 2, "why");
    open.event(handle);
    open.bind(handle);
    open.breadcrumb(Level.WARNING, "c", "m", Map.of(), 5);
    long ended = open.begin("ended", HIGH, LOW, 6, 5, 0, 1, 0);
    open.end(open.find(6), 6);
    assertThat(open.isOpen(handle)).isTrue();
    assertThat(open.isOpen(ended)).isFalse();
    assertThat(open.begin("no id", HIGH, LOW, 0, 0, 0, 1, 0)).isEqualTo(OpenSpans.NONE);

    UnfinishedSpan span = Runs.under(root).iterator().next().report().openSpans().get(0);
    assertThat(span.attributes().keySet())
        .containsExactly("text", "long", "double", "boolean", "list");
    assertThat(span.name()).isEqualTo("renamed");

    recorder.close();
    open.event(handle);
    open.set(handle, "late", 1L);
    assertThat(open.begin("late", HIGH, LOW, 7, 0, 0, 1, 0)).isEqualTo(OpenSpans.NONE);
    assertThat(Recorder.builder("off").directory(root).open().openSpans()).isNotSameAs(open);
  }
}
