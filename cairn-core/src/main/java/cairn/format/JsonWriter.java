package cairn.format;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON (RFC 8259) as UTF-8 bytes, commas included, without an intermediate String or array.
 *
 * <p>One thread. Into a stream, through a buffer of fixed size; or into an array of the caller,
 * which is replaced by a larger one where it doesn't suffice. Otherwise nothing is allocated, big
 * numbers excepted. Whatever {@link Hostile} names is escaped, so the output is safe to show on a
 * terminal as it is. The caller opens, names and closes in a legal order; that is not checked.
 */
public final class JsonWriter {
  /*
   * Text is copied eight bytes at a time, and the eight are looked at while they are in a register:
   * stored first, counted as written up to the first that isn't plain. So a store may go up to seven
   * bytes beyond what is written, and a load as far beyond the text, but never beyond an array.
   */

  private static final VarHandle WORD =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final byte[] HEX = ascii("0123456789abcdef");
  private static final byte[] BASE64 =
      ascii("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  private static final byte[] TRUE = ascii("true");
  private static final byte[] FALSE = ascii("false");
  private static final byte[] NULL = ascii("null");
  private static final byte[] CUT_MARK = "…".getBytes(StandardCharsets.UTF_8);

  private static final long EACH_BYTE = 0x0101_0101_0101_0101L;
  private static final long EACH_TOP_BIT = EACH_BYTE << 7;

  /**
   * How each ASCII character is written: the bytes from the lowest up, their number in the highest.
   */
  private static final long[] FORMS = forms();

  private static final int BUFFER_SIZE = 8192;

  /** How many characters a byte can become: a backslash, u, and four hex digits. */
  static final int MAX_EXPANSION = 6;

  /** For a comma and a number, and for some characters at once. */
  static final int ROOM = 128;

  /** Beyond this some JVMs refuse. */
  private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

  private final @Nullable OutputStream out;
  byte[] buffer;
  int used;
  boolean needsComma;

  /** Of a byte string being written: the bytes, 0 to 2, that don't make a group of three yet. */
  private int carry;

  private int carried;

  /** Writes to {@code out}, buffered: {@link #flush} is up to the caller. */
  public JsonWriter(OutputStream out) {
    this.out = out;
    this.buffer = new byte[BUFFER_SIZE];
  }

  /** Writes to {@link #bytes}, which is {@code buffer} as long as that has room. */
  public JsonWriter(byte[] buffer) {
    this.out = null;
    this.buffer = buffer.length < ROOM ? new byte[ROOM] : buffer;
  }

  /** {@return the array that holds what was written since the last {@link #reset}} */
  public byte[] bytes() {
    return buffer;
  }

  /** {@return how many of {@link #bytes} are written} */
  public int size() {
    return used;
  }

  /** Starts anew in the same array. */
  public void reset() {
    used = 0;
    needsComma = false;
  }

  /** Opens an object. */
  public JsonWriter beginObject() throws IOException {
    open('{');
    return this;
  }

  /** Closes an object. */
  public JsonWriter endObject() throws IOException {
    close('}');
    return this;
  }

  /** Opens an array. */
  public JsonWriter beginArray() throws IOException {
    open('[');
    return this;
  }

  /** Closes an array. */
  public JsonWriter endArray() throws IOException {
    close(']');
    return this;
  }

  /** Names the next value of an object. */
  public JsonWriter name(String name) throws IOException {
    string(name);
    endName();
    return this;
  }

  /** Ends a name that was written as a string. */
  void endName() throws IOException {
    close(':');
    needsComma = false;
  }

  /** Ends a line between two values that nothing encloses. */
  void endLine() throws IOException {
    close('\n');
    needsComma = false;
  }

  /** Writes text; a lone surrogate becomes U+FFFD. */
  public JsonWriter string(String text) throws IOException {
    beginString();
    for (int i = 0; i < text.length(); ) {
      int codePoint = text.codePointAt(i);
      i += Character.charCount(codePoint);
      boolean lone = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
      room();
      used = character(lone ? Utf8.REPLACEMENT : codePoint, buffer, used);
    }
    endString();
    return this;
  }

  /** Writes a whole number. */
  public JsonWriter number(long value) throws IOException {
    separate();
    if (value < 0) {
      buffer[used++] = '-';
    }
    digits(value < 0 ? -value : value);
    return this;
  }

  /** Writes a whole number, all 64 bits as unsigned. */
  void unsigned(long value) throws IOException {
    separate();
    digits(value);
  }

  /** Writes -1 - {@code value}, the value taken as unsigned. */
  void negative(long value) throws IOException {
    separate();
    buffer[used++] = '-';
    if (value == -1) {
      digits(Long.divideUnsigned(value, 10));
      buffer[used++] = '6'; // 2^64, which has no form of 64 bits: 18446744073709551616
    } else {
      digits(value + 1);
    }
  }

  private void digits(long unsigned) {
    if (unsigned < 0) {
      long high = Long.divideUnsigned(unsigned, 10);
      digits(high);
      buffer[used++] = (byte) ('0' + (unsigned - 10 * high));
    } else {
      used = Digits.write(unsigned, Digits.count(unsigned), buffer, used);
    }
    needsComma = true;
  }

  /** Writes a number in its shortest form; one that JSON has no form for becomes text. */
  public JsonWriter number(double value) throws IOException {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return string(Double.toString(value));
    }
    separate();
    used = ShortestDecimal.write(value, buffer, used);
    needsComma = true;
    return this;
  }

  /** As {@link #number(double)}; 0.1f is 0.1. */
  JsonWriter number(float value) throws IOException {
    if (Float.isNaN(value) || Float.isInfinite(value)) {
      return string(Float.toString(value));
    }
    separate();
    used = ShortestDecimal.write(value, buffer, used);
    needsComma = true;
    return this;
  }

  /** Writes a whole or decimal number of any size. */
  void bigNumber(Number value) throws IOException {
    separate();
    byte[] ascii = ascii(value.toString());
    text(ascii, 0, ascii.length);
    needsComma = true;
  }

  /** Writes true or false. */
  public JsonWriter bool(boolean value) throws IOException {
    literal(value);
    return this;
  }

  /** Writes null. */
  public JsonWriter nothing() throws IOException {
    literal(null);
    return this;
  }

  private void literal(@Nullable Boolean value) throws IOException {
    separate();
    used = literal(value, buffer, used);
    needsComma = true;
  }

  /** Writes true, false or null at {@code p} and returns where it ends. */
  static int literal(@Nullable Boolean value, byte[] to, int p) {
    byte[] ascii = value == null ? NULL : value ? TRUE : FALSE;
    for (byte b : ascii) {
      to[p++] = b;
    }
    return p;
  }

  void beginString() throws IOException {
    open('"');
  }

  void endString() throws IOException {
    close('"');
  }

  /** Writes {@code …} within a string. */
  void cutMark() throws IOException {
    text(CUT_MARK, 0, CUT_MARK.length);
  }

  /** Writes UTF-8 within a string; what is invalid becomes U+FFFD. */
  void text(byte[] from, int start, int end) throws IOException {
    int i = start;
    while (i < end) {
      room();
      int part = Math.min(end - i, (buffer.length - used - Long.BYTES) / MAX_EXPANSION);
      part -= part < end - i ? Utf8.incomplete(from, i, i + part) : 0;
      used = characters(from, i, i + part, buffer, used);
      i += part;
    }
  }

  /**
   * Writes UTF-8 to {@code p} if all of it is copied as it is; else what it wrote there is to be
   * overwritten. For short texts: it doesn't stop where it could.
   */
  static boolean copy(byte[] from, int start, int end, byte[] to, int p) {
    int length = end - start;
    if (length < Long.BYTES) {
      long word = word(from, start);
      WORD.set(to, p, word);
      return marks(word) << ((Long.BYTES - length) * Byte.SIZE) == 0;
    }
    long marks = 0;
    int last = end - Long.BYTES;
    for (int i = start; i < last; i += Long.BYTES) {
      long word = (long) WORD.get(from, i);
      WORD.set(to, p + i - start, word);
      marks |= marks(word);
    }
    // The last eight, some of them again.
    long word = (long) WORD.get(from, last);
    WORD.set(to, p + last - start, word);
    return (marks | marks(word)) == 0;
  }

  /**
   * Writes UTF-8 to {@code p}, where there is room for {@link #MAX_EXPANSION} times as much and a
   * word.
   *
   * @return where it ends
   */
  static int characters(byte[] from, int start, int end, byte[] to, int p) {
    int i = start;
    while (i < end) {
      // The next address must not wait for what is in this word: a branch, not a sum.
      int ahead = p - i;
      for (; i <= end - 2 * Long.BYTES; i += 2 * Long.BYTES) {
        long first = (long) WORD.get(from, i);
        long second = (long) WORD.get(from, i + Long.BYTES);
        if ((marks(first) | marks(second)) != 0) {
          break;
        }
        WORD.set(to, i + ahead, first);
        WORD.set(to, i + ahead + Long.BYTES, second);
      }
      p = i + ahead;
      long word = word(from, i);
      WORD.set(to, p, word);
      long marks = marks(word);
      int left = end - i;
      // Of no mark, 64 zeros: a whole word.
      int plain = Math.min(Long.numberOfTrailingZeros(marks) >> 3, left);
      i += plain;
      p += plain;
      if (marks != 0 && plain < left) {
        int first = from[i];
        if (first >= 0) {
          p = form(first, to, p);
          i++;
        } else {
          // Few texts change between ASCII and other characters at each word.
          do {
            left = end - i;
            if (first >> 4 == -2 && left > 2 && isHarmless(first, from[i + 1], from[i + 2])) {
              to[p] = (byte) first;
              to[p + 1] = from[i + 1];
              to[p + 2] = from[i + 2];
              p += 3;
              i += 3;
            } else if (first >> 5 == -2 && left > 1 && isHarmless(first, from[i + 1])) {
              to[p] = (byte) first;
              to[p + 1] = from[i + 1];
              p += 2;
              i += 2;
            } else {
              long decoded = Utf8.decode(from, i, end);
              p = character(Utf8.codePoint(decoded), to, p);
              i += Utf8.length(decoded);
            }
          } while (i < end && (first = from[i]) < 0);
        }
      }
    }
    return p;
  }

  /** {@return the bytes from {@code i}, as many as the array has, up to eight} */
  private static long word(byte[] from, int i) {
    int behind = from.length - Long.BYTES;
    if (i <= behind) {
      return (long) WORD.get(from, i);
    }
    if (behind >= 0) {
      return (long) WORD.get(from, behind) >>> ((i - behind) * Byte.SIZE);
    }
    long word = 0;
    for (int k = from.length; k > i; k--) {
      word = word << Byte.SIZE | (from[k - 1] & 0xff);
    }
    return word;
  }

  /** {@return the number of {@code width} bytes; eight must be there} */
  static long bigEndian(byte[] from, int i, int width) {
    return Long.reverseBytes((long) WORD.get(from, i)) >>> ((Long.BYTES - width) * Byte.SIZE);
  }

  /**
   * {@return the top bit of each byte that isn't copied as it is} Exact up to the first such byte;
   * those above it may be marked as well, by a carry.
   */
  private static long marks(long word) {
    long delete = word + EACH_BYTE;
    long controlOrQuote = (word ^ EACH_BYTE * 2) - EACH_BYTE * 0x21; // '"' ^ 2 is 0x20
    long backslash = (word ^ EACH_BYTE * '\\') - EACH_BYTE;
    return (word | delete | controlOrQuote | backslash) & EACH_TOP_BIT;
  }

  /** {@return whether 1110xxxx and these are a valid sequence that may be shown} */
  private static boolean isHarmless(int first, int second, int third) {
    int codePoint = (first & 0xf) << 12 | (second & 0x3f) << 6 | (third & 0x3f);
    // Surrogates are hostile.
    return second >> 6 == -2 && third >> 6 == -2 && codePoint >= 0x800 && !Hostile.is(codePoint);
  }

  /** {@return whether 110xxxxx and this are a valid sequence that may be shown} */
  private static boolean isHarmless(int first, int second) {
    int codePoint = (first & 0x1f) << 6 | (second & 0x3f);
    return second >> 6 == -2 && codePoint >= 0x80 && !Hostile.is(codePoint);
  }

  private static int character(int codePoint, byte[] to, int p) {
    if (codePoint < 0x80) {
      return form(codePoint, to, p);
    }
    if (Hostile.is(codePoint)) {
      if (codePoint >= 0x10000) {
        p = escape(Character.highSurrogate(codePoint), to, p);
        return escape(Character.lowSurrogate(codePoint), to, p);
      }
      return escape(codePoint, to, p);
    }
    if (codePoint < 0x800) {
      to[p++] = (byte) (0xc0 | codePoint >> 6);
    } else {
      if (codePoint < 0x10000) {
        to[p++] = (byte) (0xe0 | codePoint >> 12);
      } else {
        to[p++] = (byte) (0xf0 | codePoint >> 18);
        to[p++] = (byte) (0x80 | (codePoint >> 12 & 0x3f));
      }
      to[p++] = (byte) (0x80 | (codePoint >> 6 & 0x3f));
    }
    to[p++] = (byte) (0x80 | (codePoint & 0x3f));
    return p;
  }

  private static int form(int ascii, byte[] to, int p) {
    long form = FORMS[ascii];
    WORD.set(to, p, form);
    return p + (int) (form >>> 56);
  }

  private static int escape(int unit, byte[] to, int p) {
    to[p] = '\\';
    to[p + 1] = 'u';
    for (int i = 0; i < 4; i++) {
      to[p + 2 + i] = HEX[unit >> (12 - 4 * i) & 15];
    }
    return p + 6;
  }

  private static long[] forms() {
    long[] forms = new long[0x80];
    byte[] form = new byte[Long.BYTES];
    for (int c = 0; c < forms.length; c++) {
      int length = 1;
      form[0] = (byte) c;
      if (c == '"' || c == '\\' || c == '\n' || c == '\t') {
        form[0] = '\\';
        form[1] = (byte) (c == '\n' ? 'n' : c == '\t' ? 't' : c);
        length = 2;
      } else if (Hostile.is(c)) {
        length = escape(c, form, 0);
      }
      form[7] = (byte) length;
      forms[c] = (long) WORD.get(form, 0);
    }
    return forms;
  }

  /** Writes bytes in base64 within a string, which {@link #endBase64} ends. */
  void base64(byte[] from, int start, int end) throws IOException {
    int i = start;
    while (i < end) {
      room();
      carry = carry << Byte.SIZE | (from[i++] & 0xff);
      if (++carried == 3) {
        for (int shift = 18; shift >= 0; shift -= 6) {
          buffer[used++] = BASE64[carry >> shift & 63];
        }
        carry = 0;
        carried = 0;
      }
    }
  }

  /** Writes the last, incomplete group. */
  void endBase64() throws IOException {
    if (carried > 0) {
      room();
      int group = carry << ((3 - carried) * Byte.SIZE);
      buffer[used++] = BASE64[group >> 18];
      buffer[used++] = BASE64[group >> 12 & 63];
      buffer[used++] = carried == 1 ? (byte) '=' : BASE64[group >> 6 & 63];
      buffer[used++] = '=';
      carry = 0;
      carried = 0;
    }
  }

  private void open(char mark) throws IOException {
    separate();
    buffer[used++] = (byte) mark;
    needsComma = false;
  }

  private void close(char mark) throws IOException {
    room();
    buffer[used++] = (byte) mark;
    needsComma = true;
  }

  private void separate() throws IOException {
    room();
    if (needsComma) {
      buffer[used++] = ',';
    }
  }

  private void room() throws IOException {
    if (buffer.length - used < ROOM) {
      makeRoom();
    }
  }

  private void makeRoom() throws IOException {
    if (out != null) {
      flush();
    } else if (used > MAX_ARRAY - ROOM) {
      throw new IOException("JSON is longer than an array can be: limit=" + MAX_ARRAY);
    } else {
      long doubled = Math.max(2L * buffer.length, used + ROOM);
      buffer = Arrays.copyOf(buffer, (int) Math.min(doubled, MAX_ARRAY));
    }
  }

  /** Hands what is buffered to the stream; the stream itself is not flushed. */
  public void flush() throws IOException {
    if (out != null) {
      out.write(buffer, 0, used);
      used = 0;
    }
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
