package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Verdict;
import cairn.stress.Death.Grade;
import cairn.stress.Death.View;
import cairn.stress.DeathHarness.Dead;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whether a harness that finds nothing would have found something. */
class DeathTest {
  private static final Death HALT =
      Death.of("halt(2)", Cause.HALTED)
          .atMostLikely(Cause.KILLED)
          .atMostPossible(Cause.JAVA_OOM)
          .withStatus()
          .build();

  private static Grade grade(View view, Cause cause, Confidence confidence) {
    return HALT.grade(view, verdict(cause, confidence));
  }

  private static Verdict verdict(Cause cause, Confidence confidence) {
    return new Verdict(cause, confidence, "headline", List.of());
  }

  @Test
  void theTruthIsRightAndOneThatIsNotSureIsUnsure() {
    assertThat(grade(View.ALONE, Cause.HALTED, Confidence.CERTAIN)).isEqualTo(Grade.RIGHT);
    assertThat(grade(View.ALONE, Cause.HALTED, Confidence.LIKELY)).isEqualTo(Grade.RIGHT);
    assertThat(grade(View.ALONE, Cause.HALTED, Confidence.POSSIBLE)).isEqualTo(Grade.UNSURE);
    assertThat(grade(View.ALONE, Cause.UNKNOWN, Confidence.UNKNOWN)).isEqualTo(Grade.UNSURE);
  }

  @Test
  void whatLeavesTheSameTraceIsCountedApartAndWrongIfItIsSaidToBeCertain() {
    assertThat(grade(View.ALONE, Cause.KILLED, Confidence.LIKELY)).isEqualTo(Grade.SAME_TRACE);
    assertThat(grade(View.ALONE, Cause.KILLED, Confidence.POSSIBLE)).isEqualTo(Grade.UNSURE);
    assertThat(grade(View.ALONE, Cause.KILLED, Confidence.CERTAIN)).isEqualTo(Grade.WRONG);
  }

  @Test
  void whatMayBeGuessedIsWrongWhenItIsSaidForSure() {
    assertThat(grade(View.ALONE, Cause.JAVA_OOM, Confidence.POSSIBLE)).isEqualTo(Grade.UNSURE);
    assertThat(grade(View.ALONE, Cause.JAVA_OOM, Confidence.LIKELY)).isEqualTo(Grade.WRONG);
  }

  @Test
  void anythingElseIsABadGuessOrWrong() {
    assertThat(grade(View.ALONE, Cause.OOM_KILLED, Confidence.POSSIBLE)).isEqualTo(Grade.BAD_GUESS);
    assertThat(grade(View.ALONE, Cause.OOM_KILLED, Confidence.LIKELY)).isEqualTo(Grade.WRONG);
    assertThat(grade(View.ALONE, Cause.UNKNOWN, Confidence.CERTAIN)).isEqualTo(Grade.WRONG);
  }

  @Test
  void anExitStatusTakesAwayWhatLeavesTheSameTraceWithoutIt() {
    assertThat(grade(View.STATUS, Cause.KILLED, Confidence.LIKELY)).isEqualTo(Grade.WRONG);
    assertThat(grade(View.STATUS, Cause.KILLED, Confidence.POSSIBLE)).isEqualTo(Grade.BAD_GUESS);
    assertThat(grade(View.STATUS, Cause.HALTED, Confidence.CERTAIN)).isEqualTo(Grade.RIGHT);
  }

  @Test
  void oneWrongViewMakesTheMatrixWrongAndIsNamedInItsTable() {
    Map<View, Verdict> verdicts = new EnumMap<>(View.class);
    verdicts.put(View.ALONE, verdict(Cause.KILLED, Confidence.LIKELY));
    verdicts.put(View.STATUS, verdict(Cause.KILLED, Confidence.LIKELY));
    Death death = DeathCatalogue.named("halt(2)");
    Dead dead =
        new Dead(death, new Jdk(Path.of("jdk"), 17), Path.of("home"), null, 2, verdicts, null, "");
    DeathMatrix matrix = new DeathMatrix();
    matrix.add(dead);

    assertThat(dead.grade()).isEqualTo(Grade.WRONG);
    assertThat(matrix.isRight()).isFalse();
    assertThat(matrix.wrong())
        .containsExactly("WRONG, with its exit status: halt(2): KILLED likely");
    assertThat(matrix.toMarkdown())
        .contains("0 right at certain or likely, 0 at likely of another cause")
        .contains("0 not sure, 0 bad guesses, 1 wrong at certain or likely")
        .contains("alone: KILLED likely (same trace); with its exit status: KILLED likely (wrong)")
        .contains("| HALTED | 1 likely |");
  }

  @Test
  void aDeathThatWasNotHadIsSaid() {
    DeathMatrix matrix = new DeathMatrix();
    Death death = DeathCatalogue.named("alive");
    matrix.notRun(death);
    assertThat(matrix.isRight()).isTrue();
    assertThat(matrix.toString()).contains("notRun=[alive]");
    matrix.broken(death);
    assertThat(matrix.isRight()).isFalse();
  }

  @Test
  void everyWayToDieHasANameOfItsOwn() {
    Set<String> names = new HashSet<>();
    for (Death death : DeathCatalogue.all()) {
      assertThat(names.add(death.name)).as(death.name).isTrue();
    }
    assertThat(names).hasSizeGreaterThan(100);
  }
}
