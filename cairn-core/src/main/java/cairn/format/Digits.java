package cairn.format;

/** Whole numbers as ASCII digits. Pure; no allocation. */
final class Digits {
  /** No number of 64 bits takes more, a sign included. */
  static final int MAX_LENGTH = 20;

  /** 00 to 99. */
  private static final byte[] PAIRS = pairs();

  private static final long[] POWERS = powers();

  private Digits() {}

  private static byte[] pairs() {
    byte[] pairs = new byte[200];
    for (int i = 0; i < 100; i++) {
      pairs[2 * i] = (byte) ('0' + i / 10);
      pairs[2 * i + 1] = (byte) ('0' + i % 10);
    }
    return pairs;
  }

  private static long[] powers() {
    long[] powers = new long[19];
    powers[0] = 1;
    for (int i = 1; i < powers.length; i++) {
      powers[i] = powers[i - 1] * 10;
    }
    return powers;
  }

  /** {@return how many digits a number that is not negative takes} */
  static int count(long value) {
    // 1233 / 4096 is about log10(2): the estimate is right or one too low.
    int estimate = ((Long.SIZE - Long.numberOfLeadingZeros(value)) * 1233) >> 12;
    return value >= POWERS[estimate] ? estimate + 1 : Math.max(estimate, 1);
  }

  /**
   * Writes a number that is not negative.
   *
   * @param count what {@link #count} says
   * @return where it ends
   */
  static int write(long value, int count, byte[] to, int at) {
    int end = at + count;
    int p = end;
    while (value > Integer.MAX_VALUE) {
      long rest = value / 100_000_000;
      int low = (int) (value - rest * 100_000_000);
      int high = low / 10_000;
      low -= high * 10_000;
      pair(low % 100, to, p - 2);
      pair(low / 100, to, p - 4);
      pair(high % 100, to, p - 6);
      p = pair(high / 100, to, p - 8);
      value = rest;
    }
    int left = (int) value;
    while (left >= 10) {
      int rest = left / 100;
      p = pair(left - rest * 100, to, p - 2);
      left = rest;
    }
    if (p > at) {
      to[p - 1] = (byte) ('0' + left);
    }
    return end;
  }

  private static int pair(int value, byte[] to, int at) {
    to[at] = PAIRS[2 * value];
    to[at + 1] = PAIRS[2 * value + 1];
    return at;
  }
}
