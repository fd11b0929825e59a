package cairn.format;

import org.jspecify.annotations.Nullable;

/**
 * Remembers the encoded bytes of map keys, found by identity.
 *
 * <p>Any thread; wait-free, no synchronisation. A hit copies bytes; a miss encodes the key anew and
 * may remember it. Keys are mostly literals, one object for the life of a process. Holds at most
 * {@link #CAPACITY} strings of at most {@link #MAX_KEY_BYTES} bytes.
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
   */
  public static final int CAPACITY = 256;
  public static final int MAX_KEY_BYTES = 128;
  private static final int MAX_REPLACEMENTS = 16;

  private final @Nullable Entry[] entries = new @Nullable Entry[CAPACITY];
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
    int slot = slot(key);
    Entry before = entries[slot];
    int replaced = before == null ? 0 : before.replaced + 1;
    if (replaced <= MAX_REPLACEMENTS) {
      byte[] encoded = new byte[length];
      System.arraycopy(bytes, from, encoded, 0, length);
      // Plain: see the essay.
      entries[slot] = new Entry(key, encoded, replaced, secret);
    }
  }

  private static int slot(String key) {
    int hash = key.hashCode();
    return (hash ^ hash >>> 8 ^ hash >>> 16) & (CAPACITY - 1);
  }

  /** A key and its encoded text. */
  static final class Entry {
    /** Texts up to this long are also kept as two words, which two stores copy. */
    static final int WORDS_SIZE = 16;

    final String key;
    final byte[] encoded;

    /** The first 16 bytes, big-endian, zeros behind the end. */
    final long first;

    final long second;
    final int replaced;

    /** Whether the value under the key is secret. */
    final boolean secret;

    Entry(String key, byte[] encoded, int replaced, boolean secret) {
      this.key = key;
      this.encoded = encoded;
      this.replaced = replaced;
      this.secret = secret;
      this.first = word(encoded, 0);
      this.second = word(encoded, 8);
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
