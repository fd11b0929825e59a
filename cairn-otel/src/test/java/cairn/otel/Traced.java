package cairn.otel;

import cairn.otel.Pipeline.Maker;
import cairn.otel.Pipeline.Setup;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A tracer of either maker, with a processor that keeps what it is given. */
final class Traced implements SpanProcessor {
  static final SpanContext REMOTE =
      SpanContext.createFromRemoteParent(
          "4bf92f3577b34da6a3ce929d0e0e4736",
          "00f067aa0ba902b7",
          TraceFlags.getSampled(),
          TraceState.builder().put("vendor", "v1").build());
  static final AttributeKey<String> A = AttributeKey.stringKey("a");

  final SettableClock clock = new SettableClock();
  final List<ReadWriteSpan> started = Collections.synchronizedList(new ArrayList<>());
  final List<Context> parents = Collections.synchronizedList(new ArrayList<>());
  final List<SpanData> ended = Collections.synchronizedList(new ArrayList<>());
  final Pipeline pipeline;
  final Tracer tracer;
  int flushes;
  int shutdowns;

  private Traced(Maker maker, Sampler sampler, SpanLimits limits, List<SpanProcessor> others) {
    List<SpanProcessor> processors = new ArrayList<>(others);
    processors.add(this);
    this.pipeline =
        maker.build(
            new Setup(
                Recorders.disabled(),
                clock,
                IdGenerator.random(),
                sampler,
                () -> limits,
                processors,
                resource()));
    this.tracer = pipeline.provider().get("specification");
  }

  static Traced by(Maker maker) {
    return new Traced(
        maker, Sampler.parentBased(Sampler.alwaysOn()), SpanLimits.getDefault(), List.of());
  }

  static Traced by(Maker maker, SpanLimits limits) {
    return new Traced(maker, Sampler.alwaysOn(), limits, List.of());
  }

  static Traced by(Maker maker, SpanProcessor... first) {
    return new Traced(
        maker, Sampler.parentBased(Sampler.alwaysOn()), SpanLimits.getDefault(), List.of(first));
  }

  static Traced by(Maker maker, Sampler sampler, SpanProcessor... first) {
    return new Traced(maker, sampler, SpanLimits.getDefault(), List.of(first));
  }

  static Resource resource() {
    return Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), "traced"));
  }

  /** {@return a context with a span of another process} */
  static Context remote() {
    return Context.root().with(Span.wrap(REMOTE));
  }

  SpanBuilder root(String name) {
    return tracer.spanBuilder(name).setNoParent();
  }

  SpanBuilder child(Span parent, String name) {
    return tracer.spanBuilder(name).setParent(Context.root().with(parent));
  }

  static SpanData dataOf(Span span) {
    return ((ReadableSpan) span).toSpanData();
  }

  /** {@return the data of the last span that ended} */
  SpanData last() {
    return ended.get(ended.size() - 1);
  }

  @Override
  public void onStart(Context parentContext, ReadWriteSpan span) {
    started.add(span);
    parents.add(parentContext);
  }

  @Override
  public boolean isStartRequired() {
    return true;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    ended.add(span.toSpanData());
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }

  @Override
  public CompletableResultCode forceFlush() {
    flushes++;
    return CompletableResultCode.ofSuccess();
  }

  @Override
  public CompletableResultCode shutdown() {
    shutdowns++;
    return CompletableResultCode.ofSuccess();
  }
}
