package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
  @TempDir Path home;
  private Cli cli;

  @BeforeEach
  void setUp() {
    cli = new Cli(home);
  }

  @Test
  void noArgumentsPrintTheHelpWithEveryCommand() {
    Cli.Result result = cli.run();

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .contains(
            "list ",
            "why ",
            "report ",
            "tail ",
            "vitals ",
            "run ",
            "watch ",
            "note ",
            "doctor ",
            "profile ",
            "export ",
            "import ",
            "scrub ",
            "prune ")
        .contains("Exit codes:", "Examples:", "CAIRN_OLDER_THAN");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "list", "why", "report", "tail", "vitals", "watch", "note", "doctor", "profile", "export",
        "scrub", "prune"
      })
  void everyCommandsHelpHasExitCodesExamplesAndDir(String command) {
    Cli.Result result = cli.run(command, "--help");

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out())
        .startsWith("Usage: cairn " + command)
        .contains("--dir=DIR", "Exit codes: 0 ", "Examples:\n  cairn " + command)
        .doesNotContain("\u001b");
    assertThat(result.out().lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void theHelpOfRunHasItsExitCodesExamplesAndDirToo() {
    Cli.Result result = cli.run("run", "--help");

    assertThat(result.out())
        .startsWith("Usage: cairn run [OPTIONS] -- CMD...")
        .contains("--dir=DIR", "Exit codes: that of the command", "Examples:\n  cairn run")
        .doesNotContain("\u001b");
    assertThat(result.out().lines()).allMatch(line -> line.length() <= 100);
  }

  @Test
  void helpAsACommandIsTheSameHelp() {
    assertThat(cli.run("help")).isEqualTo(cli.run());
    assertThat(cli.run("help", "why")).isEqualTo(cli.run("why", "--help"));
  }

  @Test
  void versionIsOneLineWithTheBuiltVersionAndJava() {
    assertThat(cli.run("--version").out()).matches("cairn \\d+\\.\\d+\\.\\d+\\S* \\(Java .+\\)\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lst | unknown command: command=lst (did you mean list? see: cairn --help)",
        "zzzzzz | unknown command: command=zzzzzz (see: cairn --help)",
        "list --jsn | unknown option: option=--jsn (did you mean --json? see: cairn list --help)",
        "list extra | unexpected argument: argument=extra (see: cairn list --help)",
        "why a b | unexpected argument: argument=b (see: cairn why --help)",
        "list -n x | invalid value: option=--limit, value=x (expected a whole number; see: cairn"
            + " list --help)",
        "list -n 0 | value is too small: option=--limit, value=0, limit=1 (give a larger one)",
        "tail -n -1 | value is too small: option=--lines, value=-1, limit=0 (give a larger one)",
        "prune --keep | no value: option=--keep (see: cairn prune --help)",
        "prune --older-than 3y | invalid value: option=--older-than, value=3y (give a number and s,"
            + " m, h, d or w, such as 7d or 12h)",
        "report --text --json | options exclude each other: option=--text, option=--json (give one"
            + " of them)",
        "scrub --text= | empty value: option=--text (give the text that is secret)",
        "scrub --key - | invalid value: option=--key, value=- (give a name with a letter or digit)",
        "run | missing argument: argument=CMD (see: cairn run --help)",
        "run --jsn -- true | unknown option: option=--jsn (see: cairn run --help)",
        "watch --interval x | invalid value: option=--interval, value=x (expected a number; see:"
            + " cairn watch --help)",
        "watch --interval 0 | value is out of range: option=--interval, value=0.0, least=0.05,"
            + " most=3600.0 (give seconds)",
        "note | missing argument: argument=WHAT (see: cairn note --help)",
        "note oom | missing argument: argument=PID (see: cairn note --help)",
        "note oom x | invalid value: option=PID, value=x (expected a whole number; see: cairn note"
            + " --help)",
        "note out 1 | invalid value: argument=WHAT, value=out (expected oom)",
        "why --exit-code 256 | value is too large: option=--exit-code, value=256, limit=255 (give a"
            + " smaller one)",
        "list --dir= | empty value: option=--dir (give a directory)",
      })
  void aWrongCommandLineIsOneLineOnStderrAndExitCodeTwo(String line, String message) {
    Cli.Result result = cli.run((Object[]) line.strip().split(" "));

    assertThat(result.err()).isEqualTo("cairn: " + message.strip() + "\n");
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(2);
  }

  @Test
  void hostileArgumentsAreEscapedInTheErrorLine() {
    assertThat(cli.run("zzz\u001b[2J\nzzz").err())
        .isEqualTo("cairn: unknown command: command=zzz\\u{1b}[2J\\u{a}zzz (see: cairn --help)\n");
  }

  @ParameterizedTest
  @ValueSource(strings = {"list", "why", "report", "tail", "vitals", "scrub", "prune"})
  void aMissingDirectoryIsNamedWithExitCodeThree(String command) {
    Path missing = home.resolve("missing");

    Cli.Result result = cli.run(command, "--dir", missing);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.out()).isEmpty();
    assertThat(result.err())
        .startsWith("cairn: no such directory: dir=" + missing + " (")
        .hasLineCount(1);
  }

  @Test
  void aFileAsDirectoryIsNamedWithExitCodeThree() throws IOException {
    Path file = Files.createFile(home.resolve("file"));

    Cli.Result result = cli.run("why", "--dir", file);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).startsWith("cairn: not a directory: dir=" + file + " (");
  }

  @Test
  void theDirectoryIsTheOptionElseThePropertyElseTheVariableElseTheStateHomeElseTheHome() {
    assertThat(directoryOf("list")).isEqualTo(home.resolve(".local/state/cairn").toString());
    cli.variables.put("XDG_STATE_HOME", "/state");
    assertThat(directoryOf("list")).isEqualTo("/state/cairn");
    cli.variables.put("CAIRN_DIR", "/variable");
    assertThat(directoryOf("list")).isEqualTo("/variable");
    cli.properties.setProperty("cairn.dir", "/property");
    assertThat(directoryOf("list")).isEqualTo("/property");
    assertThat(directoryOf("--dir", "/outer", "list")).isEqualTo("/outer");
    assertThat(directoryOf("--dir", "/outer", "list", "--dir", "/inner")).isEqualTo("/inner");
  }

  @Test
  void emptySettingsCountAsUnset() {
    cli.variables.put("XDG_STATE_HOME", "");
    cli.variables.put("CAIRN_DIR", "");
    cli.properties.setProperty("cairn.dir", "");

    assertThat(directoryOf("list")).isEqualTo(home.resolve(".local/state/cairn").toString());
  }

  private String directoryOf(Object... words) {
    String err = cli.run(words).err();
    return err.substring(err.indexOf("dir=") + 4, err.indexOf(" ("));
  }

  @Test
  void everyOptionIsSettableByPropertyAndVariableAndTheOptionWins() {
    cli.variables.put("CAIRN_OLDER_THAN", "variable");
    assertThat(cli.run("prune").err()).contains("value=variable");
    cli.properties.setProperty("cairn.older-than", "property");
    assertThat(cli.run("prune").err()).contains("value=property");
    assertThat(cli.run("prune", "--older-than", "option").err()).contains("value=option");
  }

  @Test
  void aFlagInTheEnvironmentIsNotTurnedAroundByTheSameOption() {
    cli.variables.put("CAIRN_JSON", "true");

    assertThat(cli.run("doctor").out()).startsWith("[");
    assertThat(cli.run("doctor", "--json").out()).startsWith("[");
  }

  @Test
  void aBrokenPipeEndsQuietlyWithTheCommandsExitCode() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int exitCode = Main.run(new String[] {}, failing("Broken pipe"), err, cli.surroundings());

    assertThat(exitCode).isZero();
    assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  @Test
  void aFullDiskUnderStdoutIsSaidWithExitCodeThree() {
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int exitCode =
        Main.run(new String[] {}, failing("No space left on device"), err, cli.surroundings());

    assertThat(exitCode).isEqualTo(3);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .startsWith("cairn: output failed: error=No space left on device")
        .hasLineCount(1);
  }

  private static OutputStream failing(String message) {
    return new OutputStream() {
      @Override
      public void write(int b) throws IOException {
        throw new IOException(message);
      }
    };
  }
}
