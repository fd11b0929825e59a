package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** docs/RUN-AND-WATCH.md against the commands. */
class RunAndWatchPageTest {
  @TempDir Path home;
  private String page;
  private String help;

  @BeforeEach
  void setUp() throws IOException {
    page = Files.readString(Path.of("").toAbsolutePath().resolve("../docs/RUN-AND-WATCH.md"));
    Cli cli = new Cli(home);
    help = cli.run("run", "--help").out();
    help += cli.run("watch", "--help").out();
    help += cli.run("note", "--help").out();
  }

  private static Set<String> found(String pattern, String text) {
    Set<String> found = new TreeSet<>();
    for (Matcher matcher = Pattern.compile(pattern).matcher(text); matcher.find(); ) {
      found.add(matcher.group());
    }
    return found;
  }

  @Test
  void everyOptionOnThePageIsOneOfTheCommands() {
    Set<String> options = found("(?<=[` ])--[a-z][a-z-]+", page);
    options.remove("--no-daemon"); // Gradle's

    assertThat(options).contains("--quiet", "--report", "--once", "--json", "--dir");
    assertThat(found("--[a-z][a-z-]+", help)).containsAll(options);
  }

  @Test
  void theSignalsOnThePageAndInTheHelpAreThoseThatArePassedOn() {
    for (String text : new String[] {page, help}) {
      assertThat(text).containsPattern("TERM, HUP, INT, USR1 and USR2\\s+go to ");
    }
    assertThat(SignalPasser.NAMES).containsExactlyInAnyOrder("TERM", "HUP", "INT", "USR1", "USR2");
  }

  @Test
  void theVariableByWhichLaunchedRunsAreFoundIsTheOneOnThePage() {
    assertThat(page).contains("`" + LaunchedRuns.VARIABLE + "`");
  }
}
