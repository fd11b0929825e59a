package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.report.Report;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.incubator.config.DeclarativeConfigProperties;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.autoconfigure.spi.internal.ComponentProvider;
import io.opentelemetry.sdk.logs.LogRecordProcessor;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.ServiceLoader.Provider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeclarativeConfigTest {
  @TempDir Path root;

  @AfterEach
  void closeTheRecorderThatWasOpened() {
    Recorder.global().close();
  }

  /** A node of a file, as its reader shows it. */
  private static DeclarativeConfigProperties node(Map<String, ?> values) {
    return (DeclarativeConfigProperties)
        Proxy.newProxyInstance(
            DeclarativeConfigTest.class.getClassLoader(),
            new Class<?>[] {DeclarativeConfigProperties.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("getPropertyKeys")) {
                return values.keySet();
              }
              Object value = values.get((String) arguments[0]);
              if (value instanceof RuntimeException e) {
                throw e;
              }
              return value;
            });
  }

  private static ComponentProvider component(Class<?> type) {
    return ServiceLoader.load(ComponentProvider.class).stream()
        .map(Provider::get)
        .filter(provider -> provider.getType() == type && provider.getName().equals("cairn"))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void bothProcessorsAreFoundByTypeAndNameAndShareARecorder() {
    Map<String, Object> values =
        Map.of(
            "app",
            "orders",
            "directory",
            root.toString(),
            "release",
            "1.4.2",
            "environment",
            "prod",
            "attributes",
            List.of("order.id:long"),
            "refresh",
            500,
            "threads",
            false);

    // In OpenTelemetry's order: loggers are made before tracers.
    LogRecordProcessor logs =
        (LogRecordProcessor) component(LogRecordProcessor.class).create(node(Map.of()));
    SpanProcessor spans = (SpanProcessor) component(SpanProcessor.class).create(node(values));

    assertThat(spans.toString())
        .contains("attributes=[order.id]")
        .contains("refresh=PT0.5S")
        .contains("threads=false");
    try (SdkTracerProvider provider = SdkTracerProvider.builder().addSpanProcessor(spans).build();
        SdkLoggerProvider loggers =
            SdkLoggerProvider.builder().addLogRecordProcessor(logs).build()) {
      loggers.get("logger").logRecordBuilder().setBody("hello").emit();
      provider.get("test").spanBuilder("work").setAttribute("order.id", 17L).startSpan();
      Report report = BoxUnderTest.report(root);
      assertThat(report.run().app()).isEqualTo("orders");
      assertThat(report.run().release()).isEqualTo("1.4.2");
      assertThat(report.run().environment()).isEqualTo("prod");
      assertThat(report.trail()).anyMatch(crumb -> "hello".equals(crumb.message()));
      assertThat(report.openSpans().get(0).attributes()).containsEntry("order.id", 17L);
    }
  }

  @Test
  void logRecordProcessorAloneOpensARecorderAtTheFirstLogRecord() {
    Map<String, Object> values = Map.of("app", "logs-only", "directory", root.toString());
    LogRecordProcessor logs =
        (LogRecordProcessor) component(LogRecordProcessor.class).create(node(values));
    assertThat(logs.forceFlush().isSuccess()).isTrue();
    assertThat(root).isEmptyDirectory();

    try (SdkLoggerProvider loggers =
        SdkLoggerProvider.builder().addLogRecordProcessor(logs).build()) {
      loggers.get("logger").logRecordBuilder().setBody("hello").emit();

      assertThat(BoxUnderTest.report(root).run().app()).isEqualTo("logs-only");
      assertThat(BoxUnderTest.report(root).trail())
          .anyMatch(crumb -> "hello".equals(crumb.message()));
    }
  }

  @Test
  void nodeWithoutKeysStandsForTheDefaults() {
    try (Recorder own = Recorder.builder("own").directory(root).open()) {
      Object processor = component(SpanProcessor.class).create(node(Map.of()));

      assertThat(processor.toString())
          .contains("http.route")
          .contains("refresh=PT0.25S")
          .contains(String.valueOf(own.directory()));
    }
  }

  /** The reader throws for a value of another kind. */
  @Test
  void keyOfAnotherKindLeavesItsDefaultAndDoesNotReachTheReader() {
    RuntimeException mistake = new IllegalStateException("no number: soon");
    try (Recorder own = Recorder.builder("own").directory(root).open()) {
      Object processor =
          component(SpanProcessor.class)
              .create(node(Map.of("refresh", mistake, "threads", mistake, "attributes", mistake)));

      assertThat(processor.toString())
          .contains("http.route")
          .contains("refresh=PT0.25S")
          .contains("threads=false")
          .contains(String.valueOf(own.directory()));
    }
  }

  @Test
  void fileWithBothProcessorsMakesAnSdkThatRecords() throws Exception {
    Class<?> reader;
    try {
      reader =
          Class.forName(
              "io.opentelemetry.sdk.extension.incubator.fileconfig.DeclarativeConfiguration");
    } catch (ClassNotFoundException e) {
      System.out.println(
          "NOT RUN, no reader of configuration files (mvn -Dopentelemetry.version=1.58.0 has one;"
              + " the agent's own is tested in cairn-stress): "
              + e.getMessage());
      return;
    }
    String file =
        """
        file_format: "1.0-rc.1"
        tracer_provider:
          processors:
            - cairn:
                app: from-file
                directory: %s
        logger_provider:
          processors:
            - cairn:
        """
            .formatted(root);
    Method parse = reader.getMethod("parseAndCreate", InputStream.class);
    OpenTelemetry sdk =
        (OpenTelemetry)
            parse.invoke(null, new ByteArrayInputStream(file.getBytes(StandardCharsets.UTF_8)));

    sdk.getTracer("test").spanBuilder("GET").setSpanKind(SpanKind.SERVER).startSpan();
    sdk.getLogsBridge().get("logger").logRecordBuilder().setBody("hello").emit();

    Report report = BoxUnderTest.report(root);
    assertThat(report.run().app()).isEqualTo("from-file");
    assertThat(report.openSpans()).hasSize(1);
    assertThat(report.trail()).anyMatch(crumb -> "hello".equals(crumb.message()));
    ((AutoCloseable) sdk).close();
  }
}
