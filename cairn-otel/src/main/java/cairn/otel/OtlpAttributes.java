package cairn.otel;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Attributes in the forms that every version of OpenTelemetry has: text, Long, Double, Boolean and
 * lists of one of them. Not for more than one thread.
 *
 * <p>What has no such form becomes one: an integer beyond 64 bits and a decimal their digits, bytes
 * base64, a map, a mixed list and a list with a null in it JSON. A null is left out and counted.
 */
final class OtlpAttributes {
  private static final BigInteger LEAST = BigInteger.valueOf(Long.MIN_VALUE);
  private static final BigInteger MOST = BigInteger.valueOf(Long.MAX_VALUE);

  private final Map<String, Object> values = new LinkedHashMap<>();
  private int omitted;

  /** Sets an attribute; a null or a key without a character is left out and counted. */
  OtlpAttributes put(String key, @Nullable Object value) {
    if (value == null || key.isEmpty()) {
      omitted++;
    } else {
      values.put(key, form(value));
    }
    return this;
  }

  /** Sets an attribute if there is a value: one that is unknown is not left out. */
  OtlpAttributes putIfKnown(String key, @Nullable Object value) {
    return value == null ? this : put(key, value);
  }

  /** Sets all of them, each key behind the prefix. */
  OtlpAttributes putAll(String prefix, Map<String, ? extends @Nullable Object> all) {
    all.forEach((key, value) -> put(prefix + key, value));
    return this;
  }

  /** {@return the value of that key; null if there is none} */
  @Nullable Object get(String key) {
    return values.get(key);
  }

  /** {@return values by key, in the order in which they were first set} */
  Map<String, Object> values() {
    return Collections.unmodifiableMap(values);
  }

  /** {@return how many were left out} */
  int omitted() {
    return omitted;
  }

  /** {@return the values by key} Exporters that print a span or a log record print this. */
  @Override
  public String toString() {
    return values.toString();
  }

  private static Object form(Object value) {
    if (value instanceof List<?> list) {
      return isOfOneKind(list) ? new ArrayList<Object>(list) : OtlpJsonWriter.plain(list);
    }
    if (value instanceof Map<?, ?>) {
      return OtlpJsonWriter.plain(value);
    }
    if (value instanceof BigInteger number
        && number.compareTo(LEAST) >= 0
        && number.compareTo(MOST) <= 0) {
      return number.longValue();
    }
    if (value instanceof Integer number) {
      return number.longValue();
    }
    if (value instanceof byte[] bytes) {
      return Base64.getEncoder().encodeToString(bytes);
    }
    return isElement(value) ? value : value.toString();
  }

  private static boolean isOfOneKind(List<?> list) {
    for (Object element : list) {
      Object first = list.get(0);
      if (!isElement(element) || first == null || element.getClass() != first.getClass()) {
        return false;
      }
    }
    return true;
  }

  private static boolean isElement(@Nullable Object value) {
    return value instanceof String
        || value instanceof Long
        || value instanceof Double
        || value instanceof Boolean;
  }
}
