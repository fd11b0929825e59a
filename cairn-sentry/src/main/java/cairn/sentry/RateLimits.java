package cairn.sentry;

import java.time.Clock;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Until when Sentry wants nothing of a category. One thread. */
final class RateLimits {
  /** What a reply 429 means that says no more. */
  static final Duration BARE = Duration.ofSeconds(60);

  /** What is longer is not believed: nothing was sent in a month. */
  static final Duration LONGEST = Duration.ofDays(30);

  /** Of an event. */
  static final String ERROR = "error";

  private static final String ALL = "";

  private final Clock clock;
  private final Map<String, Instant> until = new HashMap<>();

  RateLimits(Clock clock) {
    this.clock = clock;
  }

  /** {@return until when nothing of that category is wanted; null if it is wanted now} */
  @Nullable Instant until(String category) {
    Instant all = until.getOrDefault(ALL, Instant.MIN);
    Instant own = until.getOrDefault(category, Instant.MIN);
    Instant later = own.isAfter(all) ? own : all;
    return later.isAfter(clock.instant()) ? later : null;
  }

  /**
   * Takes what a reply says, whatever its status.
   *
   * @param headers all {@code X-Sentry-Rate-Limits}: {@code
   *     seconds:category;category:scope:reason:..., ...}
   */
  void take(List<String> headers) {
    for (String header : headers) {
      for (String limit : header.split(",", -1)) {
        String[] fields = limit.strip().split(":", -1);
        Duration length = seconds(fields[0]);
        if (length == null) {
          continue;
        }
        for (String category : (fields.length < 2 ? ALL : fields[1]).split(";", -1)) {
          // One that nobody knows is kept too, and asked for by nobody.
          extend(category.strip(), length);
        }
      }
    }
  }

  /** Takes a reply 429 that {@link #take} found no limit in, or none that matters. */
  void takeBare(@Nullable String retryAfter) {
    Duration length = retryAfter == null ? null : retryAfter(retryAfter, clock.instant());
    extend(ALL, length == null ? BARE : length);
  }

  private void extend(String category, Duration length) {
    until.merge(category, clock.instant().plus(length), (a, b) -> a.isAfter(b) ? a : b);
  }

  /** {@return how long a {@code Retry-After} asks to wait; null if it says nothing readable} */
  static @Nullable Duration retryAfter(String text, Instant now) {
    Duration seconds = seconds(text);
    if (seconds != null) {
      return seconds;
    }
    try {
      Instant at =
          ZonedDateTime.parse(text.strip(), DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      Duration length = Duration.between(now, at);
      return length.isNegative() ? Duration.ZERO : shortest(length);
    } catch (DateTimeException e) {
      return null;
    }
  }

  private static @Nullable Duration seconds(String text) {
    try {
      double seconds = Double.parseDouble(text.strip());
      return seconds >= 0 // not NaN
          ? shortest(Duration.ofMillis((long) Math.ceil(Math.min(seconds, 1e9) * 1_000)))
          : null;
    } catch (NumberFormatException e) {
      return null;
    }
  }

  private static Duration shortest(Duration length) {
    return length.compareTo(LONGEST) > 0 ? LONGEST : length;
  }
}
