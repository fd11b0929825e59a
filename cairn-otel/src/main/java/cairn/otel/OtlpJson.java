package cairn.otel;

import cairn.report.Report;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A dead run as requests of the OpenTelemetry protocol, in its JSON encoding: what {@link
 * ReportTelemetry} gives to an exporter, without OpenTelemetry on the class path. Immutable; any
 * thread.
 *
 * <p>Each request is one line without its line feed: a {@code TracesData} ({@code resourceSpans})
 * or a {@code LogsData} ({@code resourceLogs}), as files and {@code /v1/traces} and {@code
 * /v1/logs} take them. A line ends at half a MiB if there is more than one record in it: readers of
 * files cut longer ones, the OpenTelemetry Collector at one MiB.
 *
 * <p>Exported twice, the records have the same ids; the log record {@code app.crash} has the run id
 * as {@code app.crash.id}, every log record a {@code log.record.uid}.
 */
public final class OtlpJson {
  /*
   * An own writer, not the marshalers of opentelemetry-exporter-otlp-common. Those are internal and
   * change between minors, work on the SDK's interfaces only, and with what they need they are
   * larger than the whole command. What is written here is a small part of the protocol that has
   * been stable for years. The tests decode it with the protocol's own classes and compare it with
   * what the official exporter sends.
   */

  private static final int LINE_BYTES = 512 * 1024;
  private static final int STATUS_ERROR = 2;

  private final OtlpTelemetry telemetry;

  OtlpJson(OtlpTelemetry telemetry) {
    this.telemetry = telemetry;
  }

  /**
   * {@return that report as requests}
   *
   * @throws IllegalArgumentException if the run is alive
   */
  public static OtlpJson of(Report report) {
    return new OtlpJson(new OtlpTelemetry(Objects.requireNonNull(report, "report"), Instant.now()));
  }

  /** {@return the id of the run, as the run itself recorded it} */
  public String runId() {
    return telemetry.runId();
  }

  /** {@return how many spans there are} */
  public int spans() {
    return telemetry.spans().size();
  }

  /** {@return how many log records there are, the one of the death included} */
  public int logs() {
    return telemetry.logs().size();
  }

  /** {@return the spans; none if there are none. Encoded at each call} */
  public List<byte[]> traceRequests() {
    List<byte[]> records = new ArrayList<>();
    telemetry.spans().forEach(span -> records.add(json(writer -> span(writer, span))));
    return requests(records, "resourceSpans", "scopeSpans", "spans");
  }

  /** {@return the log records; none if there are none. Encoded at each call} */
  public List<byte[]> logRequests() {
    List<byte[]> records = new ArrayList<>();
    telemetry.logs().forEach(log -> records.add(json(writer -> log(writer, log))));
    return requests(records, "resourceLogs", "scopeLogs", "logRecords");
  }

  private List<byte[]> requests(
      List<byte[]> records, String resourceKey, String scopeKey, String recordKey) {
    byte[] resource =
        json(
            writer -> {
              writer.beginObject();
              attributes(writer, telemetry.resourceAttributes());
              writer.endObject();
            });
    List<byte[]> requests = new ArrayList<>();
    int from = 0;
    while (from < records.size()) {
      int to = from;
      long bytes = resource.length;
      do {
        bytes += records.get(to++).length + 1;
      } while (to < records.size() && bytes + records.get(to).length < LINE_BYTES);
      List<byte[]> part = records.subList(from, to);
      requests.add(
          json(writer -> request(writer, resource, part, resourceKey, scopeKey, recordKey)));
      from = to;
    }
    return requests;
  }

  private void request(
      OtlpJsonWriter writer,
      byte[] resource,
      List<byte[]> records,
      String resourceKey,
      String scopeKey,
      String recordKey) {
    writer.beginObject().key(resourceKey).beginArray().beginObject();
    writer.key("resource").raw(resource);
    writer.key(scopeKey).beginArray().beginObject();
    writer.key("scope").beginObject().key("name").text(OtlpTelemetry.SCOPE_NAME);
    String version = telemetry.version();
    if (version != null) {
      writer.key("version").text(version);
    }
    writer.endObject().key(recordKey).beginArray();
    records.forEach(writer::raw);
    writer.endArray().endObject().endArray().endObject().endArray().endObject();
  }

  private static byte[] json(Consumer<OtlpJsonWriter> content) {
    OtlpJsonWriter writer = new OtlpJsonWriter();
    content.accept(writer);
    return writer.toByteArray();
  }

  private static void span(OtlpJsonWriter writer, OtlpSpan span) {
    writer.beginObject();
    writer.key("traceId").text(span.traceId()).key("spanId").text(span.spanId());
    String parentSpanId = span.parentSpanId();
    if (parentSpanId != null) {
      writer.key("parentSpanId").text(parentSpanId);
    }
    // Without the bits that say whether the parent is remote: that is not recorded.
    writer.key("flags").number(span.traceFlags());
    writer.key("name").text(span.name()).key("kind").number(kind(span.kind()));
    writer.key("startTimeUnixNano").longText(span.startNanos());
    writer.key("endTimeUnixNano").longText(span.endNanos());
    attributes(writer, span.attributes());
    if (span.events() > 0) {
      writer.key("droppedEventsCount").number(span.events());
    }
    writer.key("status").beginObject().key("message").text(span.statusMessage());
    writer.key("code").number(STATUS_ERROR).endObject();
    writer.endObject();
  }

  private static int kind(String kind) {
    return switch (kind) {
      case "SERVER" -> 2;
      case "CLIENT" -> 3;
      case "PRODUCER" -> 4;
      case "CONSUMER" -> 5;
      default -> 1; // INTERNAL
    };
  }

  private void log(OtlpJsonWriter writer, OtlpLog log) {
    writer.beginObject();
    writer.key("timeUnixNano").longText(log.timeNanos());
    writer.key("observedTimeUnixNano").longText(telemetry.observedNanos());
    writer.key("severityNumber").number(log.severity());
    writer.key("severityText").text(log.severityText());
    String body = log.body();
    if (body != null) {
      writer.key("body").beginObject().key("stringValue").text(body).endObject();
    }
    attributes(writer, log.attributes());
    String traceId = log.traceId();
    String spanId = log.spanId();
    if (traceId != null && spanId != null) {
      writer.key("flags").number(log.traceFlags());
      writer.key("traceId").text(traceId).key("spanId").text(spanId);
    }
    String eventName = log.eventName();
    if (eventName != null) {
      writer.key("eventName").text(eventName);
    }
    writer.endObject();
  }

  private static void attributes(OtlpJsonWriter writer, OtlpAttributes attributes) {
    writer.key("attributes").beginArray();
    for (Map.Entry<String, Object> attribute : attributes.values().entrySet()) {
      writer.beginObject().key("key").text(attribute.getKey()).key("value");
      anyValue(writer, attribute.getValue());
      writer.endObject();
    }
    writer.endArray();
    if (attributes.omitted() > 0) {
      writer.key("droppedAttributesCount").number(attributes.omitted());
    }
  }

  private static void anyValue(OtlpJsonWriter writer, @Nullable Object value) {
    writer.beginObject();
    if (value instanceof Boolean flag) {
      writer.key("boolValue").bool(flag);
    } else if (value instanceof Long number) {
      writer.key("intValue").longText(number);
    } else if (value instanceof Double number) {
      writer.key("doubleValue").number(number.doubleValue());
    } else if (value instanceof List<?> list) {
      writer.key("arrayValue").beginObject().key("values").beginArray();
      list.forEach(element -> anyValue(writer, element));
      writer.endArray().endObject();
    } else {
      writer.key("stringValue").text(String.valueOf(value));
    }
    writer.endObject();
  }
}
