package cairn.otel;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * Calls a processor again and again, on a daemon thread, until it is stopped or nobody holds the
 * processor any more.
 */
final class Refresher implements Runnable {
  private final WeakReference<Runnable> task;
  private final long intervalNanos;
  private final Thread thread;
  private volatile boolean isStopped;

  private Refresher(Runnable task, Duration interval) {
    this.task = new WeakReference<>(task);
    this.intervalNanos = interval.toNanos();
    // No thread locals of whoever builds the processor: they would live as long as the thread.
    this.thread = new Thread(null, this, "cairn-otel-refresh", 0, false);
  }

  /**
   * Starts one.
   *
   * @param task held weakly
   */
  static Refresher start(Runnable task, Duration interval) {
    Refresher refresher = new Refresher(task, interval);
    refresher.thread.setDaemon(true);
    refresher.thread.setContextClassLoader(null);
    refresher.thread.start();
    return refresher;
  }

  void stop() {
    isStopped = true;
    LockSupport.unpark(thread);
  }

  @Override
  public void run() {
    while (!isStopped) {
      LockSupport.parkNanos(this, intervalNanos);
      Runnable now = task.get();
      if (now == null) {
        return;
      }
      if (!isStopped) {
        now.run();
      }
    }
  }

  Thread thread() {
    return thread;
  }
}
