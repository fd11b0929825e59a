package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordedResourceTest {
  @TempDir Path root;

  private Object recorded() {
    return BoxUnderTest.report(root).scope().contexts().get("otel.resource");
  }

  @Test
  void resourceIsRecordedWithoutCommandLineAndWithoutANameThatIsNone() {
    try (Recorder recorder = Recorder.builder("orders").directory(root).open()) {
      Resource resource =
          Resource.create(
              Attributes.builder()
                  .put("service.name", "unknown_service:java")
                  .put("service.namespace", "shop")
                  .put("process.command_line", "java --password=hunter2")
                  .put(AttributeKey.stringArrayKey("process.command_args"), "--password=hunter2")
                  .put("replicas", 3L)
                  .put("api.key", "k-4711")
                  .put(AttributeKey.stringArrayKey("zones"), "a", "b")
                  .build());
      try (CairnOpenTelemetry otel =
          CairnOpenTelemetry.builder(recorder).resource(resource).build()) {
        assertThat(otel).isNotNull();
        assertThat(recorded())
            .isEqualTo(
                Map.of(
                    "service.namespace",
                    "shop",
                    "replicas",
                    3L,
                    "api.key",
                    "<redacted>",
                    "zones",
                    List.of("a", "b")));
      }
    }
  }

  @Test
  void resourceOfAnAutoconfiguredSdkIsRecorded() {
    try (Recorder recorder = Recorder.builder("own").directory(root).open();
        var sdk =
            AutoConfiguredOpenTelemetrySdk.builder()
                .addPropertiesSupplier(
                    () ->
                        Map.of(
                            "otel.service.name", "orders",
                            "otel.traces.exporter", "none",
                            "otel.metrics.exporter", "none",
                            "otel.logs.exporter", "none",
                            "otel.resource.attributes", "team=checkout"))
                .build()
                .getOpenTelemetrySdk()) {
      assertThat(recorder.isEnabled()).isTrue();
      assertThat(sdk).isNotNull();
      assertThat(recorded())
          .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.MAP)
          .containsEntry("service.name", "orders")
          .containsEntry("team", "checkout");
    }
  }
}
