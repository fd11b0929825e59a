package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The judge is the definition itself, in big decimals. Where the JDK's own {@code toString} is the
 * shortest form, since 19, it is asked as well.
 */
class ShortestDecimalTest {
  private static final boolean JDK_IS_SHORTEST = Runtime.version().feature() >= 19;
  private static final long DOUBLE_INFINITY = 0x7ff0_0000_0000_0000L;
  private static final int FLOAT_INFINITY = 0x7f80_0000;

  private final byte[] buffer = new byte[ShortestDecimal.MAX_LENGTH + 3];

  private String written(double value) {
    return text(ShortestDecimal.write(value, buffer, 3));
  }

  private String written(float value) {
    return text(ShortestDecimal.write(value, buffer, 3));
  }

  private String text(int end) {
    return new String(buffer, 3, end - 3, StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @CsvSource({
    "0.0, 0.0",
    "-0.0, -0.0",
    "1.0, 1.0",
    "-1.5, -1.5",
    "10.0, 10.0",
    "9999999.0, 9999999.0",
    "1.0E7, 1.0E7",
    "12345678.9, 1.23456789E7",
    "0.001, 0.001",
    "0.00123, 0.00123",
    "9.999E-4, 9.999E-4",
    "1.0E-5, 1.0E-5",
    "123456.789, 123456.789",
    "2.0E-3, 0.002",
    "2.0E23, 2.0E23",
    "1.0E23, 1.0E23",
    "2.2250738585072014E-308, 2.2250738585072014E-308",
    "-2.2250738585072014E-308, -2.2250738585072014E-308",
    "1.7976931348623157E308, 1.7976931348623157E308",
    "4.9E-324, 4.9E-324",
    "9.9E-324, 9.9E-324",
    "1.5E-323, 1.5E-323",
    "9007199254740993, 9.007199254740992E15",
  })
  void doublesHaveTheFormOfTheJdk(double value, String expected) {
    assertThat(written(value)).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({
    "0.1, 0.1",
    "1.17549435E-38, 1.1754944E-38",
    "3.4028235E38, 3.4028235E38",
    "1.4E-45, 1.4E-45",
    "9.8E-45, 9.8E-45",
    "1.0E10, 1.0E10",
    "16777216, 1.6777216E7",
    "3.3554432E7, 3.3554432E7",
    "2.0E-44, 2.0E-44",
    "-0.0, -0.0",
  })
  void floatsHaveTheirOwnShortestForm(float value, String expected) {
    assertThat(written(value)).isEqualTo(expected);
  }

  @Test
  void doublesAtEveryEdgeAreShortest() {
    for (long exponent = 0; exponent < 2047; exponent++) {
      long binade = exponent << 52;
      for (long bits = Math.max(binade - 2, 0); bits <= binade + 2; bits++) {
        check(Double.longBitsToDouble(bits));
      }
    }
    for (int exponent = -324; exponent <= 308; exponent++) {
      for (String digits : new String[] {"1", "2", "5", "9", "15", "4503599627370497.5"}) {
        double value = Double.parseDouble(digits + "E" + exponent);
        if (!Double.isInfinite(value)) {
          check(value);
          check(Math.nextUp(value));
          check(-Math.nextDown(value));
        }
      }
    }
    for (long bits = 0; bits < 500; bits++) {
      check(Double.longBitsToDouble(bits));
      check(Double.longBitsToDouble(DOUBLE_INFINITY - 1 - bits));
      check(bits / 100.0);
      check((1L << 53) - bits);
      check((1L << 53) + 2 * bits);
    }
  }

  @Test
  void randomDoublesAreShortest() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 5_000; i++) {
      check(Double.longBitsToDouble(random.nextLong()));
      check(random.nextDouble());
      check(random.nextLong() >> random.nextInt(64));
    }
  }

  @Test
  void doublesReadBackAsThemselves() {
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 200_000; i++) {
      double value = Double.longBitsToDouble(random.nextLong());
      if (Double.isFinite(value)) {
        assertThat(Double.parseDouble(written(value))).isEqualTo(value);
      }
    }
  }

  @Test
  void floatsOfEveryExponentAreShortest() {
    SplittableRandom random = new SplittableRandom(3);
    for (int exponent = 0; exponent < 255; exponent++) {
      int binade = exponent << 23;
      for (int bits = Math.max(binade - 2, 0); bits <= binade + 10; bits++) {
        check(Float.intBitsToFloat(bits));
      }
      for (int i = 0; i < 20; i++) {
        check(Float.intBitsToFloat(binade | random.nextInt(1 << 23)));
        check(-Float.intBitsToFloat(binade | random.nextInt(1 << 23)));
      }
    }
    check(Float.intBitsToFloat(FLOAT_INFINITY - 1));
  }

  @Test
  void floatIsReadAsTheDoubleWithTheSameDigits() throws Exception {
    SplittableRandom random = new SplittableRandom(4);
    CborWriter out = new CborWriter(new byte[8], new KeyCache());
    for (int i = 0; i < 20_000; i++) {
      float value = Float.intBitsToFloat(random.nextInt());
      if (Float.isFinite(value)) {
        out.reset(0, 8);
        out.single(value);
        double read = (Double) new CborReader(out.bytes(), 0, out.position()).value();
        assertThat(written(read)).isEqualTo(written(value));
      }
    }
  }

  @Test
  void logarithmsAreExact() {
    for (int e = -400; e <= 400; e++) {
      assertThat(ShortestDecimal.floorLog2(e)).as("10^%d", e).isEqualTo(floorLog2OfPowerOfTen(e));
    }
    for (int q = -1074; q <= 971; q++) {
      BigDecimal power =
          q >= 0
              ? new BigDecimal(BigInteger.ONE.shiftLeft(q))
              : BigDecimal.ONE.divide(new BigDecimal(BigInteger.ONE.shiftLeft(-q)));
      BigDecimal threeQuarters = power.multiply(new BigDecimal("0.75"));
      assertThat(ShortestDecimal.floorLog10(q, false)).as("2^%d", q).isEqualTo(exponent(power));
      assertThat(ShortestDecimal.floorLog10(q, true))
          .as("3/4 * 2^%d", q)
          .isEqualTo(exponent(threeQuarters));
    }
  }

  private static int floorLog2OfPowerOfTen(int e) {
    BigInteger power = BigInteger.TEN.pow(Math.abs(e));
    // No negative power of ten is a power of two.
    return e >= 0 ? power.bitLength() - 1 : -power.bitLength();
  }

  private static int exponent(BigDecimal value) {
    return value.precision() - value.scale() - 1;
  }

  private void check(double value) {
    if (Double.isFinite(value)) {
      String text = written(value);
      judge(text, value, candidate -> candidate.doubleValue() == value);
      if (JDK_IS_SHORTEST) {
        assertThat(text).isEqualTo(Double.toString(value));
      }
    }
  }

  private void check(float value) {
    String text = written(value);
    judge(text, value, candidate -> candidate.floatValue() == value);
    if (JDK_IS_SHORTEST) {
      assertThat(text).isEqualTo(Float.toString(value));
    }
  }

  /** Of the decimals that round to the value, those of the fewest digits, the nearest of these. */
  private static void judge(String text, double value, Predicate<BigDecimal> isValue) {
    BigDecimal written = new BigDecimal(text);
    if (value == 0) {
      assertThat(text).isEqualTo(1 / value < 0 ? "-0.0" : "0.0");
      return;
    }
    BigDecimal exact = new BigDecimal(value);
    // One digit counts as two, of which the second is 0: "1.0".
    int digits = Math.max(written.stripTrailingZeros().precision(), 2);
    if (digits > 2) {
      BigDecimal lower = exact.round(new MathContext(digits - 1, RoundingMode.DOWN));
      BigDecimal higher = exact.round(new MathContext(digits - 1, RoundingMode.UP));
      if (isValue.test(lower) || isValue.test(higher)) {
        fail("%s was written %s, which is not the shortest", exact, text);
      }
    }
    BigDecimal below = exact.round(new MathContext(digits, RoundingMode.DOWN));
    BigDecimal above = exact.round(new MathContext(digits, RoundingMode.UP));
    BigDecimal nearest = exact.round(new MathContext(digits, RoundingMode.HALF_EVEN));
    BigDecimal expected = isValue.test(below) ? isValue.test(above) ? nearest : below : above;
    if (!isValue.test(expected) || written.compareTo(expected) != 0) {
      fail("%s was written %s, not %s", exact, text, expected);
    }
  }
}
