package cairn.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * The tail of a single call: a histogram over every call, in a JVM of its own for each case, on a
 * quiet disk and beside {@link DiskNeighbour}. Each latency includes one read of the clock.
 */
public final class LatencyHarness {
  private static final Path TMPFS = Path.of("/dev/shm");
  private static final long PERIOD_NANOS = 50_000;
  private static final double[] PERCENTILES = {50, 99, 99.9, 99.99};

  private LatencyHarness() {}

  private record Case(String target, boolean loaded, boolean paced) {
    String label() {
      return Target.label(target);
    }
  }

  static void run(Settings settings) throws Exception {
    List<String> targets = new ArrayList<>(List.of("control", "cairn"));
    if (Files.isDirectory(TMPFS) && Files.getFileStore(TMPFS).type().equals("tmpfs")) {
      targets.add("cairn-tmpfs");
    }
    targets.addAll(List.of("jfr", "log4j2-mapped", "write"));
    Map<Case, List<Map<String, String>>> results = new LinkedHashMap<>();
    for (int round = 0; round < settings.rounds(); round++) {
      for (boolean paced : new boolean[] {false, true}) {
        for (boolean loaded : new boolean[] {false, true}) {
          if (settings.quick() && paced && loaded) {
            continue;
          }
          for (String target : targets) {
            Case one = new Case(target, loaded, paced);
            settings.patience().await("latency " + one);
            results.computeIfAbsent(one, key -> new ArrayList<>()).add(measure(one, settings));
          }
        }
      }
    }
    show(results);
  }

  private static Map<String, String> measure(Case one, Settings settings) throws Exception {
    int seconds = settings.quick() ? 1 : 6;
    boolean tmpfs = one.target().equals("cairn-tmpfs");
    try (Scratch files = tmpfs ? Scratch.create(TMPFS, "latency") : Scratch.create("latency");
        Scratch neighbourFiles = Scratch.create("neighbour")) {
      Path log = Files.createTempFile(Scratch.root(), "cairn-neighbour-", ".log");
      List<String> neighbourMain =
          List.of(
              DiskNeighbour.class.getName(),
              neighbourFiles.directory().toString(),
              String.valueOf(seconds + 30));
      Process neighbour =
          one.loaded()
              ? Child.start(List.of(), List.of("-Xmx64m"), Child.classpath(), neighbourMain, log)
              : null;
      try {
        List<String> jvm = new ArrayList<>(Child.OPENS);
        jvm.addAll(List.of("-Xms1g", "-Xmx1g", "-XX:+UseG1GC"));
        jvm.add("-Djava.io.tmpdir=" + Scratch.root());
        return Child.run(
            List.of(),
            jvm,
            Child.classpath(),
            List.of(
                LatencyHarness.class.getName(),
                tmpfs ? "cairn" : one.target(),
                files.directory().toString(),
                String.valueOf(one.paced()),
                String.valueOf(seconds)),
            seconds + 60L);
      } finally {
        if (neighbour != null) {
          if (!neighbour.isAlive()) {
            throw new IllegalStateException("neighbour ended early: " + Files.readString(log));
          }
          neighbour.destroyForcibly().waitFor();
        }
        Files.deleteIfExists(log);
      }
    }
  }

  private static void show(Map<Case, List<Map<String, String>>> results) {
    for (boolean paced : new boolean[] {false, true}) {
      for (boolean loaded : new boolean[] {false, true}) {
        Table table =
            new Table(
                "call, ns", "p50", "p99", "p99.9", "p99.99", "max", "calls", "p99.99 x control");
        Map<String, String> ratio = new LinkedHashMap<>();
        for (Map.Entry<Case, List<Map<String, String>>> entry : results.entrySet()) {
          Case one = entry.getKey();
          if (one.paced() == paced && one.loaded() == loaded) {
            List<Map<String, String>> control = results.get(new Case("control", loaded, paced));
            double tail = median(entry.getValue(), "p99.99");
            ratio.put(one.target(), Table.number(tail / median(control, "p99.99"), 2));
            table.row(
                one.label(),
                cell(entry.getValue(), "p50"),
                cell(entry.getValue(), "p99"),
                cell(entry.getValue(), "p99.9"),
                cell(entry.getValue(), "p99.99"),
                cell(entry.getValue(), "max"),
                Table.number(median(entry.getValue(), "calls"), 0),
                ratio.get(one.target()));
          }
        }
        if (!ratio.isEmpty()) {
          System.out.println(
              (paced ? "20,000 calls/s" : "Saturated")
                  + (loaded ? ", beside a disk-writing neighbour" : ", quiet disk")
                  + " (medians over the rounds):\n\n"
                  + table);
        }
      }
    }
  }

  private static String cell(List<Map<String, String>> rounds, String name) {
    return Table.number(median(rounds, name), 0);
  }

  private static double median(List<Map<String, String>> rounds, String name) {
    return Table.median(rounds.stream().map(round -> Double.parseDouble(round.get(name))).toList());
  }

  /** One case. Arguments: target, directory, whether paced, seconds. */
  public static void main(String[] args) throws Exception {
    Target target = Target.open(args[0], Path.of(args[1]));
    boolean paced = Boolean.parseBoolean(args[2]);
    long seconds = Long.parseLong(args[3]);
    Histogram histogram = new Histogram(TimeUnit.SECONDS.toNanos(60), 3);
    // Saturated, whatever comes after: the compiler needs the calls.
    long calls = saturated(target, histogram, TimeUnit.SECONDS.toNanos(Math.min(seconds, 2)));
    histogram.reset();
    long nanos = TimeUnit.SECONDS.toNanos(seconds);
    calls += paced ? paced(target, histogram, nanos) : saturated(target, histogram, nanos);
    target.finish(calls);
    List<Object> result = new ArrayList<>(List.of("calls", histogram.getTotalCount()));
    for (double percentile : PERCENTILES) {
      String name = "p" + (percentile % 1 == 0 ? "" + (int) percentile : "" + percentile);
      result.addAll(List.of(name, histogram.getValueAtPercentile(percentile)));
    }
    result.addAll(List.of("max", histogram.getMaxValue()));
    System.out.println(Child.result(result.toArray()));
    System.exit(0);
  }

  private static long saturated(Target target, Histogram histogram, long nanos) throws Exception {
    long start = System.nanoTime();
    long end = start + nanos;
    long calls = 0;
    while (start < end) {
      target.record((int) calls & Payload.MASK);
      histogram.recordValue(System.nanoTime() - start);
      calls++;
      start = System.nanoTime();
    }
    return calls;
  }

  private static long paced(Target target, Histogram histogram, long nanos) throws Exception {
    long due = System.nanoTime();
    long end = due + nanos;
    long calls = 0;
    while (due < end) {
      long start = System.nanoTime();
      while (start < due) {
        Thread.onSpinWait();
        start = System.nanoTime();
      }
      target.record((int) calls & Payload.MASK);
      histogram.recordValue(System.nanoTime() - start);
      calls++;
      due += PERIOD_NANOS;
    }
    return calls;
  }
}
