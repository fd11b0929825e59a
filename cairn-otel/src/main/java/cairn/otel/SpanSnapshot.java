package cairn.otel;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;

/** A span as it was at one moment; what happens to the span later does not show. */
record SpanSnapshot(
    SpanContext context,
    SpanContext parent,
    Resource resource,
    InstrumentationScopeInfo scope,
    String name,
    SpanKind kind,
    long startEpochNanos,
    long endEpochNanos,
    Attributes attributes,
    int totalAttributeCount,
    List<EventData> events,
    int totalRecordedEvents,
    List<LinkData> links,
    int totalRecordedLinks,
    StatusData status,
    boolean ended)
    implements SpanData {
  @Override
  public String getName() {
    return name;
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
    return startEpochNanos;
  }

  @Override
  public Attributes getAttributes() {
    return attributes;
  }

  @Override
  public List<EventData> getEvents() {
    return events;
  }

  @Override
  public List<LinkData> getLinks() {
    return links;
  }

  @Override
  public long getEndEpochNanos() {
    return endEpochNanos;
  }

  @Override
  public boolean hasEnded() {
    return ended;
  }

  @Override
  public int getTotalRecordedEvents() {
    return totalRecordedEvents;
  }

  @Override
  public int getTotalRecordedLinks() {
    return totalRecordedLinks;
  }

  @Override
  public int getTotalAttributeCount() {
    return totalAttributeCount;
  }

  @Override
  @Deprecated // abstract in the interface up to this day
  @SuppressWarnings("deprecation")
  public io.opentelemetry.sdk.common.InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
    return libraryInfo(scope);
  }

  @SuppressWarnings("deprecation")
  static io.opentelemetry.sdk.common.InstrumentationLibraryInfo libraryInfo(
      InstrumentationScopeInfo scope) {
    return io.opentelemetry.sdk.common.InstrumentationLibraryInfo.create(
        scope.getName(), scope.getVersion(), scope.getSchemaUrl());
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return scope;
  }

  @Override
  public Resource getResource() {
    return resource;
  }
}
