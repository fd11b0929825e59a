package cairn.format;

import org.jspecify.annotations.Nullable;

/**
 * Remembers the encoded bytes of map keys and of short values, found by identity.
 *
 * <p>Any thread; wait-free, no synchronisation. A hit copies bytes; a miss encodes the string anew
 * and may remember it. Keys are mostly literals, one object for the life of a process, and so are
 * many values: the method and the route of a request, the name of a database. Holds at most {@link
 * #CAPACITY} keys of at most {@link #MAX_KEY_BYTES} bytes, and as many values of at most 31.
 */
public final class KeyCache {
  /*
   * Races are harmless: an entry's fields are final, so whoever sees an entry through a plain read
   * sees it whole, and a string never changes, so an entry whose key is the very same object is
   * right for ever. A lost store costs one more miss. The entry keeps its key reachable, so its
   * identity can't pass on to another string.
   *
   * A key built anew for each call (never the same object) would replace entries at every call and
   * allocate for each. Hence a slot changes hands MAX_REPLACEMENTS times and then stays: a bounded
   * number of allocations over the life of the cache, whatever the keys are.
   *
   * Most values are built anew for each call. Those must neither be hashed (a fresh string's hash
   * code reads all of it) nor use the replacements up: a value's slot comes from its length and
   * three characters, and it is remembered only when the very same string is met twice, the first
   * time as one of eight, which becomes the slot's candidate.
   */
  public static final int CAPACITY = 256;
  public static final int MAX_KEY_BYTES = 128;
  private static final int MAX_REPLACEMENTS = 16;

  /** Longer values are not looked for. */
  private static final int MAX_VALUE_LENGTH = Entry.WORDS_SIZE - 1;

  private static final int SAMPLED = 8;

  private final @Nullable Entry[] entries = new @Nullable Entry[CAPACITY];
  private final @Nullable Entry[] values = new @Nullable Entry[CAPACITY];
  private final @Nullable String[] candidates = new @Nullable String[CAPACITY];

  // Racy: it only says which miss is the eighth.
  private int misses;
  private final Secrets secrets;

  /** A cache for writers that redact nothing. */
  public KeyCache() {
    this(Secrets.NONE);
  }

  /**
   * A cache for writers that redact.
   *
   * @param secrets what is secret; an entry remembers whether its key is
   */
  public KeyCache(Secrets secrets) {
    this.secrets = secrets;
  }

  Secrets secrets() {
    return secrets;
  }

  /** {@return what this very string was encoded to, or null if it isn't remembered} */
  @SuppressWarnings("ReferenceEquality") // Identity is the point.
  @Nullable Entry find(String key) {
    // Plain: see the essay.
    Entry entry = entries[slot(key)];
    return entry != null && entry.key == key ? entry : null;
  }

  /** Remembers what {@code key} was encoded to, if its slot may still change hands. */
  void add(String key, byte[] bytes, int from, int length, boolean secret) {
    add(entries, slot(key), key, bytes, from, length, secret);
  }

  private static void add(
      @Nullable Entry[] entries,
      int slot,
      String key,
      byte[] bytes,
      int from,
      int length,
      boolean secret) {
    Entry before = entries[slot];
    int replaced = before == null ? 0 : before.replaced + 1;
    if (replaced <= MAX_REPLACEMENTS) {
      byte[] encoded = new byte[length];
      System.arraycopy(bytes, from, encoded, 0, length);
      // Plain: see the essay.
      entries[slot] = new Entry(key, encoded, replaced, secret);
    }
  }

  /** {@return what this very value was encoded to, or null if it isn't remembered} */
  @SuppressWarnings("ReferenceEquality") // Identity is the point.
  @Nullable Entry findValue(String value) {
    int length = value.length();
    if (length == 0 || length > MAX_VALUE_LENGTH) {
      return null;
    }
    // Plain: see the essay.
    Entry entry = values[valueSlot(value, length)];
    return entry != null && entry.key == value ? entry : null;
  }

  /** {@return whether a value that was not found is to be added once it is encoded} */
  @SuppressWarnings("ReferenceEquality") // Identity is the point.
  boolean isWorthAdding(String value) {
    int length = value.length();
    if (length == 0 || length > MAX_VALUE_LENGTH) {
      return false;
    }
    int slot = valueSlot(value, length);
    if (candidates[slot] == value) {
      return true;
    }
    int miss = misses + 1;
    misses = miss;
    if (miss % SAMPLED == 0) {
      candidates[slot] = value;
    }
    return false;
  }

  /** Remembers what {@code value} was encoded to, if its slot may still change hands. */
  void addValue(String value, byte[] bytes, int from, int length) {
    int slot = valueSlot(value, value.length());
    candidates[slot] = null;
    add(values, slot, value, bytes, from, length, false);
  }

  private static int valueSlot(String value, int length) {
    int hash = length;
    hash = hash * 31 + value.charAt(0);
    hash = hash * 31 + value.charAt(length >> 1);
    hash = hash * 31 + value.charAt(length - 1);
    return (hash ^ hash >>> 8) & (CAPACITY - 1);
  }

  private static int slot(String key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 8 ^ hash >>> 16) & (CAPACITY - 1);
  }

  /** A key and its encoded text. */
  static final class Entry {
    /** Texts up to this long are also kept as four words, which four stores copy. */
    static final int WORDS_SIZE = 32;

    final String key;
    final byte[] encoded;

    /** Of {@link #encoded}: one load less. */
    final int length;

    /** The first 32 bytes, big-endian, zeros behind the end. */
    final long first;

    final long second;
    final long third;
    final long fourth;
    final int replaced;

    /** Whether the value under the key is secret. */
    final boolean secret;

    Entry(String key, byte[] encoded, int replaced, boolean secret) {
      this.key = key;
      this.encoded = encoded;
      this.length = encoded.length;
      this.replaced = replaced;
      this.secret = secret;
      this.first = word(encoded, 0);
      this.second = word(encoded, 8);
      this.third = word(encoded, 16);
      this.fourth = word(encoded, 24);
    }

    private static long word(byte[] bytes, int from) {
      long word = 0;
      for (int i = from; i < from + 8; i++) {
        word = word << 8 | (i < bytes.length ? bytes[i] & 0xff : 0);
      }
      return word;
    }
  }
}
