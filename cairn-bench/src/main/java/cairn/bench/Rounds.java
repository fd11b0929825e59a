package cairn.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
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
 * Runs one fork of a JMH benchmark at a time and gathers what all rounds say about it, so that a
 * busy minute of the machine falls on all that take turns.
 */
final class Rounds {
  private final Patience patience;
  private final Iterations iterations;
  private final List<String> jvmArgs;
  private final Map<String, Scores> scores = new LinkedHashMap<>();

  /** What one fork does. */
  record Iterations(int warmups, int warmupMillis, int measurements, int measurementMillis) {}

  /** Of every iteration: what {@link CallerCpu}, the clock and the collector say. */
  static final class Scores {
    private final List<Double> nanos = new ArrayList<>();
    private final List<Double> cpu = new ArrayList<>();
    private final List<Double> bytes = new ArrayList<>();
    private final List<Double> rounds = new ArrayList<>();

    double nanos() {
      return Table.median(nanos);
    }

    double minNanos() {
      return Table.min(nanos);
    }

    double cpu() {
      return Table.median(cpu);
    }

    double bytes() {
      return Table.median(bytes);
    }

    /** {@return how many iterations there were} */
    int count() {
      return nanos.size();
    }

    /** {@return cells of a table: median, min, each round; CPU median, min if known; bytes} */
    List<String> cells() {
      return List.of(
          Table.number(nanos(), 0),
          Table.number(minNanos(), 0),
          String.join(", ", rounds.stream().map(round -> Table.number(round, 0)).toList()),
          Double.isNaN(cpu()) ? "" : Table.number(cpu(), 0),
          Double.isNaN(cpu()) ? "" : Table.number(Table.min(cpu), 0),
          Table.number(bytes(), 0));
    }
  }

  /**
   * @param jvmArgs of the forks, besides heap, collector and what peers need
   */
  Rounds(Settings settings, Iterations iterations, String... jvmArgs) {
    this.patience = settings.patience();
    this.iterations = iterations;
    this.jvmArgs = List.of(jvmArgs);
  }

  /** Runs one fork of the only benchmark that {@code include} and {@code params} name. */
  void run(String label, String include, Map<String, String> params, int threads) throws Exception {
    run(label, include, params, threads, null, List.of());
  }

  /**
   * Runs one fork with more JVM arguments, or with another JVM.
   *
   * @param java the {@code java} to run; null for that of this process
   */
  void run(
      String label,
      String include,
      Map<String, String> params,
      int threads,
      @Nullable String java,
      List<String> moreJvmArgs)
      throws Exception {
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include(include)
            .threads(threads)
            .forks(1)
            .warmupIterations(iterations.warmups())
            .warmupTime(TimeValue.milliseconds(iterations.warmupMillis()))
            .measurementIterations(iterations.measurements())
            .measurementTime(TimeValue.milliseconds(iterations.measurementMillis()))
            .addProfiler(GCProfiler.class)
            .addProfiler(CallerCpu.class)
            .shouldFailOnError(true)
            .output(Path.of(Scratch.root().toString(), "jmh.log").toString())
            .jvmArgsAppend(jvmArgs(moreJvmArgs));
    if (java != null) {
      options.jvm(java);
    }
    params.forEach(options::param);
    patience.await(include + " " + params + " threads=" + threads);
    Collection<RunResult> results = new Runner(options.build()).run();
    Evidence.require(results.size() == 1, "benchmarks called " + include, results.size(), 1);
    add(scores.computeIfAbsent(label, key -> new Scores()), results.iterator().next());
  }

  /** {@return what was measured, in the order of the first round} */
  Map<String, Scores> scores() {
    return scores;
  }

  @Nullable Scores scores(String label) {
    return scores.get(label);
  }

  private String[] jvmArgs(List<String> more) {
    List<String> args = new ArrayList<>(List.of("-Xmx2g", "-XX:+UseG1GC"));
    args.addAll(Child.OPENS);
    args.addAll(jvmArgs);
    args.addAll(more);
    args.add("-Djava.io.tmpdir=" + Scratch.root());
    return args.toArray(String[]::new);
  }

  private static void add(Scores scores, RunResult run) {
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
}
