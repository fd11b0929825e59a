package cairn.bench;

import datadog.context.ContextScope;
import datadog.trace.bootstrap.instrumentation.api.AgentSpan;
import datadog.trace.bootstrap.instrumentation.api.AgentTracer.SpanBuilder;
import datadog.trace.bootstrap.instrumentation.api.AgentTracer.TracerAPI;
import java.lang.reflect.Array;
import org.jspecify.annotations.Nullable;

/**
 * The tracer inside Datadog's agent, without the agent, with a writer that writes to nobody. Needs
 * the JVM arguments of {@link DatadogCore}.
 */
final class DatadogContender extends SpanContender {
  private static final String INSTRUMENTATION = "bench";

  /** How a span is started. */
  enum Start {
    REUSED_BUILDER,
    FRESH_BUILDER,
    NO_BUILDER
  }

  private final Start start;
  private final TracerAPI tracer;
  private final SpanBuilder kept;
  private @Nullable AgentSpan last;

  DatadogContender(Start start) {
    this.start = start;
    this.tracer = tracer();
    this.kept = tracer.buildSpan(INSTRUMENTATION, SpanPayload.ROOT).ignoreActiveSpan();
  }

  /** By reflection: the core's classes exist only where {@link DatadogCore} has unpacked them. */
  private static TracerAPI tracer() {
    try {
      Class<?> writer = Class.forName("datadog.trace.agent.common.writer.Writer");
      Object none =
          Class.forName("datadog.trace.agent.common.writer.MultiWriter")
              .getConstructor(writer.arrayType())
              .newInstance(Array.newInstance(writer, 0));
      Object builder =
          Class.forName("datadog.trace.agent.core.CoreTracer").getMethod("builder").invoke(null);
      Class<?> type = builder.getClass();
      type.getMethod("writer", writer).invoke(builder, none);
      return (TracerAPI) type.getMethod("build").invoke(builder);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("core of the Datadog agent cannot be driven: error=" + e, e);
    }
  }

  private SpanBuilder builder(String name) {
    return start == Start.REUSED_BUILDER
        ? tracer.singleSpanBuilder(INSTRUMENTATION, name)
        : tracer.buildSpan(INSTRUMENTATION, name);
  }

  /** Without a builder: no span is active, or the root would be a child. */
  private AgentSpan startRoot() {
    return start == Start.NO_BUILDER
        ? tracer.startSpan(INSTRUMENTATION, SpanPayload.ROOT)
        : builder(SpanPayload.ROOT).ignoreActiveSpan().start();
  }

  private AgentSpan startChild() {
    return start == Start.NO_BUILDER
        ? tracer.startSpan(INSTRUMENTATION, SpanPayload.CHILD)
        : builder(SpanPayload.CHILD).start();
  }

  @Override
  Object root(int i) {
    return finished(startRoot());
  }

  @Override
  Object child(int i) {
    return finished(startChild());
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

  private static AgentSpan four(AgentSpan span, int i) {
    return span.setTag("http.route", SpanPayload.route(i))
        .setTag("http.response.status_code", SpanPayload.status(i))
        .setTag("cache.ratio", SpanPayload.ratio(i))
        .setTag("cache.hit", SpanPayload.hit(i).booleanValue());
  }

  @Override
  Object fourLate(int i) {
    return finished(four(startRoot(), i));
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
    AgentSpan span =
        start == Start.NO_BUILDER
            ? four(startChild(), i)
            : four(builder(SpanPayload.CHILD), i).start();
    try (ContextScope ignored = tracer.activateSpan(span)) {
      return span;
    } finally {
      finished(span);
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
    try (ContextScope ignored = tracer.activateSpan(root)) {
      for (int n = 0; n < CHILDREN; n++) {
        child(caller.next());
      }
      return root;
    } finally {
      root.finish();
    }
  }

  private AgentSpan finished(AgentSpan span) {
    span.finish();
    last = span;
    return span;
  }

  @Override
  void enter() {
    tracer.activateSpan(tracer.buildSpan(INSTRUMENTATION, "current").ignoreActiveSpan().start());
  }

  @Override
  void finish(long spans) {
    tracer.close();
    String type = last == null ? "none" : last.getClass().getName();
    Evidence.require(
        type.equals("datadog.trace.agent.core.DDSpan") && last.getDurationNano() > 0,
        "last span",
        type,
        "a finished DDSpan");
  }
}
