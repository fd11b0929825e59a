package cairn;

import org.jspecify.annotations.Nullable;

/**
 * The logger {@code cairn}, through {@link System.Logger}. First occurrence of a kind WARNING, then
 * DEBUG. Loaded only when there is something to say: the logging classes cost a cold JVM 20 ms and
 * more.
 */
final class Log {
  private static final java.util.concurrent.atomic.AtomicBoolean WARNED =
      new java.util.concurrent.atomic.AtomicBoolean();

  private Log() {}

  /** Says what somebody must read; never throws. */
  static void warn(String message) {
    try {
      System.getLogger("cairn").log(System.Logger.Level.WARNING, message);
    } catch (RuntimeException | LinkageError e) {
      // As below.
    }
  }

  /** Says that recording is off or degraded; never throws. */
  static void warnOnce(String message, @Nullable Throwable cause) {
    try {
      System.Logger logger = System.getLogger("cairn");
      System.Logger.Level level =
          WARNED.compareAndSet(false, true)
              ? System.Logger.Level.WARNING
              : System.Logger.Level.DEBUG;
      logger.log(level, message);
      // The message says it all for a full disk; the stack is for whoever asks for it.
      logger.log(System.Logger.Level.DEBUG, message, cause);
    } catch (RuntimeException | LinkageError e) {
      // A broken logging set-up is not ours to report, and nothing else is left to report it to.
    }
  }
}
