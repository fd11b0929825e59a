package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizer;
import io.opentelemetry.sdk.autoconfigure.spi.AutoConfigurationCustomizerProvider;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigProperties;
import io.opentelemetry.sdk.autoconfigure.spi.ConfigurationException;
import io.opentelemetry.sdk.logs.SdkLoggerProviderBuilder;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Adds the processors to an SDK that is configured by properties, the agent's included: found by
 * {@link java.util.ServiceLoader}.
 *
 * <p>System properties, or environment variables in upper case with underscores:
 *
 * <ul>
 *   <li>{@code cairn.otel.enabled}: false adds nothing;
 *   <li>{@code cairn.app}: default {@code service.name} of the resource;
 *   <li>{@code cairn.dir}, {@code cairn.release} (default {@code service.version}), {@code
 *       cairn.environment} (default {@code deployment.environment.name}): of the recorder;
 *   <li>{@code cairn.otel.attributes}, {@code cairn.otel.refresh}, {@code cairn.otel.threads}: of
 *       {@link CairnSpanProcessor.Builder}; threads are bound by default in the agent alone.
 * </ul>
 *
 * <p>If this class loader has an open recorder already, that one is used. In the agent a recorder
 * that the application opens becomes part of the agent's run. An SDK starts without the processors,
 * and with a line in the log, if something here fails.
 */
public final class CairnAutoConfiguration implements AutoConfigurationCustomizerProvider {
  private static final AttributeKey<String> SERVICE_NAME = AttributeKey.stringKey("service.name");
  private static final AttributeKey<String> SERVICE_VERSION =
      AttributeKey.stringKey("service.version");
  private static final AttributeKey<String> ENVIRONMENT =
      AttributeKey.stringKey("deployment.environment.name");
  private static final AttributeKey<String> ENVIRONMENT_BEFORE =
      AttributeKey.stringKey("deployment.environment");

  private volatile Resource resource = Resource.empty();

  /** Read once for both providers: a mistake is said once. Null: not read. */
  private volatile @Nullable ProcessorSettings settings;

  private volatile @Nullable Boolean enabled;

  /** For {@link java.util.ServiceLoader}. */
  public CairnAutoConfiguration() {}

  @Override
  public void customize(AutoConfigurationCustomizer customizer) {
    // Resources are customized before providers are built; the providers' customizers need it.
    customizer.addResourceCustomizer(
        (built, config) -> {
          resource = built;
          settings = null;
          enabled = null;
          return built;
        });
    customizer.addTracerProviderCustomizer(this::addSpanProcessor);
    customizer.addLoggerProviderCustomizer(this::addLogRecordProcessor);
  }

  /**
   * {@return the last to customize: it sees the final resource, and what it puts first is first}
   */
  @Override
  public int order() {
    return Integer.MAX_VALUE;
  }

  private SdkTracerProviderBuilder addSpanProcessor(
      SdkTracerProviderBuilder builder, ConfigProperties config) {
    try {
      if (isEnabled(config)) {
        ProcessorSettings settings = settings(config);
        builder.addSpanProcessorFirst(settings.spanProcessor());
        RecordedResource.put(settings.recorder(), resource, new Faults());
      }
    } catch (RuntimeException | LinkageError e) {
      Faults.warn("spans are not recorded: error=" + e, e);
    }
    return builder;
  }

  private SdkLoggerProviderBuilder addLogRecordProcessor(
      SdkLoggerProviderBuilder builder, ConfigProperties config) {
    try {
      if (isEnabled(config)) {
        builder.addLogRecordProcessorFirst(settings(config).logRecordProcessor());
      }
    } catch (RuntimeException | LinkageError e) {
      Faults.warn("log records are not recorded: error=" + e, e);
    }
    return builder;
  }

  private boolean isEnabled(ConfigProperties config) {
    Boolean known = enabled;
    if (known == null) {
      Boolean given = truth(config, "cairn.otel.enabled");
      known = given == null || given;
      enabled = known;
    }
    return known;
  }

  private ProcessorSettings settings(ConfigProperties config) {
    ProcessorSettings known = settings;
    if (known == null) {
      known = read(config);
      settings = known;
    }
    return known;
  }

  private ProcessorSettings read(ConfigProperties config) {
    String app = first(config.getString("cairn.app"), resource.getAttribute(SERVICE_NAME));
    String environment =
        first(resource.getAttribute(ENVIRONMENT), resource.getAttribute(ENVIRONMENT_BEFORE));
    return new ProcessorSettings(
        app == null ? "java" : app,
        first(config.getString("cairn.dir"), null),
        first(config.getString("cairn.release"), resource.getAttribute(SERVICE_VERSION)),
        first(config.getString("cairn.environment"), environment),
        ProcessorSettings.keys(config.getList("cairn.otel.attributes")),
        refresh(config),
        truth(config, "cairn.otel.threads"));
  }

  /** A setting that names none is said and not followed: a typo must not cost the recording. */
  private static @Nullable Duration refresh(ConfigProperties config) {
    try {
      return config.getDuration("cairn.otel.refresh");
    } catch (ConfigurationException e) {
      Faults.warn(
          "setting is not understood: cairn.otel.refresh="
              + config.getString("cairn.otel.refresh")
              + " (give a number and a unit, such as 250ms); spans are looked at with the default"
              + " interval",
          e);
      return null;
    }
  }

  /** OpenTelemetry takes whatever is not true for false, so a typo would switch things off. */
  private static @Nullable Boolean truth(ConfigProperties config, String name) {
    String value = first(config.getString(name), null);
    if (value == null) {
      return null;
    }
    String word = value.strip();
    if (word.equalsIgnoreCase("true") || word.equalsIgnoreCase("false")) {
      return word.equalsIgnoreCase("true");
    }
    Faults.warn(
        "setting is not understood: "
            + name
            + "="
            + value
            + " (give true or false); the default is used");
    return null;
  }

  private static @Nullable String first(@Nullable String value, @Nullable String otherwise) {
    if (value != null && !value.isBlank()) {
      return value;
    }
    return otherwise == null || otherwise.isBlank() ? null : otherwise;
  }
}
