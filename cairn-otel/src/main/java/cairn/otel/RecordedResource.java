package cairn.otel;

import cairn.Recorder;
import io.opentelemetry.sdk.resources.Resource;
import java.util.Map;
import java.util.TreeMap;

/**
 * The Resource that a process's telemetry came under, in the scope: its death comes under it too.
 */
final class RecordedResource {
  private RecordedResource() {}

  /**
   * Puts it into the scope, from where a clear takes it away again. Without the command line, which
   * holds secrets more often than not, and without a name that only says that there is none.
   *
   * @param faults takes what the Resource's values throw
   */
  static void put(Recorder recorder, Resource resource, Faults faults) {
    try {
      Map<String, Object> values = new TreeMap<>();
      resource
          .getAttributes()
          .forEach(
              (key, value) -> {
                String name = key.getKey();
                boolean isCommandLine = name.startsWith("process.command");
                boolean isNoName = value.toString().startsWith("unknown_service");
                if (!isCommandLine && !(name.equals("service.name") && isNoName)) {
                  values.put(name, value);
                }
              });
      if (!values.isEmpty()) {
        recorder.scope().context(OtlpTelemetry.RESOURCE_CONTEXT, values);
      }
    } catch (RuntimeException | LinkageError e) {
      faults.note("resource is not recorded", e);
    }
  }
}
