package cairn.sentry;

import io.sentry.JsonSerializable;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.RandomAccess;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/**
 * Tells whether a map or list that was recorded has changed since, without encoding it again. One
 * use, one thread.
 */
final class ValueHash implements BiConsumer<Object, Object> {
  /*
   * Two modes. By identity: of a text its place in memory and its String.hashCode, both cached by the
   * JVM, so that 2,000 texts take some microseconds; an equal text in another place looks changed,
   * which costs a record and is never wrong, while a text that merely collides does not look the
   * same. By content: every character; for what is written anew each time, as Sentry's own objects are.
   *
   * A map's entries are added up, so that their order doesn't matter.
   */

  /** Unknown: never equal to the hash of anything. */
  static final long UNKNOWN = 0;

  private static final int MAX_NODES = 50_000;
  private static final int MAX_DEPTH = 16;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final boolean byContent;
  private int nodes;
  private int depth;
  private boolean isOpaque;
  private long sum;

  private ValueHash(boolean byContent) {
    this.byContent = byContent;
  }

  /** {@return a hash by identity; {@link #UNKNOWN} if the value has parts that can't be seen} */
  static long byIdentity(Object value) {
    return new ValueHash(false).of(value);
  }

  /** {@return a hash by content; {@link #UNKNOWN} if the value has parts that can't be seen} */
  static long byContent(Object value) {
    return new ValueHash(true).of(value);
  }

  private long of(Object value) {
    long hash;
    try {
      hash = hash(value);
    } catch (RuntimeException | StackOverflowError e) {
      return UNKNOWN; // changed by another thread meanwhile, or has code that throws
    }
    return isOpaque ? UNKNOWN : hash | 1;
  }

  private long hash(Object value) {
    if (isOpaque || ++nodes > MAX_NODES || depth >= MAX_DEPTH) {
      isOpaque = true;
      return 0;
    }
    if (value == null) {
      return GOLDEN;
    }
    if (value instanceof String text) {
      return text(text);
    }
    if (value instanceof Long || value instanceof Integer || value instanceof Short) {
      return mix(((Number) value).longValue() + 1);
    }
    if (value instanceof Double || value instanceof Float) {
      return mix(Double.doubleToRawLongBits(((Number) value).doubleValue()) + 2);
    }
    if (value instanceof Boolean || value instanceof Character || value instanceof Enum) {
      return mix(value.hashCode() + 3L);
    }
    if (value instanceof JsonSerializable) {
      isOpaque = true;
      return 0;
    }
    depth++;
    long hash = container(value);
    depth--;
    return hash;
  }

  private long container(Object value) {
    if (value instanceof Map<?, ?> map) {
      long before = sum;
      sum = 0;
      if (map instanceof HashMap || map instanceof ConcurrentHashMap) {
        map.forEach(this); // without an object for each entry
      } else {
        for (Map.Entry<?, ?> entry : map.entrySet()) {
          accept(entry.getKey(), entry.getValue());
        }
      }
      long hash = mix(sum + map.size() + 4L);
      sum = before;
      return hash;
    }
    long hash = 5;
    if (value instanceof List<?> list && list instanceof RandomAccess) {
      for (int i = 0, size = list.size(); i < size; i++) {
        hash = mix(hash * 31 + hash(list.get(i)));
      }
    } else if (value instanceof Collection<?> values) {
      for (Object each : values) {
        hash = mix(hash * 31 + hash(each));
      }
    } else if (value instanceof Object[] values) {
      for (Object each : values) {
        hash = mix(hash * 31 + hash(each));
      }
    } else {
      isOpaque = true;
    }
    return hash;
  }

  @Override
  public void accept(Object key, Object value) {
    sum += mix(hash(key) * 31 + hash(value));
  }

  private long text(String text) {
    if (!byContent) {
      return mix(((long) System.identityHashCode(text) << 32) | (text.hashCode() & 0xFFFFFFFFL));
    }
    long hash = text.length();
    for (int i = 0; i < text.length(); i++) {
      hash = (hash ^ text.charAt(i)) * GOLDEN;
      hash ^= hash >>> 29;
    }
    return mix(hash);
  }

  private static long mix(long bits) {
    long mixed = (bits ^ bits >>> 32) * GOLDEN;
    return mixed ^ mixed >>> 29;
  }
}
