package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class HeapPlanTest {

  @Test
  void usualPlanIsTheWholeExperimentAndFitsAnHour() {
    HeapPlan plan = plan(List.of("heaps"), false, List.of());

    assertThat(plan.heaps()).containsExactly(48, 64, 80, 96, 128, 256);
    assertThat(plan.rounds()).isEqualTo(10);
    assertThat(plan.arms()).startsWith(HeapArm.NONE).hasSize(6);
    assertThat(plan.estimatedSeconds(0)).isBetween(15 * 60L, 60 * 60L);
  }

  @Test
  void whatIsDoneIsNotEstimatedAgain() {
    HeapPlan plan = plan(List.of("heaps"), false, List.of());

    assertThat(plan.estimatedSeconds(60)).isZero();
    assertThat(plan.estimatedSeconds(30)).isBetween(1L, plan.estimatedSeconds(0) / 2 + 1);
  }

  @Test
  void optionsAreTakenOutOfTheArguments() {
    List<String> args = new ArrayList<>(List.of("heaps", "--heaps", "64,96", "--seconds", "3"));
    HeapPlan plan = HeapPlan.of(args, false, "4", List.of("none", "cairn"), Path.of("out"));

    assertThat(args).containsExactly("heaps");
    assertThat(plan.heaps()).containsExactly(64, 96);
    assertThat(plan.seconds()).isEqualTo(3);
    assertThat(plan.rounds()).isEqualTo(4);
    assertThat(plan.arms()).containsExactly(HeapArm.NONE, HeapArm.CAIRN);
  }

  @Test
  void planWithoutABaseIsRefused() {
    assertThatThrownBy(() -> plan(List.of("heaps"), false, List.of("cairn")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("need=none");
  }

  @Test
  void planWithOneRoundIsRefused() {
    assertThatThrownBy(
            () ->
                HeapPlan.of(new ArrayList<>(List.of("heaps")), false, "1", List.of(), Path.of(".")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("rounds=1");
  }

  private static HeapPlan plan(List<String> args, boolean quick, List<String> arms) {
    return HeapPlan.of(new ArrayList<>(args), quick, "", arms, Path.of("out"));
  }
}
