package cairn.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.resources.Resource;
import org.jspecify.annotations.Nullable;

/** A breadcrumb, or the death, of a run as the SDK sees log records. Immutable; any thread. */
final class DeadLogRecord implements LogRecordData {
  private final OtlpLog log;
  private final long observedNanos;
  private final Resource resource;
  private final InstrumentationScopeInfo scope;
  private final SpanContext context;
  private final Severity severity;
  private final Attributes attributes;

  DeadLogRecord(
      OtlpLog log, long observedNanos, Resource resource, InstrumentationScopeInfo scope) {
    this.log = log;
    this.observedNanos = observedNanos;
    this.resource = resource;
    this.scope = scope;
    String traceId = log.traceId();
    String spanId = log.spanId();
    context =
        traceId == null || spanId == null
            ? SpanContext.getInvalid()
            : DeadSpan.context(traceId, spanId, log.traceFlags());
    severity = severity(log.severity());
    attributes = ReportTelemetry.attributes(log.attributes());
  }

  private static Severity severity(int number) {
    for (Severity severity : Severity.values()) {
      if (severity.getSeverityNumber() == number) {
        return severity;
      }
    }
    return Severity.UNDEFINED_SEVERITY_NUMBER;
  }

  @Override
  public Resource getResource() {
    return resource;
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Override
  public long getTimestampEpochNanos() {
    return log.timeNanos();
  }

  @Override
  public long getObservedTimestampEpochNanos() {
    return observedNanos;
  }

  @Override
  public SpanContext getSpanContext() {
    return context;
  }

  @Override
  public Severity getSeverity() {
    return severity;
  }

  @Override
  public String getSeverityText() {
    return log.severityText();
  }

  @Override
  public @Nullable Value<?> getBodyValue() {
    String body = log.body();
    return body == null ? null : Value.of(body);
  }

  @Deprecated // abstract in every version up to 1.68
  @Override
  public io.opentelemetry.sdk.logs.data.Body getBody() {
    String body = log.body();
    return body == null
        ? io.opentelemetry.sdk.logs.data.Body.empty()
        : io.opentelemetry.sdk.logs.data.Body.string(body);
  }

  @Override
  public @Nullable String getEventName() {
    return log.eventName();
  }

  @Override
  public Attributes getAttributes() {
    return attributes;
  }

  @Override
  public int getTotalAttributeCount() {
    return attributes.size() + log.attributes().omitted();
  }

  @Override
  public String toString() {
    return "DeadLogRecord{" + log + '}';
  }
}
