package cairn.bench;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The cheapest copy of a value that the application can't change any more. */
final class Snapshot {
  private static final int MAX_DEPTH = 16;
  private static final Object MAP = "map";
  private static final Object LIST = "list";

  private Snapshot() {}

  /**
   * {@return a map as {@code MAP, key, value, ...}, a list as {@code LIST, element, ...}, what
   * can't change as it is, anything else as text}
   */
  static Object of(Object v) {
    return of(v, MAX_DEPTH);
  }

  private static @Nullable Object of(@Nullable Object v, int levels) {
    if (v == null
        || v instanceof String
        || v instanceof Long
        || v instanceof Integer
        || v instanceof Boolean
        || v instanceof Double) {
      return v;
    }
    if (levels == 0) {
      return "…";
    }
    if (v instanceof Map<?, ?> m) {
      @Nullable Object[] copy = new @Nullable Object[1 + 2 * m.size()];
      copy[0] = MAP;
      int i = 1;
      for (Map.Entry<?, ?> e : m.entrySet()) {
        copy[i++] = e.getKey();
        copy[i++] = of(e.getValue(), levels - 1);
      }
      return copy;
    }
    if (v instanceof List<?> l) {
      @Nullable Object[] copy = new @Nullable Object[1 + l.size()];
      copy[0] = LIST;
      int i = 1;
      for (Object element : l) {
        copy[i++] = of(element, levels - 1);
      }
      return copy;
    }
    return String.valueOf(v);
  }
}
