package cairn.sentry;

import io.sentry.JsonSerializable;
import io.sentry.NoOpLogger;
import io.sentry.util.MapObjectWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Sentry's own objects as maps, as they would be in its JSON; never by {@code toString}. */
final class SentryForms {
  private static final int MAX_DEPTH = 16;
  private static final int MAX_NODES = 50_000;
  private static final String CUT = "…";

  private int nodes;

  private SentryForms() {}

  /**
   * {@return the value, or what to record in its place: of Sentry's objects, and maps and lists
   * with such in them, a copy}
   */
  static @Nullable Object of(@Nullable Object value) {
    if (value instanceof JsonSerializable own) {
      return plain(own);
    }
    return new SentryForms().hasOwn(value, 0) ? copy(value) : value;
  }

  /** {@return a copy that shares nothing changeable with it, but for objects of unknown types} */
  static @Nullable Object copy(@Nullable Object value) {
    return new SentryForms().copyOf(value, 0);
  }

  /** {@return it as a map} */
  static Map<String, Object> map(JsonSerializable own) {
    Map<String, Object> written = new LinkedHashMap<>();
    return plain(own) instanceof Map<?, ?> map ? texts(map, written) : written;
  }

  private static Map<String, Object> texts(Map<?, ?> map, Map<String, Object> into) {
    map.forEach((key, value) -> into.put(String.valueOf(key), value));
    return into;
  }

  private static @Nullable Object plain(JsonSerializable own) {
    Map<String, Object> root = new HashMap<>(2);
    try {
      own.serialize(new MapObjectWriter(root).name("v"), NoOpLogger.getInstance());
    } catch (IOException | RuntimeException | StackOverflowError e) {
      return "<threw " + e.getClass().getSimpleName() + ">";
    }
    return root.get("v");
  }

  private boolean hasOwn(@Nullable Object value, int depth) {
    if (value instanceof JsonSerializable) {
      return true;
    }
    if (++nodes > MAX_NODES || depth >= MAX_DEPTH) {
      return false;
    }
    if (value instanceof Map<?, ?> map) {
      return hasOwn(map.values(), depth + 1);
    }
    if (value instanceof Collection<?> values) {
      try {
        for (Object each : values) {
          if (!(each instanceof String) && hasOwn(each, depth + 1)) {
            return true;
          }
        }
      } catch (RuntimeException e) {
        return false; // the recorder's encoder says what it is
      }
    }
    return value instanceof Object[] array && hasOwn(Arrays.asList(array), depth + 1);
  }

  private @Nullable Object copyOf(@Nullable Object value, int depth) {
    if (++nodes > MAX_NODES || depth >= MAX_DEPTH) {
      return CUT;
    }
    if (value instanceof JsonSerializable own) {
      return plain(own);
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, @Nullable Object> copy = new LinkedHashMap<>();
      map.forEach((key, each) -> copy.put(key, copyOf(each, depth + 1)));
      return copy;
    }
    Collection<?> values = value instanceof Object[] array ? Arrays.asList(array) : null;
    if (value instanceof Collection<?> collection) {
      values = collection;
    }
    if (values == null) {
      return value;
    }
    List<@Nullable Object> copy = new ArrayList<>(values.size());
    for (Object each : values) {
      copy.add(copyOf(each, depth + 1));
    }
    return copy;
  }
}
