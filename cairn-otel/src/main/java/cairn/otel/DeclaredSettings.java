package cairn.otel;

import io.opentelemetry.api.incubator.config.DeclarativeConfigProperties;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The settings of a processor in a configuration file of OpenTelemetry. */
final class DeclaredSettings {
  private DeclaredSettings() {}

  /** {@return the settings of that node} A processor does not see the resource of its file. */
  static ProcessorSettings of(DeclarativeConfigProperties node) {
    String app = node.getString("app");
    Integer refreshMillis = orNull(node, "refresh", () -> node.getInt("refresh"));
    return new ProcessorSettings(
        app != null && !app.isBlank() ? app : app(),
        node.getString("directory"),
        node.getString("release"),
        node.getString("environment"),
        ProcessorSettings.keys(
            orNull(node, "attributes", () -> node.getScalarList("attributes", String.class))),
        refreshMillis == null ? null : Duration.ofMillis(refreshMillis),
        orNull(node, "threads", () -> node.getBoolean("threads")));
  }

  /**
   * {@return what is set; null also for a value of another kind, which is said and not followed}
   * The reader of the file throws there, or takes it for nothing.
   */
  private static <T> @Nullable T orNull(
      DeclarativeConfigProperties node, String key, Supplier<@Nullable T> value) {
    T known;
    try {
      known = value.get();
    } catch (RuntimeException e) {
      Faults.warn("setting is not understood: key=" + key + "; the default is used: " + e, e);
      return null;
    }
    if (known == null && node.getPropertyKeys().contains(key)) {
      Faults.warn("setting is not understood: key=" + key + "; the default is used");
    }
    return known;
  }

  private static String app() {
    String[] settings = {
      System.getProperty("cairn.app"),
      System.getenv("CAIRN_APP"),
      System.getProperty("otel.service.name"),
      System.getenv("OTEL_SERVICE_NAME")
    };
    for (@Nullable String setting : settings) {
      if (setting != null && !setting.isBlank()) {
        return setting;
      }
    }
    return "java";
  }
}
