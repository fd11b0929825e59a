package cairn.otel;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What went wrong in a call from the OpenTelemetry SDK: counted, the first one logged, never passed
 * on, since the SDK would pass it on to the application.
 */
final class Faults {
  private final AtomicLong count = new AtomicLong();

  /**
   * Takes note.
   *
   * @param where such as {@code onStart}
   * @throws Error if it is one of the virtual machine, other than a stack overflow
   */
  void note(String where, Throwable fault) {
    if (fault instanceof Error error && isFatal(error)) {
      throw error;
    }
    if (count.getAndIncrement() == 0) {
      warn("call from OpenTelemetry was not recorded: call=" + where + ", error=" + fault, fault);
    }
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
