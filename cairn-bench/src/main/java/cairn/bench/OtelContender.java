package cairn.bench;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import org.jspecify.annotations.Nullable;

/** Whatever implements OpenTelemetry's API. */
class OtelContender extends SpanContender {
  private final Tracer tracer;
  private final SpanBuilder kept;
  private final AutoCloseable provider;

  private final @Nullable Counting ended;

  /**
   * @param kept starts any number of spans
   * @param ended was added to the provider; null if nobody is told of an end
   */
  OtelContender(Tracer tracer, SpanBuilder kept, AutoCloseable provider, @Nullable Counting ended) {
    this.tracer = tracer;
    this.kept = kept.setNoParent();
    this.provider = provider;
    this.ended = ended;
  }

  static SpanContender sdk(boolean sampled) {
    Counting ended = new Counting();
    SdkTracerProvider provider =
        SdkTracerProvider.builder().setSampler(sampler(sampled)).addSpanProcessor(ended).build();
    Tracer tracer = provider.get("bench");
    return new OtelContender(
        tracer, tracer.spanBuilder(SpanPayload.ROOT), provider, sampled ? ended : null);
  }

  static Sampler sampler(boolean sampled) {
    return Sampler.parentBased(sampled ? Sampler.alwaysOn() : Sampler.alwaysOff());
  }

  /** Takes part in everything and does nothing but count. */
  static final class Counting implements SpanProcessor {
    /** Not exact when several threads count. */
    private long spans;

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      spans++;
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }

  @Override
  final Object root(int i) {
    return ended(tracer.spanBuilder(SpanPayload.ROOT).setNoParent().startSpan());
  }

  @Override
  final Object child(int i) {
    return ended(tracer.spanBuilder(SpanPayload.CHILD).startSpan());
  }

  @Override
  final Object fourAttributes(int i) {
    return ended(four(tracer.spanBuilder(SpanPayload.ROOT).setNoParent(), i).startSpan());
  }

  private static SpanBuilder four(SpanBuilder builder, int i) {
    return builder
        .setAttribute(SpanPayload.ROUTE, SpanPayload.route(i))
        .setAttribute(SpanPayload.STATUS, SpanPayload.status(i))
        .setAttribute(SpanPayload.RATIO, SpanPayload.ratio(i))
        .setAttribute(SpanPayload.CACHED, SpanPayload.hit(i));
  }

  @Override
  final Object fourLate(int i) {
    Span span = tracer.spanBuilder(SpanPayload.ROOT).setNoParent().startSpan();
    span.setAttribute(SpanPayload.ROUTE, SpanPayload.route(i));
    span.setAttribute(SpanPayload.STATUS, SpanPayload.status(i));
    span.setAttribute(SpanPayload.RATIO, SpanPayload.ratio(i));
    span.setAttribute(SpanPayload.CACHED, SpanPayload.hit(i));
    return ended(span);
  }

  @Override
  final Object tenAttributes(int i) {
    return ended(
        tracer
            .spanBuilder(SpanPayload.ROOT)
            .setNoParent()
            .setAttribute(SpanPayload.METHOD, "GET")
            .setAttribute(SpanPayload.ROUTE, SpanPayload.route(i))
            .setAttribute(SpanPayload.PATH, SpanPayload.path(i))
            .setAttribute(SpanPayload.SCHEME, "https")
            .setAttribute(SpanPayload.HOST, "shop.example")
            .setAttribute(SpanPayload.PORT, SpanPayload.port(i))
            .setAttribute(SpanPayload.CLIENT, SpanPayload.client(i))
            .setAttribute(SpanPayload.AGENT, "shop-frontend/4.18.2 (linux; x86_64)")
            .setAttribute(SpanPayload.VERSION, "1.1")
            .setAttribute(SpanPayload.STATUS, SpanPayload.status(i))
            .startSpan());
  }

  @Override
  final Object list(int i) {
    return ended(
        tracer
            .spanBuilder(SpanPayload.ROOT)
            .setNoParent()
            .setAttribute(SpanPayload.SKUS, SpanPayload.skus(i))
            .startSpan());
  }

  @Override
  final Object childCurrent(int i) {
    Span span = four(tracer.spanBuilder(SpanPayload.CHILD), i).startSpan();
    try (Scope ignored = span.makeCurrent()) {
      return span;
    } finally {
      span.end();
    }
  }

  @Override
  final Object keptBuilder(int i) {
    return ended(kept.startSpan());
  }

  @Override
  final Object exception(int i) {
    Span span = tracer.spanBuilder(SpanPayload.ROOT).setNoParent().startSpan();
    span.recordException(SpanPayload.FAILURE);
    return ended(span);
  }

  @Override
  final Object trace(Calls.Caller caller) {
    Span root = tracer.spanBuilder(SpanPayload.ROOT).setNoParent().startSpan();
    try (Scope ignored = root.makeCurrent()) {
      for (int n = 0; n < CHILDREN; n++) {
        child(caller.next());
      }
      return root;
    } finally {
      root.end();
    }
  }

  private static Span ended(Span span) {
    span.end();
    return span;
  }

  @Override
  @SuppressWarnings("MustBeClosedChecker")
  final void enter() {
    tracer.spanBuilder("current").setNoParent().startSpan().makeCurrent();
  }

  @Override
  void finish(long spans) throws Exception {
    provider.close();
    if (ended != null) {
      Evidence.require(ended.spans >= spans / 2, "spans ended", ended.spans, spans);
    }
  }
}
