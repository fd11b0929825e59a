package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code cairn run} with real commands. Those that are run in this JVM neither read nor print. */
class RunCommandTest {
  @TempDir Path temp;
  private Path root;
  private Cli cli;

  @BeforeEach
  void setUp() {
    root = temp.resolve("root");
    cli = new Cli(temp);
    cli.variables.put("CAIRN_DIR", root.toString());
  }

  private Cli.Result run(String script) {
    return cli.run("run", "--", "/bin/sh", "-c", script);
  }

  private CliProcess start(Object... words) {
    return CliProcess.start(temp, Map.of("CAIRN_DIR", root.toString()), words);
  }

  /** A recorded application as the command; its first line of output is its run id. */
  private CliProcess startApp(String app) {
    return start(app(app).toArray());
  }

  private List<String> app(String app) {
    List<String> words = new ArrayList<>(List.of("run", "--"));
    words.addAll(CliProcess.java(RecordedApp.class.getName(), root.toString(), app));
    return words;
  }

  private static long pid(String runId) {
    return Long.parseLong(runId.split("-")[3]);
  }

  @Test
  void aCommandThatSucceedsLeavesNoWord() {
    assertThat(run("exit 0")).isEqualTo(new Cli.Result(0, "", ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "exit 3 | 3 | ended with status 3; no hs_err file here, and no run of it under",
        "exit 137 | 137 | ended with status 137: SIGKILL, or exit(137), or a shell",
        "kill -9 $$ | 137 | ended with status 137: SIGKILL, or exit(137), or a shell",
        "kill -SEGV $$ | 139 | ended with status 139: SIGSEGV, or exit(139), or a shell",
        "kill -TERM $$ | 143 | ended with status 143: SIGTERM, or exit(143), or a shell",
      })
  void anExitStatusIsPassedThroughAndSaidInWords(String script, int status, String words) {
    Cli.Result result = run(script);

    assertThat(result.exitCode()).isEqualTo(status);
    assertThat(result.err()).matches("cairn: sh \\(pid \\d+\\) .*\n").contains(words);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void quietSaysNothingAndPassesTheStatusThrough() {
    Cli.Result result = cli.run("run", "--quiet", "--", "/bin/sh", "-c", "kill -9 $$");

    assertThat(result).isEqualTo(new Cli.Result(137, "", ""));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1 1 0 | the kernel counted 1 OOM kill in this cgroup meanwhile",
        "0 2 0 | the kernel counted 2 OOM kills on this host meanwhile, of which process is unknown",
        "0 0 0 | the kernel's OOM killer is excluded: its counter on this host did not move",
        "0 -4 0 | whether it was the kernel's OOM killer is unknown",
      })
  void theKernelsCountersSayWhetherItsOomKillerMayHaveKilledIt(String moved, String words)
      throws IOException {
    String[] numbers = moved.split(" ");
    Path proc = Files.createDirectories(temp.resolve("system/proc/self")).getParent();
    Path group = Files.createDirectories(temp.resolve("system/sys/fs/cgroup/memory/box"));
    Files.writeString(proc.resolve("self/cgroup"), "7:memory:/box\n0::/\n");
    Files.writeString(group.resolve("memory.limit_in_bytes"), "1\n");
    Files.writeString(group.resolve("memory.oom_control"), "under_oom 0\noom_kill 3\n");
    Files.writeString(proc.resolve("vmstat"), "pgfault 1\noom_kill 4\n");
    cli.systemRoot = temp.resolve("system");

    Cli.Result result =
        run(
            "echo 'oom_kill "
                + (3 + Integer.parseInt(numbers[0]))
                + "' >"
                + group.resolve("memory.oom_control")
                + "; echo 'oom_kill "
                + (4 + Integer.parseInt(numbers[1]))
                + "' | grep -v 'kill 0' >"
                + proc.resolve("vmstat")
                + "; kill -9 $$");

    assertThat(result.err()).contains(words).hasLineCount(1);
  }

  @Test
  void aCommandThatIsNotThereIsStatus127AndOneThatCannotRunIs126() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));

    Cli.Result missing = cli.run("run", "--", "no-such-command-at-all", "x");
    Cli.Result forbidden = cli.run("run", "--", file);
    Cli.Result directory = cli.run("run", "--", temp);

    assertThat(missing.exitCode()).isEqualTo(127);
    assertThat(missing.err())
        .isEqualTo(
            "cairn: command cannot be run: command=no-such-command-at-all, error=no such command"
                + " (check its name and the PATH)\n");
    assertThat(forbidden.exitCode()).isEqualTo(126);
    assertThat(forbidden.err())
        .startsWith(
            "cairn: command cannot be run: command=" + file + ", error=Permission denied (");
    assertThat(directory.exitCode()).isEqualTo(126);
  }

  @Test
  void inputOutputArgumentsAndDirectoryAreTheCommandsOwn() {
    try (CliProcess cairn =
        start(
            "run",
            "sh",
            "-c",
            "read x; echo \"$x|$*|$(pwd)\"; echo e >&2",
            "--",
            "--dir",
            "--",
            "ü *")) {
      cairn.send("hällo");

      Cli.Result result = cairn.await();
      assertThat(result.out()).isEqualTo("hällo|--dir -- ü *|" + temp + "\n");
      assertThat(result.err()).isEqualTo("e\n");
      assertThat(result.exitCode()).isZero();
    }
  }

  @Test
  void aKilledJvmIsNamedWithWhatItWasDoingAndItsStatusIsKept() {
    try (CliProcess cairn = startApp("shop")) {
      String id = cairn.readLine();
      cairn.send("begin\tPOST /export\ttenant\tacme");
      assertThat(cairn.readLine()).isEqualTo("done");
      CliProcess.signal(pid(id), "KILL");

      Cli.Result result = cairn.await();
      assertThat(result.exitCode()).isEqualTo(137);
      assertThat(result.err())
          .startsWith("cairn: shop (pid " + pid(id) + "), exit status 137: Killed (SIGKILL")
          .contains("1 operation in flight", "POST /export {tenant=acme}")
          .endsWith("(cairn why " + id.substring(id.lastIndexOf('-') + 1) + ")\n")
          .hasLineCount(1);
      assertThat(root.resolve("shop").resolve(id).resolve("death-run"))
          .content()
          .contains("exitStatus: 137\n");
    }
  }

  @Test
  void whatIsExitedWithIsNamedWithItsCaller() {
    try (CliProcess cairn = startApp("shop")) {
      cairn.readLine();
      cairn.send("exit\t7");

      Cli.Result result = cairn.await();
      assertThat(result.exitCode()).isEqualTo(7);
      assertThat(result.err())
          .contains("exit status 7: System.exit", "RecordedApp.main(RecordedApp.java:")
          .hasLineCount(1);
    }
  }

  @Test
  void aCleanEndIsNoWord() {
    try (CliProcess cairn = startApp("shop")) {
      cairn.readLine();
      cairn.send("return");

      assertThat(cairn.await()).isEqualTo(new Cli.Result(0, "", ""));
    }
  }

  /**
   * As of surefire or Gradle: the JVM that dies is a child of the command, and the command says 1.
   */
  @Test
  void aForkedJvmThatDiedIsNamedWithItsLastBreadcrumbAndHasNoStatusNotItsOwn() throws IOException {
    String java =
        String.join(" ", CliProcess.java(RecordedApp.class.getName(), root.toString(), "tests"));
    try (CliProcess cairn =
        start("run", "--", "sh", "-c", "exec 3<&0; " + java + " <&3 & wait $!; exit 1")) {
      String id = cairn.readLine();
      cairn.send("crumb\tINFO\ttest\tPaymentTest.refunds");
      assertThat(cairn.readLine()).isEqualTo("done");
      CliProcess.signal(pid(id), "KILL");

      Cli.Result result = cairn.await();
      assertThat(result.exitCode()).isEqualTo(1);
      // What the shell says of it is not ours.
      assertThat(result.err().lines().filter(line -> line.startsWith("cairn: ")))
          .singleElement()
          .asString()
          .startsWith("cairn: tests (pid " + pid(id) + "): Killed (SIGKILL")
          .contains("last breadcrumb: test PaymentTest.refunds");
      assertThat(Files.readString(root.resolve("tests").resolve(id).resolve("death-run")))
          .doesNotContain("137");
    }
  }

  @Test
  void aRunOfSomebodyElseThatDiesMeanwhileIsNoneOfItsBusiness() {
    try (ChildRun other = ChildRun.start(root, "other")) {
      try (CliProcess cairn = start("run", "--", "sh", "-c", "echo ready; read x; exit 0")) {
        assertThat(cairn.readLine()).isEqualTo("ready");
        other.kill();
        cairn.send("");

        assertThat(cairn.await()).isEqualTo(new Cli.Result(0, "", ""));
        assertThat(other.directory.resolve("death-run")).doesNotExist();
      }
    }
  }

  @Test
  void nestedLaunchersAreAllKnownToTheCommand() {
    try (CliProcess cairn =
        start("run", "--", "sh", "-c", "echo \"$CAIRN_LAUNCHER\"; echo \"$CAIRN_DIR\"")) {
      assertThat(cairn.readLine()).matches("[0-9a-f]{16}");
      assertThat(cairn.readLine()).isEqualTo(root.toString());
    }
    assertThat(LaunchedRuns.variable("a,b", "c")).isEqualTo("a,b,c");
    assertThat(LaunchedRuns.variable("x".repeat(200), "c")).isEqualTo("c");
  }

  @Test
  void aDirectoryThatIsGivenIsWhereTheCommandRecordsToo() {
    try (CliProcess cairn =
        start("run", "--dir", "elsewhere", "--", "sh", "-c", "echo \"$CAIRN_DIR\"")) {
      assertThat(cairn.readLine()).isEqualTo(temp.resolve("elsewhere").toString());
    }
  }

  @Test
  void theLocaleOfTheCallerIsTheCommandsThoughTheScriptChangedIt() {
    Map<String, String> changed =
        Map.of("LC_ALL", "C.UTF-8", "CAIRN_CALLER_LC_ALL", "=de_AT.UTF-8");
    try (CliProcess cairn =
        CliProcess.start(temp, changed, "run", "--", "sh", "-c", "env | grep LC_ALL")) {
      assertThat(cairn.await().out()).isEqualTo("LC_ALL=de_AT.UTF-8\n");
    }
    Map<String, String> unset = Map.of("LC_ALL", "C.UTF-8", "CAIRN_CALLER_LC_ALL", "");
    try (CliProcess cairn =
        CliProcess.start(temp, unset, "run", "--", "sh", "-c", "env | grep LC_ALL; true")) {
      assertThat(cairn.await().out()).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP", "USR1", "USR2"})
  void aSignalIsPassedOnAsOftenAsItComesAndTheCommandDecides(String signal) throws IOException {
    if (isIgnored(signal)) {
      // A job in the background of a shell: the JVM leaves the signal as it found it.
      System.err.println("NOT TRIED: this process was started with the signal ignored: " + signal);
      return;
    }
    String script =
        "n=0; trap 'n=$((n+1)); echo got $n' "
            + signal
            + "; echo ready; while [ $n -lt 2 ]; do read x; done; exit 5";
    try (CliProcess cairn = start("run", "--", "sh", "-c", script)) {
      assertThat(cairn.readLine()).isEqualTo("ready");
      cairn.signal(signal);
      // The shell runs its trap behind the read that the signal or the line ends.
      cairn.send("");
      assertThat(cairn.readLine()).isEqualTo("got 1");
      cairn.signal(signal).send("");
      assertThat(cairn.readLine()).isEqualTo("got 2");
      cairn.send("");

      assertThat(cairn.await().exitCode()).isEqualTo(5);
    }
  }

  /** Whoever this process starts inherits it. */
  private static boolean isIgnored(String signal) throws IOException {
    int number = Map.of("HUP", 1, "INT", 2, "USR1", 10, "USR2", 12, "TERM", 15).get(signal);
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .map(line -> line.substring("SigIgn:".length()).strip())
        .anyMatch(mask -> (Long.parseUnsignedLong(mask, 16) >>> (number - 1) & 1) == 1);
  }

  @Test
  void aCommandThatEndsOfTheSignalThatItWasPassedNeedsNoWord() {
    try (CliProcess cairn = start("run", "--", "sh", "-c", "echo ready; exec sleep 60")) {
      assertThat(cairn.readLine()).isEqualTo("ready");
      cairn.signal("TERM");

      assertThat(cairn.await()).isEqualTo(new Cli.Result(143, "", ""));
    }
  }

  @Test
  void aCommandGoesOnWhenItsLauncherIsKilled() throws IOException {
    String script = "echo $$; until [ -f go ]; do sleep 0.02; done; echo still >here";
    try (CliProcess cairn = start("run", "--", "sh", "-c", script)) {
      ProcessHandle child = ProcessHandle.of(Long.parseLong(cairn.readLine())).orElseThrow();
      cairn.process.destroyForcibly().onExit().join();
      assertThat(child.isAlive()).isTrue();

      Files.createFile(temp.resolve("go"));

      child.onExit().join();
      assertThat(temp.resolve("here")).hasContent("still");
    }
  }

  @Test
  void aCrashFileOfTheCommandIsNamedWithWhatItSays() {
    String script =
        "printf '#\\n# A fatal error has been detected by the Java Runtime Environment:\\n#\\n"
            + "#  SIGSEGV (0xb) at pc=0x00007f, pid=%s, tid=7\\n' $$ >hs_err_pid$$.log; kill -ABRT $$";
    try (CliProcess cairn = start("run", "--", "sh", "-c", script)) {
      Cli.Result result = cairn.await();

      assertThat(result.exitCode()).isEqualTo(134);
      assertThat(result.err())
          .contains("the JVM crashed: SIGSEGV (0xb) at pc=0x00007f", "see " + temp + "/hs_err_pid")
          .hasLineCount(1);
    }
  }

  @Test
  void aCrashFileOfAProcessThatTheCommandStartedIsNamedButNoOlderOne() throws IOException {
    Path old = Files.writeString(temp.resolve("hs_err_pid1.log"), "#  SIGBUS (0x7)\n");
    Files.setLastModifiedTime(old, FileTime.fromMillis(1));
    String script = "printf '#  SIGSEGV (0xb) at pc=0\\n' >hs_err_pid999999.log; exit 1";
    try (CliProcess cairn = start("run", "--", "sh", "-c", script)) {
      assertThat(cairn.await().err())
          .contains("a JVM that it started crashed: SIGSEGV (0xb) at pc=0, see " + temp)
          .doesNotContain("SIGBUS", "more");
    }
  }

  @Test
  void theReportFileHoldsTheCommandItsStatusAndEveryRun() throws IOException {
    List<String> words = app("shop");
    words.addAll(1, List.of("--report", "death.json"));
    try (CliProcess cairn = start(words.toArray())) {
      String id = cairn.readLine();
      cairn.send("begin\tPOST /export\ttenant\tacme");
      cairn.readLine();
      CliProcess.signal(pid(id), "KILL");
      cairn.await();

      JsonNode json = Cli.Result.json(Files.readString(temp.resolve("death.json")));
      // It holds the command line, and what the application recorded.
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(temp.resolve("death.json"))))
          .isEqualTo("rw-------");
      assertThat(json.at("/status").intValue()).isEqualTo(137);
      assertThat(json.at("/signal").textValue()).isEqualTo("SIGKILL");
      assertThat(json.at("/command/0").textValue()).endsWith("java");
      assertThat(json.at("/oomKillsOnHost").isIntegralNumber()).isTrue();
      JsonNode run = json.at("/runs/0");
      assertThat(run.at("/id").textValue()).isEqualTo(id);
      assertThat(run.at("/isCommand").booleanValue()).isTrue();
      assertThat(run.at("/endedBadly").booleanValue()).isTrue();
      assertThat(run.at("/oldestOpenSpan/name").textValue()).isEqualTo("POST /export");
    }
  }

  @Test
  void aReportFileThatCannotBeWrittenCostsALineAndNotTheStatus() {
    Cli.Result result = cli.run("run", "--report", temp, "--", "/bin/sh", "-c", "exit 0");

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).startsWith("cairn: report cannot be written: file=" + temp);
  }

  @Test
  void whatACommandWasNamedIsShownEscaped() {
    Cli.Result result = cli.run("run", "--", "evil\u001b[2J\nname");

    assertThat(result.err()).contains("command=evil\\u{1b}[2J\\u{a}name,").hasLineCount(1);
  }

  @Test
  void noCommandIsWrongUsage() {
    assertThat(cli.run("run").exitCode()).isEqualTo(2);
    assertThat(cli.run("run", "--").err())
        .isEqualTo("cairn: missing argument: argument=CMD (see: cairn run --help)\n");
  }
}
