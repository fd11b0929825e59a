package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import cairn.bench.GcLog.Pauses;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GcLogTest {
  private static final List<String> LOG =
      List.of(
          "[1000ms] Using Serial",
          "[2000ms] GC(0) Pause Young (Allocation Failure) 13M->5M(46M) 4.125ms",
          "[3000ms] GC(1) Pause Young (Allocation Failure) 18M->6M(46M) 1.500ms",
          "[4000ms] GC(2) Pause Full (Allocation Failure) 40M->20M(46M) 60.000ms",
          "[5000ms] GC(3) Pause Young (Allocation Failure) 33M->2");

  @Test
  void pausesWithinTheTimeAreCounted() {
    Pauses pauses = GcLog.between(LOG, 3000, 4500);

    assertThat(pauses.count()).isEqualTo(2);
    assertThat(pauses.millis()).isCloseTo(61.5, within(1e-9));
  }

  @Test
  void allocatedIsTheGrowthSinceThePauseBefore() {
    // 5 to 18, and 6 to 40.
    assertThat(GcLog.between(LOG, 3000, 4500).allocatedMb()).isEqualTo(13 + 34);
  }

  @Test
  void firstPauseHasNothingToBeComparedWith() {
    assertThat(GcLog.between(LOG, 0, 2500).allocatedMb()).isZero();
  }

  @Test
  void lineThatIsCutOffIsNoPause() {
    assertThat(GcLog.between(LOG, 4500, 9999)).isEqualTo(new Pauses(0, 0, 0));
  }
}
