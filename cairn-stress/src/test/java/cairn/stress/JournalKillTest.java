package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class JournalKillTest {
  /** Kills asked for; without that, as many as the time allows, and no more than that. */
  private static final int ASKED = Integer.getInteger("cairn.stress.journalKills", 0);

  private static final int KILLS = 150;
  private static final int SECONDS = 40;
  private static final int LEAST = 20;

  @TempDir Path directory;

  @Test
  @Timeout(7200)
  void everyReturnedAppendOutlivesAKillAndTheNextWriterGoesOnBehindIt() throws Exception {
    boolean isAsked = ASKED > 0;

    Tally tally =
        JournalKillHarness.run(
            isAsked ? ASKED : KILLS,
            isAsked ? 7000 : SECONDS,
            System.nanoTime(),
            directory,
            System.out);

    assertThat(tally.details()).isEmpty();
    assertThat(tally.violations()).isZero();
    assertThat(tally.kills()).isGreaterThanOrEqualTo(isAsked ? ASKED : LEAST);
    assertThat(tally.recordsChecked()).isGreaterThan(tally.kills());
  }
}
