package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.BoxLayout;
import cairn.format.VitalsLayout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class VerdictTest {
  private static final long GIB = 1L << 30;
  private static final Path CRASH_FILE = Path.of("/srv/orders/hs_err_pid4711.log");

  private final FakeHost host = new FakeHost();

  private static Instant at(long millis) {
    return Instant.ofEpochMilli(BoxBuilder.START_WALL + millis);
  }

  private Verdict verdict(BoxBuilder box, Liveness liveness) throws IOException {
    return new Judge(new Salvage(box.bytes(), "box", false), liveness, host).verdict();
  }

  private Verdict verdict(BoxBuilder box) throws IOException {
    return verdict(box, Liveness.DEAD);
  }

  private static List<String> texts(Verdict verdict, Evidence.Kind kind) {
    return verdict.evidence().stream()
        .filter(evidence -> evidence.kind() == kind)
        .map(Evidence::text)
        .toList();
  }

  private static void assertVerdict(Verdict verdict, Cause cause, Confidence confidence) {
    assertThat(verdict.cause()).as(verdict.headline() + verdict.evidence()).isEqualTo(cause);
    assertThat(verdict.confidence()).as(verdict.evidence().toString()).isEqualTo(confidence);
    assertSaysHowSureItIs(verdict);
  }

  /** A headline is read alone: what is not certain must not sound so. */
  static void assertSaysHowSureItIs(Verdict verdict) {
    boolean unsure =
        verdict.confidence() == Confidence.LIKELY || verdict.confidence() == Confidence.POSSIBLE;
    assertThat(verdict.headline().matches("(?s).*(likely|possibl[ey]).*")).isEqualTo(unsure);
  }

  private static BoxBuilder dead() {
    return BoxBuilder.box().beat(60_000);
  }

  // Running

  @Test
  void aHeldLockIsRunning() throws IOException {
    host.now = at(60_400);
    Verdict verdict = verdict(dead(), Liveness.ALIVE);
    assertVerdict(verdict, Cause.RUNNING, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .isEqualTo(
            "Running since 14:00:00.000 UTC, pid 4711; last sign of life 400 ms ago;"
                + " nothing was in flight");
  }

  @Test
  void aHeldLockIsRunningWhateverTheBoxSays() throws IOException {
    BoxBuilder box = dead().end("CLOSING", "SIGNAL", 59_000, "signal", "SIGTERM");
    Verdict verdict = verdict(box, Liveness.ALIVE);
    assertVerdict(verdict, Cause.RUNNING, Confidence.CERTAIN);
    assertThat(verdict.headline()).contains("shutting down after SIGTERM");
  }

  @Test
  void withoutALockAYoungSignOfLifeIsLikelyRunning() throws IOException {
    host.now = at(64_900);
    assertVerdict(verdict(dead(), Liveness.UNKNOWN), Cause.RUNNING, Confidence.LIKELY);
    host.now = at(65_100);
    assertVerdict(verdict(dead(), Liveness.UNKNOWN), Cause.KILLED, Confidence.POSSIBLE);
  }

  @Test
  void aFreeLockSeenFromAnotherMachineProvesNothing() throws IOException {
    host.bootId = "other";
    host.hostName = "web-2";
    host.now = at(61_000);
    assertVerdict(verdict(dead()), Cause.RUNNING, Confidence.LIKELY);
    host.now = at(600_000);
    assertVerdict(verdict(dead()), Cause.UNKNOWN, Confidence.UNKNOWN);
  }

  // End markers

  @Test
  void aClosedRecorderIsReturned() throws IOException {
    Verdict verdict = verdict(dead().identity("hooksFile", true).end("CLEAN", "CLOSED", 60_100));
    assertVerdict(verdict, Cause.RETURNED, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .isEqualTo("Ended cleanly at 14:01:00.100 UTC: the application closed its recorder");
  }

  @Test
  void aReturnedMainIsReturned() throws IOException {
    Verdict verdict = verdict(dead().end("CLEAN", "RETURNED", 60_100));
    assertVerdict(verdict, Cause.RETURNED, Confidence.LIKELY);
    assertThat(verdict.headline())
        .isEqualTo(
            "Ended, likely cleanly, at 14:01:00.100 UTC: main and all other threads but daemons had ended");
  }

  @Test
  void anExitNamesItsCallerAndThread() throws IOException {
    BoxBuilder box =
        dead()
            .span(0, BoxBuilder.begin("POST /orders", 1, 59_000, "http-1"))
            .end(
                "CLEAN",
                "EXIT",
                60_100,
                "thread",
                "worker-3",
                "caller",
                List.of(
                    "java.base/java.lang.Runtime.exit(Runtime.java:115)",
                    "java.base/java.lang.System.exit(System.java:1860)",
                    "com.acme.Lib.giveUp(Lib.java:42)",
                    "com.acme.Main.main(Main.java:7)"));
    Verdict verdict = verdict(box);
    assertVerdict(verdict, Cause.EXIT, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .isEqualTo(
            "System.exit was called at 14:01:00.100 UTC by com.acme.Lib.giveUp(Lib.java:42) on"
                + " thread worker-3; 1 operation still in flight, for 1.0 s: POST /orders");
    assertThat(texts(verdict, Evidence.Kind.FOR))
        .contains("called from com.acme.Lib.giveUp(Lib.java:42) < com.acme.Main.main(Main.java:7)");
  }

  @Test
  void aSignalIsNamed() throws IOException {
    Verdict verdict = verdict(dead().end("CLEAN", "SIGNAL", 60_100, "signal", "SIGHUP"));
    assertVerdict(verdict, Cause.SIGNAL_TERM, Confidence.CERTAIN);
    assertThat(verdict.headline()).isEqualTo("Stopped by SIGHUP at 14:01:00.100 UTC");
  }

  @Test
  void aShutdownOfUnknownOriginIsPossiblyAnExit() throws IOException {
    assertVerdict(verdict(dead().end("CLEAN", "UNKNOWN", 60_100)), Cause.EXIT, Confidence.POSSIBLE);
  }

  @Test
  void anUncaughtExceptionBeforeTheReturnEndedTheRun() throws IOException {
    BoxBuilder box =
        dead()
            .uncaught(60_000, "main", "java.lang.IllegalStateException", "no orders")
            .end("CLEAN", "RETURNED", 60_100);
    Verdict verdict = verdict(box);
    assertVerdict(verdict, Cause.UNCAUGHT, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .isEqualTo(
            "Ended by an uncaught exception at 14:01:00.100 UTC:"
                + " java.lang.IllegalStateException: no orders on thread main");
  }

  @Test
  void anUncaughtExceptionOfMainEndedTheRunHoweverLongOthersWorkedOn() throws IOException {
    BoxBuilder box =
        dead()
            .uncaught(20_000, "main", "java.lang.IllegalStateException", "no orders")
            .end("CLEAN", "RETURNED", 60_100);
    assertVerdict(verdict(box), Cause.UNCAUGHT, Confidence.CERTAIN);
  }

  @Test
  void anUncaughtExceptionOfAnotherThreadDidNotEndTheRun() throws IOException {
    BoxBuilder box =
        dead()
            .uncaught(60_000, "worker", "java.lang.IllegalStateException", "no orders")
            .end("CLEAN", "RETURNED", 60_100);
    assertVerdict(verdict(box), Cause.RETURNED, Confidence.LIKELY);
  }

  @Test
  void aReturnIsOnlyPossibleIfExceptionsWereNotSeen() throws IOException {
    Verdict verdict = verdict(dead().end("CLEAN", "RETURNED", 60_100, "handler", "replaced"));
    assertVerdict(verdict, Cause.RETURNED, Confidence.POSSIBLE);
    assertThat(verdict.headline()).startsWith("Ended, possible cleanly,");
    assertThat(texts(verdict, Evidence.Kind.MISSING)).hasSize(1);
  }

  @Test
  void aRunWhoseProcessLivesIsRunningAlsoIfItLostItsLock() throws IOException {
    host.aliveProcess = 4711;
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.RUNNING, Confidence.CERTAIN);
    assertThat(texts(verdict, Evidence.Kind.AGAINST)).hasSize(1);

    assertVerdict(
        verdict(dead().end("CLEAN", "CLOSED", 60_100)), Cause.RETURNED, Confidence.LIKELY);
  }

  @Test
  void anUncaughtExceptionLongBeforeTheReturnDidNotEndTheRun() throws IOException {
    Verdict verdict =
        verdict(
            dead()
                .uncaught(50_000, "worker", "java.lang.IllegalStateException", "no orders")
                .end("CLEAN", "RETURNED", 60_100));
    assertVerdict(verdict, Cause.RETURNED, Confidence.LIKELY);
    assertThat(texts(verdict, Evidence.Kind.AGAINST))
        .containsExactly(
            "an uncaught exception at 14:00:50.000 UTC did not end the process:"
                + " java.lang.IllegalStateException: no orders on thread worker");
  }

  @Test
  void anExitByTheHandlerOfAnUncaughtExceptionIsUncaught() throws IOException {
    BoxBuilder box =
        dead()
            .uncaught(60_000, "worker", "java.lang.IllegalStateException", "no")
            .end("CLEAN", "EXIT", 60_100, "thread", "worker");
    assertVerdict(verdict(box), Cause.UNCAUGHT, Confidence.LIKELY);
    box.end("CLEAN", "EXIT", 60_100, "thread", "admin");
    assertVerdict(verdict(box), Cause.EXIT, Confidence.CERTAIN);
  }

  @Test
  void beatsLongAfterTheEndMarkerAreSaid() throws IOException {
    Verdict verdict =
        verdict(BoxBuilder.box().end("CLEAN", "SIGNAL", 60_000, "signal", "SIGTERM").beat(72_000));
    assertVerdict(verdict, Cause.SIGNAL_TERM, Confidence.LIKELY);
    assertThat(texts(verdict, Evidence.Kind.AGAINST).get(0))
        .startsWith("beats went on for 12 s after the end marker");
    assertVerdict(
        verdict(BoxBuilder.box().end("CLEAN", "CLOSED", 60_000).beat(72_000)),
        Cause.RETURNED,
        Confidence.LIKELY);
  }

  // Stopping

  @Test
  void aShutdownThatNeverEndedIsAStopTimeout() throws IOException {
    Verdict verdict =
        verdict(
            BoxBuilder.box().end("CLOSING", "SIGNAL", 30_000, "signal", "SIGTERM").beat(59_600));
    assertVerdict(verdict, Cause.STOP_TIMEOUT, Confidence.LIKELY);
    assertThat(verdict.headline())
        .isEqualTo(
            "Killed while shutting down (likely), 29 s after SIGTERM, at 14:00:59.600 UTC or later;"
                + " nothing was in flight");
    assertThat(texts(verdict, Evidence.Kind.FOR))
        .contains("30 s is the default grace period of Kubernetes");
  }

  @Test
  void aShutdownThatWasSeenForAMomentOnlyIsLessSure() throws IOException {
    Verdict verdict =
        verdict(
            BoxBuilder.box().end("CLOSING", "SIGNAL", 59_000, "signal", "SIGTERM").beat(60_000));
    assertVerdict(verdict, Cause.STOP_TIMEOUT, Confidence.POSSIBLE);
    assertThat(verdict.headline()).startsWith("Killed or halted while shutting down (possible)");
  }

  // Crash files

  private static HostFacts.HostFile crash(long millis, String pid, String line) {
    return new HostFacts.HostFile(
        at(millis),
        "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  "
            + line
            + ", pid="
            + pid
            + ", tid=9\n#\n");
  }

  @Test
  void aCrashFileOfThatPidAndTimeIsANativeCrash() throws IOException {
    host.files.put(CRASH_FILE, crash(60_500, "4711", "SIGSEGV (0xb) at pc=0x00007f"));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.LIKELY);
    assertThat(verdict.headline())
        .isEqualTo(
            "The JVM crashed (SIGSEGV, likely) at 14:01:00.000 UTC or later,"
                + " see /srv/orders/hs_err_pid4711.log; nothing was in flight");
  }

  @Test
  void aCrashFileOfAnotherPidOrTimeIsNot() throws IOException {
    host.files.put(CRASH_FILE, crash(60_500, "1", "SIGSEGV (0xb) at pc=0x00007f"));
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.KILLED, Confidence.POSSIBLE);
    assertThat(texts(verdict, Evidence.Kind.AGAINST))
        .contains("no hs_err file of this run at /srv/orders/hs_err_pid4711.log");
    host.files.put(CRASH_FILE, crash(121_000, "4711", "SIGSEGV (0xb) at pc=0x00007f"));
    assertVerdict(verdict(dead()), Cause.KILLED, Confidence.POSSIBLE);
    host.files.put(CRASH_FILE, new HostFacts.HostFile(at(60_500), "a diary"));
    assertVerdict(verdict(dead()), Cause.KILLED, Confidence.POSSIBLE);
  }

  @Test
  void theConfiguredErrorFileIsLookedAtFirst() throws IOException {
    host.files.put(
        Path.of("/var/crash/4711.log"), crash(60_500, "4711", "SIGBUS (0x7) at pc=0x00007f"));
    Verdict verdict = verdict(dead().identity("errorFile", "/var/crash/%p.log"));
    assertVerdict(verdict, Cause.NATIVE_CRASH, Confidence.LIKELY);
    host.files.clear();
    host.files.put(Path.of("/srv/orders/x.log"), crash(60_500, "4711", "SIGBUS (0x7)"));
    assertVerdict(
        verdict(dead().identity("errorFile", "x.log")), Cause.NATIVE_CRASH, Confidence.LIKELY);
  }

  @Test
  void crashOnOutOfMemoryErrorIsJavaOom() throws IOException {
    host.files.put(
        CRASH_FILE,
        new HostFacts.HostFile(
            at(60_500),
            "# A fatal error has been detected by the Java Runtime Environment:\n#\n"
                + "#  Internal Error (debug.cpp:271), pid=4711, tid=9\n"
                + "#  fatal error: OutOfMemory encountered: Java heap space\n"));
    assertVerdict(verdict(dead()), Cause.JAVA_OOM, Confidence.LIKELY);
  }

  @Test
  void aSignalSentByKillIsSaid() throws IOException {
    HostFacts.HostFile file = crash(60_500, "4711", "SIGSEGV (0xb) at pc=0x00007f (sent by kill)");
    host.files.put(
        CRASH_FILE,
        new HostFacts.HostFile(
            file.modified(),
            file.head()
                + "\n---------------  T H R E A D  ---------------\n"
                + "siginfo: si_signo: 11 (SIGSEGV), si_code: 0 (SI_USER), si_pid: 99, si_uid: 0\n"));
    assertThat(texts(verdict(dead()), Evidence.Kind.FOR))
        .contains("the signal was sent by kill: pid=99, uid=0");
  }

  // Uncaught, no end

  @Test
  void anUncaughtExceptionWithoutAnEndMarkerIsNotTheEnd() throws IOException {
    Verdict verdict = verdict(dead().uncaught(56_000, "main", "java.lang.Error", "x"));
    assertVerdict(verdict, Cause.KILLED, Confidence.POSSIBLE);
    assertThat(texts(verdict, Evidence.Kind.MISSING)).anyMatch(text -> text.contains("halt"));
    assertVerdict(
        verdict(dead().uncaught(54_000, "main", "java.lang.Error", "x")),
        Cause.KILLED,
        Confidence.POSSIBLE);
    assertVerdict(
        verdict(dead().uncaught(59_000, "main", "java.lang.OutOfMemoryError", "Java heap space")),
        Cause.JAVA_OOM,
        Confidence.POSSIBLE);
  }

  // The machine

  @Test
  void anotherBootOfTheSameMachineIsHostDown() throws IOException {
    host.bootId = "other";
    host.bootedAt = at(90_000);
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.HOST_DOWN, Confidence.CERTAIN);
    assertThat(verdict.headline())
        .isEqualTo(
            "The machine went down (reboot, power loss or kernel panic) after 14:01:00.000 UTC;"
                + " nothing was in flight");
    assertVerdict(
        verdict(dead().identity("pidNamespace", "pid:[4026532999]")),
        Cause.HOST_DOWN,
        Confidence.LIKELY);
  }

  @Test
  void aBootLongAfterTheLastBeatIsOnlyPossiblyTheCause() throws IOException {
    host.bootId = "other";
    host.bootedAt = at(3_000_000);
    assertVerdict(verdict(dead()), Cause.HOST_DOWN, Confidence.POSSIBLE);
  }

  @Test
  void aMachineThatWasUpBeforeTheLastBeatIsAnotherOne() throws IOException {
    host.bootId = "other";
    host.bootedAt = at(10_000);
    assertVerdict(verdict(dead()), Cause.UNKNOWN, Confidence.UNKNOWN);
  }

  @Test
  void aBootIdOfAnUnknownHostIsUnknown() throws IOException {
    host.bootId = "other";
    host.bootedAt = at(90_000);
    host.hostName = "web-2";
    assertVerdict(verdict(dead()), Cause.UNKNOWN, Confidence.UNKNOWN);
    host.hostName = BoxBuilder.HOST;
    assertVerdict(verdict(dead().identity("host", null)), Cause.UNKNOWN, Confidence.UNKNOWN);
  }

  // The OOM killer

  private static BoxBuilder sampled(long rss, long limit, long nodeKills) {
    return dead()
        .second(
            59_900,
            VitalsLayout.RSS,
            rss,
            VitalsLayout.CGROUP_LIMIT,
            limit,
            VitalsLayout.NODE_OOM_KILLS,
            nodeKills);
  }

  @Test
  void aNodeCounterThatMovedUnderPressureIsLikelyTheOomKiller() throws IOException {
    host.now = at(90_000);
    host.nodeOomKills = OptionalLong.of(6);
    Verdict verdict = verdict(sampled(99 * GIB / 100, GIB, 5));
    assertVerdict(verdict, Cause.OOM_KILLED, Confidence.LIKELY);
    assertThat(verdict.headline())
        .isEqualTo(
            "Killed by the kernel's OOM killer (likely) at 14:01:00.000 UTC or later, last seen at 1014 MiB of"
                + " 1.0 GiB; nothing was in flight");
  }

  @Test
  void aNodeCounterThatMovedWithoutPressureStaysKilled() throws IOException {
    host.nodeOomKills = OptionalLong.of(6);
    Verdict verdict = verdict(sampled(GIB / 2, GIB, 5));
    assertVerdict(verdict, Cause.KILLED, Confidence.POSSIBLE);
    assertThat(texts(verdict, Evidence.Kind.MISSING))
        .anyMatch(text -> text.startsWith("the kernel counted 1 OOM kill since, of which process"));
  }

  @Test
  void aNodeCounterThatDidNotMoveExcludesTheOomKiller() throws IOException {
    host.nodeOomKills = OptionalLong.of(5);
    Verdict verdict = verdict(sampled(GIB, GIB, 5));
    assertVerdict(verdict, Cause.KILLED, Confidence.LIKELY);
    assertThat(texts(verdict, Evidence.Kind.AGAINST))
        .contains("the kernel's OOM killer is excluded: its counter on this host did not move");
  }

  @Test
  void withoutALimitTheMachinesMemoryCounts() throws IOException {
    host.now = at(90_000);
    host.nodeOomKills = OptionalLong.of(6);
    host.memoryBytes = OptionalLong.of(GIB);
    assertVerdict(
        verdict(sampled(99 * GIB / 100, Long.MAX_VALUE - 4095, 5)),
        Cause.OOM_KILLED,
        Confidence.LIKELY);
    host.memoryBytes = OptionalLong.of(16 * GIB);
    assertVerdict(
        verdict(sampled(99 * GIB / 100, VitalsLayout.UNKNOWN, 5)),
        Cause.KILLED,
        Confidence.POSSIBLE);
  }

  @Test
  void oomIsNeverSaidOfNothing() throws IOException {
    host.nodeOomKills = OptionalLong.empty();
    assertVerdict(verdict(sampled(GIB, GIB, 5)), Cause.KILLED, Confidence.POSSIBLE);
    host.nodeOomKills = OptionalLong.of(6);
    host.bootId = null;
    assertVerdict(verdict(sampled(GIB, GIB, 5)), Cause.KILLED, Confidence.POSSIBLE);
    host.bootId = BoxBuilder.BOOT_ID;
    assertVerdict(verdict(dead()), Cause.KILLED, Confidence.POSSIBLE);
  }

  @Test
  void aNeighbourKilledEarlierIsNoOomKillOfThisRun() throws IOException {
    BoxBuilder box = BoxBuilder.box().beat(60_000);
    for (int second = 0; second <= 60; second++) {
      box.second(
          second * 1000,
          VitalsLayout.CGROUP_OOM_KILLS,
          second >= 20 ? 3 : 2,
          VitalsLayout.RSS,
          99 * GIB / 100,
          VitalsLayout.CGROUP_LIMIT,
          GIB);
    }
    Verdict verdict = verdict(box);
    assertVerdict(verdict, Cause.KILLED, Confidence.POSSIBLE);
    assertThat(texts(verdict, Evidence.Kind.AGAINST))
        .contains("an earlier OOM kill in its cgroup was another process: the run lived on");
  }

  // Java OOM, killed, unknown

  @Test
  void aNotedOutOfMemoryErrorIsPossiblyTheEnd() throws IOException {
    assertVerdict(
        verdict(dead().crumb(59_000, 3, "log", "java.lang.OutOfMemoryError: Java heap space")),
        Cause.JAVA_OOM,
        Confidence.POSSIBLE);
    assertVerdict(
        verdict(dead().crumb(50_000, 3, "log", "java.lang.OutOfMemoryError: Java heap space")),
        Cause.KILLED,
        Confidence.POSSIBLE);
  }

  @Test
  void killedSaysWhatIsNotSeparable() throws IOException {
    Verdict verdict = verdict(dead());
    assertVerdict(verdict, Cause.KILLED, Confidence.POSSIBLE);
    assertThat(texts(verdict, Evidence.Kind.MISSING).toString()).contains("Runtime.halt");
    assertThat(
            texts(
                    verdict(dead().identity("flags", List.of("ExitOnOutOfMemoryError"))),
                    Evidence.Kind.MISSING)
                .toString())
        .contains("ExitOnOutOfMemoryError");
    assertThat(verdict.headline())
        .isEqualTo(
            "Killed (SIGKILL or Runtime.halt, possible) at 14:01:00.000 UTC or later;"
                + " nothing was in flight");
  }

  @Test
  void withoutTheLifeCycleTheEndIsUnknown() throws IOException {
    BoxBuilder box = dead();
    byte[] bytes = box.bytes();
    BoxBuilder.Part life = box.part(BoxLayout.LIFE);
    bytes[life.offset() + 16] ^= 1;
    bytes[life.offset() + life.unit() + 16] ^= 1;
    Verdict verdict = new Judge(new Salvage(bytes, "box", false), Liveness.DEAD, host).verdict();
    assertVerdict(verdict, Cause.UNKNOWN, Confidence.UNKNOWN);
  }

  @Test
  void anEmptyMachineAndAnEmptyBoxStillGiveAVerdict() throws IOException {
    HostFacts nothing =
        new HostFacts() {
          @Override
          public Instant now() {
            return at(3_600_000);
          }

          @Override
          public String bootId() {
            return null;
          }

          @Override
          public Instant bootedAt() {
            return null;
          }

          @Override
          public String hostName() {
            return null;
          }

          @Override
          public OptionalLong nodeOomKills() {
            return OptionalLong.empty();
          }

          @Override
          public OptionalLong memoryBytes() {
            return OptionalLong.empty();
          }

          @Override
          public HostFile file(Path path) {
            return null;
          }
        };
    BoxBuilder box = BoxBuilder.box();
    byte[] bytes = box.bytes();
    assertVerdict(
        new Judge(new Salvage(bytes, "box", false), Liveness.DEAD, nothing).verdict(),
        Cause.KILLED,
        Confidence.POSSIBLE);
    Arrays.fill(
        bytes, BoxLayout.FIRST_SECTION_OFFSET, bytes.length - BoxLayout.TRAILER_SIZE, (byte) 0);
    assertVerdict(
        new Judge(new Salvage(bytes, "box", false), Liveness.UNKNOWN, nothing).verdict(),
        Cause.UNKNOWN,
        Confidence.UNKNOWN);
  }

  @Test
  void hostileTextInAHeadlineIsEscaped() throws IOException {
    Verdict verdict =
        verdict(
            dead()
                .span(
                    0,
                    BoxBuilder.begin("GET \u001b[2J\n/x", 1, 59_000, "t"),
                    "k\u202e",
                    "v\u0007".repeat(50)));
    assertThat(verdict.headline())
        .contains("GET \\u{1b}[2J\\u{a}/x {k\\u{202e}=v\\u{7}")
        .contains("… (100 characters)")
        .doesNotContain("\u001b");
  }

  @Test
  void theDateIsSaidOnAnotherDay() throws IOException {
    host.now = at(86_400_000);
    assertThat(verdict(dead()).headline()).contains("at 2026-11-30 14:01:00.000 UTC or later");
  }
}
