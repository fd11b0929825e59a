package cairn.bench;

import cairn.format.EncodeLimits;
import java.util.ConcurrentModificationException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.RandomAccess;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Normalises a value while it encodes it as JSON: what {@code ValueEncoder} does for CBOR, with the
 * same guards against cycles, depth, size and code of the application that throws. Knows fewer
 * types by name.
 */
final class OnePassJson {
  /** Of one container: its end; and its last element if it is cut. */
  private static final int ARRAY_RESERVE = 1 + 6;

  private static final int MAP_RESERVE = 1 + 11;
  private static final String ELLIPSIS = "…";

  private final JsonBytes out;
  private final EncodeLimits limits;
  private final Entries entries = new Entries();
  private final @Nullable Object[] path;
  private int depth;
  private int nodes;
  private int walked;
  private int replaced;

  OnePassJson(JsonBytes out, EncodeLimits limits) {
    this.out = out;
    this.limits = limits;
    this.path = new @Nullable Object[limits.maxDepth()];
  }

  /**
   * {@return the length of the JSON, from the start of the array; 0 if nothing could be written}
   */
  int encode(Object v) {
    out.reset(0, Math.min(out.bytes().length, limits.maxBytes()));
    depth = 0;
    nodes = 0;
    walked = 0;
    return any(v) ? out.position() : 0;
  }

  /** {@return how often something was cut or replaced, ever} */
  int replaced() {
    return replaced;
  }

  private boolean any(@Nullable Object v) {
    nodes++;
    if (v instanceof String s) {
      return text(s);
    }
    if (v instanceof Long n) {
      return out.integer(n);
    }
    if (v instanceof Integer n) {
      return out.integer(n);
    }
    if (v instanceof Boolean b) {
      return out.bool(b);
    }
    if (v instanceof Double d) {
      return out.floating(d);
    }
    if (v == null) {
      return out.nul();
    }
    return guarded(v);
  }

  private boolean guarded(Object v) {
    int position = out.position();
    int limit = out.limit();
    int level = depth;
    int walkedBefore = walked;
    try {
      if (v instanceof Map<?, ?> m) {
        return mapOf(m);
      }
      if (v instanceof List<?> l && l instanceof RandomAccess) {
        return list(l);
      }
      if (v instanceof Iterable<?> i) {
        return iterable(i);
      }
      if (v instanceof Float f) {
        return out.floating(f);
      }
      if (v instanceof Short || v instanceof Byte) {
        return out.integer(((Number) v).longValue());
      }
      return text(String.valueOf(v));
    } catch (Exception | StackOverflowError e) {
      out.reset(position, limit);
      walked = walkedBefore;
      while (depth > level) {
        path[--depth] = null;
      }
      replaced++;
      return text("<threw " + e.getClass().getSimpleName() + ">");
    }
  }

  private boolean text(String s) {
    int result = out.string(s, limits.maxStringBytes());
    if (result == JsonBytes.CUT) {
      replaced++;
    }
    return result != JsonBytes.NONE;
  }

  private boolean mapOf(Map<?, ?> m) {
    if (refused(m)) {
      return text(depth < path.length ? "<cycle>" : ELLIPSIS);
    }
    int limit = out.limit();
    if (limit - out.position() < 1 + MAP_RESERVE) {
      return false;
    }
    out.one('{');
    out.reset(out.position(), limit - MAP_RESERVE);
    path[depth++] = m;
    int outer = walked;
    walked = 0;
    boolean whole = true;
    try {
      Class<?> type = m.getClass();
      if (type == HashMap.class || type == LinkedHashMap.class) {
        m.forEach(entries);
      } else {
        for (Map.Entry<?, ?> e : m.entrySet()) {
          if (!entry(e.getKey(), e.getValue())) {
            whole = false;
            break;
          }
        }
      }
    } catch (Stop | ConcurrentModificationException | NoSuchElementException e) {
      whole = false;
    }
    walked = outer;
    path[--depth] = null;
    out.reset(out.position(), out.limit() + MAP_RESERVE);
    if (!whole) {
      replaced++;
      out.separate();
      out.key(ELLIPSIS);
      out.bool(true);
    }
    return out.one('}');
  }

  private boolean entry(@Nullable Object key, @Nullable Object v) {
    int position = out.position();
    if (walked++ < limits.maxElements()
        && nodes < limits.maxNodes()
        && out.separate()
        && out.key(key instanceof String s ? s : String.valueOf(key))
        && any(v)) {
      return true;
    }
    out.reset(position, out.limit());
    walked = limits.maxElements();
    return false;
  }

  private boolean list(List<?> l) {
    if (refused(l)) {
      return text(depth < path.length ? "<cycle>" : ELLIPSIS);
    }
    if (!enterArray(l)) {
      return false;
    }
    boolean whole = true;
    try {
      for (int i = 0; i < l.size(); i++) {
        if (!element(i, l.get(i))) {
          whole = false;
          break;
        }
      }
    } catch (IndexOutOfBoundsException | ConcurrentModificationException e) {
      whole = false;
    }
    return exitArray(whole);
  }

  private boolean iterable(Iterable<?> elements) {
    if (refused(elements)) {
      return text(depth < path.length ? "<cycle>" : ELLIPSIS);
    }
    if (!enterArray(elements)) {
      return false;
    }
    boolean whole = true;
    try {
      int i = 0;
      for (Object element : elements) {
        if (!element(i++, element)) {
          whole = false;
          break;
        }
      }
    } catch (ConcurrentModificationException | NoSuchElementException e) {
      whole = false;
    }
    return exitArray(whole);
  }

  private boolean element(int i, @Nullable Object v) {
    int position = out.position();
    if (i < limits.maxElements() && nodes < limits.maxNodes() && out.separate() && any(v)) {
      return true;
    }
    out.reset(position, out.limit());
    return false;
  }

  private boolean enterArray(Object container) {
    int limit = out.limit();
    if (limit - out.position() < 1 + ARRAY_RESERVE) {
      return false;
    }
    out.one('[');
    out.reset(out.position(), limit - ARRAY_RESERVE);
    path[depth++] = container;
    return true;
  }

  private boolean exitArray(boolean whole) {
    path[--depth] = null;
    out.reset(out.position(), out.limit() + ARRAY_RESERVE);
    if (!whole) {
      replaced++;
      out.separate();
      out.string(ELLIPSIS, ELLIPSIS.length() * 3);
    }
    return out.one(']');
  }

  /** {@return whether the container contains itself or lies too deep} */
  private boolean refused(Object container) {
    boolean refused = depth == path.length;
    for (int i = 0; i < depth && !refused; i++) {
      refused = path[i] == container;
    }
    if (refused) {
      replaced++;
    }
    return refused;
  }

  /** The one consumer of an encoder. */
  private final class Entries implements BiConsumer<Object, Object> {
    private final Stop stop = new Stop();

    @Override
    public void accept(Object key, Object v) {
      if (!entry(key, v)) {
        throw stop;
      }
    }
  }

  /** Ends a {@code forEach}. */
  private static final class Stop extends RuntimeException {
    private static final long serialVersionUID = 1;

    Stop() {
      super(null, null, false, false);
    }
  }
}
