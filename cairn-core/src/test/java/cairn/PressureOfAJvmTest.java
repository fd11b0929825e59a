package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.PressureSnapshot;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A real heap that fills up, under each collector of HotSpot. */
class PressureOfAJvmTest {
  @TempDir Path root;

  @ParameterizedTest
  @ValueSource(strings = {"Serial", "Parallel", "G1", "Z", "Shenandoah"})
  void spanThatFillsTheHeapIsInTheSnapshotOfItsLastLevel(String collector) throws Exception {
    String option = "-XX:+Use" + collector + "GC";
    if (!ChildJvm.run(List.of(option), Empty.class).startsWith("exit=0")) {
      System.out.println("not tried, this JVM has no such collector: " + collector);
      return;
    }
    Process process =
        ChildJvm.startWith(List.of(option, "-Xms128m"), Victim.class, root.toString());
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    PressureSnapshot last = null;
    try {
      while (last == null) {
        assertThat(process.isAlive()).isTrue();
        assertThat(System.nanoTime()).isLessThan(deadline);
        last = settled();
      }
    } finally {
      process.destroyForcibly().waitFor();
    }

    assertThat(last.limit()).isEqualTo(PressureSnapshot.Limit.HEAP);
    assertThat(last.usedBytes()).isBetween(last.limitBytes() / 100 * 75, last.limitBytes());
    assertThat(last.spans())
        .filteredOn(span -> span.name().equals("POST /export"))
        .singleElement()
        .satisfies(
            span -> {
              assertThat(span.thread()).isEqualTo("greedy");
              assertThat(span.allocatedBytes()).isGreaterThan(64 * 1024);
            });
    assertThat(last.spans())
        .filteredOn(span -> span.name().equals("idle"))
        .hasSize(3)
        .allMatch(span -> span.allocatedBytes() < 64 * 1024);
    assertThat(only().report().counters()).containsEntry("beatErrors", 0L);
  }

  /** {@return the latest snapshot in which it is known who allocated, or null} */
  private @Nullable PressureSnapshot settled() throws IOException {
    PressureSnapshot found = null;
    for (Run run : Runs.under(root)) {
      for (PressureSnapshot taken : run.report().pressure()) {
        boolean isKnown =
            taken.spans().stream()
                .anyMatch(span -> span.name().equals("POST /export") && span.allocatedBytes() > 0);
        found = isKnown ? taken : found;
      }
    }
    return found;
  }

  private Run only() throws IOException {
    List<Run> runs = new ArrayList<>();
    Runs.under(root).forEach(runs::add);
    assertThat(runs).hasSize(1);
    return runs.get(0);
  }

  /** Does nothing. */
  static final class Empty {
    public static void main(String[] args) {}
  }

  /** Fills most of its heap and goes on collecting it. */
  static final class Victim {
    private static final List<byte[]> KEPT = new ArrayList<>();
    private static volatile byte[] garbage;

    public static void main(String[] args) throws Exception {
      Recorder recorder =
          Recorder.builder("pressure")
              .directory(Path.of(args[0]))
              .trailBytes(64 * 1024)
              .spanSlots(16)
              .open();
      CountDownLatch never = new CountDownLatch(1);
      CountDownLatch begun = new CountDownLatch(3);
      for (int i = 0; i < 3; i++) {
        Thread idle =
            new Thread(
                () -> {
                  recorder.begin("idle");
                  begun.countDown();
                  try {
                    never.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                });
        idle.setDaemon(true);
        idle.start();
      }
      begun.await();
      Thread.currentThread().setName("greedy");
      recorder.begin("POST /export");
      long limit = Runtime.getRuntime().maxMemory();
      fill(limit / 100 * 60);
      while (true) {
        fill(limit / 100 * 80);
        System.gc();
        garbage = new byte[64 * 1024];
      }
    }

    private static void fill(long bytes) {
      while (32L * 1024 * KEPT.size() < bytes) {
        KEPT.add(new byte[32 * 1024]);
      }
    }
  }
}
