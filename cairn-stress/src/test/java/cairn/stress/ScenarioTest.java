package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Evidence;
import cairn.report.PressureSnapshot;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import cairn.report.Verdict;
import cairn.stress.Death.View;
import cairn.stress.DeathHarness.Dead;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/**
 * The stories of docs/VERDICTS.md, each with a real death on each Java that is installed: what a
 * report says beyond the cause.
 */
@Tag("slow")
@Timeout(120)
class ScenarioTest {
  private static final String[] BIG_HEAP = {"-Xmx1g"};

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  static Path directory;

  private static DeathHarness harness;

  @BeforeAll
  static void makeReady() throws Exception {
    harness = new DeathHarness(directory, System.out);
  }

  @AfterAll
  static void cleanUp() throws IOException {
    harness.close();
  }

  /**
   * {@return what such a death left, on each Java} Empty, and said aloud, if it can't be had here.
   */
  private static List<Dead> die(Death death) throws Exception {
    List<Jdk> jdks = harness.jdksFor(death);
    if (jdks.isEmpty()) {
      System.out.println("NOT RUN, " + death.needs + " is not to be had here: " + death);
      return List.of();
    }
    ExecutorService lanes = Executors.newFixedThreadPool(jdks.size());
    try {
      List<Future<Dead>> ends = new ArrayList<>();
      for (Jdk jdk : jdks) {
        ends.add(lanes.submit(() -> harness.die(death, jdk, System.nanoTime())));
      }
      List<Dead> dead = new ArrayList<>();
      for (Future<Dead> end : ends) {
        dead.add(end.get());
      }
      return dead;
    } finally {
      lanes.shutdown();
    }
  }

  private static List<Dead> die(String name) throws Exception {
    return die(DeathCatalogue.named(name));
  }

  private static void assertVerdict(Dead dead, View view, Cause cause, Confidence... confidences) {
    Verdict verdict = dead.verdicts().get(view);
    assertThat(verdict.cause()).as(dead.text()).isEqualTo(cause);
    assertThat(verdict.confidence()).as(dead.text()).isIn((Object[]) confidences);
  }

  private static void assertSure(Dead dead, View view, Cause cause) {
    assertVerdict(dead, view, cause, Confidence.CERTAIN, Confidence.LIKELY);
  }

  private static String headline(Dead dead, View view) {
    return dead.verdicts().get(view).headline();
  }

  private static String evidence(Dead dead, View view, Evidence.Kind kind) {
    StringBuilder text = new StringBuilder();
    for (Evidence evidence : dead.verdicts().get(view).evidence()) {
      if (evidence.kind() == kind) {
        text.append(evidence.text()).append('\n');
      }
    }
    return text.toString();
  }

  private static List<String> openSpans(Report report) {
    return report.openSpans().stream().map(UnfinishedSpan::name).toList();
  }

  private static List<String> crumbs(Report report) {
    return report.trail().stream().map(Breadcrumb::message).toList();
  }

  @Test
  void s1ARogueRequestThatTheKernelKilledTheJvmForIsNamed() throws Exception {
    Death death =
        Death.of("S1", Cause.OOM_KILLED)
            .limit(192)
            .way("heap 1 400 30")
            .options("-Xmx1g", "-D" + DeathVictim.THREADS_PROPERTY + "=20")
            .build();
    for (Dead dead : die(death)) {
      assertSure(dead, View.ALONE, Cause.OOM_KILLED);
      assertSure(dead, View.STATUS, Cause.OOM_KILLED);
      assertSure(dead, View.WATCHED, Cause.OOM_KILLED);
      assertThat(openSpans(dead.report())).as(dead.text()).contains(DeathVictim.CULPRIT);
      assertThat(openSpans(dead.report()).stream().filter(DeathVictim.REQUEST::equals)).hasSize(20);
      UnfinishedSpan culprit =
          dead.report().openSpans().stream()
              .filter(span -> span.name().equals(DeathVictim.CULPRIT))
              .findFirst()
              .orElseThrow();
      assertThat(culprit.attributes()).containsEntry("tenant", "acme");
      assertThat(culprit.thread()).isEqualTo("http-9");
      List<PressureSnapshot> pressure = dead.report().pressure();
      if (pressure.isEmpty()) {
        // 20 threads fill a heap that may grow to 1 GiB: at times within one look.
        System.out.println("NOT SEEN, no snapshot: memory was gone within a second");
        continue;
      }
      PressureSnapshot.Span greediest =
          pressure.get(pressure.size() - 1).spans().stream()
              .max(Comparator.comparingLong(PressureSnapshot.Span::allocatedBytes))
              .orElseThrow();
      if (greediest.allocatedBytes() < 0) {
        // Who allocates is known from the second look on, 100 ms after the first.
        System.out.println("NOT SEEN, no allocation: memory was gone 100 ms after the first look");
        continue;
      }
      assertThat(greediest.name()).as(pressure.toString()).isEqualTo(DeathVictim.CULPRIT);
    }
  }

  @Test
  void s2AKillUnderLoadListsAllThatWasOpenAndExcludesTheOomKiller() throws Exception {
    for (Dead dead : die("SIGKILL under load")) {
      assertThat(openSpans(dead.report()).stream().filter(DeathVictim.REQUEST::equals))
          .hasSize(DeathVictim.THREADS);
      assertThat(dead.report().trail()).isNotEmpty();
      for (View view : List.of(View.ALONE, View.STATUS, View.WATCHED)) {
        assertThat(dead.verdicts().get(view).cause()).as(dead.text()).isEqualTo(Cause.KILLED);
      }
      assertThat(evidence(dead, View.ALONE, Evidence.Kind.MISSING)).contains("exit status");
      assertThat(headline(dead, View.STATUS)).contains("SIGKILL").doesNotContain("halt");
      assertThat(dead.verdicts().get(View.ALONE).toString())
          .as("halt is excluded, since the JVM's counters are still there, or said")
          .contains("halt");
    }
  }

  @Test
  void s3AStopThatTookTooLongNamesTheHookThatHung() throws Exception {
    Death death =
        Death.of("S3", Cause.STOP_TIMEOUT)
            .way("hook-hangs")
            .act(
                v -> {
                  v.signal("TERM");
                  v.live(3_000);
                  v.kill();
                })
            .build();
    for (Dead dead : die(death)) {
      for (View view : List.of(View.ALONE, View.STATUS, View.WATCHED)) {
        assertThat(dead.verdicts().get(view).cause()).as(dead.text()).isEqualTo(Cause.STOP_TIMEOUT);
        assertThat(headline(dead, view)).contains("SIGTERM").contains("stuck-hook");
        assertThat(headline(dead, view)).containsPattern("[23]\\.\\d s after");
        assertThat(evidence(dead, view, Evidence.Kind.FOR)).contains("DeathVictim.hang");
      }
      assertSure(dead, View.STATUS, Cause.STOP_TIMEOUT);
    }
  }

  @Test
  void s4AnExitInALibraryNamesItsCallerThreadAndStatus() throws Exception {
    for (Dead dead : die("exit(7) in a library on a worker")) {
      assertVerdict(dead, View.ALONE, Cause.EXIT, Confidence.CERTAIN);
      assertThat(headline(dead, View.ALONE)).contains("Library.giveUp").contains("http-9");
      assertThat(evidence(dead, View.ALONE, Evidence.Kind.FOR)).contains("exportAndGiveUp");
      // JDK 21 and later tell it themselves, from 3 s on; the parent always.
      assertThat(headline(dead, View.STATUS)).contains("System.exit").containsPattern("\\b7\\b");
    }
  }

  @Test
  void s4AnExitOnAVirtualThreadNamesItsCallerAndStatus() throws Exception {
    for (Dead dead : die("exit(7) on a virtual thread of a JVM that is up for a while")) {
      assertVerdict(dead, View.ALONE, Cause.EXIT, Confidence.CERTAIN);
      assertThat(headline(dead, View.ALONE)).contains("System.exit(7)").contains("Library.giveUp");
    }
    for (Dead dead : die("exit(7) on a virtual thread")) {
      assertThat(dead.verdicts().get(View.ALONE).cause()).as(dead.text()).isEqualTo(Cause.EXIT);
      assertThat(headline(dead, View.STATUS)).contains("7");
    }
  }

  @Test
  void s5AHaltIsCertainWithItsStatusAndHonestlyAmbiguousWithout() throws Exception {
    for (Dead dead : die("halt(2)")) {
      assertVerdict(dead, View.STATUS, Cause.HALTED, Confidence.CERTAIN);
      assertThat(headline(dead, View.STATUS)).contains("2");
      assertThat(dead.verdicts().get(View.ALONE).cause()).isEqualTo(Cause.KILLED);
      assertThat(headline(dead, View.ALONE)).contains("SIGKILL or Runtime.halt");
      assertThat(evidence(dead, View.ALONE, Evidence.Kind.MISSING)).contains("exit status");
    }
  }

  @Test
  void s6ACrashIsJoinedWithTheRequestItHappenedIn() throws Exception {
    for (Dead dead : die("SIGSEGV in Unsafe")) {
      for (View view : List.of(View.ALONE, View.STATUS, View.WATCHED)) {
        assertSure(dead, view, Cause.NATIVE_CRASH);
        assertThat(headline(dead, view)).contains("SIGSEGV");
      }
      assertThat(openSpans(dead.report())).contains(DeathVictim.CULPRIT);
    }
    for (Dead dead : die("SIGSEGV from outside")) {
      assertSure(dead, View.ALONE, Cause.NATIVE_CRASH);
      assertThat(dead.verdicts().get(View.ALONE).toString()).contains("kill");
    }
  }

  @Test
  void s7AnUncaughtExceptionEndsTheApplicationInMainOnly() throws Exception {
    for (Dead dead : die("uncaught in main, daemon threads only")) {
      assertVerdict(dead, View.ALONE, Cause.UNCAUGHT, Confidence.CERTAIN);
      assertThat(headline(dead, View.ALONE)).contains("no such order: 17");
    }
    for (Dead dead : die("alive after an uncaught exception in a worker")) {
      assertVerdict(dead, View.ALONE, Cause.RUNNING, Confidence.CERTAIN);
    }
  }

  @Test
  void s8AnOutOfMemoryErrorThatAHandlerSwallowedIsShownAndNotBlamed() throws Exception {
    for (Dead dead : die("OutOfMemoryError swallowed by a handler, SIGKILL after")) {
      assertThat(dead.verdicts().get(View.STATUS).cause()).as(dead.text()).isEqualTo(Cause.KILLED);
      assertThat(crumbs(dead.report()))
          .anyMatch(message -> message.contains("java.lang.OutOfMemoryError"));
      assertThat(dead.verdicts().get(View.ALONE).toString()).contains("OutOfMemoryError");
    }
    for (Dead dead : die("OutOfMemoryError swallowed by a handler, SIGTERM after")) {
      assertVerdict(dead, View.ALONE, Cause.SIGNAL_TERM, Confidence.CERTAIN);
    }
  }

  @Test
  void s10AnErrorThatAnAsynchronousLoggerLostIsInTheTrail() throws Exception {
    Death death = Death.of("S10", Cause.HALTED).way("log-and-halt 1 app.log").build();
    for (Dead dead : die(death)) {
      Path log = dead.home().resolve("app.log");
      assertThat(Files.readString(log)).contains("first").doesNotContain(DeathVictim.LAST_WORDS);
      assertThat(crumbs(dead.report())).contains(DeathVictim.LAST_WORDS);
    }
  }

  @Test
  void s11AKilledBatchJobSaysWhereItWas() throws Exception {
    Death death =
        Death.of("S11", Cause.KILLED)
            .way("batch")
            .act(
                v -> {
                  v.go();
                  v.await("working");
                  v.kill();
                })
            .build();
    for (Dead dead : die(death)) {
      List<UnfinishedSpan> open =
          dead.report().openSpans().stream().filter(span -> span.thread().equals("main")).toList();
      assertThat(open.stream().map(UnfinishedSpan::name))
          .containsExactly("job nightly", "step load", "chunk");
      assertThat(open.get(0).attributes()).containsEntry("date", "2026-11-30");
      assertThat(open.get(2).attributes()).containsEntry("number", 17L);
      try (Recorder next =
          Recorder.builder(DeathVictim.APP).directory(dead.home().resolve("root")).open()) {
        Report last = next.lastRun().orElseThrow();
        assertThat(last.run().id()).isEqualTo(dead.run().id());
        assertThat(openSpans(last)).contains("job nightly", "step load", "chunk");
      }
    }
  }

  @Test
  void s16ATerminationMessageEndsWithWhatWasInFlightWhenTheKernelKilledIt() throws Exception {
    Death death =
        Death.of("S16", Cause.OOM_KILLED)
            .limit(128)
            .way("heap 2 400 60")
            .options("-Xmx1g", "-Dcairn.termination.message=%h/termination-log")
            .build();
    for (Dead dead : die(death)) {
      Path file = dead.home().resolve("termination-log");
      assertThat(file).exists();
      assertThat(Files.size(file)).isBetween(1L, 4096L);
      List<String> lines = Files.readAllLines(file);
      assertThat(lines.get(lines.size() - 1))
          .as(String.join("\n", lines))
          .contains("in flight")
          .contains(DeathVictim.REQUEST);
      assertThat(String.join("\n", lines)).contains(DeathVictim.CULPRIT).doesNotContain("acme");
    }
  }

  @Test
  void s12TwoLivesOfPidOneOnOneVolumeAreNotConfused() throws Exception {
    String name = "pid 1 is killed, after an earlier pid 1 on the same volume crashed";
    for (Dead dead : die(name)) {
      List<Run> runs = new ArrayList<>(Runs.under(dead.home().resolve("root")).list());
      assertThat(runs).hasSize(2);
      runs.removeIf(run -> run.id().equals(dead.run().id()));
      Report first = runs.get(0).report();
      Report second = dead.report();
      assertThat(first.run().pid()).isEqualTo(second.run().pid());
      assertThat(first.verdict().cause()).isEqualTo(Cause.NATIVE_CRASH);
      assertThat(second.verdict().cause()).as(dead.text()).isEqualTo(Cause.KILLED);
      assertThat(crumbs(first)).contains("export begins");
      assertThat(crumbs(second)).doesNotContain("export begins");
      assertThat(openSpans(second)).doesNotContain(DeathVictim.CULPRIT);
    }
    for (Dead dead : die("SIGKILL of pid 1, seen from the next container")) {
      assertThat(dead.verdicts().get(View.ALONE).cause()).as(dead.text()).isEqualTo(Cause.KILLED);
    }
  }

  @Test
  void s13ARebootIsToldFromAVolumeThatMoved() throws Exception {
    for (Dead dead : die("the machine goes down")) {
      assertSure(dead, View.ALONE, Cause.HOST_DOWN);
    }
    for (Dead dead : die("the volume moves to another machine of the same name")) {
      assertVerdict(dead, View.ALONE, Cause.UNKNOWN, Confidence.UNKNOWN);
    }
    for (Dead dead : die("the volume moves to another machine")) {
      assertThat(dead.verdicts().get(View.ALONE).cause())
          .as(dead.text())
          .isIn(Cause.UNKNOWN, Cause.RUNNING);
    }
  }

  @Test
  void s18AnInnocentJvmBesideOneThatIsOomKilledIsNotSaidToBe() throws Exception {
    Death guilty = DeathCatalogue.named("OOM kill, one big array");
    for (Jdk jdk : harness.jdksFor(guilty)) {
      AtomicReference<Dead> other = new AtomicReference<>();
      Death innocent =
          Death.of("S18", Cause.KILLED)
              .limit(256)
              .options(BIG_HEAP)
              .act(
                  v -> {
                    other.set(harness.die(guilty, jdk, 1));
                    v.kill();
                  })
              .build();
      Dead dead = harness.die(innocent, jdk, 1);
      assertSure(other.get(), View.ALONE, Cause.OOM_KILLED);
      for (View view : List.of(View.ALONE, View.STATUS, View.WATCHED)) {
        assertSure(dead, view, Cause.KILLED);
        assertThat(evidence(dead, view, Evidence.Kind.AGAINST)).contains("OOM killer is excluded");
      }
      assertThat(dead.verdicts().get(View.LATER).cause()).isEqualTo(Cause.KILLED);
    }
  }
}
