package cairn.report;

import cairn.format.CborSlice;
import cairn.format.VitalsLayout;
import cairn.report.Advice.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Says what to look at next, and how to know more next time. One use, one thread. */
final class Advisor {
  /*
   * A few sentences, the most useful first. What is already set up is not advised: the identity says
   * which flags the JVM had, the traces say who watched.
   */
  private static final String INITIAL_PID_NAMESPACE = "4026531836";

  /** Share of a limit that a heap leaves for metaspace, code, threads and buffers. */
  private static final double HEAP_SHARE = 0.75;

  private static final int MAX_TEXT = 200;

  private final Salvage salvage;
  private final Verdict verdict;
  private final Traces traces;
  private final MemoryUse memory;
  private final List<Advice> advice = new ArrayList<>();

  Advisor(Salvage salvage, Verdict verdict, Traces traces, MemoryUse memory) {
    this.salvage = salvage;
    this.verdict = verdict;
    this.traces = traces;
    this.memory = memory;
  }

  List<Advice> advice() {
    if (verdict.cause() == Cause.RUNNING) {
      return List.of();
    }
    if (!verdict.cause().isClean() && !salvage.spans.isEmpty()) {
      look(
          "what the oldest open span was doing: "
              + SafeText.cut(salvage.spans.get(0).name(), MAX_TEXT)
              + ", and the last breadcrumbs of its thread");
    }
    switch (verdict.cause()) {
      case OOM_KILLED -> outOfMemoryKilled();
      case JAVA_OOM -> javaOutOfMemory();
      case NATIVE_CRASH -> nativeCrash();
      case STOP_TIMEOUT -> stopTimeout();
      case KILLED -> killed();
      case HALTED ->
          look("who calls Runtime.halt, or exit in native code: neither runs shutdown hooks");
      case HOST_DOWN -> {
        look("why the machine went down: journalctl -b -1 -e, last -x reboot");
        if (String.valueOf(Salvage.text(salvage.identity, "durability")).equals("process")) {
          more(
              "durability bounded or power keeps what the last seconds before power loss recorded");
        }
      }
      case EXIT -> exit();
      case UNCAUGHT -> {
        if (String.valueOf(Salvage.text(salvage.uncaught, "type"))
            .contains("java.lang.OutOfMemoryError")) {
          heapDump();
        }
      }
      case UNKNOWN -> unknown();
      default -> {
        // A clean end, or an exception that says it all.
      }
    }
    return List.copyOf(advice);
  }

  private void outOfMemoryKilled() {
    OptionalLong max = salvage.lastVital(VitalsLayout.HEAP_MAX);
    OptionalLong used = salvage.lastVital(VitalsLayout.HEAP_USED);
    OptionalLong limit = memory.limit();
    if (max.isPresent()
        && limit.isPresent()
        && max.getAsLong() > HEAP_SHARE * limit.getAsLong()
        && memory.ofCgroup()) {
      look(
          "the heap may grow to "
              + Names.bytes(max.getAsLong())
              + " of the limit of "
              + Names.bytes(limit.getAsLong())
              + ": leave a quarter of it to metaspace, code, threads and buffers"
              + " (-XX:MaxRAMPercentage=70, or a higher limit)");
    } else if (used.isPresent()
        && memory.rss().isPresent()
        && used.getAsLong() * 2 < memory.rss().getAsLong()) {
      look(
          "memory outside the heap: of "
              + Names.bytes(memory.rss().getAsLong())
              + " resident only "
              + Names.bytes(used.getAsLong())
              + " were heap in use (direct buffers, threads, native libraries:"
              + " -XX:NativeMemoryTracking=summary)");
    }
    look("what else shares the limit: the vitals in the full report, journalctl -k | grep -i oom");
  }

  private void javaOutOfMemory() {
    heapDump();
    if (verdict.confidence() != Confidence.CERTAIN) {
      if (!isSet("OnOutOfMemoryError")) {
        more("-XX:OnOutOfMemoryError=\"cairn note oom %p\" makes this verdict surer");
      }
      status();
    }
  }

  private void heapDump() {
    if (isSet("HeapDumpOnOutOfMemoryError")) {
      look("what filled the heap: the heap dump");
    } else {
      more(
          "-XX:+HeapDumpOnOutOfMemoryError with -XX:HeapDumpPath on a volume shows what filled the"
              + " heap");
    }
  }

  private void nativeCrash() {
    boolean sent =
        verdict.evidence().stream()
            .anyMatch(evidence -> evidence.text().startsWith("the signal was sent by kill"));
    look(
        sent
            ? "who that process is: ps, the audit log, whoever debugs or watches this one"
            : "the problematic frame in the hs_err file: a library of that name, its version, its"
                + " bugs");
    errorFile();
  }

  private void stopTimeout() {
    String hook = Salvage.text(salvage.life, "hook");
    look(
        hook == null
            ? "what the shutdown hooks wait for, and whether the grace period is long enough"
                + " (terminationGracePeriodSeconds, TimeoutStopSec, docker stop -t)"
            : "what the shutdown hook "
                + SafeText.cut(hook, MAX_TEXT)
                + " waits for, and whether the grace period is long enough"
                + " (terminationGracePeriodSeconds, TimeoutStopSec, docker stop -t)");
    status();
  }

  private void killed() {
    if (isSet("ExitOnOutOfMemoryError") && traces.exitStatus().isEmpty()) {
      look(
          "the console: a JVM that -XX:+ExitOnOutOfMemoryError ends says there \"Terminating due to"
              + " java.lang.OutOfMemoryError\"");
    }
    look(
        "who sends SIGKILL: kubectl describe pod (reason, liveness probes), docker inspect,"
            + " systemctl status (oom-kill, watchdog, timeout), journalctl -k | grep -i 'killed"
            + " process'");
    status();
    errorFile();
  }

  private void exit() {
    CborSlice caller = salvage.life.get("caller");
    if (caller != null && caller.value() instanceof List<?> frames && !frames.isEmpty()) {
      look("why the frames that called System.exit did so: the evidence names them");
    }
    OptionalLong status = Salvage.integer(salvage.life, "status");
    if (status.isEmpty() && traces.exitStatus().isEmpty()) {
      more("cairn run -- java ... sees the exit status, and so does JDK 21 or later itself");
    }
  }

  private void unknown() {
    if (Salvage.text(salvage.identity, "hostId") == null) {
      more("CAIRN_HOST_ID (in Kubernetes spec.nodeName) tells a reboot from another machine");
    }
    more("cairn watch beside the application writes down what can be seen only at once");
  }

  /** How to know the exit status. */
  private void status() {
    if (traces.exitStatus().isEmpty()) {
      more(
          "start it with: cairn run -- java ... (its exit status tells SIGKILL, Runtime.halt and an"
              + " exit apart)"
              + (traces.statements().isEmpty()
                  ? ", or keep cairn watch beside it (it notes the kernel's counters at once)"
                  : ""));
    }
  }

  /** A crash file in a container goes with it. */
  private void errorFile() {
    String namespace = Salvage.text(salvage.identity, "pidNamespace");
    boolean contained = namespace != null && !namespace.contains(INITIAL_PID_NAMESPACE);
    if (contained && Salvage.text(salvage.identity, "errorFile") == null) {
      more("-XX:ErrorFile=/a/volume/hs_err_%p.log keeps a crash file longer than the container");
    }
  }

  private boolean isSet(String flag) {
    @Nullable CborSlice flags = salvage.identity.get("flags");
    return flags != null && flags.value() instanceof List<?> list && list.contains(flag);
  }

  private void look(String text) {
    advice.add(new Advice(Kind.LOOK, text));
  }

  private void more(String text) {
    advice.add(new Advice(Kind.MORE, text));
  }
}
