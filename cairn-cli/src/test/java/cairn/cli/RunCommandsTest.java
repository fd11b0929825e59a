package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code list}, {@code why}, {@code report}, {@code tail} and {@code vitals} on real boxes. */
class RunCommandsTest {
  @TempDir static Path root;
  private static ChildRun killed;
  private static ChildRun exited;
  private static ChildRun living;
  @TempDir Path home;
  private Cli cli;

  @BeforeAll
  static void record() {
    killed = ChildRun.start(root, "shop");
    killed
        .does("crumb", "INFO", "db", "SELECT orders", "3")
        .does("begin", "POST /orders", "order.id", "17")
        .does("begin", "evil \u001b[2J\u202e name", "k", "v");
    // Starts after the killed one and is seen last before it.
    exited = ChildRun.start(root, "batch").does("crumb", "INFO", "job", "begun").ends("exit", "7");
    killed.does("crumb", "ERROR", "http", "up\u001b[2Jstream € failed").kill();
    living = ChildRun.start(root, "web").does("begin", "GET /", "user", "42");
  }

  @AfterAll
  static void end() {
    living.close();
  }

  @BeforeEach
  void setUp() {
    cli = new Cli(home);
    cli.variables.put("CAIRN_DIR", root.toString());
  }

  @Test
  void whyOfAKilledRunHasTheVerdictTheOpenSpansAndWhereTheReportIs() {
    Cli.Result result = cli.run("why", killed.id);

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).isEmpty();
    assertThat(result.out().lines().findFirst().orElseThrow()).startsWith("Killed (SIGKILL");
    assertThat(result.out())
        .contains("POST /orders", "order.id=17", "OOM killer is excluded")
        .contains("What to look at next", "POST /orders, and the last breadcrumbs")
        .contains("Run: shop 1.2, " + killed.id + ", last seen 20")
        .endsWith("Full report: cairn report " + killed.id + "\n");
  }

  @Test
  void whyTellsHowToFindTheReportWhereADirectoryWasGiven() {
    cli.variables.clear();

    assertThat(cli.run("why", killed.id, "--dir", root).out())
        .endsWith("Full report: cairn report " + killed.id + " --dir " + root + "\n");
  }

  @Test
  void anExitCodeThatAPersonKnowsIsJudgedWithAndNotWrittenDown() {
    Cli.Result halted = cli.run("why", killed.id, "--exit-code", "3");
    Cli.Result report = cli.run("report", killed.id, "--json", "--exit-code", "3");

    assertThat(halted.exitCode()).isEqualTo(1);
    assertThat(halted.out()).isNotEqualTo(cli.run("why", killed.id).out()).contains("status", "3");
    assertThat(report.json().at("/verdict/cause").textValue()).isNotEqualTo("KILLED");
    assertThat(killed.directory).isDirectoryNotContaining("glob:**/death-*");
  }

  @Test
  void whyWithoutRunTakesTheDeadRunThatWasSeenLast() {
    assertThat(exited.id).isGreaterThan(killed.id);

    assertThat(cli.run("why").out()).contains(killed.id);
  }

  @Test
  void whyExitsZeroForACleanEndAndFourForALivingRun() {
    assertThat(cli.run("why", "batch").exitCode()).isZero();
    assertThat(cli.run("why", "web").exitCode()).isEqualTo(4);
    assertThat(cli.run("why", "web").out()).startsWith("Running since ").contains("GET /");
  }

  @Test
  void whyAsJsonIsTheReportAsJsonWithTheSameExitCode() {
    Cli.Result why = cli.run("why", killed.id, "--json");

    assertThat(why.exitCode()).isEqualTo(1);
    assertThat(why.json().at("/verdict/cause").textValue()).isEqualTo("KILLED");
    assertThat(why.json().at("/openSpans/0/name").textValue()).isEqualTo("POST /orders");
    assertThat(why.json().at("/trail/1/message").textValue())
        .isEqualTo("up\u001b[2Jstream € failed");
    assertThat(cli.run("report", killed.id, "--json").out()).isEqualTo(why.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"list", "why", "report", "tail", "vitals"})
  void nothingThatWasRecordedReachesTheTerminalAsAControl(String command) {
    for (String[] more : List.of(new String[] {}, new String[] {"--json"})) {
      List<Object> words = new ArrayList<>(List.of(command));
      if (!command.equals("list")) {
        words.add(killed.id);
      }
      words.addAll(Arrays.asList(more));

      String out = cli.run(words.toArray()).out();

      assertThat(out).isNotEmpty();
      assertThat(out.chars().filter(c -> Character.isISOControl(c) && c != '\n')).isEmpty();
      if (more.length == 0) {
        assertThat(out).doesNotContain("\u202e");
      }
    }
  }

  @Test
  void listHasEveryRunNewestFirstWithItsStateAndOldestOpenSpan() {
    Cli.Result result = cli.run("list");

    assertThat(result.exitCode()).isZero();
    List<String> lines = result.out().lines().toList();
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).matches("RUN +APP +STATE +AGE +OPEN SPANS");
    assertThat(lines.get(1)).matches(living.id + " +web +RUNNING +up .+ 1 \\(oldest .+: GET /\\)");
    assertThat(lines.get(2)).matches(exited.id + " +batch +EXIT +.+ ago +0");
    assertThat(lines.get(3))
        .matches(
            killed.id + " +shop +KILLED \\(likely\\) +.+ ago +2 \\(oldest .+: POST /orders\\)");
    assertThat(lines.get(1).indexOf("RUNNING")).isEqualTo(lines.get(2).indexOf("EXIT"));
  }

  @Test
  void listCanBeLimitedToTheNewestAndToAnApplication() {
    assertThat(cli.run("list", "-n", 1).out())
        .contains(living.id, "2 older runs not shown")
        .doesNotContain(killed.id);
    assertThat(cli.run("list", "--app", "shop").out())
        .contains(killed.id)
        .doesNotContain(living.id);
  }

  @Test
  void listAsJsonIsAnArrayOfRuns() {
    JsonNode runs = cli.run("list", "--json").json();

    assertThat(runs).hasSize(3);
    JsonNode run = runs.get(2);
    assertThat(run.get("id").textValue()).isEqualTo(killed.id);
    assertThat(run.get("app").textValue()).isEqualTo("shop");
    assertThat(run.get("cause").textValue()).isEqualTo("KILLED");
    assertThat(run.get("confidence").textValue()).isEqualTo("likely");
    assertThat(run.get("openSpans").intValue()).isEqualTo(2);
    assertThat(run.get("directory").textValue()).isEqualTo(killed.directory.toString());
  }

  @Test
  void anAgeCountsFromTheLastSignOfLife() {
    cli.clock = Clock.offset(Clock.systemUTC(), Duration.ofDays(3));

    assertThat(cli.run("list", "--app", "shop").out()).contains("  3 d ago  ");
  }

  @Test
  void reportIsTextByDefaultAlsoWhereTheEnvironmentSaysJsonAndTheOptionText() {
    assertThat(cli.run("report", killed.id).out()).startsWith("Killed ").contains("Counters");
    cli.variables.put("CAIRN_JSON", "true");
    assertThat(cli.run("report", killed.id).out()).startsWith("{");
    assertThat(cli.run("report", killed.id, "--text").out()).startsWith("Killed ");
  }

  @Test
  void reportIntoAFileIsTheOwnersAloneAndReplacesWhatIsThere() throws IOException {
    Path file = home.resolve("report.txt");

    Cli.Result result = cli.run("report", killed.id, "-o", file);

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).isEqualTo("cairn: report written: file=" + file + "\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(file)).startsWith("Killed ").contains("€");
    cli.run("report", killed.id, "--json", "-o", file);
    assertThat(Cli.Result.json(Files.readString(file)).get("schema").intValue()).isEqualTo(1);
  }

  @Test
  void reportIntoADirectoryThatIsMissingNamesTheFile() {
    Path file = home.resolve("missing/report.txt");

    Cli.Result result = cli.run("report", killed.id, "-o", file);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err())
        .startsWith("cairn: report cannot be written: file=" + file + ", error=NoSuchFile ")
        .hasLineCount(1);
  }

  @Test
  void tailHasTheNewestBreadcrumbsOldestFirst() {
    assertThat(cli.run("tail", killed.id).out().lines().toList())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("Run: shop 1.2, " + killed.id),
            line ->
                assertThat(line)
                    .matches("  [0-9:.]{12}Z info    db SELECT orders \\{value=3} \\[main]"),
            line -> assertThat(line).contains(" error   http up\\u{1b}[2Jstream € failed [main]"));
    assertThat(cli.run("tail", killed.id, "-n", "1").out())
        .contains("failed")
        .doesNotContain("SELECT");
  }

  @Test
  void tailAsJsonIsOneObjectALine() {
    List<String> lines = cli.run("tail", killed.id, "--json").out().lines().toList();

    assertThat(lines).hasSize(2);
    assertThat(Cli.Result.json(lines.get(0)).at("/data/value").textValue()).isEqualTo("3");
    assertThat(Cli.Result.json(lines.get(1)).get("level").textValue()).isEqualTo("error");
    assertThat(Cli.Result.json(lines.get(1)).get("spanId").textValue()).hasSize(16);
  }

  @Test
  void tailFollowsALivingRunUntilItEnds() {
    cli.variables.put("CAIRN_DIR", home.toString());
    try (ChildRun run = ChildRun.start(home, "followed")) {
      run.does("crumb", "INFO", "a", "before 1").does("crumb", "INFO", "a", "before 2");
      List<Runnable> then =
          new ArrayList<>(
              List.of(
                  () -> run.does("crumb", "INFO", "a", "one").does("crumb", "INFO", "a", "two"),
                  () -> {},
                  () -> {
                    run.does("crumb", "INFO", "a", "last");
                    run.kill();
                  }));
      cli.pause = () -> then.remove(0).run();

      Cli.Result result = cli.run("tail", "-f", "-n", "1", run.id);

      assertThat(result.exitCode()).isZero();
      assertThat(result.out().lines().skip(1).map(line -> line.replaceAll(".* a | \\[.*", "")))
          .containsExactly("before 2", "one", "two", "last");
      assertThat(result.err()).startsWith("cairn: run ended: Killed (SIGKILL").hasLineCount(1);
      assertThat(then).isEmpty();
    }
  }

  @Test
  void tailFollowsTheLivingRunWhereNoneIsNamed() {
    cli.pause =
        () -> {
          throw new IllegalStateException("followed");
        };

    Cli.Result result = cli.run("tail", "-f");

    assertThat(result.err()).contains("followed");
    assertThat(result.out()).startsWith("Run: web 1.2, " + living.id + ", running");
  }

  @Test
  void vitalsAreTextOrAnArrayOfSamples() {
    assertThat(cli.run("vitals", killed.id).out()).contains("heap ", "rss ");
    JsonNode samples = cli.run("vitals", killed.id, "--json").json();
    assertThat(samples).isNotEmpty();
    assertThat(samples.get(0).get("at").textValue()).matches("20.+\\.\\d{3}Z");
    assertThat(samples.get(0).get("heapUsed").longValue()).isPositive();
  }

  @Test
  void aRunIsFoundByEitherEndOfItsIdByItsDirectoryAndByItsApplication() {
    String end = killed.id.substring(killed.id.length() - 8);

    assertThat(cli.run("why", end).out()).contains(killed.id);
    assertThat(cli.run("why", "shop").out()).contains(killed.id);
    cli.variables.clear();
    assertThat(cli.run("why", killed.directory).out()).contains(killed.id);
    assertThat(cli.run("why", killed.directory + "/").out()).contains(killed.id);
  }

  @Test
  void aRunThatIsNotThereSaysHowManyThereAre() {
    Cli.Result result = cli.run("why", "nope");

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err())
        .isEqualTo("cairn: no such run: run=nope, runs=3, dir=" + root + " (see: cairn list)\n");
  }

  @Test
  void aPartThatSeveralIdsShareIsAmbiguous() {
    Cli.Result result = cli.run("report", "20");

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err())
        .startsWith("cairn: ambiguous run: run=20, matches=3, newest=" + living.id)
        .hasLineCount(1);
  }

  @Test
  void aRunDirectoryGivenAsRootIsRecognised() {
    Cli.Result result = cli.run("why", "--dir", killed.directory);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).contains("that is the directory of one run: give " + killed.directory);
  }
}
