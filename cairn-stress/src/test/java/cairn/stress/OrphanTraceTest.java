package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.otel.ReportTelemetry;
import cairn.report.Run;
import cairn.report.Runs;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** A trace whose steps reached the backend, and whose root died with its process. */
@Tag("slow")
@Timeout(120)
class OrphanTraceTest {
  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path directory;

  @Test
  void s17TheTraceWhoseRootNeverEndedIsRepairedByTheReport() throws Exception {
    for (Jdk jdk : Jdk.installed()) {
      Path home = Files.createDirectory(directory.resolve("jdk-" + jdk.feature()));
      Path exported = home.resolve("exported");
      List<String> command =
          List.of(
              jdk.java().toString(),
              "-Xmx64m",
              "-cp",
              OtelKillTest.classPath(),
              OrphanVictim.class.getName(),
              home.resolve("root").toString(),
              exported.toString());
      try (Child child = Child.start(command, home.resolve("log"))) {
        assertThat(child.readLine()).isEqualTo("ready");
        child.kill();
      }
      List<Run> runs = Runs.under(home.resolve("root")).list();
      assertThat(runs).hasSize(1);
      repairs(Files.readAllLines(exported), ReportTelemetry.of(runs.get(0).report()).spans());
    }
  }

  private static void repairs(List<String> exported, List<SpanData> recovered) {
    assertThat(exported).hasSize(5);
    assertThat(orphansOf(exported, List.of())).as("before").hasSize(2);
    assertThat(orphansOf(exported, recovered)).as("after").isEmpty();

    assertThat(recovered).hasSize(1);
    SpanData root = recovered.get(0);
    assertThat(root.getName()).isEqualTo("POST /orders");
    assertThat(root.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(root.getParentSpanId()).isEqualTo(SpanId.getInvalid());
    assertThat(root.getTraceId()).isEqualTo(exported.get(4).split(" ", -1)[0]);
    assertThat(root.hasEnded()).isTrue();
    assertThat(root.getEndEpochNanos()).isGreaterThanOrEqualTo(root.getStartEpochNanos());
    assertThat(root.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(root.getAttributes().get(AttributeKey.longKey("order.id"))).isEqualTo(17);
    assertThat(root.getAttributes().get(AttributeKey.stringKey("error.type")))
        .isEqualTo("process_terminated");
    assertThat(root.getAttributes().get(AttributeKey.booleanKey("cairn.span.incomplete"))).isTrue();
  }

  /** {@return those whose parent nobody has} */
  private static Set<String> orphansOf(List<String> exported, List<SpanData> recovered) {
    Set<String> known = new HashSet<>();
    exported.forEach(line -> known.add(line.split(" ", -1)[1]));
    recovered.forEach(span -> known.add(span.getSpanId()));
    known.add(SpanId.getInvalid());
    Set<String> orphans = new HashSet<>();
    for (String line : exported) {
      if (!known.contains(line.split(" ", -1)[2])) {
        orphans.add(line);
      }
    }
    return orphans;
  }
}
