package cairn.cli;

import java.util.Locale;

/** Numbers of a profile, as wide as they are worth. */
final class ProfileUnits {
  private ProfileUnits() {}

  /** {@return such as {@code 0.42}, {@code 12.3}, {@code 1,234}} */
  static String micros(double micros) {
    if (micros < 9.995) {
      return String.format(Locale.ROOT, "%.2f", micros);
    }
    return micros < 99.95 ? String.format(Locale.ROOT, "%.1f", micros) : Units.whole(micros);
  }

  /** {@return such as {@code 0.3 %}, {@code 47 %}, {@code 99.6 %}} */
  static String percent(double share) {
    double percent = share * 100;
    if (percent > 0 && percent < 0.05) {
      return "< 0.1 %";
    }
    // Near the ends a tenth matters.
    return percent < 9.95 || (percent >= 99 && percent < 99.95)
        ? String.format(Locale.ROOT, "%.1f %%", percent)
        : Units.whole(percent) + " %";
  }

  /** {@return such as {@code 9 x}, {@code 1.4 x}} */
  static String times(double factor) {
    return factor < 9.95
        ? String.format(Locale.ROOT, "%.1f x", factor)
        : Units.whole(factor) + " x";
  }
}
