package cairn.otel;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Ids of W3C trace context as lower-case hex digits. */
final class Hex {
  static final int SPAN_ID_DIGITS = 16;
  static final int TRACE_ID_DIGITS = 32;

  private Hex() {}

  /** {@return the 16 digits of a span id} */
  static String of(long id) {
    byte[] digits = new byte[SPAN_ID_DIGITS];
    write(id, digits, 0);
    return new String(digits, StandardCharsets.ISO_8859_1);
  }

  /** {@return the 32 digits of a trace id} */
  static String of(long high, long low) {
    byte[] digits = new byte[TRACE_ID_DIGITS];
    write(high, digits, 0);
    write(low, digits, SPAN_ID_DIGITS);
    return new String(digits, StandardCharsets.ISO_8859_1);
  }

  private static void write(long id, byte[] into, int at) {
    for (int i = 0; i < SPAN_ID_DIGITS; i++) {
      int digit = (int) (id >>> (60 - 4 * i)) & 15;
      into[at + i] = (byte) (digit < 10 ? '0' + digit : 'a' - 10 + digit);
    }
  }

  /** {@return whether it is so many lower-case hex digits and nothing else} */
  static boolean isHex(@Nullable String text, int digits) {
    if (text == null || text.length() != digits) {
      return false;
    }
    for (int i = 0; i < digits; i++) {
      if (digit(text.charAt(i)) < 0) {
        return false;
      }
    }
    return true;
  }

  /** {@return what the 16 digits from there on say; they were checked before} */
  static long parse(String text, int at) {
    long id = 0;
    for (int i = 0; i < SPAN_ID_DIGITS; i++) {
      id = id << 4 | digit(text.charAt(at + i));
    }
    return id;
  }

  private static int digit(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
  }
}
