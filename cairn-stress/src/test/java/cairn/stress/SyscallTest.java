package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Tag("slow")
@Timeout(180)
class SyscallTest {
  /**
   * What the JVM itself may make a recording thread do: wait for a safepoint (compiled code polls a
   * page, which is a signal and the return from it; the wait is a futex). A wake-up is none of
   * these: the recorder would have called someone.
   */
  private static final List<String> OF_THE_JVM =
      List.of("rt_sigreturn(", "--- SIGSEGV", "FUTEX_WAIT", "<... futex resumed>");

  private static final int MOST_OF_THE_JVM = 50;

  @TempDir Path directory;

  /** How a caller wakes the committer. */
  private static final String WAKE = "FUTEX_WAKE";

  @Test
  void steadyRecordingMakesNoSystemCall() throws Exception {
    if (canTrace()) {
      assertThat(ownCalls("process")).isEmpty();
    }
  }

  @Test
  void steadyRecordingUnderBoundedDurabilityOnlyWakesTheCommitter() throws Exception {
    if (canTrace()) {
      List<String> own = ownCalls("bounded(20, PT0.1S)");
      assertThat(own).allMatch(call -> call.contains(WAKE));
      assertThat(own).hasSizeLessThan(SyscallVictim.MEASURED);
    }
  }

  private List<String> ownCalls(String durability) throws Exception {
    Path trace = directory.resolve("trace");
    Java.Outcome outcome =
        Java.run(
            List.of("strace", "-f", "-qq", "-s", "64", "-o", trace.toString()),
            // Compiled in the foreground, and without the periodic safepoint: else a compilation
            // that a
            // busy machine has put off is asked for while the calls are counted, by waking a
            // thread.
            List.of(
                "-Xbatch",
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:GuaranteedSafepointInterval=0",
                "-Dcairn.durability=" + durability),
            SyscallVictim.class,
            directory.resolve("log"),
            directory.resolve("root").toString());
    assertThat(outcome.output()).contains("mode=mapped");
    assertThat(outcome.status()).isZero();

    List<String> calls = afterBegin(Files.readAllLines(trace));
    int end = indexOf(calls, SyscallVictim.END_MARK, 0);
    List<String> between = calls.subList(0, end);
    List<String> own = own(between);
    List<String> control =
        own(calls.subList(end + 1, indexOf(calls, SyscallVictim.END_MARK, end + 1)));

    System.out.println(
        "system calls of the recording thread under "
            + durability
            + " in "
            + SyscallVictim.MEASURED
            + " rounds of 6 calls: own="
            + own.size()
            + ", of the JVM="
            + (between.size() - own.size()));
    assertThat(between.size() - own.size()).isLessThan(MOST_OF_THE_JVM);
    assertThat(control).anyMatch(call -> call.contains(SyscallVictim.CONTROL));
    return own;
  }

  /** {@return what the thread that made the marks did after the first} */
  private static List<String> afterBegin(List<String> trace) {
    int begin = indexOf(trace, SyscallVictim.BEGIN_MARK, 0);
    String thread = trace.get(begin).split("\\s+", 2)[0];
    List<String> calls = new ArrayList<>();
    for (String line : trace.subList(begin + 1, trace.size())) {
      String[] parts = line.split("\\s+", 2);
      // The end of a mark itself, where another thread's line came between.
      boolean isEndOfMark = parts[1].matches("<\\.\\.\\. \\w*(stat|access)\\w* resumed>.*");
      if (parts[0].equals(thread) && !isEndOfMark) {
        calls.add(parts[1]);
      }
    }
    return calls;
  }

  private static int indexOf(List<String> lines, String mark, int from) {
    for (int i = from; i < lines.size(); i++) {
      if (lines.get(i).contains(mark)) {
        return i;
      }
    }
    throw new AssertionError("mark is missing: " + mark);
  }

  private static List<String> own(List<String> calls) {
    return calls.stream().filter(call -> OF_THE_JVM.stream().noneMatch(call::contains)).toList();
  }

  private static boolean canTrace() throws InterruptedException {
    try {
      Process strace =
          new ProcessBuilder("strace", "-o", "/dev/null", "true").redirectErrorStream(true).start();
      if (strace.waitFor(30, TimeUnit.SECONDS) && strace.exitValue() == 0) {
        return true;
      }
      System.out.println(
          "NOT RUN, strace may not trace: " + new String(strace.getInputStream().readAllBytes()));
    } catch (IOException e) {
      System.out.println("NOT RUN, no strace: " + e.getMessage());
    }
    return false;
  }
}
