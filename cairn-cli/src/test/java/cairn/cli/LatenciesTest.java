package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LatenciesTest {
  @Test
  void withoutACallEverythingIsZero() {
    Latencies latencies = new Latencies();

    assertThat(latencies.count()).isZero();
    assertThat(latencies.quantileNanos(0.5)).isZero();
    assertThat(latencies.maxNanos()).isZero();
    assertThat(latencies.meanNanos()).isZero();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.001, 0.5, 0.9, 0.99, 0.999, 1})
  void aQuantileIsAtMostASixtyFourthAboveTheCallOfThatRank(double share) {
    long seed = 20261130;
    Random random = new Random(seed);
    Latencies latencies = new Latencies();
    long[] all = new long[20_000];
    for (int i = 0; i < all.length; i++) {
      all[i] = (long) Math.exp(random.nextDouble() * 40); // 1 ns to 7 years
      latencies.record(all[i]);
    }
    Arrays.sort(all);
    long exact = all[(int) Math.ceil(share * all.length) - 1];

    assertThat(latencies.quantileNanos(share))
        .as("seed " + seed)
        .isBetween(exact, exact + exact / 64);
  }

  @Test
  void theWidestValuesAreCountedAndNegativeOnesAreZero() {
    Latencies latencies = new Latencies();
    latencies.record(-5);
    latencies.record(Long.MAX_VALUE);

    assertThat(latencies.quantileNanos(0.5)).isZero();
    assertThat(latencies.quantileNanos(1)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void whatThreadsRecordedAloneIsTheSameTogether() {
    Latencies one = new Latencies();
    Latencies other = new Latencies();
    one.record(100);
    other.record(300);
    other.record(50);

    one.add(other);

    assertThat(one.count()).isEqualTo(3);
    assertThat(one.meanNanos()).isEqualTo(150);
    assertThat(one.maxNanos()).isEqualTo(300);
    assertThat(one.quantileNanos(0.5)).isBetween(100L, 101L);
  }
}
