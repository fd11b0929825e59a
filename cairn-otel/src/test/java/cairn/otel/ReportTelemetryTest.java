package cairn.otel;

import static cairn.report.BoxBuilder.START_WALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.Level;
import cairn.Recorder;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.report.BoxBuilder;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.Run;
import cairn.report.Runs;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.exporter.otlp.http.logs.OtlpHttpLogRecordExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.logs.export.LogRecordExporter;
import io.opentelemetry.sdk.testing.exporter.InMemoryLogRecordExporter;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTelemetryTest {
  private static final Instant OBSERVED = Instant.ofEpochMilli(START_WALL + 3_600_000);

  /** A death with a bit of everything. */
  private static BoxBuilder box() {
    Map<Object, Object> server = BoxBuilder.begin("POST /orders", 2, 0, "http-1");
    server.put(
        SpanLayout.BEGIN_TRACE_ID, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7});
    server.put(SpanLayout.BEGIN_KIND, 1L);
    server.put(SpanLayout.BEGIN_TRACE_FLAGS, 3L);
    server.put(SpanLayout.BEGIN_EPOCH_NANOS, START_WALL * 1_000_000 + 1_234);
    Map<Object, Object> client = BoxBuilder.begin("GET stock", 3, 1_000, "http-1");
    client.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 2L);
    client.put(SpanLayout.BEGIN_KIND, 2L);
    Map<Object, Object> crumb = BoxBuilder.map(RecordLayout.CRUMB_MESSAGE, "in a span");
    crumb.put(RecordLayout.CRUMB_SPAN_ID, 3L);
    return BoxBuilder.box()
        .beat(60_000)
        .uncaught(60_000, "http-1", "com.acme.NoStock", "out of 7", "main", true)
        .end("CLEAN", "RETURNED", 60_010)
        .scope(RecordLayout.KIND_TAG, "region", "eu")
        .span(0, server, "s", "x", "n", 3L, "d", 0.5, "b", true)
        .span(1, client, "list", List.of("a", "b"), "none", List.of(), "null", null)
        .span(2, BoxBuilder.begin("job", 4, 2_000, "job-1"), "longs", List.of(1L, 2L))
        .span(3, BoxBuilder.begin("jobs", 5, 2_000, "job-2"), "flags", List.of(true))
        .span(4, BoxBuilder.begin("jobs", 6, 2_000, "job-2"), "doubles", List.of(1.5, 2.5))
        .trailRecord(RecordLayout.TYPE_BREADCRUMB, 3, 500, BoxBuilder.cbor(crumb))
        .crumb(700, 0, null, null)
        .crumb(800, 4, "c", "m", "mixed", Arrays.asList(1L, "a"), "null", null);
  }

  private static OtlpTelemetry telemetry() {
    return new OtlpTelemetry(ReportOfBytes.read(box().bytes()), OBSERVED);
  }

  @Test
  void whatTheOfficialExporterSendsIsWhatTheJsonLinesSay() {
    OtlpTelemetry telemetry = telemetry();
    OtlpJson json = new OtlpJson(telemetry);
    List<Span> spans = new ArrayList<>();
    List<LogRecord> records = new ArrayList<>();
    try (Backend backend = new Backend();
        SpanExporter spanExporter =
            OtlpHttpSpanExporter.builder().setEndpoint(backend.endpoint("/v1/traces")).build();
        LogRecordExporter logExporter =
            OtlpHttpLogRecordExporter.builder().setEndpoint(backend.endpoint("/v1/logs")).build()) {

      CompletableResultCode result =
          new ReportTelemetry(telemetry).export(spanExporter, logExporter);

      assertThat(result.join(20, TimeUnit.SECONDS).isSuccess()).isTrue();
      assertThat(backend.traces.get(0).getResourceSpansCount()).isEqualTo(1);
      assertThat(backend.traces.get(0).getResourceSpans(0).getScopeSpansCount()).isEqualTo(1);
      backend.traces.forEach(
          request ->
              request
                  .getResourceSpans(0)
                  .getScopeSpans(0)
                  .getSpansList()
                  .forEach(span -> spans.add(plain(span))));
      backend.logs.forEach(
          request ->
              request
                  .getResourceLogs(0)
                  .getScopeLogs(0)
                  .getLogRecordsList()
                  .forEach(record -> records.add(plain(record))));
      assertThat(
              Protocol.attributes(
                  backend.traces.get(0).getResourceSpans(0).getResource().getAttributesList()))
          .isEqualTo(
              Protocol.attributes(
                  Protocol.traces(json.traceRequests().get(0))
                      .getResourceSpans(0)
                      .getResource()
                      .getAttributesList()));
      assertThat(backend.traces.get(0).getResourceSpans(0).getScopeSpans(0).getScope())
          .isEqualTo(
              Protocol.traces(json.traceRequests().get(0))
                  .getResourceSpans(0)
                  .getScopeSpans(0)
                  .getScope());
    }
    assertThat(spans)
        .hasSize(5)
        .isEqualTo(
            Protocol.spans(json.traceRequests()).stream().map(ReportTelemetryTest::plain).toList());
    assertThat(records)
        .hasSize(4)
        .isEqualTo(
            Protocol.records(json.logRequests()).stream().map(ReportTelemetryTest::plain).toList());
  }

  /**
   * Attributes sorted, since the SDK sorts them; without bits that only the SDK's exporter sets.
   */
  private static Span plain(Span span) {
    Span.Builder plain = span.toBuilder().setFlags(span.getFlags() & 0xff).clearAttributes();
    span.getAttributesList().stream()
        .sorted((a, b) -> a.getKey().compareTo(b.getKey()))
        .forEach(plain::addAttributes);
    return plain.build();
  }

  private static LogRecord plain(LogRecord record) {
    LogRecord.Builder plain = record.toBuilder().clearAttributes();
    record.getAttributesList().stream()
        .sorted((a, b) -> a.getKey().compareTo(b.getKey()))
        .forEach(plain::addAttributes);
    return plain.build();
  }

  @Test
  void openSpanIsSpanDataThatHasEndedWithAnError() {
    ReportTelemetry telemetry = new ReportTelemetry(telemetry());

    SpanData span = telemetry.spans().get(0);
    assertThat(span.getName()).isEqualTo("POST /orders");
    assertThat(span.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(span.getTraceId()).isEqualTo("01020304050607080901020304050607");
    assertThat(span.getSpanId()).isEqualTo("0000000000000002");
    assertThat(span.getSpanContext().getTraceFlags().asByte()).isEqualTo((byte) 3);
    assertThat(span.getParentSpanContext()).isEqualTo(SpanContext.getInvalid());
    assertThat(span.getStartEpochNanos()).isEqualTo(START_WALL * 1_000_000 + 1_234);
    assertThat(span.getEndEpochNanos()).isEqualTo((START_WALL + 60_000) * 1_000_000);
    assertThat(span.hasEnded()).isTrue();
    assertThat(span.getStatus())
        .isEqualTo(
            StatusData.create(
                StatusCode.ERROR, "the process ended before the span: UNCAUGHT (certain)"));
    assertThat(span.getAttributes().asMap())
        .containsEntry(AttributeKey.stringKey("s"), "x")
        .containsEntry(AttributeKey.longKey("n"), 3L)
        .containsEntry(AttributeKey.doubleKey("d"), 0.5)
        .containsEntry(AttributeKey.booleanKey("b"), true)
        .containsEntry(AttributeKey.stringKey("error.type"), "process_terminated")
        .containsEntry(AttributeKey.booleanKey("cairn.span.incomplete"), true);
    assertThat(span.getEvents()).isEmpty();
    assertThat(span.getLinks()).isEmpty();
    SpanData child = telemetry.spans().get(1);
    assertThat(child.getParentSpanContext().getSpanId()).isEqualTo(span.getSpanId());
    assertThat(child.getTraceId()).isEqualTo(span.getTraceId());
    assertThat(child.getTotalAttributeCount())
        .as("the null counts")
        .isEqualTo(child.getAttributes().size() + 1);
  }

  /** What an exporter that prints them prints. */
  @Test
  void asTextTheySayTheirAttributes() {
    ReportTelemetry telemetry = new ReportTelemetry(telemetry());

    assertThat(telemetry.spans().get(0).toString()).contains("cairn.span.incomplete=true");
    assertThat(telemetry.logs().get(telemetry.logs().size() - 1).toString())
        .contains("app.crash.id=");
  }

  @Test
  void allRecordsShareOneResourceAndOneScope() {
    ReportTelemetry telemetry = new ReportTelemetry(telemetry());

    for (SpanData span : telemetry.spans()) {
      assertThat(span.getResource()).isSameAs(telemetry.resource());
      assertThat(span.getInstrumentationScopeInfo())
          .isSameAs(telemetry.logs().get(0).getInstrumentationScopeInfo());
    }
    for (LogRecordData log : telemetry.logs()) {
      assertThat(log.getResource()).isSameAs(telemetry.resource());
    }
    assertThat(telemetry.resource().getAttribute(AttributeKey.stringKey("service.name")))
        .isEqualTo("orders");
    assertThat(telemetry.resource().getAttribute(AttributeKey.longKey("process.pid")))
        .isEqualTo(4711L);
  }

  @Test
  void deathIsTheLastLogRecordAndAnEvent() {
    List<LogRecordData> logs = new ReportTelemetry(telemetry()).logs();

    LogRecordData death = logs.get(logs.size() - 1);
    assertThat(death.getEventName()).isEqualTo("app.crash");
    assertThat(death.getSeverity()).isEqualTo(Severity.FATAL);
    assertThat(death.getBodyValue()).isNotNull();
    assertThat(death.getBodyValue().asString()).startsWith("Ended by an uncaught exception");
    assertThat(death.getTimestampEpochNanos()).isEqualTo((START_WALL + 60_000) * 1_000_000);
    assertThat(death.getObservedTimestampEpochNanos())
        .isEqualTo((START_WALL + 3_600_000) * 1_000_000);
    assertThat(death.getSpanContext().getSpanId()).isEqualTo("0000000000000003");
    assertThat(death.getAttributes().asMap())
        .containsEntry(AttributeKey.stringKey("app.crash.id"), BoxBuilder.RUN_ID)
        .containsEntry(AttributeKey.stringKey("exception.type"), "com.acme.NoStock");
    LogRecordData silent = logs.get(1);
    assertThat(silent.getEventName()).isNull();
    assertThat(silent.getBodyValue()).isNull();
    assertThat(silent.getSeverity()).isEqualTo(Severity.DEBUG);
  }

  @Test
  @SuppressWarnings("deprecation")
  void oldExportersFindWhatTheyAskFor() {
    ReportTelemetry telemetry = new ReportTelemetry(telemetry());

    assertThat(telemetry.spans().get(0).getInstrumentationLibraryInfo().getName())
        .isEqualTo("cairn");
    assertThat(telemetry.logs().get(0).getBody().asString()).isEqualTo("in a span");
    assertThat(telemetry.logs().get(1).getBody().asString()).isEmpty();
    assertThat(telemetry.spans().get(0).toString()).contains("POST /orders");
    assertThat(telemetry.logs().get(0).toString()).contains("in a span");
  }

  // Export

  /** Takes what it is given when the test says so. */
  private static final class Pending {
    final List<String> given = new ArrayList<>();
    final List<CompletableResultCode> results = new ArrayList<>();

    CompletableResultCode take(String kind, Collection<?> batch) {
      given.add(batch.size() + " " + kind);
      CompletableResultCode result = new CompletableResultCode();
      results.add(result);
      return result;
    }

    SpanExporter spans() {
      return new SpanExporter() {
        @Override
        public CompletableResultCode export(Collection<SpanData> spans) {
          return take("spans", spans);
        }

        @Override
        public CompletableResultCode flush() {
          return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
          // As the senders of the SDK do: what is in flight is cancelled.
          results.forEach(CompletableResultCode::fail);
          return CompletableResultCode.ofSuccess();
        }
      };
    }

    LogRecordExporter logs() {
      return new LogRecordExporter() {
        @Override
        public CompletableResultCode export(Collection<LogRecordData> logs) {
          return take("logs", logs);
        }

        @Override
        public CompletableResultCode flush() {
          return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
          return CompletableResultCode.ofSuccess();
        }
      };
    }
  }

  @Test
  void exportSucceedsOnlyWhenBothExportersHaveTakenEverything() {
    Pending pending = new Pending();

    CompletableResultCode result =
        new ReportTelemetry(telemetry()).export(pending.spans(), pending.logs());

    assertThat(pending.given).as("the death after the spans").containsExactly("5 spans");
    pending.results.get(0).succeed();
    assertThat(pending.given).containsExactly("5 spans", "4 logs");
    assertThat(result.isDone()).isFalse();
    pending.results.get(1).succeed();
    assertThat(result.isSuccess()).isTrue();
  }

  @Test
  void exportFailsWithTheSpansAndDoesNotTellTheDeath() {
    Pending pending = new Pending();

    CompletableResultCode result =
        new ReportTelemetry(telemetry()).export(pending.spans(), pending.logs());
    pending.results.get(0).fail();

    assertThat(result.isDone()).isTrue();
    assertThat(result.isSuccess()).isFalse();
    assertThat(pending.given).containsExactly("5 spans");
  }

  @Test
  void exportFailsWithTheLogs() {
    Pending pending = new Pending();

    CompletableResultCode result =
        new ReportTelemetry(telemetry()).export(pending.spans(), pending.logs());
    pending.results.get(0).succeed();
    pending.results.get(1).fail();

    assertThat(result.isDone()).isTrue();
    assertThat(result.isSuccess()).isFalse();
  }

  /** opentelemetry-java 6160: senders cancel what is in flight when they are shut down. */
  @Test
  void exporterThatIsShutDownWithTheExportInFlightIsAFailure() {
    Pending pending = new Pending();
    SpanExporter spans = pending.spans();

    CompletableResultCode result = new ReportTelemetry(telemetry()).export(spans, pending.logs());
    spans.shutdown();

    assertThat(result.isDone()).isTrue();
    assertThat(result.isSuccess()).isFalse();
  }

  @Test
  void whatAnExporterThrowsOrDoesNotAnswerIsAFailure() {
    LogRecordExporter logs = new Pending().logs();
    for (SpanExporter exporter :
        List.of(
            spanExporter(
                () -> {
                  throw new IllegalStateException("closed");
                }),
            spanExporter(
                () -> {
                  throw new NoClassDefFoundError("gone");
                }),
            spanExporter(() -> null))) {
      CompletableResultCode result = new ReportTelemetry(telemetry()).export(exporter, logs);
      assertThat(result.isDone()).isTrue();
      assertThat(result.isSuccess()).isFalse();
    }
  }

  private static SpanExporter spanExporter(Supplier<CompletableResultCode> answer) {
    return new SpanExporter() {
      @Override
      public CompletableResultCode export(Collection<SpanData> spans) {
        return answer.get();
      }

      @Override
      public CompletableResultCode flush() {
        return CompletableResultCode.ofSuccess();
      }

      @Override
      public CompletableResultCode shutdown() {
        return CompletableResultCode.ofSuccess();
      }
    };
  }

  @Test
  void manyRecordsAreGivenInBatches(@TempDir Path root) throws IOException {
    try (Recorder recorder = Recorder.builder("many").directory(root).open()) {
      for (int i = 0; i < 1_500; i++) {
        recorder.breadcrumb(Level.INFO, "n", "number " + i, null);
      }
    }
    Report report = Runs.under(root).list().get(0).report();
    Pending pending = new Pending();

    CompletableResultCode result =
        ReportTelemetry.of(report).export(pending.spans(), pending.logs());
    for (int i = 0; i < 3; i++) {
      pending.results.get(i).succeed();
    }

    assertThat(result.isSuccess()).isTrue();
    assertThat(pending.given)
        .as("no spans: the span exporter is not asked")
        .containsExactly("512 logs", "512 logs", report.trail().size() - 1024 + " logs");
  }

  @Test
  void exportersInMemoryGetEverything() {
    InMemorySpanExporter spans = InMemorySpanExporter.create();
    InMemoryLogRecordExporter logs = InMemoryLogRecordExporter.create();
    ReportTelemetry telemetry = new ReportTelemetry(telemetry());

    assertThat(telemetry.export(spans, logs).isSuccess()).isTrue();

    assertThat(spans.getFinishedSpanItems()).isEqualTo(telemetry.spans());
    assertThat(logs.getFinishedLogRecordItems()).isEqualTo(telemetry.logs());
  }

  @Test
  void runIsDeliveredWhenTheBackendHasAnsweredAndAgainWithTheSameIdIfItHasNot(@TempDir Path root)
      throws IOException {
    Run run = box().writeTo(root);
    List<String> ids = new ArrayList<>();
    try (Backend backend = new Backend();
        SpanExporter spans =
            OtlpHttpSpanExporter.builder().setEndpoint(backend.endpoint("/v1/traces")).build();
        LogRecordExporter logs =
            OtlpHttpLogRecordExporter.builder().setEndpoint(backend.endpoint("/v1/logs")).build()) {
      backend.logStatus = 400;
      assertThatThrownBy(() -> run.deliver(report -> export(report, spans, logs)))
          .isInstanceOf(IOException.class);
      assertThat(run.storedReport()).doesNotExist();

      backend.logStatus = 200;
      assertThat(run.deliver(report -> export(report, spans, logs))).isTrue();
      assertThat(run.deliver(report -> export(report, spans, logs))).isFalse();

      assertThat(backend.logs).hasSize(2);
      backend.logs.forEach(
          request -> {
            List<LogRecord> records =
                request.getResourceLogs(0).getScopeLogs(0).getLogRecordsList();
            ids.add(
                String.valueOf(
                    Protocol.attributes(records.get(records.size() - 1).getAttributesList())
                        .get("app.crash.id")));
          });
    }
    assertThat(ids).containsExactly(BoxBuilder.RUN_ID, BoxBuilder.RUN_ID);
  }

  private static void export(Report report, SpanExporter spans, LogRecordExporter logs)
      throws IOException {
    CompletableResultCode result = ReportTelemetry.of(report).export(spans, logs);
    if (!result.join(20, TimeUnit.SECONDS).isSuccess()) {
      throw new IOException("not exported: run=" + report.run().id());
    }
  }
}
