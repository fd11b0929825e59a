package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import cairn.bench.Bootstrap.Difference;
import cairn.bench.Bootstrap.Pair;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class BootstrapTest {

  @Test
  void pairsThatAllAgreeLeaveNoDoubt() {
    Difference difference =
        Bootstrap.difference(List.of(new Pair(90, 100), new Pair(180, 200), new Pair(45, 50)));

    assertThat(difference.estimate()).isCloseTo(-0.1, within(1e-12));
    assertThat(difference.low()).isCloseTo(-0.1, within(1e-12));
    assertThat(difference.high()).isCloseTo(-0.1, within(1e-12));
  }

  @Test
  void estimateIsTheRatioOfTheMeans() {
    // Not the mean of the ratios, which is 0: a slow round counts for what it answered.
    assertThat(Bootstrap.difference(List.of(new Pair(50, 100), new Pair(15, 10))).estimate())
        .isCloseTo(65.0 / 110 - 1, within(1e-12));
  }

  @Test
  void intervalOfTwoPairsReachesFromOneToTheOther() {
    Difference difference = Bootstrap.difference(List.of(new Pair(90, 100), new Pair(110, 100)));

    assertThat(difference.low()).isCloseTo(-0.1, within(1e-12));
    assertThat(difference.high()).isCloseTo(0.1, within(1e-12));
  }

  @Test
  void intervalIsThatOfTheNormalDistributionWherePairsAreMany() {
    Random random = new Random(7);
    List<Pair> pairs = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      pairs.add(new Pair(100 + 10 * random.nextGaussian(), 100));
    }

    Difference difference = Bootstrap.difference(pairs);

    // 1.96 standard errors to each side, of 10 / sqrt(400) percent.
    assertThat(difference.high() - difference.low()).isCloseTo(2 * 1.96 * 0.005, within(0.002));
  }

  @Test
  void intervalHoldsTheTruthAboutAsOftenAsItSays() {
    Random random = new Random(11);
    int held = 0;
    for (int experiment = 0; experiment < 300; experiment++) {
      List<Pair> pairs = new ArrayList<>();
      for (int round = 0; round < 10; round++) {
        pairs.add(
            new Pair(
                95 * (1 + 0.05 * random.nextGaussian()), 100 * (1 + 0.05 * random.nextGaussian())));
      }
      Difference difference = Bootstrap.difference(pairs);
      held += difference.low() <= -0.05 && difference.high() >= -0.05 ? 1 : 0;
    }
    // With ten pairs a bootstrap is known to be a little too sure of itself.
    assertThat(held / 300.0).isBetween(0.86, 0.98);
  }

  @Test
  void noiseThatHitsBothOfAPairDoesNotWidenTheInterval() {
    Difference together =
        Bootstrap.difference(List.of(new Pair(95, 100), new Pair(38, 40), new Pair(190, 200)));

    assertThat(together.high() - together.low()).isLessThan(1e-12);
  }

  @Test
  void sameMeasurementsGiveTheSameInterval() {
    List<Pair> pairs = List.of(new Pair(90, 100), new Pair(110, 100), new Pair(70, 80));

    assertThat(Bootstrap.difference(pairs)).isEqualTo(Bootstrap.difference(pairs));
  }

  @Test
  void onePairIsRefused() {
    assertThatThrownBy(() -> Bootstrap.difference(List.of(new Pair(1, 1))))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("count=1");
  }
}
