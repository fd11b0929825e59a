package cairn.bench.start;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;

/** Configures the OpenTelemetry SDK from its properties and ends a span. */
public final class OtelMain {
  private OtelMain() {}

  public static void main(String[] args) {
    OpenTelemetrySdk sdk = AutoConfiguredOpenTelemetrySdk.initialize().getOpenTelemetrySdk();
    Span span = sdk.getTracer("bench").spanBuilder("start").startSpan();
    span.end();
    if (!span.getSpanContext().isValid()) {
      System.exit(3);
    }
  }
}
