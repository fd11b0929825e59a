package cairn.bench;

import brave.Span;
import brave.Tracer;
import brave.Tracer.SpanInScope;
import brave.Tracing;
import brave.handler.MutableSpan;
import brave.handler.SpanHandler;
import brave.propagation.TraceContext;
import brave.sampler.Sampler;

/** Brave, with a handler that keeps nothing. Its tags are texts, so that numbers become some. */
final class BraveContender extends SpanContender {
  private final boolean sampled;
  private final Counting ended = new Counting();
  private final Tracing tracing;
  private final Tracer tracer;

  BraveContender(boolean sampled) {
    this.sampled = sampled;
    tracing =
        Tracing.newBuilder()
            .localServiceName("bench")
            .sampler(sampled ? Sampler.ALWAYS_SAMPLE : Sampler.NEVER_SAMPLE)
            .addSpanHandler(ended)
            .build();
    tracer = tracing.tracer();
  }

  private static final class Counting extends SpanHandler {
    private long spans;

    @Override
    public boolean end(TraceContext context, MutableSpan span, Cause cause) {
      spans++;
      return true;
    }
  }

  @Override
  Object root(int i) {
    return finished(tracer.newTrace().name(SpanPayload.ROOT).start());
  }

  @Override
  Object child(int i) {
    return finished(tracer.nextSpan().name(SpanPayload.CHILD).start());
  }

  @Override
  Object fourAttributes(int i) {
    return finished(four(tracer.newTrace().name(SpanPayload.ROOT), i).start());
  }

  private static Span four(Span span, int i) {
    return span.tag("http.route", SpanPayload.route(i))
        .tag("http.response.status_code", SpanPayload.status(i).toString())
        .tag("cache.ratio", SpanPayload.ratio(i).toString())
        .tag("cache.hit", SpanPayload.hit(i).toString());
  }

  @Override
  Object fourLate(int i) {
    return finished(four(tracer.newTrace().name(SpanPayload.ROOT).start(), i));
  }

  @Override
  Object tenAttributes(int i) {
    return finished(
        tracer
            .newTrace()
            .name(SpanPayload.ROOT)
            .tag("http.request.method", "GET")
            .tag("http.route", SpanPayload.route(i))
            .tag("url.path", SpanPayload.path(i))
            .tag("url.scheme", "https")
            .tag("server.address", "shop.example")
            .tag("server.port", SpanPayload.port(i).toString())
            .tag("client.address", SpanPayload.client(i))
            .tag("user_agent.original", "shop-frontend/4.18.2 (linux; x86_64)")
            .tag("network.protocol.version", "1.1")
            .tag("http.response.status_code", SpanPayload.status(i).toString())
            .start());
  }

  @Override
  Object list(int i) {
    return cannot("list");
  }

  @Override
  Object childCurrent(int i) {
    Span span = four(tracer.nextSpan().name(SpanPayload.CHILD), i).start();
    try (SpanInScope ignored = tracer.withSpanInScope(span)) {
      return span;
    } finally {
      span.finish();
    }
  }

  @Override
  Object keptBuilder(int i) {
    return cannot("kept builder");
  }

  @Override
  Object exception(int i) {
    return finished(tracer.newTrace().name(SpanPayload.ROOT).start().error(SpanPayload.FAILURE));
  }

  @Override
  Object trace(Calls.Caller caller) {
    Span root = tracer.newTrace().name(SpanPayload.ROOT).start();
    try (SpanInScope ignored = tracer.withSpanInScope(root)) {
      for (int n = 0; n < CHILDREN; n++) {
        child(caller.next());
      }
      return root;
    } finally {
      root.finish();
    }
  }

  private static Span finished(Span span) {
    span.finish();
    return span;
  }

  @Override
  void enter() {
    tracer.withSpanInScope(tracer.newTrace().name("current").start());
  }

  @Override
  void finish(long spans) {
    tracing.close();
    if (sampled) {
      Evidence.require(ended.spans >= spans / 2, "spans ended", ended.spans, spans);
    }
  }
}
