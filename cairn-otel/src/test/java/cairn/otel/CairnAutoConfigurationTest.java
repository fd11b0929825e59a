package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CairnAutoConfigurationTest {
  @TempDir Path root;

  @AfterEach
  void closeTheRecorderThatWasOpened() {
    Recorder.global().close();
  }

  private OpenTelemetrySdk sdk(Map<String, String> more) {
    return sdk(more, List.of());
  }

  private OpenTelemetrySdk sdk(Map<String, String> more, List<SpanProcessor> before) {
    Map<String, String> properties = new HashMap<>();
    properties.put("otel.traces.exporter", "none");
    properties.put("otel.metrics.exporter", "none");
    properties.put("otel.logs.exporter", "none");
    properties.put("cairn.dir", root.toString());
    properties.putAll(more);
    return AutoConfiguredOpenTelemetrySdk.builder()
        .addPropertiesSupplier(() -> properties)
        .addTracerProviderCustomizer(
            (builder, config) -> {
              before.forEach(builder::addSpanProcessorFirst);
              return builder;
            })
        .build()
        .getOpenTelemetrySdk();
  }

  @Test
  void sdkThatIsConfiguredByPropertiesRecordsSpansAndLogRecords() {
    try (OpenTelemetrySdk sdk =
        sdk(
            Map.of(
                "otel.service.name", "orders",
                "otel.resource.attributes",
                    "service.version=1.4.2,deployment.environment.name=prod",
                "cairn.otel.attributes", "default,order.id:long",
                "cairn.otel.refresh", "100ms"))) {
      Span span =
          sdk.getTracer("test")
              .spanBuilder("GET")
              .setSpanKind(SpanKind.SERVER)
              .setAttribute("url.path", "/orders/17")
              .setAttribute("order.id", 17L)
              .startSpan();
      sdk.getLogsBridge()
          .get("com.example.Orders")
          .logRecordBuilder()
          .setContext(Context.root().with(span))
          .setSeverity(Severity.ERROR)
          .setBody("no stock")
          .setAttribute(AttributeKey.stringKey("error.type"), "out_of_stock")
          .emit();

      Report report = BoxUnderTest.report(root);
      assertThat(report.run().app()).isEqualTo("orders");
      assertThat(report.run().release()).isEqualTo("1.4.2");
      assertThat(report.run().environment()).isEqualTo("prod");
      UnfinishedSpan open = report.openSpans().get(0);
      assertThat(open.attributes())
          .containsEntry("url.path", "/orders/17")
          .containsEntry("order.id", 17L);
      Breadcrumb crumb = report.trail().get(report.trail().size() - 1);
      assertThat(crumb.level()).isEqualTo(cairn.Level.ERROR);
      assertThat(crumb.message()).isEqualTo("no stock");
      assertThat(crumb.spanId()).isEqualTo(span.getSpanContext().getSpanId());
      assertThat(crumb.data()).containsEntry("error.type", "out_of_stock");
      span.end();
      assertThat(sdk.toString()).contains("refresh=PT0.1S");
    }
  }

  @Test
  void cairnsOwnSettingsComeBeforeTheResource() {
    try (OpenTelemetrySdk sdk =
        sdk(
            Map.of(
                "otel.service.name", "orders",
                "otel.resource.attributes", "service.version=1.4.2,deployment.environment=old",
                "cairn.app", "shop",
                "cairn.release", "9"))) {
      Report report = BoxUnderTest.report(root);

      assertThat(sdk).isNotNull();
      assertThat(report.run().app()).isEqualTo("shop");
      assertThat(report.run().release()).isEqualTo("9");
      assertThat(report.run().environment()).isEqualTo("old");
    }
  }

  @Test
  void processorIsTheFirst() {
    AtomicBoolean wasOpen = new AtomicBoolean();
    SpanProcessor other =
        new SpanProcessor() {
          @Override
          public void onStart(Context parentContext, ReadWriteSpan span) {
            wasOpen.set(BoxUnderTest.report(root).openSpans().size() == 1);
            throw new IllegalStateException("the processor behind");
          }

          @Override
          public boolean isStartRequired() {
            return true;
          }

          @Override
          public void onEnd(ReadableSpan span) {}

          @Override
          public boolean isEndRequired() {
            return false;
          }
        };
    try (OpenTelemetrySdk sdk = sdk(Map.of(), List.of(other))) {
      try {
        sdk.getTracer("test").spanBuilder("work").startSpan();
      } catch (IllegalStateException e) {
        assertThat(e).hasMessage("the processor behind");
      }
    }

    assertThat(wasOpen).isTrue();
  }

  @Test
  void switchedOffItOpensNothing() throws Exception {
    try (OpenTelemetrySdk sdk = sdk(Map.of("cairn.otel.enabled", "false"))) {
      sdk.getTracer("test").spanBuilder("work").startSpan().end();

      assertThat(Files.list(root)).isEmpty();
    }
  }

  @Test
  void recorderThatTheApplicationHasOpenedIsUsed() {
    try (Recorder own = Recorder.builder("own").directory(root).open();
        OpenTelemetrySdk sdk = sdk(Map.of("otel.service.name", "other"))) {
      sdk.getTracer("test").spanBuilder("work").startSpan();

      assertThat(own.runId()).isEqualTo(BoxUnderTest.report(root).run().id());
      assertThat(BoxUnderTest.report(root).openSpans()).hasSize(1);
      assertThat(BoxUnderTest.report(root).run().app()).isEqualTo("own");
    }
  }

  @Test
  void mistakesInTheSettingsAreNotFollowedAndTheSdkStarts() {
    try (OpenTelemetrySdk sdk =
        sdk(
            Map.of(
                "otel.service.name", "x".repeat(300),
                "cairn.otel.attributes", "order.id:integer",
                "cairn.otel.refresh", "1ms"))) {
      Span span =
          sdk.getTracer("test")
              .spanBuilder("GET")
              .setSpanKind(SpanKind.SERVER)
              .setAttribute("url.path", "/")
              .startSpan();

      Report report = BoxUnderTest.report(root);
      assertThat(report.run().app()).isEqualTo("x".repeat(100));
      assertThat(report.openSpans().get(0).attributes()).containsEntry("url.path", "/");
      span.end();
    }
  }

  @Test
  void intervalThatIsNoneLeavesTheDefault() {
    try (OpenTelemetrySdk sdk = sdk(Map.of("cairn.otel.refresh", "often"))) {
      assertThat(sdk.toString()).contains("refresh=PT0.25S");
    }
  }

  @Test
  void switchThatIsNeitherTrueNorFalseLeavesTheDefaultAndIsSaidOnce() {
    try (Warnings warnings = new Warnings();
        OpenTelemetrySdk sdk =
            sdk(Map.of("cairn.otel.enabled", "yess", "cairn.otel.threads", "maybe"))) {
      sdk.getTracer("test").spanBuilder("work").startSpan();

      assertThat(BoxUnderTest.report(root).openSpans()).hasSize(1);
      assertThat(sdk.toString()).contains("threads=false");
      assertThat(warnings.of("cairn.otel.enabled=yess")).hasSize(1);
      assertThat(warnings.of("cairn.otel.threads=maybe")).hasSize(1);
    }
  }

  @Test
  void switchMayBeWrittenInAnyCase() throws Exception {
    try (OpenTelemetrySdk sdk = sdk(Map.of("cairn.otel.enabled", " FALSE"))) {
      assertThat(sdk.toString()).doesNotContain("Cairn");
      assertThat(Files.list(root)).isEmpty();
    }
  }

  @Test
  void mistakeIsSaidOnceForBothProcessorsWithItsValue() {
    try (Warnings warnings = new Warnings();
        OpenTelemetrySdk sdk =
            sdk(
                Map.of(
                    "cairn.otel.refresh", "banana",
                    "cairn.otel.attributes", "order.id:float"))) {
      assertThat(sdk.toString()).contains("refresh=PT0.25S");
      assertThat(warnings.of("cairn.otel.refresh=banana")).hasSize(1);
      assertThat(warnings.of("attribute=order.id:float")).hasSize(1);
    }
  }

  @Test
  void failureLeavesTheSdkWithoutTheProcessorsAndStarts() {
    try (OpenTelemetrySdk sdk = sdk(Map.of("cairn.dir", "no path: \0"))) {
      sdk.getTracer("test").spanBuilder("work").startSpan().end();

      assertThat(sdk.toString()).doesNotContain("Cairn");
    }
  }

  @Test
  void directoryThatCannotBeMadeLeavesTheSdkAsItIs() throws Exception {
    Path file = Files.createFile(root.resolve("file"));
    try (OpenTelemetrySdk sdk = sdk(Map.of("cairn.dir", file.toString()))) {
      Span span = sdk.getTracer("test").spanBuilder("work").startSpan();

      assertThat(span.getSpanContext().isValid()).isTrue();
      assertThat(Recorder.global().isEnabled()).isFalse();
    }
  }

  /** What is logged as a warning meanwhile. */
  private static final class Warnings extends Handler implements AutoCloseable {
    private final List<String> all = new ArrayList<>();
    private final Logger logger = Logger.getLogger("cairn");

    Warnings() {
      logger.addHandler(this);
    }

    List<String> of(String part) {
      return all.stream().filter(message -> message.contains(part)).toList();
    }

    @Override
    public synchronized void publish(LogRecord record) {
      if (record.getLevel() == Level.WARNING) {
        all.add(record.getMessage());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
      logger.removeHandler(this);
    }
  }
}
