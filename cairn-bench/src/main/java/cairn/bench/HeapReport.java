package cairn.bench;

import cairn.bench.Bootstrap.Difference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Shows what a sweep has measured so far: two tables and a chart. */
final class HeapReport {
  /** What all others are compared with. */
  static final HeapArm BASE = HeapArm.NONE;

  private final HeapPlan plan;
  private final HeapResults results;

  HeapReport(HeapPlan plan, HeapResults results) {
    this.plan = plan;
    this.results = results;
  }

  /** Writes {@code heaps.md} and {@code heaps.svg} beside the results. */
  void write() throws IOException {
    Path out = plan.out();
    Files.writeString(out.resolve("heaps.md"), text());
    Files.writeString(out.resolve("heaps.svg"), HeapChart.of(plan, results));
  }

  /** {@return the tables, as Markdown} */
  String text() {
    return "Throughput against *no telemetry*, with the 95 % interval of a bootstrap over the rounds"
        + " ("
        + plan
        + "):\n\n"
        + differences()
        + "\nMedians of the rounds:\n\n"
        + details();
  }

  private Table differences() {
    List<String> headings = new ArrayList<>(List.of("heap, MiB", BASE.label + ", answers/s"));
    plan.arms().stream().filter(arm -> arm != BASE).forEach(arm -> headings.add(arm.label));
    Table table = new Table(headings.toArray(String[]::new));
    for (int heap : plan.heaps()) {
      if (results.rows(heap, BASE).isEmpty()) {
        continue;
      }
      List<String> cells = new ArrayList<>(List.of(Integer.toString(heap)));
      cells.add(baseCell(heap));
      for (HeapArm arm : plan.arms()) {
        if (arm != BASE) {
          cells.add(cell(heap, arm));
        }
      }
      table.row(cells.toArray(String[]::new));
    }
    return table;
  }

  private String baseCell(int heap) {
    double rate = median(measured(heap, BASE), HeapResults.Row::perSecond);
    return Double.isNaN(rate) ? whyNot(heap, BASE) : Table.number(rate, 0);
  }

  private String cell(int heap, HeapArm arm) {
    List<Bootstrap.Pair> pairs = results.pairs(heap, arm, BASE);
    String why = whyNot(heap, arm);
    if (pairs.size() < 2) {
      return why.isEmpty() ? "" : why;
    }
    String cell = text(Bootstrap.difference(pairs));
    return why.isEmpty() ? cell : cell + "; then " + why;
  }

  /** {@return a difference with its interval, in percent} */
  static String text(Difference difference) {
    return percent(difference.estimate())
        + " % ("
        + percent(difference.low())
        + " to "
        + percent(difference.high())
        + ")";
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%+.1f", 100 * share)
        .replace("-0.0", "0.0")
        .replace("+0.0", "0.0");
  }

  /** {@return what became of an arm's shop that could not be measured; empty if all could} */
  private String whyNot(int heap, HeapArm arm) {
    List<String> reasons =
        results.rows(heap, arm).stream()
            .filter(row -> !row.isOk())
            .map(HeapResults.Row::status)
            .distinct()
            .toList();
    return String.join("; ", reasons);
  }

  private Table details() {
    Table table =
        new Table(
            "heap, MiB",
            "arm",
            "rounds",
            "answers/s",
            "p50 ms",
            "p99 ms",
            "CPU ms per answer",
            "JIT, % of CPU",
            "collector, % of time",
            "KB allocated per answer",
            "failures");
    for (int heap : plan.heaps()) {
      for (HeapArm arm : plan.arms()) {
        List<HeapResults.Row> rows = measured(heap, arm);
        if (results.rows(heap, arm).isEmpty()) {
          continue;
        }
        table.row(
            Integer.toString(heap),
            arm.label,
            Integer.toString(rows.size()),
            number(median(rows, HeapResults.Row::perSecond), 0),
            number(median(rows, row -> row.p50Micros() / 1000.0), 2),
            number(median(rows, row -> row.p99Micros() / 1000.0), 2),
            number(median(rows, row -> (double) row.cpuMillis() / row.answers()), 3),
            number(median(rows, row -> 100.0 * row.compilerMillis() / row.cpuMillis()), 1),
            number(median(rows, row -> row.gcMillis() / (10 * row.seconds())), 1),
            number(median(rows, row -> 1024 * row.allocatedMb() / row.answers()), 0),
            Long.toString(rows.stream().mapToLong(HeapResults.Row::failures).sum()));
      }
    }
    return table;
  }

  private List<HeapResults.Row> measured(int heap, HeapArm arm) {
    return results.rows(heap, arm).stream().filter(HeapResults.Row::isOk).toList();
  }

  private static double median(
      List<HeapResults.Row> rows, ToDoubleFunction<HeapResults.Row> value) {
    return rows.isEmpty() ? Double.NaN : Table.median(rows.stream().mapToDouble(value).toArray());
  }

  private static String number(double value, int decimals) {
    return Double.isNaN(value) ? "" : Table.number(value, decimals);
  }
}
