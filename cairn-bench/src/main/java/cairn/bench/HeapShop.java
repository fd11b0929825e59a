package cairn.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The shop as a process: one arm at one heap. It is stopped in its tracks (SIGSTOP) whenever it is
 * not its turn, so that one arm's compiler, collector or agent never runs on another's time. One
 * thread.
 */
final class HeapShop implements AutoCloseable {
  private static final Pattern WHY =
      Pattern.compile("OutOfMemoryError[^\\n]*|APPLICATION FAILED[^\\n]*|Caused by:[^\\n]*");

  /** Linux counts CPU time in hundredths of a second for its readers. */
  private static final long MILLIS_PER_TICK = 10;

  private final HeapArm arm;
  private final Path directory;
  private final Process process;
  private final Thread hook;
  private int port;

  /** Null while it is fit to be loaded. */
  private @Nullable String failure;

  private HeapShop(HeapArm arm, Path directory, Process process) {
    this.arm = arm;
    this.directory = directory;
    this.process = process;
    this.hook = new Thread(process::destroyForcibly, "shop-end");
    Runtime.getRuntime().addShutdownHook(hook);
  }

  /**
   * Starts the shop.
   *
   * @param shop its jar
   * @param heapMb its heap, from the first moment
   * @param directory an empty one, for its files
   */
  static HeapShop start(Path shop, HeapArm arm, int heapMb, Path directory) throws IOException {
    Files.createDirectories(directory);
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xms" + heapMb + "m",
            "-Xmx" + heapMb + "m",
            // What a JVM chooses for one core, or for a container of less than 1,792 MiB.
            "-XX:ActiveProcessorCount=1",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-Xlog:gc:file=" + gcLog(directory) + ":timemillis:filecount=0",
            "-Dcairn.dir=" + directory.resolve("runs"),
            "-Dcairn.mode=mapped",
            "-Dshop.ready-file=" + directory.resolve("ready"),
            "-Dshop.end-with-parent=true",
            "-Dshop.recorder=false",
            "-Dserver.tomcat.max-keep-alive-requests=-1",
            "-Djava.io.tmpdir=" + directory));
    command.addAll(arguments(arm));
    command.addAll(List.of("-jar", shop.toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("shop.log").toFile())
            .start();
    return new HeapShop(arm, directory, process);
  }

  /** {@return the JVM arguments that make the arm what it is} */
  private static List<String> arguments(HeapArm arm) throws IOException {
    return switch (arm) {
      case NONE, TWIN -> List.of();
      case NOOP -> List.of("-Dshop.tracer=noop");
      case CAIRN -> List.of("-Dshop.tracer=cairn");
      case SDK_CAIRN -> List.of("-Dshop.tracer=sdk");
      case OTEL_AGENT ->
          List.of(
              "-javaagent:" + Agents.openTelemetry(),
              "-Dotel.traces.exporter=none",
              "-Dotel.metrics.exporter=none",
              "-Dotel.logs.exporter=none",
              "-Dotel.service.name=shop");
      case DATADOG -> {
        List<String> arguments = new ArrayList<>(List.of("-javaagent:" + Agents.datadog()));
        arguments.addAll(DatadogCore.quiet());
        arguments.add("-Ddd.service=shop");
        yield arguments;
      }
    };
  }

  /** {@return whether an arm's agent is there} */
  static boolean isAvailable(HeapArm arm) throws IOException {
    return switch (arm) {
      case OTEL_AGENT -> Agents.openTelemetry() != null;
      case DATADOG -> Agents.datadog() != null;
      default -> true;
    };
  }

  private static Path gcLog(Path directory) {
    return directory.resolve("gc.log");
  }

  HeapArm arm() {
    return arm;
  }

  int port() {
    return port;
  }

  /** {@return why there is nothing to measure; null if there is} */
  @Nullable String failure() {
    if (failure == null && !process.isAlive()) {
      failure = "died: " + why();
    }
    return failure;
  }

  /** From now on it counts as failed; the first reason stays. */
  void fail(String what) {
    if (failure() == null) {
      failure = what;
    }
  }

  /** Waits until the shop answers, has ended, or the time is over; the failure says which. */
  void awaitReady(long deadlineNanos) throws IOException, InterruptedException {
    Path ready = directory.resolve("ready");
    while (!Files.exists(ready)) {
      if (!process.isAlive()) {
        failure = "did not start: " + why();
        return;
      }
      if (System.nanoTime() - deadlineNanos > 0) {
        failure = "did not start in time";
        process.destroyForcibly();
        return;
      }
      Thread.sleep(20);
    }
    Properties said = new Properties();
    try (InputStream in = Files.newInputStream(ready)) {
      said.load(in);
    }
    port = Integer.parseInt(said.getProperty("port"));
  }

  /** {@return what it says about its end, else its exit status} */
  private String why() {
    String log;
    try {
      log = log();
    } catch (IOException e) {
      log = "";
    }
    String last = "exit=" + process.exitValue();
    for (Matcher why = WHY.matcher(log); why.find(); ) {
      last = why.group();
      if (last.startsWith("OutOfMemoryError")) {
        break;
      }
    }
    return last.strip();
  }

  /** {@return whether what the arm adds is at work, as far as it shows from outside} */
  boolean isTelemetryThere() throws IOException {
    return switch (arm) {
      case NONE, TWIN, NOOP -> true;
      case CAIRN, SDK_CAIRN -> Files.isDirectory(runs());
      case OTEL_AGENT -> log().contains("opentelemetry-javaagent - version");
      case DATADOG -> hasThread("dd-trace");
    };
  }

  private boolean hasThread(String prefix) throws IOException {
    Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
    if (!Files.isDirectory(tasks)) {
      return true; // No Linux: not to be seen.
    }
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        if (Files.readString(thread.resolve("comm")).startsWith(prefix)) {
          return true;
        }
      }
    }
    return false;
  }

  /** {@return the directory that Cairn's run is in, where there is one} */
  Path runs() {
    return directory.resolve("runs");
  }

  private String log() throws IOException {
    return new String(
        Files.readAllBytes(directory.resolve("shop.log")), StandardCharsets.ISO_8859_1);
  }

  /** Binds all its threads to one core, if this machine lets us. */
  void pin(@Nullable String core) throws IOException, InterruptedException {
    if (core != null && process.isAlive()) {
      run("taskset", "-a", "-p", "-c", core, Long.toString(process.pid()));
    }
  }

  void freeze() throws IOException, InterruptedException {
    signal("STOP");
  }

  void thaw() throws IOException, InterruptedException {
    signal("CONT");
  }

  private void signal(String name) throws IOException, InterruptedException {
    if (process.isAlive()) {
      run("kill", "-s", name, Long.toString(process.pid()));
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process running =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    running.waitFor(10, TimeUnit.SECONDS);
  }

  /** {@return CPU time so far; 0 if it can't be told} */
  long cpuMillis() {
    try {
      return ticks(Path.of("/proc", Long.toString(process.pid()), "stat")) * MILLIS_PER_TICK;
    } catch (IOException e) {
      return 0; // It has ended, or this is no Linux.
    }
  }

  /** {@return CPU time of the JIT's threads so far; 0 if it can't be told} */
  long compilerMillis() throws IOException {
    long ticks = 0;
    Path tasks = Path.of("/proc", Long.toString(process.pid()), "task");
    if (!Files.isDirectory(tasks)) {
      return 0;
    }
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
      for (Path thread : threads) {
        // 15 bytes of "C1 CompilerThread0" are left in there.
        String name = Files.readString(thread.resolve("comm"));
        if (name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler")) {
          ticks += ticks(thread.resolve("stat"));
        }
      }
    } catch (NoSuchFileException | DirectoryIteratorException e) {
      return 0; // It is ending.
    }
    return ticks * MILLIS_PER_TICK;
  }

  /** {@return user and system time of a process or thread} */
  private static long ticks(Path stat) throws IOException {
    String text = Files.readString(stat);
    // The name, in parentheses, may hold anything: fields are counted from its end.
    String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
    return Long.parseLong(fields[11]) + Long.parseLong(fields[12]);
  }

  GcLog.Pauses pauses(long fromMillis, long toMillis) throws IOException {
    return Files.exists(gcLog(directory))
        ? GcLog.between(gcLog(directory), fromMillis, toMillis)
        : new GcLog.Pauses(0, 0, 0);
  }

  @Override
  public void close() throws InterruptedException {
    // SIGKILL also ends a process that is stopped.
    process.destroyForcibly().waitFor();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This process is ending: the hook runs, and finds nothing left to do.
    }
  }
}
