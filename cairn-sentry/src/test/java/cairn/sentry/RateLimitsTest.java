package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RateLimitsTest {
  private static final Instant NOW = Instant.parse("2026-12-01T10:00:00Z");

  /** A clock that stands until it is moved. */
  static final class HandClock extends Clock {
    Instant now = NOW;

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return now;
    }
  }

  private final HandClock clock = new HandClock();
  private final RateLimits limits = new RateLimits(clock);

  /** {@return the milliseconds that an event is not wanted for; -1 if it is} */
  private long millis() {
    Instant until = limits.until(RateLimits.ERROR);
    return until == null ? -1 : Duration.between(clock.now, until).toMillis();
  }

  @ParameterizedTest
  @CsvSource({
    "60:error:organization, 60000",
    "60:error:organization:quota:ns;ns2, 60000",
    "60::organization, 60000",
    "60:, 60000",
    "60, 60000",
    "60:transaction;error;session:key, 60000",
    "' 60 : transaction ; error : key ', 60000",
    "2.5:error, 2500",
    "0.0001:error, 1",
    "60:transaction:key, -1",
    "60:transaction;profile:key, -1",
    "60:no_such_category:key, -1",
    "'60:no_such_category;error:key', 60000",
    "'10:error:key, 60:transaction:key', 10000",
    "'10:error:key,60:error:key', 60000",
    "'60:error:key,10:error:key', 60000",
    "'10:error:key,60::key', 60000",
    "'rubbish:error:key, 7:error:key', 7000",
    "'rubbish', -1",
    "'', -1",
    "',,', -1",
    "-5:error, -1",
    "NaN:error, -1",
    "0:error, -1",
    "Infinity:error, 2592000000",
    "99999999999999:error, 2592000000",
  })
  void headerSaysHowLongEventsAreNotWanted(String header, long expectedMillis) {
    limits.take(List.of(header));

    assertThat(millis()).isEqualTo(expectedMillis);
  }

  @Test
  void longerLimitWinsWhicheverCameFirstAndEndsWhenItIsOver() {
    limits.take(List.of("100:error:key"));
    limits.take(List.of("10:error:key", "20::key"));
    assertThat(millis()).isEqualTo(100_000);

    clock.now = NOW.plusSeconds(99);
    assertThat(millis()).isEqualTo(1_000);
    clock.now = NOW.plusSeconds(100);
    assertThat(millis()).isEqualTo(-1);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "none, 60000",
        "120, 120000",
        "1.5, 1500",
        "'Tue, 01 Dec 2026 10:00:07 GMT', 7000",
        "'Tue, 01 Dec 2026 09:00:00 GMT', -1",
        "'Thu, 01 Dec 2099 09:00:00 GMT', 60000",
        "'Tue, 01 Dec 2099 09:00:00 GMT', 2592000000",
        "soon, 60000",
        "'', 60000",
        "-1, 60000",
      })
  void bare429WaitsAsLongAsRetryAfterSaysElseAMinute(String retryAfter, long expectedMillis) {
    limits.takeBare(retryAfter);

    assertThat(millis()).isEqualTo(expectedMillis);
  }
}
