package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.InstanceOfAssertFactories.MAP;

import cairn.report.Report;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A scope with room for large values. */
class ScopeBytesTest {
  private static final int ROOM = 512 * 1024;
  private static final int KEYS = 2_000;

  @TempDir Path root;

  private Recorder open(Durability durability) {
    return Recorder.builder("orders")
        .directory(root)
        .durability(durability)
        .scopeBytes(ROOM)
        .open();
  }

  private static Map<String, String> large(String mark) {
    Map<String, String> large = new HashMap<>();
    for (int i = 0; i < KEYS; i++) {
      large.put("key-" + i, mark.repeat(100));
    }
    return large;
  }

  @Test
  void valueOfTwoThousandKeysIsReadBackWholeAfterManyChanges() throws IOException {
    try (Recorder recorder = open(Durability.process())) {
      for (int i = 0; i < 12; i++) {
        recorder.scope().context("large", large(String.valueOf((char) ('a' + i))));
        recorder.scope().tag("round", String.valueOf(i));
      }
      Report report = Runs.under(root).list().get(0).report();
      assertThat(report.scope().contexts()).containsEntry("large", large("l"));
      assertThat(report.scope().tags()).containsEntry("round", "11");
      assertThat(report.counters().get("scopeDropped")).isZero();
    }
  }

  @Test
  void valueOfMoreThanHalfTheRoomIsCutAndOtherFieldsStay() throws IOException {
    try (Recorder recorder = open(Durability.process())) {
      recorder.scope().context("large", large("a"));
      Map<String, String> larger = new HashMap<>();
      for (int i = 0; i < 3 * KEYS; i++) {
        larger.put("key-" + i, "b".repeat(100));
      }
      recorder.scope().context("other", larger);
      Report report = Runs.under(root).list().get(0).report();
      assertThat(report.scope().contexts()).containsEntry("large", large("a"));
      assertThat(report.scope().contexts().get("other")).asInstanceOf(MAP).containsEntry("…", true);
      assertThat(report.counters().get("cut")).isPositive();
    }
  }

  @Test
  void largeValueIsInTheJournalAndComesBackWithoutTheBox() throws IOException {
    try (Recorder recorder = open(Durability.power())) {
      recorder.scope().context("large", large("a"));
      recorder.scope().context("large", large("b"));
      assertThat(recorder.awaitDurable(Duration.ofSeconds(30))).isTrue();
      Path copy = root.resolve("copy").resolve("orders").resolve(recorder.runId());
      Files.createDirectories(copy);
      try (Stream<Path> files = Files.list(recorder.directory())) {
        for (Path file : files.toList()) {
          if (String.valueOf(file.getFileName()).startsWith("journal-")) {
            Files.copy(file, copy.resolve(file.getFileName()));
          }
        }
      }
      Files.createFile(copy.resolve("lock"));
      Report report = Runs.under(root.resolve("copy")).list().get(0).report();
      assertThat(report.scope().contexts()).containsEntry("large", large("b"));
    }
  }

  @Test
  void clearLeavesNothingOfALargeValueInTheBox() throws IOException {
    try (Recorder recorder = open(Durability.process())) {
      recorder.scope().context("large", large("a"));
      recorder.scope().clear();
      byte[] box = Files.readAllBytes(recorder.directory().resolve("box"));
      assertThat(new String(box, StandardCharsets.ISO_8859_1)).doesNotContain("a".repeat(20));
    }
  }

  @Test
  void roomThatIsNoPowerOfTwoOrOutOfRangeIsAMistake() {
    Recorder.Builder builder = Recorder.builder("orders");
    assertThatIllegalArgumentException().isThrownBy(() -> builder.scopeBytes(100_000));
    assertThatIllegalArgumentException().isThrownBy(() -> builder.scopeBytes(16 * 1024));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder.scopeBytes(2 * 1024 * 1024))
        .withMessageContaining("most=1048576");
  }
}
