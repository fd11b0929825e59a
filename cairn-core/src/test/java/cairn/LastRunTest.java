package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a new process learns of the one before it. */
class LastRunTest {
  private static final int STARTERS = 8;

  @TempDir Path root;

  private Recorder open() {
    return Recorder.builder("job").directory(root).open();
  }

  private void die(String how) throws IOException {
    ChildJvm.run(Job.class, root.toString(), how);
  }

  @Test
  void openSpansOfTheRunBeforeAreThereForQueueingThemAgain() throws IOException {
    die("halt");
    try (Recorder recorder = open()) {
      Report report = recorder.lastRun().orElseThrow();
      assertThat(report.verdict().cause()).isEqualTo(Cause.KILLED);
      assertThat(report.openSpans().get(0).name()).isEqualTo("import invoices");
      assertThat(report.openSpans().get(0).attributes()).containsEntry("job.id", 42L);
      assertThat(recorder.lastRun()).containsSame(report);
    }
  }

  @Test
  void firstRunHasNone() {
    try (Recorder recorder = open()) {
      assertThat(recorder.lastRun()).isEmpty();
    }
    assertThat(Recorder.builder("job").directory(Path.of("/dev/null/x")).open().lastRun())
        .isEmpty();
  }

  @Test
  void runOfAnotherApplicationIsNotTheirs() throws IOException {
    die("halt");
    try (Recorder recorder = Recorder.builder("other").directory(root).open()) {
      assertThat(recorder.lastRun()).isEmpty();
    }
  }

  @Test
  void secondProcessBesideALivingOneGetsNothingOfHistory() throws IOException {
    die("halt"); // adopted by nobody: its successor did not ask
    die("ask and halt");
    try (Recorder first = open();
        Recorder second = open();
        Recorder third = open()) {
      String last = first.lastRun().orElseThrow().run().id();
      assertThat(last).isEqualTo(Runs.under(root).list().get(3).id());
      // The run of "halt" was adopted by "ask and halt", which is dead.
      assertThat(second.lastRun()).isEmpty();
      assertThat(third.lastRun()).isEmpty();
    }
  }

  @Test
  void unreadableBoxIsPassedOver() throws IOException {
    die("halt");
    Run run = Runs.under(root).list().get(0);
    java.nio.file.Files.write(run.directory().resolve("box"), new byte[10]);
    die("halt");
    try (Recorder recorder = open();
        Recorder second = open()) {
      assertThat(recorder.lastRun()).isPresent();
      assertThat(second.lastRun()).isEmpty();
    }
  }

  @Test
  void deadRunIsGivenToExactlyOneOfEightThatStartAtOnce() throws Exception {
    die("halt");
    String dead = Runs.under(root).list().get(0).id();
    List<String> answers = askAtOnce();
    assertThat(answers).hasSize(STARTERS);
    assertThat(answers.stream().filter(dead::equals)).hasSize(1);
    assertThat(answers.stream().filter("none"::equals)).hasSize(STARTERS - 1);
  }

  @Test
  void eightDeadWorkersAreGivenToEightNewOnes() throws Exception {
    Set<String> dead = new HashSet<>();
    List<Process> workers = new ArrayList<>();
    for (int i = 0; i < STARTERS; i++) {
      workers.add(ChildJvm.start(List.of(), Job.class, root.toString(), "wait"));
    }
    for (Process worker : workers) {
      assertThat(line(worker)).isEqualTo("ready");
    }
    for (Process worker : workers) {
      worker.destroyForcibly();
      assertThat(worker.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
    Runs.under(root).forEach(run -> dead.add(run.id()));
    assertThat(new HashSet<>(askAtOnce())).isEqualTo(dead);
  }

  /** Starts all, has all ask at the same time, and ends them when all have answered. */
  private List<String> askAtOnce() throws Exception {
    List<Process> starters = new ArrayList<>();
    List<String> answers = new ArrayList<>();
    try {
      for (int i = 0; i < STARTERS; i++) {
        starters.add(ChildJvm.start(List.of(), Job.class, root.toString(), "ask"));
      }
      for (Process starter : starters) {
        assertThat(line(starter)).isEqualTo("ready");
      }
      for (Process starter : starters) {
        starter.getOutputStream().write('\n');
        starter.getOutputStream().flush();
      }
      for (Process starter : starters) {
        answers.add(line(starter));
      }
    } finally {
      starters.forEach(Process::destroyForcibly);
    }
    for (Process starter : starters) {
      assertThat(starter.waitFor(30, TimeUnit.SECONDS)).isTrue();
    }
    return answers;
  }

  @SuppressWarnings("resource") // of the process, which is ended
  private static String line(Process process) throws IOException {
    StringBuilder line = new StringBuilder();
    int c;
    while ((c = process.getInputStream().read()) >= 0 && c != '\n') {
      line.append((char) c);
    }
    return line.toString();
  }

  @Test
  void oneLineInTheLogSaysHowTheLastRunEndedIfItEndedBadly() throws Exception {
    die("halt");
    assertThat(firstWarning())
        .contains("the last run ended badly, ", " s ago: Killed", "import invoices");
    die("return");
    assertThat(firstWarning()).isEmpty();
  }

  @Test
  void heapWithoutRoomIsNotFilledForTheSakeOfALine() throws Exception {
    die("halt");
    String output =
        ChildJvm.run(
            List.of("-XX:+UseSerialGC", "-Xmx64m", "-XX:+ExitOnOutOfMemoryError"),
            Job.class,
            root.toString(),
            "stay full");
    assertThat(output)
        .contains("the last run ended badly, ", ": there is no end marker")
        .contains("exit=0");
  }

  @Test
  void reportOfTheLastRunIsNotHeldUnlessSomebodyAsksForIt() throws Exception {
    die("halt");
    String output = ChildJvm.run(Job.class, root.toString(), "count");
    assertThat(output).contains("crumbs=0");
  }

  /** What the log says in the first seconds of a process. */
  private String firstWarning() throws Exception {
    String output = ChildJvm.run(Job.class, root.toString(), "stay");
    return output.lines().filter(text -> text.contains("last run")).findFirst().orElse("");
  }

  /** Lives and dies as it is told. */
  static final class Job {
    public static void main(String[] args) throws Exception {
      Recorder recorder = Recorder.builder("job").directory(Path.of(args[0])).open();
      recorder.begin("import invoices").set("job.id", 42L);
      switch (args[1]) {
        case "halt" -> Runtime.getRuntime().halt(2);
        case "ask and halt" -> {
          recorder.lastRun();
          Runtime.getRuntime().halt(2);
        }
        case "wait" -> {
          System.out.println("ready");
          await(60_000);
        }
        case "ask" -> {
          System.out.println("ready");
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
          Optional<Report> last = recorder.lastRun();
          System.out.println(last.map(report -> report.run().id()).orElse("none"));
          await(60_000);
        }
        case "stay" -> await(4_000);
        case "stay full" -> {
          List<byte[]> kept = new ArrayList<>();
          Runtime runtime = Runtime.getRuntime();
          while (runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory() > 8 << 20) {
            kept.add(new byte[256 << 10]);
          }
          await(4_000);
          System.out.println("kept=" + kept.size());
        }
        case "count" -> {
          await(4_500);
          System.out.println("crumbs=" + instances("cairn.report.Report"));
        }
        default -> {}
      }
    }

    /** Counts live objects of a class, as {@code jcmd GC.class_histogram} does. */
    private static long instances(String type) throws Exception {
      String histogram =
          (String)
              ManagementFactory.getPlatformMBeanServer()
                  .invoke(
                      new ObjectName("com.sun.management:type=DiagnosticCommand"),
                      "gcClassHistogram",
                      new Object[] {new String[0]},
                      new String[] {String[].class.getName()});
      return histogram.lines().filter(line -> line.strip().endsWith(" " + type)).count();
    }

    private static void await(long millis) throws InterruptedException {
      if (new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS)) {
        throw new AssertionError();
      }
    }
  }
}
