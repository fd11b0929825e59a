package cairn.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;

/** An open span of a dead run as the SDK sees spans. Immutable; any thread. */
final class DeadSpan implements SpanData {
  private final OtlpSpan span;
  private final Resource resource;
  private final InstrumentationScopeInfo scope;
  private final SpanContext context;
  private final SpanContext parent;
  private final SpanKind kind;
  private final Attributes attributes;
  private final StatusData status;

  DeadSpan(OtlpSpan span, Resource resource, InstrumentationScopeInfo scope) {
    this.span = span;
    this.resource = resource;
    this.scope = scope;
    context = context(span.traceId(), span.spanId(), span.traceFlags());
    String parentSpanId = span.parentSpanId();
    parent =
        parentSpanId == null
            ? SpanContext.getInvalid()
            : context(span.traceId(), parentSpanId, span.traceFlags());
    kind = kind(span.kind());
    attributes = ReportTelemetry.attributes(span.attributes());
    status = StatusData.create(StatusCode.ERROR, span.statusMessage());
  }

  static SpanContext context(String traceId, String spanId, int flags) {
    return SpanContext.create(
        traceId, spanId, TraceFlags.fromByte((byte) flags), TraceState.getDefault());
  }

  private static SpanKind kind(String name) {
    for (SpanKind kind : SpanKind.values()) {
      if (kind.name().equals(name)) {
        return kind;
      }
    }
    return SpanKind.INTERNAL;
  }

  @Override
  public String getName() {
    return span.name();
  }

  @Override
  public SpanKind getKind() {
    return kind;
  }

  @Override
  public SpanContext getSpanContext() {
    return context;
  }

  @Override
  public SpanContext getParentSpanContext() {
    return parent;
  }

  @Override
  public StatusData getStatus() {
    return status;
  }

  @Override
  public long getStartEpochNanos() {
    return span.startNanos();
  }

  @Override
  public long getEndEpochNanos() {
    return span.endNanos();
  }

  /** {@return true: an exporter may refuse what has not ended} */
  @Override
  public boolean hasEnded() {
    return true;
  }

  @Override
  public Attributes getAttributes() {
    return attributes;
  }

  @Override
  public int getTotalAttributeCount() {
    return attributes.size() + span.attributes().omitted();
  }

  @Override
  public List<EventData> getEvents() {
    return List.of();
  }

  @Override
  public int getTotalRecordedEvents() {
    return span.events();
  }

  @Override
  public List<LinkData> getLinks() {
    return List.of();
  }

  @Override
  public int getTotalRecordedLinks() {
    return 0;
  }

  @Override
  public Resource getResource() {
    return resource;
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Deprecated // abstract in every version up to 1.68
  @Override
  public io.opentelemetry.sdk.common.InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
    return io.opentelemetry.sdk.common.InstrumentationLibraryInfo.create(
        scope.getName(), scope.getVersion());
  }

  @Override
  public String toString() {
    return "DeadSpan{" + span + '}';
  }
}
