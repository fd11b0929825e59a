package cairn.otel;

import io.opentelemetry.api.incubator.config.DeclarativeConfigProperties;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The settings of a processor in a configuration file of OpenTelemetry. */
final class DeclaredSettings {
  private DeclaredSettings() {}

  /** {@return the settings of that node} A processor does not see the resource of its file. */
  static ProcessorSettings of(DeclarativeConfigProperties node) {
    String app = node.getString("app");
    Integer refreshMillis = node.getInt("refresh");
    return new ProcessorSettings(
        app != null && !app.isBlank() ? app : app(),
        node.getString("directory"),
        node.getString("release"),
        node.getString("environment"),
        node.getScalarList("attributes", String.class),
        refreshMillis == null ? null : Duration.ofMillis(refreshMillis),
        node.getBoolean("threads"));
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
