package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.otel.DifferentialFuzz.Outcome;
import cairn.otel.Pipeline.Maker;
import org.junit.jupiter.api.Test;

class DifferentialFuzzTest {
  private static final long CALLS = Long.getLong("cairn.stress.otelCalls", 60_000);

  @Test
  void theSdkDoesNotDifferFromItself() {
    if (Newest.isNotHere()) {
      Newest.print("the SDK with itself");
      return;
    }
    DifferentialFuzz.run(Maker.SDK, 1, 5_000);
  }

  @Test
  void cairnDiffersFromTheSdkWhereItIsMeantToAndNowhereElse() {
    if (Newest.isNotHere()) {
      Newest.print("random calls of Cairn with those of the SDK");
      return;
    }
    Long asked = Long.getLong("cairn.otel.fuzz.seed");
    if (asked != null) {
      DifferentialFuzz.replay(asked);
      return;
    }
    long seed = System.nanoTime();
    System.out.println("differential fuzz: seed=" + seed + ", calls=" + CALLS);
    // The first sequences are the same each time, so that every deviation is known to occur.
    Outcome fixed = DifferentialFuzz.run(Maker.CAIRN, 1, 30_000);
    Outcome random = DifferentialFuzz.run(Maker.CAIRN, seed, Math.max(0, CALLS - fixed.calls()));
    for (Deviation deviation : Deviation.values()) {
      System.out.println(deviation + ": " + deviation.occurrences());
      assertThat(deviation.occurrences()).as(deviation + ": " + deviation.reason).isPositive();
    }
    System.out.println("sequences=" + (fixed.sequences() + random.sequences()));
  }
}
