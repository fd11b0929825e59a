package cairn.bench;

import cairn.report.Report;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a recorder adds to the start of a process: whole processes, in turn with an empty main, each
 * with a class path of just what it needs. Wall and CPU as the shell's {@code time} tells them,
 * peak memory as {@code /usr/bin/time} does.
 */
final class StartupHarness {
  private static final Path GNU_TIME = Path.of("/usr/bin/time");
  private static final String PACKAGE = "cairn.bench.start.";

  private StartupHarness() {}

  /** One kind of process. */
  private record Start(
      String label, String main, List<String> jvm, String[] jars, String... args) {}

  private static final List<Start> STARTS =
      List.of(
          new Start("empty main", "EmptyMain", List.of(), new String[0]),
          new Start(
              "**Cairn**: open, first breadcrumb",
              "CairnMain",
              List.of(),
              new String[] {"cairn-core-"}),
          new Start("Sentry.init, in memory", "SentryMain", List.of(), new String[] {"sentry-"}),
          new Start(
              "Sentry.init, scope persisted",
              "SentryMain",
              List.of(),
              new String[] {"sentry-"},
              "persist"),
          new Start(
              "OpenTelemetry SDK autoconfigure, logging exporter",
              "OtelMain",
              List.of(
                  "-Dotel.traces.exporter=logging",
                  "-Dotel.metrics.exporter=none",
                  "-Dotel.logs.exporter=none"),
              new String[] {"opentelemetry-"}));

  private static final class Samples {
    final List<Double> wall = new ArrayList<>();
    final List<Double> cpu = new ArrayList<>();
    final List<Double> peak = new ArrayList<>();
  }

  static void run(Settings settings) throws Exception {
    int runs = settings.quick() ? 3 : 15;
    Map<Start, Samples> all = new HashMap<>();
    try (Scratch scratch = Scratch.create("startup")) {
      // The mains alone: a class path of forty jars would be searched by whoever looks.
      Path jar =
          Child.pack(
              scratch.directory().resolve("start.jar"),
              STARTS.stream()
                  .map(start -> (PACKAGE + start.main()).replace('.', '/'))
                  .distinct()
                  .toList());
      for (int i = 0; i < runs; i++) {
        for (Start start : STARTS) {
          settings.patience().await("startup " + start.label());
          // The first round only fills the page cache.
          Samples samples = all.computeIfAbsent(start, key -> new Samples());
          run(start, jar, samples);
          if (i == 0) {
            run(start, jar, new Samples());
            all.put(start, new Samples());
            run(start, jar, all.get(start));
          }
        }
      }
    }
    show(all, runs);
  }

  private static void run(Start start, Path jar, Samples samples) throws Exception {
    try (Scratch files = Scratch.create("start")) {
      StringBuilder script =
          new StringBuilder("TIMEFORMAT='result wall=%3R user=%3U sys=%3S'; time ");
      boolean peak = Files.isExecutable(GNU_TIME);
      if (peak) {
        script.append(GNU_TIME).append(" -f 'result peak=%M' ");
      }
      script.append("\"$@\"");
      List<String> jvm = new ArrayList<>(start.jvm());
      jvm.add("-Xmx512m");
      String classpath = jar.toString();
      if (start.jars().length > 0) {
        classpath += File.pathSeparator + Child.jars(start.jars());
      }
      List<String> main = new ArrayList<>(List.of(PACKAGE + start.main()));
      main.add(files.directory().toString());
      main.addAll(List.of(start.args()));
      Map<String, String> result =
          Child.run(List.of("bash", "-c", script.toString(), "bash"), jvm, classpath, main, 60);
      samples.wall.add(1000 * Double.parseDouble(result.get("wall")));
      samples.cpu.add(
          1000 * (Double.parseDouble(result.get("user")) + Double.parseDouble(result.get("sys"))));
      samples.peak.add(peak ? Double.parseDouble(result.get("peak")) / 1024 : Double.NaN);
      if (start.main().equals("CairnMain")) {
        Report report = Evidence.reportOf(files.directory());
        Evidence.require(report.trail().size() == 1, "trail", report.trail(), "1 breadcrumb");
      }
    }
  }

  private static void show(Map<Start, Samples> all, int runs) {
    Samples empty = all.get(STARTS.get(0));
    Table table =
        new Table(
            "process",
            "wall ms",
            "CPU ms",
            "peak MiB",
            "added wall ms",
            "added CPU ms",
            "added MiB");
    for (Start start : STARTS) {
      Samples samples = all.get(start);
      double wall = Table.median(samples.wall);
      double cpu = Table.median(samples.cpu);
      double peak = Table.median(samples.peak);
      table.row(
          start.label(),
          Table.number(wall, 0),
          Table.number(cpu, 0),
          Table.number(peak, 1),
          Table.number(wall - Table.median(empty.wall), 0),
          Table.number(cpu - Table.median(empty.cpu), 0),
          Table.number(peak - Table.median(empty.peak), 1));
    }
    System.out.println("Medians of " + runs + " runs each, in turn; -Xmx512m:\n\n" + table);
  }
}
