package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.stress.DeathHarness.Options;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
class DeathHarnessTest {
  private static final int DEATHS = Integer.getInteger("cairn.stress.deaths", 0);

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path directory;

  @Test
  @Timeout(1800)
  void noDeathIsGivenAFalseCauseForSure() throws Exception {
    Options options = new Options(DEATHS, System.nanoTime(), 2, "", true);

    DeathMatrix matrix = DeathHarness.run(options, directory, System.out);

    assertThat(matrix.wrong()).isEmpty();
    assertThat(matrix.broken()).isEmpty();
    assertThat(matrix.deaths()).isGreaterThanOrEqualTo(Math.max(DEATHS, 60));
  }
}
