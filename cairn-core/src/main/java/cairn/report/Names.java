package cairn.report;

import cairn.Level;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How ids, times, spans of time and sizes are written. */
final class Names {
  private static final DateTimeFormatter RFC_3339 =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter DATE =
      DateTimeFormatter.ofPattern("yyyy-MM-dd", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final long LATEST_MILLIS = 253_402_300_799_999L; // the end of the year 9999

  private Names() {}

  /** {@return the time, or null if no clock shows it} */
  static @Nullable Instant instant(long wallMillis) {
    return wallMillis < 0 || wallMillis > LATEST_MILLIS ? null : Instant.ofEpochMilli(wallMillis);
  }

  /** {@return the time as {@link #instant} takes it; -1 if that takes none so early or late} */
  static long millis(Instant instant) {
    long seconds = instant.getEpochSecond();
    return seconds < 0 || seconds > LATEST_MILLIS / 1_000 ? -1 : instant.toEpochMilli();
  }

  static String rfc3339(Instant instant) {
    return RFC_3339.format(instant);
  }

  static String time(Instant instant) {
    return TIME.format(instant);
  }

  /** {@return the time in UTC, with the date unless {@code now} is of the same day} */
  static String timeUtc(Instant instant, Instant now) {
    String date = DATE.format(instant);
    String time = TIME.format(instant) + " UTC";
    return date.equals(DATE.format(now)) ? time : date + " " + time;
  }

  static String hex(long id) {
    return String.format(Locale.ROOT, "%016x", id);
  }

  static Level level(int number) {
    Level[] levels = Level.values();
    return levels[Math.min(number, levels.length - 1)];
  }

  static String level(Level level) {
    return level.name().toLowerCase(Locale.ROOT);
  }

  /** {@return a span of time as a person says it, such as {@code 41 s} or {@code 2 h 3 min}} */
  static String duration(long millis) {
    if (millis < 0) {
      return "?";
    }
    if (millis < 1_000) {
      return millis + " ms";
    }
    if (millis < 10_000) {
      return String.format(Locale.ROOT, "%.1f s", Math.floor(millis / 100.0) / 10);
    }
    long seconds = millis / 1_000;
    if (seconds < 120) {
      return seconds + " s";
    }
    if (seconds < 3_600) {
      return two(seconds / 60, "min", seconds % 60, "s");
    }
    if (seconds < 86_400) {
      return two(seconds / 3_600, "h", seconds / 60 % 60, "min");
    }
    return two(seconds / 86_400, "d", seconds / 3_600 % 24, "h");
  }

  private static String two(long large, String largeUnit, long small, String smallUnit) {
    return large + " " + largeUnit + (small == 0 ? "" : " " + small + " " + smallUnit);
  }

  static String bytes(long bytes) {
    String[] units = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (Math.abs((double) bytes) < 1024) {
      return bytes + " B";
    }
    double value = bytes;
    int unit = -1;
    do {
      value /= 1024;
      unit++;
    } while (Math.abs(value) >= 1024 && unit < units.length - 1);
    return String.format(Locale.ROOT, Math.abs(value) < 10 ? "%.1f " : "%.0f ", value)
        + units[unit];
  }

  static String count(long count, String one, String many) {
    return count + " " + (count == 1 ? one : many);
  }
}
