package cairn.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * What it costs to keep a record of 250 bytes, with 1 to 64 threads that write as fast as they may:
 * a JVM of its own for each {@link DurableContender} and number of threads, in rounds. Each latency
 * includes one read of the clock. The time of all records includes a last force, if forcing is what
 * the contender promises. What the device was given is the sum of all processes: it needs a quiet
 * machine.
 */
public final class DurableWrites {
  private static final int MAX_RECORDS = 1_000_000;
  private static final int TRACED_RECORDS = 1500;
  private static final double[] PERCENTILES = {50, 99, 99.9};

  private DurableWrites() {}

  private record Case(DurableContender contender, int threads) {
    @Override
    public String toString() {
      return contender.cliName() + " threads=" + threads;
    }
  }

  static void run(Settings settings) throws Exception {
    List<Case> cases = new ArrayList<>();
    for (String name : settings.only(DurableContender.NAMES)) {
      DurableContender contender = DurableContender.named(name);
      for (int threads : contender.threads(settings)) {
        cases.add(new Case(contender, threads));
      }
    }
    long millis = settings.quick() ? 1000 : 3000;
    Map<Case, List<Map<String, String>>> results = new LinkedHashMap<>();
    for (int round = 0; round < settings.rounds(); round++) {
      for (Case one : cases) {
        settings.patience().await("durable " + one);
        try (Scratch files = Scratch.create("durable")) {
          results
              .computeIfAbsent(one, key -> new ArrayList<>())
              .add(child(List.of(), one, files.directory(), millis / 3, millis, MAX_RECORDS));
        }
      }
    }
    show(results, trace(results));
  }

  /**
   * Counts, in runs that aren't timed, the forces a record of those that don't count them
   * themselves.
   */
  private static Map<Case, Double> trace(Map<Case, List<Map<String, String>>> results)
      throws Exception {
    Map<Case, Double> traced = new HashMap<>();
    if (!SystemCalls.traceable()) {
      Bench.progress("no forces of peers: strace is missing or may not trace");
      return traced;
    }
    for (Map.Entry<Case, List<Map<String, String>>> entry : results.entrySet()) {
      Case one = entry.getKey();
      if (median(entry.getValue(), "forces") < 0) {
        Bench.progress("durable, traced, " + one);
        try (Scratch files = Scratch.create("durable");
            Scratch traces = Scratch.create("trace")) {
          Path trace = traces.directory().resolve("trace");
          Map<String, String> run =
              child(
                  SystemCalls.prefix(trace),
                  one,
                  files.directory(),
                  0,
                  TimeUnit.SECONDS.toMillis(30),
                  TRACED_RECORDS);
          long forces = SystemCalls.read(trace, files.directory()).forces();
          traced.put(one, forces / Double.parseDouble(run.get("records")));
        }
      }
    }
    return traced;
  }

  private static Map<String, String> child(
      List<String> prefix, Case one, Path directory, long warmMillis, long millis, long maxRecords)
      throws Exception {
    List<String> jvm = new ArrayList<>(Child.OPENS);
    jvm.addAll(List.of("-Xmx512m", "-XX:+UseG1GC", "-Djava.io.tmpdir=" + Scratch.root()));
    return Child.run(
        prefix,
        jvm,
        Child.classpath(),
        List.of(
            DurableWrites.class.getName(),
            one.contender().cliName(),
            directory.toString(),
            String.valueOf(one.threads()),
            String.valueOf(warmMillis),
            String.valueOf(millis),
            String.valueOf(maxRecords)),
        120);
  }

  private static void show(Map<Case, List<Map<String, String>>> results, Map<Case, Double> traced) {
    for (int threads : results.keySet().stream().map(Case::threads).distinct().sorted().toList()) {
      Table table =
          new Table(
              "one record of 250 bytes",
              "a returned call survives",
              "us a record",
              "in the best round",
              "records/s",
              "p50 us",
              "p99 us",
              "p99.9 us",
              "max ms",
              "forces a record",
              "KB dirtied a record",
              "KB to the device a record");
      results.forEach(
          (one, rounds) -> {
            if (one.threads() == threads) {
              double rate = median(rounds, "rate");
              double device = median(rounds, "device");
              table.row(
                  one.contender().label(),
                  one.contender().survives(),
                  micros(1e6 / rate),
                  micros(1e6 / Table.max(values(rounds, "rate"))),
                  Table.number(rate, 0),
                  micros(median(rounds, "p50")),
                  micros(median(rounds, "p99")),
                  micros(median(rounds, "p99.9")),
                  Table.number(Table.max(values(rounds, "max")) / 1000, 1),
                  forces(median(rounds, "forces"), traced.get(one)),
                  Table.number(median(rounds, "dirtied"), 2),
                  device < 0 ? "-" : Table.number(device, 2));
            }
          });
      System.out.println(
          threads
              + (threads == 1 ? " thread" : " threads")
              + " (medians of the rounds, maximum of all):\n\n"
              + table);
    }
  }

  /** {@return the forces a record: counted by the contender, else traced} */
  private static String forces(double counted, @Nullable Double traced) {
    if (counted >= 0) {
      return Table.number(counted, 3);
    }
    return traced == null ? "-" : Table.number(traced, 3);
  }

  /** {@return a time with three digits or more} */
  private static String micros(double value) {
    return Table.number(value, value < 10 ? 2 : value < 100 ? 1 : 0);
  }

  private static List<Double> values(List<Map<String, String>> rounds, String name) {
    return rounds.stream().map(round -> Double.parseDouble(round.get(name))).toList();
  }

  private static double median(List<Map<String, String>> rounds, String name) {
    return Table.median(values(rounds, name));
  }

  /** One case. Arguments: contender, directory, threads, ms of warm-up, ms, records at most. */
  public static void main(String[] args) throws Exception {
    Target target = DurableContender.named(args[0]).open(Path.of(args[1]));
    int threads = Integer.parseInt(args[2]);
    long warmNanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[3]));
    long nanos = TimeUnit.MILLISECONDS.toNanos(Long.parseLong(args[4]));
    long maxRecords = Long.parseLong(args[5]) / threads;
    ExecutorService callers = Executors.newFixedThreadPool(threads);
    Histogram warm = drive(target, callers, threads, warmNanos, maxRecords / 4);
    target.settle();

    long forcesBefore = target.forces();
    long deviceBefore = deviceBytes(Path.of(args[1]));
    ProcessMeter before = ProcessMeter.read();
    SystemCalls.begin();
    long start = System.nanoTime();
    Histogram latencies = drive(target, callers, threads, nanos, maxRecords);
    target.settle();
    double seconds = (System.nanoTime() - start) / 1e9;
    SystemCalls.end();
    ProcessMeter used = ProcessMeter.read().minus(before);
    long device = deviceBytes(Path.of(args[1])) - deviceBefore;
    long forces = target.forces();
    callers.shutdown();

    long records = latencies.getTotalCount();
    target.finish(warm.getTotalCount() + records);
    List<Object> result = new ArrayList<>();
    result.addAll(List.of("records", records, "rate", records / seconds));
    for (double percentile : PERCENTILES) {
      String name = "p" + (percentile % 1 == 0 ? "" + (int) percentile : "" + percentile);
      result.addAll(List.of(name, latencies.getValueAtPercentile(percentile) / 1e3));
    }
    result.addAll(List.of("max", latencies.getMaxValue() / 1e3));
    result.addAll(List.of("forces", forces < 0 ? -1 : (double) (forces - forcesBefore) / records));
    result.addAll(List.of("dirtied", used.dirtiedBytes() / 1024.0 / records));
    result.addAll(List.of("device", deviceBefore < 0 ? -1 : device / 1024.0 / records));
    System.out.println(Child.result(result.toArray()));
    System.exit(0);
  }

  /**
   * {@return the bytes that the device below a directory has been given so far, by all processes;
   * -1 if it isn't a block device}
   */
  private static long deviceBytes(Path directory) throws IOException {
    long device = (Long) Files.getAttribute(directory, "unix:dev");
    long major = device >>> 8 & 0xfff;
    long minor = device & 0xff | device >>> 12 & 0xfff00;
    Path stat = Path.of("/sys/dev/block/" + major + ":" + minor + "/stat");
    if (!Files.exists(stat)) {
      return -1;
    }
    // The seventh field counts sectors written, of 512 bytes whatever the device.
    return 512 * Long.parseLong(Files.readString(stat).strip().split("\\s+")[6]);
  }

  /** Lets every thread write until the time or its share of the records is over. */
  private static Histogram drive(
      Target target, ExecutorService callers, int threads, long nanos, long recordsEach)
      throws Exception {
    CyclicBarrier together = new CyclicBarrier(threads);
    List<Future<Histogram>> running = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      running.add(
          callers.submit(
              () -> {
                Histogram latencies = new Histogram(TimeUnit.SECONDS.toNanos(60), 3);
                together.await();
                long now = System.nanoTime();
                long end = now + nanos;
                for (int record = 0; record < recordsEach && now < end; record++) {
                  target.record(record & Payload.MASK);
                  long after = System.nanoTime();
                  latencies.recordValue(after - now);
                  now = after;
                }
                return latencies;
              }));
    }
    Histogram all = new Histogram(TimeUnit.SECONDS.toNanos(60), 3);
    for (Future<Histogram> one : running) {
      all.add(one.get());
    }
    return all;
  }
}
