package cairn.otel;

import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;

/**
 * What {@link CairnOpenTelemetry#getTracer} returns: a tracer that also has builders for any number
 * of spans. Any thread.
 */
public interface CairnTracer extends Tracer {
  /**
   * Starts a builder that may start any number of spans and keeps its settings: each of them gets
   * all attributes and links. A builder of {@link #spanBuilder} is for one span.
   *
   * <p>It is configured by one thread; then, handed over safely, any threads may start spans from
   * it at once. Where no parent was set, each span's is what is current at its start.
   *
   * @param spanName null or blank is replaced, as the SDK does
   * @return a builder of its own, never used for anything else
   */
  SpanBuilder reusableSpanBuilder(String spanName);
}
