package cairn.otel;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import cairn.Recorder;
import cairn.otel.Pipeline.Maker;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What users reported of other tracers, on Cairn's. Each comment names the reports. */
@Timeout(60)
class OtelReportsTest {
  private static final int MANY = 20_000;

  @TempDir Path directory;

  private Recorder recorder;
  private CairnOpenTelemetry otel;
  private Tracer tracer;

  @BeforeEach
  void open() {
    recorder = Recorder.builder("reports").directory(directory).open();
    otel = CairnOpenTelemetry.builder(recorder).build();
    tracer = otel.getTracerProvider().get("reports");
  }

  @AfterEach
  void close() {
    otel.close();
    recorder.close();
  }

  private Report report() throws IOException {
    return Runs.under(directory).list().get(0).report();
  }

  private List<UnfinishedSpan> openSpans() throws IOException {
    return report().openSpans();
  }

  // opentelemetry-java 699, dd-trace-java 12053, opentelemetry-kotlin 899: the links of a snapshot
  // of an open span were the span's own list.
  @Test
  void aSnapshotOfAnOpenSpanStaysAsItIs() {
    Span span = tracer.spanBuilder("s").addLink(Traced.REMOTE).setAttribute("a", 1).startSpan();
    span.addEvent("e");
    SpanData data = Traced.dataOf(span);

    span.addLink(Traced.REMOTE).setAttribute("a", 2).addEvent("f").updateName("n");
    span.setStatus(StatusCode.ERROR, "why");

    assertThat(data.getLinks()).containsExactly(LinkData.create(Traced.REMOTE));
    assertThat(data.getTotalRecordedLinks()).isEqualTo(1);
    assertThat(data.getAttributes().asMap()).isEqualTo(Map.of(longKey("a"), 1L));
    assertThat(data.getEvents()).hasSize(1);
    assertThat(data.getName()).isEqualTo("s");
    assertThat(data.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
  }

  // opentelemetry-java 699: a snapshot read while another thread changes the span.
  @Test
  void aSnapshotIsReadWhileItsSpanGoesOn() throws Exception {
    Span span = tracer.spanBuilder("s").startSpan();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < MANY; i++) {
                span.addLink(Traced.REMOTE).addEvent("e").setAttribute("k" + i % 200, i);
              }
            });
    writer.start();
    while (writer.isAlive()) {
      try {
        SpanData data = Traced.dataOf(span);
        for (LinkData link : data.getLinks()) {
          assertThat(link).isNotNull();
        }
        assertThat(data.getLinks().size()).isLessThanOrEqualTo(data.getTotalRecordedLinks());
        assertThat(data.getEvents().size()).isLessThanOrEqualTo(data.getTotalRecordedEvents());
        data.getAttributes().forEach((key, value) -> assertThat(value).isInstanceOf(Long.class));
      } catch (RuntimeException | AssertionError e) {
        failures.add(e);
        break;
      }
    }
    writer.join();
    assertThat(failures).isEmpty();
  }

  // opentelemetry-java 8848, opentelemetry-python 5624: what a processor throws reached the
  // caller, and the other processors were not called.
  @Test
  void aProcessorThatThrowsIsFeltByNobody() {
    AtomicInteger after = new AtomicInteger();
    Traced traced =
        Traced.by(
            Maker.CAIRN,
            new OnStart(
                span -> {
                  throw new IllegalStateException("onStart");
                }),
            new OnEnd(
                span -> {
                  throw new NoClassDefFoundError("onEnd");
                }),
            new OnEnd(span -> after.incrementAndGet()));

    Span span = traced.root("s").startSpan();
    span.setAttribute("a", "x");
    span.end();

    assertThat(((ReadableSpan) span).hasEnded()).isTrue();
    assertThat(after).hasValue(1);
    assertThat(traced.started).hasSize(1);
    assertThat(traced.last().getAttributes().asMap()).isEqualTo(Map.of(Traced.A, "x"));
  }

  // opentelemetry-java: a throwing getMessage reached the caller of recordException.
  @Test
  void anExceptionThatCannotBeAskedIsRecordedWithoutItsMessage() {
    Span span = tracer.spanBuilder("s").startSpan();
    @SuppressWarnings("serial")
    Throwable hostile =
        new IllegalStateException() {
          @Override
          public String getMessage() {
            throw new UnsupportedOperationException("getMessage");
          }

          @Override
          public String toString() {
            throw new UnsupportedOperationException("toString");
          }
        };

    assertThatCode(() -> span.recordException(hostile)).doesNotThrowAnyException();

    span.setAttribute("a", 1);
    assertThat(Traced.dataOf(span).getAttributes().get(longKey("a"))).isEqualTo(1);
    assertThat(Traced.dataOf(span).getTotalRecordedEvents()).isEqualTo(1);
    assertThat(Traced.dataOf(span).getEvents().get(0).getName()).isEqualTo("exception");
  }

  // opentelemetry-java 4740: a cut in the middle of a surrogate pair. The span is cut as the SDK
  // does, in UTF-16 units; the box must not hold half a character.
  @Test
  void theBoxIsCutBetweenCharacters() throws IOException {
    for (int before = 0; before < 8; before++) {
      Span span = tracer.spanBuilder("s" + before).startSpan();
      span.setAttribute("text", "x".repeat(before) + "\ud83d\ude00".repeat(200));
    }
    assertThat(openSpans()).hasSize(8);
    for (UnfinishedSpan span : openSpans()) {
      String text = (String) span.attributes().get("text");
      assertThat(text).startsWith("x".repeat(Integer.parseInt(span.name().substring(1))));
      assertThat(text.replaceAll("[x\ud83d\ude00\u2026.]", "")).isEmpty();
      assertThat(text.codePoints().filter(c -> c == '?' || c == 0xfffd || c < 32).count()).isZero();
    }
  }

  // opentelemetry-java 7897: one name with two types was two attributes.
  @Test
  void oneNameIsOneAttributeInTheBoxToo() throws IOException {
    Span span = tracer.spanBuilder("s").setAttribute("a", "x").startSpan();
    span.setAttribute("a", 5L);
    assertThat(Traced.dataOf(span).getAttributes().asMap()).isEqualTo(Map.of(longKey("a"), 5L));
    assertThat(openSpans().get(0).attributes()).isEqualTo(Map.of("a", 5L));
  }

  // opentelemetry-java 1199: what a builder was given after startSpan got into the started span.
  // dd-trace-java 9537 and our own reuse: nor may it get into the next one.
  @Test
  void aBuilderReachesNeitherTheSpanItHasStartedNorTheNextOne() {
    SpanBuilder kept = tracer.spanBuilder("first").setNoParent().setAttribute("a", 1);
    Span first = kept.startSpan();
    kept.setAttribute("late", 1).addLink(Traced.REMOTE).setSpanKind(SpanKind.SERVER);
    Span next = tracer.spanBuilder("next").setNoParent().setAttribute("b", 2).startSpan();
    kept.setAttribute("later", 1);

    assertThat(Traced.dataOf(first).getAttributes().asMap()).isEqualTo(Map.of(longKey("a"), 1L));
    assertThat(Traced.dataOf(first).getLinks()).isEmpty();
    assertThat(Traced.dataOf(first).getKind()).isEqualTo(SpanKind.INTERNAL);
    assertThat(Traced.dataOf(next).getAttributes().asMap()).isEqualTo(Map.of(longKey("b"), 2L));
    assertThat(Traced.dataOf(next).getName()).isEqualTo("next");
    assertThat(Traced.dataOf(next).getKind()).isEqualTo(SpanKind.INTERNAL);
  }

  // opentelemetry-java 3421, 1198: attributes of the builder were lost, or not counted.
  @Test
  void attributesOfTheBuilderAreKeptAndCounted() {
    Span span = tracer.spanBuilder("s").setAttribute("a", 1).setAttribute("b", 2).startSpan();
    span.setAttribute("c", 3);
    assertThat(Traced.dataOf(span).getAttributes().size()).isEqualTo(3);
    assertThat(Traced.dataOf(span).getTotalAttributeCount()).isEqualTo(3);
  }

  // opentelemetry-java 6160, 5218, opentelemetry-java-instrumentation 14110: spans that had ended
  // just before the shutdown were not exported.
  @Test
  void closingExportsWhatHasEnded() {
    List<String> exported = Collections.synchronizedList(new ArrayList<>());
    CairnOpenTelemetry own =
        CairnOpenTelemetry.builder(recorder)
            .addSpanProcessor(
                BatchSpanProcessor.builder(new Names(exported))
                    .setScheduleDelay(1, TimeUnit.HOURS)
                    .build())
            .build();
    for (int i = 0; i < 100; i++) {
      own.getTracerProvider().get("t").spanBuilder("s" + i).startSpan().end();
    }
    own.close();
    assertThat(exported).hasSize(100);
  }

  // opentelemetry-java-instrumentation 2097, dd-trace-java 847, 437: spans that nobody ended
  // piled up until the heap was full.
  @Test
  void spansThatNobodyEndsFillNeitherTheHeapNorTheDisk() throws Exception {
    WeakReference<Span> first = startAndForget("first");
    long before = sizeOfRun();
    for (int i = 0; i < MANY; i++) {
      startAndForget("never ended " + i);
    }
    assertThat(isCollected(first)).isTrue();
    assertThat(sizeOfRun()).isEqualTo(before);
    assertThat(report().counters().get("spansOverflowed")).isPositive();
  }

  private WeakReference<Span> startAndForget(String name) {
    return new WeakReference<>(
        tracer.spanBuilder(name).setNoParent().setAttribute("k", name).startSpan());
  }

  private long sizeOfRun() throws IOException {
    try (java.util.stream.Stream<Path> files = Files.walk(directory)) {
      long size = 0;
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        size += Files.size(file);
      }
      return size;
    }
  }

  // opentelemetry-java 1074: a finalizer per span held the collector up.
  @Test
  void noClassOfTheTracerHasAFinalizerAndASpanIsGoneWithItsLastReference() throws Exception {
    Span span = tracer.spanBuilder("s").startSpan();
    for (Class<?> type = span.getClass(); type != Object.class; type = type.getSuperclass()) {
      assertThat(type.getDeclaredMethods()).noneMatch(m -> m.getName().equals("finalize"));
    }
    WeakReference<Span> ended = new WeakReference<>(span);
    span.end();
    span = null;
    assertThat(isCollected(ended)).isTrue();
  }

  // dd-trace-java 1419: every span kept its predecessor, and a chain of them the whole heap.
  @Test
  void aChildDoesNotKeepItsParentAlive() throws Exception {
    Span last = tracer.spanBuilder("root").setNoParent().startSpan();
    WeakReference<Span> root = new WeakReference<>(last);
    for (int i = 0; i < 100; i++) {
      Span child = tracer.spanBuilder("child").setParent(Context.root().with(last)).startSpan();
      last.end();
      last = child;
    }
    assertThat(isCollected(root)).isTrue();
    assertThat(Traced.dataOf(last).getParentSpanContext().isValid()).isTrue();
  }

  // opentelemetry-java-instrumentation 12305: huge attributes stayed in the heap.
  @Test
  void aHugeAttributeIsGoneWithItsSpan() throws Exception {
    CairnOpenTelemetry processed =
        CairnOpenTelemetry.builder(recorder)
            .addSpanProcessor(new OnEnd(ReadableSpan::toSpanData))
            .build();
    for (CairnOpenTelemetry each : List.of(otel, processed)) {
      WeakReference<String> huge = setHuge(each.getTracerProvider().get("huge"));
      assertThat(isCollected(huge)).isTrue();
    }
  }

  private static WeakReference<String> setHuge(Tracer tracer) {
    String huge = "x".repeat(1 << 20);
    SpanBuilder builder = tracer.spanBuilder("s").setAttribute("early", huge);
    Span span = builder.startSpan();
    for (int i = 0; i < 1_000; i++) {
      span.setAttribute("k" + i, huge);
    }
    span.addEvent("e", Attributes.of(stringKey("a"), huge));
    span.end();
    return new WeakReference<>(huge);
  }

  // dd-trace-java 9537: a ledger that had grown for one span slowed down each later one.
  @Test
  void whatOneSpanNeededIsNotAllocatedForTheNext() {
    com.sun.management.ThreadMXBean threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    for (int i = 0; i < 20_000; i++) {
      tracer.spanBuilder("s").setNoParent().setAttribute("a", "x").startSpan().end();
    }
    long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    for (int i = 0; i < 1_000; i++) {
      tracer.spanBuilder("s").setNoParent().setAttribute("a", "x").startSpan().end();
    }
    long small = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    Span huge = tracer.spanBuilder("huge").setNoParent().startSpan();
    for (int i = 0; i < 1_000; i++) {
      huge.setAttribute("k" + i, i);
    }
    huge.end();
    before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
    for (int i = 0; i < 1_000; i++) {
      tracer.spanBuilder("s").setNoParent().setAttribute("a", "x").startSpan().end();
    }
    long later = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
    assertThat(later).isLessThan(small + small / 4 + 10_000);
  }

  // dd-trace-java 9232, 12348, opentelemetry-java 7103: drops that nobody could see.
  @Test
  void inABurstEverySpanIsInTheReportAndThoseWithoutASlotAreCounted() throws IOException {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      spans.add(tracer.spanBuilder("s" + i).setNoParent().startSpan());
    }
    assertThat(report().counters().get("spansOverflowed")).isBetween(1_000L, 3_000L);
    assertThat(openSpans()).hasSize(3_000);
    spans.forEach(Span::end);
    assertThat(openSpans()).isEmpty();
  }

  // dd-trace-java 1721: the same key from two sources was counted twice, and the record unreadable.
  @Test
  void aKeyFromSeveralSourcesIsReadOnce() throws IOException {
    recorder.scope().tag("k", "scope");
    Span span =
        tracer.spanBuilder("s").setAttribute("k", "builder").setAttribute("k", 2).startSpan();
    span.setAttribute("k", "span");
    span.setAllAttributes(Attributes.of(stringKey("k"), "all"));
    assertThat(openSpans()).singleElement();
    assertThat(openSpans().get(0).attributes()).isEqualTo(Map.of("k", "all"));
    assertThat(report().scope().tags()).isEqualTo(Map.of("k", "scope"));
  }

  // dd-trace-java 11917: a cache looked up and read in two steps gave another key's bytes.
  @Test
  void keysFromACacheThatIsTooSmallAreStillTheRightOnes() throws Exception {
    CairnOpenTelemetry own = CairnOpenTelemetry.builder(recorder).keyCacheSize(8).build();
    Tracer cached = own.getTracerProvider().get("cached");
    int threads = 4;
    CyclicBarrier barrier = new CyclicBarrier(threads);
    List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int first = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  barrier.await();
                } catch (Exception e) {
                  wrong.add(e.toString());
                }
                for (int i = 0; i < MANY && wrong.isEmpty(); i++) {
                  String key = "key" + (first * 7 + i) % 50;
                  Span span =
                      cached.spanBuilder("s").setNoParent().setAttribute(key, i).startSpan();
                  span.setAttribute(new String(key), "text").setAttribute(key, (long) i);
                  Attributes seen = Traced.dataOf(span).getAttributes();
                  if (!seen.asMap().equals(Map.of(longKey(key), (long) i))) {
                    wrong.add(key + " " + seen.asMap());
                  }
                  span.end();
                }
              });
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) {
      thread.join();
    }
    assertThat(wrong).isEmpty();
  }

  // dd-trace-java 4430: a buffer overflow at certain lengths.
  @Test
  void textsOfEveryLengthAreReadAsTheyWereOrCut() throws IOException {
    for (int length = 0;
        length < 700;
        length += length < 40 || length > 220 && length < 290 ? 1 : 7) {
      String text = "y".repeat(length);
      Span span = tracer.spanBuilder("n" + text).setNoParent().setAttribute("k", text).startSpan();
      UnfinishedSpan seen = openSpans().get(0);
      assertThat("n" + text).as("length=" + length).startsWith(stripped(seen.name()));
      if (length <= 256) {
        assertThat(seen.attributes()).isEqualTo(Map.of("k", text));
      } else {
        assertThat(text).startsWith(stripped((String) seen.attributes().get("k")));
      }
      span.end();
    }
  }

  /** Without the mark of a cut. */
  private static String stripped(String text) {
    return text.replaceAll("(\u2026|\\.\\.\\.)$", "");
  }

  // dd-trace-java 3422: two threads set tags on one builder. What comes of that builder is
  // undefined; what comes of others isn't.
  @Test
  void twoThreadsOnOneBuilderHarmNoOtherSpan() throws Exception {
    List<String> wrong = Collections.synchronizedList(new ArrayList<>());
    for (int round = 0; round < 500; round++) {
      SpanBuilder disputed = tracer.spanBuilder("disputed").setNoParent();
      Thread other =
          new Thread(
              () -> {
                for (int i = 0; i < 50; i++) {
                  disputed.setAttribute("x" + i, i);
                }
              });
      other.start();
      for (int i = 0; i < 50; i++) {
        disputed.setAttribute("y" + i, i);
        Span own = tracer.spanBuilder("own").setNoParent().setAttribute("z", i).startSpan();
        if (!Traced.dataOf(own).getAttributes().asMap().equals(Map.of(longKey("z"), (long) i))) {
          wrong.add(Traced.dataOf(own).getAttributes().toString());
        }
        own.end();
      }
      other.join();
      disputed.startSpan().end();
    }
    assertThat(wrong).isEmpty();
    assertThat(openSpans()).isEmpty();
  }

  // dd-trace-java 5644: setParent(Context.root()) made a child of the active span.
  @Test
  void theRootContextAsParentMakesARoot() throws IOException {
    Span active = tracer.spanBuilder("active").setNoParent().startSpan();
    try (Scope ignored = active.makeCurrent()) {
      for (Context parent : List.of(Context.root(), Context.root().with(Span.getInvalid()))) {
        Span span = tracer.spanBuilder("root").setParent(parent).startSpan();
        assertThat(Traced.dataOf(span).getParentSpanContext()).isEqualTo(SpanContext.getInvalid());
      }
    }
    for (UnfinishedSpan span : openSpans()) {
      assertThat(span.parentSpanId()).isNull();
      assertThat(span.traceId()).isNotNull();
    }
  }

  // dd-trace-java 12233: an overflow of the stack inside the tracer left it unusable.
  @Test
  void afterAStackOverflowInsideACallTheSpanAndTheTracerStillWork() throws Exception {
    // Interpreted, compiled and in between, frames have other sizes, and the stack ends elsewhere.
    for (int round = 0; round < 20; round++) {
      for (int i = 0; i < MANY / 10; i++) {
        Span warm = tracer.spanBuilder("deep").setNoParent().setAttribute("d", i).startSpan();
        warm.setAttribute("deep", i).addEvent("deep").end();
      }
      Span span = tracer.spanBuilder("s").startSpan();
      Thread deep = new Thread(null, () -> overflowOften(span), "deep", (200L + 7 * round) << 10);
      deep.start();
      deep.join();
      AtomicInteger done = new AtomicInteger();
      Thread after = new Thread(() -> useAfter(span, done));
      after.setDaemon(true);
      after.start();
      after.join(10_000);
      assertThat(done).as("round " + round + ": " + List.of(after.getStackTrace())).hasValue(1);
      assertThat(Traced.dataOf(span).getName()).isEqualTo("after");
      span.end();
      assertThat(((ReadableSpan) span).hasEnded()).isTrue();
    }
  }

  private void useAfter(Span span, AtomicInteger done) {
    span.setAttribute("after", 1).updateName("after").addEvent("after");
    Span next = tracer.spanBuilder("next").setNoParent().setAttribute("n", 1).startSpan();
    Map<?, ?> seen = Traced.dataOf(next).getAttributes().asMap();
    next.end();
    done.set(seen.equals(Map.of(longKey("n"), 1L)) ? 1 : -1);
  }

  private void overflowOften(Span span) {
    for (int i = 0; i < 50; i++) {
      overflow(span, i);
    }
  }

  private int overflow(Span span, int salt) {
    try {
      return overflow(span, salt + 1) + 1;
    } catch (StackOverflowError e) {
      // At the end of the stack, in each frame of it that has come back until one has room.
      try {
        span.setAttribute("deep", salt);
        span.addEvent("deep");
        tracer.spanBuilder("deep").setNoParent().setAttribute("d", salt).startSpan().end();
      } catch (StackOverflowError again) {
        // The next frame has more room.
        return 0;
      }
      return 0;
    }
  }

  // opentelemetry-java, its own tests of bad arguments: none may throw, on any kind of span.
  @Test
  void noCallThrowsWhateverItIsGiven() {
    Span ended = tracer.spanBuilder("ended").startSpan();
    ended.end();
    Traced dropping =
        Traced.by(Maker.CAIRN, io.opentelemetry.sdk.trace.samplers.Sampler.alwaysOff());
    Traced shut = Traced.by(Maker.CAIRN);
    shut.pipeline.shutdown();
    for (Span span :
        List.of(
            tracer.spanBuilder(null).startSpan(),
            ended,
            dropping.root("dropped").startSpan(),
            shut.root("after shutdown").startSpan())) {
      assertThatCode(() -> badCalls(span)).doesNotThrowAnyException();
    }
    for (Tracer each : List.of(tracer, dropping.tracer, shut.tracer)) {
      assertThatCode(() -> badCalls(each.spanBuilder(null))).doesNotThrowAnyException();
    }
    assertThatCode(() -> otel.getTracerProvider().get(null, null).spanBuilder("s").startSpan())
        .doesNotThrowAnyException();
    assertThatCode(
            () ->
                otel.getTracerProvider()
                    .tracerBuilder(null)
                    .setInstrumentationVersion(null)
                    .setSchemaUrl(null)
                    .build())
        .doesNotThrowAnyException();
  }

  private static void badCalls(Span span) {
    span.setAttribute((String) null, (String) null);
    span.setAttribute((String) null, 1L).setAttribute((String) null, 1.0);
    span.setAttribute((String) null, true).setAttribute("", "x").setAttribute("k", (String) null);
    span.setAttribute((io.opentelemetry.api.common.AttributeKey<String>) null, null);
    span.setAttribute(longKey(null), 1L);
    span.setAttribute(stringKey("k"), null);
    span.setAllAttributes(null);
    span.addEvent(null).addEvent(null, 1, null).addEvent("e", 1, null);
    span.addEvent(null, (Attributes) null).addEvent("e", (Attributes) null);
    span.addEvent(null, null, 1, null).addEvent("e", null, -1, TimeUnit.DAYS);
    span.addLink(null).addLink(null, null).addLink(SpanContext.getInvalid(), null);
    span.setStatus(null).setStatus(null, null).setStatus(StatusCode.ERROR, null);
    span.recordException(null).recordException(null, null);
    span.recordException(new IllegalStateException(), null);
    span.updateName(null);
    span.end(-1, null);
    span.end(Long.MIN_VALUE, TimeUnit.DAYS);
  }

  private static void badCalls(SpanBuilder builder) {
    builder.setParent(null).addLink(null).addLink(null, null).setSpanKind(null);
    builder.setAttribute((String) null, (String) null).setAttribute("", 1L);
    builder.setAttribute((String) null, 1.0).setAttribute((String) null, true);
    builder.setAttribute((io.opentelemetry.api.common.AttributeKey<String>) null, null);
    builder.setAttribute(longKey(null), 1L).setAttribute(stringKey("k"), null);
    builder.setAllAttributes(null).setStartTimestamp(-1, null).setStartTimestamp(null);
    builder.setStartTimestamp(Long.MAX_VALUE, TimeUnit.DAYS);
    builder.startSpan().end();
  }

  // Limits of 0: none of the kind.
  @Test
  void limitsOfZeroKeepNothingAndCountAll() {
    Traced traced =
        Traced.by(
            Maker.CAIRN,
            SpanLimits.builder()
                .setMaxNumberOfAttributes(0)
                .setMaxNumberOfEvents(0)
                .setMaxNumberOfLinks(0)
                .setMaxAttributeValueLength(0)
                .build());
    Span span = traced.root("s").setAttribute("a", "x").addLink(Traced.REMOTE).startSpan();
    span.setAttribute("b", "x").addEvent("e");
    span.end();
    assertThat(traced.last().getAttributes().isEmpty()).isTrue();
    assertThat(traced.last().getEvents()).isEmpty();
    assertThat(traced.last().getLinks()).isEmpty();
    assertThat(traced.last().getTotalAttributeCount()).isEqualTo(2);
    assertThat(traced.last().getTotalRecordedEvents()).isEqualTo(1);
    assertThat(traced.last().getTotalRecordedLinks()).isEqualTo(1);
  }

  /** {@return whether it goes when the collector runs} */
  private static boolean isCollected(WeakReference<?> reference) {
    for (int i = 0; i < 50 && reference.get() != null; i++) {
      System.gc();
    }
    return reference.get() == null;
  }

  private record Names(List<String> names) implements SpanExporter {
    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      spans.forEach(span -> names.add(span.getName()));
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
