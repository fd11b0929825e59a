package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.within;

import cairn.Recorder;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.AttributeType;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.testing.time.TestClock;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.ExceptionEventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.internal.ExtendedSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Path;
import java.time.Instant;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CairnSpanTest {
  private static final AttributeKey<String> TEXT = AttributeKey.stringKey("text");
  private static final AttributeKey<Long> NUMBER = AttributeKey.longKey("number");
  private static final AttributeKey<List<String>> TEXTS = AttributeKey.stringArrayKey("texts");

  @TempDir Path root;

  private final Spans.Collecting processor = new Spans.Collecting();
  private final TestClock clock = TestClock.create(Instant.ofEpochSecond(1_700_000_000L));
  private final CairnOpenTelemetry otel = plain().build();
  private final CairnTracer tracer = otel.getTracer("scope", "1.0");

  private CairnOpenTelemetry.Builder plain() {
    return CairnOpenTelemetry.builder(Spans.disabled()).addSpanProcessor(processor).clock(clock);
  }

  private CairnOpenTelemetry withBox(Recorder recorder) {
    return CairnOpenTelemetry.builder(recorder).addSpanProcessor(processor).build();
  }

  private Recorder open() {
    Recorder recorder = Recorder.builder("spans").directory(root).open();
    assertThat(recorder.isEnabled()).isTrue();
    return recorder;
  }

  // ---- the box

  @Test
  void openSpanIsInTheBoxWithAllThatWasSetAndGoneAtItsEnd() throws IOException {
    try (Recorder recorder = open()) {
      CairnTracer tracer = withBox(recorder).getTracer("t");
      Span span =
          tracer
              .spanBuilder("GET")
              .setSpanKind(SpanKind.SERVER)
              .setAttribute(TEXT, "on the builder")
              .setAttribute("flag", true)
              .startSpan();
      span.setAttribute(NUMBER, 17);
      span.setAttribute("ratio", 0.5);
      span.setAttribute(TEXTS, List.of("a", "b"));
      span.setAttribute(TEXT, "on the span");
      span.updateName("GET /orders");
      span.setStatus(StatusCode.ERROR, "broken");
      span.addEvent("one");
      span.recordException(new IllegalStateException("two"));

      UnfinishedSpan open = only(Spans.inBox(root));
      assertThat(open.name()).isEqualTo("GET /orders");
      assertThat(open.spanId()).isEqualTo(span.getSpanContext().getSpanId());
      assertThat(open.traceId()).isEqualTo(span.getSpanContext().getTraceId());
      assertThat(open.parentSpanId()).isNull();
      assertThat(open.kind()).isEqualTo("SERVER");
      assertThat(open.traceFlags()).isEqualTo(3);
      assertThat(open.status()).isEqualTo("ERROR");
      assertThat(open.statusDescription()).isEqualTo("broken");
      assertThat(open.events()).isEqualTo(2);
      assertThat(open.attributes())
          .isEqualTo(
              Map.of(
                  "text",
                  "on the span",
                  "flag",
                  true,
                  "number",
                  17L,
                  "ratio",
                  0.5,
                  "texts",
                  List.of("a", "b")));

      span.end();
      span.setAttribute(TEXT, "late");
      assertThat(Spans.inBox(root)).isEmpty();
    }
  }

  @Test
  void attributesOfAnyTypeReachTheBoxAsTheyReachTheExporter() throws IOException {
    try (Recorder recorder = open()) {
      Span span = withBox(recorder).getTracer("t").spanBuilder("span").startSpan();
      span.setAttribute(AttributeKey.longKey("long"), 1L << 40);
      span.setAttribute(AttributeKey.doubleKey("double"), 2.5);
      span.setAttribute(AttributeKey.booleanKey("boolean"), false);
      span.setAttribute(AttributeKey.longArrayKey("longs"), List.of(1L, 2L));

      assertThat(only(Spans.inBox(root)).attributes())
          .isEqualTo(
              Map.of("long", 1L << 40, "double", 2.5, "boolean", false, "longs", List.of(1L, 2L)));
      span.end();
    }
  }

  @Test
  void attributeOverTheLimitIsNeitherInTheSpanNorInTheBox() throws IOException {
    try (Recorder recorder = open()) {
      CairnOpenTelemetry limited =
          CairnOpenTelemetry.builder(recorder)
              .addSpanProcessor(processor)
              .spanLimits(SpanLimits.builder().setMaxNumberOfAttributes(1).build())
              .build();
      Span span = limited.getTracer("t").spanBuilder("span").startSpan();
      span.setAttribute(TEXT, "first").setAttribute(NUMBER, 2).setAttribute(TEXT, "again");

      assertThat(only(Spans.inBox(root)).attributes()).isEqualTo(Map.of("text", "again"));
      span.end();
      assertThat(processor.only().getAttributes()).isEqualTo(Attributes.of(TEXT, "again"));
      assertThat(processor.only().getTotalAttributeCount()).isEqualTo(2);
    }
  }

  @Test
  void unsampledSpanIsInTheBoxWithWhatIsSetAndNoProcessorSeesIt() throws IOException {
    try (Recorder recorder = open()) {
      CairnOpenTelemetry off =
          CairnOpenTelemetry.builder(recorder)
              .addSpanProcessor(processor)
              .sampler(Sampler.alwaysOff())
              .build();
      Span span =
          off.getTracer("t").spanBuilder("dropped").setAttribute(TEXT, "before").startSpan();
      span.setAttribute(NUMBER, 5).setAttribute("name", "value").updateName("renamed");
      span.setAttribute(TEXTS, List.of("a"));
      span.setStatus(StatusCode.OK);
      span.recordException(new IllegalStateException("x"));

      assertThat(span.isRecording()).isFalse();
      assertThat(span.getSpanContext().isSampled()).isFalse();
      assertThat(span.getSpanContext().isValid()).isTrue();
      UnfinishedSpan open = only(Spans.inBox(root));
      assertThat(open.name()).isEqualTo("renamed");
      assertThat(open.status()).isEqualTo("OK");
      assertThat(open.events()).isEqualTo(1);
      assertThat(open.attributes())
          .isEqualTo(
              Map.of("text", "before", "number", 5L, "name", "value", "texts", List.of("a")));

      Span child =
          off.getTracer("t").spanBuilder("child").setParent(Context.root().with(span)).startSpan();
      assertThat(child.getSpanContext().getTraceId()).isEqualTo(span.getSpanContext().getTraceId());
      child.end();
      span.end();
      span.end();
      span.setAttribute(NUMBER, 6);
      assertThat(Spans.inBox(root)).isEmpty();
      assertThat(processor.started).isEmpty();
    }
  }

  @Test
  void breadcrumbsCarryTheSpanThatIsCurrentAndAnExceptionItsOwn() throws IOException {
    try (Recorder recorder = open()) {
      CairnTracer tracer = withBox(recorder).getTracer("t");
      Span span = tracer.spanBuilder("span").startSpan();
      Span other = tracer.spanBuilder("other").startSpan();
      try (Scope scope = span.makeCurrent()) {
        recorder.breadcrumb(cairn.Level.INFO, "test", "in the span");
        other.recordException(new IllegalStateException("of the other"));
      }
      recorder.breadcrumb(cairn.Level.INFO, "test", "outside");

      List<cairn.report.Breadcrumb> trail =
          cairn.report.Runs.under(root).iterator().next().report().trail();
      assertThat(trail).hasSize(3);
      assertThat(trail.get(0).spanId()).isEqualTo(span.getSpanContext().getSpanId());
      assertThat(trail.get(1).spanId()).isEqualTo(other.getSpanContext().getSpanId());
      assertThat(trail.get(1).category()).isEqualTo("exception");
      assertThat(trail.get(1).message()).isEqualTo("java.lang.IllegalStateException: of the other");
      assertThat(trail.get(2).spanId()).isNull();
      span.end();
      other.end();
    }
  }

  @Test
  @Timeout(20)
  void spanMadeCurrentOnAnotherThreadIsThatThreadsInTheBox() throws Exception {
    try (Recorder recorder = open()) {
      Span span = withBox(recorder).getTracer("t").spanBuilder("span").startSpan();
      AtomicReference<String> during = new AtomicReference<>();
      Thread worker =
          new Thread(
              () -> {
                try (Scope scope = span.makeCurrent()) {
                  during.set(Span.current() == span ? only(Spans.inBox(root)).thread() : null);
                } catch (IOException e) {
                  during.set(e.toString());
                }
              },
              "worker of this test");
      worker.start();
      worker.join();

      assertThat(during).hasValue("worker of this test");
      // It has done with the span, which this thread began.
      assertThat(only(Spans.inBox(root)).thread()).isEqualTo(Thread.currentThread().getName());
      span.end();
    }
  }

  @Test
  void withoutRecorderAndProcessorTracersAreOffAndPassTheParentOn() {
    CairnOpenTelemetry nothing = CairnOpenTelemetry.builder(Spans.disabled()).build();
    SpanContext remote = remote(TraceState.getDefault());

    Span span =
        nothing
            .getTracer("t")
            .spanBuilder("span")
            .setParent(Context.root().with(Span.wrap(remote)))
            .startSpan();

    assertThat(((RecordingTracer) nothing.getTracer("t")).isEnabled()).isFalse();
    assertThat(span.isRecording()).isFalse();
    assertThat(span.getSpanContext()).isEqualTo(remote);
  }

  @Test
  void recorderAloneMakesTracersEnabled() {
    try (Recorder recorder = open()) {
      RecordingTracer tracer =
          (RecordingTracer) CairnOpenTelemetry.builder(recorder).build().getTracer("t");
      assertThat(tracer.isEnabled()).isTrue();
      recorder.close();
      assertThat(tracer.isEnabled()).isFalse();
    }
  }

  // ---- attributes

  @Test
  void nameDecidesAndTheLastTypeWinsInThePlaceOfTheFirst() {
    Span span = tracer.spanBuilder("span").startSpan();
    span.setAttribute("b", "text");
    span.setAttribute("a", 1);
    span.setAttribute("b", 2.0);
    span.end();

    List<String> order = new ArrayList<>();
    processor.only().getAttributes().forEach((key, value) -> order.add(key + "=" + value));
    assertThat(order).containsExactly("b=2.0", "a=1");
    assertThat(processor.only().getTotalAttributeCount()).isEqualTo(2);
    ReadableSpan read = processor.ended.get(0);
    assertThat(read.getAttribute(AttributeKey.stringKey("b"))).isNull();
    assertThat(read.getAttribute(AttributeKey.doubleKey("b"))).isEqualTo(2.0);
  }

  @Test
  @SuppressWarnings("NullAway")
  void badArgumentsAreIgnored() {
    Span span =
        tracer
            .spanBuilder(null)
            .setParent(null)
            .setSpanKind(null)
            .addLink(null)
            .addLink(null, null)
            .setStartTimestamp(-1, TimeUnit.SECONDS)
            .setStartTimestamp(1, null)
            .setAttribute((String) null, "v")
            .setAttribute("", "v")
            .setAttribute("k", (String) null)
            .setAttribute((AttributeKey<String>) null, "v")
            .setAttribute(TEXT, null)
            .setAttribute((String) null, 1L)
            .setAttribute((String) null, 1.0)
            .setAttribute((String) null, true)
            .startSpan();
    span.setAttribute((String) null, "v")
        .setAttribute("", 1)
        .setAttribute("", 1.0)
        .setAttribute("", true)
        .setAttribute((AttributeKey<Long>) null, 5)
        .setAttribute((AttributeKey<String>) null, "v")
        .setAttribute(TEXT, null);
    span.addEvent(null)
        .addEvent(null, Attributes.empty())
        .addEvent("e", 1, (TimeUnit) null)
        .addEvent("e", Attributes.empty(), 1, null)
        .addEvent(null, 1, TimeUnit.SECONDS);
    span.setStatus(null).setStatus(null, "x").updateName(null);
    span.recordException(null).recordException(null, null).addLink(null).addLink(null, null);
    assertThat(((ReadableSpan) span).<String>getAttribute(null)).isNull();
    span.end();

    SpanData data = processor.only();
    assertThat(data.getName()).isEqualTo("<unspecified span name>");
    assertThat(data.getAttributes().isEmpty()).isTrue();
    assertThat(data.getTotalAttributeCount()).isZero();
    assertThat(data.getEvents()).isEmpty();
    assertThat(data.getLinks()).isEmpty();
    assertThat(data.getStatus()).isEqualTo(StatusData.unset());
    assertThat(data.getKind()).isEqualTo(SpanKind.INTERNAL);
  }

  @Test
  void textsAreCutToTheLimitInListsTooAndNeverWithinASurrogatePair() {
    Span span =
        limited(SpanLimits.builder().setMaxAttributeValueLength(3).build())
            .spanBuilder("span")
            .startSpan();
    span.setAttribute(TEXT, "abcdef");
    span.setAttribute("pair", "ab\uD83E\uDDC0");
    span.setAttribute(TEXTS, List.of("abcdef", "ab"));
    span.addEvent("event", Attributes.of(TEXT, "abcdef"));
    span.addLink(remote(TraceState.getDefault()), Attributes.of(TEXT, "abcdef"));
    span.end();

    SpanData data = processor.only();
    assertThat(data.getAttributes().get(TEXT)).isEqualTo("abc");
    assertThat(data.getAttributes().get(AttributeKey.stringKey("pair"))).isEqualTo("ab");
    assertThat(data.getAttributes().get(TEXTS)).containsExactly("abc", "ab");
    assertThat(data.getEvents().get(0).getAttributes().get(TEXT)).isEqualTo("abc");
    assertThat(data.getLinks().get(0).getAttributes().get(TEXT)).isEqualTo("abc");
  }

  private CairnTracer limited(SpanLimits limits) {
    return plain().spanLimits(limits).build().getTracer("t");
  }

  @Test
  void eventsLinksAndTheirAttributesAreLimitedAndCounted() {
    CairnTracer limited =
        limited(
            SpanLimits.builder()
                .setMaxNumberOfEvents(1)
                .setMaxNumberOfLinks(2)
                .setMaxNumberOfAttributesPerEvent(1)
                .setMaxNumberOfAttributesPerLink(1)
                .build());
    Attributes two = Attributes.of(NUMBER, 1L, TEXT, "x");
    Span span =
        limited.spanBuilder("span").addLink(remote(TraceState.getDefault()), two).startSpan();
    span.addLink(remote(TraceState.getDefault())).addLink(remote(TraceState.getDefault()));
    span.addEvent("one", two).addEvent("two");
    span.end();

    SpanData data = processor.only();
    assertThat(data.getLinks()).hasSize(2);
    assertThat(data.getTotalRecordedLinks()).isEqualTo(3);
    assertThat(data.getLinks().get(0).getAttributes().size()).isEqualTo(1);
    assertThat(data.getLinks().get(0).getTotalAttributeCount()).isEqualTo(2);
    assertThat(data.getEvents()).hasSize(1);
    assertThat(data.getTotalRecordedEvents()).isEqualTo(2);
    assertThat(data.getEvents().get(0).getAttributes().size()).isEqualTo(1);
    assertThat(data.getEvents().get(0).getTotalAttributeCount()).isEqualTo(2);
  }

  @Test
  void valueAndKeyWhoseCodeThrowsCostThatAttributeOnly() {
    Span span = tracer.spanBuilder("span").startSpan();
    List<String> throwing =
        new AbstractList<>() {
          @Override
          public String get(int index) {
            throw new IllegalStateException("element");
          }

          @Override
          public int size() {
            return 3;
          }
        };
    AttributeKey<String> throwingKey =
        new AttributeKey<>() {
          @Override
          public String getKey() {
            throw new IllegalStateException("key");
          }

          @Override
          public AttributeType getType() {
            return AttributeType.STRING;
          }
        };
    span.setAttribute(TEXTS, throwing);
    span.setAttribute(throwingKey, "value");
    span.setAttribute(TEXT, "kept");
    span.end();

    assertThat(processor.only().getAttributes()).isEqualTo(Attributes.of(TEXT, "kept"));
    assertThat(otel.tracing().faults.count()).isEqualTo(2);
  }

  // ---- events and exceptions

  @Test
  void exceptionIsAnEventWithTypeMessageAndStackAndWhatIsAddedWins() {
    Span span = tracer.spanBuilder("span").startSpan();
    IllegalStateException thrown = new IllegalStateException("why");
    span.recordException(
        thrown, Attributes.of(AttributeKey.stringKey("exception.message"), "better", NUMBER, 1L));
    span.end();

    ExceptionEventData event = (ExceptionEventData) processor.only().getEvents().get(0);
    assertThat(event.getName()).isEqualTo("exception");
    assertThat(event.getException()).isSameAs(thrown);
    assertThat(event.getTotalAttributeCount()).isEqualTo(4);
    assertThat(event.getAttributes().size()).isEqualTo(4);
    assertThat(event.getAttributes().get(AttributeKey.stringKey("exception.type")))
        .isEqualTo("java.lang.IllegalStateException");
    assertThat(event.getAttributes().get(AttributeKey.stringKey("exception.message")))
        .isEqualTo("better");
    assertThat(event.getAttributes().get(AttributeKey.stringKey("exception.stacktrace")))
        .startsWith("java.lang.IllegalStateException: why")
        .contains("CairnSpanTest");
  }

  @Test
  void exceptionWhoseMethodsThrowIsRecordedWithWhatIsLeft() {
    Span span = tracer.spanBuilder("span").startSpan();
    RuntimeException hostile =
        new RuntimeException() {
          private static final long serialVersionUID = 1;

          @Override
          public String getMessage() {
            throw new IllegalStateException("message");
          }
        };

    assertThatCode(() -> span.recordException(hostile)).doesNotThrowAnyException();
    span.end();

    Attributes attributes = processor.only().getEvents().get(0).getAttributes();
    assertThat(attributes.get(AttributeKey.stringKey("exception.type"))).isNull();
    assertThat(attributes.get(AttributeKey.stringKey("exception.message"))).isNull();
    assertThat(attributes.get(AttributeKey.stringKey("exception.stacktrace")))
        .contains(hostile.getClass().getName())
        .contains("\tat ");
  }

  // ---- time

  @Test
  void childrenTakeTheirClockFromTheirLocalRoot() {
    Span parent = tracer.spanBuilder("parent").startSpan();
    clock.advance(java.time.Duration.ofSeconds(1));
    Span child = tracer.spanBuilder("child").setParent(Context.root().with(parent)).startSpan();
    child.addEvent("event");
    clock.advance(java.time.Duration.ofSeconds(1));
    assertThat(((ReadableSpan) child).getLatencyNanos()).isEqualTo(1_000_000_000L);
    child.end();
    clock.advance(java.time.Duration.ofSeconds(1));
    parent.end();

    SpanData of = processor.data().get(0);
    SpanData above = processor.data().get(1);
    assertThat(of.getStartEpochNanos() - above.getStartEpochNanos()).isEqualTo(1_000_000_000L);
    assertThat(of.getEvents().get(0).getEpochNanos()).isEqualTo(of.getStartEpochNanos());
    assertThat(above.getEndEpochNanos() - of.getEndEpochNanos()).isEqualTo(1_000_000_000L);
    assertThat(((ReadableSpan) child).getLatencyNanos()).isEqualTo(1_000_000_000L);
  }

  @Test
  void systemClockOfARootIsRightToTenMilliseconds() {
    CairnTracer system =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(processor)
            .build()
            .getTracer("t");
    for (int i = 0; i < 100; i++) {
      long before = Clock.getDefault().now();
      system.spanBuilder("span").startSpan().end();
      long after = Clock.getDefault().now();
      SpanData span = processor.data().get(i);
      assertThat(span.getStartEpochNanos()).isBetween(before - 10_000_000, after + 10_000_000);
      assertThat(span.getEndEpochNanos()).isGreaterThanOrEqualTo(span.getStartEpochNanos());
    }
  }

  @Test
  void relationOfTheSystemClocksIsReadAgainAfterTenMilliseconds() {
    Tracing system = CairnOpenTelemetry.builder(Spans.disabled()).build().tracing();
    long nanos = System.nanoTime();
    long anchor = system.anchorAt(nanos);
    long later = nanos + 11_000_000;

    assertThat(system.anchorAt(nanos + 9_000_000)).isEqualTo(anchor);
    assertThat(system.anchorAt(later)).isNotEqualTo(anchor);
    assertThat(system.anchorAt(later) + later)
        .isCloseTo(Clock.getDefault().now(), within(10_000_000_000L));
  }

  // ---- context

  @Test
  void childInheritsTraceFlagsAndTraceStateAndIsNotRemote() {
    TraceState state = TraceState.builder().put("vendor", "1").build();
    Span child =
        tracer
            .spanBuilder("child")
            .setParent(Context.root().with(Span.wrap(remote(state))))
            .startSpan();
    Span grandchild =
        tracer.spanBuilder("grandchild").setParent(Context.root().with(child)).startSpan();

    assertThat(child.getSpanContext().getTraceState()).isEqualTo(state);
    assertThat(child.getSpanContext().isRemote()).isFalse();
    assertThat(((ReadableSpan) child).getParentSpanContext()).isEqualTo(remote(state));
    assertThat(grandchild.getSpanContext().getTraceState()).isEqualTo(state);
    assertThat(((ReadableSpan) grandchild).getParentSpanContext())
        .isEqualTo(child.getSpanContext());
    assertThat(grandchild.getSpanContext().getTraceId()).isEqualTo(remote(state).getTraceId());
    assertThat(child.getSpanContext().getTraceFlags().asByte()).isEqualTo((byte) 1);
  }

  @Test
  void parentOfARemoteContextWithoutTraceStateIsShownAsItWas() {
    SpanContext remote = remote(TraceState.getDefault());
    Span child =
        tracer.spanBuilder("child").setParent(Context.root().with(Span.wrap(remote))).startSpan();

    assertThat(((ReadableSpan) child).getParentSpanContext()).isEqualTo(remote);
    assertThat(((ReadableSpan) child).getParentSpanContext().isRemote()).isTrue();
  }

  @Test
  void rootContextMeansARootSpanAlsoWhereASpanIsCurrent() {
    Span current = tracer.spanBuilder("current").startSpan();
    try (Scope scope = current.makeCurrent()) {
      for (Context parent : List.of(Context.root(), Context.root().with(Span.getInvalid()))) {
        Span span = tracer.spanBuilder("span").setParent(parent).startSpan();
        assertThat(((ReadableSpan) span).getParentSpanContext().isValid()).isFalse();
        assertThat(span.getSpanContext().getTraceId())
            .isNotEqualTo(current.getSpanContext().getTraceId());
      }
      Span child = tracer.spanBuilder("span").startSpan();
      assertThat(((ReadableSpan) child).getParentSpanContext()).isEqualTo(current.getSpanContext());
      Span none = tracer.spanBuilder("span").setNoParent().startSpan();
      assertThat(((ReadableSpan) none).getParentSpanContext().isValid()).isFalse();
    }
  }

  // ---- snapshots and the end

  @Test
  void snapshotOfAnOpenSpanDoesNotChangeWithTheSpan() {
    Span span = tracer.spanBuilder("span").addLink(remote(TraceState.getDefault())).startSpan();
    span.setAttribute(TEXT, "before");
    span.addEvent("one");
    SpanData before = ((ReadableSpan) span).toSpanData();
    span.setAttribute(TEXT, "after").addEvent("two").addLink(remote(TraceState.getDefault()));
    span.updateName("renamed").setStatus(StatusCode.ERROR);

    assertThat(before.getName()).isEqualTo("span");
    assertThat(before.getAttributes()).isEqualTo(Attributes.of(TEXT, "before"));
    assertThat(before.getEvents()).hasSize(1);
    assertThat(before.getLinks()).hasSize(1);
    assertThat(before.getStatus()).isEqualTo(StatusData.unset());
    assertThat(before.hasEnded()).isFalse();
    assertThat(before.getEndEpochNanos()).isZero();
    span.end();
  }

  @Test
  void nothingChangesAnEndedSpanAndASecondEndDoesNothing() {
    Span span = tracer.spanBuilder("span").startSpan();
    span.setAttribute(TEXT, "kept");
    span.end(5, TimeUnit.SECONDS);
    SpanData ended = processor.only();
    span.setAttribute(TEXT, "late").setAttribute("n", 1).setAttribute("d", 1.0);
    span.addEvent("late").recordException(new IllegalStateException()).updateName("late");
    span.setStatus(StatusCode.ERROR).addLink(remote(TraceState.getDefault()));
    span.end();

    SpanData after = ((ReadableSpan) span).toSpanData();
    assertThat(after).isEqualTo(ended);
    assertThat(after.getEndEpochNanos()).isEqualTo(5_000_000_000L);
    assertThat(processor.ended).hasSize(1);
    assertThat(span.isRecording()).isFalse();
  }

  @Test
  void statusOkIsFinalAndOnlyErrorsHaveADescription() {
    Span span = tracer.spanBuilder("span").startSpan();
    span.setStatus(StatusCode.ERROR, "first").setStatus(StatusCode.UNSET, "ignored");
    assertThat(((ReadableSpan) span).toSpanData().getStatus())
        .isEqualTo(StatusData.create(StatusCode.ERROR, "first"));
    span.setStatus(StatusCode.OK, "ignored").setStatus(StatusCode.ERROR, "too late");
    span.end();
    assertThat(processor.only().getStatus()).isEqualTo(StatusData.ok());
  }

  @Test
  void processorMayChangeASpanThatIsEndingAndNobodyElseMay() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    List<SpanData> seen = new ArrayList<>();
    SpanProcessor ending =
        new Ending() {
          @Override
          public void onEnding(ReadWriteSpan span) {
            try {
              other.submit(() -> span.setAttribute(NUMBER, 13)).get();
            } catch (Exception e) {
              throw new AssertionError(e);
            }
            span.setAttribute(TEXT, "ending");
            span.end();
            seen.add(span.toSpanData());
            assertThat(span.isRecording()).isTrue();
          }
        };
    try {
      CairnTracer tracer = plain().addSpanProcessor(ending).build().getTracer("t");
      tracer.spanBuilder("span").startSpan().end(9, TimeUnit.SECONDS);
    } finally {
      other.shutdown();
    }

    assertThat(seen.get(0).hasEnded()).isFalse();
    assertThat(seen.get(0).getEndEpochNanos()).isEqualTo(9_000_000_000L);
    assertThat(processor.only().getAttributes()).isEqualTo(Attributes.of(TEXT, "ending"));
    assertThat(processor.only().getEndEpochNanos()).isEqualTo(9_000_000_000L);
  }

  /** Requires nothing but to be told of the ending. */
  private abstract static class Ending implements ExtendedSpanProcessor {
    @Override
    public boolean isOnEndingRequired() {
      return true;
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {}

    @Override
    public boolean isEndRequired() {
      return false;
    }
  }

  @Test
  void processorThatThrowsReachesNobodyAndTheOthersAreCalled() {
    SpanProcessor throwing =
        new Ending() {
          @Override
          public void onEnding(ReadWriteSpan span) {
            throw new IllegalStateException("onEnding");
          }

          @Override
          public void onStart(Context parent, ReadWriteSpan span) {
            throw new IllegalStateException("onStart");
          }

          @Override
          public void onEnd(ReadableSpan span) {
            throw new NoClassDefFoundError("onEnd");
          }

          @Override
          public boolean isStartRequired() {
            return true;
          }

          @Override
          public boolean isEndRequired() {
            return true;
          }
        };
    CairnOpenTelemetry guarded =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(throwing)
            .addSpanProcessor(processor)
            .build();

    Span span = guarded.getTracer("t").spanBuilder("span").startSpan();
    span.end();

    assertThat(processor.started).hasSize(1);
    assertThat(processor.only().hasEnded()).isTrue();
    assertThat(guarded.tracing().faults.count()).isEqualTo(3);
  }

  // ---- threads

  @Test
  @Timeout(60)
  void attributesOfOneSpanNeverShowInAnotherWhileItsEndIsRaced() throws Exception {
    int rounds = 20_000;
    CountDownLatch done = new CountDownLatch(1);
    Span[] shared = new Span[1];
    Thread setter =
        new Thread(
            () -> {
              while (done.getCount() != 0) {
                Span span = shared[0];
                if (span != null) {
                  span.setAttribute(TEXT, span.getSpanContext().getSpanId());
                }
              }
            });
    setter.start();
    for (int i = 0; i < rounds; i++) {
      Span span = tracer.spanBuilder("span").startSpan();
      shared[0] = span;
      span.setAttribute(NUMBER, i);
      span.end();
    }
    done.countDown();
    setter.join();

    for (SpanData span : processor.data()) {
      @Nullable String text = span.getAttributes().get(TEXT);
      assertThat(text == null ? span.getSpanId() : text).isEqualTo(span.getSpanId());
      assertThat(span.getAttributes().get(NUMBER)).isNotNull();
    }
  }

  // ---- size

  @Test
  void spanIsAnObjectOf96BytesAndAnUnsampledOneOf56() {
    assertThat(bytes(CairnSpan.class)).isLessThanOrEqualTo(96);
    assertThat(bytes(UnsampledSpan.class)).isLessThanOrEqualTo(56);
  }

  /** With compressed references and class pointers, fields packed: as HotSpot lays them out. */
  private static int bytes(Class<?> type) {
    int bytes = 12;
    for (Field field : type.getDeclaredFields()) {
      if (!Modifier.isStatic(field.getModifiers())) {
        Class<?> of = field.getType();
        bytes += of == long.class || of == double.class ? 8 : of == boolean.class ? 1 : 4;
      }
    }
    return (bytes + 7) & -8;
  }

  private static SpanContext remote(TraceState state) {
    return SpanContext.createFromRemoteParent(
        "0123456789abcdef0123456789abcdef", "0123456789abcdef", TraceFlags.getSampled(), state);
  }

  private static UnfinishedSpan only(List<UnfinishedSpan> spans) {
    assertThat(spans).hasSize(1);
    return spans.get(0);
  }
}
