package cairn.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@link SpanBenchmark} for every contender and case in rounds; then shows nanoseconds and
 * bytes of all side by side, and writes them to {@code spans.csv}.
 */
final class SpanRuns {
  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

  private final Settings settings;
  private final Rounds rounds;
  private final Path out;

  /**
   * @param out where the CSV goes
   */
  SpanRuns(Settings settings, Path out) {
    this.settings = settings;
    this.out = out;
    this.rounds =
        new Rounds(
            settings,
            settings.quick()
                ? new Rounds.Iterations(2, 300, 3, 200)
                : new Rounds.Iterations(3, 1000, 5, 500),
            // Numbers are to be those of compiled code, also on a busy machine.
            WarmUp.JVM_ARG);
  }

  void run() throws Exception {
    List<String> contenders = settings.only(SpanContender.NAMES);
    List<SpanCase> cases = settings.cases();
    Path agent = Agents.datadog();
    String newer = newerJvm();
    if (agent == null) {
      Bench.progress("no agent of Datadog: its core is left out (bin/bench agents fetches it)");
    }
    if (newer == null) {
      Bench.progress("no JDK of " + FIRST_WITH_VIRTUAL_THREADS + " or later: no virtual threads");
    }
    try (Scratch unpacked = Scratch.create("datadog")) {
      List<String> datadog =
          agent == null ? List.of() : DatadogCore.unpack(agent, unpacked.directory());
      for (int round = 0; round < settings.rounds(); round++) {
        for (int threads : settings.threads(List.of(1))) {
          for (SpanCase asked : cases) {
            for (String contender : contenders) {
              boolean inAgent = DatadogCore.isNeededBy(contender);
              if (!asked.suits(contender)
                  || (inAgent && agent == null)
                  || (asked == SpanCase.VIRTUAL && newer == null)) {
                continue;
              }
              List<String> jvm = new ArrayList<>(SpanContender.jvmArgs(contender));
              if (inAgent) {
                jvm.addAll(datadog);
              }
              rounds.run(
                  key(contender, asked, threads),
                  "SpanBenchmark." + asked.method + "$",
                  Map.of("contender", SpanContender.opened(contender)),
                  threads,
                  asked == SpanCase.VIRTUAL ? newer : null,
                  jvm);
            }
          }
        }
      }
    } finally {
      // Also what there is when one of them fails.
      show(contenders, cases);
    }
  }

  private void show(List<String> contenders, List<SpanCase> cases) throws IOException {
    for (int threads : settings.threads(List.of(1))) {
      System.out.println("ns/op, median of all iterations; threads=" + threads + ":\n");
      System.out.println(table(contenders, cases, threads, Rounds.Scores::nanos));
      System.out.println("B/op:\n");
      System.out.println(table(contenders, cases, threads, Rounds.Scores::bytes));
    }
    Path csv = out.resolve("spans.csv");
    Files.createDirectories(out);
    Files.writeString(csv, csv(contenders, cases));
    Bench.progress("written: " + csv);
  }

  private static String key(String contender, SpanCase asked, int threads) {
    return contender + " " + asked.method + " " + threads;
  }

  private interface Column {
    double of(Rounds.Scores scores);
  }

  /** A row for each case, a column for each contender: what is compared is side by side. */
  private Table table(List<String> contenders, List<SpanCase> cases, int threads, Column column) {
    List<String> headings = new ArrayList<>(List.of("case"));
    contenders.forEach(contender -> headings.add(SpanContender.label(contender)));
    Table table = new Table(headings.toArray(String[]::new));
    for (SpanCase asked : cases) {
      List<String> cells = new ArrayList<>(List.of(asked.label));
      for (String contender : contenders) {
        Rounds.Scores scores = rounds.scores(key(contender, asked, threads));
        cells.add(scores == null ? "" : Table.number(column.of(scores), 0));
      }
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }

  private String csv(List<String> contenders, List<SpanCase> cases) {
    Csv csv =
        new Csv("contender", "case", "threads", "nsMedian", "nsMin", "cpuNsMedian", "bytes", "n");
    for (int threads : settings.threads(List.of(1))) {
      for (SpanCase asked : cases) {
        for (String contender : contenders) {
          Rounds.Scores scores = rounds.scores(key(contender, asked, threads));
          if (scores != null) {
            csv.row(
                contender,
                asked.method,
                threads,
                decimal(scores.nanos()),
                decimal(scores.minNanos()),
                decimal(scores.cpu()),
                decimal(scores.bytes()),
                scores.count());
          }
        }
      }
    }
    return csv.toString();
  }

  private static String decimal(double value) {
    return Double.isNaN(value) ? "" : String.format(Locale.ROOT, "%.1f", value);
  }

  /**
   * {@return the {@code java} of a JDK that has virtual threads: this one, that of the variable
   * {@code BENCH_JDK}, or the newest beside this one; null if there is none}
   */
  private static @Nullable String newerJvm() throws IOException {
    if (Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS) {
      return java(Path.of(System.getProperty("java.home")));
    }
    String named = System.getenv("BENCH_JDK");
    if (named != null) {
      return java(Path.of(named));
    }
    Path homes = Path.of(System.getProperty("java.home")).toRealPath().getParent();
    Path newest = null;
    int version = FIRST_WITH_VIRTUAL_THREADS - 1;
    try (Stream<Path> all = Files.list(homes)) {
      for (Path home : all.toList()) {
        int feature = feature(home.resolve("release"));
        if (feature > version) {
          version = feature;
          newest = home;
        }
      }
    }
    return newest == null ? null : java(newest);
  }

  private static String java(Path home) {
    return home.resolve("bin").resolve("java").toString();
  }

  /** {@return the feature version that a JDK's {@code release} file names; 0 if there is none} */
  private static int feature(Path release) throws IOException {
    if (!Files.isRegularFile(release)) {
      return 0;
    }
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(release)) {
      properties.load(in);
    }
    String version = properties.getProperty("JAVA_VERSION", "0").replace("\"", "");
    return Runtime.Version.parse(version).feature();
  }
}
