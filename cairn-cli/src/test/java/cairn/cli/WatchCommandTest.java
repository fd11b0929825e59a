package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code cairn watch} in this JVM, on real runs; what happens between two looks is a list of steps.
 */
class WatchCommandTest {
  @TempDir static Path original;
  private static DeadRuns deadRuns;
  @TempDir Path temp;
  private Path root;
  private Cli cli;
  private final Deque<Cli.Step> steps = new ArrayDeque<>();

  @BeforeEach
  void setUp() {
    root = temp.resolve("root");
    cli = new Cli(temp);
    cli.pause =
        () -> {
          Cli.Step next = steps.poll();
          if (next == null) {
            throw new InterruptedException("no more steps");
          }
          next.run();
        };
  }

  private Cli.Result watch(Object... more) {
    Object[] words = new Object[more.length + 2];
    words[0] = "watch";
    words[1] = root;
    System.arraycopy(more, 0, words, 2, more.length);
    Cli.Result result = cli.run(words);
    Thread.interrupted(); // the last step interrupted this thread, as the command left it
    return result;
  }

  @BeforeAll
  static void record() {
    deadRuns = new DeadRuns(original);
  }

  private DeadRuns.Dead killed(String app) {
    return deadRuns.addTo(root, app);
  }

  private static Path stored(ChildRun run) {
    return run.directory.resolveSibling("reports").resolve(run.id + ".json");
  }

  @Test
  void aDeathIsALineWithTimeIdAndHeadlineOnceAndItsReportIsStored() throws IOException {
    DeadRuns.Dead run = killed("shop");

    Cli.Result first = watch("--once");
    Cli.Result second = watch("--once");

    assertThat(first.exitCode()).isZero();
    assertThat(first.err()).isEmpty();
    assertThat(first.out())
        .matches("20\\S+Z " + run.id() + " shop \\(pid " + deadRuns.pid() + "\\): Killed \\(.*\n")
        .contains("1 operation in flight", "POST /export {tenant=acme}")
        .hasLineCount(1);
    assertThat(run.directory().resolve("death-watch")).isRegularFile();
    JsonNode report = Cli.Result.json(Files.readString(run.storedReport()));
    assertThat(report.at("/verdict/cause").textValue()).isEqualTo("KILLED");
    assertThat(second).isEqualTo(new Cli.Result(0, "", ""));
  }

  @Test
  void asJsonALineHasWhatAConsumerNeedsAndWhereTheReportIs() {
    DeadRuns.Dead run = killed("shop");

    JsonNode line = watch("--once", "--json").json();

    assertThat(line.at("/id").textValue()).isEqualTo(run.id());
    assertThat(line.at("/app").textValue()).isEqualTo("shop");
    assertThat(line.at("/pid").longValue()).isEqualTo(deadRuns.pid());
    assertThat(line.at("/cause").textValue()).isEqualTo("KILLED");
    // Possible where the kernel's OOM killer was at work on this machine meanwhile.
    assertThat(line.at("/confidence").textValue()).isIn("likely", "possible");
    assertThat(line.at("/openSpans").intValue()).isEqualTo(1);
    assertThat(line.at("/oldestOpenSpan/name").textValue()).isEqualTo("POST /export");
    assertThat(line.at("/report").textValue()).isEqualTo(run.storedReport().toString());
    assertThat(line.has("ageMillis")).isFalse();
  }

  @Test
  void aCleanEndIsALineToo() {
    ChildRun.start(root, "batch").ends("return");

    assertThat(watch("--once").out()).contains(": Ended cleanly").hasLineCount(1);
  }

  @Test
  void aDirectoryThatIsNotThereFailsALookThatIsNotRepeated() {
    Cli.Result result = cli.run("watch", "--once", root.resolve("typo"));

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).contains("directory is not readable");
  }

  @Test
  void aDeathWhileItWatchesIsDeliveredAtTheNextLook() {
    ChildRun run = ChildRun.start(root, "shop");
    ByteArrayOutputStream before = new ByteArrayOutputStream();
    steps.add(() -> before.write(stored(run).toFile().exists() ? 1 : 0));
    steps.add(run::kill);
    steps.add(() -> before.write(stored(run).toFile().exists() ? 1 : 0));

    Cli.Result result = watch();

    assertThat(result.out()).contains(run.id).doesNotContain("ago)").hasLineCount(1);
    assertThat(before.toByteArray()).containsExactly(0, 1);
  }

  @Test
  void aRunThatBeginsAndDiesBetweenTwoLooksIsDelivered() {
    DeadRuns.Dead first = killed("shop");
    DeadRuns.Dead[] second = new DeadRuns.Dead[1];
    steps.add(() -> second[0] = killed("other"));

    assertThat(watch().out()).contains(first.id(), second[0].id()).hasLineCount(2);
  }

  @Test
  void aLivingAndASuspendedRunAreNotReportedAndASuspendedOneThatGoesOnIsNotEither() {
    try (ChildRun living = ChildRun.start(root, "living");
        ChildRun suspended = ChildRun.start(root, "suspended")) {
      CliProcess.signal(suspended.pid(), "STOP");
      // Long after the last sign of life that it can have given.
      StepClock clock = new StepClock(Instant.now());
      cli.clock = clock;
      steps.add(() -> clock.step(Duration.ofHours(1)));
      steps.add(() -> CliProcess.signal(suspended.pid(), "CONT"));
      steps.add(() -> suspended.does("crumb", "INFO", "a", "b"));

      assertThat(watch()).isEqualTo(new Cli.Result(0, "", ""));
      assertThat(living.directory.resolve("death-watch")).doesNotExist();
    }
  }

  @Test
  void aDeathFromBeforeItStartedSaysHowOldItIs() {
    killed("shop");
    StepClock clock = new StepClock(Instant.now());
    clock.step(Duration.ofDays(3).plusHours(4));
    cli.clock = clock;

    assertThat(watch("--once").out()).contains(" (died 3 d 4 h ago)\n").hasLineCount(1);
    assertThat(watch("--once").out()).isEmpty();
  }

  @Test
  void runsOfAnotherMachineAreLeftAloneAndThatIsSaidOnce() throws IOException {
    List<DeadRuns.Dead> foreign = List.of(killed("shop"), killed("shop"));
    DeadRuns.Dead own = killed("own");
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Session session = new Session(new ByteArrayOutputStream(), err, cli.surroundings());
    List<String> delivered = new ArrayList<>();
    List<String> told = new ArrayList<>();
    Watcher watcher =
        new Watcher(
            session,
            root,
            run -> run.app().equals("shop"),
            (run, report, age) -> delivered.add(run.id()),
            run -> told.add(run.id()));

    while (watcher.look()) {}
    watcher.look();

    assertThat(delivered).containsExactly(own.id());
    assertThat(told).containsExactly(own.id());
    assertThat(err.toString(StandardCharsets.UTF_8))
        .startsWith("cairn: runs of another machine are left alone: dir=" + root + ", host=")
        .hasLineCount(1);
    for (DeadRuns.Dead run : foreign) {
      assertThat(run.storedReport()).doesNotExist();
      assertThat(run.directory().resolve("death-watch")).doesNotExist();
    }
  }

  @Test
  void aDirectoryThatIsNotThereYetIsWaitedForAndSaidOnce() {
    DeadRuns.Dead[] run = new DeadRuns.Dead[1];
    steps.add(() -> {});
    steps.add(() -> run[0] = killed("shop"));

    Cli.Result result = watch();

    assertThat(result.err())
        .startsWith("cairn: directory is not readable, waiting for it: dir=" + root)
        .hasLineCount(1);
    assertThat(result.out()).contains(run[0].id()).hasLineCount(1);
  }

  @Test
  void aDirectoryThatVanishesSaysNothingOfItsRunsAndWhatDiedMeanwhileIsDeliveredWhenItIsBack()
      throws IOException {
    Path away = temp.resolve("away");
    try (ChildRun living = ChildRun.start(root, "living");
        ChildRun dies = ChildRun.start(root, "dies")) {
      steps.add(() -> move(root, away));
      steps.add(() -> {});
      steps.add(dies::kill);
      steps.add(() -> move(away, root));
      steps.add(() -> {});

      Cli.Result result = watch();

      assertThat(result.out()).contains(dies.id).hasLineCount(1);
      assertThat(living.directory.resolve("death-watch")).doesNotExist();
      assertThat(result.err()).contains("waiting for it").hasLineCount(1);
    }
  }

  private static void move(Path from, Path to) {
    try {
      Files.move(from, to);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void aRunThatIsDeletedIsNotReported() {
    ChildRun run = ChildRun.start(root, "shop");
    steps.add(
        () -> {
          move(run.directory, temp.resolve("trash"));
          run.kill();
        });
    steps.add(() -> {});

    assertThat(watch()).isEqualTo(new Cli.Result(0, "", ""));
  }

  @Test
  void aRunThatCannotBeReadIsOneWarningAndHidesNoOther() throws IOException {
    DeadRuns.Dead unreadable = killed("shop");
    Files.write(unreadable.directory().resolve("box"), new byte[0]);
    DeadRuns.Dead readable = killed("shop");
    steps.add(() -> {});
    steps.add(() -> {});

    Cli.Result result = watch();

    assertThat(result.out()).contains(readable.id()).hasLineCount(1);
    assertThat(result.err())
        .startsWith("cairn: run is not readable: run=shop/" + unreadable.id())
        .hasLineCount(1);
  }

  @Test
  void whereNoReportCanBeStoredADeathIsToldOnceAndTheReasonToo() throws IOException {
    DeadRuns.Dead run = killed("shop");
    DeadRuns.Dead other = killed("shop");
    Files.createFile(run.directory().resolveSibling("reports"));
    steps.add(() -> {});

    Cli.Result result = watch();

    assertThat(result.out()).contains(run.id(), other.id()).hasLineCount(2);
    assertThat(result.err())
        .startsWith("cairn: reports cannot be stored: dir=" + root)
        .hasLineCount(1);
  }

  @Test
  void aDeathThatNobodyReadIsNotDelivered() {
    DeadRuns.Dead run = killed("shop");
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int exitCode = Main.run(new String[] {"watch", root.toString()}, full, err, cli.surroundings());

    assertThat(exitCode).isEqualTo(3);
    assertThat(err.toString(StandardCharsets.UTF_8)).startsWith("cairn: output failed");
    assertThat(run.storedReport()).doesNotExist();
    assertThat(watch("--once").out()).contains(run.id());
  }

  @Test
  void theExitStatusThatALauncherIsAboutToWriteIsWaitedForAShortTime() {
    try (CliProcess launcher =
        CliProcess.start(
            temp,
            Map.of(),
            Stream.concat(
                    Stream.of("run", "--"),
                    CliProcess.java(RecordedApp.class.getName(), root.toString(), "shop").stream())
                .toArray())) {
      String id = launcher.readLine();
      Path directory = root.resolve("shop").resolve(id);
      Path report = directory.resolveSibling("reports").resolve(id + ".json");
      StepClock clock = new StepClock(Instant.now());
      cli.clock = clock;
      StringBuilder seen = new StringBuilder();
      steps.add(
          () -> {
            launcher.process.destroyForcibly().onExit().join();
            long pid = Long.parseLong(id.split("-")[3]);
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            ProcessHandle.of(pid).ifPresent(process -> process.onExit().join());
          });
      steps.add(() -> seen.append(Files.exists(report)).append(' '));
      steps.add(() -> clock.step(Duration.ofSeconds(2)));
      steps.add(() -> seen.append(Files.exists(report)));

      assertThat(watch().out()).contains(id).hasLineCount(1);
      assertThat(seen).hasToString("false true");
    }
  }

  @Test
  void ofHundredsOfDeliveredRunsNoneIsReadAgain() throws IOException {
    DeadRuns.Dead run = killed("shop");
    watch("--once");
    Path reports = run.directory().resolveSibling("reports");
    for (int i = 0; i < 200; i++) {
      // Without a box: reading it would be an error on stderr.
      String id = run.id().substring(0, run.id().length() - 4) + (9_000 + i);
      Files.createDirectory(run.directory().resolveSibling(id));
      Files.createFile(reports.resolve(id + ".json"));
    }
    steps.add(() -> {});

    assertThat(watch()).isEqualTo(new Cli.Result(0, "", ""));
  }

  @Test
  void severalDirectoriesAreWatchedAtOnceEachOnce() {
    DeadRuns.Dead one = killed("shop");
    Path second = temp.resolve("second");
    DeadRuns.Dead two = deadRuns.addTo(second, "shop");

    assertThat(watch(second, root, "--once").out()).contains(one.id(), two.id()).hasLineCount(2);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT"})
  void aSignalEndsItInOrder(String signal) {
    DeadRuns.Dead run = killed("shop");
    try (CliProcess watcher = CliProcess.start(temp, Map.of(), "watch", root)) {
      assertThat(watcher.readLine()).contains(run.id());
      watcher.signal(signal);

      assertThat(watcher.await()).isEqualTo(new Cli.Result(0, "", ""));
    }
  }
}
