package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DurableContenderTest {
  /** Chronicle Queue needs a JVM that opens packages to it. */
  private static final EnumSet<DurableContender> HERE =
      EnumSet.complementOf(EnumSet.of(DurableContender.CHRONICLE));

  @TempDir Path directory;

  @Test
  void everyContenderIsFoundByItsName() {
    assertThat(DurableContender.NAMES).hasSize(DurableContender.values().length);
    for (DurableContender contender : DurableContender.values()) {
      assertThat(DurableContender.named(contender.cliName())).isSameAs(contender);
    }
  }

  @Test
  void recordsAreLinesOf250BytesThatDiffer() {
    assertThat(DurableContender.TEXTS).doesNotHaveDuplicates();
    for (byte[] record : DurableContender.RECORDS) {
      assertThat(new String(record, StandardCharsets.UTF_8)).hasSize(250).endsWith("\n");
    }
  }

  @Test
  void everyContenderKeepsWhatItTook() throws Exception {
    for (DurableContender contender : HERE) {
      Target target = contender.open(Files.createDirectory(directory.resolve(contender.cliName())));
      write(target, 45);
      target.finish(45);
    }
  }

  @Test
  void everyContenderRefusesToHaveTakenWhatItDidNot() throws Exception {
    for (DurableContender contender : HERE) {
      Target target = contender.open(Files.createDirectory(directory.resolve(contender.cliName())));
      write(target, 44);
      assertThatThrownBy(() -> target.finish(45))
          .as(contender.cliName())
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("expected=45");
    }
  }

  @Test
  void everyTwentiethRecordForcesAndTheRestIsForcedAtTheEnd() throws Exception {
    Target target = DurableContender.RAW_EVERY_20.open(directory);
    write(target, 45);
    assertThat(target.forces()).isEqualTo(2);
    target.settle();
    assertThat(target.forces()).isEqualTo(3);
    target.settle();
    assertThat(target.forces()).isEqualTo(3);
    target.finish(45);
  }

  @Test
  void aFullPreallocatedFileIsWrittenFromItsStart() throws Exception {
    Target target = DurableContender.RAW_EVERY_100.open(directory);
    Path file = directory.resolve("raw.log");
    long size = Files.size(file);
    int records = (int) (size / DurableContender.RECORD_BYTES) + 2;
    write(target, records);
    target.finish(records);
    assertThat(Files.size(file)).isEqualTo(size);
    assertThat(Files.readAllBytes(file)).startsWith(DurableContender.RECORDS[(records - 2) % 16]);
  }

  @Test
  void rawLoopsHaveOneThreadWhateverIsAskedFor() {
    assertThat(DurableContender.RAW_DSYNC.threads(settings(false, 2, 8))).containsExactly(1);
    assertThat(DurableContender.LOCK_DSYNC.threads(settings(false, 2, 8))).containsExactly(2, 8);
    assertThat(DurableContender.TAPE.threads(settings(true, 2, 8))).containsExactly(2, 8);
  }

  @Test
  void askedForNothingOnlyWhatGroupsHas64Threads() {
    assertThat(DurableContender.TAPE.threads(settings(true))).containsExactly(1, 16);
    assertThat(DurableContender.TAPE.threads(settings(false))).containsExactly(1, 2, 4, 8, 16);
    assertThat(DurableContender.LOCK_DSYNC.threads(settings(true))).containsExactly(1, 16, 64);
  }

  private static Settings settings(boolean quick, Integer... threads) {
    return new Settings(
        quick, 1, new Patience(0), List.of(), List.of(), List.of(), List.of(threads));
  }

  private static void write(Target target, int records) throws Exception {
    for (int i = 0; i < records; i++) {
      target.record(i % Payload.VARIANTS);
    }
  }
}
