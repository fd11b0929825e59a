package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;

class CardsTest {
  /** Test numbers that the networks publish: Visa, Mastercard, American Express and so on. */
  private static final long[] CARDS = {
    4111111111111111L,
    4012888888881881L,
    4000056655665556L,
    5555555555554444L,
    5105105105105100L,
    2223003122003222L,
    2221000000000009L,
    2720999999999996L,
    378282246310005L,
    371449635398431L,
    341111111111111L,
    30569309025904L,
    38520000023237L,
    36227206271667L,
    6011111111111117L,
    6011000990139424L,
    3530111333300000L,
    3566002020360505L,
    6200000000000005L,
    6205500000000000004L,
    6759649826438453L,
    5018000000000009L
  };

  @Test
  void testNumbersOfAllNetworksAreCards() {
    for (long card : CARDS) {
      assertThat(Cards.isNumber(card)).as("%s", card).isTrue();
      assertThat(Cards.isNumber(card, Long.toString(card).length())).as("%s", card).isTrue();
    }
  }

  @Test
  void oneWrongDigitOrTwoNeighboursTakenForEachOtherAreNoCard() {
    for (long card : CARDS) {
      String digits = Long.toString(card);
      for (int i = 0; i < digits.length(); i++) {
        for (char c = '0'; c <= '9'; c++) {
          if (c != digits.charAt(i)) {
            long wrong =
                Long.parseUnsignedLong(digits.substring(0, i) + c + digits.substring(i + 1));
            assertThat(Cards.isNumber(wrong, digits.length())).as("%s", wrong).isFalse();
          }
        }
        // The check digit tells all but 0 and 9.
        if (i > 0
            && digits.charAt(i) != digits.charAt(i - 1)
            && Math.abs(digits.charAt(i) - digits.charAt(i - 1)) != 9) {
          String swapped =
              digits.substring(0, i - 1)
                  + digits.charAt(i)
                  + digits.charAt(i - 1)
                  + digits.substring(i + 1);
          assertThat(Cards.isNumber(Long.parseUnsignedLong(swapped), digits.length())).isFalse();
        }
      }
    }
  }

  @Test
  void numbersOfOtherLengthsAndBeginningsAreNoCards() {
    for (long number :
        new long[] {
          0,
          -1,
          Long.MIN_VALUE,
          Long.MAX_VALUE,
          4222222222222L, // 13 digits
          41111111111111116L,
          2220999999999999L,
          2721000000000000L,
          1111111111111117L,
          9111111111111117L,
          3111111111111117L
        }) {
      assertThat(Cards.isNumber(number)).as("%s", number).isFalse();
    }
  }

  @Test
  void timesAndDatesAreNoCards() {
    Random random = new Random(1);
    for (int i = 0; i < 100_000; i++) {
      // 2001 to 2033, in milliseconds, microseconds and nanoseconds.
      long millis = 1_000_000_000_000L + random.nextLong(1_000_000_000_000L);
      assertThat(Cards.isNumber(millis)).isFalse();
      assertThat(Cards.isNumber(millis * 1000)).isFalse();
      assertThat(Cards.isNumber(millis * 1_000_000)).isFalse();
      long date = 20_000_101_000_000_000L + random.nextInt(1_000_000_000);
      assertThat(Cards.isNumber(date)).isFalse();
    }
  }

  @Test
  void everyBeginningOfACardMayBeOne() {
    for (long card : CARDS) {
      String digits = Long.toString(card);
      for (int length = 7; length <= digits.length(); length++) {
        assertThat(Cards.mayBegin(Long.parseLong(digits.substring(0, length)), length))
            .as("%s digits of %s", length, card)
            .isTrue();
      }
    }
    assertThat(Cards.mayBegin(1764511, 7)).isFalse();
    assertThat(Cards.mayBegin(9999999, 7)).isFalse();
    assertThat(Cards.mayBegin(4111111111111112L, 16)).isFalse();
    assertThat(Cards.mayBegin(41111111111111111L, 17)).isFalse();
  }

  @Test
  void oneInTenNumbersOfACardsFormPasses() {
    Random random = new Random(2);
    int passed = 0;
    for (int i = 0; i < 100_000; i++) {
      long number = 4_000_000_000_000_000L + random.nextLong(1_000_000_000_000_000L);
      passed += Cards.isNumber(number) ? 1 : 0;
    }
    assertThat(passed).isBetween(9_500, 10_500);
  }
}
