package cairn.bench;

import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * How far a ratio of two means can be trusted, from pairs that were measured side by side: by
 * drawing as many pairs again and again, some of them twice, and looking at how much the ratio
 * moves.
 */
final class Bootstrap {
  private static final int DRAWS = 10_000;

  /** Of those draws, the middle 95 % count. */
  private static final double TAIL = 0.025;

  /** Fixed, so that the same measurements always give the same interval. */
  private static final long SEED = 20_261_201;

  /** What was measured in one round. */
  record Pair(double value, double base) {}

  /**
   * A relative difference: 0.1 is a tenth more.
   *
   * @param low where the middle 95 % of the draws begin
   * @param high where they end
   */
  record Difference(double estimate, double low, double high) {}

  private Bootstrap() {}

  /**
   * {@return by how much the values are more than their bases, as a share of the bases}
   *
   * @param pairs at least two; or the interval would be a point, and a lie
   */
  static Difference difference(List<Pair> pairs) {
    if (pairs.size() < 2) {
      throw new IllegalArgumentException("too few pairs: count=" + pairs.size() + ", least=2");
    }
    double[] drawn = new double[DRAWS];
    Random random = new Random(SEED);
    for (int draw = 0; draw < DRAWS; draw++) {
      double values = 0;
      double bases = 0;
      for (int n = 0; n < pairs.size(); n++) {
        Pair pair = pairs.get(random.nextInt(pairs.size()));
        values += pair.value();
        bases += pair.base();
      }
      drawn[draw] = values / bases - 1;
    }
    Arrays.sort(drawn);
    double values = pairs.stream().mapToDouble(Pair::value).sum();
    double bases = pairs.stream().mapToDouble(Pair::base).sum();
    return new Difference(values / bases - 1, quantile(drawn, TAIL), quantile(drawn, 1 - TAIL));
  }

  private static double quantile(double[] sorted, double share) {
    return sorted[(int) Math.round(share * (sorted.length - 1))];
  }
}
