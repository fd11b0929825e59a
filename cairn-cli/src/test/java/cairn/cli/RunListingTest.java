package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunListingTest {
  private static final Instant NOW = Instant.parse("2026-11-30T14:00:00Z");

  @TempDir Path root;
  private Path app;
  private final StepClock clock = new StepClock(NOW);
  private RunListing listing;

  @BeforeEach
  void setUp() throws IOException {
    app = Files.createDirectory(root.resolve("app"));
    listing = new RunListing(root, clock);
    changedAt(NOW.minusSeconds(60));
  }

  private void changedAt(Instant when) throws IOException {
    Files.setLastModifiedTime(app, FileTime.from(when));
    Files.setLastModifiedTime(root, FileTime.from(when));
  }

  private void addRun(String end) throws IOException {
    Files.createDirectory(app.resolve("20261130-140000-000-1-" + end));
  }

  @Test
  void itListsOnceAndThenWhenAnApplicationsDirectoryChanged() throws IOException {
    addRun("00000001");
    changedAt(NOW.minusSeconds(60));

    assertThat(listing.ifChanged()).hasSize(1);
    assertThat(listing.ifChanged()).isNull();
    addRun("00000002");
    changedAt(NOW.minusSeconds(50));
    assertThat(listing.ifChanged()).hasSize(2);
    assertThat(listing.ifChanged()).isNull();
  }

  @Test
  void aSecondChangeWithinTheGrainOfFileTimesIsSeenToo() throws IOException {
    addRun("00000001");
    changedAt(NOW.minusSeconds(1));
    assertThat(listing.ifChanged()).hasSize(1);
    addRun("00000002");
    changedAt(NOW.minusSeconds(1));

    assertThat(listing.ifChanged()).hasSize(2);
  }

  @Test
  void everyHalfMinuteItListsWhateverTheTimesSay() throws IOException {
    assertThat(listing.ifChanged()).isEmpty();
    addRun("00000001");
    changedAt(NOW.minusSeconds(60));
    assertThat(listing.ifChanged()).isNull();

    clock.step(Duration.ofSeconds(31));

    assertThat(listing.ifChanged()).hasSize(1);
  }

  @Test
  void aRootThatWasGoneIsListedWhenItIsBack() throws IOException {
    addRun("00000001");
    changedAt(NOW.minusSeconds(60));
    listing.ifChanged();
    Path away = root.resolveSibling(root.getFileName() + "-away");
    Files.move(root, away);
    assertThatThrownBy(listing::ifChanged).isInstanceOf(IOException.class);
    Files.move(away, root);

    assertThat(listing.ifChanged()).hasSize(1);
  }
}
