package cairn.format;

/** Numbers of payment cards. Pure. */
final class Cards {
  /*
   * Prefixes and lengths by ISO/IEC 7812 as the networks publish them: 4 Visa, 51 to 55 and 2221 to
   * 2720 Mastercard, 35 JCB, 50, 56 to 58 and 6 Maestro and Discover, all with 16 digits; 34 and 37
   * American Express, 15; 30, 36, 38 and 39 Diners Club, 14; 62 UnionPay, 16 to 19. The rare other
   * lengths (Visa with 13 and 19, Maestro with 12 to 19) are left out: one in ten other numbers of
   * such a length would pass the check digit, and nanoseconds, sizes and identifiers have them.
   * Times since 1970 begin with 1, dates with 20, whatever their unit.
   */

  private static final int LEAST_DIGITS = 14;

  /** No card's number is less. */
  static final long LEAST = 30_000_000_000_000L;

  private static final long[] POWERS = powers();

  private Cards() {}

  private static long[] powers() {
    long[] powers = new long[19];
    long power = 1;
    for (int i = 0; i < powers.length; i++) {
      powers[i] = power;
      power *= 10;
    }
    return powers;
  }

  /** {@return whether this is a card's number} */
  static boolean isNumber(long number) {
    if (number < LEAST) {
      return false;
    }
    int digits = LEAST_DIGITS;
    while (digits < POWERS.length && number >= POWERS[digits]) {
      digits++;
    }
    return isNumber(number, digits);
  }

  /** {@return whether this is a card's number} */
  static boolean isNumber(double number) {
    return number >= LEAST && number == (long) number && isNumber((long) number);
  }

  /**
   * {@return whether a number of that many digits is a card's}
   *
   * @param number unsigned
   */
  static boolean isNumber(long number, int digits) {
    if (digits < LEAST_DIGITS || digits > POWERS.length) {
      return false;
    }
    int first = (int) Long.divideUnsigned(number, POWERS[digits - 4]);
    return hasLength(first, digits) && checks(number);
  }

  /** {@return whether a card's number may begin with these digits, at least 7, or is them} */
  static boolean mayBegin(long number, int digits) {
    int first = (int) Long.divideUnsigned(number, POWERS[digits - 4]);
    for (int length = Math.max(LEAST_DIGITS, digits + 1); length <= POWERS.length; length++) {
      if (hasLength(first, length)) {
        return true;
      }
    }
    return isNumber(number, digits);
  }

  /** Whether cards that begin with these four digits have that many. */
  private static boolean hasLength(int first, int digits) {
    int two = first / 100;
    return switch (two) {
      case 30, 36, 38, 39 -> digits == 14;
      case 34, 37 -> digits == 15;
      case 62 -> digits >= 16;
      case 22, 23, 24, 25, 26, 27 -> digits == 16 && first >= 2221 && first <= 2720;
      case 31, 32, 33, 59 -> false;
      default -> digits == 16 && two >= 35 && two < 70;
    };
  }

  /** The check digit of ISO/IEC 7812 (Luhn). */
  private static boolean checks(long number) {
    int sum = 0;
    boolean doubled = false;
    long rest = number;
    while (rest != 0) {
      long next = Long.divideUnsigned(rest, 10);
      int digit = (int) (rest - next * 10);
      if (doubled) {
        digit = digit < 5 ? digit * 2 : digit * 2 - 9;
      }
      sum += digit;
      doubled = !doubled;
      rest = next;
    }
    return sum % 10 == 0;
  }
}
