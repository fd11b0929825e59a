package cairn.otel;

import static cairn.report.BoxBuilder.START_WALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import cairn.Level;
import cairn.Recorder;
import cairn.format.BoxLayout;
import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.format.VitalsLayout;
import cairn.report.BoxBuilder;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.Run;
import cairn.report.Runs;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.SeverityNumber;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtlpJsonTest {
  private static final Instant OBSERVED = Instant.ofEpochMilli(START_WALL + 3_600_000);
  private static final byte[] TRACE_ID = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  private static final String TRACE = "0102030405060708090a0b0c0d0e0f10";

  private static OtlpJson export(BoxBuilder box) {
    return export(ReportOfBytes.read(box.bytes()));
  }

  private static OtlpJson export(Report report) {
    return new OtlpJson(new OtlpTelemetry(report, OBSERVED));
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(START_WALL + millis);
  }

  /** A span in a trace: an id, and a parent unless that is 0. */
  private static Map<Object, Object> child(String name, long id, long parent, long millis) {
    Map<Object, Object> begin = BoxBuilder.begin(name, id, millis, "http-1");
    if (parent != 0) {
      begin.put(SpanLayout.BEGIN_PARENT_SPAN_ID, parent);
    }
    begin.put(SpanLayout.BEGIN_TRACE_ID, TRACE_ID);
    return begin;
  }

  private static LogRecord last(OtlpJson json) {
    List<LogRecord> records = Protocol.records(json.logRequests());
    return records.get(records.size() - 1);
  }

  private static Map<String, Object> attributes(LogRecord record) {
    return Protocol.attributes(record.getAttributesList());
  }

  // Spans

  @Test
  void openSpanIsASpanThatEndsWithAnErrorAtTheLastSignOfLife() {
    BoxBuilder box =
        BoxBuilder.box()
            .beat(60_000)
            .span(
                0,
                child("POST /export", 2, 1, 19_000),
                "tenant",
                "acme",
                "rows",
                3L,
                "share",
                0.5,
                "retry",
                true);
    OtlpJson json = export(box);

    assertThat(json.spans()).isEqualTo(1);
    Span span = Protocol.spans(json.traceRequests()).get(0);
    assertThat(Protocol.hex(span.getTraceId())).isEqualTo(TRACE);
    assertThat(Protocol.hex(span.getSpanId())).isEqualTo("0000000000000002");
    assertThat(Protocol.hex(span.getParentSpanId())).isEqualTo("0000000000000001");
    assertThat(span.getName()).isEqualTo("POST /export");
    assertThat(span.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_INTERNAL);
    assertThat(span.getFlags()).isEqualTo(1);
    assertThat(span.getStartTimeUnixNano()).isEqualTo(nanos(19_000));
    assertThat(span.getEndTimeUnixNano()).isEqualTo(nanos(60_000));
    assertThat(span.getStatus().getCode()).isEqualTo(Status.StatusCode.STATUS_CODE_ERROR);
    assertThat(span.getStatus().getMessage())
        .isEqualTo("the process ended before the span: UNKNOWN (unknown)");
    assertThat(Protocol.attributes(span.getAttributesList()))
        .containsExactly(
            entry("tenant", "acme"),
            entry("rows", 3L),
            entry("share", 0.5),
            entry("retry", true),
            entry("error.type", "process_terminated"),
            entry("cairn.span.incomplete", true),
            entry("thread.name", "http-1"),
            entry("cairn.run.id", BoxBuilder.RUN_ID),
            entry("cairn.cause", "UNKNOWN"),
            entry("cairn.confidence", "unknown"));
    assertThat(span.getDroppedAttributesCount()).isZero();
  }

  @Test
  void whatATracerSaidOfTheSpanIsKept() {
    Map<Object, Object> begin = child("POST /orders", 2, 1, 0);
    begin.put(SpanLayout.BEGIN_KIND, 1L);
    begin.put(SpanLayout.BEGIN_TRACE_FLAGS, 2L);
    begin.put(SpanLayout.BEGIN_EPOCH_NANOS, nanos(0) + 123_456);
    BoxBuilder box = BoxBuilder.box().beat(60_000).span(0, begin);
    note(box, SpanLayout.NOTE_NAME, "POST /orders/{id}");
    note(box, SpanLayout.NOTE_STATUS, List.of(2L, "no stock"));
    note(box, SpanLayout.NOTE_EVENTS, 4L);

    Span span = Protocol.spans(export(box).traceRequests()).get(0);

    assertThat(span.getName()).isEqualTo("POST /orders/{id}");
    assertThat(span.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
    assertThat(span.getFlags()).as("not sampled, random").isEqualTo(2);
    assertThat(span.getStartTimeUnixNano()).isEqualTo(nanos(0) + 123_456);
    assertThat(span.getDroppedEventsCount()).isEqualTo(4);
    assertThat(Protocol.attributes(span.getAttributesList()))
        .containsEntry("cairn.span.status", "ERROR")
        .containsEntry("cairn.span.status.description", "no stock");
  }

  /** Adds a note to the span in slot 0. */
  private static void note(BoxBuilder box, int key, Object value) {
    ByteArrayOutputStream payload = new ByteArrayOutputStream();
    payload.writeBytes(BoxBuilder.cbor(key));
    payload.writeBytes(BoxBuilder.cbor(value));
    box.spanEntry(0, payload.toByteArray());
  }

  @Test
  void resourceIsThatOfTheProcessThatDied() {
    String container = "0123456789abcdef".repeat(4);
    OtlpJson json =
        export(
            BoxBuilder.box()
                .identity("processStart", (BoxBuilder.START_NANOS / 1_000_000 - 2_500) / 10)
                .identity("javaVersion", "17.0.15")
                .identity("javaVendor", "Eclipse Adoptium")
                .identity("os", "Linux 6.1.0 amd64")
                .identity("hostId", "node-7")
                .identity("cgroup", "/kubepods/pod1/cri-" + container + ".scope")
                .beat(60_000)
                .span(0, child("a", 2, 0, 0))
                .crumb(0, 1, "c", "m"));

    Resource resource =
        Protocol.traces(json.traceRequests().get(0)).getResourceSpans(0).getResource();
    assertThat(Protocol.attributes(resource.getAttributesList()))
        .containsExactly(
            entry("service.name", "orders"),
            entry("service.version", "1.4.2"),
            entry("service.instance.id", BoxBuilder.RUN_ID),
            entry("deployment.environment.name", "prod"),
            entry("telemetry.sdk.name", "cairn"),
            entry("telemetry.sdk.language", "java"),
            entry("telemetry.sdk.version", "0.1.0"),
            entry("process.pid", 4711L),
            entry("process.creation.time", "2026-11-30T13:59:57.500Z"),
            entry("process.working_directory", "/srv/orders"),
            entry("process.runtime.version", "17.0.15"),
            entry("process.runtime.description", "Eclipse Adoptium"),
            entry("host.name", "web-1"),
            entry("host.id", "node-7"),
            entry("container.id", container),
            entry("os.type", "linux"),
            entry("os.description", "Linux 6.1.0 amd64"),
            entry("os.name", "Linux"),
            entry("os.version", "6.1.0"),
            entry("cairn.run.id", BoxBuilder.RUN_ID));
    assertThat(Protocol.logs(json.logRequests().get(0)).getResourceLogs(0).getResource())
        .isEqualTo(resource);
    assertThat(
            Protocol.logs(json.logRequests().get(0)).getResourceLogs(0).getScopeLogs(0).getScope())
        .satisfies(
            scope -> {
              assertThat(scope.getName()).isEqualTo("cairn");
              assertThat(scope.getVersion()).isEqualTo("0.1.0");
            });
  }

  @Test
  void processThatIsFarOlderThanItsRecorderHasNoCreationTime() {
    OtlpJson json =
        export(BoxBuilder.box().identity("processStart", 1L).beat(1).crumb(0, 1, "c", "m"));

    Resource resource = Protocol.logs(json.logRequests().get(0)).getResourceLogs(0).getResource();
    assertThat(Protocol.attributes(resource.getAttributesList()))
        .doesNotContainKey("process.creation.time");
  }

  @Test
  void resourceThatTheApplicationPutIntoTheScopeWins() {
    OtlpJson json =
        export(
            BoxBuilder.box()
                .beat(1)
                .scope(
                    RecordLayout.KIND_CONTEXT,
                    "otel.resource",
                    BoxBuilder.map(
                        "service.name", "checkout", "service.instance.id", "i-7", "zone", "b")));

    Map<String, Object> resource =
        Protocol.attributes(
            Protocol.logs(json.logRequests().get(0))
                .getResourceLogs(0)
                .getResource()
                .getAttributesList());
    assertThat(resource)
        .containsEntry("service.name", "checkout")
        .containsEntry("service.instance.id", "i-7")
        .containsEntry("zone", "b")
        .containsEntry("cairn.run.id", BoxBuilder.RUN_ID);
    assertThat(attributes(last(json)))
        .containsEntry("service.name", "checkout")
        .containsEntry("service.instance.id", "i-7")
        .doesNotContainKey("cairn.contexts.otel.resource");
  }

  @Test
  void errorTypeOfTheSpanItselfIsKeptUnderAnotherName() {
    Span span =
        Protocol.spans(
                export(BoxBuilder.box().beat(1).span(0, child("a", 2, 0, 0), "error.type", "500"))
                    .traceRequests())
            .get(0);

    assertThat(Protocol.attributes(span.getAttributesList()))
        .containsEntry("error.type", "process_terminated")
        .containsEntry("cairn.span.error.type", "500");
  }

  @Test
  void spanThatSaysItBeginsAfterTheLastSignOfLifeEndsWhereItBegins() {
    Map<Object, Object> begin = child("a", 2, 0, 0);
    begin.put(SpanLayout.BEGIN_EPOCH_NANOS, nanos(90_000));

    Span span =
        Protocol.spans(export(BoxBuilder.box().beat(60_000).span(0, begin)).traceRequests()).get(0);

    assertThat(span.getStartTimeUnixNano()).isEqualTo(nanos(90_000));
    assertThat(span.getEndTimeUnixNano()).isEqualTo(nanos(90_000));
  }

  @Test
  void spansWithoutATraceShareOneWithTheirOpenAncestorsAndNoOthers() {
    Map<Object, Object> child = BoxBuilder.begin("child", 3, 1, "t");
    child.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 2L);
    Map<Object, Object> orphan = BoxBuilder.begin("orphan", 4, 2, "t");
    orphan.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 99L);
    Map<Object, Object> sibling = BoxBuilder.begin("sibling", 5, 3, "t");
    sibling.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 99L);
    Map<Object, Object> below = BoxBuilder.begin("below", 7, 5, "t");
    below.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 6L);
    BoxBuilder box =
        BoxBuilder.box()
            .beat(10)
            .span(0, BoxBuilder.begin("root", 2, 0, "t"))
            .span(1, child)
            .span(2, orphan)
            .span(3, sibling)
            .span(4, child("traced", 6, 0, 4))
            .span(5, below);

    Map<String, String> traces = new HashMap<>();
    for (Span span : Protocol.spans(export(box).traceRequests())) {
      traces.put(span.getName(), Protocol.hex(span.getTraceId()));
    }

    assertThat(traces.get("child")).isEqualTo(traces.get("root")).hasSize(32);
    assertThat(traces.get("sibling")).isEqualTo(traces.get("orphan"));
    assertThat(traces.get("below")).isEqualTo(traces.get("traced")).isEqualTo(TRACE);
    assertThat(new HashSet<>(traces.values())).hasSize(3).doesNotContain("0".repeat(32));
  }

  @Test
  void idsThatAreZeroAndParentsInACircleAreNoIds() {
    Map<Object, Object> zero = BoxBuilder.begin("zero", 0, 0, "t");
    zero.put(SpanLayout.BEGIN_TRACE_ID, new byte[16]);
    zero.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 0L);
    Map<Object, Object> one = BoxBuilder.begin("one", 1, 1, "t");
    one.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 2L);
    Map<Object, Object> two = BoxBuilder.begin("two", 2, 2, "t");
    two.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 1L);

    List<Span> spans =
        Protocol.spans(
            export(BoxBuilder.box().beat(5).span(0, zero).span(1, one).span(2, two))
                .traceRequests());

    assertThat(spans).hasSize(3);
    assertThat(spans.get(0).getParentSpanId().isEmpty()).isTrue();
    for (Span span : spans) {
      assertThat(Protocol.hex(span.getTraceId())).hasSize(32).isNotEqualTo("0".repeat(32));
      assertThat(Protocol.hex(span.getSpanId())).hasSize(16).isNotEqualTo("0".repeat(16));
    }
  }

  // Breadcrumbs

  @Test
  void breadcrumbIsALogRecordOfItsTimeLevelAndSpan() {
    Map<Object, Object> crumb = new HashMap<>();
    crumb.put(RecordLayout.CRUMB_CATEGORY, "db");
    crumb.put(RecordLayout.CRUMB_MESSAGE, "SELECT orders");
    crumb.put(RecordLayout.CRUMB_DATA, BoxBuilder.map("rows", 3L, "none", null));
    crumb.put(RecordLayout.CRUMB_THREAD, "http-1");
    crumb.put(RecordLayout.CRUMB_SPAN_ID, 2L);
    BoxBuilder box =
        BoxBuilder.box()
            .beat(60_000)
            .span(0, child("a", 2, 0, 100))
            .trailRecord(RecordLayout.TYPE_BREADCRUMB, 2, 500, BoxBuilder.cbor(crumb));
    crumb.put(RecordLayout.CRUMB_SPAN_ID, 9L);
    box.trailRecord(RecordLayout.TYPE_BREADCRUMB, 0, 600, BoxBuilder.cbor(crumb));

    List<LogRecord> records = Protocol.records(export(box).logRequests());

    assertThat(records).hasSize(3);
    LogRecord record = records.get(0);
    assertThat(record.getTimeUnixNano()).isEqualTo(nanos(500));
    assertThat(record.getObservedTimeUnixNano()).isEqualTo(nanos(3_600_000));
    assertThat(record.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_WARN);
    assertThat(record.getSeverityText()).isEqualTo("WARNING");
    assertThat(record.getBody().getStringValue()).isEqualTo("SELECT orders");
    assertThat(record.getEventName()).isEmpty();
    assertThat(Protocol.hex(record.getTraceId())).isEqualTo(TRACE);
    assertThat(Protocol.hex(record.getSpanId())).isEqualTo("0000000000000002");
    assertThat(record.getFlags()).isEqualTo(1);
    assertThat(attributes(record))
        .containsExactly(
            entry("rows", 3L),
            entry("thread.name", "http-1"),
            entry("cairn.category", "db"),
            entry("cairn.run.id", BoxBuilder.RUN_ID),
            entry("log.record.uid", BoxBuilder.RUN_ID + "-65536"));
    assertThat(record.getDroppedAttributesCount()).as("the null").isEqualTo(1);
    LogRecord other = records.get(1);
    assertThat(other.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_DEBUG);
    assertThat(other.getTraceId().isEmpty() && other.getSpanId().isEmpty()).isTrue();
    assertThat(attributes(other)).containsEntry("cairn.span.id", "0000000000000009");
  }

  @Test
  void breadcrumbsOfTwoTrailsOfOneRunHaveIdsOfTheirOwn(@TempDir Path root) throws IOException {
    Run run = BoxBuilder.box().beat(60_000).crumb(1, 1, "c", "agent's").writeTo(root);
    Path part = Files.createDirectories(run.directory().resolve("parts/1"));
    Files.write(part.resolve("box"), BoxBuilder.box().beat(60_000).crumb(2, 1, "c", "m").bytes());

    List<LogRecord> records = Protocol.records(export(run.report()).logRequests());

    assertThat(records).hasSize(3);
    assertThat(records.stream().map(record -> attributes(record).get("log.record.uid")))
        .containsExactly(
            BoxBuilder.RUN_ID + "-65536", BoxBuilder.RUN_ID + "-65536-2", BoxBuilder.RUN_ID);
  }

  @Test
  void breadcrumbWithoutAMessageHasNoBody() {
    LogRecord record =
        Protocol.records(export(BoxBuilder.box().beat(1).crumb(0, 3, null, null)).logRequests())
            .get(0);

    assertThat(record.hasBody()).isFalse();
    assertThat(record.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_ERROR);
  }

  // The death

  @Test
  void deathIsTheLastRecordAndAnEventWithTheVerdict() {
    Report report =
        ReportOfBytes.read(
            BoxBuilder.box()
                .beat(60_000)
                .second(59_000, VitalsLayout.HEAP_USED, 5, VitalsLayout.THREADS, 7)
                .counter(CounterLayout.CUT, 3)
                .scope(RecordLayout.KIND_USER, null, BoxBuilder.map("id", "42", "plan", "pro"))
                .scope(RecordLayout.KIND_TAG, "region", "eu")
                .scope(RecordLayout.KIND_CONTEXT, "cart", Map.of("items", 3L))
                .scope(RecordLayout.KIND_EXTRA, "note", "x")
                .scope(RecordLayout.KIND_TRANSACTION, null, "POST /orders")
                .crumb(1_000, 1, "c", "m")
                .span(0, child("a", 2, 0, 100))
                .bytes());

    OtlpJson json = export(report);

    LogRecord death = last(json);
    assertThat(json.logs()).isEqualTo(2);
    assertThat(death.getEventName()).isEqualTo("app.crash");
    assertThat(death.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_FATAL);
    assertThat(death.getSeverityText()).isEqualTo("FATAL");
    assertThat(death.getTimeUnixNano()).isEqualTo(nanos(60_000));
    assertThat(death.getObservedTimeUnixNano()).isEqualTo(nanos(3_600_000));
    assertThat(death.getBody().getStringValue())
        .isEqualTo(report.verdict().headline())
        .contains("14:01:00.000 UTC or later");
    assertThat(Protocol.hex(death.getTraceId())).isEqualTo(TRACE);
    assertThat(Protocol.hex(death.getSpanId())).isEqualTo("0000000000000002");
    Map<String, Object> attributes = attributes(death);
    assertThat(attributes)
        .containsEntry("app.crash.id", BoxBuilder.RUN_ID)
        .containsEntry("log.record.uid", BoxBuilder.RUN_ID)
        .containsEntry("cairn.run.id", BoxBuilder.RUN_ID)
        .containsEntry("cairn.cause", "UNKNOWN")
        .containsEntry("cairn.confidence", "unknown")
        .containsEntry("cairn.durability", "process")
        .containsEntry("thread.name", "http-1")
        .containsEntry("service.name", "orders")
        .containsEntry("service.version", "1.4.2")
        .containsEntry("service.instance.id", BoxBuilder.RUN_ID)
        .containsEntry("process.pid", 4711L)
        .containsEntry("cairn.open_spans", 1L)
        .containsEntry("cairn.breadcrumbs", 1L)
        .containsEntry("cairn.findings", 0L)
        .containsEntry("cairn.counters.cut", 3L)
        .containsEntry("cairn.vitals.heapUsed", 5L)
        .containsEntry("cairn.vitals.threads", 7L)
        .containsEntry("user.id", "42")
        .containsEntry("cairn.user.plan", "pro")
        .containsEntry("cairn.tags.region", "eu")
        .containsEntry("cairn.contexts.cart", "{\"items\":3}")
        .containsEntry("cairn.extras.note", "x")
        .containsEntry("cairn.transaction", "POST /orders")
        .doesNotContainKeys("cairn.counters.dropped", "exception.type", "process.exit.code");
    assertThat(attributes.get("cairn.evidence"))
        .asInstanceOf(LIST)
        .contains(
            "for: no end marker: no shutdown hook ran, as return, exit and SIGTERM would have it");
  }

  @Test
  void uncaughtExceptionIsOnTheEventWithTheNewestSpanOfItsThread() {
    OtlpJson json =
        export(
            BoxBuilder.box()
                .beat(60_000)
                .uncaught(60_000, "main", "com.acme.NoStock", "out of 7", "main", true)
                .end("CLEAN", "RETURNED", 60_010)
                .span(0, BoxBuilder.begin("outer", 2, 0, "main"))
                .span(1, BoxBuilder.begin("inner", 3, 10, "main"))
                .span(2, BoxBuilder.begin("other", 4, 20, "http-1")));

    LogRecord death = last(json);
    assertThat(attributes(death))
        .containsEntry("cairn.cause", "UNCAUGHT")
        .containsEntry("exception.type", "com.acme.NoStock")
        .containsEntry("exception.message", "out of 7")
        .containsEntry(
            "exception.stacktrace",
            "com.acme.NoStock: out of 7\n\tat com.acme.Orders.load(Orders.java:12)\n")
        .containsEntry("thread.name", "main");
    assertThat(Protocol.hex(death.getSpanId())).isEqualTo("0000000000000003");
  }

  @Test
  void exceptionThatDidNotEndTheRunIsNotOnTheEvent() {
    LogRecord death =
        last(
            export(
                BoxBuilder.box()
                    .beat(60_000)
                    .uncaught(1_000, "worker", "com.acme.NoStock", "out of 7")));

    assertThat(attributes(death))
        .containsEntry("cairn.cause", "UNKNOWN")
        .doesNotContainKeys("exception.type", "exception.stacktrace");
  }

  @Test
  void exitStatusIsOnTheEventOfARunThatFailed() {
    LogRecord death =
        last(
            export(
                BoxBuilder.box()
                    .beat(60_000)
                    .end("CLEAN", "EXIT", 60_000, "thread", "main", "status", 3L)));

    assertThat(attributes(death))
        .containsEntry("cairn.cause", "EXIT")
        .containsEntry("process.exit.code", 3L);
  }

  @Test
  void runThatEndedInOrderHasNoDeathAndKeepsItsSpansAndBreadcrumbs() {
    OtlpJson json =
        export(
            BoxBuilder.box()
                .beat(60_000)
                .end("CLEAN", "SIGNAL", 60_000, "signal", "SIGTERM")
                .crumb(1, 1, "c", "m")
                .span(0, child("a", 2, 0, 100)));

    assertThat(json.spans()).isEqualTo(1);
    assertThat(Protocol.records(json.logRequests()))
        .singleElement()
        .satisfies(record -> assertThat(record.getEventName()).isEmpty());
  }

  @Test
  void runThatIsAliveIsRefused(@TempDir Path root) throws IOException {
    try (Recorder recorder = Recorder.builder("alive").directory(root).open()) {
      Report report = Runs.under(root).list().get(0).report();
      assertThat(report.verdict().cause()).isEqualTo(Cause.RUNNING);
      assertThatThrownBy(() -> OtlpJson.of(report))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("run is alive: run=" + recorder.runId() + " (export it when it has ended)");
    }
  }

  @Test
  void secondExportHasTheSameRecordsButForWhenTheyWereObserved() {
    BoxBuilder box =
        BoxBuilder.box()
            .beat(60_000)
            .crumb(1, 1, "c", "m")
            .span(0, BoxBuilder.begin("root", 2, 0, "t"))
            .span(1, BoxBuilder.begin("zero", 0, 0, "t"));
    Report report = ReportOfBytes.read(box.bytes());

    OtlpJson first = export(report);
    OtlpJson later = new OtlpJson(new OtlpTelemetry(report, OBSERVED.plusSeconds(60)));

    assertThat(later.traceRequests().get(0)).isEqualTo(first.traceRequests().get(0));
    assertThat(later.logRequests().get(0)).isNotEqualTo(first.logRequests().get(0));
    assertThat(withoutObservation(later)).isEqualTo(withoutObservation(first));
  }

  private static List<LogRecord> withoutObservation(OtlpJson json) {
    return Protocol.records(json.logRequests()).stream()
        .map(record -> record.toBuilder().clearObservedTimeUnixNano().build())
        .toList();
  }

  // Encoding

  @Test
  void encodingIsThatOfOtlpAndNotOfProtobuf() throws IOException {
    JsonNode line =
        new ObjectMapper()
            .readTree(
                export(BoxBuilder.box().beat(60_000).span(0, child("a", 2, 1, 0), "n", 3L))
                    .traceRequests()
                    .get(0));

    JsonNode span = line.at("/resourceSpans/0/scopeSpans/0/spans/0");
    assertThat(span.get("traceId").textValue()).isEqualTo(TRACE);
    assertThat(span.get("spanId").textValue()).isEqualTo("0000000000000002");
    assertThat(span.get("parentSpanId").textValue()).isEqualTo("0000000000000001");
    assertThat(span.get("kind").isInt()).isTrue();
    assertThat(span.at("/status/code").isInt()).isTrue();
    assertThat(span.get("startTimeUnixNano").isTextual()).isTrue();
    assertThat(span.at("/attributes/0/value/intValue").textValue()).isEqualTo("3");
  }

  @Test
  void everyValueThatABoxCanHoldHasAForm() {
    Map<Object, Object> data =
        BoxBuilder.map(
            "texts", List.of("a", "b"),
            "longs", List.of(1L, Long.MIN_VALUE),
            "doubles", List.of(0.5, 1e-300),
            "flags", List.of(true, false),
            "none", List.of(),
            "mixed", Arrays.asList(1L, "a", null, true, 0.5),
            "nulls", Arrays.asList("a", null),
            "nested", BoxBuilder.map("a", List.of(BoxBuilder.map("b", 1L)), "n", null),
            "bytes", new byte[] {1, 2, (byte) 255},
            "big", BigInteger.ONE.shiftLeft(70),
            "fits", BigInteger.valueOf(Long.MAX_VALUE),
            "decimal", new BigDecimal("1.10"),
            "nan", Double.NaN,
            "infinity", Double.NEGATIVE_INFINITY,
            "infinities", List.of(Double.POSITIVE_INFINITY, 1.0),
            "", "a key without a character");
    Map<Object, Object> crumb = new HashMap<>();
    crumb.put(RecordLayout.CRUMB_DATA, data);

    LogRecord record =
        Protocol.records(
                export(
                        BoxBuilder.box()
                            .beat(1)
                            .trailRecord(
                                RecordLayout.TYPE_BREADCRUMB, 1, 0, BoxBuilder.cbor(crumb)))
                    .logRequests())
            .get(0);

    assertThat(attributes(record))
        .containsEntry("texts", List.of("a", "b"))
        .containsEntry("longs", List.of(1L, Long.MIN_VALUE))
        .containsEntry("doubles", List.of(0.5, 1e-300))
        .containsEntry("flags", List.of(true, false))
        .containsEntry("none", List.of())
        .containsEntry("mixed", "[1,\"a\",null,true,0.5]")
        .containsEntry("nulls", "[\"a\",null]")
        .containsEntry("nested", "{\"a\":[{\"b\":1}],\"n\":null}")
        .containsEntry("bytes", "AQL/")
        .containsEntry("big", "1180591620717411303424")
        .containsEntry("fits", Long.MAX_VALUE)
        .containsEntry("decimal", "1.10")
        .containsEntry("nan", Double.NaN)
        .containsEntry("infinity", Double.NEGATIVE_INFINITY)
        .containsEntry("infinities", List.of(Double.POSITIVE_INFINITY, 1.0))
        .doesNotContainKey("");
    assertThat(record.getDroppedAttributesCount()).isEqualTo(1);
  }

  @Test
  void textThatIsNoTextOrMovesATerminalIsEscapedOrReplaced() {
    String hostile = "\u0000\u001b[2J\"\\\n\r\t\u007f\u0085\u2028\u202e\ufeff\ud834\udd73 é€😀";
    OtlpJsonWriter writer = new OtlpJsonWriter();
    writer.beginObject().key(hostile).text("\ud800" + hostile + "\udc00\ud83d").endObject();
    String json = new String(writer.toByteArray(), StandardCharsets.UTF_8);

    assertThat(json)
        .matches("[\\x20-\\x7eé€😀\ufffd]*")
        .contains("\\u0000\\u001b[2J\\\"\\\\\\u000a\\u000d\\u0009\\u007f\\u0085\\u2028\\u202e")
        .contains("\\ud834\\udd73");
    assertThat(read(json).fieldNames().next()).isEqualTo(hostile);
    assertThat(read(json).elements().next().textValue())
        .isEqualTo("\ufffd" + hostile + "\ufffd\ufffd");
  }

  private static JsonNode read(String json) {
    try {
      return new ObjectMapper().readTree(json);
    } catch (IOException e) {
      throw new AssertionError(json, e);
    }
  }

  @Test
  void hostileNamesReachEveryField() {
    String hostile = "\u0000\u001b]0;x\u0007\"\\\n\u2028\u202e😀";
    OtlpJson json =
        export(
            BoxBuilder.box()
                .identity("app", hostile)
                .identity("release", hostile)
                .beat(60_000)
                .scope(RecordLayout.KIND_TAG, hostile, hostile)
                .span(0, BoxBuilder.begin(hostile, 2, 0, hostile), hostile, hostile)
                .crumb(1, 1, hostile, hostile, hostile, hostile));

    Span span = Protocol.spans(json.traceRequests()).get(0);
    assertThat(span.getName()).isEqualTo(hostile);
    assertThat(Protocol.attributes(span.getAttributesList())).containsEntry(hostile, hostile);
    List<LogRecord> records = Protocol.records(json.logRequests());
    assertThat(records.get(0).getBody().getStringValue()).isEqualTo(hostile);
    assertThat(attributes(records.get(0)))
        .containsEntry(hostile, hostile)
        .containsEntry("cairn.category", hostile);
    assertThat(attributes(last(json)))
        .containsEntry("cairn.tags." + hostile, hostile)
        .containsEntry("service.name", hostile);
  }

  // Size and damage

  @Test
  void tenThousandBreadcrumbsAreLinesThatReadersTakeAndNoneIsMissing(@TempDir Path root)
      throws IOException {
    String long16k = "ä".repeat(8 * 1024);
    try (Recorder recorder = Recorder.builder("many").directory(root).open()) {
      for (int i = 0; i < 10_000; i++) {
        recorder.breadcrumb(Level.INFO, "n", "number " + i, null);
      }
      recorder.breadcrumb(Level.INFO, "n", long16k, null);
    }
    Report report = Runs.under(root).list().get(0).report();
    List<Breadcrumb> trail = report.trail();
    assertThat(trail).hasSizeGreaterThan(10_000);

    List<byte[]> lines = export(report).logRequests();

    assertThat(lines).hasSizeGreaterThan(2);
    assertThat(lines).allSatisfy(line -> assertThat(line.length).isLessThan(513 * 1024));
    List<LogRecord> records = Protocol.records(lines);
    assertThat(records).hasSameSizeAs(trail);
    Set<Object> ids = new HashSet<>();
    for (int i = 0; i < records.size(); i++) {
      assertThat(records.get(i).getBody().getStringValue())
          .isEqualTo(String.valueOf(trail.get(i).message()));
      ids.add(attributes(records.get(i)).get("log.record.uid"));
    }
    assertThat(ids).hasSameSizeAs(records);
  }

  @Test
  void recordLargerThanALineIsALineOfItsOwn() {
    String huge = "x".repeat(700_000);
    OtlpAttributes attributes = new OtlpAttributes().put("huge", huge).put("k".repeat(9_000), 1L);
    OtlpTelemetry telemetry =
        new OtlpTelemetry(ReportOfBytes.read(BoxBuilder.box().beat(1).bytes()), OBSERVED);
    for (int i = 0; i < 3; i++) {
      telemetry
          .spans()
          .add(
              new OtlpSpan(
                  TRACE,
                  "000000000000000" + (i + 1),
                  null,
                  1,
                  huge,
                  "INTERNAL",
                  1,
                  2,
                  attributes,
                  0,
                  ""));
    }

    List<byte[]> lines = new OtlpJson(telemetry).traceRequests();

    assertThat(lines).hasSize(3);
    assertThat(Protocol.spans(lines))
        .hasSize(3)
        .allSatisfy(span -> assertThat(span.getName()).isEqualTo(huge));
  }

  @Test
  void anyDamagedByteStillGivesWellFormedRequests() {
    byte[] box =
        BoxBuilder.small()
            .beat(60_000)
            .uncaught(60_000, "m", "E", "x")
            .scope(RecordLayout.KIND_TAG, "a", "b")
            .span(0, child("a", 2, 1, 0), "k", "v")
            .span(1, child("b", 3, 2, 0), "k", 1.5)
            .crumb(1, 1, "c", "m", "k", 1L)
            .crumb(2, 1, "c", "m", "k", List.of("v"))
            .bytes();
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int read = 0;
    for (int i = 0; i < 600; i++) {
      byte[] damaged = box.clone();
      for (int n = random.nextInt(3); n >= 0; n--) {
        damaged[random.nextInt(damaged.length)] ^= (byte) (1 << random.nextInt(8));
      }
      Report report;
      try {
        report = ReportOfBytes.readOrThrow(damaged);
      } catch (IOException e) {
        continue; // nothing to read is nothing to export
      }
      OtlpJson json = export(report);
      assertThat(Protocol.spans(json.traceRequests())).as("seed=%s", seed).hasSize(json.spans());
      assertThat(Protocol.records(json.logRequests())).as("seed=%s", seed).hasSize(json.logs());
      read++;
    }
    assertThat(read).isGreaterThan(400);
  }

  @Test
  void boxWithNothingInItIsADeathWithoutDetails() {
    byte[] box = BoxBuilder.small().bytes();
    BoxBuilder empty = BoxBuilder.small();
    for (int tag : List.of(BoxLayout.IDENTITY, BoxLayout.BEAT, BoxLayout.LIFE)) {
      BoxBuilder.Part part = empty.part(tag);
      Arrays.fill(box, part.offset(), part.offset() + part.length(), (byte) 0);
    }

    OtlpJson json = export(ReportOfBytes.read(box));

    assertThat(json.traceRequests()).isEmpty();
    LogRecord death = last(json);
    assertThat(death.getEventName()).isEqualTo("app.crash");
    assertThat(death.getTimeUnixNano()).as("when it was read").isEqualTo(nanos(3_600_000));
    assertThat(attributes(death)).containsEntry("cairn.cause", "UNKNOWN");
  }
}
