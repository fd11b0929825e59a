package cairn;

import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Listens to what JDK 21 and later log at {@code Runtime.exit}: status, thread and stack, also of a
 * virtual thread, whose frames no stack dump shows.
 *
 * <p>The logger {@code java.lang.Runtime}, at level FINE (javadoc of {@code Runtime.exit}). Where
 * that goes through {@code java.util.logging} it is heard; an application with another {@code
 * System.LoggerFinder} keeps it to itself. The application's own handlers see no more than before.
 *
 * <p>One thread listens; any thread exits.
 */
final class ExitLog {
  static final int FIRST_VERSION = 21;

  private static final String NAME = "java.lang.Runtime";
  private static final String STATUS = "called with status: ";

  // Held: a logger that nobody holds is collected, with its level and handlers.
  private final Logger logger = Logger.getLogger(NAME);
  private final Ear ear = new Ear();

  /** Makes sure that it is heard: whoever configures logging takes handlers and levels away. */
  @SuppressWarnings("ReferenceEquality") // another recorder has an ear of its own
  void listen() {
    for (Handler handler : logger.getHandlers()) {
      if (handler == ear) {
        return;
      }
    }
    if (!logger.isLoggable(Level.FINE)) {
      logger.setUseParentHandlers(false); // for them it is as it was: not logged
      logger.setLevel(Level.FINE);
    }
    logger.addHandler(ear);
  }

  /** Listens no more. */
  void stop() {
    logger.removeHandler(ear);
  }

  /** {@return the first exit that was heard, or null} */
  LifeCycle.@Nullable Exit heard() {
    return ear.exit;
  }

  /** Runs on the thread that exits, within {@code Runtime.exit}. */
  private static final class Ear extends Handler {
    // Volatile: stored by the thread that exits, read by the shutdown hook that this starts.
    volatile LifeCycle.@Nullable Exit exit;

    Ear() {
      setLevel(Level.ALL);
    }

    @Override
    public void publish(@Nullable LogRecord record) {
      String message = record == null ? null : record.getMessage();
      int at = message == null ? -1 : message.indexOf(STATUS);
      if (record == null || message == null || at < 0 || exit != null) {
        return;
      }
      int status;
      try {
        status = Integer.parseInt(message.substring(at + STATUS.length()).strip());
      } catch (NumberFormatException e) {
        return;
      }
      Thread thread = Thread.currentThread();
      Throwable stack = record.getThrown();
      exit =
          new LifeCycle.Exit(
              status,
              thread.getName(),
              stack == null ? new StackTraceElement[0] : stack.getStackTrace());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
