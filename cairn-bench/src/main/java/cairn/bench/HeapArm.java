package cairn.bench;

import java.util.Arrays;
import java.util.List;

/** What the shop is run with. */
enum HeapArm {
  NONE("none", "no telemetry"),
  TWIN("twin", "no telemetry, again"),
  CAIRN("cairn", "Cairn API"),
  SDK_CAIRN("sdk-cairn", "SDK + Cairn"),
  OTEL_AGENT("otel-agent", "OpenTelemetry agent"),
  DATADOG("datadog", "Datadog agent"),
  NOOP("noop", "OpenTelemetry, no-op");

  /** What {@code --only} chooses from, and what the results call it. */
  final String id;

  final String label;

  HeapArm(String id, String label) {
    this.id = id;
    this.label = label;
  }

  static HeapArm of(String id) {
    return Arrays.stream(values())
        .filter(arm -> arm.id.equals(id))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown arm: name=" + id));
  }

  static List<String> ids() {
    return Arrays.stream(values()).map(arm -> arm.id).toList();
  }

  /** {@return those that run unless others are asked for} */
  static List<HeapArm> usual() {
    return Arrays.stream(values()).filter(arm -> arm != NOOP).toList();
  }
}
