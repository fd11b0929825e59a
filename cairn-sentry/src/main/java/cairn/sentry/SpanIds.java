package cairn.sentry;

import io.sentry.SpanId;
import io.sentry.protocol.SentryId;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Sentry's ids as the recorder has them. Allocates nothing. */
final class SpanIds {
  private SpanIds() {}

  /** {@return the id as a number; 0 if it is none} */
  static long of(@Nullable SpanId id) {
    return id == null ? 0 : hex(id.toString(), 0);
  }

  /** {@return the first eight bytes of the id} */
  static long high(SentryId id) {
    return hex(id.toString(), 0);
  }

  /** {@return the last eight bytes of the id} */
  static long low(SentryId id) {
    return hex(id.toString(), 16);
  }

  private static long hex(String text, int from) {
    if (text.length() < from + 16) {
      return 0;
    }
    long value = 0;
    for (int i = from; i < from + 16; i++) {
      int digit = Character.digit(text.charAt(i), 16);
      if (digit < 0) {
        return 0;
      }
      value = value << 4 | digit;
    }
    return value;
  }

  /** {@return an id that no span has} */
  static long random() {
    long id = ThreadLocalRandom.current().nextLong();
    return id == 0 ? 1 : id;
  }
}
