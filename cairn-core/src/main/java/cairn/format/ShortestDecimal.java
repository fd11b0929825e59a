package cairn.format;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Writes a binary floating-point number as the shortest decimal that reads back as the same number,
 * in the form of {@link Double#toString} since JDK 19, as ASCII bytes.
 *
 * <p>Any thread. Allocates only when an exponent is met for the first time in the process.
 */
final class ShortestDecimal {
  /** No number takes more: {@code -2.2250738585072014E-308}. */
  static final int MAX_LENGTH = 24;

  /*
   * After R. Giulietti, "The Schubfach way to render doubles" (2021).
   *
   * A number c * 2^q owns the interval of reals that round to it; half a unit to each side, but only a
   * quarter downwards where c is the least of its binade. Take the largest k for which 10^k is no
   * longer than the interval. Then a multiple of 10^k lies inside, and at most one of 10^(k+1), which is
   * shorter and so preferred. Candidates are the multiples next to the number, below and above.
   *
   * All is compared in quarters of 10^k: four times the number and its bounds, times 10^-k. That power
   * is kept as 126 bits, rounded up. Products are rounded to odd: an inexact one has its last bit set, so
   * that comparing with a multiple of four, or of two, comes out as for the exact value. The paper
   * proves that 126 bits suffice for doubles, and therefore for floats.
   *
   * A result of one digit isn't shorter on paper than one of two ("2.0E-323"), and of two digits the
   * nearest is asked for. Only the least few subnormals are that coarse: they are scaled by ten first.
   */

  private static final int DOUBLE_FRACTION_BITS = 52;
  private static final int DOUBLE_MIN_EXPONENT = -1074;
  private static final int FLOAT_FRACTION_BITS = 23;
  private static final int FLOAT_MIN_EXPONENT = -149;

  /** Numbers of fewer units than this, at the least exponent, have a first digit only. */
  private static final int DOUBLE_COARSE = 3;

  private static final int FLOAT_COARSE = 8;

  /** Powers of ten from 10^-292 to 10^324 are asked for. */
  private static final int LEAST_POWER = -292;

  private static final @Nullable Power[] POWERS = new @Nullable Power[324 - LEAST_POWER + 1];

  private static final long MASK_63 = Long.MAX_VALUE;

  private ShortestDecimal() {}

  /** Ten to a power as {@code high * 2^63 + low}, of 126 bits, times a power of two. */
  private record Power(long high, long low) {}

  /**
   * Writes a finite number at {@code at}, where there is room for {@link #MAX_LENGTH}.
   *
   * @return where it ends
   */
  static int write(double value, byte[] to, int at) {
    long bits = Double.doubleToRawLongBits(value);
    if (bits < 0) {
      to[at++] = '-';
    }
    long fraction = bits & ((1L << DOUBLE_FRACTION_BITS) - 1);
    int biased = (int) (bits >>> DOUBLE_FRACTION_BITS) & 0x7ff;
    if (biased == 0) {
      return write(fraction, DOUBLE_MIN_EXPONENT, false, fraction < DOUBLE_COARSE, to, at);
    }
    int exponent = biased - 1 + DOUBLE_MIN_EXPONENT;
    boolean least = fraction == 0 && biased > 1;
    return write(fraction | 1L << DOUBLE_FRACTION_BITS, exponent, least, false, to, at);
  }

  /** As {@link #write(double, byte[], int)}; 0.1f is 0.1. */
  static int write(float value, byte[] to, int at) {
    int bits = Float.floatToRawIntBits(value);
    if (bits < 0) {
      to[at++] = '-';
    }
    int fraction = bits & ((1 << FLOAT_FRACTION_BITS) - 1);
    int biased = (bits >>> FLOAT_FRACTION_BITS) & 0xff;
    if (biased == 0) {
      return write(fraction, FLOAT_MIN_EXPONENT, false, fraction < FLOAT_COARSE, to, at);
    }
    int exponent = biased - 1 + FLOAT_MIN_EXPONENT;
    boolean least = fraction == 0 && biased > 1;
    return write(fraction | 1 << FLOAT_FRACTION_BITS, exponent, least, false, to, at);
  }

  static String text(double value) {
    byte[] to = new byte[MAX_LENGTH];
    return new String(to, 0, write(value, to, 0), StandardCharsets.US_ASCII);
  }

  static String text(float value) {
    byte[] to = new byte[MAX_LENGTH];
    return new String(to, 0, write(value, to, 0), StandardCharsets.US_ASCII);
  }

  /**
   * Writes {@code c * 2^q}.
   *
   * @param least whether the next lower number is only half as far away as the next higher one
   */
  private static int write(long c, int q, boolean least, boolean coarse, byte[] to, int at) {
    if (c == 0) {
      return layOut(0, 0, to, at);
    }
    if (q <= 0 && q > -Long.SIZE && c >>> -q << -q == c) {
      return layOut(c >>> -q, 0, to, at); // whole, and below 2^53: no other whole number is as near
    }
    int scaled = 0;
    if (coarse) {
      c *= 10;
      scaled = 1;
    }
    int k = floorLog10(q, least);
    Power power = power(-k);
    int shift = q + floorLog2(-k) + 2;
    long odd = c & 1;
    long number = product(power, c << 2 << shift);
    // An odd number does not own the bounds of its interval, since ties round to even: a step
    // inwards.
    long low = product(power, ((c << 2) - (least ? 1 : 2)) << shift) + odd;
    long high = product(power, ((c << 2) + 2) << shift) - odd;
    long below = number >> 2;
    if (below >= 100) {
      long shorter = below / 10 * 10;
      boolean shorterIsIn = low <= shorter << 2;
      boolean nextIsIn = (shorter + 10) << 2 <= high;
      if (shorterIsIn != nextIsIn) {
        return layOut(shorterIsIn ? shorter : shorter + 10, k - scaled, to, at);
      }
    }
    boolean belowIsIn = low <= below << 2;
    boolean aboveIsIn = (below + 1) << 2 <= high;
    boolean takeBelow = belowIsIn;
    if (belowIsIn == aboveIsIn) {
      long middle = (below << 2) + 2;
      takeBelow = number < middle || (number == middle && (below & 1) == 0);
    }
    return layOut(takeBelow ? below : below + 1, k - scaled, to, at);
  }

  /** {@return {@code power * factor / 2^127}, rounded to odd} */
  private static long product(Power power, long factor) {
    long lowTimes = Math.multiplyHigh(power.low, factor);
    long highTimesLow = power.high * factor;
    long highTimesHigh = Math.multiplyHigh(power.high, factor);
    long rest = (highTimesLow >>> 1) + lowTimes;
    long whole = highTimesHigh + (rest >>> 63);
    return whole | ((rest & MASK_63) + MASK_63) >>> 63;
  }

  /** {@return the logarithm of 2^q, or of three quarters of it} */
  static int floorLog10(int q, boolean threeQuarters) {
    // log10(2) and log10(3/4) times 2^41; exact for every exponent of a double, as a test shows.
    return (int) ((q * 661_971_961_083L - (threeQuarters ? 274_743_187_321L : 0)) >> 41);
  }

  /** {@return the logarithm of 10^e} */
  static int floorLog2(int e) {
    return (int) ((e * 913_124_641_741L) >> 38); // log2(10) times 2^38
  }

  private static Power power(int e) {
    Power known = POWERS[e - LEAST_POWER];
    if (known == null) {
      // Two threads may both do this: the result is the same, and immutable.
      known = compute(e);
      POWERS[e - LEAST_POWER] = known;
    }
    return known;
  }

  private static Power compute(int e) {
    int shift = floorLog2(e) - 125;
    BigInteger bits;
    if (e >= 0) {
      BigInteger exact = BigInteger.TEN.pow(e);
      bits = shift >= 0 ? exact.shiftRight(shift) : exact.shiftLeft(-shift);
    } else {
      bits = BigInteger.ONE.shiftLeft(-shift).divide(BigInteger.TEN.pow(-e));
    }
    bits = bits.add(BigInteger.ONE);
    return new Power(bits.shiftRight(63).longValueExact(), bits.longValue() & MASK_63);
  }

  /** Writes {@code digits * 10^exponent}. */
  private static int layOut(long digits, int exponent, byte[] to, int at) {
    while (digits != 0 && digits % 100 == 0) {
      digits /= 100;
      exponent += 2;
    }
    if (digits != 0 && digits % 10 == 0) {
      digits /= 10;
      exponent++;
    }
    int count = Digits.count(digits);
    int point = digits == 0 ? 1 : count + exponent; // the value is 0.digits * 10^point
    if (point > 0 && point <= 7) {
      if (count <= point) {
        int end = Digits.write(digits, count, to, at);
        for (; count < point; count++) {
          to[end++] = '0';
        }
        to[end] = '.';
        to[end + 1] = '0';
        return end + 2;
      }
      Digits.write(digits, count, to, at + 1);
      for (int i = 0; i < point; i++) {
        to[at + i] = to[at + i + 1];
      }
      to[at + point] = '.';
      return at + count + 1;
    }
    if (point <= 0 && point > -3) {
      to[at] = '0';
      to[at + 1] = '.';
      int start = at + 2;
      for (int i = point; i < 0; i++) {
        to[start++] = '0';
      }
      return Digits.write(digits, count, to, start);
    }
    int end = Digits.write(digits, count, to, at + 1);
    to[at] = to[at + 1];
    to[at + 1] = '.';
    if (count == 1) {
      to[end++] = '0';
    }
    to[end++] = 'E';
    int power = point - 1;
    if (power < 0) {
      to[end++] = '-';
      power = -power;
    }
    return Digits.write(power, Digits.count(power), to, end);
  }
}
