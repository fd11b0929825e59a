package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Run;
import cairn.report.Runs;
import io.sentry.Sentry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the README tells a user of Sentry to do. */
class ReadmeExampleTest {
  @TempDir Path root;

  @AfterEach
  void close() {
    Sentry.close();
    System.clearProperty("cairn.dir");
  }

  @Test
  void exampleOfTheReadmeRecordsTheScope() throws IOException {
    System.setProperty("cairn.dir", root.toString());
    String dsn = "http://key@localhost:9/42";
    Sentry.init(
        options -> {
          options.setDsn(dsn);
          options.addIntegration(new CairnIntegration());
        });
    Sentry.setTag("region", "eu");
    Run run = Runs.under(root).list().get(0);
    assertThat(run.report().scope().tags()).containsEntry("region", "eu");
  }

  @Test
  void readmeHasTheLinesThatAreTriedHere() throws IOException {
    String readme = Files.readString(Path.of("..", "README.md"));
    for (String line :
        List.of(
            "Sentry.init(options -> {",
            "  options.setDsn(dsn);",
            "  options.addIntegration(new CairnIntegration());")) {
      assertThat(readme).contains("\n" + line);
    }
  }
}
