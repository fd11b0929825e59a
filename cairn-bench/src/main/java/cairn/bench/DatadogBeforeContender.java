package cairn.bench;

import ddtrot.dd.trace.bootstrap.instrumentation.api.AgentScope;
import ddtrot.dd.trace.bootstrap.instrumentation.api.AgentSpan;
import ddtrot.dd.trace.bootstrap.instrumentation.api.AgentTracer.SpanBuilder;
import ddtrot.dd.trace.common.writer.Writer;
import ddtrot.dd.trace.core.CoreTracer;
import ddtrot.dd.trace.core.DDSpan;
import java.util.List;

/** The same core as {@link DatadogContender}'s, in the last library before it reused builders. */
final class DatadogBeforeContender extends SpanContender {
  private static final String INSTRUMENTATION = "bench";

  private final Counting written = new Counting();
  private final CoreTracer tracer = CoreTracer.builder().writer(written).build();
  private final SpanBuilder kept = builder(SpanPayload.ROOT).ignoreActiveSpan();

  private static final class Counting implements Writer {
    private long spans;

    @Override
    public void write(List<DDSpan> trace) {
      spans += trace.size();
    }

    @Override
    public void start() {}

    @Override
    public boolean flush() {
      return true;
    }

    @Override
    public void close() {}

    @Override
    public void incrementDropCounts(int count) {}
  }

  private SpanBuilder builder(String name) {
    return tracer.buildSpan(INSTRUMENTATION, name);
  }

  private AgentSpan startRoot() {
    return builder(SpanPayload.ROOT).ignoreActiveSpan().start();
  }

  @Override
  Object root(int i) {
    return finished(startRoot());
  }

  @Override
  Object child(int i) {
    return finished(builder(SpanPayload.CHILD).start());
  }

  @Override
  Object fourAttributes(int i) {
    return finished(four(builder(SpanPayload.ROOT).ignoreActiveSpan(), i).start());
  }

  private static SpanBuilder four(SpanBuilder builder, int i) {
    return builder
        .withTag("http.route", SpanPayload.route(i))
        .withTag("http.response.status_code", SpanPayload.status(i))
        .withTag("cache.ratio", SpanPayload.ratio(i))
        .withTag("cache.hit", SpanPayload.hit(i).booleanValue());
  }

  @Override
  Object fourLate(int i) {
    AgentSpan span = startRoot();
    span.setTag("http.route", SpanPayload.route(i));
    span.setTag("http.response.status_code", SpanPayload.status(i));
    span.setTag("cache.ratio", SpanPayload.ratio(i));
    span.setTag("cache.hit", SpanPayload.hit(i).booleanValue());
    return finished(span);
  }

  @Override
  Object tenAttributes(int i) {
    return finished(
        builder(SpanPayload.ROOT)
            .ignoreActiveSpan()
            .withTag("http.request.method", "GET")
            .withTag("http.route", SpanPayload.route(i))
            .withTag("url.path", SpanPayload.path(i))
            .withTag("url.scheme", "https")
            .withTag("server.address", "shop.example")
            .withTag("server.port", SpanPayload.port(i))
            .withTag("client.address", SpanPayload.client(i))
            .withTag("user_agent.original", "shop-frontend/4.18.2 (linux; x86_64)")
            .withTag("network.protocol.version", "1.1")
            .withTag("http.response.status_code", SpanPayload.status(i))
            .start());
  }

  @Override
  Object list(int i) {
    AgentSpan span = startRoot();
    span.setTag("cart.skus", SpanPayload.skus(i));
    return finished(span);
  }

  @Override
  Object childCurrent(int i) {
    AgentSpan span = four(builder(SpanPayload.CHILD), i).start();
    try (AgentScope ignored = tracer.activateSpan(span)) {
      return span;
    } finally {
      span.finish();
    }
  }

  @Override
  Object keptBuilder(int i) {
    return finished(kept.start());
  }

  @Override
  Object exception(int i) {
    return finished(startRoot().addThrowable(SpanPayload.FAILURE));
  }

  @Override
  Object trace(Calls.Caller caller) {
    AgentSpan root = startRoot();
    try (AgentScope ignored = tracer.activateSpan(root)) {
      for (int n = 0; n < CHILDREN; n++) {
        child(caller.next());
      }
      return root;
    } finally {
      root.finish();
    }
  }

  private static AgentSpan finished(AgentSpan span) {
    span.finish();
    return span;
  }

  @Override
  void enter() {
    tracer.activateSpan(builder("current").ignoreActiveSpan().start());
  }

  @Override
  void finish(long spans) {
    tracer.close();
    // Children of a span that never ends are handed on by the thousand.
    Evidence.require(written.spans >= spans / 2 - 2000, "spans", written.spans, spans);
  }
}
