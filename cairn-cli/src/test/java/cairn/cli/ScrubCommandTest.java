package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ScrubCommandTest {
  @TempDir static Path recorded;
  private static ChildRun dead;
  @TempDir Path temp;
  private Path root;
  private Cli cli;

  @BeforeAll
  static void record() {
    dead = ChildRun.start(recorded, "shop");
    dead.does("begin", "POST /orders", "customer", "Anna Example");
    dead.does("begin", "inner-work", "k", "closed-value");
    dead.does("end");
    dead.does("crumb", "INFO", "crm", "found Anna Example", "named-secret");
    dead.kill();
  }

  @BeforeEach
  void setUp() throws IOException {
    root = Files.createDirectory(temp.resolve("cairn"));
    cli = new Cli(root);
    cli.variables.put("CAIRN_DIR", root.toString());
  }

  /** A copy of the dead run, of that application. */
  private Path run(String app) throws IOException {
    Path directory = Files.createDirectories(root.resolve(app).resolve(dead.id));
    try (Stream<Path> files = Files.list(dead.directory)) {
      for (Path file : files.toList()) {
        Files.copy(file, directory.resolve(file.getFileName()));
      }
    }
    return directory;
  }

  private static boolean holds(Path run, String text) throws IOException {
    return Files.readString(run.resolve("box"), StandardCharsets.ISO_8859_1).contains(text);
  }

  @Test
  void theDeadRunThatWasSeenLastIsScrubbedAndThenThereIsNothingToDo() throws IOException {
    Path run = run("shop");
    assertThat(holds(run, "closed-value")).isTrue();
    JsonNode before = cli.run("report", "--json").json();

    Cli.Result result = cli.run("scrub");

    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .matches("scrubbed shop/" + dead.id + ": 0 values redacted, [0-9.]+ K?i?B erased\n");
    assertThat(holds(run, "closed-value")).isFalse();
    JsonNode after = cli.run("report", "--json").json();
    assertThat(after.get("trail")).isEqualTo(before.get("trail"));
    assertThat(after.get("openSpans")).isEqualTo(before.get("openSpans"));
    assertThat(after.get("findings").toString()).contains("box was scrubbed: at=");
    assertThat(cli.run("scrub").out()).isEqualTo("nothing to scrub in shop/" + dead.id + "\n");
  }

  @Test
  void keysAndTextsOfTheCommandLineAreSecretToo() throws IOException {
    Path run = run("shop");

    Cli.Result result =
        cli.run("scrub", "shop", "--key", "other", "--key", "VALUE", "--text", "Anna Example");

    assertThat(result.out()).startsWith("scrubbed shop/" + dead.id + ": 3 values redacted, ");
    assertThat(holds(run, "Anna")).isFalse();
    assertThat(holds(run, "named-secret")).isFalse();
    JsonNode crumb = cli.run("report", "--json").json().get("trail").get(0);
    assertThat(crumb.get("message").asText()).isEqualTo("found ************");
    assertThat(crumb.get("data").get("value").asText()).isEqualTo("<redacted>**");
  }

  @Test
  void dryRunSaysWhatWouldBeDoneAndChangesNothing() throws IOException {
    Path run = run("shop");
    byte[] before = Files.readAllBytes(run.resolve("box"));

    Cli.Result result = cli.run("scrub", "--dry-run", "--text", "Anna");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).startsWith("would scrub shop/" + dead.id + ": 2 values redacted, ");
    assertThat(Files.readAllBytes(run.resolve("box"))).isEqualTo(before);
    assertThat(run.resolve("box.scrub")).doesNotExist();
  }

  @Test
  void allScrubsEveryDeadRunAndLeavesLivingOnesAlone() throws IOException {
    run("shop");
    run("web");
    try (ChildRun living = ChildRun.start(root, "alive")) {
      living.does("crumb", "INFO", "c", "m");

      Cli.Result result = cli.run("scrub", "--all");

      assertThat(result.exitCode()).isZero();
      assertThat(result.err()).isEmpty();
      assertThat(result.out())
          .contains("scrubbed shop/" + dead.id, "scrubbed web/" + dead.id)
          .doesNotContain("alive/")
          .endsWith("scrubbed 2 of 2 dead, 1 running\n");
      assertThat(cli.run("scrub", "--all", "--app", "web").out())
          .isEqualTo("nothing to scrub in web/" + dead.id + "\nscrubbed 0 of 1 dead, 0 running\n");
    }
  }

  @Test
  void severalRunsAreScrubbedEachOnce() throws IOException {
    run("shop");
    run("web");

    Cli.Result result = cli.run("scrub", "web", "shop", "web");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out().lines()).hasSize(2);
    assertThat(result.out()).startsWith("scrubbed web/").contains("\nscrubbed shop/");
  }

  @Test
  void livingRunIsRefusedWithExitCodeFour() throws IOException {
    try (ChildRun living = ChildRun.start(root, "alive")) {
      Cli.Result result = cli.run("scrub", living.id);

      assertThat(result.exitCode()).isEqualTo(4);
      assertThat(result.out()).isEmpty();
      assertThat(result.err())
          .startsWith("cairn: run is still running: run=alive/" + living.id + " (")
          .hasLineCount(1);
    }
  }

  @Test
  void jsonHasOneObjectForEachRun() throws IOException {
    run("shop");
    Files.write(run("web").resolve("box"), new byte[10_000]);

    Cli.Result result = cli.run("scrub", "--all", "--json");

    assertThat(result.exitCode()).isEqualTo(1);
    JsonNode rows = result.json();
    assertThat(rows).hasSize(2);
    for (JsonNode row : rows) {
      assertThat(row.get("id").asText()).isEqualTo(dead.id);
      if (row.get("app").asText().equals("shop")) {
        assertThat(row.get("changed").asBoolean()).isTrue();
        assertThat(row.get("valuesRedacted").asLong()).isZero();
        assertThat(row.get("bytesErased").asLong()).isPositive();
      } else {
        assertThat(row.get("error").asText()).startsWith("not a cairn box: file=");
      }
    }
    assertThat(result.err()).startsWith("cairn: run not scrubbed: run=web/").hasLineCount(1);
  }

  @Test
  void unreadableBoxIsSaidWithExitCodeOneAndNotTouched() throws IOException {
    Path box = Files.write(run("shop").resolve("box"), new byte[10_000]);

    Cli.Result result = cli.run("scrub");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .startsWith("cairn: run not scrubbed: run=shop/" + dead.id + ", error=not a cairn box");
    assertThat(box).hasBinaryContent(new byte[10_000]);
  }

  @Test
  void allAndARunExcludeEachOther() throws IOException {
    run("shop");

    Cli.Result result = cli.run("scrub", "--all", "shop");

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).contains("options exclude each other");
  }

  @Test
  void flagThatIsSetInAnyUsualWayHoldsAndAnyOtherIsRefused() throws IOException {
    Path run = run("shop");
    for (String yes : new String[] {"1", "true", "TRUE", "yes", "on", " true "}) {
      cli.variables.put("CAIRN_DRY_RUN", yes);
      assertThat(cli.run("scrub", "--text", "Anna").exitCode()).as(yes).isZero();
      assertThat(holds(run, "Anna")).as(yes).isTrue();
    }
    cli.variables.put("CAIRN_DRY_RUN", "bogus");
    assertThat(cli.run("scrub", "--text", "Anna").exitCode()).isEqualTo(2);
    assertThat(holds(run, "Anna")).isTrue();
  }

  @Test
  void settingsDoNotSayWhatIsErased() throws IOException {
    Path run = run("shop");
    cli.variables.put("CAIRN_TEXT", "Anna");
    cli.properties.setProperty("cairn.key", "value");

    assertThat(cli.run("scrub").out()).contains(": 0 values redacted");
    assertThat(holds(run, "Anna")).isTrue();
    assertThat(holds(run, "named-secret")).isTrue();
  }
}
