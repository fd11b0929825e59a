package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code cairn note}: by the script, as a JVM that is out of memory calls it, and by the jar. */
class NoteTest {
  /** Who notes. */
  enum By {
    SCRIPT,
    JAR
  }

  @TempDir Path temp;
  private Path root;
  private ChildRun living;

  @BeforeEach
  void setUp() {
    root = temp.resolve("ro ot");
    living = ChildRun.start(root, "shop");
  }

  @AfterEach
  void end() {
    living.close();
  }

  private static Path script() {
    return Path.of("").toAbsolutePath().resolve("../bin/cairn").normalize();
  }

  private Cli.Result note(By by, Object... words) throws Exception {
    if (by == By.JAR) {
      List<Object> all = new ArrayList<>(List.of("note"));
      all.addAll(List.of(words));
      return new Cli(temp).run(all.toArray());
    }
    List<String> command = new ArrayList<>(List.of("/bin/sh", script().toString(), "note"));
    for (Object word : words) {
      command.add(word.toString());
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    // Neither java nor mvn, and none of what the rest of the script needs.
    Path tools = Files.createDirectories(temp.resolve("tools"));
    if (!Files.exists(tools.resolve("date"))) {
      Path date = Path.of(Files.exists(Path.of("/bin/date")) ? "/bin/date" : "/usr/bin/date");
      Files.writeString(tools.resolve("date"), "#!/bin/sh\nexec " + date + " \"$@\"\n");
      Files.setPosixFilePermissions(
          tools.resolve("date"), PosixFilePermissions.fromString("rwx------"));
    }
    builder.environment().clear();
    builder.environment().put("PATH", tools.toString());
    Process process = builder.start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Cli.Result(
        process.exitValue(),
        new String(process.getInputStream().readAllBytes()),
        new String(process.getErrorStream().readAllBytes()));
  }

  private Path file() {
    return living.directory.resolve("note-oom");
  }

  @ParameterizedTest
  @EnumSource(By.class)
  void theTimeIsNotedBesideTheLivingRunForItsOwnerAlone(By by) throws Exception {
    Instant before = Instant.now().minusSeconds(1);

    Cli.Result result = note(by, "oom", living.pid(), "--dir", root);

    assertThat(result).isEqualTo(new Cli.Result(0, "", ""));
    List<String> lines = Files.readAllLines(file());
    assertThat(lines.get(0)).startsWith("at: ");
    assertThat(Instant.parse(lines.get(0).substring(4)))
        .isBetween(before, before.plus(Duration.ofMinutes(1)));
    assertThat(lines).element(1).isEqualTo("what: java.lang.OutOfMemoryError");
    assertThat(lines).hasSize(2);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
  }

  @ParameterizedTest
  @EnumSource(By.class)
  void theFirstNoteStays(By by) throws Exception {
    Files.writeString(file(), "at: 2026-11-30T14:00:00Z\n");

    assertThat(note(by, "oom", living.pid(), "--dir", root).exitCode()).isZero();
    assertThat(file()).hasContent("at: 2026-11-30T14:00:00Z\n");
  }

  @ParameterizedTest
  @EnumSource(By.class)
  void ofRunsOfTheSamePidTheLivingOneIsFoundThoughAnotherBeganLater(By by) throws Exception {
    Path later = root.resolve("shop").resolve("20991231-000000-000-" + living.pid() + "-0000000a");
    Files.createDirectory(later);
    Files.createFile(later.resolve("lock"));

    assertThat(note(by, "oom", living.pid(), "--dir", root).exitCode()).isZero();
    assertThat(file()).exists();
    assertThat(later.resolve("note-oom")).doesNotExist();
  }

  @ParameterizedTest
  @EnumSource(By.class)
  void aDeadRunAndAStrangerGetNoNote(By by) throws Exception {
    long pid = living.kill().pid();

    Cli.Result dead = note(by, "oom", pid, "--dir", root);
    Cli.Result stranger = note(by, "oom", ProcessHandle.current().pid(), "--dir", root);

    assertThat(file()).doesNotExist();
    for (Cli.Result result : List.of(dead, stranger)) {
      assertThat(result.exitCode()).isEqualTo(3);
      assertThat(result.err())
          .startsWith("cairn: no living run of that process: pid=")
          .contains("dir=" + root)
          .hasLineCount(1);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "oom", "out 1", "oom x", "oom 1 2", "oom --jsn 1", "oom 1 --dir"})
  void aWrongCallOfTheScriptIsOneLineAndExitCodeTwo(String words) throws Exception {
    Cli.Result result = note(By.SCRIPT, (Object[]) words.split(" "));

    assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
    assertThat(result.err()).startsWith("cairn: ").hasLineCount(1);
  }

  @Test
  void aJvmThatRunsOutOfHeapCallsItAndTheReportKnowsOfIt() throws Exception {
    List<String> command =
        CliProcess.java(
            "-XX:+ExitOnOutOfMemoryError",
            "-XX:OnOutOfMemoryError=/bin/sh '"
                + script()
                + "' note oom %p --dir '"
                + root
                + "' >&2",
            RecordedApp.class.getName(),
            root.toString(),
            "greedy");
    Process process = new ProcessBuilder(command).start();
    String id = process.inputReader().readLine();
    process.outputWriter().append("fill\n").flush();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    String said = new String(process.getErrorStream().readAllBytes());

    assertThat(process.exitValue()).as(said).isEqualTo(3);
    assertThat(root.resolve("greedy").resolve(id).resolve("note-oom"))
        .as(said)
        .content()
        .startsWith("at: 20")
        .contains("what: java.lang.OutOfMemoryError\n");
    Cli cli = new Cli(temp);
    assertThat(cli.run("why", id, "--dir", root, "--json").json().at("/verdict/cause").textValue())
        .isEqualTo("JAVA_OOM");
  }
}
