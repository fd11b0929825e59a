package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.ExceptionEventData;
import java.io.PrintWriter;
import java.io.Writer;
import org.jspecify.annotations.Nullable;

/**
 * What {@code recordException} records. Methods of an exception may throw; none gets out of here.
 */
final class Exceptions {
  /** Of the breadcrumb. */
  static final String CATEGORY = "exception";

  private static final AttributeKey<String> TYPE = AttributeKey.stringKey("exception.type");
  private static final AttributeKey<String> MESSAGE = AttributeKey.stringKey("exception.message");
  private static final AttributeKey<String> STACKTRACE =
      AttributeKey.stringKey("exception.stacktrace");

  private Exceptions() {}

  /**
   * @param type the canonical name; null for an anonymous or local class, as in the SDK
   * @param message null if there is none, or if it threw
   */
  record Described(
      @Nullable String type, String className, @Nullable String message, String stackTrace) {
    void putInto(AttributeStore store, Limits limits) {
      put(store, limits, TYPE, type);
      put(store, limits, MESSAGE, message);
      put(store, limits, STACKTRACE, stackTrace);
    }

    private static void put(
        AttributeStore store, Limits limits, AttributeKey<String> key, @Nullable String value) {
      if (value != null) {
        boolean unused =
            store.put(
                limits.attributes(), key, key.getKey(), Values.keep(value, limits.valueLength()));
      }
    }

    String summary() {
      return summarize(className, message);
    }
  }

  static Described describe(Throwable exception, Limits limits) {
    String message = message(exception);
    return new Described(
        exception.getClass().getCanonicalName(),
        exception.getClass().getName(),
        message,
        stackTrace(exception, limits.valueLength()));
  }

  /** {@return type and message, for a breadcrumb} */
  static String summary(Throwable exception) {
    return summarize(exception.getClass().getName(), message(exception));
  }

  private static String summarize(String className, @Nullable String message) {
    return message == null ? className : className + ": " + message;
  }

  static EventData event(long epochNanos, Throwable exception, FrozenAttributes attributes) {
    return ExceptionEventData.create(epochNanos, exception, attributes, attributes.total());
  }

  private static @Nullable String message(Throwable exception) {
    try {
      return exception.getMessage();
    } catch (Throwable e) {
      rethrowFatal(e);
      return null;
    }
  }

  private static String stackTrace(Throwable exception, int limit) {
    Bounded text = new Bounded(limit);
    try {
      exception.printStackTrace(new PrintWriter(text));
    } catch (Throwable e) {
      rethrowFatal(e);
      text.append(exception.getClass().getName()).append(System.lineSeparator());
      for (StackTraceElement frame : frames(exception)) {
        text.append("\tat ").append(String.valueOf(frame)).append(System.lineSeparator());
      }
    }
    return text.toString();
  }

  private static StackTraceElement[] frames(Throwable exception) {
    try {
      return exception.getStackTrace();
    } catch (Throwable e) {
      rethrowFatal(e);
      return new StackTraceElement[0];
    }
  }

  private static void rethrowFatal(Throwable thrown) {
    if (thrown instanceof VirtualMachineError fatal) {
      throw fatal;
    }
  }

  /** Keeps the first characters and drops the rest: one more than the limit, so that it is cut. */
  private static final class Bounded extends Writer {
    private final StringBuilder text = new StringBuilder();
    private final int limit;

    Bounded(int limit) {
      this.limit = limit == Integer.MAX_VALUE ? limit : Math.max(0, limit) + 1;
    }

    @Override
    public void write(char[] buffer, int offset, int length) {
      text.append(buffer, offset, Math.min(length, limit - text.length()));
    }

    @Override
    public Bounded append(CharSequence more) {
      text.append(more, 0, Math.min(more.length(), limit - text.length()));
      return this;
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}

    @Override
    public String toString() {
      return text.toString();
    }
  }
}
