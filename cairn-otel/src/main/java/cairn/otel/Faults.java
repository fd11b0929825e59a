package cairn.otel;

import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What code of others threw into ours, or ours where others would pass it on to the application:
 * counted, the first one logged, never passed on.
 */
final class Faults {
  private final AtomicLong count = new AtomicLong();

  /**
   * Takes note.
   *
   * @param what what threw, and what follows
   * @throws Error if it is one of the virtual machine, other than a stack overflow
   */
  void note(String what, Throwable fault) {
    if (fault instanceof Error error && isFatal(error)) {
      throw error;
    }
    if (count.getAndIncrement() == 0) {
      warn(what + ": error=" + fault, fault);
    }
  }

  /** Takes note of what did not throw and is wrong; as {@link #note(String, Throwable)}. */
  void note(String what) {
    if (count.getAndIncrement() == 0) {
      warn(what);
    }
  }

  /**
   * Takes note of a call that was not recorded; as {@link #note(String, Throwable)}.
   *
   * @param call such as {@code onStart}
   */
  void unrecorded(String call, Throwable fault) {
    note("call from OpenTelemetry was not recorded, call=" + call, fault);
  }

  long count() {
    return count.get();
  }

  // ThreadDeath by name: it is on its way out of the JDK.
  private static boolean isFatal(Error error) {
    return (error instanceof VirtualMachineError && !(error instanceof StackOverflowError))
        || error.getClass().getName().equals("java.lang.ThreadDeath");
  }

  /** Says what somebody must read; never throws. */
  static void warn(String message) {
    log(message, null);
  }

  /** As {@link #warn(String)}, with the stack trace for who debugs. */
  static void warn(String message, Throwable cause) {
    log(message, cause);
  }

  private static void log(String message, @Nullable Throwable cause) {
    try {
      System.Logger logger = System.getLogger("cairn");
      logger.log(System.Logger.Level.WARNING, message);
      if (cause != null) {
        logger.log(System.Logger.Level.DEBUG, message, cause);
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      // A broken logging set-up is not ours to report, and nothing else is left to report it to.
    }
  }
}
