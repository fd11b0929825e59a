package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The attributes of a builder or of an open span. Not thread-safe: one owner at a time. */
final class AttributeStore implements OpenSpans.Attributes {
  /*
   * One array with name, key and value of each in the order of the first put, so that a span's
   * attributes cost no object each: a number is kept as bits, beside it, and a marker says so in
   * place of the value. The name is what tells attributes apart; a put under the same name with
   * another type replaces key and value and keeps the place, as in the SDK.
   *
   * Of objects, and not an array of keys: a store into an array of an interface's type takes
   * HotSpot 17 a search among the interfaces of what is stored.
   *
   * Who owns a store. A builder takes one from the pool at its first attribute and hands it to the
   * span it starts; the span gives it back when it ends. At any time exactly one of the three has
   * the reference: the builder is one thread's, the span reads and writes it only under its lock
   * and drops it under that lock in the step that makes it ended, and only then clears it and gives
   * it to the pool, by a CAS. So whoever takes it from the pool (by a CAS as well) sees it empty,
   * and nobody else has it. What others keep, a snapshot or what an exporter reads after the end,
   * is a copy: FrozenAttributes.
   *
   * Up to LINEAR names are found by looking at each, which beats hashing for the few that spans
   * have. Beyond, a table of indices is made, so that a span without a limit stays usable.
   */

  /** In place of a value: its bits are a long. */
  private static final Object INTEGER = new Object();

  /** In place of a value: its bits are a double's. */
  private static final Object FLOATING = new Object();

  private static final int INITIAL_CAPACITY = 16;
  private static final int MAX_POOLED_CAPACITY = 64;
  private static final int LINEAR = 24;

  // Where name, key and value of one attribute are.
  private static final int NAME = 0;
  private static final int KEY = 1;
  private static final int VALUE = 2;
  private static final int STRIDE = 3;

  private @Nullable Object[] parts = new Object[INITIAL_CAPACITY * STRIDE];
  private long[] bits = new long[INITIAL_CAPACITY];

  /** Index + 1 by hash of the name, open addressing; null while there are few. */
  private int @Nullable [] table;

  private int size;
  private int total;

  // ---- put: each says whether the attribute is there now, and not over the limit

  boolean putLong(int limit, AttributeKey<?> key, String name, long value) {
    return put(limit, key, name, INTEGER, value);
  }

  boolean putDouble(int limit, AttributeKey<?> key, String name, double value) {
    return put(limit, key, name, FLOATING, Double.doubleToRawLongBits(value));
  }

  /**
   * Sets an attribute.
   *
   * @param limit how many names there may be
   * @param name the key's, asked for before: a key may be of a class of the application
   * @param value as {@link Values#keep} made it
   */
  boolean put(int limit, AttributeKey<?> key, String name, Object value) {
    return put(limit, key, name, value, 0);
  }

  private boolean put(int limit, AttributeKey<?> key, String name, Object value, long valueBits) {
    int index = indexOf(name);
    if (index < 0) {
      total++;
      if (size >= limit) {
        return false;
      }
      index = size;
      // What may run out of memory comes first, so that the store stays as it was.
      if (index == bits.length) {
        grow();
      }
      if (index >= LINEAR) {
        addToTable(name, index);
      }
      parts[index * STRIDE + NAME] = name;
      size = index + 1;
    }
    parts[index * STRIDE + KEY] = key;
    parts[index * STRIDE + VALUE] = value;
    bits[index] = valueBits;
    return true;
  }

  private int indexOf(String name) {
    int[] indices = table;
    if (indices != null) {
      int mask = indices.length - 1;
      for (int at = spread(name) & mask; indices[at] != 0; at = at + 1 & mask) {
        if (name.equals(nameAt(indices[at] - 1))) {
          return indices[at] - 1;
        }
      }
      return -1;
    }
    for (int i = 0; i < size; i++) {
      if (name.equals(nameAt(i))) {
        return i;
      }
    }
    return -1;
  }

  private @Nullable String nameAt(int index) {
    return (String) parts[index * STRIDE + NAME];
  }

  private @Nullable AttributeKey<?> keyAt(int index) {
    return (AttributeKey<?>) parts[index * STRIDE + KEY];
  }

  private @Nullable Object valueAt(int index) {
    return parts[index * STRIDE + VALUE];
  }

  private static int spread(String name) {
    int hash = name.hashCode();
    return hash ^ hash >>> 16;
  }

  private void addToTable(String name, int index) {
    int[] indices = table;
    if (indices == null || indices.length < 2 * (index + 1)) {
      indices = new int[Integer.highestOneBit(index + 1) * 4];
      for (int i = 0; i < index; i++) {
        String known = nameAt(i);
        if (known != null) {
          insert(indices, known, i);
        }
      }
      table = indices;
    }
    insert(indices, name, index);
  }

  private static void insert(int[] indices, String name, int index) {
    int mask = indices.length - 1;
    int at = spread(name) & mask;
    while (indices[at] != 0) {
      at = at + 1 & mask;
    }
    indices[at] = index + 1;
  }

  private void grow() {
    @Nullable Object[] moreParts = Arrays.copyOf(parts, parts.length * 2);
    long[] moreBits = Arrays.copyOf(bits, bits.length * 2);
    // Only now: without memory for one of them the store stays as it was.
    parts = moreParts;
    bits = moreBits;
  }

  // ---- read

  int size() {
    return size;
  }

  /** {@return how many names were put, each time one that is over the limit included} */
  int total() {
    return total;
  }

  /** {@return the key that was last put under that name} */
  @Nullable AttributeKey<?> keyOf(String name) {
    int index = indexOf(name);
    return index < 0 ? null : keyAt(index);
  }

  /** {@return the value of that name} */
  @Nullable Object valueOf(String name) {
    int index = indexOf(name);
    return index < 0 ? null : value(index);
  }

  private @Nullable Object value(int index) {
    Object value = valueAt(index);
    if (value == INTEGER) {
      return bits[index];
    }
    return value == FLOATING ? (Object) Double.longBitsToDouble(bits[index]) : value;
  }

  /** {@return a copy that nothing changes; no code of the application runs in here} */
  FrozenAttributes freeze() {
    @Nullable AttributeKey<?>[] keys = new AttributeKey<?>[size];
    @Nullable Object[] values = new Object[size];
    for (int i = 0; i < size; i++) {
      keys[i] = keyAt(i);
      values[i] = value(i);
    }
    return new FrozenAttributes(keys, values, total);
  }

  // ---- as the box reads it when a span begins

  @Override
  public int count() {
    return size;
  }

  @Override
  public String name(int index) {
    String name = nameAt(index);
    return name == null ? "" : name; // below size there is one: for the compiler
  }

  @Override
  public int kind(int index) {
    Object value = valueAt(index);
    if (value instanceof String) {
      return TEXT;
    }
    if (value == INTEGER || value instanceof Long) {
      return LONG;
    }
    if (value == FLOATING || value instanceof Double) {
      return DOUBLE;
    }
    return value instanceof Boolean ? BOOLEAN : OTHER;
  }

  @Override
  public String text(int index) {
    return valueAt(index) instanceof String text ? text : "";
  }

  @Override
  public long bits(int index) {
    Object value = valueAt(index);
    if (value instanceof Long number) {
      return number;
    }
    if (value instanceof Double number) {
      return Double.doubleToRawLongBits(number);
    }
    return value instanceof Boolean flag ? (flag ? 1 : 0) : bits[index];
  }

  /** Writes into the box what it did not read. Code of a value may run: {@link Values#record}. */
  void recordOthers(OpenSpans box, long handle) {
    for (int i = 0; i < size; i++) {
      Object value = valueAt(i);
      if (value != null && kind(i) == OTHER) {
        Values.record(box, handle, name(i), value);
      }
    }
  }

  // ---- use again

  /**
   * Puts what another holds as well. Another thread may be writing into that one: then some of it
   * may be missing here, and nothing else happens.
   */
  void putAll(int limit, AttributeStore other) {
    @Nullable Object[] otherParts = other.parts;
    long[] otherBits = other.bits;
    int count = Math.min(other.size, Math.min(otherBits.length, otherParts.length / STRIDE));
    for (int i = 0; i < count; i++) {
      String name = (String) otherParts[i * STRIDE + NAME];
      AttributeKey<?> key = (AttributeKey<?>) otherParts[i * STRIDE + KEY];
      Object value = otherParts[i * STRIDE + VALUE];
      if (key != null && name != null && value != null) {
        boolean unused = put(limit, key, name, value, otherBits[i]);
      }
    }
    total += other.total - count;
  }

  /** {@return whether it is worth keeping: one huge span must not make all later ones large} */
  boolean isPoolable() {
    return bits.length <= MAX_POOLED_CAPACITY;
  }

  void clear() {
    Arrays.fill(parts, 0, size * STRIDE, null);
    table = null;
    size = 0;
    total = 0;
  }
}
