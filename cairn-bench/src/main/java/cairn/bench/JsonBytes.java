package cairn.bench;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes the items of JSON as UTF-8 into one array that is used again, up to {@link #limit()}: what
 * {@code CborWriter} is for CBOR, made with the same care. One thread. Each write returns false (or
 * {@link #NONE}) and moves nothing if it doesn't fit. No allocation, but for keys seen first.
 */
final class JsonBytes {
  /** Of {@link #string}: all of it was written. */
  static final int WHOLE = 0;

  /** Of {@link #string}: a beginning was written, and {@code …}. */
  static final int CUT = 1;

  /** Of {@link #string}: nothing was written. */
  static final int NONE = -1;

  private static final int CHUNK = 1024;
  private static final int ELLIPSIS_SIZE = 3;
  private static final int KEYS = 256;
  private static final int MAX_KEY_CHARS = 128;
  private static final int MAX_REPLACEMENTS = 16;
  private static final byte[] TRUE = ascii("true");
  private static final byte[] FALSE = ascii("false");
  private static final byte[] NULL = ascii("null");
  private static final byte[] LEAST_LONG = ascii("-9223372036854775808");
  private static final byte[] HEX = ascii("0123456789abcdef");

  /** 00 to 99. */
  private static final byte[] PAIRS = new byte[200];

  static {
    for (int i = 0; i < 100; i++) {
      PAIRS[2 * i] = (byte) ('0' + i / 10);
      PAIRS[2 * i + 1] = (byte) ('0' + i % 10);
    }
  }

  private final byte[] bytes = new byte[Bytes.CAPACITY];
  private final char[] chars = new char[CHUNK];
  private final StringBuilder decimal = new StringBuilder(32);
  private final @Nullable Key[] keys = new @Nullable Key[KEYS];
  private int position;
  private int limit = bytes.length;

  /** Where a text could end, with room for the mark of a cut behind it. */
  private int safe;

  /** A key with its quotes and colon, found by identity; a slot changes hands a few times only. */
  private record Key(String key, byte[] encoded, int replaced) {}

  private static byte[] ascii(String s) {
    return s.getBytes(StandardCharsets.US_ASCII);
  }

  byte[] bytes() {
    return bytes;
  }

  int position() {
    return position;
  }

  int limit() {
    return limit;
  }

  void reset(int position, int limit) {
    this.position = position;
    this.limit = limit;
  }

  boolean one(char ascii) {
    if (position >= limit) {
      return false;
    }
    bytes[position++] = (byte) ascii;
    return true;
  }

  /** Writes a comma, unless an object or array was opened just before. */
  boolean separate() {
    byte last = bytes[position - 1];
    return last == '{' || last == '[' || one(',');
  }

  boolean bool(boolean v) {
    return raw(v ? TRUE : FALSE);
  }

  boolean nul() {
    return raw(NULL);
  }

  private boolean raw(byte[] ascii) {
    int length = ascii.length;
    if (length > limit - position) {
      return false;
    }
    System.arraycopy(ascii, 0, bytes, position, length);
    position += length;
    return true;
  }

  boolean integer(long v) {
    if (v == Long.MIN_VALUE) {
      return raw(LEAST_LONG);
    }
    int sign = v < 0 ? 1 : 0;
    long rest = v < 0 ? -v : v;
    int digits = 1;
    for (long n = rest; n >= 10; n /= 10) {
      digits++;
    }
    int end = position + sign + digits;
    if (end > limit) {
      return false;
    }
    int at = end;
    while (rest >= 100) {
      int pair = (int) (rest % 100) * 2;
      rest /= 100;
      bytes[--at] = PAIRS[pair + 1];
      bytes[--at] = PAIRS[pair];
    }
    int pair = (int) rest * 2;
    bytes[--at] = PAIRS[pair + 1];
    if (rest >= 10) {
      bytes[--at] = PAIRS[pair];
    }
    if (sign == 1) {
      bytes[--at] = '-';
    }
    position = end;
    return true;
  }

  /** Through a builder that is used again: unlike {@code Double.toString}, no String. */
  boolean floating(double v) {
    decimal.setLength(0);
    decimal.append(v);
    int length = decimal.length();
    boolean number = !Double.isNaN(v) && !Double.isInfinite(v);
    if (length + 2 > limit - position) {
      return false;
    }
    if (!number) {
      bytes[position++] = '"';
    }
    for (int i = 0; i < length; i++) {
      bytes[position + i] = (byte) decimal.charAt(i);
    }
    position += length;
    if (!number) {
      bytes[position++] = '"';
    }
    return true;
  }

  /** Writes a key, its quotes and its colon. */
  @SuppressWarnings("ReferenceEquality") // Identity is the point.
  boolean key(String s) {
    if (s.length() > MAX_KEY_CHARS) {
      return string(s, MAX_KEY_CHARS) != NONE && one(':');
    }
    int hash = s.hashCode();
    int slot = (hash ^ hash >>> 8 ^ hash >>> 16) & (KEYS - 1);
    Key known = keys[slot];
    if (known != null && known.key == s) {
      return raw(known.encoded);
    }
    int start = position;
    if (string(s, MAX_KEY_CHARS) != WHOLE || !one(':')) {
      return false;
    }
    int replaced = known == null ? 0 : known.replaced + 1;
    if (replaced <= MAX_REPLACEMENTS) {
      byte[] encoded = new byte[position - start];
      System.arraycopy(bytes, start, encoded, 0, encoded.length);
      keys[slot] = new Key(s, encoded, replaced);
    }
    return true;
  }

  /**
   * Writes a string, cut at a code point where it is longer than {@code maxBytes} or doesn't fit.
   */
  int string(String s, int maxBytes) {
    int start = position + 1;
    int end = start + Math.min(maxBytes, limit - 1 - start);
    if (end < start) {
      return NONE;
    }
    bytes[position] = '"';
    int p = start;
    safe = -1;
    int length = s.length();
    int from = 0;
    while (from < length) {
      int count = Math.min(length - from, CHUNK);
      s.getChars(from, from + count, chars, 0);
      if (from + count < length && Character.isHighSurrogate(chars[count - 1])) {
        count--;
      }
      if (count <= end - p && plain(count, p)) {
        if (p <= end - ELLIPSIS_SIZE) {
          safe = Math.min(p + count, end - ELLIPSIS_SIZE);
        }
        p += count;
      } else {
        p = encode(count, p, end);
        if (p < 0) {
          return cut();
        }
      }
      from += count;
    }
    bytes[p] = '"';
    position = p + 1;
    return WHOLE;
  }

  private int cut() {
    if (safe < position + 1) {
      return NONE;
    }
    bytes[safe] = (byte) 0xe2;
    bytes[safe + 1] = (byte) 0x80;
    bytes[safe + 2] = (byte) 0xa6;
    bytes[safe + 3] = '"';
    position = safe + 4;
    return CUT;
  }

  /** Writes characters that need no escape and one byte each; else what it wrote is of no use. */
  private boolean plain(int count, int p) {
    char[] c = chars;
    byte[] b = bytes;
    // Negative as soon as one of them is: no branch a character.
    int seen = 0;
    for (int i = 0; i < count; i++) {
      int one = c[i];
      seen |= (one - 0x20) | (0x7f - one) | ((one ^ '"') - 1) | ((one ^ '\\') - 1);
      b[p + i] = (byte) one;
    }
    return seen >= 0;
  }

  /** {@return where the characters end, or -1 where one doesn't fit} */
  private int encode(int count, int p, int end) {
    char[] c = chars;
    byte[] b = bytes;
    for (int i = 0; i < count; i++) {
      if (p <= end - ELLIPSIS_SIZE) {
        safe = p;
      }
      int one = c[i];
      if (one >= 0x20 && one < 0x80 && one != '"' && one != '\\') {
        if (p >= end) {
          return -1;
        }
        b[p++] = (byte) one;
      } else if (one < 0x80) {
        p = escape(one, p, end);
        if (p < 0) {
          return -1;
        }
      } else if (one < 0x800) {
        if (end - p < 2) {
          return -1;
        }
        b[p++] = (byte) (0xc0 | one >> 6);
        b[p++] = continuation(one);
      } else if (!Character.isSurrogate((char) one)) {
        if (end - p < 3) {
          return -1;
        }
        b[p++] = (byte) (0xe0 | one >> 12);
        b[p++] = continuation(one >> 6);
        b[p++] = continuation(one);
      } else if (i + 1 < count && Character.isSurrogatePair((char) one, c[i + 1])) {
        if (end - p < 4) {
          return -1;
        }
        int codePoint = Character.toCodePoint((char) one, c[++i]);
        b[p++] = (byte) (0xf0 | codePoint >> 18);
        b[p++] = continuation(codePoint >> 12);
        b[p++] = continuation(codePoint >> 6);
        b[p++] = continuation(codePoint);
      } else {
        if (p >= end) {
          return -1;
        }
        b[p++] = '?';
      }
    }
    return p;
  }

  private int escape(int one, int p, int end) {
    int letter =
        switch (one) {
          case '"', '\\' -> one;
          case '\n' -> 'n';
          case '\r' -> 'r';
          case '\t' -> 't';
          default -> 'u';
        };
    if (end - p < (letter == 'u' ? 6 : 2)) {
      return -1;
    }
    bytes[p++] = '\\';
    bytes[p++] = (byte) letter;
    if (letter == 'u') {
      bytes[p++] = '0';
      bytes[p++] = '0';
      bytes[p++] = HEX[one >> 4];
      bytes[p++] = HEX[one & 15];
    }
    return p;
  }

  private static byte continuation(int bits) {
    return (byte) (0x80 | (bits & 0x3f));
  }
}
