package cairn.stress;

import static cairn.report.Cause.EXIT;
import static cairn.report.Cause.HALTED;
import static cairn.report.Cause.HOST_DOWN;
import static cairn.report.Cause.JAVA_OOM;
import static cairn.report.Cause.KILLED;
import static cairn.report.Cause.NATIVE_CRASH;
import static cairn.report.Cause.OOM_KILLED;
import static cairn.report.Cause.RETURNED;
import static cairn.report.Cause.RUNNING;
import static cairn.report.Cause.SIGNAL_TERM;
import static cairn.report.Cause.STOP_TIMEOUT;
import static cairn.report.Cause.UNCAUGHT;
import static cairn.report.Cause.UNKNOWN;

import cairn.report.Cause;
import cairn.stress.Death.Act;
import cairn.stress.Death.Launch;
import cairn.stress.Death.Needs;
import cairn.stress.Death.Reading;
import java.util.ArrayList;
import java.util.List;

/** Every way to die that we make. */
final class DeathCatalogue {
  /*
   * What is right is decided by what happened, not by what Cairn can know; what may be said at
   * most with which confidence, by what the evidence can exclude:
   *
   *   - Runtime.halt and SIGKILL leave the same trace: "killed, or halted" is right, and so is at
   *     most likely; a parent's exit status tells them apart, unless it is halt(137).
   *   - The kernel's OOM killer and a SIGKILL leave the same trace, but the kernel counts: KILLED is
   *     wrong, unless it is only possible.
   *   - A process that comes into a cgroup, is killed there and is followed by a SIGKILL of the victim,
   *     all between two samples, leaves the trace of an OOM kill of the victim: at most likely.
   *   - An exception that a handler of the thread main took leaves the trace of a return: the same.
   *   - An OutOfMemoryError that the process survived is not its end, whatever killed it later.
   *   - A shutdown that a signal began and SIGKILL ended is neither an orderly end nor a kill alone.
   */

  private static final String[] SMALL_HEAP = {"-Xmx24m"};
  private static final String[] BIG_HEAP = {"-Xmx1g"};

  private DeathCatalogue() {}

  static List<Death> all() {
    List<Death.Builder> all = new ArrayList<>();
    orderly(all);
    exits(all);
    uncaught(all);
    signals(all);
    stops(all);
    halts(all);
    kills(all);
    memory(all);
    kernelMemory(all);
    inAHook(all);
    crashes(all);
    elsewhere(all);
    otherModes(all);
    steppedClock(all);
    alive(all);
    return all.stream().map(Death.Builder::build).toList();
  }

  static Death named(String name) {
    return all().stream().filter(death -> death.name.equals(name)).findFirst().orElseThrow();
  }

  private static void orderly(List<Death.Builder> all) {
    all.add(Death.of("main returns, daemon threads only", RETURNED).way("return"));
    all.add(Death.of("main returns, a worker ends later", RETURNED).way("return-late 300"));
    all.add(Death.of("main returns, a hook is slow", RETURNED).way("return-slow-hook 700"));
    all.add(Death.of("the recorder is closed, main returns", RETURNED).way("close"));
    all.add(
        Death.of("the recorder is closed, killed later", RETURNED)
            .way("close-and-live")
            .act(
                v -> {
                  v.go();
                  v.await("closed");
                  v.liveUpTo(200);
                  v.kill();
                })
            .atMostPossible(KILLED)
            .withStatus(KILLED));
  }

  private static void exits(List<Death.Builder> all) {
    all.add(Death.of("exit(0) on main", EXIT).way("exit 0"));
    all.add(Death.of("exit(7) on main", EXIT).way("exit 7"));
    all.add(Death.of("exit(7) in a library on a worker", EXIT).way("exit-worker 7"));
    all.add(Death.of("exit(137) on a worker", EXIT).way("exit-worker 137"));
    all.add(
        Death.of("exit(7) on a virtual thread", EXIT)
            .way("exit-virtual 7")
            .needs(Needs.VIRTUAL_THREADS));
    all.add(
        Death.of("exit(7) on a virtual thread of a JVM that is up for a while", EXIT)
            .way("exit-virtual 7")
            .needs(Needs.VIRTUAL_THREADS)
            .act(
                v -> {
                  v.live(4_500);
                  v.go();
                }));
    all.add(Death.of("exit(7) on two threads at once", EXIT).way("exit-twice 7"));
    all.add(
        Death.of("exit(4) from the application's SIGTERM handler", EXIT)
            .way("handles-term 4")
            .act(after(300, "TERM"))
            .right(SIGNAL_TERM));
    all.add(
        Death.of("exit(3) from the handler of an uncaught exception", EXIT)
            .way("uncaught-exit")
            .right(UNCAUGHT));
  }

  private static void uncaught(List<Death.Builder> all) {
    all.add(Death.of("uncaught in main, daemon threads only", UNCAUGHT).way("uncaught-main"));
    all.add(
        Death.of("uncaught in main, a worker ends later", UNCAUGHT).way("uncaught-main-late 300"));
    all.add(Death.of("StackOverflowError in main", UNCAUGHT).way("uncaught-stack"));
    all.add(
        Death.of("uncaught in main, default handler replaced", UNCAUGHT)
            .way("uncaught-replaced")
            .atMostPossible(RETURNED));
    all.add(
        Death.of("uncaught in main, the application has a default handler of its own", UNCAUGHT)
            .way("uncaught-handled"));
    all.add(
        Death.of("uncaught in main, which has a handler of its own", UNCAUGHT)
            .way("uncaught-own-handler")
            .atMostLikely(RETURNED)
            .withStatus());
    all.add(
        Death.of("uncaught in main, a worker calls exit(0) later", EXIT)
            .way("uncaught-main-exit 0 300"));
    all.add(
        Death.of("uncaught in main, SIGTERM while a worker works", SIGNAL_TERM)
            .way("uncaught-main-late 20000")
            .act(
                v -> {
                  v.go();
                  v.live(200);
                  v.signal("TERM");
                }));
    all.add(
        Death.of("uncaught in a main thread of another name", UNCAUGHT)
            .way("uncaught-renamed-main")
            .atMostPossible(RETURNED));
    all.add(
        Death.of("uncaught in a worker called main, main returns", RETURNED)
            .way("uncaught-false-main")
            .atMostPossible(UNCAUGHT));
    all.add(
        Death.of("uncaught, its handler halts", HALTED)
            .way("uncaught-halt")
            .right(UNCAUGHT)
            .atMostLikely(KILLED)
            .withStatus(UNCAUGHT));
    all.add(
        Death.of("uncaught in a worker, SIGKILL after", KILLED)
            .way("uncaught-worker")
            .act(failedThenKilled(400))
            .atMostPossible(UNCAUGHT));
    all.add(
        Death.of("uncaught in main, SIGKILL while a worker works", KILLED)
            .way("uncaught-main-late 20000")
            .act(
                v -> {
                  v.go();
                  v.live(200);
                  v.kill();
                })
            .atMostPossible(UNCAUGHT));
  }

  private static void signals(List<Death.Builder> all) {
    for (String name : List.of("TERM", "INT", "HUP")) {
      all.add(Death.of("SIG" + name, SIGNAL_TERM).act(after(400, name)));
    }
    all.add(
        Death.of("SIGTERM, a hook is slow", SIGNAL_TERM)
            .way("hook-is-slow 1500")
            .act(after(100, "TERM")));
    all.add(
        Death.of("SIGTERM, twice", SIGNAL_TERM)
            .way("hook-is-slow 400")
            .act(
                v -> {
                  v.signal("TERM");
                  v.live(100);
                  v.signal("TERM");
                }));
    all.add(
        Death.of("SIGTERM, a hook closes the recorder", SIGNAL_TERM)
            .way("hook-closes")
            .act(after(200, "TERM")));
    all.add(
        Death.of("SIGTERM under -Xrs", KILLED)
            .options("-Xrs")
            .act(after(300, "TERM"))
            .right(SIGNAL_TERM));
    for (String name : List.of("TRAP", "SYS", "XCPU", "ALRM", "USR1")) {
      all.add(
          Death.of("SIG" + name + ", for which the JVM has no handler", KILLED)
              .act(after(300, name))
              .atMostPossible(NATIVE_CRASH));
    }
    all.add(
        Death.of("SIGABRT from outside", KILLED)
            .act(after(300, "ABRT"))
            .atMostPossible(NATIVE_CRASH));
  }

  private static void stops(List<Death.Builder> all) {
    all.add(stop("SIGTERM, a hook hangs, SIGKILL at once", "hook-hangs", 60).right(KILLED));
    all.add(stop("SIGTERM, a hook hangs, SIGKILL after 1 s", "hook-hangs", 1_000));
    all.add(stop("SIGTERM, a hook hangs, SIGKILL after 6 s", "hook-hangs", 6_000));
    all.add(stop("SIGTERM, a hook calls exit, SIGKILL after 1 s", "hook-exits 5", 1_000));
    all.add(
        stop(
            "SIGTERM, a hook closes the recorder and hangs, SIGKILL after 1 s",
            "hook-closes-and-hangs",
            1_000));
    for (String way : List.of("return", "exit 7", "uncaught-main")) {
      Death.Builder death =
          Death.of(way + ", a hook hangs, SIGKILL after 1 s", STOP_TIMEOUT)
              .way("hook-hangs-and " + way)
              .act(
                  v -> {
                    v.go();
                    v.live(1_000);
                    v.kill();
                  })
              .atMostPossible(RETURNED, EXIT, KILLED);
      all.add(way.startsWith("uncaught") ? death.right(UNCAUGHT) : death);
    }
    all.add(
        Death.of("SIGTERM, a hook halts", HALTED)
            .way("hook-halts 3")
            .act(after(100, "TERM"))
            .right(SIGNAL_TERM)
            .atMostPossible(STOP_TIMEOUT)
            .withStatus(SIGNAL_TERM));
    all.add(
        Death.of("SIGTERM, a hook hangs, a watchdog halts after 1 s", HALTED)
            .way("hook-hangs-watchdog 1 1000")
            .act(after(100, "TERM"))
            .right(SIGNAL_TERM, STOP_TIMEOUT));
    all.add(
        Death.of("SIGTERM, SIGSEGV in a hook", NATIVE_CRASH)
            .way("hook-crashes")
            .act(after(100, "TERM"))
            .atMostPossible(SIGNAL_TERM, STOP_TIMEOUT));
    all.add(
        Death.of("main returns, a hook halts", HALTED)
            .way("return-hook-halts 3")
            .right(RETURNED)
            .atMostPossible(STOP_TIMEOUT)
            .withStatus());
    all.add(
        Death.of("exit(7), a hook halts with 7", EXIT)
            .way("exit-hook-halts 7")
            .right(HALTED)
            .atMostPossible(STOP_TIMEOUT));
  }

  private static Death.Builder stop(String name, String way, long graceMillis) {
    return Death.of(name, STOP_TIMEOUT)
        .way(way)
        .act(
            v -> {
              v.liveUpTo(300);
              v.signal("TERM");
              v.live(graceMillis);
              v.kill();
            })
        .atMostPossible(SIGNAL_TERM, KILLED);
  }

  private static void halts(List<Death.Builder> all) {
    for (int status : new int[] {0, 2}) {
      all.add(
          Death.of("halt(" + status + ")", HALTED)
              .way("halt " + status)
              .atMostLikely(KILLED)
              .withStatus());
    }
    all.add(
        Death.of("halt(2) on a worker", HALTED)
            .way("halt-worker 2")
            .atMostLikely(KILLED)
            .withStatus());
    all.add(Death.of("halt(137)", HALTED).way("halt 137").atMostLikely(KILLED));
    all.add(
        Death.of("_exit(5) in native code", HALTED)
            .way("native-exit 5")
            .options("--enable-native-access=ALL-UNNAMED")
            .needs(Needs.FOREIGN_FUNCTIONS)
            .atMostLikely(KILLED)
            .withStatus());
  }

  private static void kills(List<Death.Builder> all) {
    all.add(Death.of("SIGKILL at start", KILLED).early().act(Dying::kill));
    all.add(Death.of("SIGKILL under load", KILLED).act(after(1_500, "KILL")));
    all.add(
        Death.of("SIGKILL during collections", KILLED)
            .way("collect")
            .options("-Xmx32m")
            .act(
                v -> {
                  v.go();
                  v.liveUpTo(400);
                  v.kill();
                }));
    all.add(
        Death.of("SIGKILL, G1", KILLED)
            .options("-XX:-UseSerialGC", "-XX:+UseG1GC")
            .act(after(400, "KILL")));
    all.add(
        Death.of("SIGSTOP, then SIGKILL", KILLED)
            .act(
                v -> {
                  v.signal("STOP");
                  v.live(300);
                  v.kill();
                }));
    all.add(
        Death.of("SIGKILL, though ExitOnOutOfMemoryError is set", KILLED)
            .options("-XX:+ExitOnOutOfMemoryError")
            .act(after(400, "KILL")));
    all.add(
        Death.of("SIGKILL, the heap is full", KILLED)
            .way("heap 1 46 0")
            .options("-Xmx64m")
            .act(
                v -> {
                  nearTheLimit(v);
                  v.kill();
                })
            .atMostPossible(JAVA_OOM));
    all.add(
        Death.of("SIGKILL, the heap is full and ExitOnOutOfMemoryError is set", KILLED)
            .way("heap 1 46 0")
            .options("-Xmx64m", "-XX:+ExitOnOutOfMemoryError")
            .act(
                v -> {
                  nearTheLimit(v);
                  v.kill();
                })
            .atMostPossible(JAVA_OOM));
    all.add(
        Death.of("SIGKILL while another cgroup has an OOM kill", KILLED)
            .needs(Needs.MEMORY_GROUP)
            .act(
                v -> {
                  v.liveUpTo(300);
                  v.killByMemoryElsewhere();
                  v.kill();
                })
            .atMostPossible(OOM_KILLED));
    all.add(
        Death.of("SIGKILL near the limit of its cgroup", KILLED)
            .limit(256)
            .way("heap 8 22 0")
            .options(BIG_HEAP)
            .act(
                v -> {
                  atRestNearTheLimit(v);
                  v.kill();
                })
            .atMostPossible(OOM_KILLED));
    all.add(
        Death.of("SIGKILL near the limit, while another cgroup has an OOM kill", KILLED)
            .limit(256)
            .way("heap 8 22 0")
            .options(BIG_HEAP)
            .act(
                v -> {
                  atRestNearTheLimit(v);
                  v.killByMemoryElsewhere();
                  v.kill();
                })
            .atMostPossible(OOM_KILLED));
    all.add(
        Death.of("SIGKILL a second after an OOM kill of another process in its cgroup", KILLED)
            .limit(256)
            .act(
                v -> {
                  requireHogKilled(v);
                  v.live(Dying.SAMPLE_MILLIS);
                  v.kill();
                })
            .atMostPossible(OOM_KILLED));
    all.add(
        Death.of("SIGKILL at once after an OOM kill of another process in its cgroup", KILLED)
            .limit(256)
            .act(
                v -> {
                  v.liveUpTo(300);
                  requireHogKilled(v);
                  v.live(100);
                  v.kill();
                })
            .atMostLikely(OOM_KILLED));
    all.add(
        Death.of("SIGKILL at once after an OOM kill of an old neighbour in its cgroup", KILLED)
            .limit(256)
            .act(
                v -> {
                  v.neighbour(400, 2_200);
                  v.live(100);
                  v.kill();
                })
            .atMostPossible(OOM_KILLED));
    all.add(
        Death.of(
                "SIGKILL at once after the OOM kill of a helper that was more willing to die",
                KILLED)
            .limit(256)
            .way("heap 8 18 0")
            .options(BIG_HEAP)
            .act(
                v -> {
                  v.live(Dying.SAMPLE_MILLIS);
                  nearTheLimit(v);
                  v.willingNeighbour(200, 1_500);
                  v.kill();
                })
            .atMostPossible(OOM_KILLED));
  }

  /** Warm, and long enough for two samples to see that nothing grows. */
  private static void atRestNearTheLimit(Dying v) throws java.io.IOException, InterruptedException {
    v.live(Dying.SAMPLE_MILLIS);
    nearTheLimit(v);
    v.live(Dying.SAMPLE_MILLIS);
  }

  private static void nearTheLimit(Dying v) throws java.io.IOException, InterruptedException {
    v.go();
    v.await("filled");
    v.live(Dying.SAMPLE_MILLIS);
  }

  private static void requireHogKilled(Dying v) throws java.io.IOException, InterruptedException {
    if (!v.hog(400)) {
      throw new java.io.IOException("the other process was not killed");
    }
  }

  private static void memory(List<Death.Builder> all) {
    all.add(
        Death.of("OutOfMemoryError in main", JAVA_OOM)
            .way("oom-main")
            .options(SMALL_HEAP)
            .right(UNCAUGHT));
    all.add(
        Death.of("OutOfMemoryError in main, one array", JAVA_OOM)
            .way("oom-main-array")
            .right(UNCAUGHT));
    all.add(
        Death.of("ExitOnOutOfMemoryError", JAVA_OOM)
            .way("oom-worker")
            .options("-Xmx24m", "-XX:+ExitOnOutOfMemoryError")
            .act(Dying::go)
            .atMostPossible(KILLED, HALTED)
            .withStatus());
    all.add(
        Death.of("CrashOnOutOfMemoryError", JAVA_OOM)
            .way("oom-worker")
            .options("-Xmx24m", "-XX:+CrashOnOutOfMemoryError")
            .act(Dying::go)
            .atMostPossible(KILLED, NATIVE_CRASH)
            .withStatus());
    all.add(
        Death.of("ExitOnOutOfMemoryError with a heap dump", JAVA_OOM)
            .way("oom-worker")
            .options(
                "-Xmx24m",
                "-XX:+ExitOnOutOfMemoryError",
                "-XX:+HeapDumpOnOutOfMemoryError",
                "-XX:HeapDumpPath=%h")
            .act(Dying::go)
            .atMostPossible(KILLED, HALTED)
            .withStatus());
    all.add(
        Death.of("OnOutOfMemoryError kills the JVM", JAVA_OOM)
            .way("oom-worker")
            .options("-Xmx24m", "-XX:OnOutOfMemoryError=kill -9 %p")
            .act(Dying::go)
            .right(KILLED));
    all.add(
        Death.of("OutOfMemoryError uncaught in a worker, SIGKILL after", KILLED)
            .way("oom-worker")
            .options(SMALL_HEAP)
            .act(failedThenKilled(400))
            .atMostPossible(JAVA_OOM, UNCAUGHT));
    all.add(
        Death.of("OutOfMemoryError swallowed by a handler, SIGKILL after", KILLED)
            .way("oom-swallowed")
            .options(SMALL_HEAP)
            .act(failedThenKilled(400))
            .atMostPossible(JAVA_OOM));
    all.add(
        Death.of("OutOfMemoryError of direct memory swallowed, SIGKILL after", KILLED)
            .way("oom-direct-swallowed")
            .options("-XX:MaxDirectMemorySize=8m", "-XX:+ExitOnOutOfMemoryError")
            .act(failedThenKilled(400))
            .atMostPossible(JAVA_OOM));
    all.add(
        Death.of("OutOfMemoryError swallowed by a handler, SIGTERM after", SIGNAL_TERM)
            .way("oom-swallowed")
            .options(SMALL_HEAP)
            .act(
                v -> {
                  v.go();
                  v.await("failed");
                  v.live(100);
                  v.signal("TERM");
                }));
  }

  private static void kernelMemory(List<Death.Builder> all) {
    all.add(oomKill("OOM kill, one big array", "heap 400 1 0"));
    all.add(oomKill("OOM kill, many threads and a rogue request", "heap 4 100 2"));
    all.add(oomKill("OOM kill, a slow leak", "heap 4 100 60"));
    all.add(
        oomKill("OOM kill, direct memory", "direct 8 40 10")
            .options("-Xmx64m", "-XX:MaxDirectMemorySize=1g"));
    all.add(
        Death.of("OOM kill of the JVM that another process in its cgroup caused", OOM_KILLED)
            .limit(256)
            .way("heap 8 18 0")
            .options(BIG_HEAP)
            .act(
                v -> {
                  nearTheLimit(v);
                  v.hog(90);
                })
            .atMostPossible(KILLED));
  }

  private static void inAHook(List<Death.Builder> all) {
    all.add(
        Death.of("SIGTERM, OOM kill in a hook", OOM_KILLED)
            .limit(128)
            .way("hook-fills 4 100")
            .options(BIG_HEAP)
            .act(after(300, "TERM"))
            .atMostLikely(STOP_TIMEOUT)
            .atMostPossible(SIGNAL_TERM));
  }

  private static Death.Builder oomKill(String name, String way) {
    return Death.of(name, OOM_KILLED)
        .limit(128)
        .way(way)
        .options(BIG_HEAP)
        .act(
            v -> {
              v.liveUpTo(300);
              v.go();
            })
        .atMostPossible(KILLED);
  }

  private static void crashes(List<Death.Builder> all) {
    all.add(Death.of("SIGSEGV in Unsafe", NATIVE_CRASH).way("segv"));
    all.add(
        Death.of("SIGSEGV in Unsafe, hs_err in the working directory", NATIVE_CRASH)
            .way("segv")
            .options("-XX:ErrorFile="));
    all.add(Death.of("SIGSEGV from outside", NATIVE_CRASH).act(after(300, "SEGV")));
    all.add(Death.of("SIGBUS from outside", NATIVE_CRASH).act(after(300, "BUS")));
    all.add(
        Death.of("abort() in native code", NATIVE_CRASH)
            .way("native-abort")
            .options("--enable-native-access=ALL-UNNAMED")
            .needs(Needs.FOREIGN_FUNCTIONS)
            .atMostLikely(KILLED)
            .withStatus());
    all.add(
        Death.of("SIGSEGV in Unsafe, hs_err goes to the standard error", NATIVE_CRASH)
            .way("segv")
            .options("-XX:+ErrorFileToStderr")
            .atMostLikely(KILLED)
            .withStatus());
    all.add(
        Death.of("SIGSEGV in Unsafe, ZGC", NATIVE_CRASH)
            .way("segv")
            .options("-XX:-UseSerialGC", "-XX:+UseZGC"));
    all.add(
        Death.of("the kernel refuses native memory", NATIVE_CRASH)
            .way("heap 4 200 0")
            .options("-Xms8m", "-Xmx1g")
            .act(
                v -> {
                  v.refuseMemory(16);
                  v.go();
                })
            .right(JAVA_OOM));
    Death.Builder crashOfFirst =
        Death.of("pid 1 crashes", NATIVE_CRASH)
            .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
            .way("segv")
            .atMostPossible(KILLED);
    all.add(crashOfFirst);
    all.add(
        Death.of("pid 1 is killed, after an earlier pid 1 on the same volume crashed", KILLED)
            .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
            .after(crashOfFirst.build())
            .act(after(300, "KILL"))
            .atMostPossible(NATIVE_CRASH));
    all.add(
        Death.of("pid 1 is killed, and a later pid 1 on the same volume crashes", KILLED)
            .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
            .before(crashOfFirst.build())
            .act(after(300, "KILL"))
            .atMostPossible(NATIVE_CRASH));
  }

  private static void elsewhere(List<Death.Builder> all) {
    all.add(
        Death.of("SIGKILL of pid 1, seen from the next container", KILLED)
            .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
            .reading(Reading.OTHER_CONTAINER, Needs.PID_NAMESPACE)
            .act(after(300, "KILL")));
    for (String way : List.of("exit 7", "halt 2", "uncaught-main")) {
      Cause truth = way.equals("exit 7") ? EXIT : way.equals("halt 2") ? HALTED : UNCAUGHT;
      Death.Builder death =
          Death.of("pid 1: " + way, truth)
              .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
              .way(way);
      all.add(truth == HALTED ? death.atMostLikely(KILLED).withStatus() : death);
    }
    all.add(
        Death.of("pid 1: SIGTERM", SIGNAL_TERM)
            .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
            .act(after(300, "TERM")));
    all.add(
        Death.of("the machine goes down", HOST_DOWN)
            .reading(Reading.AFTER_REBOOT, Needs.MOUNT_NAMESPACE)
            .act(after(300, "KILL")));
    all.add(
        Death.of("the volume moves to another machine", UNKNOWN)
            .reading(Reading.OTHER_MACHINE, Needs.MOUNT_NAMESPACE)
            .act(after(300, "KILL"))
            .atMostLikely(RUNNING) // for 5 s, until it can be said to be dead
            .atMostPossible(KILLED, HOST_DOWN));
    all.add(
        Death.of("the volume moves to another machine of the same name", UNKNOWN)
            .reading(Reading.OTHER_MACHINE_OF_THAT_NAME, Needs.MOUNT_NAMESPACE)
            .act(after(300, "KILL"))
            .atMostLikely(RUNNING) // for 5 s, until it can be said to be dead
            .atMostPossible(KILLED, HOST_DOWN));
    all.add(
        Death.of("SIGKILL of a process with another monotonic clock", KILLED)
            .launch(Launch.OTHER_CLOCK, Needs.TIME_NAMESPACE)
            .act(after(300, "KILL")));
  }

  /** The same ends, recorded in other ways. */
  private static void otherModes(List<Death.Builder> all) {
    for (String option : List.of("-Dcairn.mode=copy", "-Dcairn.durability=power")) {
      String mode = ", " + option.substring(option.indexOf('=') + 1);
      all.add(Death.of("SIGKILL" + mode, KILLED).options(option).act(after(600, "KILL")));
      all.add(Death.of("SIGTERM" + mode, SIGNAL_TERM).options(option).act(after(600, "TERM")));
      all.add(Death.of("exit(7)" + mode, EXIT).way("exit 7").options(option));
      all.add(Death.of("uncaught in main" + mode, UNCAUGHT).way("uncaught-main").options(option));
      all.add(
          Death.of("SIGTERM, a hook hangs, SIGKILL after 1 s" + mode, STOP_TIMEOUT)
              .way("hook-hangs")
              .options(option)
              .act(
                  v -> {
                    v.signal("TERM");
                    v.live(1_000);
                    v.kill();
                  })
              .atMostPossible(SIGNAL_TERM, KILLED));
    }
  }

  private static void steppedClock(List<Death.Builder> all) {
    all.add(
        Death.of("SIGKILL after the clock was set back", KILLED)
            .launch(Launch.CLOCK_SET_BACK, Needs.COMPILER)
            .act(afterTheStep("KILL")));
    all.add(
        Death.of("SIGKILL after the clock was set ahead", KILLED)
            .launch(Launch.CLOCK_SET_AHEAD, Needs.COMPILER)
            .act(afterTheStep("KILL")));
    all.add(
        Death.of("SIGTERM after the clock was set back", SIGNAL_TERM)
            .launch(Launch.CLOCK_SET_BACK, Needs.COMPILER)
            .act(afterTheStep("TERM")));
    all.add(
        Death.of("uncaught in main after the clock was set back", UNCAUGHT)
            .launch(Launch.CLOCK_SET_BACK, Needs.COMPILER)
            .way("uncaught-main")
            .act(
                v -> {
                  v.live(SteppedClock.AFTER_MILLIS);
                  v.go();
                }));
    all.add(
        Death.of("alive after the clock was set back", RUNNING)
            .launch(Launch.CLOCK_SET_BACK, Needs.COMPILER)
            .act(v -> v.live(Dying.SAMPLE_MILLIS)));
  }

  private static Act afterTheStep(String signal) {
    return v -> {
      v.live(Dying.SAMPLE_MILLIS);
      v.signal(signal);
    };
  }

  private static void alive(List<Death.Builder> all) {
    all.add(Death.of("alive", RUNNING).act(v -> v.liveUpTo(300)));
    all.add(
        Death.of("alive, suspended", RUNNING)
            .act(
                v -> {
                  v.signal("STOP");
                  v.live(300);
                }));
    all.add(
        Death.of("alive after an uncaught exception in a worker", RUNNING)
            .way("uncaught-worker")
            .act(
                v -> {
                  v.go();
                  v.await("failed");
                }));
    all.add(
        Death.of("alive, in a hook that hangs", RUNNING)
            .way("hook-hangs")
            .act(
                v -> {
                  v.signal("TERM");
                  v.live(200);
                }));
    all.add(
        Death.of("alive, its lock was lost", RUNNING).way("lose-lock").act(v -> v.liveUpTo(300)));
    all.add(
        Death.of("alive, as pid 1 of a container", RUNNING)
            .launch(Launch.FIRST_PROCESS, Needs.PID_NAMESPACE)
            .act(v -> v.liveUpTo(300)));
    all.add(
        Death.of("alive, with another monotonic clock", RUNNING)
            .launch(Launch.OTHER_CLOCK, Needs.TIME_NAMESPACE)
            .act(v -> v.liveUpTo(300)));
  }

  private static Act after(int upToMillis, String signal) {
    return v -> {
      v.liveUpTo(upToMillis);
      v.signal(signal);
    };
  }

  private static Act failedThenKilled(int upToMillis) {
    return v -> {
      v.go();
      v.await("failed");
      v.liveUpTo(upToMillis);
      v.kill();
    };
  }
}
