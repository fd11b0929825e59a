package cairn.otel;

import io.opentelemetry.api.incubator.config.DeclarativeConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.internal.ComponentProvider;
import io.opentelemetry.sdk.logs.LogRecordProcessor;

/**
 * The log record processor {@code cairn} of OpenTelemetry's configuration files; keys as for {@link
 * CairnSpanProcessorComponent}. It uses the recorder that the span processor of the file opens;
 * where there is none it opens one at the first log record.
 *
 * <p>OpenTelemetry's interface for this is not stable yet.
 */
public final class CairnLogRecordProcessorComponent implements ComponentProvider {
  /** For {@link java.util.ServiceLoader}. */
  public CairnLogRecordProcessorComponent() {}

  @Override
  public Class<?> getType() {
    return LogRecordProcessor.class;
  }

  @Override
  public String getName() {
    return "cairn";
  }

  @Override
  public Object create(DeclarativeConfigProperties config) {
    // OpenTelemetry makes loggers before tracers: the span processor's settings come first all the
    // same.
    return DeclaredSettings.of(config).lateLogRecordProcessor();
  }
}
