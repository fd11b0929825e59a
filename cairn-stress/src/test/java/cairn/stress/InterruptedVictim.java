package cairn.stress;

import cairn.Level;
import cairn.Recorder;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread dies of an exception with its interrupt flag set, which closes every FileChannel that it
 * touches; then recording goes on for longer than a copy takes, and the process halts.
 */
final class InterruptedVictim {
  static final int STATUS = 4;
  private static final long COPIED_NANOS = 1_000_000_000L;

  private InterruptedVictim() {}

  public static void main(String[] args) throws Exception {
    Recorder recorder = Recorder.builder("victim").directory(Path.of(args[0])).open();
    recorder.breadcrumb(Level.INFO, "test", "before");
    Thread thread =
        new Thread(
            () -> {
              Thread.currentThread().interrupt();
              throw new IllegalStateException("of no interest");
            });
    thread.start();
    thread.join();
    recorder.breadcrumb(Level.INFO, "test", "after");
    System.out.println("mode=" + recorder.mode());
    long end = System.nanoTime() + COPIED_NANOS;
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
    Runtime.getRuntime().halt(STATUS);
  }
}
