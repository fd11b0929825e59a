package cairn;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Looks how the JVM comes to its end: listens for a call of exit, and while shutdown hooks take
 * long, notes which one.
 *
 * <p>{@link #beat} on the housekeeper's thread, once a second; the rest on any.
 */
final class ShutdownWatch {
  /*
   * The thread that shuts the JVM down starts all hooks and then joins them one by one, in no order
   * that is known (ApplicationShutdownHooks). Whom it is joining is the object it waits for; that is
   * a hook that has not ended, which is what is asked for. On a virtual thread, which no dump shows,
   * the joining thread is not found, and the hook stays unknown.
   *
   * A dump is a safepoint, so there are few: after 1, 2, 4, 8 ... beats.
   */

  /** From this beat on: before it, loading the logging classes would be in the way. */
  private static final int LISTEN_AT_BEAT = 2;

  private final LifeCycle life;
  private @Nullable ExitLog exitLog;
  private boolean deaf = Runtime.version().feature() < ExitLog.FIRST_VERSION;
  private int beats;
  private int beatsInHooks;

  /** Volatile, as the next: looked at by the housekeeper, then by whoever ends the run. */
  private volatile @Nullable Thread main;

  private volatile boolean ownHandler;

  /** Volatile: set by the shutdown hook, read by the housekeeper. */
  private volatile boolean inHooks;

  ShutdownWatch(LifeCycle life) {
    this.life = life;
    this.main = LifeCycle.isMain(Thread.currentThread()) ? Thread.currentThread() : null;
  }

  /**
   * {@return whether an exception of the thread that opened the recorder, if that is main, may be
   * handled where the recorder doesn't see it} As far as it was seen while it lived: a thread that
   * has ended tells no more.
   */
  boolean mainHasItsOwnHandler() {
    Thread thread = main;
    if (thread != null) {
      Thread.UncaughtExceptionHandler handler = thread.getUncaughtExceptionHandler();
      if (handler == null) {
        main = null; // it has ended
      } else {
        ownHandler = !(handler instanceof ThreadGroup);
      }
    }
    return ownHandler;
  }

  /** Called once a second. */
  void beat() {
    mainHasItsOwnHandler();
    if (inHooks) {
      beatsInHooks++;
      if (Integer.bitCount(beatsInHooks) == 1) {
        noteHook();
      }
    } else if (++beats > LISTEN_AT_BEAT) {
      listen();
    }
  }

  private synchronized void listen() {
    if (deaf) {
      return;
    }
    try {
      if (exitLog == null) {
        exitLog = new ExitLog();
      }
      exitLog.listen();
    } catch (LinkageError | SecurityException e) {
      deaf = true; // a run-time image without the module java.logging
    }
  }

  /** Our own hook has ended; others may not have. */
  void begin() {
    inHooks = true;
  }

  /** Looks no more. */
  synchronized void stop() {
    deaf = true;
    if (exitLog != null) {
      exitLog.stop();
    }
  }

  /** {@return the call of exit that was heard, or null} */
  synchronized LifeCycle.@Nullable Exit exit() {
    return exitLog == null ? null : exitLog.heard();
  }

  private void noteHook() {
    Map<Thread, StackTraceElement[]> stacks = Thread.getAllStackTraces();
    Thread joining = null;
    for (Map.Entry<Thread, StackTraceElement[]> entry : stacks.entrySet()) {
      if (LifeCycle.isIn(entry.getValue(), "java.lang.ApplicationShutdownHooks")) {
        joining = entry.getKey();
      }
    }
    Thread hook = joining == null ? null : joinedBy(joining, stacks);
    StackTraceElement[] frames = hook == null ? null : stacks.get(hook);
    life.stillIn(
        hook == null ? null : hook.getName(), frames == null ? List.of() : List.of(frames));
  }

  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  private static @Nullable Thread joinedBy(
      Thread joining, Map<Thread, StackTraceElement[]> stacks) {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    ThreadInfo info = threads.getThreadInfo(joining.getId());
    LockInfo waitsFor = info == null ? null : info.getLockInfo();
    if (waitsFor == null) {
      return null;
    }
    for (Thread thread : stacks.keySet()) {
      if (System.identityHashCode(thread) == waitsFor.getIdentityHashCode()
          && thread.getClass().getName().equals(waitsFor.getClassName())) {
        return thread;
      }
    }
    return null;
  }
}
