package cairn.bench;

import cairn.Level;
import cairn.Recorder;
import cairn.report.Report;
import io.sentry.Sentry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a recorder costs over time, all threads: an idle process, and one with bursts of 107
 * breadcrumbs ten times a second.
 */
public final class FootprintHarness {
  private static final int BURST = 107;
  private static final long BURST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private FootprintHarness() {}

  static void run(Settings settings) throws Exception {
    int seconds = settings.quick() ? 5 : 60;
    Map<String, List<Map<String, String>>> results = new LinkedHashMap<>();
    for (int round = 0; round < settings.rounds(); round++) {
      // Idle processes disturb nobody, so they run side by side.
      measure(settings, List.of("idle noop", "idle cairn"), seconds, results);
      measure(settings, List.of("busy noop", "busy cairn"), seconds, results);
      measure(settings, List.of("busy sentry-persist"), seconds, results);
    }
    show(results, seconds);
  }

  private static void measure(
      Settings settings,
      List<String> cases,
      int seconds,
      Map<String, List<Map<String, String>>> results)
      throws Exception {
    record Running(String name, Process process, Path log, List<String> main, Scratch files) {}
    settings.patience().await("footprint " + cases + " " + seconds + " s");
    List<Running> running = new ArrayList<>();
    for (String name : cases) {
      Scratch files = Scratch.create("footprint");
      Path log = Files.createTempFile(Scratch.root(), "cairn-child-", ".log");
      List<String> main = new ArrayList<>(List.of(FootprintHarness.class.getName()));
      main.addAll(List.of(name.split(" ")));
      main.addAll(List.of(String.valueOf(seconds), files.directory().toString()));
      running.add(
          new Running(
              name,
              Child.start(List.of(), List.of("-Xmx512m"), Child.classpath(), main, log),
              log,
              main,
              files));
    }
    for (Running one : running) {
      try (Scratch files = one.files()) {
        results
            .computeIfAbsent(one.name(), key -> new ArrayList<>())
            .add(Child.finish(one.process(), one.log(), one.main(), seconds + 60L));
      }
    }
  }

  private static void show(Map<String, List<Map<String, String>>> results, int seconds) {
    Table table =
        new Table(
            "process",
            "CPU ms/min",
            "CPU ms/min of Cairn's threads",
            "us per beat",
            "us per breadcrumb, above noop",
            "write calls/min",
            "KB dirtied/min");
    double minute = 60.0 / seconds;
    results.forEach(
        (name, rounds) -> {
          double cpu = median(rounds, "cpuMillis") * minute;
          double own = median(rounds, "cairnCpuMillis") * minute;
          boolean idleCairn = name.equals("idle cairn");
          double crumbs = median(rounds, "breadcrumbs") * minute;
          boolean busy = crumbs > 0 && !name.endsWith("noop");
          double noop = busy ? median(results.get("busy noop"), "cpuMillis") * minute : Double.NaN;
          table.row(
              name.replace("cairn", "**Cairn**"),
              Table.number(cpu, 0),
              Table.number(own, 1),
              idleCairn ? Table.number(1000 * own / 60, 0) : "",
              busy ? Table.number(1000 * (cpu - noop) / crumbs, 2) : "",
              Table.number(median(rounds, "writeCalls") * minute, 0),
              Table.number(median(rounds, "dirtiedKb") * minute, 0));
        });
    System.out.println(
        "Medians of the rounds; " + seconds + " s each, after 5 s of settling:\n\n" + table);
  }

  private static double median(List<Map<String, String>> rounds, String name) {
    return Table.median(rounds.stream().map(round -> Double.parseDouble(round.get(name))).toList());
  }

  /** One process. Arguments: idle or busy, target, seconds, directory. */
  public static void main(String[] args) throws Exception {
    boolean busy = args[0].equals("busy");
    long seconds = Long.parseLong(args[2]);
    Path directory = Path.of(args[3]);
    Recorder recorder = args[1].equals("cairn") ? Evidence.open(directory) : null;
    boolean sentry = args[1].equals("sentry-persist");
    if (sentry) {
      SentryTarget.init(directory);
    }
    for (int i = 0; i < 20; i++) {
      ProcessMeter.read();
    }
    long warmUp = 0;
    if (busy) {
      warmUp = bursts(recorder, sentry, 5);
    } else {
      Thread.sleep(5000);
    }
    ProcessMeter before = ProcessMeter.read();
    long breadcrumbs = 0;
    if (busy) {
      breadcrumbs = bursts(recorder, sentry, seconds);
    } else {
      Thread.sleep(TimeUnit.SECONDS.toMillis(seconds));
    }
    ProcessMeter used = ProcessMeter.read().minus(before);
    if (recorder != null) {
      recorder.close();
      Report report = Evidence.reportOf(directory);
      Evidence.require(
          report.vitals().size() >= seconds, "vitals", report.vitals().size(), seconds);
      if (busy) {
        Evidence.requireTrail(directory, warmUp + breadcrumbs);
      }
    }
    System.out.println(
        Child.result(
            "cpuMillis", used.cpuNanos() / 1e6,
            "cairnCpuMillis", used.cairnCpuNanos() / 1e6,
            "breadcrumbs", breadcrumbs,
            "writeCalls", used.writeCalls(),
            "dirtiedKb", used.dirtiedBytes() / 1024));
    System.exit(0);
  }

  private static long bursts(@Nullable Recorder recorder, boolean sentry, long seconds) {
    long due = System.nanoTime();
    long end = due + TimeUnit.SECONDS.toNanos(seconds);
    long calls = 0;
    while (due < end) {
      for (int i = 0; i < BURST; i++) {
        Payload.Event event = Payload.SMALL[(int) calls++ & Payload.MASK];
        if (recorder != null) {
          recorder.breadcrumb(Level.INFO, event.category(), event.message(), event.data());
        } else if (sentry) {
          Sentry.addBreadcrumb(SentryTarget.breadcrumb(event));
        }
      }
      due += BURST_NANOS;
      while (System.nanoTime() < due) {
        LockSupport.parkNanos(due - System.nanoTime());
      }
    }
    return calls;
  }
}
