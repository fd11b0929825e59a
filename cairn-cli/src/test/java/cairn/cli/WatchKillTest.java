package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Watchers as processes of their own, killed and in a crowd. {@code -Dcairn.watchKills=N} kills.
 */
class WatchKillTest {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  @TempDir Path temp;

  private Process watcher(Path root, Path lines) throws IOException {
    return CliProcess.builder(temp, Map.of(), "watch", root, "--interval", "0.05")
        .redirectOutput(Redirect.appendTo(lines.toFile()))
        .redirectError(Redirect.appendTo(temp.resolve("errors").toFile()))
        .start();
  }

  private static int count(Path lines, String id) throws IOException {
    int count = 0;
    for (String line : Files.readAllLines(lines)) {
      if (line.matches("20\\S+Z " + id + " .*: Killed \\(.*")) {
        count++;
      }
    }
    return count;
  }

  @Test
  void aWatcherThatIsKilledAtAnyPointLosesNoDeathAndOneReportOfEachIsStored() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    int kills = Integer.getInteger("cairn.watchKills", 30);
    Path root = temp.resolve("root");
    Path lines = Files.createFile(temp.resolve("lines"));
    DeadRuns copies = new DeadRuns(temp.resolve("original"));
    List<DeadRuns.Dead> dead = new ArrayList<>();
    for (int i = 0; i < kills; i++) {
      dead.add(copies.addTo(root, "shop"));
      // Every tenth death is one that happens before its eyes.
      ChildRun living = i % 10 == 0 ? ChildRun.start(root, "live") : null;
      Process watcher = watcher(root, lines);
      dead.add(copies.addTo(root, "shop"));
      long said = Files.size(lines);
      if (living != null) {
        living.kill();
        dead.add(new DeadRuns.Dead(living.directory, living.id));
      }
      if (random.nextInt(4) > 0) {
        // Around the time when it prints: that is where a death could be lost or come twice.
        while (Files.size(lines) == said && !watcher.waitFor(1, TimeUnit.MILLISECONDS)) {
          assertThat(watcher.isAlive()).isTrue();
        }
      }
      watcher.waitFor(random.nextInt(60_000), TimeUnit.MICROSECONDS);
      watcher.destroyForcibly().waitFor();
    }
    Process last =
        CliProcess.builder(temp, Map.of(), "watch", root, "--once")
            .redirectOutput(Redirect.appendTo(lines.toFile()))
            .start();
    assertThat(last.waitFor()).isZero();

    int printed = 0;
    for (DeadRuns.Dead run : dead) {
      int count = count(lines, run.id());
      assertThat(count).as("lines of %s, seed=%d", run.id(), seed).isPositive();
      assertThat(Cli.Result.json(Files.readString(run.storedReport())).at("/verdict/cause"))
          .as("stored report of %s, seed=%d", run.id(), seed)
          .hasToString("\"KILLED\"");
      printed += count;
    }
    System.out.println(
        "watchers killed: " + kills + ", deaths: " + dead.size() + ", lines: " + printed);
  }

  @Test
  void ofFourWatchersAtOnceOneTellsEachDeath() throws Exception {
    Path root = temp.resolve("root");
    DeadRuns copies = new DeadRuns(temp.resolve("original"));
    List<DeadRuns.Dead> dead = new ArrayList<>();
    List<Process> watchers = new ArrayList<>();
    Path lines = Files.createFile(temp.resolve("lines"));
    dead.add(copies.addTo(root, "shop"));
    try (ChildRun living = ChildRun.start(root, "live")) {
      for (int i = 0; i < 4; i++) {
        watchers.add(watcher(root, lines));
      }
      for (int i = 0; i < 12; i++) {
        dead.add(copies.addTo(root, "shop"));
      }
      awaitStored(dead);
      living.kill();
      dead.add(new DeadRuns.Dead(living.directory, living.id));
      dead.add(copies.addTo(root, "late"));
      awaitStored(dead);
    } finally {
      for (Process watcher : watchers) {
        watcher.destroy();
        assertThat(watcher.waitFor(60, TimeUnit.SECONDS)).isTrue();
      }
    }

    for (DeadRuns.Dead run : dead) {
      assertThat(count(lines, run.id())).as(run.id()).isEqualTo(1);
    }
    assertThat(temp.resolve("errors")).isEmptyFile();
  }

  private static void awaitStored(List<DeadRuns.Dead> dead) throws InterruptedException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    for (DeadRuns.Dead run : dead) {
      while (!Files.exists(run.storedReport())) {
        assertThat(System.nanoTime()).as("time until %s", run.id()).isLessThan(deadline);
        Thread.onSpinWait();
      }
    }
  }
}
