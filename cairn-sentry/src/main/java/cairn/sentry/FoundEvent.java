package cairn.sentry;

import cairn.report.UncaughtException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event or transaction that was kept for sending.
 *
 * @param file the envelope that holds it
 * @param type {@code event} or {@code transaction}
 * @param json as it is there
 */
record FoundEvent(String file, String type, Map<String, @Nullable Object> json) {
  /** {@return when it happened; null if unknown} */
  @Nullable Instant time() {
    return SentryTime.of(json.get("timestamp"));
  }

  boolean isError() {
    return type.equals("event");
  }

  /** {@return what it is about, on one line; null if it doesn't say} */
  @Nullable String title() {
    Map<String, @Nullable Object> exception = exception();
    if (exception != null) {
      String name = exceptionType(exception);
      Object message = exception.get("value");
      if (name != null) {
        return message == null ? name : name + ": " + message;
      }
    }
    for (String key : List.of("message", "logentry")) {
      Object message = json.get(key);
      if (message instanceof Map<?, ?> parts) {
        message = parts.get("formatted") == null ? parts.get("message") : parts.get("formatted");
      }
      if (message instanceof String text) {
        return text;
      }
    }
    return json.get("transaction") instanceof String text ? text : null;
  }

  /** {@return whether an exception that nobody caught caused it} */
  boolean isUnhandled() {
    Map<String, @Nullable Object> exception = exception();
    Map<String, @Nullable Object> mechanism =
        exception == null ? null : SentryValues.object(exception.get("mechanism"));
    return mechanism != null && Boolean.FALSE.equals(mechanism.get("handled"));
  }

  /** {@return its exception; null if it has none} */
  @Nullable UncaughtException uncaught() {
    Map<String, @Nullable Object> exception = exception();
    if (exception == null) {
      return null;
    }
    List<String> frames = new ArrayList<>();
    Map<String, @Nullable Object> trace = SentryValues.object(exception.get("stacktrace"));
    List<?> entries = SentryValues.list(trace == null ? null : trace.get("frames"));
    for (int i = entries.size() - 1; i >= 0; i--) { // innermost last
      Map<String, @Nullable Object> frame = SentryValues.object(entries.get(i));
      if (frame != null) {
        frames.add(frame(frame));
      }
    }
    return new UncaughtException(
        exceptionType(exception),
        exception.get("value") instanceof String text ? text : null,
        thread(exception.get("thread_id")),
        frames,
        time());
  }

  /** {@return the exception that was thrown; those before it are its causes} */
  private @Nullable Map<String, @Nullable Object> exception() {
    Map<String, @Nullable Object> exception = SentryValues.object(json.get("exception"));
    List<?> values = SentryValues.list(exception == null ? null : exception.get("values"));
    return values.isEmpty() ? null : SentryValues.object(values.get(values.size() - 1));
  }

  private static @Nullable String exceptionType(Map<String, @Nullable Object> exception) {
    Object type = exception.get("type");
    Object module = exception.get("module");
    if (!(type instanceof String name)) {
      return null;
    }
    return module instanceof String text && !text.isEmpty() ? text + "." + name : name;
  }

  /** {@return a frame as a stack trace element shows itself} */
  private static String frame(Map<String, @Nullable Object> frame) {
    StringBuilder text = new StringBuilder();
    if (frame.get("module") instanceof String module) {
      text.append(module).append('.');
    }
    text.append(frame.get("function") instanceof String function ? function : "?").append('(');
    if (Boolean.TRUE.equals(frame.get("native"))) {
      text.append("Native Method");
    } else if (frame.get("filename") instanceof String file) {
      text.append(file);
      if (frame.get("lineno") instanceof Long line && line > 0) {
        text.append(':').append(line);
      }
    } else {
      text.append("Unknown Source");
    }
    return text.append(')').toString();
  }

  private @Nullable String thread(@Nullable Object id) {
    Map<String, @Nullable Object> threads = SentryValues.object(json.get("threads"));
    if (id == null || threads == null) {
      return null;
    }
    for (Object value : SentryValues.list(threads.get("values"))) {
      Map<String, @Nullable Object> thread = SentryValues.object(value);
      if (thread != null && id.equals(thread.get("id"))) {
        return thread.get("name") instanceof String name ? name : null;
      }
    }
    return null;
  }
}
