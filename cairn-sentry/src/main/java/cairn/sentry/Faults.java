package cairn.sentry;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What went wrong in calls from sentry-java, which would pass it on to the application: counted,
 * the first one logged as a warning, later ones for who debugs, never passed on.
 *
 * <p>Logged through {@code System.Logger} alone: sentry-java's own appenders make breadcrumbs of
 * what is logged, so nothing here may be called for what happens at each call.
 */
final class Faults {
  private final AtomicLong count = new AtomicLong();

  /**
   * Takes note.
   *
   * @param what what was called, such as {@code setTag}
   * @throws Error if it is one of the virtual machine, other than a stack overflow
   */
  void note(String what, Throwable fault) {
    if (fault instanceof VirtualMachineError error && !(error instanceof StackOverflowError)) {
      throw error;
    }
    boolean isFirst = count.getAndIncrement() == 0;
    log(
        isFirst ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
        "call from Sentry was not recorded: call=" + what + ", error=" + fault,
        fault);
  }

  /** {@return how many there were} */
  long count() {
    return count.get();
  }

  /** Says what somebody must read; never throws. */
  static void warn(String message, @Nullable Throwable cause) {
    log(System.Logger.Level.WARNING, message, cause);
  }

  /** Says what happened in order; never throws. */
  static void tell(String message) {
    log(System.Logger.Level.INFO, message, null);
  }

  private static void log(System.Logger.Level level, String message, @Nullable Throwable cause) {
    try {
      System.Logger logger = System.getLogger("cairn");
      logger.log(level, message);
      if (cause != null) {
        logger.log(System.Logger.Level.DEBUG, message, cause);
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      // A broken logging set-up is not ours to report, and nothing else is left to report it to.
    }
  }
}
