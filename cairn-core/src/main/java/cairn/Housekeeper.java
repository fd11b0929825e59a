package cairn;

import cairn.format.CounterLayout;
import cairn.format.VitalsLayout;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Cairn's own thread: a sign of life and the vitals once a second, early compaction of the scope, a
 * look at the committer, the termination message, and in copy mode the copies. While memory is
 * tight or about to be, a sign of life and a look at it ten times a second.
 *
 * <p>One daemon thread, {@code cairn-housekeeper}. An exception in it is counted and the next beat
 * comes all the same.
 */
final class Housekeeper implements Runnable {
  private static final long BEAT_NANOS = 1_000_000_000L;
  private static final long COPY_NANOS = 100_000_000L;
  private static final long URGENT_NANOS = 100_000_000L;
  private static final long STOP_MILLIS = 1_000;

  /**
   * The first samples leave out what the management classes know (collections, threads, open
   * files): loading those takes some 40 ms of a processor, which a starting application needs
   * itself.
   */
  private static final int LIGHT_BEATS = 5;

  /** When the last run is looked at: a starting application needs the processors itself. */
  private static final int TELL_AT_BEAT = 3;

  private final Box box;
  private final @Nullable BoxCopier copier;
  private final @Nullable Committer committer;
  private final ShutdownWatch shutdownWatch;
  private final @Nullable LastRun lastRun;
  private final @Nullable TerminationMessage message;
  private final Thread thread;
  private boolean prepared;
  private volatile boolean stopped;

  Housekeeper(
      Box box,
      @Nullable BoxCopier copier,
      @Nullable Committer committer,
      ShutdownWatch shutdownWatch,
      @Nullable LastRun lastRun,
      @Nullable TerminationMessage message) {
    this.lastRun = lastRun;
    this.shutdownWatch = shutdownWatch;
    this.box = box;
    this.copier = copier;
    this.committer = committer;
    this.message = message;
    this.thread = new Thread(null, this, "cairn-housekeeper", 0, false);
    thread.setDaemon(true);
    // The application's class loader must not live as long as we do.
    thread.setContextClassLoader(null);
  }

  void start() {
    thread.start();
  }

  /** Stops beating; waits at most a second. */
  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
    try {
      thread.join(STOP_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    while (!stopped) {
      try {
        box.life.prepare();
        beatOn();
      } catch (Throwable e) {
        failed(CounterLayout.BEAT_ERRORS, "housekeeper ended in an exception and goes on", e);
        LockSupport.parkNanos(this, BEAT_NANOS);
      }
    }
  }

  private void beatOn() {
    try (VitalsSources sources = new VitalsSources()) {
      long[] values = new long[VitalsLayout.COUNT];
      long next = System.nanoTime();
      int beats = 0;
      while (!stopped) {
        if (System.nanoTime() - next >= 0) {
          beat(sources, values, beats >= LIGHT_BEATS);
          beats++;
          if (beats == TELL_AT_BEAT && lastRun != null) {
            lastRun.tell();
          }
          next = Math.max(next + BEAT_NANOS, System.nanoTime() + BEAT_NANOS / 2);
        } else if (box.pressure.isUrgent()) {
          beatBetween(sources, values);
        }
        copy();
        long wait = copier != null ? COPY_NANOS : BEAT_NANOS;
        LockSupport.parkNanos(
            this,
            Math.min(
                next - System.nanoTime(),
                box.pressure.isUrgent() ? Math.min(URGENT_NANOS, wait) : wait));
      }
    }
  }

  /** A sign of life and a look at memory: what the next millisecond may take away. */
  void beatBetween(VitalsSources sources, long[] values) {
    box.beat();
    look(sources, values);
  }

  private void look(VitalsSources sources, long[] values) {
    try {
      sources.readMemory(values, box.clock);
      if (box.pressure.look(values, sources) && committer != null) {
        committer.arrived();
      }
    } catch (Throwable e) {
      failed(CounterLayout.BEAT_ERRORS, "look at the memory ended in an exception", e);
    }
  }

  /** All of a beat, for the thread itself and for whoever measures it. */
  void beat(VitalsSources sources, long[] values, boolean all) {
    try {
      box.beat();
      look(sources, values);
      if (committer != null) {
        committer.check();
      }
      box.scope.compactEarly(); // before what reads the environment and may fail
      sources.readOthers(values, all);
      box.sample(values);
      shutdownWatch.beat();
      if (all && !prepared) {
        prepared = true;
        box.pressure.prepare(sources);
      }
    } catch (Throwable e) {
      failed(CounterLayout.BEAT_ERRORS, "heartbeat ended in an exception", e);
    }
    // Last: it may wait for a file system that hangs.
    if (message != null) {
      message.write();
    }
  }

  /** Whatever it was, the next beat comes: an application may survive an OutOfMemoryError. */
  private void failed(int counter, String what, Throwable e) {
    box.counters.increment(counter);
    try {
      Log.warnOnce(what + ": " + e, e);
    } catch (Throwable again) {
      box.counters.increment(counter); // no memory to say so
    }
  }

  private void copy() {
    if (copier != null) {
      try {
        copier.copy();
      } catch (Throwable e) {
        failed(CounterLayout.COPY_ERRORS, "box was not copied", e);
      }
    }
  }
}
