package cairn.bench;

import cairn.BeatProbe;
import cairn.Recorder;
import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * What one beat of the housekeeper costs: back to back on one thread, traced, and as it comes in a
 * real process, once a second.
 */
public final class BeatHarness {
  private static final int SPANS = 100;
  private static final int BLOCK = 64 * 1024;
  private static final String HEAP = "-Xmx256m";

  /**
   * What is measured: name, open spans, share of the heap that is kept, message, what is called.
   */
  private record Case(String name, int spans, int heapPercent, boolean message, String call) {}

  private static final List<Case> CASES =
      List.of(
          new Case("nothing open", 0, 0, false, "beat"),
          new Case("100 open spans", SPANS, 0, false, "beat"),
          new Case("100 open spans, termination message", SPANS, 0, true, "beat"),
          new Case("100 open spans, heap at 60 %", SPANS, 60, false, "beat"),
          new Case("100 open spans, heap at 80 %", SPANS, 80, false, "beat"),
          new Case("in between, 100 open spans, heap at 80 %", SPANS, 80, false, "between"),
          new Case("a snapshot of 100 open spans", SPANS, 0, false, "snapshot"));

  private BeatHarness() {}

  static void run(Settings settings) throws Exception {
    backToBack(settings);
    onceASecond(settings);
  }

  private static void backToBack(Settings settings) throws Exception {
    Table table =
        new Table(
            "back to back", "us of CPU", "in the best round", "bytes allocated", "system calls");
    boolean traceable = SystemCalls.traceable();
    for (Case one : CASES) {
      settings.patience().await("beat: " + one.name());
      List<Double> nanos = new ArrayList<>();
      Map<String, String> result = Map.of();
      for (int round = 0; round < settings.rounds(); round++) {
        result = child(one, settings.quick() ? 2_000 : 10_000, List.of());
        nanos.add(Double.parseDouble(result.get("nanos")) / 1_000);
      }
      String calls = "not traced";
      if (traceable) {
        Path trace = Files.createTempFile(Scratch.root(), "cairn-trace-", ".txt");
        int traced = 100;
        child(one, traced, List.of("strace", "-f", "-qq", "-e", "signal=none", "-o", "" + trace));
        calls = Table.number((double) countCalls(trace) / traced, 1);
        Files.delete(trace);
      }
      table.row(
          one.name(),
          Table.number(Table.median(nanos), 1),
          Table.number(Table.min(nanos), 1),
          Table.number(Double.parseDouble(result.get("bytes")), 0),
          calls);
    }
    System.out.println(table);
  }

  private static Map<String, String> child(Case one, int calls, List<String> prefix)
      throws Exception {
    try (Scratch files = Scratch.create("beat")) {
      return Child.run(
          prefix,
          List.of(HEAP, "-Xms256m"),
          Child.classpath(),
          List.of(
              BeatHarness.class.getName(),
              one.call(),
              "" + one.spans(),
              "" + one.heapPercent(),
              "" + one.message(),
              "" + calls,
              "" + !prefix.isEmpty(),
              files.directory().toString()),
          300);
    }
  }

  /** {@return how many system calls the thread that wrote the marks made between them} */
  private static long countCalls(Path trace) throws IOException {
    List<String> lines;
    try (Stream<String> all = Files.lines(trace, StandardCharsets.ISO_8859_1)) {
      lines = all.toList();
    }
    String thread = "";
    long count = 0;
    boolean counting = false;
    for (String line : lines) {
      if (line.contains("\"mark begin")) {
        thread = line.substring(0, line.indexOf(' ') + 1);
        counting = true;
      } else if (counting && line.contains("\"mark end")) {
        return count;
      } else if (counting && line.startsWith(thread) && !line.contains(" resumed>")) {
        count++;
      }
    }
    throw new IllegalStateException("no marks in the trace: file=" + trace);
  }

  private static void onceASecond(Settings settings) throws Exception {
    int seconds = settings.quick() ? 10 : 60;
    settings.patience().await("beat, once a second");
    Map<String, Process> running = new LinkedHashMap<>();
    Map<String, Path> logs = new LinkedHashMap<>();
    Map<String, List<String>> mains = new LinkedHashMap<>();
    try (Scratch files = Scratch.create("beat")) {
      for (Case one : CASES) {
        if (!one.call().equals("beat")) {
          continue;
        }
        Path directory = Files.createDirectory(files.directory().resolve("" + running.size()));
        List<String> main =
            List.of(
                BeatHarness.class.getName(),
                "live",
                "" + one.spans(),
                "" + one.heapPercent(),
                "" + one.message(),
                "" + seconds,
                "false",
                directory.toString());
        Path log = Files.createTempFile(Scratch.root(), "cairn-child-", ".log");
        running.put(
            one.name(),
            Child.start(List.of(), List.of(HEAP, "-Xms256m"), Child.classpath(), main, log));
        logs.put(one.name(), log);
        mains.put(one.name(), main);
      }
      Table table = new Table("in a process", "us a second", "% of a core");
      for (Map.Entry<String, Process> entry : running.entrySet()) {
        String name = entry.getKey();
        Map<String, String> result =
            Child.finish(entry.getValue(), logs.get(name), mains.get(name), seconds + 120L);
        double micros = Double.parseDouble(result.get("nanosPerSecond")) / 1_000;
        table.row(name, Table.number(micros, 0), Table.number(micros / 10_000, 4));
      }
      System.out.println(
          "The housekeeper's thread, CPU time of "
              + seconds
              + " s after 20 s of settling:\n\n"
              + table);
    }
  }

  // The child

  private static final List<byte[]> KEPT = new ArrayList<>();

  /** Arguments: call, spans, share of the heap in percent, message, calls, traced, directory. */
  public static void main(String[] args) throws Exception {
    int spans = Integer.parseInt(args[1]);
    int percent = Integer.parseInt(args[2]);
    int calls = Integer.parseInt(args[4]);
    Path directory = Path.of(args[6]);
    Path message = Boolean.parseBoolean(args[3]) ? directory.resolve("message") : null;
    if (args[0].equals("live")) {
      live(spans, percent, message, calls, directory);
    } else {
      probe(args[0], spans, percent, message, calls, Boolean.parseBoolean(args[5]), directory);
    }
    Runtime.getRuntime().halt(0);
  }

  private static void probe(
      String call, int spans, int percent, Path message, int calls, boolean traced, Path directory)
      throws Exception {
    BeatProbe probe = new BeatProbe(directory, message);
    onThreads(spans, probe::begin);
    fill(percent);
    call(probe, call, traced ? 10 : calls);
    Evidence.require(
        probe.isUrgent() == (percent >= 75 || call.equals("snapshot")),
        "urgent",
        probe.isUrgent(),
        percent);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long best = Long.MAX_VALUE;
    long bytes = 0;
    if (traced) {
      SystemCalls.begin();
      call(probe, call, calls);
      SystemCalls.end();
    } else {
      for (int round = 0; round < 5; round++) {
        long bytesBefore = threads.getThreadAllocatedBytes(thread);
        long start = threads.getCurrentThreadCpuTime();
        call(probe, call, calls);
        best = Math.min(best, (threads.getCurrentThreadCpuTime() - start) / calls);
        bytes = (threads.getThreadAllocatedBytes(thread) - bytesBefore) / calls;
      }
    }
    System.out.println(Child.result("nanos", best, "bytes", bytes));
  }

  private static void call(BeatProbe probe, String call, int calls) {
    for (int i = 0; i < calls; i++) {
      switch (call) {
        case "beat" -> probe.beat();
        case "between" -> probe.beatBetween();
        case "snapshot" -> probe.snapshot();
        default -> throw new IllegalArgumentException(call);
      }
    }
  }

  private static void live(int spans, int percent, Path message, int seconds, Path directory)
      throws Exception {
    if (message != null) {
      System.setProperty("cairn.termination.message", message.toString());
    }
    Recorder recorder = Evidence.open(directory);
    onThreads(spans, recorder::begin);
    fill(percent);
    Thread.sleep(TimeUnit.SECONDS.toMillis(20));
    for (int i = 0; i < 5; i++) {
      ProcessMeter.read();
    }
    long before = ProcessMeter.read().cairnCpuNanos();
    Thread.sleep(TimeUnit.SECONDS.toMillis(seconds));
    long used = ProcessMeter.read().cairnCpuNanos() - before;
    recorder.close();
    Evidence.require(
        Evidence.reportOf(directory).pressure().isEmpty() == percent < 75, "pressure", percent, 75);
    System.out.println(Child.result("nanosPerSecond", used / seconds));
  }

  private interface Beginning {
    void begin(String name);
  }

  /** Begins each span on a thread of its own, which then waits for ever. */
  private static void onThreads(int count, Beginning beginning) throws InterruptedException {
    CountDownLatch begun = new CountDownLatch(count);
    CountDownLatch never = new CountDownLatch(1);
    for (int i = 0; i < count; i++) {
      String name = "GET /orders/" + i;
      Thread thread =
          new Thread(
              () -> {
                beginning.begin(name);
                begun.countDown();
                try {
                  never.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              },
              "http-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    begun.await();
  }

  /** Keeps that share of the heap, and has it collected. */
  private static void fill(int percent) {
    long bytes = Runtime.getRuntime().maxMemory() / 100 * percent;
    while ((long) BLOCK * KEPT.size() < bytes) {
      KEPT.add(new byte[BLOCK]);
    }
    System.gc();
  }
}
