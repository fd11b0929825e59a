package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.storage.HeldDirectories;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LivenessTest {
  private final FakeHost host = new FakeHost();

  @TempDir Path root;

  /** Locks a file until its input ends; or says whether it is locked. */
  public static final class LockProcess {
    private LockProcess() {}

    public static void main(String[] args) throws IOException {
      try (FileChannel channel = FileChannel.open(Path.of(args[0]), StandardOpenOption.WRITE);
          FileLock lock = channel.tryLock()) {
        System.out.println(lock == null ? "held by another" : "held");
        System.out.flush();
        while (System.in.read() >= 0) {}
      }
    }
  }

  private static Process lock(Path run) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx32m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            LockProcess.class.getName(),
            run.resolve("lock").toString())
        .redirectErrorStream(true)
        .start();
  }

  private static String firstLine(Process process) throws IOException {
    return new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
        .readLine();
  }

  private static void end(Process process) throws Exception {
    process.getOutputStream().close();
    if (!process.waitFor(60, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  void aLockHeldByAnotherProcessIsAliveUntilItDies() throws Exception {
    Run run = BoxBuilder.box().writeTo(root);
    Process owner = lock(run.directory());
    try {
      assertThat(firstLine(owner)).isEqualTo("held");
      assertThat(run.isRunning(host)).isTrue();
      assertThat(run.report(host).verdict().cause()).isEqualTo(Cause.RUNNING);
      assertThat(run.isRunning(host)).as("asking takes nothing away").isTrue();
    } finally {
      end(owner);
    }
    assertThat(Liveness.of(run.directory())).isEqualTo(Liveness.DEAD);
    assertThat(run.isRunning(host)).isFalse();
  }

  @Test
  void aRunHeldByThisJvmIsAliveAndKeepsItsLock() throws Exception {
    Run run = BoxBuilder.box().writeTo(root);
    Properties properties = System.getProperties();
    String before = properties.getProperty(HeldDirectories.KEY);
    try (FileChannel channel =
            FileChannel.open(run.directory().resolve("lock"), StandardOpenOption.WRITE);
        FileLock lock = channel.lock()) {
      assertThat(lock.isValid()).isTrue();
      properties.setProperty(
          HeldDirectories.KEY,
          (before == null ? "" : before) + run.directory().toRealPath() + "\n");
      assertThat(run.isRunning(host)).isTrue();
      assertThat(run.report(host).verdict().cause()).isEqualTo(Cause.RUNNING);
      // Had the file been opened and closed here, the lock would be gone for other processes.
      Process other = lock(run.directory());
      try {
        assertThat(firstLine(other)).isEqualTo("held by another");
      } finally {
        end(other);
      }
    } finally {
      if (before == null) {
        properties.remove(HeldDirectories.KEY);
      } else {
        properties.setProperty(HeldDirectories.KEY, before);
      }
    }
    assertThat(run.isRunning(host)).isFalse();
  }

  @Test
  void aRunWhoseNameOnlyBeginsLikeAHeldOneIsNotHeld() throws Exception {
    Run run = BoxBuilder.box().writeTo(root);
    Properties properties = System.getProperties();
    String before = properties.getProperty(HeldDirectories.KEY);
    try {
      properties.setProperty(
          HeldDirectories.KEY, run.directory().toRealPath() + "0\n/x" + run.directory() + "\n");
      assertThat(Liveness.of(run.directory())).isEqualTo(Liveness.DEAD);
    } finally {
      if (before == null) {
        properties.remove(HeldDirectories.KEY);
      } else {
        properties.setProperty(HeldDirectories.KEY, before);
      }
    }
  }

  @Test
  void withoutALockTheClockDecides() throws Exception {
    Run run = BoxBuilder.box().beat(60_000).writeTo(root);
    Files.delete(run.directory().resolve("lock"));
    assertThat(Liveness.of(run.directory())).isEqualTo(Liveness.UNKNOWN);
    assertThat(run.isRunning(host)).isFalse();
    host.now = Instant.ofEpochMilli(BoxBuilder.START_WALL + 63_000);
    assertThat(run.isRunning(host)).isTrue();
  }

  @Test
  void aLockThatIsNoFileIsNotOpened() throws Exception {
    Run run = BoxBuilder.box().writeTo(root);
    Files.delete(run.directory().resolve("lock"));
    Files.createDirectory(run.directory().resolve("lock"));
    assertThat(Liveness.of(run.directory())).isEqualTo(Liveness.UNKNOWN);
    Files.delete(run.directory().resolve("lock"));
    Files.createSymbolicLink(
        run.directory().resolve("lock"), Files.createFile(root.resolve("elsewhere")));
    assertThat(Liveness.of(run.directory())).isEqualTo(Liveness.UNKNOWN);
  }

  @Test
  void aRunOfAnotherMachineIsAliveByItsBeat() throws Exception {
    Run run = BoxBuilder.box().beat(60_000).writeTo(root);
    host.bootId = "other";
    host.hostName = "web-2";
    host.now = Instant.ofEpochMilli(BoxBuilder.START_WALL + 61_000);
    assertThat(run.isRunning(host)).isTrue();
    host.hostName = BoxBuilder.HOST;
    assertThat(run.isRunning(host)).as("the same machine, rebooted").isFalse();
  }

  @Test
  void theFactsOfThisMachineAreThere() {
    LocalHost local = new LocalHost();
    assertThat(local.now()).isNotNull();
    if (Files.exists(Path.of("/proc/vmstat"))) {
      assertThat(local.bootId()).hasSize(36);
      assertThat(local.hostName()).isNotBlank();
      assertThat(local.bootedAt()).isBefore(local.now());
      assertThat(local.memoryBytes().orElse(0)).isGreaterThan(64 << 20);
    } else {
      System.out.println("LivenessTest: no /proc here, the facts of this machine are unknown");
      assertThat(local.bootId()).isNull();
    }
    assertThat(local.file(root)).isNull();
    assertThat(local.file(root.resolve("none"))).isNull();
  }
}
