package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Breadcrumb;
import cairn.report.Finding;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs under bounded and power durability on a real disk, read back as after power loss. */
class RecorderDurabilityTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path root;
  private final List<Recorder> opened = new ArrayList<>();
  private int losses;

  private Recorder open(Durability durability) {
    Recorder recorder = Recorder.builder("orders").directory(root).durability(durability).open();
    opened.add(recorder);
    return recorder;
  }

  @AfterEach
  void closeAll() {
    opened.forEach(Recorder::close);
  }

  /** The run as power loss may leave it: what was forced, and the box as it was at some time. */
  private Path afterPowerLoss(Recorder recorder, byte[] box) throws IOException {
    Path directory = recorder.directory();
    Path copyRoot = root.resolveSibling(root.getFileName() + "-loss" + ++losses);
    Path copy = copyRoot.resolve("orders").resolve(String.valueOf(directory.getFileName()));
    Files.createDirectories(copy);
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (String.valueOf(file.getFileName()).startsWith("journal-")) {
          Files.copy(file, copy.resolve(file.getFileName()));
        }
      }
    }
    if (box != null) {
      Files.write(copy.resolve("box"), box);
    }
    return copyRoot;
  }

  private static Report report(Path root) throws IOException {
    return Runs.under(root).list().get(0).report();
  }

  private static byte[] box(Recorder recorder) throws IOException {
    return Files.readAllBytes(recorder.directory().resolve("box"));
  }

  @Test
  void reportIsWholeWhenPowerLossTookTheBox() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();

    assertWhole(report(afterPowerLoss(recorder, null)));
  }

  @Test
  void reportIsWholeWhenPowerLossLeftTheBoxAsItWasAtTheStart() throws IOException {
    Recorder recorder = open(Durability.power());
    byte[] old = box(recorder);
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();

    assertWhole(report(afterPowerLoss(recorder, old)));
  }

  @Test
  void reportIsWholeWhenPowerLossScrambledTheBox() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();
    byte[] scrambled = box(recorder);
    for (int at = 0; at < scrambled.length; at += 1024) {
      java.util.Arrays.fill(scrambled, at, at + 512, (byte) 0x5a);
    }

    assertWhole(report(afterPowerLoss(recorder, scrambled)));
  }

  private static void record(Recorder recorder) {
    recorder.scope().user("42").tag("region", "us").tag("region", "eu").tag("gone", "x");
    recorder.scope().tag("gone", null).context("cart", Map.of("items", 3));
    recorder.breadcrumb(Level.INFO, "db", "SELECT orders", Map.of("rows", 3));
    recorder.breadcrumb(Level.WARNING, "db", "slow", null);
    OpenSpan outer = recorder.begin("POST /orders");
    outer.set("order.id", 17L);
    recorder.begin("ended").close();
    recorder.begin("SELECT orders").set("table", "orders");
  }

  private static void assertWhole(Report report) {
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("SELECT orders", "slow");
    assertThat(report.trail().get(0).data()).isEqualTo(Map.of("rows", 3L));
    assertThat(report.scope().user()).isEqualTo(Map.of("id", "42"));
    assertThat(report.scope().tags()).isEqualTo(Map.of("region", "eu"));
    assertThat(report.scope().contexts()).isEqualTo(Map.of("cart", Map.of("items", 3L)));
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactly("POST /orders", "SELECT orders");
    assertThat(report.openSpans().get(0).attributes()).isEqualTo(Map.of("order.id", 17L));
    assertThat(report.openSpans().get(1).attributes()).isEqualTo(Map.of("table", "orders"));
    assertThat(report.run().app()).isEqualTo("orders");
    assertThat(report.run().durability()).isEqualTo("power");
    assertThat(report.run().pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(report.findings())
        .extracting(Finding::text)
        .anyMatch(text -> text.startsWith("taken from the journal"));
  }
}
