package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code import sentry} on files as sentry-java writes them; cairn-sentry tests the reading. */
class ImportCommandTest {
  @TempDir Path temp;
  private Cli cli;

  @BeforeEach
  void setUp() throws IOException {
    cli = new Cli(temp);
    cache("a", "42", "2026-11-30T10:00:00.000Z");
    cache("b", "43", "2026-11-30T11:00:00.000Z");
  }

  private void cache(String letter, String user, String crash) throws IOException {
    Path dsn = temp.resolve("cache").resolve(letter.repeat(40));
    Files.createDirectories(dsn.resolve(".scope-cache"));
    Files.writeString(dsn.resolve(".scope-cache/user.json"), "{\"id\":\"" + user + "\"}");
    Files.writeString(dsn.resolve(".scope-cache/tags.json"), "{\"a\":\"b\",\"c");
    Files.writeString(dsn.resolve("last_crash"), crash);
  }

  @Test
  void eachDsnIsAReportAsTextTheNewestFirst() {
    Cli.Result result = cli.run("import", "sentry", temp.resolve("cache"));

    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .containsSubsequence(
            "Possibly ended by an uncaught exception at 2026-11-30T11:00:00Z",
            "{id=43}",
            ".scope-cache/tags.json: value is torn or damaged: text is cut, offset=9",
            "\n\n\nPossibly ended by an uncaught exception at 2026-11-30T10:00:00Z",
            "{id=42}");
  }

  @Test
  void asJsonEachReportIsALine() {
    Cli.Result result = cli.run("import", "sentry", "--json", temp.resolve("cache"));

    assertThat(result.exitCode()).isZero();
    List<JsonNode> reports = result.out().lines().map(Cli.Result::json).toList();
    assertThat(reports).hasSize(2);
    assertThat(reports.get(0).at("/schema").asInt()).isEqualTo(1);
    assertThat(reports.get(0).at("/verdict/cause").asText()).isEqualTo("UNCAUGHT");
    assertThat(reports.get(0).at("/verdict/confidence").asText()).isEqualTo("possible");
    assertThat(reports.get(0).at("/scope/user/id").asText()).isEqualTo("43");
    assertThat(reports.get(1).at("/scope/user/id").asText()).isEqualTo("42");
    assertThat(reports.get(1).has("vitals")).isFalse();
  }

  @Test
  void whereNothingIsOfSentryItIsSaidWithExitCodeThree() throws IOException {
    Path empty = Files.createDirectories(temp.resolve("empty"));
    Path file = Files.createFile(temp.resolve("file"));
    String remedy = " (give what cacheDirPath of sentry-java was set to, or a directory in it)\n";

    Cli.Result result = cli.run("import", "sentry", empty);
    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).isEqualTo("cairn: no files of sentry-java: dir=" + empty + remedy);
    assertThat(cli.run("import", "sentry", temp.resolve("none")).err())
        .isEqualTo("cairn: no such directory: dir=" + temp.resolve("none") + remedy);
    assertThat(cli.run("import", "sentry", file).err())
        .isEqualTo("cairn: not a directory: dir=" + file + remedy);
  }

  @Test
  void withoutADirectoryTheCommandLineIsWrong() {
    Cli.Result result = cli.run("import", "sentry");

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).startsWith("cairn: missing argument: argument=DIR");
  }

  @Test
  void withoutACommandTheHelpNamesIt() {
    Cli.Result result = cli.run("import");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).contains("sentry ", "Exit codes:", "Examples:");
    assertThat(cli.run("import", "sentry", "--help").out())
        .contains("Exit codes:", "Examples:", "DIR");
  }
}
