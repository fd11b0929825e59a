package cairn.format;

import java.io.IOException;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/**
 * Writes JSON (RFC 8259) as UTF-8 bytes, commas included, without an intermediate String for text.
 *
 * <p>One thread. Whatever {@link Hostile} names is escaped, so the output is safe to show on a
 * terminal as it is. The caller opens, names and closes in a legal order; that is not checked.
 */
public final class JsonWriter {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
  private static final int BUFFER_SIZE = 8192;

  private final OutputStream out;
  private final byte[] buffer = new byte[BUFFER_SIZE];
  private int used;
  private boolean needsComma;

  /** Writes to {@code out}, buffered: {@link #flush} is up to the caller. */
  public JsonWriter(OutputStream out) {
    this.out = out;
  }

  /** Opens an object. */
  public JsonWriter beginObject() throws IOException {
    separate();
    put('{');
    needsComma = false;
    return this;
  }

  /** Closes an object. */
  public JsonWriter endObject() throws IOException {
    put('}');
    needsComma = true;
    return this;
  }

  /** Opens an array. */
  public JsonWriter beginArray() throws IOException {
    separate();
    put('[');
    needsComma = false;
    return this;
  }

  /** Closes an array. */
  public JsonWriter endArray() throws IOException {
    put(']');
    needsComma = true;
    return this;
  }

  /** Names the next value of an object. */
  public JsonWriter name(String name) throws IOException {
    string(name);
    put(':');
    needsComma = false;
    return this;
  }

  /** Ends a name that was written as a string. */
  void endName() throws IOException {
    put(':');
    needsComma = false;
  }

  /** Writes text; a lone surrogate becomes U+FFFD. */
  public JsonWriter string(String text) throws IOException {
    beginString();
    for (int i = 0; i < text.length(); ) {
      int codePoint = text.codePointAt(i);
      i += Character.charCount(codePoint);
      boolean lone = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
      character(lone ? Utf8.REPLACEMENT : codePoint);
    }
    endString();
    return this;
  }

  /** Writes a whole number. */
  public JsonWriter number(long value) throws IOException {
    literal(Long.toString(value));
    return this;
  }

  /** Writes a number; one that JSON has no form for becomes text. */
  public JsonWriter number(double value) throws IOException {
    if (Double.isNaN(value) || Double.isInfinite(value)) {
      return string(Double.toString(value));
    }
    literal(Double.toString(value));
    return this;
  }

  /** Writes a whole number of any size. */
  public JsonWriter number(BigInteger value) throws IOException {
    literal(value.toString());
    return this;
  }

  /** Writes a decimal number of any size. */
  public JsonWriter number(BigDecimal value) throws IOException {
    literal(value.toString());
    return this;
  }

  /** Writes true or false. */
  public JsonWriter bool(boolean value) throws IOException {
    literal(value ? "true" : "false");
    return this;
  }

  /** Writes null. */
  public JsonWriter nothing() throws IOException {
    literal("null");
    return this;
  }

  /** Writes bytes as text in base64. */
  public JsonWriter base64(byte[] bytes) throws IOException {
    separate();
    put('"');
    for (byte b : Base64.getEncoder().encode(bytes)) {
      put(b);
    }
    endString();
    return this;
  }

  void beginString() throws IOException {
    separate();
    put('"');
  }

  void endString() throws IOException {
    put('"');
    needsComma = true;
  }

  /** Writes UTF-8 within a string; what is invalid becomes U+FFFD. */
  void text(byte[] bytes, int start, int end) throws IOException {
    for (int i = start; i < end; ) {
      byte b = bytes[i];
      if (b >= 0x20 && b < 0x7f && b != '"' && b != '\\') {
        put(b);
        i++;
      } else {
        long decoded = Utf8.decode(bytes, i, end);
        character(Utf8.codePoint(decoded));
        i += Utf8.length(decoded);
      }
    }
  }

  private void character(int codePoint) throws IOException {
    if (codePoint == '"' || codePoint == '\\') {
      put('\\');
      put(codePoint);
    } else if (codePoint == '\n') {
      put('\\');
      put('n');
    } else if (codePoint == '\t') {
      put('\\');
      put('t');
    } else if (Hostile.is(codePoint)) {
      for (char c : Character.toChars(codePoint)) {
        put('\\');
        put('u');
        for (int shift = 12; shift >= 0; shift -= 4) {
          put(HEX[(c >> shift) & 15]);
        }
      }
    } else if (codePoint < 0x80) {
      put(codePoint);
    } else if (codePoint < 0x800) {
      put(0xc0 | (codePoint >> 6));
      put(0x80 | (codePoint & 0x3f));
    } else if (codePoint < 0x10000) {
      put(0xe0 | (codePoint >> 12));
      put(0x80 | ((codePoint >> 6) & 0x3f));
      put(0x80 | (codePoint & 0x3f));
    } else {
      put(0xf0 | (codePoint >> 18));
      put(0x80 | ((codePoint >> 12) & 0x3f));
      put(0x80 | ((codePoint >> 6) & 0x3f));
      put(0x80 | (codePoint & 0x3f));
    }
  }

  private void literal(String ascii) throws IOException {
    separate();
    for (int i = 0; i < ascii.length(); i++) {
      put(ascii.charAt(i));
    }
    needsComma = true;
  }

  private void separate() throws IOException {
    if (needsComma) {
      put(',');
    }
  }

  private void put(int b) throws IOException {
    if (used == buffer.length) {
      flush();
    }
    buffer[used++] = (byte) b;
  }

  /** Hands what is buffered to the stream; the stream itself is not flushed. */
  public void flush() throws IOException {
    out.write(buffer, 0, used);
    used = 0;
  }
}
