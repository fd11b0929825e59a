package cairn.cli;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Durations, times and sizes as people write and read them. */
final class Units {
  private static final DateTimeFormatter RFC_3339 =
      new DateTimeFormatterBuilder().appendInstant(3).toFormatter(Locale.ROOT);
  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  private Units() {}

  /** {@return such as {@code 2026-11-30T14:03:07.412Z}} */
  static String rfc3339(Instant instant) {
    return RFC_3339.format(instant);
  }

  /** {@return the time of day in UTC, such as {@code 14:03:07.412}} */
  static String clock(Instant instant) {
    return CLOCK.format(instant);
  }

  /**
   * {@return such as {@code 350 ms}, {@code 41 s}, {@code 5 min}, {@code 2 h 5 min}, {@code 3 d 4
   * h}}
   */
  static String age(Duration age) {
    long seconds = age.toSeconds();
    if (age.isNegative()) {
      return "0 s";
    }
    if (seconds < 1) {
      return age.toMillis() + " ms";
    }
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3600) {
      return seconds / 60 + " min";
    }
    if (seconds < 86_400) {
      return two(seconds / 3600, " h", seconds % 3600 / 60, " min");
    }
    return two(seconds / 86_400, " d", seconds % 86_400 / 3600, " h");
  }

  private static String two(long major, String majorUnit, long minor, String minorUnit) {
    return major + majorUnit + (minor == 0 ? "" : " " + minor + minorUnit);
  }

  /**
   * {@return the duration written as {@code 45s}, {@code 30m}, {@code 12h}, {@code 7d}, {@code 2w}
   * or several of them together, such as {@code 1d12h}; null if it is not one}
   */
  static @Nullable Duration parse(String text) {
    Duration sum = Duration.ZERO;
    int i = 0;
    try {
      while (i < text.length()) {
        int start = i;
        while (i < text.length() && text.charAt(i) >= '0' && text.charAt(i) <= '9') {
          i++;
        }
        if (i == start || i == text.length()) {
          return null;
        }
        long number = Long.parseLong(text.substring(start, i));
        Duration unit = unit(text.charAt(i++));
        if (unit == null) {
          return null;
        }
        sum = sum.plus(unit.multipliedBy(number));
      }
      // What comes out must still be subtractable from a clock.
      return text.isEmpty() || sum.toDays() > 1_000_000 ? null : sum;
    } catch (ArithmeticException | NumberFormatException e) {
      return null;
    }
  }

  private static @Nullable Duration unit(char c) {
    return switch (c) {
      case 's' -> Duration.ofSeconds(1);
      case 'm' -> Duration.ofMinutes(1);
      case 'h' -> Duration.ofHours(1);
      case 'd' -> Duration.ofDays(1);
      case 'w' -> Duration.ofDays(7);
      default -> null;
    };
  }

  /** {@return such as {@code 4.0 MiB}} */
  static String size(long bytes) {
    if (bytes < 1024) {
      return bytes + " B";
    }
    String[] units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = bytes / 1024.0;
    int unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
  }

  /** {@return rounded, with commas} */
  static String whole(double number) {
    return whole(Math.round(number));
  }

  /** {@return with commas, such as {@code 12,345}} */
  static String whole(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
