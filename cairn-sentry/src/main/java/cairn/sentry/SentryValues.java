package cairn.sentry;

import cairn.Level;
import cairn.report.Breadcrumb;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sentry's JSON, parsed, as a report has it. What is of another kind than expected is left out. */
final class SentryValues {
  private SentryValues() {}

  /** {@return the value as an object; null if it is none} */
  @SuppressWarnings("unchecked") // Parsed JSON: keys are text.
  static @Nullable Map<String, @Nullable Object> object(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : null;
  }

  /** {@return the value as an array; empty if it is none} */
  static List<?> list(@Nullable Object value) {
    return value instanceof List<?> list ? list : List.of();
  }

  /** {@return the level of that name; null if there is none such} */
  static @Nullable Level level(@Nullable Object value) {
    if (!(value instanceof String name)) {
      return null;
    }
    for (Level level : Level.values()) {
      if (level.name().equals(name.toUpperCase(Locale.ROOT))) {
        return level;
      }
    }
    return null;
  }

  /** {@return the trace as Cairn names its ids, the rest as it is} */
  static Map<String, @Nullable Object> trace(Map<String, @Nullable Object> json) {
    Map<String, @Nullable Object> trace = new LinkedHashMap<>();
    json.forEach(
        (key, value) -> {
          switch (key) {
            case "trace_id" -> trace.put("traceId", value);
            case "span_id" -> trace.put("spanId", value);
            default -> trace.put(key, value);
          }
        });
    return trace;
  }

  /** {@return the texts of an array} */
  static List<String> texts(List<?> values) {
    List<String> texts = new ArrayList<>();
    for (Object value : values) {
      if (value != null) {
        texts.add(String.valueOf(value));
      }
    }
    return texts;
  }

  /** {@return a breadcrumb; its type and origin are data} */
  static Breadcrumb breadcrumb(long position, Map<String, @Nullable Object> json) {
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    Map<String, @Nullable Object> own = object(json.get("data"));
    if (own != null) {
      data.putAll(own);
    }
    for (String key : List.of("type", "origin")) {
      if (json.get(key) instanceof String text) {
        data.put("sentry." + key, text);
      }
    }
    Instant at = SentryTime.of(json.get("timestamp"));
    Level level = level(json.get("level"));
    return new Breadcrumb(
        position,
        at == null ? Instant.EPOCH : at,
        level == null ? Level.INFO : level,
        json.get("category") instanceof String category ? category : null,
        json.get("message") instanceof String message ? message : null,
        data,
        null,
        null);
  }
}
