package cairn.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/**
 * Runs the JMH benchmarks in rounds, one fork of each in turn, so that a busy minute of the machine
 * falls on all of them; then shows medians over all iterations.
 */
final class RecordRuns {
  private static final List<String> RECORD_METHODS =
      List.of(
          "breadcrumb",
          "breadcrumbMixedCallers",
          "breadcrumbFreshMap",
          "breadcrumb1200",
          "scopeTag",
          "scopeContext",
          "openSpan",
          "openSpanPlainClose");

  private final Settings settings;
  private final Map<String, Scores> scores = new TreeMap<>();

  private static final class Scores {
    final List<Double> nanos = new ArrayList<>();
    final List<Double> cpu = new ArrayList<>();
    final List<Double> bytes = new ArrayList<>();
    final List<Double> rounds = new ArrayList<>();
  }

  RecordRuns(Settings settings) {
    this.settings = settings;
  }

  /** Cairn's calls beside the two or three peers that come close. */
  void record() throws Exception {
    for (int round = 0; round < settings.rounds(); round++) {
      for (int threads = 1; threads <= 2; threads++) {
        for (String method : RECORD_METHODS) {
          run("RecordBenchmark." + method + "$", List.of(), threads);
        }
        for (String target : List.of("jfr", "sentry-memory", "otel-span")) {
          run("PeersBenchmark", List.of(target), threads);
        }
      }
    }
    show();
  }

  /** Every peer, and Cairn's breadcrumb among them. */
  void peers() throws Exception {
    for (int round = 0; round < settings.rounds(); round++) {
      for (String target : Target.NAMES) {
        run("PeersBenchmark", List.of(target), 1);
      }
      run("RecordBenchmark.openSpan$", List.of(), 1);
    }
    show();
  }

  private void run(String include, List<String> targets, int threads) throws Exception {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(include)
            .threads(threads)
            .forks(1)
            .warmupIterations(settings.quick() ? 1 : 2)
            .warmupTime(TimeValue.milliseconds(settings.quick() ? 400 : 1000))
            .measurementIterations(settings.quick() ? 2 : 4)
            .measurementTime(TimeValue.milliseconds(settings.quick() ? 250 : 1000))
            .addProfiler(GCProfiler.class)
            .addProfiler(CallerCpu.class)
            .shouldFailOnError(true)
            .output(Path.of(Scratch.root().toString(), "jmh.log").toString())
            .jvmArgsAppend(jvmArgs());
    if (!targets.isEmpty()) {
      options.param("target", targets.toArray(String[]::new));
    }
    settings.patience().await(include + " " + targets + " threads=" + threads);
    Collection<RunResult> results = new Runner(options.build()).run();
    for (RunResult result : results) {
      add(result, threads);
    }
  }

  private static String[] jvmArgs() {
    List<String> args = new ArrayList<>(List.of("-Xmx2g", "-XX:+UseG1GC"));
    args.addAll(Child.OPENS);
    args.add("-Djava.io.tmpdir=" + Scratch.root());
    return args.toArray(String[]::new);
  }

  private void add(RunResult run, int threads) {
    String target = run.getParams().getParam("target");
    String name = run.getParams().getBenchmark();
    String label = target == null ? name.substring(name.lastIndexOf('.') + 1) : target;
    Scores scores = this.scores.computeIfAbsent(label + " " + threads, key -> new Scores());
    List<Double> round = new ArrayList<>();
    for (BenchmarkResult fork : run.getBenchmarkResults()) {
      for (IterationResult iteration : fork.getIterationResults()) {
        round.add(iteration.getPrimaryResult().getScore());
        Map<String, Result> more = iteration.getSecondaryResults();
        scores.bytes.add(more.get("gc.alloc.rate.norm").getScore());
        scores.cpu.add(more.get(CallerCpu.RESULT).getScore());
      }
    }
    scores.nanos.addAll(round);
    scores.rounds.add(Table.median(round));
  }

  private void show() {
    Table table =
        new Table(
            "call",
            "threads",
            "ns/op, median",
            "min",
            "rounds",
            "caller's CPU ns/op, median",
            "min",
            "B/op",
            "x JFR event",
            "x JFR, CPU");
    for (Map.Entry<String, Scores> entry : scores.entrySet()) {
      String[] key = entry.getKey().split(" ");
      Scores scores = entry.getValue();
      Scores jfr = this.scores.get("jfr " + key[1]);
      double median = Table.median(scores.nanos);
      table.row(
          Target.label(key[0]),
          key[1],
          Table.number(median, 0),
          Table.number(Table.min(scores.nanos), 0),
          String.join(", ", scores.rounds.stream().map(round -> Table.number(round, 0)).toList()),
          Table.number(Table.median(scores.cpu), 0),
          Table.number(Table.min(scores.cpu), 0),
          Table.number(Table.median(scores.bytes), 0),
          jfr == null ? "" : Table.number(median / Table.median(jfr.nanos), 2),
          jfr == null ? "" : Table.number(Table.median(scores.cpu) / Table.median(jfr.cpu), 2));
    }
    System.out.println(
        "Small event: "
            + Payload.meanBytes(Payload.SMALL)
            + " bytes as JSON; 1.2 KB event: "
            + Payload.meanBytes(Payload.MID)
            + " bytes.\n");
    System.out.println(table);
  }
}
