package cairn.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Runs the JMH benchmarks of the recorder in rounds; then shows medians over all iterations. */
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
  private final Rounds rounds;

  RecordRuns(Settings settings) {
    this.settings = settings;
    this.rounds =
        new Rounds(
            settings,
            settings.quick()
                ? new Rounds.Iterations(1, 400, 2, 250)
                : new Rounds.Iterations(2, 1000, 4, 1000));
  }

  /** Cairn's calls beside the two or three peers that come close. */
  void record() throws Exception {
    for (int round = 0; round < settings.rounds(); round++) {
      for (int threads = 1; threads <= 2; threads++) {
        for (String method : RECORD_METHODS) {
          run(method, threads);
        }
        for (String target : List.of("jfr", "sentry-memory", "otel-span")) {
          runTarget(target, threads);
        }
      }
    }
    show();
  }

  /** Every peer, and Cairn's breadcrumb among them. */
  void peers() throws Exception {
    for (int round = 0; round < settings.rounds(); round++) {
      for (String target : Target.NAMES) {
        runTarget(target, 1);
      }
      run("openSpan", 1);
    }
    show();
  }

  private void run(String method, int threads) throws Exception {
    rounds.run(method + " " + threads, "RecordBenchmark." + method + "$", Map.of(), threads);
  }

  private void runTarget(String target, int threads) throws Exception {
    rounds.run(target + " " + threads, "PeersBenchmark", Map.of("target", target), threads);
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
    for (Map.Entry<String, Rounds.Scores> entry : new TreeMap<>(rounds.scores()).entrySet()) {
      String[] key = entry.getKey().split(" ");
      Rounds.Scores scores = entry.getValue();
      Rounds.Scores jfr = rounds.scores("jfr " + key[1]);
      List<String> cells = new ArrayList<>(List.of(Target.label(key[0]), key[1]));
      cells.addAll(scores.cells());
      cells.add(jfr == null ? "" : Table.number(scores.nanos() / jfr.nanos(), 2));
      cells.add(jfr == null ? "" : Table.number(scores.cpu() / jfr.cpu(), 2));
      table.row(cells.toArray(String[]::new));
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
