package cairn.sentry;

import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Values of a report as sentry-java writes them to JSON without losing one: its writer throws on
 * NaN and on an infinity, and recurses without a bound.
 */
final class PlainValues {
  /** Below what sentry-java stands, and deeper than what the recorder lets in. */
  private static final int MAX_DEPTH = 50;

  private PlainValues() {}

  /** {@return a copy of {@code values} with texts as keys, changeable, in the same order} */
  static Map<String, @Nullable Object> map(Map<?, ?> values) {
    return map(values, 0);
  }

  /** {@return the value as null, Boolean, Number, String, List or Map} */
  static @Nullable Object value(@Nullable Object value) {
    return value(value, 0);
  }

  /** {@return the value as one text, as tags are} */
  static String text(@Nullable Object value) {
    return String.valueOf(value(value));
  }

  private static Map<String, @Nullable Object> map(Map<?, ?> values, int depth) {
    Map<String, @Nullable Object> copy = new LinkedHashMap<>();
    values.forEach((key, value) -> copy.put(String.valueOf(key), value(value, depth + 1)));
    return copy;
  }

  private static @Nullable Object value(@Nullable Object value, int depth) {
    if (value instanceof Double number) {
      return Double.isFinite(number) ? number : number.toString();
    }
    if (value instanceof byte[] bytes) {
      return Base64.getEncoder().encodeToString(bytes);
    }
    if (value == null
        || value instanceof String
        || value instanceof Boolean
        || value instanceof Number) {
      return value;
    }
    if (depth >= MAX_DEPTH) {
      return "…";
    }
    if (value instanceof Map<?, ?> map) {
      return map(map, depth);
    }
    if (value instanceof Collection<?> values) {
      List<@Nullable Object> copy = new ArrayList<>(values.size());
      for (Object each : values) {
        copy.add(value(each, depth + 1));
      }
      return copy;
    }
    return value.toString();
  }
}
