package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.incubator.trace.ExtendedSpanBuilder;
import io.opentelemetry.api.incubator.trace.ExtendedTracer;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CairnOpenTelemetryTest {
  private final Spans.Collecting processor = new Spans.Collecting();
  private final CairnOpenTelemetry otel =
      CairnOpenTelemetry.builder(Spans.disabled()).addSpanProcessor(processor).build();

  @Test
  void sameScopeGivesTheSameTracer() {
    Tracer tracer = otel.getTracer("scope", "1");
    assertThat(otel.getTracer("scope", "1")).isSameAs(tracer);
    assertThat(otel.tracerBuilder("scope").setInstrumentationVersion("1").build()).isSameAs(tracer);
    assertThat(otel.getTracer("scope")).isNotSameAs(tracer);
    assertThat(otel.tracerBuilder("scope").setSchemaUrl("url").build())
        .isSameAs(otel.tracerBuilder("scope").setSchemaUrl("url").build())
        .isNotSameAs(otel.getTracer("scope"));
  }

  @Test
  void nullScopeIsTheUnnamedOne() {
    assertThat(otel.getTracer(null)).isSameAs(otel.getTracer(""));
  }

  @Test
  void afterShutdownTracersStartNothingAndPassTheParentOn() {
    Tracer tracer = otel.getTracer("scope");
    Span open = tracer.spanBuilder("open").startSpan();
    otel.close();
    Span after = tracer.spanBuilder("after").setParent(Context.root().with(open)).startSpan();
    after.end();
    open.end();

    assertThat(after.isRecording()).isFalse();
    assertThat(after.getSpanContext()).isEqualTo(open.getSpanContext());
    assertThat(processor.only().getName()).isEqualTo("open");
    assertThat(otel.shutdown()).isSameAs(otel.shutdown());
    assertThat(processor.shutdowns).isEqualTo(1);
  }

  @Test
  void flushAndShutdownReachEveryProcessorAlsoBehindOneThatThrows() {
    Spans.Collecting throwing =
        new Spans.Collecting() {
          @Override
          public CompletableResultCode forceFlush() {
            throw new IllegalStateException("flush");
          }

          @Override
          public CompletableResultCode shutdown() {
            throw new IllegalStateException("shutdown");
          }
        };
    CairnOpenTelemetry two =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(throwing)
            .addSpanProcessor(processor)
            .build();

    assertThat(two.forceFlush().isSuccess()).isFalse();
    assertThat(two.shutdown().isSuccess()).isFalse();
    assertThat(processor.flushes).isEqualTo(1);
    assertThat(processor.shutdowns).isEqualTo(1);
  }

  @Test
  void aProcessorWithoutAResultOfFlushAndShutdownHasFailedAndTheNextOnesAreReached() {
    Spans.Collecting without =
        new Spans.Collecting() {
          @Override
          public CompletableResultCode forceFlush() {
            return null;
          }

          @Override
          public CompletableResultCode shutdown() {
            return null;
          }
        };
    CairnOpenTelemetry two =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(without)
            .addSpanProcessor(processor)
            .build();

    assertThat(two.forceFlush().isSuccess()).isFalse();
    assertThat(two.tracing().faults.count()).isEqualTo(1);
    assertThat(two.shutdown().isSuccess()).isFalse();
    assertThat(two.tracing().faults.count()).isEqualTo(2);
    assertThat(processor.flushes).isEqualTo(1);
    assertThat(processor.shutdowns).isEqualTo(1);
  }

  @Test
  @Timeout(20)
  void batchProcessorExportsWhatEndedBeforeItWasClosed() {
    InMemorySpanExporter exporter = InMemorySpanExporter.create();
    try (CairnOpenTelemetry batching =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
            .build()) {
      for (int i = 0; i < 100; i++) {
        batching.getTracer("t").spanBuilder("span").setAttribute("i", i).startSpan().end();
      }
      assertThat(batching.forceFlush().join(10, TimeUnit.SECONDS).isSuccess()).isTrue();

      assertThat(exporter.getFinishedSpanItems()).hasSize(100);
      assertThat(exporter.getFinishedSpanItems().get(99).getAttributes().asMap())
          .containsValue(99L);
    }
  }

  @Test
  void idsOfARootAreRandomAndSayIt() {
    SpanContext root = otel.getTracer("t").spanBuilder("root").startSpan().getSpanContext();

    assertThat(root.isValid()).isTrue();
    assertThat(root.getTraceFlags().asByte()).isEqualTo((byte) 3);
  }

  @Test
  void idsOfAGivenGeneratorAreTakenAndHalfAnIdIsNone() {
    String[] spanId = {"00000000000000ab"};
    CairnOpenTelemetry given =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(processor)
            .idGenerator(
                new IdGenerator() {
                  @Override
                  public String generateSpanId() {
                    return spanId[0];
                  }

                  @Override
                  public String generateTraceId() {
                    return "000000000000000000000000000000cd";
                  }
                })
            .build();

    SpanContext good = given.getTracer("t").spanBuilder("s").startSpan().getSpanContext();
    spanId[0] = "not hex";
    SpanContext bad = given.getTracer("t").spanBuilder("s").startSpan().getSpanContext();

    assertThat(good.getSpanId()).isEqualTo("00000000000000ab");
    assertThat(good.getTraceId()).isEqualTo("000000000000000000000000000000cd");
    assertThat(good.getTraceFlags().asByte()).isEqualTo((byte) 1);
    assertThat(bad.isValid()).isFalse();
    assertThat(bad.getTraceId()).isEqualTo("00000000000000000000000000000000");
  }

  @Test
  void itIsTheGlobalOneWhereItIsRegisteredAsThat() {
    GlobalOpenTelemetry.resetForTest();
    try {
      CairnOpenTelemetry global =
          CairnOpenTelemetry.builder(Spans.disabled())
              .addSpanProcessor(processor)
              .buildAndRegisterGlobal();
      GlobalOpenTelemetry.getTracer("scope").spanBuilder("span").startSpan().end();

      assertThat(GlobalOpenTelemetry.getTracer("scope")).isSameAs(global.getTracer("scope"));
      assertThat(processor.only().getName()).isEqualTo("span");
    } finally {
      GlobalOpenTelemetry.resetForTest();
    }
  }

  @Test
  void mistakesOfConfigurationThrowAtOnce() {
    CairnOpenTelemetry.Builder builder = CairnOpenTelemetry.builder(Spans.disabled());

    assertThatThrownBy(() -> builder.keyCacheSize(1000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "keyCacheSize is not a power of two: value=1000, limit=1048576 (0 caches nothing)");
    assertThatThrownBy(() -> builder.sampler(null)).hasMessage("sampler");
    assertThatThrownBy(() -> CairnOpenTelemetry.builder(null)).hasMessage("recorder");
  }

  @Test
  void settingsAndCountsAreInTheText() {
    assertThat(otel.toString())
        .contains("staleBuilders=0")
        .contains("faults=0")
        .contains("AlwaysOn");
    assertThat(CairnOpenTelemetry.builder(Spans.disabled()).keyCacheSize(0).toString())
        .contains("keyCacheSize=0");
  }

  // ---- the incubating API

  @Test
  void buildersCanBeCastWhereTheIncubatorIsThere() throws Exception {
    ExtendedTracer tracer = (ExtendedTracer) otel.getTracer("scope");
    SpanContext remote =
        SpanContext.createFromRemoteParent(
            "0123456789abcdef0123456789abcdef",
            "0123456789abcdef",
            TraceFlags.getSampled(),
            TraceState.getDefault());
    Map<String, String> carrier =
        Map.of("traceparent", "00-" + remote.getTraceId() + "-" + remote.getSpanId() + "-01");

    String returned =
        tracer
            .spanBuilder("called")
            .setParentFrom(otel.getPropagators(), carrier)
            .startAndCall(() -> Span.current().getSpanContext().getTraceId());

    assertThat(returned).isEqualTo(remote.getTraceId());
    assertThat(processor.only().getParentSpanContext()).isEqualTo(remote);
    otel.close();
    assertThat(tracer.spanBuilder("after")).isInstanceOf(ExtendedSpanBuilder.class);
  }

  @Test
  void whatIsThrownInASpanIsRecordedAndThrownOn() {
    ExtendedTracer tracer = (ExtendedTracer) otel.getTracer("scope");

    assertThatThrownBy(
            () ->
                tracer
                    .spanBuilder("failing")
                    .startAndRun(
                        () -> {
                          throw new IOException("broken");
                        }))
        .isInstanceOf(IOException.class);

    assertThat(processor.only().getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(processor.only().getEvents()).hasSize(1);
    assertThat(processor.only().hasEnded()).isTrue();
  }

  @Test
  @Timeout(60)
  void withoutTheIncubatorSpansAreStartedAllTheSame() throws IOException {
    assertThat(ChildProcess.lean(WithoutIncubator.class))
        .contains("incubator=false")
        .contains("ended=1")
        .contains("exit=0");
  }

  /** Starts a span in a JVM that has nothing optional. */
  public static final class WithoutIncubator {
    public static void main(String[] args) {
      boolean there = true;
      try {
        Class<?> unused = Class.forName("io.opentelemetry.api.incubator.trace.ExtendedTracer");
      } catch (ClassNotFoundException e) {
        there = false;
      }
      System.out.println("incubator=" + there);
      Spans.Collecting ended = new Spans.Collecting();
      CairnOpenTelemetry otel =
          CairnOpenTelemetry.builder(Spans.disabled()).addSpanProcessor(ended).build();
      otel.getTracer("t").spanBuilder("span").setAttribute("k", "v").startSpan().end();
      System.out.println("ended=" + ended.ended.size());
    }
  }
}
