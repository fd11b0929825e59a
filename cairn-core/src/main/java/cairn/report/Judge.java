package cairn.report;

import cairn.format.CborSlice;
import cairn.format.VitalsLayout;
import cairn.report.Evidence.Kind;
import cairn.storage.HostId;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Says how a run ended, from what its box and this machine show. One use, one thread. */
final class Judge {
  /*
   * The rules, first match wins; docs/REPORT.md has them for users.
   *
   *   1 lock held                                   RUNNING
   *   2 end marker                                  RETURNED, EXIT, SIGNAL_TERM, UNCAUGHT;
   *     and not all shutdown hooks ended            STOP_TIMEOUT
   *   3 hs_err file of that pid, near the last beat NATIVE_CRASH, JAVA_OOM
   *   4 shutdown began and did not end              STOP_TIMEOUT
   *   5 exit status other than SIGKILL's            HALTED, JAVA_OOM, NATIVE_CRASH, SIGNAL_TERM, KILLED
   *   6 uncaught OutOfMemoryError near the last beat JAVA_OOM
   *     life cycle unreadable, or another machine   UNKNOWN: what follows needs both
   *   7 another boot of the same machine            HOST_DOWN
   *   8 OOM counters                                OOM_KILLED
   *   9 OutOfMemoryError noted just before          JAVA_OOM
   *  10 else                                        KILLED
   *
   * A false verdict is worse than none. So a counter that moved is never enough by itself (a
   * neighbour may have been the victim), a boot id that differs is a reboot only if this machine
   * booted after the last sign of life (a volume may have moved to a machine of the same name), and
   * no rule needs a counter, a file or a clock to be there.
   */

  /** Signs closer than this belong together. */
  private static final long NEAR_NANOS = Duration.ofSeconds(5).toNanos();

  /** A run without a lock that was seen within this time counts as alive. */
  static final Duration ALIVE_WITHIN = Duration.ofSeconds(5);

  private static final Duration BOOT_WITHIN = Duration.ofMinutes(10);

  private static final int SIGNALS = 128;
  private static final int STATUS_KILL = SIGNALS + 9;
  private static final int STATUS_ABORT = SIGNALS + 6;
  private static final int LAST_SIGNAL = 64;

  /** What a crash of native code or of the JVM ends with, but for SIGABRT. */
  private static final Set<String> NATIVE_SIGNALS = Set.of("SIGILL", "SIGBUS", "SIGFPE", "SIGSEGV");

  /** Of a JVM that finds no native memory; and of one that cannot abort, since it is pid 1. */
  private static final int STATUS_FATAL = 1;

  private static final int STATUS_FATAL_AS_INIT = 127;

  /** Of {@code -XX:+ExitOnOutOfMemoryError}. */
  private static final int STATUS_OUT_OF_MEMORY = 3;

  private static final String INITIAL_PID_NAMESPACE = "4026531836";

  /** Share of the heap that is used. */
  private static final double FULL = 0.95;

  private static final int MAX_CRUMBS_SEARCHED = 50;
  private static final int MAX_FRAMES = 8;
  private static final int MAX_TEXT = 200;

  private final Salvage salvage;
  private final Liveness liveness;
  private final HostFacts host;
  private final Traces traces;
  private final Instant now;
  private final CrashEvidence crash;

  /** Of the dead JVM. That they are there excludes what would have deleted them. */
  private final @Nullable PerfData counters;

  private final OomKills oomKills;
  private final MemoryUse memory;
  private final List<Evidence> evidence = new ArrayList<>();

  Judge(Salvage salvage, Liveness liveness, HostFacts host) {
    this(salvage, liveness, host, Traces.NONE);
  }

  Judge(Salvage salvage, Liveness liveness, HostFacts host, Traces traces) {
    this.traces = traces;
    this.salvage = salvage;
    this.crash = new CrashEvidence(salvage, host, traces.directory());
    this.counters = liveness == Liveness.ALIVE ? null : counters(salvage, host, traces.directory());
    this.liveness = liveness;
    this.host = host;
    this.now = host.now();
    this.oomKills = OomKills.since(salvage, host, traces);
    this.memory = MemoryUse.of(salvage, host);
  }

  /** {@return the whole report} */
  Report report(String id, String app) {
    Verdict verdict = verdict();
    List<Advice> advice = new Advisor(salvage, verdict, traces, memory).advice();
    return new Report(id, app, salvage, verdict, advice, knownStatus(verdict));
  }

  private OptionalInt knownStatus(Verdict verdict) {
    if (verdict.cause() == Cause.RUNNING) {
      return OptionalInt.empty();
    }
    OptionalLong recorded = Salvage.integer(salvage.life, "status");
    return traces.exitStatus().isEmpty() && recorded.isPresent()
        ? OptionalInt.of((int) recorded.getAsLong())
        : traces.exitStatus();
  }

  Verdict verdict() {
    Verdict verdict = running();
    if (verdict == null) {
      verdict = endMarker();
    }
    if (verdict == null) {
      verdict = crashFile();
    }
    if (verdict == null) {
      verdict = stopping();
    }
    if (verdict == null) {
      verdict = exitStatus();
    }
    if (verdict == null) {
      verdict = uncaught();
    }
    if (verdict == null) {
      verdict = unknown();
    }
    if (verdict == null) {
      verdict = hostDown();
    }
    if (verdict == null) {
      verdict = outOfMemoryKill();
    }
    if (verdict == null) {
      verdict = outOfMemoryError();
    }
    return withCounters(verdict == null ? killed() : verdict);
  }

  /** {@return the verdict on a sudden death with what the JVM's own counters say} */
  private Verdict withCounters(Verdict verdict) {
    switch (verdict.cause()) {
      case KILLED, OOM_KILLED, JAVA_OOM, HALTED, NATIVE_CRASH, UNKNOWN -> {
        List<String> facts = counters == null ? List.of() : counters.facts();
        if (facts.isEmpty()) {
          return verdict;
        }
        add(Kind.FOR, "the JVM's counters at its death: " + String.join("; ", facts));
        return verdict(verdict.cause(), verdict.confidence(), verdict.headline());
      }
      default -> {
        return verdict;
      }
    }
  }

  private static @Nullable PerfData counters(
      Salvage salvage, HostFacts host, @Nullable Path directory) {
    PerfData copy = directory == null ? null : PerfCopy.read(directory.resolve(PerfCopy.COPY));
    return copy == null ? host.counters(salvage) : copy;
  }

  // 1

  private @Nullable Verdict running() {
    if (liveness == Liveness.ALIVE) {
      add(Kind.FOR, "its lock is held");
      return verdict(Cause.RUNNING, Confidence.CERTAIN, runningHeadline(""));
    }
    if (liveness == Liveness.DEAD && stillLives(salvage, host)) {
      add(Kind.FOR, "its process is alive, and is the one that started then");
      add(
          Kind.AGAINST,
          "its lock is free: something in the process opened and closed the lock file, or this is a"
              + " copy");
      return verdict(Cause.RUNNING, Confidence.CERTAIN, runningHeadline(""));
    }
    if (liveness == Liveness.DEAD && !isElsewhere(salvage, host)) {
      add(Kind.FOR, "its lock is free: the process is dead");
      return null;
    }
    String why =
        liveness == Liveness.DEAD
            ? "the run was on another machine, so its lock may not be visible here"
            : "there is no lock to ask, so that the process is dead is taken from the clock alone";
    if (isYoung(salvage, now)) {
      add(Kind.FOR, "its last sign of life is less than 5 s old");
      add(Kind.MISSING, why);
      return verdict(Cause.RUNNING, Confidence.LIKELY, runningHeadline(" (likely)"));
    }
    add(Kind.MISSING, why);
    return null;
  }

  private String runningHeadline(String sure) {
    StringBuilder text = new StringBuilder("Running").append(sure);
    Instant started = startedAt(salvage);
    if (started != null) {
      text.append(" since ").append(Names.timeUtc(started, now));
    }
    OptionalLong pid = Salvage.integer(salvage.identity, "pid");
    if (pid.isPresent()) {
      text.append(", pid ").append(pid.getAsLong());
    }
    String state = Salvage.text(salvage.life, "state");
    if ("CLOSING".equals(state) || "CLEAN".equals(state)) {
      text.append(", shutting down after ").append(reason());
      String hook = Salvage.text(salvage.life, "hook");
      if (hook != null) {
        text.append(", in the shutdown hook ").append(SafeText.cut(hook, MAX_TEXT));
      }
    }
    if (salvage.lastSeen != null) {
      long age = Math.max(0, Duration.between(salvage.lastSeen, now).toMillis());
      text.append("; last sign of life ").append(Names.duration(age)).append(" ago");
      if (age >= ALIVE_WITHIN.toMillis()) {
        text.append(" (stopped, in a long collection, or swapping?)");
      }
    }
    return text.append(inFlight("in flight")).toString();
  }

  /** {@return whether the recording process is there, and has not closed its recorder} */
  static boolean stillLives(Salvage salvage, HostFacts host) {
    return !"CLEAN".equals(Salvage.text(salvage.life, "state")) && processLives(salvage, host);
  }

  /** {@return whether the process that recorded is there, recorder or not} */
  private static boolean processLives(Salvage salvage, HostFacts host) {
    String bootId = Salvage.text(salvage.identity, "bootId");
    String namespace = Salvage.text(salvage.identity, "pidNamespace");
    OptionalLong pid = Salvage.integer(salvage.identity, "pid");
    OptionalLong start = Salvage.integer(salvage.identity, "processStart");
    return bootId != null
        && bootId.equals(host.bootId())
        && namespace != null
        && pid.isPresent()
        && start.isPresent()
        && host.isAlive(pid.getAsLong(), start.getAsLong(), namespace);
  }

  static boolean isYoung(Salvage salvage, Instant now) {
    return salvage.lastSeen != null
        && Duration.between(salvage.lastSeen, now).abs().compareTo(ALIVE_WITHIN) < 0;
  }

  /** {@return whether the run was on another machine than this one} */
  static boolean isElsewhere(Salvage salvage, HostFacts host) {
    if (!differs(Salvage.text(salvage.identity, "bootId"), host.bootId())) {
      return false;
    }
    String id = Salvage.text(salvage.identity, "hostId");
    boolean knowsIds = id != null && host.hostId() != null;
    return knowsIds
        ? differs(id, host.hostId())
        : differs(Salvage.text(salvage.identity, "host"), host.hostName());
  }

  static @Nullable Instant startedAt(Salvage salvage) {
    OptionalLong wall = Salvage.integer(salvage.identity, "wallMillis");
    return wall.isPresent() ? Names.instant(wall.getAsLong()) : null;
  }

  private static boolean differs(@Nullable String one, @Nullable String other) {
    return one != null && other != null && !one.equalsIgnoreCase(other);
  }

  // 2

  private @Nullable Verdict endMarker() {
    if (!"CLEAN".equals(Salvage.text(salvage.life, "state"))) {
      return null;
    }
    add(Kind.FOR, "the end marker was written last: " + reason());
    Salvage.Clocks end = Salvage.clocks(salvage.life);
    long beatsAfter = nanosAfter(end);
    String reason = reasonCode();
    Confidence sure = Confidence.CERTAIN;
    String at = at(end);
    if (!reason.equals("CLOSED")) {
      if (diedInHooks()) {
        Verdict cut = crashFile();
        if (cut == null) {
          cut = cutShutdown(beatsAfter / 1_000_000);
        }
        if (cut != null) {
          return cut;
        }
      } else if (beatsAfter >= NEAR_NANOS) {
        at += ", and went on for " + Names.duration(beatsAfter / 1_000_000) + " in other hooks";
        if (!hasHooksFile()) {
          sure = Confidence.LIKELY;
          at += " (likely)";
          add(
              Kind.AGAINST,
              "beats went on for "
                  + Names.duration(beatsAfter / 1_000_000)
                  + " after the end marker: another shutdown hook was slow, and the process may have"
                  + " been killed in it");
        }
      }
    }
    if (!reason.equals("CLOSED") && !diedInHooks()) {
      Verdict cut = diedWhileItExited(at);
      if (cut != null) {
        return cut;
      }
      if (mayBeASignal()) {
        sure = Confidence.LIKELY;
        at += " (likely)";
      }
    }
    boolean nearUncaught = isUncaughtBefore(end);
    return switch (reason) {
      case "RETURNED" -> returned(sure, at);
      case "CLOSED" -> closed(at);
      case "EXIT" -> exit(sure, at, nearUncaught);
      case "SIGNAL" -> {
        noteUncaught();
        OptionalInt status = traces.exitStatus();
        boolean halted =
            diedInHooks() && status.isPresent() && !isStatusOfSignal(status.getAsInt());
        yield verdict(
            Cause.SIGNAL_TERM,
            sure,
            "Stopped by "
                + signal()
                + at
                + (halted ? ", and halted with " + status.getAsInt() + " by a shutdown hook" : "")
                + (!halted && status.isPresent() && !isStatusOfSignal(status.getAsInt())
                    ? ", exit status " + status.getAsInt()
                    : "")
                + inFlightIfAny());
      }
      default -> {
        if (nearUncaught && isUncaughtInMain()) {
          addUncaught();
          yield verdict(
              Cause.UNCAUGHT,
              Confidence.LIKELY,
              "Ended by an uncaught exception (likely)"
                  + at
                  + ": "
                  + uncaughtText()
                  + inFlightIfAny());
        }
        noteUncaught();
        add(
            Kind.MISSING,
            "who began the shutdown was not seen: System.exit on a virtual thread leaves no frame"
                + " (JDK 21 and later log it, from 3 s after the start on)");
        OptionalInt status = statusOfShutdown();
        yield verdict(
            Cause.EXIT,
            status.isPresent() ? Confidence.LIKELY : Confidence.POSSIBLE,
            "Shut down in order"
                + at
                + (status.isPresent()
                    ? ", likely by System.exit(" + status.getAsInt() + ")"
                    : ", possibly by System.exit")
                + inFlightIfAny());
      }
    };
  }

  /**
   * Judges a recorder that the application closed: what came after that was not recorded. The file
   * that the JVM deletes at an orderly end tells whether there was one.
   */
  private Verdict closed(String at) {
    noteUncaught();
    OptionalInt status = traces.exitStatus();
    if (diedInHooks() && processLives(salvage, host)) {
      return verdict(
          Cause.RETURNED,
          Confidence.CERTAIN,
          "Ended cleanly"
              + at
              + ": the application closed its recorder, and lives on"
              + inFlightIfAny());
    }
    if (diedInHooks() && !isElsewhere(salvage, host)) {
      Verdict crashed = crashFile();
      if (crashed != null) {
        return crashed;
      }
      add(
          Kind.FOR,
          "the process did not end in order: the file " + Traces.HOOKS + " is still there");
      boolean known = status.isPresent();
      if (known) {
        add(Kind.FOR, "its exit status is " + status.getAsInt());
      }
      boolean halted = known && !isSignal(status.getAsInt());
      Confidence sure = known ? Confidence.LIKELY : Confidence.POSSIBLE;
      return verdict(
          halted ? Cause.HALTED : Cause.KILLED,
          sure,
          (halted ? "Halted" : known ? "Killed" : "Killed or halted")
              + qualifierInBrackets(sure)
              + " some time after the application had closed its recorder"
              + at
              + inFlightIfAny());
    }
    Confidence sure = hasHooksFile() ? Confidence.CERTAIN : Confidence.LIKELY;
    if (status.isPresent() && status.getAsInt() != 0) {
      add(Kind.AGAINST, "its exit status is " + status.getAsInt());
      sure = Confidence.POSSIBLE;
    }
    return verdict(
        Cause.RETURNED,
        sure,
        (sure == Confidence.CERTAIN
                ? "Ended cleanly"
                : "Ended, " + sure.name().toLowerCase(Locale.ROOT) + " cleanly,")
            + at
            + ": the application closed its recorder"
            + inFlightIfAny());
  }

  /**
   * Judges a process whose shutdown hooks all ended and whose exit status is none of that shutdown:
   * what the JVM does then, and native code at its exit, can crash or be killed too.
   *
   * @return null if the end marker decides
   */
  private @Nullable Verdict diedWhileItExited(String at) {
    OptionalInt seen = traces.exitStatus();
    boolean signalled = seen.isPresent() && isSignal(seen.getAsInt());
    Verdict crashed = signalled && !reasonCode().equals("SIGNAL") ? crashFile() : null;
    if (crashed != null || seen.isEmpty() || isExpected(seen.getAsInt())) {
      return crashed;
    }
    int status = seen.getAsInt();
    add(Kind.FOR, "its exit status is " + status + ", which that end does not have");
    String when = " while it exited" + at + ", after " + reason() + inFlightIfAny();
    if (status == STATUS_KILL) {
      Verdict memoryKill = outOfMemoryKill();
      return memoryKill != null && memoryKill.confidence() != Confidence.POSSIBLE
          ? memoryKill
          : verdict(Cause.KILLED, Confidence.LIKELY, "Killed (SIGKILL, likely)" + when);
    }
    String name = signalName(status - SIGNALS);
    if (NATIVE_SIGNALS.contains(name)) {
      add(Kind.MISSING, "an hs_err file of this run");
      return verdict(
          Cause.NATIVE_CRASH, Confidence.LIKELY, "Crashed with " + name + " (likely)" + when);
    }
    if (status == STATUS_ABORT) {
      add(Kind.MISSING, "an hs_err file of this run: abort() in native code leaves none");
      return verdict(
          Cause.NATIVE_CRASH, Confidence.POSSIBLE, "Aborted (possibly a native crash)" + when);
    }
    return isSignal(status)
        ? verdict(Cause.KILLED, Confidence.POSSIBLE, "Killed by " + name + " (possible)" + when)
        : verdict(
            Cause.HALTED,
            Confidence.POSSIBLE,
            "Halted with exit status " + status + " (possible)" + when);
  }

  /** Notes an exit status that is a signal's, and may be the one that exit was given. */
  private boolean mayBeASignal() {
    OptionalInt status = traces.exitStatus();
    boolean may =
        reasonCode().equals("EXIT")
            && Salvage.integer(salvage.life, "status").isEmpty()
            && status.isPresent()
            && isSignal(status.getAsInt());
    if (may) {
      add(
          Kind.AGAINST,
          "its exit status is "
              + status.getAsInt()
              + ": given to System.exit, or "
              + signalName(status.getAsInt() - SIGNALS)
              + " while it exited");
    }
    return may;
  }

  private static boolean isSignal(int status) {
    return status > SIGNALS && status <= SIGNALS + LAST_SIGNAL;
  }

  /** {@return whether the recorder made the file that tells whether all hooks have ended} */
  private boolean hasHooksFile() {
    CborSlice made = salvage.identity.get("hooksFile");
    return made != null && Boolean.TRUE.equals(made.value());
  }

  /** {@return whether shutdown hooks of others were still at work when the process died} */
  private boolean diedInHooks() {
    return hasHooksFile() && traces.hooksLeft();
  }

  /** {@return the exit status of a shutdown in order, if it was seen} */
  private OptionalInt statusOfShutdown() {
    OptionalInt status = traces.exitStatus();
    boolean unseen =
        status.isEmpty() || status.getAsInt() == STATUS_KILL || !isExpected(status.getAsInt());
    return unseen ? OptionalInt.empty() : status;
  }

  /**
   * Judges a process that died after our own end marker and before the last shutdown hook had
   * ended.
   *
   * @return null if the end marker decides
   */
  private @Nullable Verdict cutShutdown(long millis) {
    OptionalInt status = traces.exitStatus();
    if (status.isPresent() && status.getAsInt() != STATUS_KILL) {
      add(
          Kind.FOR,
          "its exit status is "
              + status.getAsInt()
              + (isExpected(status.getAsInt())
                      && (!reasonCode().equals("SIGNAL") || isStatusOfSignal(status.getAsInt()))
                  ? ", as of a shutdown in order"
                  : ": one of its shutdown hooks halted the JVM"));
      return isExpected(status.getAsInt()) || reasonCode().equals("SIGNAL")
          ? null
          : verdict(
              Cause.HALTED,
              Confidence.CERTAIN,
              "Halted with exit status "
                  + status.getAsInt()
                  + " by a shutdown hook, "
                  + Names.duration(millis)
                  + " after "
                  + reason()
                  + inFlightIfAny());
    }
    add(Kind.FOR, "not all shutdown hooks had ended: the file " + Traces.HOOKS + " is still there");
    return stopTimeout(millis);
  }

  /** {@return whether a shutdown for the reason that was noted ends with that status} */
  private boolean isExpected(int status) {
    return switch (reasonCode()) {
      case "RETURNED" -> status == 0 || status == 1;
      case "SIGNAL" -> !isSignal(status) || isStatusOfSignal(status);
      default -> {
        OptionalLong given = Salvage.integer(salvage.life, "status");
        yield given.isEmpty() || (given.getAsLong() & 255) == status;
      }
    };
  }

  /**
   * {@return whether the JVM ends with that status after the signal; its handler may give others}
   */
  private boolean isStatusOfSignal(int status) {
    return signalName(status - SIGNALS).equals(signal());
  }

  private Verdict returned(Confidence sure, String at) {
    // Whatever ended the thread main ended the application, however long the other threads still
    // worked: its exit status is 1. An exception of another thread ends that thread only.
    if (isUncaughtInMain()) {
      addUncaught();
      return verdict(
          Cause.UNCAUGHT,
          sure,
          "Ended by an uncaught exception" + at + ": " + uncaughtText() + inFlightIfAny());
    }
    noteUncaught();
    boolean blind = "replaced".equals(Salvage.text(salvage.life, "handler"));
    OptionalInt status = statusOfShutdown();
    if (blind && status.isEmpty()) {
      add(
          Kind.MISSING,
          "exceptions that nothing caught were not seen: the application set a handler of its own, as"
              + " default after it opened the recorder, or for main; an exit status would tell");
    } else if (status.isPresent()) {
      add(Kind.FOR, "its exit status is " + status.getAsInt());
      if (status.getAsInt() != 0) {
        return verdict(
            Cause.UNCAUGHT,
            Confidence.LIKELY,
            "Ended by an exception of main that was not seen (likely)"
                + at
                + ": exit status "
                + status.getAsInt()
                + inFlightIfAny());
      }
    }
    Confidence confidence = sure;
    if (blind && status.isEmpty()) {
      confidence = Confidence.POSSIBLE;
    } else if (status.isEmpty()) {
      confidence = Confidence.LIKELY;
      add(
          Kind.MISSING,
          "its exit status: 0 would exclude that main ended by an exception that a handler of its"
              + " own took");
    }
    return verdict(
        Cause.RETURNED,
        confidence,
        (confidence == Confidence.CERTAIN
                ? "Ended cleanly"
                : "Ended, " + confidence.name().toLowerCase(Locale.ROOT) + " cleanly,")
            + at
            + ": main and all other threads but daemons had ended"
            + inFlightIfAny());
  }

  /** {@return whether the last uncaught exception was the thread main's} */
  private boolean isUncaughtInMain() {
    CborSlice main = salvage.uncaught.get("main");
    if (main != null) {
      return Boolean.TRUE.equals(main.value());
    }
    return "main".equals(Salvage.text(salvage.uncaught, "thread")); // before format 1.3
  }

  private Verdict exit(Confidence sure, String at, boolean nearUncaught) {
    List<String> frames = callers();
    String thread = Salvage.text(salvage.life, "thread");
    OptionalLong status = Salvage.integer(salvage.life, "status");
    OptionalInt seen = status.isPresent() ? OptionalInt.empty() : statusOfShutdown();
    if (!frames.isEmpty()) {
      add(Kind.FOR, "called from " + String.join(" < ", frames));
    } else {
      add(Kind.MISSING, "the caller of System.exit was not seen");
    }
    if (nearUncaught && thread != null && thread.equals(Salvage.text(salvage.uncaught, "thread"))) {
      addUncaught();
      return verdict(
          Cause.UNCAUGHT,
          Confidence.LIKELY,
          "Ended by an uncaught exception (likely), whose handler called System.exit"
              + at
              + ": "
              + uncaughtText()
              + inFlightIfAny());
    }
    noteUncaught();
    if (status.isEmpty() && seen.isEmpty()) {
      add(
          Kind.MISSING,
          "its exit status: JDK 21 and later log it, from 3 s after the start on; a parent sees it");
    }
    return verdict(
        Cause.EXIT,
        sure,
        "System.exit"
            + (status.isPresent() ? "(" + status.getAsLong() + ")" : "")
            + " was called"
            + at
            + (frames.isEmpty() ? "" : " by " + frames.get(0))
            + (thread == null ? "" : " on thread " + SafeText.cut(thread, MAX_TEXT))
            + (seen.isPresent() ? ", exit status " + seen.getAsInt() : "")
            + inFlightIfAny());
  }

  /** {@return the frames of the exit, without those of the JDK's own exit, innermost first} */
  private List<String> callers() {
    List<String> frames = frames("caller");
    while (!frames.isEmpty() && isExit(frames.get(0))) {
      frames.remove(0);
    }
    return new ArrayList<>(frames.subList(0, Math.min(frames.size(), MAX_FRAMES)));
  }

  private static boolean isExit(String frame) {
    return frame.contains("java.lang.Shutdown.")
        || frame.contains("java.lang.Runtime.exit")
        || frame.contains("java.lang.System.exit")
        || frame.contains("java.lang.ApplicationShutdownHooks")
        || frame.contains("java.lang.Object.wait")
        || frame.contains("java.lang.Thread.join");
  }

  private List<String> frames(String key) {
    CborSlice slice = salvage.life.get(key);
    List<String> frames = new ArrayList<>();
    if (slice != null && slice.value() instanceof List<?> list) {
      for (Object frame : list) {
        frames.add(SafeText.cut(frame(frame), MAX_TEXT));
      }
    }
    return frames;
  }

  /** {@return a frame without the name of the application's class loader, which says nothing} */
  private static String frame(@Nullable Object frame) {
    String text = String.valueOf(frame);
    return text.startsWith("app//") ? text.substring("app//".length()) : text;
  }

  private String reasonCode() {
    String reason = Salvage.text(salvage.life, "reason");
    return reason == null ? "UNKNOWN" : reason;
  }

  private String reason() {
    return switch (reasonCode()) {
      case "CLOSED" -> "the recorder was closed";
      case "RETURNED" -> "the end of main and all other threads but daemons";
      case "EXIT" -> "System.exit";
      case "SIGNAL" -> signal();
      default -> "a shutdown of unknown origin";
    };
  }

  private String signal() {
    String signal = Salvage.text(salvage.life, "signal");
    return signal == null ? "a termination signal" : SafeText.cut(signal, 20);
  }

  // 3

  private @Nullable Verdict crashFile() {
    CrashEvidence.Found found = crash.find();
    evidence.addAll(crash.evidence());
    if (found == null) {
      String console = crash.console();
      if (console != null) {
        add(Kind.MISSING, "an hs_err file would have gone to its console, by -XX:+" + console);
      } else if (crash.places().isEmpty()) {
        add(Kind.MISSING, "where an hs_err file would be is unknown");
      }
      return null;
    }
    Confidence sure =
        found.isWhole() && !isElsewhere(salvage, host) ? Confidence.CERTAIN : Confidence.LIKELY;
    return verdict(
        found.file().kind == CrashFile.Kind.JAVA_MEMORY ? Cause.JAVA_OOM : Cause.NATIVE_CRASH,
        sure,
        CrashEvidence.headline(found.file(), qualifier(sure))
            + atLastSeen()
            + ", see "
            + SafeText.cut(found.path().toString(), MAX_TEXT)
            + inFlight("in flight"));
  }

  // 4

  private @Nullable Verdict stopping() {
    if (!"CLOSING".equals(Salvage.text(salvage.life, "state"))) {
      return null;
    }
    Salvage.Clocks began = Salvage.clocks(salvage.life);
    add(
        Kind.FOR,
        "shutdown began" + at(began) + " after " + reason() + " and its end was not seen");
    return stopTimeout(nanosAfter(began) / 1_000_000);
  }

  private Verdict stopTimeout(long millis) {
    String hook = Salvage.text(salvage.life, "hook");
    List<String> frames = frames("hookStack");
    String where = "";
    if (hook != null) {
      where = ", in the shutdown hook " + SafeText.cut(hook, MAX_TEXT);
      add(
          Kind.FOR,
          "the shutdown hook "
              + SafeText.cut(hook, MAX_TEXT)
              + " had not ended"
              + (frames.isEmpty() ? "" : ": at " + String.join(" < ", frames)));
    }
    OptionalInt status = traces.exitStatus();
    if (status.isEmpty() || isKilled()) {
      Verdict memory = outOfMemoryKill();
      if (memory != null && memory.confidence() != Confidence.POSSIBLE) {
        return memory;
      }
    }
    String how;
    Confidence sure;
    if (isKilled()) {
      sure = oomKills.excluded() ? Confidence.CERTAIN : Confidence.LIKELY;
      how = "Killed while shutting down" + qualifierInBrackets(sure) + ", ";
      add(Kind.FOR, "its exit status is " + STATUS_KILL + ": SIGKILL");
      graceful(millis);
    } else if (status.isPresent()) {
      sure = Confidence.LIKELY;
      how = "Halted while shutting down (likely), ";
      add(Kind.FOR, "its exit status is " + status.getAsInt() + ": a shutdown hook halted the JVM");
    } else if (millis * 1_000_000 >= NEAR_NANOS) {
      sure = Confidence.LIKELY;
      how = "Killed while shutting down (likely), ";
      add(Kind.FOR, "beats went on for " + Names.duration(millis) + " after it began");
      graceful(millis);
    } else {
      sure = Confidence.POSSIBLE;
      how = "Killed or halted while shutting down (possible), ";
      add(
          Kind.MISSING,
          "beats went on for only "
              + Names.duration(millis)
              + ": SIGKILL, or Runtime.halt in a shutdown hook, leaves the same trace");
    }
    noteUncaught();
    return verdict(
        Cause.STOP_TIMEOUT,
        sure,
        how
            + Names.duration(millis)
            + " after "
            + reason()
            + where
            + lastSeenWith(", at ", " or later")
            + inFlight("in flight"));
  }

  private static String qualifierInBrackets(Confidence sure) {
    return sure == Confidence.CERTAIN ? "" : " (" + sure.name().toLowerCase(Locale.ROOT) + ")";
  }

  private void graceful(long millis) {
    if (Math.abs(millis - 30_000) <= 2_000) {
      add(Kind.FOR, "30 s is the default grace period of Kubernetes");
    } else if (Math.abs(millis - 10_000) <= 1_500) {
      add(Kind.FOR, "10 s is the default grace period of docker stop");
    }
  }

  // 5

  /** What the parent saw. SIGKILL's status decides nothing: the OOM killer sends it too. */
  private @Nullable Verdict exitStatus() {
    OptionalInt seen = traces.exitStatus();
    if (seen.isEmpty()) {
      return null;
    }
    int status = seen.getAsInt();
    if (status == STATUS_KILL) {
      add(Kind.FOR, "its exit status is 137: SIGKILL, or Runtime.halt(137)");
      return null;
    }
    if (!"OPEN".equals(Salvage.text(salvage.life, "state"))) {
      return null;
    }
    int signal = status - SIGNALS;
    if (signal >= 1 && signal <= LAST_SIGNAL) {
      return signalled(signal, status);
    }
    add(
        Kind.FOR,
        "its exit status is "
            + status
            + " and no shutdown hook ran: it ended itself, by Runtime.halt or in native code");
    boolean exits = hasFlag("ExitOnOutOfMemoryError");
    if (exits && status == STATUS_OUT_OF_MEMORY) {
      add(Kind.FOR, "3 is the exit status of -XX:+ExitOnOutOfMemoryError, which is set");
      boolean noted = noteOutOfMemory();
      return verdict(
          Cause.JAVA_OOM,
          noted ? Confidence.CERTAIN : Confidence.LIKELY,
          "The JVM ended itself after an OutOfMemoryError"
              + (noted ? "" : " (likely)")
              + atLastSeen()
              + ", as -XX:+ExitOnOutOfMemoryError has it"
              + inFlight("in flight"));
    }
    boolean uncaught = !salvage.uncaught.isEmpty() && isUncaughtNearLastBeat();
    if (uncaught) {
      addUncaught();
    } else {
      noteUncaught();
    }
    if (uncaught && isOutOfMemory(Salvage.text(salvage.uncaught, "type"))) {
      return verdict(
          Cause.JAVA_OOM,
          Confidence.LIKELY,
          "Halted with exit status "
              + status
              + " after an OutOfMemoryError (likely)"
              + atLastSeen()
              + ": "
              + uncaughtText()
              + inFlight("in flight"));
    }
    boolean crashes = status == STATUS_FATAL || status == STATUS_FATAL_AS_INIT;
    if (crashes) {
      add(
          Kind.MISSING,
          "an hs_err file of this run: a JVM that finds no native memory also exits with 1, and one"
              + " that crashes as pid 1 with 127");
    }
    return verdict(
        Cause.HALTED,
        crashes ? Confidence.LIKELY : Confidence.CERTAIN,
        "Halted with exit status "
            + status
            + " (Runtime.halt, or native code"
            + qualifier(crashes ? Confidence.LIKELY : Confidence.CERTAIN)
            + ")"
            + atLastSeen()
            + (uncaught ? ", after an uncaught exception: " + uncaughtText() : "")
            + inFlight("in flight"));
  }

  private Verdict signalled(int signal, int status) {
    String name = signalName(signal);
    add(Kind.FOR, "its exit status is " + status + ": " + name);
    noteUncaught();
    switch (name) {
      case "SIGTERM", "SIGINT", "SIGHUP" -> {
        add(Kind.FOR, "no shutdown hook ran, as with the flag -Xrs: the signal ended it at once");
        return verdict(
            Cause.SIGNAL_TERM,
            Confidence.LIKELY,
            "Ended by " + name + " (likely)" + atLastSeen() + inFlight("in flight"));
      }
      case "SIGILL", "SIGBUS", "SIGFPE", "SIGSEGV" -> { // NATIVE_SIGNALS
        add(
            Kind.MISSING,
            "an hs_err file of this run: it crashed before that was written, or it is"
                + " where nobody looks");
        return verdict(
            Cause.NATIVE_CRASH,
            Confidence.LIKELY,
            "Crashed with " + name + " (likely)" + atLastSeen() + inFlight("in flight"));
      }
      case "SIGABRT" -> {
        if (hasFlag("CrashOnOutOfMemoryError") && noteOutOfMemory()) {
          return verdict(
              Cause.JAVA_OOM,
              Confidence.LIKELY,
              "The JVM aborted after an OutOfMemoryError (likely)"
                  + atLastSeen()
                  + inFlight("in flight"));
        }
        add(
            Kind.MISSING,
            "an hs_err file of this run: abort() in native code leaves none, nor does kill -ABRT");
        return verdict(
            Cause.NATIVE_CRASH,
            Confidence.POSSIBLE,
            "Aborted (possibly a native crash, or kill -ABRT)"
                + atLastSeen()
                + inFlight("in flight"));
      }
      default -> {
        return verdict(
            Cause.KILLED,
            Confidence.LIKELY,
            "Killed by " + name + " (likely)" + atLastSeen() + inFlight("in flight"));
      }
    }
  }

  /** Numbers of Linux on x86 and ARM. */
  private static String signalName(int signal) {
    return switch (signal) {
      case 1 -> "SIGHUP";
      case 2 -> "SIGINT";
      case 3 -> "SIGQUIT";
      case 4 -> "SIGILL";
      case 5 -> "SIGTRAP";
      case STATUS_ABORT - SIGNALS -> "SIGABRT";
      case 7 -> "SIGBUS";
      case 8 -> "SIGFPE";
      case STATUS_KILL - SIGNALS -> "SIGKILL";
      case 10 -> "SIGUSR1";
      case 11 -> "SIGSEGV";
      case 12 -> "SIGUSR2";
      case 13 -> "SIGPIPE";
      case 14 -> "SIGALRM";
      case 15 -> "SIGTERM";
      case 24 -> "SIGXCPU";
      case 25 -> "SIGXFSZ";
      case 31 -> "SIGSYS";
      default -> "signal " + signal;
    };
  }

  /** {@return whether the JVM ran with that flag; false if it is not known} */
  private boolean hasFlag(String name) {
    CborSlice flags = salvage.identity.get("flags");
    return flags != null && flags.value() instanceof List<?> list && list.contains(name);
  }

  // 6

  private @Nullable Verdict uncaught() {
    if (salvage.uncaught.isEmpty() || !isUncaughtNearLastBeat()) {
      noteUncaught();
      return null;
    }
    if (isOutOfMemory(Salvage.text(salvage.uncaught, "type"))) {
      addUncaught();
      add(
          Kind.MISSING,
          "that the JVM ended because of it was not seen: a handler may have halted it");
      return verdict(
          Cause.JAVA_OOM,
          Confidence.POSSIBLE,
          "Ended for want of Java memory (possible)"
              + atLastSeen()
              + ": "
              + uncaughtText()
              + inFlight("in flight"));
    }
    // An uncaught exception ends a JVM through its shutdown, and that leaves an end marker.
    noteUncaught();
    add(
        Kind.MISSING,
        "whether a handler of the application called Runtime.halt because of that exception");
    return null;
  }

  private static boolean isOutOfMemory(@Nullable String text) {
    return text != null && text.contains("java.lang.OutOfMemoryError");
  }

  private String uncaughtText() {
    String type = Salvage.text(salvage.uncaught, "type");
    String message = Salvage.text(salvage.uncaught, "message");
    String thread = Salvage.text(salvage.uncaught, "thread");
    return (type == null ? "an exception" : SafeText.cut(type, MAX_TEXT))
        + (message == null ? "" : ": " + SafeText.cut(message, MAX_TEXT))
        + (thread == null
            ? ""
            : thread.isEmpty()
                ? " on a thread without a name, such as a virtual one"
                : " on thread " + SafeText.cut(thread, MAX_TEXT));
  }

  private void addUncaught() {
    StringBuilder text = new StringBuilder("uncaught: ").append(uncaughtText());
    CborSlice slice = salvage.uncaught.get("stack");
    if (slice != null && slice.value() instanceof List<?> stack && !stack.isEmpty()) {
      text.append(", at ").append(SafeText.cut(frame(stack.get(0)), MAX_TEXT));
    }
    add(Kind.FOR, text.toString());
  }

  /** Notes an uncaught exception that did not decide. */
  private void noteUncaught() {
    if (!salvage.uncaught.isEmpty()) {
      Salvage.Clocks when = Salvage.clocks(salvage.uncaught);
      add(
          Kind.AGAINST,
          "an uncaught exception" + at(when) + " did not end the process: " + uncaughtText());
    }
  }

  private boolean isUncaughtBefore(Salvage.@Nullable Clocks end) {
    Salvage.Clocks when = Salvage.clocks(salvage.uncaught);
    if (when == null || end == null) {
      return false;
    }
    long before = end.nanos() - when.nanos();
    return before >= 0 && before <= NEAR_NANOS;
  }

  private boolean isUncaughtNearLastBeat() {
    Salvage.Clocks when = Salvage.clocks(salvage.uncaught);
    Salvage.Clocks last = salvage.newestClocks;
    return when != null && last != null && last.nanos() - when.nanos() <= NEAR_NANOS;
  }

  // Unknown

  private @Nullable Verdict unknown() {
    if (!"OPEN".equals(Salvage.text(salvage.life, "state"))) {
      add(Kind.MISSING, "the life cycle is unreadable: a clean end cannot be told from a death");
      return verdict(
          Cause.UNKNOWN,
          Confidence.UNKNOWN,
          "Ended" + atLastSeen() + ", how is unknown" + inFlight("in flight"));
    }
    add(Kind.FOR, "no end marker: no shutdown hook ran, as return, exit and SIGTERM would have it");
    if (isElsewhere(salvage, host)) {
      return elsewhere("its host name and boot id are another machine's");
    }
    return null;
  }

  private Verdict elsewhere(String why) {
    add(Kind.MISSING, why + ": what killed it can be told only there");
    return verdict(
        Cause.UNKNOWN,
        Confidence.UNKNOWN,
        "Died on another machine" + atLastSeen() + ", how is unknown" + inFlight("in flight"));
  }

  // 7

  private @Nullable Verdict hostDown() {
    String bootId = Salvage.text(salvage.identity, "bootId");
    String here = host.bootId();
    for (Statement statement : traces.statements()) {
      if (bootId != null && bootId.equalsIgnoreCase(statement.bootId())) {
        add(
            Kind.AGAINST,
            "the machine did not go down: " + SafeText.cut(statement.by(), 20) + " saw the death");
        return null;
      }
    }
    if (bootId == null || here == null) {
      add(Kind.MISSING, "boot ids can't be compared: a reboot is not excluded");
      return null;
    }
    if (!differs(bootId, here)) {
      add(Kind.AGAINST, "the machine has not rebooted since: same boot id");
      return null;
    }
    String id = Salvage.text(salvage.identity, "hostId");
    boolean knowsIds = id != null && host.hostId() != null;
    boolean sameId = knowsIds && !differs(id, host.hostId());
    boolean sameName =
        host.hostName() != null
            && host.hostName().equalsIgnoreCase(Salvage.text(salvage.identity, "host"));
    if (knowsIds ? !sameId : !sameName) {
      return elsewhere("its boot id is another one, and it is not known to be this machine's");
    }
    Instant booted = host.bootedAt();
    Instant seen = salvage.lastSeen;
    if (booted != null && seen != null && booted.plusSeconds(5).isBefore(seen)) {
      return elsewhere(
          "this machine has the same name but was up before the run's last sign of life");
    }
    add(Kind.FOR, "the boot id changed, on a host of the same " + (sameId ? "host id" : "name"));
    Confidence sure = Confidence.CERTAIN;
    String namespace = Salvage.text(salvage.identity, "pidNamespace");
    boolean told = sameId && id != null && !id.startsWith(HostId.DERIVED);
    if (!told && namespace != null && !namespace.contains(INITIAL_PID_NAMESPACE)) {
      sure = Confidence.LIKELY;
      add(
          Kind.MISSING,
          "it ran in a container, whose host name and machine id say little about the machine"
              + " (set CAIRN_HOST_ID)");
    }
    if (booted == null || seen == null) {
      sure = Confidence.LIKELY;
      add(Kind.MISSING, "when the machine came up again is unknown");
    } else if (Duration.between(seen, booted).compareTo(BOOT_WITHIN) > 0) {
      sure = Confidence.POSSIBLE;
      add(
          Kind.AGAINST,
          "the machine came up "
              + Names.duration(Duration.between(seen, booted).toMillis())
              + " after the last sign of life: the process may have died long before");
    } else {
      add(
          Kind.FOR,
          "the machine came up "
              + Names.duration(Math.max(0, Duration.between(seen, booted).toMillis()))
              + " after the last sign of life");
    }
    return verdict(
        Cause.HOST_DOWN,
        sure,
        "The machine went down (reboot, power loss or kernel panic"
            + qualifier(sure)
            + ") after "
            + (seen == null ? "the start" : Names.timeUtc(seen, now))
            + inFlight("in flight"));
  }

  private static String qualifier(Confidence sure) {
    return sure == Confidence.CERTAIN ? "" : ", " + sure.name().toLowerCase(Locale.ROOT);
  }

  // 8

  private @Nullable Verdict outOfMemoryKill() {
    noteEarlierKill();
    if (oomKills.excluded()) {
      add(
          Kind.AGAINST,
          "the kernel's OOM killer is excluded: its counter "
              + (oomKills.inCgroup().isPresent() ? "in the run's cgroup" : "on this host")
              + " did not move");
      return null;
    }
    // Beside others even who has most need not be the victim: whoever is more willing to die
    // (oom_score_adj) goes first, and then often somebody ends the rest.
    long processes = salvage.lastVital(VitalsLayout.CGROUP_PROCESSES).orElse(0);
    boolean alone = processes == 1;
    boolean near =
        memory.isNear()
            || (processes <= 1 && memory.isNearWithOthers())
            || (processes <= 1 && memory.raced());
    if (oomKills.inCgroup().isPresent()) {
      add(
          Kind.FOR,
          "the kernel counted "
              + kills(oomKills.inCgroup())
              + " in its cgroup since its last sample"
              + (alone ? ", where it was the only process" : ""));
      add(near ? Kind.FOR : Kind.MISSING, near ? memory.nearness() : memory.distance());
      if (processes > 1) {
        add(Kind.MISSING, "which of the " + processes + " processes there was the victim");
      }
      if (!oomKills.soon()) {
        add(Kind.MISSING, LATE);
        return outOfMemoryKilled(Confidence.POSSIBLE);
      }
      if (alone && memory.isMost() && isKilled()) {
        return outOfMemoryKilled(Confidence.CERTAIN);
      }
      return outOfMemoryKilled(alone || near ? Confidence.LIKELY : Confidence.POSSIBLE);
    }
    if (oomKills.onNode().isEmpty()) {
      add(Kind.MISSING, "the kernel's count of OOM kills can't be compared: not excluded");
      return null;
    }
    String count = "the kernel counted " + kills(oomKills.onNode()) + " since";
    if (!near) {
      add(Kind.MISSING, count + ", of which process is unknown; " + memory.distance());
      return null;
    }
    add(Kind.FOR, count);
    add(Kind.FOR, memory.nearness());
    if (!oomKills.soon()) {
      add(Kind.MISSING, LATE);
    }
    boolean likely = oomKills.soon() && (memory.rising() || memory.raced());
    return outOfMemoryKilled(likely ? Confidence.LIKELY : Confidence.POSSIBLE);
  }

  private static final String LATE =
      "nobody looked within a minute of the death: later kills count as well";

  private static String kills(OptionalLong count) {
    return Names.count(count.getAsLong(), "OOM kill", "OOM kills");
  }

  private Verdict outOfMemoryKilled(Confidence sure) {
    return verdict(
        Cause.OOM_KILLED,
        sure,
        "Killed by the kernel's OOM killer"
            + qualifierInBrackets(sure)
            + atLastSeen()
            + memory.ofLimit()
            + inFlight("in flight"));
  }

  /** An OOM kill that the run's own samples show was another process's: it lived on. */
  private void noteEarlierKill() {
    long first = VitalsLayout.UNKNOWN;
    for (long[] sample : salvage.vitals) {
      long count = sample[VitalsLayout.CGROUP_OOM_KILLS];
      if (count == VitalsLayout.UNKNOWN) {
        continue;
      }
      if (first != VitalsLayout.UNKNOWN && count > first) {
        add(
            Kind.AGAINST,
            "an earlier OOM kill in its cgroup was another process: the run lived on");
        return;
      }
      first = count;
    }
  }

  // 9

  private @Nullable Verdict outOfMemoryError() {
    boolean noted = noteOutOfMemory();
    boolean exits = hasFlag("ExitOnOutOfMemoryError");
    // The JVM runs the command for the errors that the flag sees; Java code may throw others.
    boolean byJvm = traces.outOfMemoryNoted() != null && isNearEnd(traces.outOfMemoryNoted());
    if (isKilled() || (!noted && !(exits && isHeapFull()))) {
      return null;
    }
    if (exits) {
      add(Kind.FOR, "-XX:+ExitOnOutOfMemoryError is set");
    } else {
      add(
          Kind.MISSING,
          "that the JVM ended because of it was not seen: SIGKILL leaves the same trace");
    }
    Confidence sure = exits && byJvm ? Confidence.LIKELY : Confidence.POSSIBLE;
    return verdict(
        Cause.JAVA_OOM,
        sure,
        "Ended for want of Java memory"
            + qualifierInBrackets(sure)
            + atLastSeen()
            + inFlight("in flight"));
  }

  /** {@return whether the parent saw SIGKILL} */
  private boolean isKilled() {
    return traces.exitStatus().orElse(0) == STATUS_KILL;
  }

  private boolean isHeapFull() {
    for (PressureSnapshot snapshot : salvage.pressure) {
      if (snapshot.limit() == PressureSnapshot.Limit.HEAP
          && snapshot.percent() >= 100 * FULL
          && snapshot.at() != null
          && isNearEnd(snapshot.at())) {
        add(
            Kind.FOR,
            "the last collections had left "
                + Names.bytes(snapshot.usedBytes())
                + " of a heap of "
                + Names.bytes(snapshot.limitBytes()));
        return true;
      }
    }
    OptionalLong used = salvage.lastVital(VitalsLayout.HEAP_USED);
    OptionalLong max = salvage.lastVital(VitalsLayout.HEAP_MAX);
    if (used.isEmpty() || max.isEmpty() || used.getAsLong() < FULL * max.getAsLong()) {
      return false;
    }
    add(
        Kind.FOR,
        "the heap was full: "
            + Names.bytes(used.getAsLong())
            + " of "
            + Names.bytes(max.getAsLong()));
    return true;
  }

  /** {@return whether an OutOfMemoryError just before the end is noted anywhere; says where} */
  private boolean noteOutOfMemory() {
    boolean found = false;
    HeapDump dump = hasFlag("HeapDumpOnOutOfMemoryError") ? HeapDump.of(salvage, host) : null;
    if (dump != null) {
      found = isNearEnd(dump.modified());
      add(found ? Kind.FOR : Kind.AGAINST, dump.text() + (found ? "" : ", and the JVM lived on"));
    }
    Instant noted = traces.outOfMemoryNoted();
    if (noted != null) {
      boolean near = isNearEnd(noted);
      add(
          near ? Kind.FOR : Kind.AGAINST,
          "the command of -XX:OnOutOfMemoryError ran at "
              + Names.timeUtc(noted, now)
              + (near ? "" : ", and the JVM lived on"));
      found |= near;
    }
    int size = salvage.trail.size();
    for (int i = size - 1; i >= Math.max(0, size - MAX_CRUMBS_SEARCHED); i--) {
      Salvage.Crumb crumb = salvage.trail.get(i);
      Instant at = Names.instant(crumb.wallMillis());
      String message = crumb.message() == null ? null : crumb.message().text();
      Object data = crumb.data() == null ? null : crumb.data().value();
      if (at != null
          && (isOutOfMemory(message) || (data != null && isOutOfMemory(data.toString())))) {
        boolean near = isNearEnd(at);
        add(
            near ? Kind.FOR : Kind.AGAINST,
            "a breadcrumb at "
                + Names.timeUtc(at, now)
                + " notes an OutOfMemoryError"
                + (near ? "" : ", which the JVM outlived")
                + (message == null ? "" : ": " + SafeText.cut(message, MAX_TEXT)));
        return found || near;
      }
    }
    return found;
  }

  private boolean isNearEnd(Instant at) {
    return salvage.lastSeen != null
        && Duration.between(at, salvage.lastSeen).toMillis() <= NEAR_NANOS / 1_000_000;
  }

  // 10

  private Verdict killed() {
    for (Path place : crash.places()) {
      add(
          Kind.AGAINST,
          "no hs_err file of this run at " + SafeText.cut(place.toString(), MAX_TEXT));
      break;
    }
    boolean exits = hasFlag("ExitOnOutOfMemoryError");
    if (salvage.identity.containsKey("flags") && !exits) {
      add(Kind.AGAINST, "-XX:+ExitOnOutOfMemoryError is not set");
    }
    boolean neverHalted = counters != null;
    if (neverHalted) {
      add(
          Kind.AGAINST,
          "Runtime.halt is excluded: it deletes the JVM's performance counters, which were still"
              + " there");
    }
    if (!isKilled()) {
      add(
          Kind.MISSING,
          "without the exit status these are not separable: SIGKILL by a person or a supervisor,"
              + (neverHalted ? " another signal, _exit in native code" : " Runtime.halt")
              + (exits ? ", -XX:+ExitOnOutOfMemoryError" : ""));
    }
    String orElse = neverHalted ? "SIGKILL or another signal" : "SIGKILL or Runtime.halt";
    if (!oomKills.excluded() && oomKills.onNode().orElse(0) > 0) {
      orElse = orElse.replace("SIGKILL", "SIGKILL, perhaps by the kernel's OOM killer,");
    }
    if (exits) {
      orElse += ", or ended by -XX:+ExitOnOutOfMemoryError";
    }
    // Without the identity neither a reboot nor the OOM killer could be excluded.
    Confidence sure =
        liveness == Liveness.UNKNOWN
                || salvage.identity.isEmpty()
                || !oomKills.excluded()
                || (exits && !isKilled())
            ? Confidence.POSSIBLE
            : isKilled() && neverHalted ? Confidence.CERTAIN : Confidence.LIKELY;
    return verdict(
        Cause.KILLED,
        sure,
        "Killed ("
            + (isKilled() ? "SIGKILL" : orElse)
            + qualifier(sure)
            + ")"
            + atLastSeen()
            + inFlight("in flight"));
  }

  // Text

  private void add(Kind kind, String text) {
    evidence.add(new Evidence(kind, text));
  }

  private Verdict verdict(Cause cause, Confidence confidence, String headline) {
    return new Verdict(cause, confidence, headline, evidence);
  }

  /** {@return nanoseconds from {@code clocks} to the last beat or sample, at least 0} */
  private long nanosAfter(Salvage.@Nullable Clocks clocks) {
    Salvage.Clocks last = salvage.newestClocks;
    return clocks == null || last == null ? 0 : Math.max(0, last.nanos() - clocks.nanos());
  }

  private String at(Salvage.@Nullable Clocks clocks) {
    Instant instant = clocks == null ? null : Names.instant(clocks.wallMillis());
    return instant == null ? "" : " at " + Names.timeUtc(instant, now);
  }

  private String atLastSeen() {
    return lastSeenWith(" at ", " or later");
  }

  private String lastSeenWith(String before, String after) {
    return salvage.lastSeen == null ? "" : before + Names.timeUtc(salvage.lastSeen, now) + after;
  }

  private String inFlightIfAny() {
    boolean isNone = salvage.spans.isEmpty() && !salvage.spansMayBeMissing;
    return isNone ? "" : inFlight("still in flight");
  }

  private String inFlight(String words) {
    if (salvage.spans.isEmpty() && salvage.spansMayBeMissing) {
      return "; whether anything was "
          + words
          + " is unknown: more spans were open than have a slot, and the trail has lapped";
    }
    if (salvage.spans.isEmpty()) {
      return salvage.spansAreWhole
          ? "; nothing was " + words
          : "; whether anything was " + words + " is unknown: the box is truncated or damaged";
    }
    Salvage.Span oldest = salvage.spans.get(0);
    long age = salvage.ageMillis(oldest);
    int count = salvage.spans.size();
    StringBuilder text = new StringBuilder("; ");
    text.append(salvage.spansMayBeMissing ? "at least " : "");
    text.append(Names.count(count, "operation ", "operations ")).append(words);
    text.append(count == 1 ? "" : ", oldest");
    if (age >= 0) {
      text.append(count == 1 ? ", for " : " ").append(Names.duration(age));
    }
    text.append(": ").append(SafeText.cut(oldest.name(), 100));
    if (!oldest.attributes().isEmpty()) {
      text.append(' ').append(SafeText.map(Salvage.decode(oldest.attributes()), 60));
    }
    return text.toString();
  }
}
