package cairn.sentry;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/** Times as Sentry's JSON has them: RFC 3339, or seconds since 1970 with a fraction. */
final class SentryTime {
  private static final long LATEST_SECOND = 253_402_300_799L; // the end of the year 9999

  private SentryTime() {}

  /** {@return the time; null if it is none, or before 1970 or after the year 9999} */
  static @Nullable Instant of(@Nullable Object value) {
    if (value instanceof Number number) {
      double seconds = number.doubleValue();
      return seconds >= 0 && seconds <= LATEST_SECOND
          ? Instant.ofEpochMilli(Math.round(seconds * 1_000))
          : null;
    }
    if (!(value instanceof String text) || text.length() > 64) {
      return null;
    }
    try {
      Instant time = OffsetDateTime.parse(text.strip()).toInstant();
      long second = time.getEpochSecond();
      return second >= 0 && second <= LATEST_SECOND ? time : null;
    } catch (DateTimeException e) {
      return null;
    }
  }

  /** {@return the later of two; null if there is none} */
  static @Nullable Instant later(@Nullable Instant one, @Nullable Instant other) {
    return one == null || (other != null && other.isAfter(one)) ? other : one;
  }
}
