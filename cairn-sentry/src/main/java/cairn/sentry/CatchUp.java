package cairn.sentry;

import io.sentry.SentryOptions;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Finds once a second, on a thread of its own, what changed in silence. */
final class CatchUp implements Runnable {
  private static final long INTERVAL_MILLIS = 1_000;
  private static final long JOIN_MILLIS = 1_000;

  private final SentryOptions options;
  private final RunMirror run;
  private final CairnScopeObserver observer;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread thread = new Thread(this, "cairn-sentry");

  CatchUp(SentryOptions options, RunMirror run, CairnScopeObserver observer) {
    this.options = options;
    this.run = run;
    this.observer = observer;
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  @Override
  public void run() {
    try {
      while (!closed.await(INTERVAL_MILLIS, TimeUnit.MILLISECONDS)) {
        once();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // somebody else's; what is announced is recorded still
    }
  }

  synchronized void once() {
    try {
      run.options(OptionsRecorder.options(options));
    } catch (RuntimeException | LinkageError e) {
      Faults.warn("Sentry's options are not recorded: error=" + e, e);
    }
    observer.catchUp();
  }

  void close() {
    closed.countDown();
    try {
      thread.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
