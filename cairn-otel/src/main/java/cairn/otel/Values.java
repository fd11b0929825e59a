package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Attribute values as of the call: cut to the limit, and out of reach of later changes. */
final class Values {
  private static final int MAX_DEPTH = 16;

  /** The classes of {@link List#of()}, which nothing changes and whose elements nothing does. */
  private static final Class<?> SMALL_LIST = List.of(1).getClass();

  private static final Class<?> LARGER_LIST = List.of(1, 2, 3).getClass();

  private Values() {}

  /**
   * {@return what is kept of a value} Strings and numbers are kept as they are, lists are copied:
   * the code of a list may run in here, and what it throws goes to the caller.
   *
   * @param limit of the length of a text, a text in a list, and bytes
   */
  static Object keep(Object value, int limit) {
    if (value instanceof String text) {
      return cut(text, limit);
    }
    // First, since whether an object is none of an interface takes HotSpot 17 some 30 ns to tell.
    if (value instanceof Long || value instanceof Boolean || value instanceof Double) {
      return value;
    }
    if (value instanceof List<?> list) {
      return list(list, limit);
    }
    return value instanceof Value<?> of ? value(of, limit, 0) : value;
  }

  /** Unlike the SDK this never leaves half of a surrogate pair. */
  private static String cut(String text, int limit) {
    if (text.length() <= limit) {
      return text;
    }
    int end = Math.max(0, limit);
    if (end > 0
        && Character.isHighSurrogate(text.charAt(end - 1))
        && Character.isLowSurrogate(text.charAt(end))) {
      end--;
    }
    return text.substring(0, end);
  }

  private static List<?> list(List<?> list, int limit) {
    Class<?> type = list.getClass();
    if (limit == Integer.MAX_VALUE && (type == SMALL_LIST || type == LARGER_LIST)) {
      return list;
    }
    @Nullable Object[] copy = list.toArray();
    if (limit != Integer.MAX_VALUE) {
      for (int i = 0; i < copy.length; i++) {
        if (copy[i] instanceof String text) {
          copy[i] = cut(text, limit);
        }
      }
    }
    return Collections.unmodifiableList(Arrays.asList(copy));
  }

  /** What is nested deeper than sixteen levels is kept as it is. */
  private static Value<?> value(Value<?> value, int limit, int depth) {
    Object inner = value.getValue();
    if (inner instanceof String text) {
      return text.length() <= limit ? value : Value.of(cut(text, limit));
    }
    if (inner instanceof ByteBuffer bytes) {
      if (bytes.remaining() <= limit) {
        return value;
      }
      byte[] kept = new byte[Math.max(0, limit)];
      bytes.duplicate().get(kept);
      return Value.of(kept);
    }
    if (!(inner instanceof List<?> list) || depth == MAX_DEPTH) {
      return value;
    }
    Object[] elements = list.toArray();
    List<Value<?>> values = new ArrayList<>(elements.length);
    List<KeyValue> pairs = new ArrayList<>(elements.length);
    for (Object element : elements) {
      if (element instanceof Value<?> of) {
        values.add(value(of, limit, depth + 1));
      } else if (element instanceof KeyValue pair) {
        pairs.add(KeyValue.of(pair.getKey(), value(pair.getValue(), limit, depth + 1)));
      } else {
        return value;
      }
    }
    if (pairs.isEmpty()) {
      // An empty list of pairs and an empty array are told apart by the type, which stays.
      return values.isEmpty() ? value : Value.of(values);
    }
    return values.isEmpty() ? Value.of(pairs.toArray(new KeyValue[0])) : value;
  }

  /** {@return the attributes of an event or a link, within the limits} */
  static Attributes limited(Attributes attributes, int count, int length) {
    if (attributes.isEmpty() || (attributes.size() <= count && length == Integer.MAX_VALUE)) {
      return attributes;
    }
    AttributesBuilder kept = Attributes.builder();
    int left = count;
    for (Map.Entry<AttributeKey<?>, Object> entry : attributes.asMap().entrySet()) {
      if (--left < 0) {
        break;
      }
      put(kept, entry.getKey(), keep(entry.getValue(), length));
    }
    return kept.build();
  }

  @SuppressWarnings("unchecked") // the pair was one in the attributes that it comes from
  static <T> void put(AttributesBuilder into, AttributeKey<T> key, Object value) {
    into.put(key, (T) value);
  }

  /**
   * Writes a value that was kept into the box. Code of the value may run in here, if it is of no
   * type that the API has.
   */
  static void record(OpenSpans box, long handle, String name, Object value) {
    if (value instanceof String text) {
      box.set(handle, name, text);
    } else if (value instanceof Long || value instanceof Integer) {
      box.set(handle, name, ((Number) value).longValue());
    } else if (value instanceof Boolean bool) {
      box.set(handle, name, bool.booleanValue());
    } else if (value instanceof Double || value instanceof Float) {
      box.set(handle, name, ((Number) value).doubleValue());
    } else if (value instanceof List<?> list) {
      box.set(handle, name, list);
    } else if (value instanceof Value<?> of) {
      Object inner = of.getValue();
      if (inner instanceof Long || inner instanceof Double || inner instanceof Boolean) {
        record(box, handle, name, inner);
      } else {
        box.set(handle, name, of.asString());
      }
    } else {
      box.set(handle, name, String.valueOf(value));
    }
  }
}
