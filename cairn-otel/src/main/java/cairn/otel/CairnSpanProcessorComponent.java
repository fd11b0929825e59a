package cairn.otel;

import io.opentelemetry.api.incubator.config.DeclarativeConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.internal.ComponentProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;

/**
 * The span processor {@code cairn} of OpenTelemetry's configuration files: found by {@link
 * java.util.ServiceLoader}. To be listed first.
 *
 * <pre>{@code
 * tracer_provider:
 *   processors:
 *     - cairn:
 *         app: orders
 * }</pre>
 *
 * <p>Keys, all optional: {@code app} (default: the property {@code cairn.app}, else {@code
 * otel.service.name}, or their environment variables), {@code directory}, {@code release}, {@code
 * environment}, {@code attributes} (a list), {@code refresh} (milliseconds), {@code threads}.
 *
 * <p>OpenTelemetry's interface for this is not stable yet.
 */
public final class CairnSpanProcessorComponent implements ComponentProvider {
  /** For {@link java.util.ServiceLoader}. */
  public CairnSpanProcessorComponent() {}

  @Override
  public Class<?> getType() {
    return SpanProcessor.class;
  }

  @Override
  public String getName() {
    return "cairn";
  }

  @Override
  public Object create(DeclarativeConfigProperties config) {
    return DeclaredSettings.of(config).spanProcessor();
  }
}
