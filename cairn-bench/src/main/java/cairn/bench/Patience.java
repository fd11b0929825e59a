package cairn.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Waits for a machine that others use too to become quiet. */
final class Patience {
  private static final Path PRESSURE = Path.of("/proc/pressure/cpu");
  private static final double QUIET_PERCENT = 10;

  private final long limitNanos;
  private long waitedNanos;

  /**
   * @param seconds how long to wait over all measurements together; 0 never waits
   */
  Patience(long seconds) {
    limitNanos = TimeUnit.SECONDS.toNanos(seconds);
  }

  /**
   * Waits until tasks have waited for a CPU for less than a tenth of the last ten seconds, or until
   * there is no patience left.
   */
  void await(String what) throws InterruptedException, IOException {
    Bench.progress(what);
    long start = System.nanoTime();
    while (waitedNanos + System.nanoTime() - start < limitNanos && pressure() > QUIET_PERCENT) {
      Thread.sleep(1000);
    }
    waitedNanos += System.nanoTime() - start;
  }

  /** {@return the share of the last ten seconds in which a task waited for a CPU, in percent} */
  private static double pressure() throws IOException {
    if (!Files.exists(PRESSURE)) {
      return 0;
    }
    String some = Files.readString(PRESSURE);
    int start = some.indexOf("avg10=") + "avg10=".length();
    return Double.parseDouble(some.substring(start, some.indexOf(' ', start)));
  }
}
