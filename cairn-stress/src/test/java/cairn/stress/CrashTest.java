package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Evidence;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.Verdict;
import cairn.report.Witness;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** JVMs that really crash: whether the verdict is theirs, and what is left of them. */
@Tag("slow")
@Timeout(180)
class CrashTest {
  private static final String SECRET = "hunter2";
  private static final int ABORTED = 128 + 6;

  @TempDir Path directory;

  /** {@return this JDK, and a newer one where there is one} */
  static List<Path> homes() throws IOException {
    Set<Path> homes = new LinkedHashSet<>();
    homes.add(Path.of(System.getProperty("java.home")));
    Java.withVirtualThreads().ifPresent(homes::add);
    return List.copyOf(homes);
  }

  /** What is left of a victim. */
  private record Dead(int status, Path root, Path working) {
    Run run() throws IOException {
      List<Run> runs = Runs.under(root).list();
      assertThat(runs).hasSize(1);
      return runs.get(0);
    }

    Path crashFile() throws IOException {
      try (Stream<Path> files = Files.list(working)) {
        return files
            .filter(file -> file.getFileName().toString().startsWith("hs_err"))
            .findAny()
            .orElseThrow();
      }
    }
  }

  private Process start(List<String> prefix, Path home, List<String> options, String how)
      throws IOException {
    Path working = Files.createDirectories(directory.resolve("working"));
    List<String> command = new ArrayList<>(prefix);
    command.add(home.resolve("bin/java").toString());
    command.addAll(List.of("-Xmx64m", "-XX:+UseSerialGC", "-Dpassword=" + SECRET));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(CrashVictim.class.getName(), root().toString(), how));
    return new ProcessBuilder(command)
        .directory(working.toFile())
        .redirectErrorStream(true)
        .start();
  }

  private Path root() {
    return directory.resolve("root");
  }

  private Dead crash(List<String> prefix, Path home, List<String> options, String how)
      throws IOException, InterruptedException {
    Process process = start(prefix, home, options, how);
    process.getOutputStream().close();
    try {
      process.getInputStream().readAllBytes();
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Dead(process.exitValue(), root(), directory.resolve("working"));
  }

  private static Verdict assertCrashed(Dead dead, Cause cause) throws IOException {
    Report report = dead.run().report();
    Verdict verdict = report.verdict();
    assertThat(verdict.cause()).as(report.toText()).isEqualTo(cause);
    assertThat(verdict.confidence()).as(report.toText()).isEqualTo(Confidence.CERTAIN);
    assertThat(verdict.headline())
        .contains("1 operation in flight")
        .contains("POST /crash")
        .doesNotContain(SECRET);
    return verdict;
  }

  private static List<String> texts(Verdict verdict, Evidence.Kind kind) {
    return verdict.evidence().stream()
        .filter(evidence -> evidence.kind() == kind)
        .map(Evidence::text)
        .toList();
  }

  @ParameterizedTest
  @MethodSource("homes")
  void aWildWriteIsACrashOfItsThread(Path home) throws Exception {
    Dead dead = crash(List.of(), home, List.of(), "worker");
    assertThat(dead.status()).isEqualTo(ABORTED);
    assertThat(assertCrashed(dead, Cause.NATIVE_CRASH).headline())
        .startsWith("The JVM crashed (SIGSEGV in libjvm.so+0x")
        .contains("called from cairn.stress.CrashVictim.poke, on thread http-1) at ");
  }

  @Test
  void aWildWriteOnAVirtualThreadIsACrash() throws Exception {
    for (Path home : Java.withVirtualThreads().stream().toList()) {
      Dead dead = crash(List.of(), home, List.of(), "virtual");
      assertThat(assertCrashed(dead, Cause.NATIVE_CRASH).headline())
          .contains("called from cairn.stress.CrashVictim.poke");
    }
  }

  @ParameterizedTest
  @MethodSource("homes")
  void whoSentTheSignalIsNamed(Path home) throws Exception {
    Process victim = start(List.of(), home, List.of(), "wait");
    try (BufferedReader out = victim.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo(CrashVictim.READY);
      Process kill = new ProcessBuilder("kill", "-SEGV", "" + victim.pid()).start();
      assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
      out.lines().forEach(line -> {});
      assertThat(victim.waitFor(1, TimeUnit.MINUTES)).isTrue();
      Dead dead = new Dead(victim.exitValue(), root(), directory.resolve("working"));
      assertThat(assertCrashed(dead, Cause.NATIVE_CRASH).headline())
          .startsWith("The JVM crashed (SIGSEGV sent by kill from pid " + kill.pid() + " uid ");
    } finally {
      victim.destroyForcibly();
    }
  }

  @ParameterizedTest
  @MethodSource("homes")
  void crashOnOutOfMemoryErrorIsJavaOom(Path home) throws Exception {
    Dead dead = crash(List.of(), home, List.of("-XX:+CrashOnOutOfMemoryError"), "heap");
    assertThat(dead.status()).isEqualTo(ABORTED);
    assertThat(assertCrashed(dead, Cause.JAVA_OOM).headline())
        .startsWith(
            "The JVM ended itself for want of Java memory (OutOfMemory encountered: Java heap"
                + " space, on thread main) at ");
  }

  @ParameterizedTest
  @MethodSource("homes")
  void anErrorFileIsFoundWhereItWasToBe(Path home) throws Exception {
    Path errors = Files.createDirectories(directory.resolve("errors"));
    Dead dead =
        crash(List.of(), home, List.of("-XX:ErrorFile=" + errors.resolve("%%-%p.log")), "main");
    assertCrashed(dead, Cause.NATIVE_CRASH);
    try (Stream<Path> files = Files.list(errors)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .singleElement()
          .asString()
          .matches("%-\\d+\\.log");
    }
  }

  @ParameterizedTest
  @MethodSource("homes")
  void whatVanishesIsKeptByAWitnessWithoutSecrets(Path home) throws Exception {
    Dead dead = crash(List.of(), home, List.of(), "worker");
    assertThat(Files.readString(dead.crashFile())).contains(SECRET);
    Run run = dead.run();
    Path copy = run.directory().resolve("hs_err.log");
    assertThat(run.witness(Witness.by("watch"))).isTrue();
    assertPrivate(copy);
    Files.delete(dead.crashFile());
    assertThat(assertCrashed(dead, Cause.NATIVE_CRASH).headline()).contains("see " + copy);
  }

  private static void assertPrivate(Path kept) throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(kept)))
        .isEqualTo("rw-------");
    assertThat(Files.readString(kept, StandardCharsets.ISO_8859_1))
        .isNotEmpty()
        .doesNotContain(SECRET, System.getenv("PATH"), "CrashVictim wait");
  }

  /** Any JVM of the user that starts deletes them, so another one may be faster. */
  @ParameterizedTest
  @MethodSource("homes")
  void countersOfAKilledJvmAreKeptByAWitness(Path home) throws Exception {
    Process victim = start(List.of(), home, List.of(), "wait");
    try (BufferedReader out = victim.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo(CrashVictim.READY);
    } finally {
      victim.destroyForcibly();
    }
    assertThat(victim.waitFor(1, TimeUnit.MINUTES)).isTrue();
    Run run = new Dead(137, root(), directory.resolve("working")).run();
    assertThat(run.witness(Witness.by("watch"))).isTrue();
    Path original =
        Path.of("/tmp/hsperfdata_" + System.getProperty("user.name"), "" + victim.pid());
    Path copy = run.directory().resolve("hsperfdata");
    if (!Files.exists(copy) && !Files.exists(original)) {
      System.out.println("NOT RUN, another JVM deleted the counters first: " + original);
      return;
    }
    assertPrivate(copy);
    Verdict verdict = run.report().verdict();
    assertThat(texts(verdict, Evidence.Kind.FOR))
        .anyMatch(text -> text.startsWith("the JVM's counters at its death: "));
    assertThat(texts(verdict, Evidence.Kind.AGAINST))
        .anyMatch(text -> text.startsWith("Runtime.halt is excluded: "));
  }

  @ParameterizedTest
  @MethodSource("homes")
  void aHaltLeavesNoCounters(Path home) throws Exception {
    Dead dead = crash(List.of(), home, List.of(), "halt");
    assertThat(dead.status()).isEqualTo(CrashVictim.HALTED);
    Run run = dead.run();
    assertThat(run.witness(Witness.by("watch"))).isTrue();
    assertThat(run.directory().resolve("hsperfdata")).doesNotExist();
    assertThat(run.report().verdict().headline()).startsWith("Killed (SIGKILL or Runtime.halt");
  }

  /** In a container the pid is 1, and the volume outlives it. As root only. */
  @ParameterizedTest
  @MethodSource("homes")
  void anOlderPid1OnTheSameVolumeIsNotTaken(Path home) throws Exception {
    List<String> container = List.of("unshare", "--pid", "--fork", "--mount-proc");
    if (!canUnshare(container)) {
      System.out.println("NOT RUN, no pid namespace can be made here (root only)");
      return;
    }
    Dead first = crash(container, home, List.of(), "main");
    assertThat(first.crashFile().getFileName()).hasToString("hs_err_pid1.log");
    Run older = first.run();
    assertCrashed(first, Cause.NATIVE_CRASH);

    Process second = start(container, home, List.of(), "wait");
    try (BufferedReader out = second.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo(CrashVictim.READY);
      second.children().forEach(ProcessHandle::destroyForcibly);
      assertThat(second.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      second.children().forEach(ProcessHandle::destroyForcibly);
      second.destroyForcibly();
    }
    Run killed =
        Runs.under(root()).list().stream()
            .filter(run -> !run.id().equals(older.id()))
            .findAny()
            .orElseThrow();
    Verdict verdict = killed.report().verdict();
    assertThat(verdict.cause()).as(killed.report().toText()).isEqualTo(Cause.KILLED);
    assertThat(texts(verdict, Evidence.Kind.AGAINST))
        .anyMatch(text -> text.contains("hs_err_pid1.log is another process's: "));
    assertThat(older.report().verdict().cause()).isEqualTo(Cause.NATIVE_CRASH);
  }

  private static boolean canUnshare(List<String> container) throws Exception {
    List<String> command = new ArrayList<>(container);
    command.add("true");
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getInputStream().readAllBytes();
      return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  /** The operating system refuses memory, by a limit: ulimit -d. Exit status 1, not 134. */
  @ParameterizedTest
  @MethodSource("homes")
  void refusedNativeMemoryIsACrashInItsWords(Path home) throws Exception {
    // How much a JVM takes before it records differs: the first limit at which it gets that far.
    for (int kilobytes = 60_000; kilobytes <= 200_000; kilobytes += 10_000) {
      Path limited = directory.resolve("limit-" + kilobytes);
      Files.createDirectories(limited);
      CrashTest at = new CrashTest();
      at.directory = limited;
      List<String> shell = List.of("sh", "-c", "ulimit -d " + kilobytes + "; exec \"$0\" \"$@\"");
      Dead dead = at.crash(shell, home, List.of("-Xms4m"), "heap");
      if (!Files.isDirectory(dead.root()) || Runs.under(dead.root()).list().isEmpty()) {
        continue;
      }
      Verdict verdict = dead.run().report().verdict();
      if (verdict.headline().contains("native memory")) {
        assertCrashed(dead, Cause.NATIVE_CRASH);
        assertThat(verdict.headline()).contains(" bytes for ");
        assertThat(dead.status()).isEqualTo(1);
        return;
      }
    }
    System.out.println("NOT RUN, no limit made a JVM of " + home + " run out of native memory");
  }

  @Test
  void abortLeavesNoFile() throws Exception {
    Process victim = start(List.of(), homes().get(0), List.of(), "wait");
    try (BufferedReader out = victim.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).isEqualTo(CrashVictim.READY);
      new ProcessBuilder("kill", "-ABRT", "" + victim.pid()).start().waitFor(10, TimeUnit.SECONDS);
      assertThat(victim.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      victim.destroyForcibly();
    }
    Dead dead = new Dead(victim.exitValue(), root(), directory.resolve("working"));
    assertThat(dead.status()).isEqualTo(ABORTED);
    assertThatCode(dead::crashFile).isInstanceOf(java.util.NoSuchElementException.class);
    assertThat(dead.run().report().verdict().cause()).isEqualTo(Cause.KILLED);
  }
}
