package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The attributes of a builder or of an open span. Not thread-safe: one owner at a time. */
final class AttributeStore implements OpenSpans.Attributes {
  /*
   * Parallel arrays in the order of the first put, so that a span's attributes cost no object each:
   * a number is kept as bits, and a marker says so in place of the value. The name is what tells
   * attributes apart; a put under the same name with another type replaces key and value and keeps
   * the place, as in the SDK.
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

  private @Nullable AttributeKey<?>[] keys = new AttributeKey<?>[INITIAL_CAPACITY];
  private @Nullable String[] names = new String[INITIAL_CAPACITY];
  private @Nullable Object[] values = new Object[INITIAL_CAPACITY];
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
      if (index == names.length) {
        grow();
      }
      if (index >= LINEAR) {
        addToTable(name, index);
      }
      names[index] = name;
      size = index + 1;
    }
    keys[index] = key;
    values[index] = value;
    bits[index] = valueBits;
    return true;
  }

  private int indexOf(String name) {
    int[] indices = table;
    if (indices != null) {
      int mask = indices.length - 1;
      for (int at = spread(name) & mask; indices[at] != 0; at = at + 1 & mask) {
        if (name.equals(names[indices[at] - 1])) {
          return indices[at] - 1;
        }
      }
      return -1;
    }
    for (int i = 0; i < size; i++) {
      if (name.equals(names[i])) {
        return i;
      }
    }
    return -1;
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
        String known = names[i];
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
    int length = names.length * 2;
    AttributeKey<?>[] moreKeys = Arrays.copyOf(keys, length);
    Object[] moreValues = Arrays.copyOf(values, length);
    long[] moreBits = Arrays.copyOf(bits, length);
    String[] moreNames = Arrays.copyOf(names, length);
    // Only now: without memory for one of them the store stays as it was.
    keys = moreKeys;
    values = moreValues;
    bits = moreBits;
    names = moreNames;
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
    return index < 0 ? null : keys[index];
  }

  /** {@return the value of that name} */
  @Nullable Object valueOf(String name) {
    int index = indexOf(name);
    return index < 0 ? null : value(index);
  }

  private @Nullable Object value(int index) {
    Object value = values[index];
    if (value == INTEGER) {
      return bits[index];
    }
    return value == FLOATING ? (Object) Double.longBitsToDouble(bits[index]) : value;
  }

  /** {@return a copy that nothing changes; no code of the application runs in here} */
  FrozenAttributes freeze() {
    @Nullable Object[] copy = new Object[size];
    for (int i = 0; i < size; i++) {
      copy[i] = value(i);
    }
    return new FrozenAttributes(Arrays.copyOf(keys, size), copy, total);
  }

  // ---- as the box reads it when a span begins

  @Override
  public int count() {
    return size;
  }

  @Override
  public String name(int index) {
    String name = names[index];
    return name == null ? "" : name; // below size there is one: for the compiler
  }

  @Override
  public int kind(int index) {
    Object value = values[index];
    if (value == INTEGER) {
      return LONG;
    }
    if (value instanceof String) {
      return TEXT;
    }
    if (value == FLOATING) {
      return DOUBLE;
    }
    return value instanceof Boolean ? BOOLEAN : OTHER;
  }

  @Override
  public String text(int index) {
    return values[index] instanceof String text ? text : "";
  }

  @Override
  public long bits(int index) {
    Object value = values[index];
    return value instanceof Boolean flag ? (flag ? 1 : 0) : bits[index];
  }

  /** Writes into the box what it did not read. Code of a value may run: {@link Values#record}. */
  void recordOthers(OpenSpans box, long handle) {
    for (int i = 0; i < size; i++) {
      Object value = values[i];
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
    AttributeKey<?>[] otherKeys = other.keys;
    String[] otherNames = other.names;
    Object[] otherValues = other.values;
    long[] otherBits = other.bits;
    int count = Math.min(other.size, Math.min(otherBits.length, otherNames.length));
    count = Math.min(count, Math.min(otherKeys.length, otherValues.length));
    for (int i = 0; i < count; i++) {
      AttributeKey<?> key = otherKeys[i];
      String name = otherNames[i];
      Object value = otherValues[i];
      if (key != null && name != null && value != null) {
        boolean unused = put(limit, key, name, value, otherBits[i]);
      }
    }
    total += other.total - count;
  }

  /** {@return whether it is worth keeping: one huge span must not make all later ones large} */
  boolean isPoolable() {
    return names.length <= MAX_POOLED_CAPACITY;
  }

  void clear() {
    Arrays.fill(keys, 0, size, null);
    Arrays.fill(names, 0, size, null);
    Arrays.fill(values, 0, size, null);
    table = null;
    size = 0;
    total = 0;
  }
}
