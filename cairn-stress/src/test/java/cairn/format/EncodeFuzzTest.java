package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** As many random graphs as {@code -Dcairn.stress.graphs} says, compared with their models. */
class EncodeFuzzTest {
  @Test
  void randomGraphsReadBackAsTheModelSays() {
    long graphs = Long.getLong("cairn.stress.graphs", 5_000);
    long seed = Long.getLong("cairn.seed", System.nanoTime());
    System.out.println("EncodeFuzzTest: -Dcairn.seed=" + seed);
    GraphCheck check = new GraphCheck(seed);
    long before = System.nanoTime();
    for (long i = 0; i < graphs; i++) {
      check.one();
    }
    System.out.printf(
        "EncodeFuzzTest: %,d graphs, %,d nodes, %,d ms%n",
        graphs, check.nodes(), (System.nanoTime() - before) / 1_000_000);
    assertThat(check.nodes()).isGreaterThan(graphs);
  }
}
