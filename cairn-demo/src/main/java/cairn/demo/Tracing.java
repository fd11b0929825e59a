package cairn.demo;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import cairn.otel.CairnSpanProcessor;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Spans over OpenTelemetry's API, for measuring what a tracer costs: {@code shop.tracer} is {@code
 * noop}, {@code cairn} or {@code sdk}. Without it nothing of this is there.
 *
 * <p>{@link TracedRequests} and {@link TracedSql} make the spans that an agent makes of this shop:
 * a server span for each request, a client span for each SQL statement. They have a recorder of
 * their own, so that {@code shop.recorder} can turn the shop's other wiring off.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty(Tracing.PROPERTY)
class Tracing {
  static final String PROPERTY = "shop.tracer";

  /** Not the shop's: that one may be disabled. */
  private static Recorder recorder() {
    return Recorder.builder("cairn-demo").release("1.4.2").environment("demo").open();
  }

  @Bean
  OpenTelemetry openTelemetry(@Value("${" + PROPERTY + "}") String kind) {
    return switch (kind) {
      case "noop" -> OpenTelemetry.noop();
      case "cairn" -> CairnOpenTelemetry.builder(recorder()).build();
      case "sdk" ->
          OpenTelemetrySdk.builder()
              .setTracerProvider(
                  SdkTracerProvider.builder()
                      .addSpanProcessor(CairnSpanProcessor.create(recorder()))
                      .build())
              .build();
      default ->
          throw new IllegalArgumentException(
              "unknown tracer: " + PROPERTY + "=" + kind + " (noop, cairn or sdk)");
    };
  }

  @Bean
  Tracer tracer(OpenTelemetry openTelemetry) {
    return openTelemetry.getTracer("cairn.demo");
  }
}
