package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.stress.KillHarness.Options;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class KillHarnessTest {
  private static final int KILLS = Integer.getInteger("cairn.stress.kills", 200);

  @TempDir Path directory;

  @Test
  @Timeout(1800)
  void everyReturnedRecordOutlivesAKillAndNothingElseShows() throws Exception {
    Options options = new Options(KILLS, System.nanoTime(), 2, 4, false, true);

    Tally tally = KillHarness.run(options, directory, System.out);

    assertThat(tally.details()).isEmpty();
    assertThat(tally.violations()).isZero();
    assertThat(tally.kills()).isEqualTo(KILLS);
    assertThat(tally.recordsChecked()).isGreaterThan(KILLS);
  }

  @Test
  @Timeout(300)
  void stoppingAndContinuingTheVictimLosesNothingButWhatALappedWriterDestroys() throws Exception {
    int kills = Math.max(1, KILLS / 10);
    Options options = new Options(kills, System.nanoTime(), 2, 8, true, true);

    Tally tally = KillHarness.run(options, directory, System.out);

    assertThat(tally.details()).isEmpty();
    assertThat(tally.violations()).isZero();
    assertThat(tally.kills()).isEqualTo(kills);
  }
}
