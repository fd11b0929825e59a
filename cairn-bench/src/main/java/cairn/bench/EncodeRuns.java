package cairn.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs {@link EncodePathBenchmark} in rounds; then shows all contenders at all sizes. */
final class EncodeRuns {
  /** What the others are compared with. */
  private static final String CAIRN = "d";

  private final Settings settings;
  private final Rounds rounds;

  EncodeRuns(Settings settings) {
    this.settings = settings;
    this.rounds =
        new Rounds(
            settings,
            settings.quick()
                ? new Rounds.Iterations(1, 500, 3, 200)
                : new Rounds.Iterations(2, 1000, 5, 1000),
            WarmUp.JVM_ARG);
  }

  void run() throws Exception {
    List<String> contenders = settings.only(Contender.NAMES);
    List<Integer> sizes = settings.sizes(EncodePayload.SIZES);
    for (int round = 0; round < settings.rounds(); round++) {
      for (int size : sizes) {
        for (String contender : contenders) {
          rounds.run(
              contender + " " + size,
              "EncodePathBenchmark",
              Map.of("contender", contender, "size", Integer.toString(size)),
              1);
        }
      }
    }
    Table table =
        new Table(
            "contender",
            "size",
            "bytes written",
            "ns/op, median",
            "min",
            "rounds",
            "caller's CPU ns/op, median",
            "min",
            "B/op",
            "x (d)",
            "x (d), CPU");
    for (int size : sizes) {
      for (String contender : contenders) {
        row(table, contender, size);
      }
    }
    System.out.println(table);
  }

  private void row(Table table, String contender, int size) throws Exception {
    Rounds.Scores scores = rounds.scores().get(contender + " " + size);
    Rounds.Scores cairn = rounds.scores(CAIRN + " " + size);
    List<String> cells =
        new ArrayList<>(
            List.of(
                Contender.label(contender),
                Table.number(size, 0),
                Table.number(meanBytes(contender, size), 0)));
    cells.addAll(scores.cells());
    cells.add(cairn == null ? "" : Table.number(scores.nanos() / cairn.nanos(), 2));
    cells.add(cairn == null ? "" : Table.number(scores.cpu() / cairn.cpu(), 2));
    table.row(cells.toArray(String[]::new));
  }

  private static double meanBytes(String contender, int size) throws Exception {
    Contender opened = Contender.open(contender);
    double sum = 0;
    List<Map<String, Object>> values = EncodePayload.values(size);
    for (Map<String, Object> value : values) {
      sum += opened.encoder().encode(value);
    }
    return sum / values.size();
  }
}
