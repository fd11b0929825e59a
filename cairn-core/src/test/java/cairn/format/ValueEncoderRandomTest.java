package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Random graphs of values; millions of them are EncodeFuzz in cairn-stress. */
class ValueEncoderRandomTest {
  private static final int GRAPHS = 4_000;

  @Test
  void randomGraphsReadBackAsTheModelSaysAndWithinAnyLimit() {
    long seed = Long.getLong("cairn.seed", System.nanoTime());
    System.out.println("ValueEncoderRandomTest: -Dcairn.seed=" + seed);
    GraphCheck check = new GraphCheck(seed);
    for (int i = 0; i < GRAPHS; i++) {
      check.one();
    }
    assertThat(check.nodes()).isGreaterThan(5 * GRAPHS);
  }
}
