package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.VitalsLayout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * Verdicts with what lies beside the box: an exit status, counters at the death, the hooks file.
 */
class WitnessedVerdictTest {
  private static final long MIB = 1L << 20;

  private final FakeHost host = new FakeHost();
  private OptionalInt status = OptionalInt.empty();
  private boolean hooksLeft;
  private Instant noted;

  private static Instant at(long millis) {
    return Instant.ofEpochMilli(BoxBuilder.START_WALL + millis);
  }

  private static BoxBuilder dead() {
    return BoxBuilder.box().identity("hooksFile", true).identity("flags", List.of()).beat(60_000);
  }

  private static BoxBuilder flagged(String flag) {
    return dead().identity("flags", List.of(flag));
  }

  private Report report(BoxBuilder box, Statement... statements) throws IOException {
    Traces traces = new Traces(null, hooksLeft, List.of(statements), noted);
    if (status.isPresent()) {
      traces =
          traces.with(
              new Statement(
                  "run", at(60_500), status, null, OptionalLong.empty(), OptionalLong.empty()));
    }
    Salvage salvage = new Salvage(box.bytes(), "box", false);
    return new Judge(salvage, Liveness.DEAD, host, traces).report("id", "orders");
  }

  private static void assertVerdict(Report report, Cause cause, Confidence confidence) {
    Verdict verdict = report.verdict();
    assertThat(verdict.cause()).as(verdict.headline() + verdict.evidence()).isEqualTo(cause);
    assertThat(verdict.confidence()).as(verdict.evidence().toString()).isEqualTo(confidence);
    VerdictTest.assertSaysHowSureItIs(verdict);
  }

  // Exit status

  @Test
  void statusWithoutAnEndMarkerIsAHalt() throws IOException {
    for (int code : new int[] {0, 1, 2, 127, 193, 255}) {
      status = OptionalInt.of(code);
      Report report = report(dead());
      boolean sure = code != 1 && code != 127; // those a JVM has that can't write an hs_err file
      assertVerdict(report, Cause.HALTED, sure ? Confidence.CERTAIN : Confidence.LIKELY);
      assertThat(report.verdict().headline()).startsWith("Halted with exit status " + code);
      assertThat(report.exitStatus()).hasValue(code);
    }
  }

  @Test
  void statusOfSigkillIsKilledAndNeverSaysOutOfMemory() throws IOException {
    status = OptionalInt.of(137);
    Report report = report(dead());
    assertVerdict(report, Cause.KILLED, Confidence.POSSIBLE);
    assertThat(report.verdict().headline()).startsWith("Killed (SIGKILL, possible)");
    host.nodeOomKills = OptionalLong.of(5);
    BoxBuilder sampled = dead().second(59_900, VitalsLayout.NODE_OOM_KILLS, 5);
    assertVerdict(report(sampled), Cause.KILLED, Confidence.LIKELY);
    noted = at(59_800);
    assertVerdict(report(sampled), Cause.KILLED, Confidence.LIKELY);
  }

  @Test
  void statusOfASignalIsNamed() throws IOException {
    status = OptionalInt.of(143);
    assertVerdict(report(dead()), Cause.SIGNAL_TERM, Confidence.LIKELY);
    status = OptionalInt.of(139);
    assertVerdict(report(dead()), Cause.NATIVE_CRASH, Confidence.LIKELY);
    status = OptionalInt.of(134);
    assertVerdict(report(dead()), Cause.NATIVE_CRASH, Confidence.POSSIBLE);
    status = OptionalInt.of(159);
    assertVerdict(report(dead()), Cause.KILLED, Confidence.LIKELY);
    assertThat(report(dead()).verdict().headline()).startsWith("Killed by SIGSYS");
  }

  @Test
  void statusThreeIsJavaOomOnlyWithTheFlag() throws IOException {
    status = OptionalInt.of(3);
    assertVerdict(report(dead()), Cause.HALTED, Confidence.CERTAIN);
    assertVerdict(report(flagged("ExitOnOutOfMemoryError")), Cause.JAVA_OOM, Confidence.LIKELY);
    noted = at(59_900);
    assertVerdict(report(flagged("ExitOnOutOfMemoryError")), Cause.JAVA_OOM, Confidence.CERTAIN);
  }

  @Test
  void haltAfterAnUncaughtOutOfMemoryErrorIsJavaOom() throws IOException {
    status = OptionalInt.of(1);
    BoxBuilder box = dead().uncaught(59_000, "http-1", "java.lang.OutOfMemoryError", "heap");
    assertVerdict(report(box), Cause.JAVA_OOM, Confidence.LIKELY);
  }

  @Test
  void statusOfAnExitIsGivenAndNotANullOneIsNoGoodEnd() throws IOException {
    BoxBuilder exit = dead().end("CLEAN", "EXIT", 60_100, "thread", "worker-3");
    assertThat(report(exit).endedWell()).isTrue();
    status = OptionalInt.of(7);
    Report report = report(exit);
    assertVerdict(report, Cause.EXIT, Confidence.CERTAIN);
    assertThat(report.verdict().headline())
        .startsWith("System.exit was called")
        .contains(", exit status 7");
    assertThat(report.endedWell()).isFalse();
    assertThat(report.toJson()).contains("\"exitStatus\":7");
  }

  @Test
  void statusTellsWhatAReplacedHandlerHid() throws IOException {
    BoxBuilder blind = dead().end("CLEAN", "RETURNED", 60_100, "handler", "replaced");
    assertVerdict(report(blind), Cause.RETURNED, Confidence.POSSIBLE);
    status = OptionalInt.of(0);
    assertVerdict(report(blind), Cause.RETURNED, Confidence.CERTAIN);
    status = OptionalInt.of(1);
    assertVerdict(report(blind), Cause.UNCAUGHT, Confidence.LIKELY);
  }

  @Test
  void deathWhileTheProcessExitsIsNotTheEndThatTheMarkerSays() throws IOException {
    BoxBuilder returned = dead().end("CLEAN", "RETURNED", 60_100);
    status = OptionalInt.of(134);
    assertVerdict(report(returned), Cause.NATIVE_CRASH, Confidence.POSSIBLE);
    status = OptionalInt.of(139);
    assertVerdict(report(returned), Cause.NATIVE_CRASH, Confidence.LIKELY);
    status = OptionalInt.of(9);
    assertVerdict(report(returned), Cause.HALTED, Confidence.POSSIBLE);
    status = OptionalInt.of(137);
    assertVerdict(report(returned), Cause.KILLED, Confidence.LIKELY);
    BoxBuilder stopped = dead().end("CLEAN", "SIGNAL", 60_100, "signal", "SIGTERM");
    assertVerdict(report(stopped), Cause.KILLED, Confidence.LIKELY);
    status = OptionalInt.of(143);
    assertVerdict(report(stopped), Cause.SIGNAL_TERM, Confidence.CERTAIN);
  }

  @Test
  void statusThatMayBeASignalsMakesAnExitOnlyLikely() throws IOException {
    BoxBuilder exit = dead().end("CLEAN", "EXIT", 60_100, "thread", "worker-3");
    status = OptionalInt.of(134);
    assertVerdict(report(exit), Cause.EXIT, Confidence.LIKELY);
    BoxBuilder known = dead().end("CLEAN", "EXIT", 60_100, "thread", "worker-3", "status", 7);
    assertVerdict(report(known), Cause.NATIVE_CRASH, Confidence.POSSIBLE);
    status = OptionalInt.of(7);
    assertVerdict(report(known), Cause.EXIT, Confidence.CERTAIN);
  }

  @Test
  void whatCameAfterTheRecorderWasClosedIsToldByWhetherTheHooksEnded() throws IOException {
    BoxBuilder closed = dead().end("CLEAN", "CLOSED", 60_100);
    assertVerdict(report(closed), Cause.RETURNED, Confidence.CERTAIN);
    status = OptionalInt.of(3);
    assertVerdict(report(closed), Cause.RETURNED, Confidence.POSSIBLE);
    hooksLeft = true;
    assertVerdict(report(closed), Cause.HALTED, Confidence.LIKELY);
    status = OptionalInt.of(137);
    assertVerdict(report(closed), Cause.KILLED, Confidence.LIKELY);
    status = OptionalInt.empty();
    assertVerdict(report(closed), Cause.KILLED, Confidence.POSSIBLE);
    host.aliveProcess = 4711;
    assertVerdict(report(closed), Cause.RETURNED, Confidence.CERTAIN);
  }

  // Shutdown hooks

  private BoxBuilder stopped(long end, long lastBeat, Object... more) {
    Object[] all = new Object[more.length + 2];
    all[0] = "signal";
    all[1] = "SIGTERM";
    System.arraycopy(more, 0, all, 2, more.length);
    return BoxBuilder.box()
        .identity("hooksFile", true)
        .beat(lastBeat)
        .end("CLEAN", "SIGNAL", end, all);
  }

  @Test
  void endMarkerIsCertainOnceAllHooksHaveEnded() throws IOException {
    Report report = report(stopped(60_000, 68_000));
    assertVerdict(report, Cause.SIGNAL_TERM, Confidence.CERTAIN);
    assertThat(report.verdict().headline()).contains("went on for 8.0 s in other hooks");
  }

  @Test
  void killInAHookThatHangsIsAStopTimeoutAndNamesTheHook() throws IOException {
    hooksLeft = true;
    BoxBuilder box =
        stopped(
            60_000,
            90_000,
            "hook",
            "pool-closer",
            "hookStack",
            List.of(
                "java.base/java.lang.Object.wait(Native Method)",
                "com.acme.Pool.close(Pool.java:9)"));
    Report report = report(box);
    assertVerdict(report, Cause.STOP_TIMEOUT, Confidence.LIKELY);
    assertThat(report.verdict().headline())
        .startsWith(
            "Killed while shutting down (likely), 30 s after SIGTERM, in the shutdown hook"
                + " pool-closer");
    assertThat(report.verdict().evidence().toString())
        .contains("com.acme.Pool.close(Pool.java:9)")
        .contains("30 s is the default grace period of Kubernetes");
    assertThat(report.advice().toString()).contains("the shutdown hook pool-closer waits for");
    status = OptionalInt.of(137);
    assertVerdict(report(box), Cause.STOP_TIMEOUT, Confidence.LIKELY);
    box.second(89_900, VitalsLayout.NODE_OOM_KILLS, 5);
    host.nodeOomKills = OptionalLong.of(5);
    assertVerdict(report(box), Cause.STOP_TIMEOUT, Confidence.CERTAIN);
  }

  @Test
  void oomKillInAShutdownHookIsNoTimeout() throws IOException {
    hooksLeft = true;
    BoxBuilder box = sampled(250, 1).end("CLEAN", "SIGNAL", 59_000, "signal", "SIGTERM");
    Report report = report(box, seen(60_400, 6, OptionalLong.of(3)));
    assertVerdict(report, Cause.OOM_KILLED, Confidence.LIKELY);
  }

  @Test
  void crashInAShutdownHookIsNoTimeout() throws IOException {
    hooksLeft = true;
    host.files.put(
        Path.of("/srv/orders/hs_err_pid4711.log"),
        new HostFacts.HostFile(
            at(60_500),
            "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
                + "#  SIGSEGV (0xb) at pc=0x00007f, pid=4711, tid=9\n"));
    assertThat(report(stopped(60_000, 60_300)).verdict().cause()).isEqualTo(Cause.NATIVE_CRASH);
  }

  @Test
  void livingRunThatShutsDownNamesTheHookThatItIsIn() throws IOException {
    Salvage salvage =
        new Salvage(stopped(60_000, 62_000, "hook", "pool-closer").bytes(), "box", true);
    Verdict verdict = new Judge(salvage, Liveness.ALIVE, host, Traces.NONE).verdict();
    assertThat(verdict.headline())
        .contains("shutting down after SIGTERM, in the shutdown hook pool-closer");
  }

  @Test
  void hooksLeftShortlyAfterTheEndMarkerAreAKillOrAHalt() throws IOException {
    hooksLeft = true;
    assertVerdict(report(stopped(60_000, 60_300)), Cause.STOP_TIMEOUT, Confidence.POSSIBLE);
    assertVerdict(report(stopped(60_000, 62_000)), Cause.STOP_TIMEOUT, Confidence.POSSIBLE);
  }

  @Test
  void hookThatHaltsIsToldFromAKillByTheStatus() throws IOException {
    hooksLeft = true;
    status = OptionalInt.of(3);
    assertVerdict(report(stopped(60_000, 62_000)), Cause.SIGNAL_TERM, Confidence.CERTAIN);
    BoxBuilder returned = dead().end("CLEAN", "RETURNED", 59_000);
    assertVerdict(report(returned), Cause.HALTED, Confidence.CERTAIN);
    status = OptionalInt.of(0);
    assertVerdict(report(returned), Cause.RETURNED, Confidence.CERTAIN);
  }

  // The OOM killer

  private static BoxBuilder sampled(long rssMib, long processes) {
    return sampled(dead(), rssMib, processes);
  }

  private static BoxBuilder sampled(BoxBuilder box, long rssMib, long processes) {
    return box.identity("cgroup", "/sys/fs/cgroup/app")
        .identity("cgroupInode", 99L)
        .second(
            59_900,
            VitalsLayout.RSS,
            rssMib * MIB,
            VitalsLayout.CGROUP_USAGE,
            200 * MIB,
            VitalsLayout.CGROUP_LIMIT,
            256 * MIB,
            VitalsLayout.CGROUP_OOM_KILLS,
            2,
            VitalsLayout.NODE_OOM_KILLS,
            5,
            VitalsLayout.CGROUP_PROCESSES,
            processes);
  }

  private static Statement seen(long millis, long node, OptionalLong cgroup) {
    return new Statement(
        "watch",
        at(millis),
        OptionalInt.empty(),
        BoxBuilder.BOOT_ID,
        OptionalLong.of(node),
        cgroup);
  }

  @Test
  void ownCgroupsCountThatDidNotMoveExcludesTheOomKillerWhateverTheNodeSays() throws IOException {
    Report report = report(sampled(250, 1), seen(60_400, 6, OptionalLong.of(2)));
    assertVerdict(report, Cause.KILLED, Confidence.LIKELY);
    assertThat(report.verdict().evidence().toString())
        .contains("OOM killer is excluded: its counter in the run's cgroup did not move");
  }

  @Test
  void ownCgroupsCountIsLikelyTheRunIfItWasAloneOrItselfNearTheLimit() throws IOException {
    Statement counted = seen(60_400, 6, OptionalLong.of(3));
    assertVerdict(report(sampled(45, 1), counted), Cause.OOM_KILLED, Confidence.LIKELY);
    assertVerdict(report(sampled(130, 3), counted), Cause.OOM_KILLED, Confidence.POSSIBLE);
    assertVerdict(report(sampled(240, 3), counted), Cause.OOM_KILLED, Confidence.LIKELY);
    assertVerdict(report(sampled(45, 2), counted), Cause.OOM_KILLED, Confidence.POSSIBLE);
    status = OptionalInt.of(137);
    assertVerdict(report(sampled(45, 1), counted), Cause.OOM_KILLED, Confidence.LIKELY);
    assertVerdict(report(sampled(130, 1), counted), Cause.OOM_KILLED, Confidence.CERTAIN);
  }

  @Test
  void countsSeenLateAreNoProof() throws IOException {
    Statement late = seen(600_000, 6, OptionalLong.of(3));
    assertVerdict(report(sampled(250, 1), late), Cause.OOM_KILLED, Confidence.POSSIBLE);
    Statement lateWithoutCgroup = seen(600_000, 6, OptionalLong.empty());
    assertVerdict(
        report(sampled(250, 1), lateWithoutCgroup), Cause.OOM_KILLED, Confidence.POSSIBLE);
  }

  @Test
  void memoryNearTheLimitThatDoesNotGrowIsOnlyPossible() throws IOException {
    Statement counted = seen(60_400, 6, OptionalLong.empty());
    assertVerdict(report(sampled(240, 1), counted), Cause.OOM_KILLED, Confidence.POSSIBLE);
    assertVerdict(report(sampled(252, 1), counted), Cause.OOM_KILLED, Confidence.LIKELY);
    BoxBuilder growing = sampled(dead().second(58_900, VitalsLayout.RSS, 200 * MIB), 240, 1);
    assertVerdict(report(growing, counted), Cause.OOM_KILLED, Confidence.LIKELY);
  }

  @Test
  void firstWitnessCountsNotWhatTheMachineSaysLater() throws IOException {
    host.nodeOomKills = OptionalLong.of(9);
    host.cgroupOomKills = OptionalLong.of(9);
    Report report = report(sampled(250, 1), seen(60_400, 5, OptionalLong.of(2)));
    assertVerdict(report, Cause.KILLED, Confidence.LIKELY);
  }

  @Test
  void countOfAnotherBootSaysNothing() throws IOException {
    Statement other =
        new Statement(
            "watch",
            at(60_400),
            OptionalInt.empty(),
            "another boot",
            OptionalLong.of(5),
            OptionalLong.of(2));
    assertVerdict(report(sampled(45, 1), other), Cause.KILLED, Confidence.POSSIBLE);
  }

  @Test
  void witnessOfTheSameBootExcludesThatTheMachineWentDown() throws IOException {
    host.bootId = "after the reboot";
    host.bootedAt = at(70_000);
    assertVerdict(report(dead()), Cause.HOST_DOWN, Confidence.CERTAIN);
    Report report = report(dead(), seen(60_400, 5, OptionalLong.of(2)));
    assertThat(report.verdict().cause()).isEqualTo(Cause.KILLED);
  }

  // Machines

  @Test
  void hostIdGoesBeforeTheHostName() throws IOException {
    host.bootId = "after the reboot";
    host.bootedAt = at(70_000);
    host.hostName = "another-pod";
    host.hostId = "node-7";
    BoxBuilder inAPod =
        dead().identity("hostId", "node-7").identity("pidNamespace", "pid:[4026532999]");
    assertVerdict(report(inAPod), Cause.HOST_DOWN, Confidence.CERTAIN);
    host.hostId = "node-8";
    assertVerdict(report(inAPod), Cause.UNKNOWN, Confidence.UNKNOWN);
    host.hostName = BoxBuilder.HOST;
    assertVerdict(report(inAPod), Cause.UNKNOWN, Confidence.UNKNOWN);
  }

  @Test
  void machineIdOfAContainersImageIsNoProofOfTheSameMachine() throws IOException {
    host.bootId = "after the reboot";
    host.bootedAt = at(70_000);
    host.hostId = "machine-1f";
    BoxBuilder inAPod =
        dead().identity("hostId", "machine-1f").identity("pidNamespace", "pid:[4026532999]");
    assertVerdict(report(inAPod), Cause.HOST_DOWN, Confidence.LIKELY);
  }

  // Java memory

  @Test
  void killedIsOnlyPossibleIfTheJvmMayHaveEndedItself() throws IOException {
    host.nodeOomKills = OptionalLong.of(5);
    BoxBuilder box =
        flagged("ExitOnOutOfMemoryError").second(59_900, VitalsLayout.NODE_OOM_KILLS, 5);
    assertVerdict(report(box), Cause.KILLED, Confidence.POSSIBLE);
    noted = at(59_900);
    assertVerdict(report(box), Cause.JAVA_OOM, Confidence.LIKELY);
    noted = at(40_000);
    assertVerdict(report(box), Cause.KILLED, Confidence.POSSIBLE);
  }

  @Test
  void heapThatWasFullWithTheFlagIsPossiblyJavaOom() throws IOException {
    BoxBuilder box =
        flagged("ExitOnOutOfMemoryError")
            .second(59_900, VitalsLayout.HEAP_USED, 99, VitalsLayout.HEAP_MAX, 100);
    assertVerdict(report(box), Cause.JAVA_OOM, Confidence.POSSIBLE);
  }

  @Test
  void exceptionOfMainIsKnownByTheThreadAndNotByItsName() throws IOException {
    BoxBuilder worker =
        dead()
            .uncaught(59_000, "main", "java.lang.Error", "x", "main", false)
            .end("CLEAN", "RETURNED", 60_100);
    assertVerdict(report(worker), Cause.RETURNED, Confidence.LIKELY);
    BoxBuilder renamed =
        dead()
            .uncaught(59_000, "boot", "java.lang.Error", "x", "main", true)
            .end("CLEAN", "RETURNED", 60_100);
    assertVerdict(report(renamed), Cause.UNCAUGHT, Confidence.CERTAIN);
  }

  // Advice

  @Test
  void everyBadEndComesWithSomethingToDo() throws IOException {
    host.nodeOomKills = OptionalLong.of(5);
    Report killed = report(dead().second(59_900, VitalsLayout.NODE_OOM_KILLS, 5));
    assertThat(killed.advice())
        .extracting(Advice::kind)
        .contains(Advice.Kind.LOOK, Advice.Kind.MORE);
    assertThat(killed.toText(ReportPart.ADVICE))
        .contains("What to look at next")
        .contains("How to know more next time")
        .contains("cairn run -- java ...");
    status = OptionalInt.of(137);
    assertThat(report(dead()).toText(ReportPart.ADVICE)).doesNotContain("cairn run");
    status = OptionalInt.empty();
    assertThat(report(dead().end("CLEAN", "RETURNED", 60_100)).advice()).isEmpty();
  }
}
