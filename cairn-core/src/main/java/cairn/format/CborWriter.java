package cairn.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes CBOR (RFC 8949) into a byte array, from {@link #position()} up to {@link #limit()}.
 *
 * <p>One thread at a time. No allocation, except for what {@link KeyCache} remembers. Each write
 * returns false and moves nothing if it doesn't fit below the limit; bytes between position and
 * limit may then hold anything.
 */
public final class CborWriter {
  /** Of {@link #textCut}: all of the text was written. */
  public static final int WHOLE = 0;

  /** Of {@link #textCut}: a beginning of the text was written, and {@code …}. */
  public static final int CUT = 1;

  /** Of {@link #textCut}: nothing was written. */
  public static final int NONE = -1;

  /** Of {@link #keyCut}, added to the others: the value under this key is secret. */
  public static final int SECRET = 2;

  static final int UNSIGNED = 0;
  static final int NEGATIVE = 1;
  static final int BYTES = 2;
  static final int TEXT = 3;
  static final int ARRAY = 4;
  static final int TAG = 6;

  private static final int FALSE_BYTE = 0xf4;
  private static final int TRUE_BYTE = 0xf5;
  private static final int NULL_BYTE = 0xf6;
  private static final int FLOAT_BYTE = 0xfa;
  private static final int DOUBLE_BYTE = 0xfb;
  private static final int ARRAY_BYTE = 0x9f;
  private static final int MAP_BYTE = 0xbf;
  private static final int END_BYTE = 0xff;

  /** Bytes of {@code …} in UTF-8: e2 80 a6. */
  private static final int ELLIPSIS_SIZE = 3;

  private static final int UUID_SIZE = 36;
  private static final int CHUNK = 1024;

  /** How far before a cut a URL's user and password are looked for. */
  private static final int MAX_CUT_PASSWORD = 512;

  /** A text of more characters goes through the JDK's encoder. */
  private static final int SHORT = 24;

  /*
   * A short string is narrowed by a loop over charAt that ORs all characters, and so checks them
   * without a branch for each. A longer one goes through `chars`, a chunk at a time: getChars copies
   * in bulk, and the JDK's encoder of ASCII, an intrinsic, narrows and checks in bulk. What is not
   * ASCII is encoded by a loop over `chars`. String.getBytes(int, int, byte[], int) copies fastest
   * but drops high bytes unseen, and nothing public tells whether a string has any. See RATIONALE.
   */
  private final char[] chars;
  private @Nullable AsciiEncoder encoder;
  private final byte[] bytes;
  private final ByteBuffer words;
  private final ByteBuffer littleWords;
  private final KeyCache keys;
  private final Secrets secrets;
  private final boolean forms;
  private final Secrets.Key keyWords = new Secrets.Key();
  private int position;
  private int limit;
  private int redactions;

  /**
   * A writer over all of {@code bytes}, which it keeps; it redacts what is secret to {@code keys}.
   */
  public CborWriter(byte[] bytes, KeyCache keys) {
    this.bytes = bytes;
    this.chars = new char[Math.min(CHUNK, bytes.length)];
    this.words = ByteBuffer.wrap(bytes);
    this.littleWords = words.duplicate().order(ByteOrder.LITTLE_ENDIAN);
    this.keys = keys;
    this.secrets = keys.secrets();
    this.forms = secrets.hasForms();
    this.limit = bytes.length;
  }

  /**
   * {@return values and parts of texts redacted since the last call of {@link #redactions(int)}}
   */
  public int redactions() {
    return redactions;
  }

  /** Counts anew from {@code count}. */
  public void redactions(int count) {
    redactions = count;
  }

  Secrets secrets() {
    return secrets;
  }

  /** Writes what stands for a secret. */
  public boolean redacted() {
    if (!text(Secrets.MARK)) {
      return false;
    }
    redactions++;
    return true;
  }

  /**
   * Starts anew.
   *
   * @param limit exclusive
   */
  public void reset(int position, int limit) {
    if (position < 0 || position > limit || limit > bytes.length) {
      throw new IndexOutOfBoundsException(
          "no such range: position="
              + position
              + ", limit="
              + limit
              + ", capacity="
              + bytes.length);
    }
    this.position = position;
    this.limit = limit;
  }

  public int position() {
    return position;
  }

  public int limit() {
    return limit;
  }

  public byte[] bytes() {
    return bytes;
  }

  /** Moves the limit, to reserve room or to give it back. */
  public void limit(int limit) {
    reset(position, limit);
  }

  /** Moves the position, to take back what was written. */
  public void position(int position) {
    reset(position, limit);
  }

  /** {@return whether the item at {@code start} is a map} */
  boolean isMap(int start) {
    return (bytes[start] & 0xe0) == 0xa0;
  }

  /** Makes what was written from {@code start} on the value of a map's only entry, {@code …}. */
  boolean wrap(int start) {
    int length = position - start;
    int shift = 1 + 1 + ELLIPSIS_SIZE;
    if (limit - position < shift + 1) {
      position = start;
      return false;
    }
    System.arraycopy(bytes, start, bytes, start + shift, length);
    bytes[start] = (byte) MAP_BYTE;
    bytes[start + 1] = (byte) (TEXT << 5 | ELLIPSIS_SIZE);
    mark(start + 2);
    position = start + shift + length;
    return end();
  }

  /** Begins a map of unknown size. */
  public boolean beginMap() {
    return one(MAP_BYTE);
  }

  /** Begins an array of unknown size. */
  public boolean beginArray() {
    return one(ARRAY_BYTE);
  }

  /** Ends the innermost map or array. */
  public boolean end() {
    return one(END_BYTE);
  }

  /** Writes all 64 bits as an unsigned integer. */
  public boolean unsigned(long v) {
    return head(UNSIGNED, v);
  }

  public boolean integer(long v) {
    // v >> 63 is 0 or -1: for a negative v the argument is -1 - v, which is ~v.
    return head((int) (v >>> 63), v ^ v >> 63);
  }

  /**
   * Writes a key below 24 and a number that is nearly always large: in nine bytes, whatever it is,
   * so that there is one way through here. RFC 8949 has a shorter form for what is small, and
   * decoders take both.
   */
  public boolean longField(int key, long v) {
    int at = position;
    if (limit - at < 10) {
      return false;
    }
    bytes[at] = (byte) key;
    bytes[at + 1] = (byte) ((int) (v >>> 63) << 5 | 27);
    putLong(at + 2, v ^ v >> 63);
    position = at + 10;
    return true;
  }

  /** As {@link #longField}, all 64 bits as unsigned. */
  public boolean unsignedField(int key, long v) {
    int at = position;
    if (limit - at < 10) {
      return false;
    }
    bytes[at] = (byte) key;
    bytes[at + 1] = (byte) (UNSIGNED << 5 | 27);
    putLong(at + 2, v);
    position = at + 10;
    return true;
  }

  /** Writes a key below 24 and a byte string of 16 bytes. */
  public boolean wordsField(int key, long high, long low) {
    int at = position;
    if (limit - at < 18) {
      return false;
    }
    bytes[at] = (byte) key;
    bytes[at + 1] = (byte) (BYTES << 5 | 16);
    putLong(at + 2, high);
    putLong(at + 10, low);
    position = at + 18;
    return true;
  }

  /** Writes an integer of the application, redacted if it is a card's number. */
  public boolean number(long v) {
    return isSecret(v) ? redacted() : integer(v);
  }

  /** As {@link #number(long)}: JSON libraries make a double of every number. */
  public boolean number(double v) {
    return (forms && Cards.isNumber(v)) ? redacted() : floating(v);
  }

  boolean isSecret(long v) {
    return forms && v >= Cards.LEAST && Cards.isNumber(v);
  }

  /** Writes a UUID as its text. */
  boolean uuid(long high, long low) {
    int at = position;
    if (limit - at < 2 + UUID_SIZE) {
      return false;
    }
    putHead(at, TEXT, UUID_SIZE);
    hex(at + 2, high >>> 32, 8);
    hex(at + 11, high >>> 16, 4);
    hex(at + 16, high, 4);
    hex(at + 21, low >>> 48, 4);
    hex(at + 26, low, 12);
    bytes[at + 10] = '-';
    bytes[at + 15] = '-';
    bytes[at + 20] = '-';
    bytes[at + 25] = '-';
    position = at + 2 + UUID_SIZE;
    return true;
  }

  private void hex(int at, long digits, int count) {
    long rest = digits;
    for (int i = at + count - 1; i >= at; i--) {
      int digit = (int) rest & 15;
      bytes[i] = (byte) (digit < 10 ? '0' + digit : 'a' - 10 + digit);
      rest >>>= 4;
    }
  }

  /** Writes a 64-bit float. */
  public boolean floating(double v) {
    int at = position;
    if (limit - at < 9) {
      return false;
    }
    bytes[at] = (byte) DOUBLE_BYTE;
    putLong(at + 1, Double.doubleToRawLongBits(v));
    position = at + 9;
    return true;
  }

  /** Writes a 32-bit float: a {@code float} keeps its kind, and so its shortest decimal form. */
  public boolean single(float v) {
    int at = position;
    if (limit - at < 5) {
      return false;
    }
    bytes[at] = (byte) FLOAT_BYTE;
    putInt(at + 1, Float.floatToRawIntBits(v));
    position = at + 5;
    return true;
  }

  public boolean bool(boolean v) {
    return one(v ? TRUE_BYTE : FALSE_BYTE);
  }

  public boolean nul() {
    return one(NULL_BYTE);
  }

  /** Writes a byte string. */
  public boolean bytes(byte[] b, int from, int length) {
    int at = position;
    int head = headSize(length);
    if (length > limit - at - head) {
      return false;
    }
    putHead(at, BYTES, length);
    System.arraycopy(b, from, bytes, at + head, length);
    position = at + head + length;
    return true;
  }

  /** Copies what is encoded already. */
  public boolean raw(byte[] b, int from, int length) {
    int at = position;
    if (length > limit - at) {
      return false;
    }
    System.arraycopy(b, from, bytes, at, length);
    position = at + length;
    return true;
  }

  /**
   * Writes UTF-8, which is not checked or searched, as a text; cut at a code point where it is
   * longer than {@code maxBytes}.
   *
   * @param maxBytes of the content, the {@code …} of a cut included
   * @return whether it fits
   */
  public boolean utf8Cut(byte[] utf8, int from, int length, int maxBytes) {
    int kept = length;
    if (length > maxBytes) {
      kept = maxBytes - ELLIPSIS_SIZE;
      while (kept > 0 && (utf8[from + kept] & 0xc0) == 0x80) {
        kept--;
      }
    }
    int size = kept == length ? kept : kept + ELLIPSIS_SIZE;
    int at = position;
    int head = headSize(size);
    if (size > limit - at - head) {
      return false;
    }
    putHead(at, TEXT, size);
    System.arraycopy(utf8, from, bytes, at + head, kept);
    position = kept == length ? at + head + kept : mark(at + head + kept);
    return true;
  }

  /** Writes all of a text, or nothing. Lone surrogates become {@code '?'}. */
  public boolean text(String s) {
    return ascii(s, Integer.MAX_VALUE, false)
        || sequence(s, Integer.MAX_VALUE, false, false) != NONE;
  }

  /**
   * Writes a text, cut at a code point where it is longer than {@code maxBytes} or doesn't fit.
   * Lone surrogates become {@code '?'}; secrets of a known form {@link Secrets#MARK}.
   *
   * @param maxBytes of the content, the {@code …} of a cut included
   * @return {@link #WHOLE}, {@link #CUT} or {@link #NONE}
   */
  public int textCut(String s, int maxBytes) {
    return ascii(s, maxBytes, forms) ? WHOLE : sequence(s, maxBytes, true, forms);
  }

  /**
   * As {@link #textCut}, from the cache if this very string is there: for values that may be
   * literals.
   */
  public int valueCut(String s, int maxBytes) {
    int at = position;
    KeyCache.Entry known = keys.findValue(s);
    // A value that fits only when it is cut goes the long way.
    if (known != null && known.length <= maxBytes && put(known, at)) {
      return WHOLE;
    }
    int before = redactions;
    int outcome = textCut(s, maxBytes);
    if (outcome == WHOLE
        && redactions == before
        && position - at <= KeyCache.Entry.WORDS_SIZE
        && keys.isWorthAdding(s)) {
      keys.addValue(s, bytes, at, position - at);
    }
    return outcome;
  }

  /**
   * Writes a text that is a map's key, from the cache if this very string is there. A key of more
   * than {@link KeyCache#MAX_KEY_BYTES} is cut.
   */
  public boolean key(String s) {
    return keyCut(s) != NONE;
  }

  /**
   * As {@link #key}, but says whether the key was cut, and with {@link #SECRET} whether its value
   * is secret. Never cuts for want of room.
   */
  public int keyCut(String s) {
    if (s.length() > KeyCache.MAX_KEY_BYTES) {
      // Not even its hash code, which reads all of it.
      return keyCut((CharSequence) s);
    }
    int at = position;
    KeyCache.Entry known = keys.find(s);
    if (known != null) {
      int secret = known.secret ? SECRET : 0;
      return put(known, at) ? WHOLE + secret : NONE;
    }
    int before = redactions;
    int result =
        ascii(s, KeyCache.MAX_KEY_BYTES, forms) ? secrecy(at, WHOLE) : keyCut((CharSequence) s);
    if (result >= 0 && (result & CUT) == 0 && redactions == before) {
      keys.add(s, bytes, at, position - at, (result & SECRET) != 0);
    }
    return result;
  }

  private boolean put(KeyCache.Entry known, int at) {
    int length = known.length;
    if (length > KeyCache.Entry.WORDS_SIZE || limit - at < KeyCache.Entry.WORDS_SIZE) {
      return raw(known.encoded, 0, length);
    }
    // Stores instead of a call for a handful of bytes; what they write behind the text, below the
    // limit, is overwritten by what comes next.
    words.putLong(at, known.first);
    words.putLong(at + 8, known.second);
    if (length > 16) {
      words.putLong(at + 16, known.third);
      words.putLong(at + 24, known.fourth);
    }
    position = at + length;
    return true;
  }

  /** As {@link #keyCut(String)}, past the cache. */
  int keyCut(CharSequence s) {
    int at = position;
    int result = sequence(s, KeyCache.MAX_KEY_BYTES, true, forms);
    if (result == NONE) {
      return NONE;
    }
    if (result == CUT && limit - at < KeyCache.MAX_KEY_BYTES + 2) {
      position = at;
      return NONE;
    }
    return secrecy(at, result);
  }

  /** Adds to the result of a key whether its value is secret. */
  private int secrecy(int at, int result) {
    // The head of a key has one byte, or two from 24 on.
    int content = at + (position - at > 24 ? 2 : 1);
    return secrets.isSecretKey(keyWords, bytes, content, position) ? result + SECRET : result;
  }

  /**
   * Writes any sequence as text; as {@link #textCut} if {@code mayCut}, else as {@link #text}. Asks
   * for the length once, for each character at most once, and for few behind a cut: the sequence
   * may be endless, or change meanwhile.
   */
  int sequence(CharSequence s, int maxBytes, boolean mayCut) {
    return sequence(s, maxBytes, mayCut, forms);
  }

  private int sequence(CharSequence s, int maxBytes, boolean mayCut, boolean redact) {
    int at = position;
    int most = Math.min(maxBytes, contentRoom(limit - at));
    int length = s.length();
    if (most < 0 || (!mayCut && length > most)) {
      return NONE;
    }
    // The content goes behind the largest head it can need, and moves if that was too large.
    int start = at + headSize((int) Math.min(length * 3L, most));
    int end = start + most;
    int p = start;
    char[] c = chars;
    int loaded = 0;
    // 1 if the chunk's last character is the first half of a pair and waits in c[0] for the next.
    int kept = 0;
    boolean whole = true;
    while (loaded < length && whole) {
      // No character takes less than a byte, so no more of them can fit.
      int wanted = Math.min(length - loaded, Math.min(c.length - kept, end - p + 1));
      load(s, loaded, loaded + wanted, c, kept);
      loaded += wanted;
      int count = kept + wanted;
      char last = c[count - 1];
      kept = loaded < length && Character.isHighSurrogate(last) ? 1 : 0;
      count -= kept;
      if (count <= end - p && narrow(count, p)) {
        p += count;
      } else {
        p = encode(c, count, p, end);
        whole = p >= 0;
      }
      c[0] = last;
    }
    int stop = whole ? p : ~p;
    if (!whole) {
      p = mayCut ? cutAt(stop, start, end) : -1;
      if (p < 0) {
        return NONE;
      }
    }
    if (redact) {
      p = redactScanned(start, p, end, !whole);
    }
    finishText(at, start, p);
    return whole ? WHOLE : CUT;
  }

  /** Searches the content from {@code start} to {@code p} and returns where it ends then. */
  private int redactScanned(int start, int p, int end, boolean cut) {
    int mark = cut ? ELLIPSIS_SIZE : 0;
    int stop = p - mark;
    if (stop - start < SecretText.LEAST_BYTES) {
      return p;
    }
    int kinds = SecretText.scan(bytes, littleWords, start, stop);
    if (kinds != 0) {
      stop = redactText(start, stop, kinds, end - mark, cut);
    }
    if (!cut) {
      return stop;
    }
    // What shows that it is one may lie behind the cut: the '@' of a URL, more digits of a card.
    int open = (SecretText.URL | SecretText.CARD) & ~kinds;
    if (open != 0) {
      int from = Math.max(start, stop - MAX_CUT_PASSWORD);
      stop = redactText(from, stop, open, end - mark, true);
    }
    return mark(stop);
  }

  private int redactText(int start, int stop, int kinds, int end, boolean cut) {
    long done = SecretText.redact(bytes, start, stop, kinds, end, cut);
    redactions += (int) (done >>> 32);
    return (int) done;
  }

  /** Puts the head at {@code at}, and the content behind it. */
  private void finishText(int at, int start, int p) {
    int written = p - start;
    int content = at + headSize(written);
    if (content != start) {
      System.arraycopy(bytes, start, bytes, content, written);
    }
    putHead(at, TEXT, written);
    position = content + written;
  }

  private static void load(CharSequence s, int from, int to, char[] c, int at) {
    if (s instanceof String string) {
      string.getChars(from, to, c, at);
    } else {
      for (int i = from; i < to; i++) {
        c[at + i - from] = s.charAt(i);
      }
    }
  }

  /**
   * Writes the first {@code count} of {@code chars} at {@code p} if all are ASCII; else what it
   * wrote is to be overwritten.
   */
  private boolean narrow(int count, int p) {
    if (count > SHORT) {
      return narrowInBulk(count, p);
    }
    char[] c = chars;
    byte[] b = bytes;
    int seen = 0;
    for (int i = 0; i < count; i++) {
      char one = c[i];
      seen |= one;
      b[p + i] = (byte) one;
    }
    return seen < 0x80;
  }

  private boolean narrowInBulk(int count, int p) {
    AsciiEncoder ascii = encoder;
    if (ascii == null) {
      ascii = new AsciiEncoder(chars, bytes);
      encoder = ascii;
    }
    return ascii.encode(count, p);
  }

  /** As {@link #narrow}, of a short string. */
  private boolean narrow(String s, int length, int p) {
    byte[] b = bytes;
    int seen = 0;
    for (int i = 0; i < length; i++) {
      char one = s.charAt(i);
      seen |= one;
      b[p + i] = (byte) one;
    }
    return seen < 0x80;
  }

  /** {@return where the characters end, or its complement where the next one doesn't fit} */
  private int encode(char[] c, int count, int p, int end) {
    byte[] b = bytes;
    for (int i = 0; i < count; i++) {
      int one = c[i];
      if (one < 0x80) {
        if (p >= end) {
          return ~p;
        }
        b[p++] = (byte) one;
      } else if (one < 0x800) {
        if (end - p < 2) {
          return ~p;
        }
        b[p] = (byte) (0xc0 | one >> 6);
        b[p + 1] = continuation(one);
        p += 2;
      } else if (one < Character.MIN_SURROGATE || one > Character.MAX_SURROGATE) {
        if (end - p < 3) {
          return ~p;
        }
        b[p] = (byte) (0xe0 | one >> 12);
        b[p + 1] = continuation(one >> 6);
        b[p + 2] = continuation(one);
        p += 3;
      } else if (one <= Character.MAX_HIGH_SURROGATE
          && i + 1 < count
          && Character.isLowSurrogate(c[i + 1])) {
        if (end - p < 4) {
          return ~p;
        }
        int codePoint = Character.toCodePoint((char) one, c[++i]);
        b[p] = (byte) (0xf0 | codePoint >> 18);
        b[p + 1] = continuation(codePoint >> 12);
        b[p + 2] = continuation(codePoint >> 6);
        b[p + 3] = continuation(codePoint);
        p += 4;
      } else {
        if (p >= end) {
          return ~p;
        }
        b[p++] = '?';
      }
    }
    return p;
  }

  /** Ends the text that runs from {@code start} to {@code p} with a mark, or returns -1. */
  private int cutAt(int p, int start, int end) {
    int cut = end - ELLIPSIS_SIZE;
    if (cut >= p) {
      cut = p;
    } else {
      while (cut > start && (bytes[cut] & 0xc0) == 0x80) {
        cut--;
      }
    }
    return cut < start ? -1 : mark(cut);
  }

  private int mark(int at) {
    bytes[at] = (byte) 0xe2;
    bytes[at + 1] = (byte) 0x80;
    bytes[at + 2] = (byte) 0xa6;
    return at + ELLIPSIS_SIZE;
  }

  /** Writes the head of an item: its major type and its argument, all 64 bits as unsigned. */
  boolean head(int major, long argument) {
    int at = position;
    int size = headSize(argument);
    if (size > limit - at) {
      return false;
    }
    int type = major << 5;
    switch (size) {
      case 1 -> bytes[at] = (byte) (type | (int) argument);
      case 2 -> {
        bytes[at] = (byte) (type | 24);
        bytes[at + 1] = (byte) argument;
      }
      case 3 -> {
        bytes[at] = (byte) (type | 25);
        bytes[at + 1] = (byte) (argument >> 8);
        bytes[at + 2] = (byte) argument;
      }
      case 5 -> {
        bytes[at] = (byte) (type | 26);
        putInt(at + 1, (int) argument);
      }
      default -> {
        bytes[at] = (byte) (type | 27);
        putLong(at + 1, argument);
      }
    }
    position = at + size;
    return true;
  }

  /**
   * {@return the longest content that fits into {@code room} together with its head, or less than
   * 0}
   */
  static int contentRoom(int room) {
    int content = room - 1;
    if (content >= 24) {
      content = Math.max(room - 2, 23);
      if (content >= 256) {
        content = Math.max(room - 3, 255);
        if (content >= 65_536) {
          content = Math.max(room - 5, 65_535);
        }
      }
    }
    return content;
  }

  /** Writes a text of ASCII characters only that is no longer than a chunk; else moves nothing. */
  private boolean ascii(String s, int maxBytes, boolean redact) {
    int length = s.length();
    int at = position;
    int content = at + headSize(length);
    if (length > chars.length || length > maxBytes || length > limit - content) {
      return false;
    }
    if (length <= SHORT) {
      if (!narrow(s, length, content)) {
        return false;
      }
    } else {
      s.getChars(0, length, chars, 0);
      if (!narrowInBulk(length, content)) {
        return false;
      }
    }
    if (redact && length >= SecretText.LEAST_BYTES) {
      int kinds = SecretText.scan(bytes, littleWords, content, content + length);
      if (kinds != 0) {
        int room = Math.min(maxBytes, contentRoom(limit - at));
        finishText(
            at, content, redactText(content, content + length, kinds, content + room, false));
        return true;
      }
    }
    putHead(at, TEXT, length);
    position = content + length;
    return true;
  }

  private static byte continuation(int bits) {
    return (byte) (0x80 | (bits & 0x3f));
  }

  private boolean one(int b) {
    int at = position;
    if (at >= limit) {
      return false;
    }
    bytes[at] = (byte) b;
    position = at + 1;
    return true;
  }

  private static int headSize(int length) {
    return length < 24 ? 1 : length < 256 ? 2 : length < 65_536 ? 3 : 5;
  }

  private static int headSize(long argument) {
    // Unsigned: what is negative here needs all 8 bytes.
    return argument < 0 || argument >= 1L << 32
        ? 9
        : argument >= 65_536 ? 5 : headSize((int) argument);
  }

  private void putHead(int at, int major, int length) {
    int type = major << 5;
    if (length < 24) {
      bytes[at] = (byte) (type | length);
    } else if (length < 256) {
      bytes[at] = (byte) (type | 24);
      bytes[at + 1] = (byte) length;
    } else if (length < 65_536) {
      bytes[at] = (byte) (type | 25);
      bytes[at + 1] = (byte) (length >> 8);
      bytes[at + 2] = (byte) length;
    } else {
      bytes[at] = (byte) (type | 26);
      putInt(at + 1, length);
    }
  }

  private void putInt(int at, int v) {
    words.putInt(at, v); // big-endian, as CBOR
  }

  private void putLong(int at, long v) {
    words.putLong(at, v);
  }

  /** The JDK's encoder from the chunk of characters to the bytes. */
  private static final class AsciiEncoder {
    private final CharsetEncoder encoder = StandardCharsets.US_ASCII.newEncoder();
    private final CharBuffer in;
    private final ByteBuffer out;

    AsciiEncoder(char[] chars, byte[] bytes) {
      in = CharBuffer.wrap(chars);
      out = ByteBuffer.wrap(bytes);
    }

    /** {@return whether the first {@code count} characters are all ASCII} */
    boolean encode(int count, int at) {
      in.limit(count).position(0);
      out.limit(at + count).position(at);
      encoder.reset();
      return encoder.encode(in, out, true).isUnderflow();
    }
  }
}
