package cairn.otel;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes one line of JSON in UTF-8. Puts commas by itself. Not for more than one thread. */
final class OtlpJsonWriter {
  private static final byte[] HEX = "0123456789abcdef".getBytes(StandardCharsets.US_ASCII);

  private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);

  /** Whether something stands before the next element. */
  private boolean needsComma;

  OtlpJsonWriter beginObject() {
    separate();
    return open('{');
  }

  OtlpJsonWriter endObject() {
    return close('}');
  }

  OtlpJsonWriter beginArray() {
    separate();
    return open('[');
  }

  OtlpJsonWriter endArray() {
    return close(']');
  }

  private OtlpJsonWriter open(char bracket) {
    out.write(bracket);
    needsComma = false;
    return this;
  }

  private OtlpJsonWriter close(char bracket) {
    out.write(bracket);
    needsComma = true;
    return this;
  }

  OtlpJsonWriter key(String key) {
    separate();
    string(key);
    out.write(':');
    needsComma = false;
    return this;
  }

  OtlpJsonWriter text(String value) {
    separate();
    string(value);
    return this;
  }

  /** Writes 64 bits, as text: a number of JSON may have lost some by the time it is read. */
  OtlpJsonWriter longText(long value) {
    separate();
    out.write('"');
    ascii(Long.toString(value));
    out.write('"');
    return this;
  }

  OtlpJsonWriter number(long value) {
    separate();
    ascii(Long.toString(value));
    return this;
  }

  /** Writes a number; what JSON has no number for as the text that protobuf's JSON has for it. */
  OtlpJsonWriter number(double value) {
    separate();
    String digits = Double.toString(value);
    ascii(Double.isFinite(value) ? digits : '"' + digits + '"');
    return this;
  }

  OtlpJsonWriter bool(boolean value) {
    separate();
    ascii(Boolean.toString(value));
    return this;
  }

  /** Writes a value that is JSON already. */
  OtlpJsonWriter raw(byte[] json) {
    separate();
    out.writeBytes(json);
    return this;
  }

  byte[] toByteArray() {
    return out.toByteArray();
  }

  private void separate() {
    if (needsComma) {
      out.write(',');
    }
    needsComma = true;
  }

  private void ascii(String text) {
    out.writeBytes(text.getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * Escapes also what JSON would allow and a terminal obeys or nobody sees. Half of a surrogate
   * pair, which is no text, becomes U+FFFD.
   */
  private void string(String text) {
    out.write('"');
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        c = 0xfffd;
      }
      if (c == '"' || c == '\\') {
        out.write('\\');
        out.write(c);
      } else if (isHidden(c)) {
        for (char unit : Character.toChars(c)) {
          escape(unit);
        }
      } else {
        utf8(c);
      }
    }
    out.write('"');
  }

  private static boolean isHidden(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }

  private void escape(char unit) {
    out.write('\\');
    out.write('u');
    for (int shift = 12; shift >= 0; shift -= 4) {
      out.write(HEX[unit >> shift & 0xf]);
    }
  }

  private void utf8(int c) {
    if (c < 0x80) {
      out.write(c);
    } else if (c < 0x800) {
      out.write(0xc0 | c >> 6);
      continuation(c);
    } else if (c < 0x10000) {
      out.write(0xe0 | c >> 12);
      continuation(c >> 6);
      continuation(c);
    } else {
      out.write(0xf0 | c >> 18);
      continuation(c >> 12);
      continuation(c >> 6);
      continuation(c);
    }
  }

  private void continuation(int bits) {
    out.write(0x80 | (bits & 0x3f));
  }

  /** {@return a value of a report as JSON} Its depth is bounded by the reader of the box. */
  static String plain(Object value) {
    OtlpJsonWriter writer = new OtlpJsonWriter();
    writer.value(value);
    return writer.out.toString(StandardCharsets.UTF_8);
  }

  private void value(@Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      beginObject();
      map.forEach(
          (key, element) -> {
            key(String.valueOf(key));
            value(element);
          });
      endObject();
    } else if (value instanceof List<?> list) {
      beginArray();
      list.forEach(this::value);
      endArray();
    } else if (value instanceof Boolean flag) {
      bool(flag);
    } else if (value instanceof Double number) {
      number(number.doubleValue());
    } else if (value == null || value instanceof Number) {
      separate();
      ascii(String.valueOf(value));
    } else if (value instanceof byte[] bytes) {
      text(Base64.getEncoder().encodeToString(bytes));
    } else {
      text(value.toString());
    }
  }
}
