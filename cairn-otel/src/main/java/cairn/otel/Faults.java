package cairn.otel;

import java.util.concurrent.atomic.AtomicLong;

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

  /**
   * Takes note of a call that was not recorded; as {@link #note}.
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
  static void warn(String message, Throwable cause) {
    try {
      System.Logger logger = System.getLogger("cairn");
      logger.log(System.Logger.Level.WARNING, message);
      logger.log(System.Logger.Level.DEBUG, message, cause);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      // A broken logging set-up is not ours to report, and nothing else is left to report it to.
    }
  }
}
