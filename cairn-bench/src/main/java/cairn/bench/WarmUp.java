package cairn.bench;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Warms up by what the compiler does, not by the clock: on a busy machine a second may be too short
 * for it, and half of what is measured would be interpreted.
 */
final class WarmUp {
  /**
   * Makes callers wait for the compiler. Else a compilation that gets no core leaves its method
   * interpreted for as long, and forks of the same code differ threefold.
   */
  static final String JVM_ARG = "-Xbatch";

  /** Of the calling thread's CPU time. */
  private static final long QUIET_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final int MIN_CALLS = 1_000;

  private WarmUp() {}

  /**
   * Does the work again and again until no compilation has ended for a while; gives up after half a
   * minute.
   */
  static void untilCompiled(Callable<?> work) throws Exception {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    long start = System.nanoTime();
    long compiledMillis = -1;
    long quietSince = 0;
    for (int calls = 1; System.nanoTime() - start < LIMIT_NANOS; calls++) {
      work.call();
      if (calls % 16 != 0) {
        continue;
      }
      long millis = compiler.getTotalCompilationTime();
      long cpu = threads.getCurrentThreadCpuTime();
      if (millis != compiledMillis || calls < MIN_CALLS) {
        compiledMillis = millis;
        quietSince = cpu;
      } else if (cpu - quietSince > QUIET_NANOS) {
        return;
      }
    }
  }
}
