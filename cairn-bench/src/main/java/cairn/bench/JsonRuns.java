package cairn.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs {@link CborToJsonBenchmark} in rounds; then shows all contenders at all sizes. */
final class JsonRuns {
  static final List<String> NAMES = List.of("cairn", "jackson-cbor", "fastjson2");

  private final Settings settings;
  private final Rounds rounds;

  JsonRuns(Settings settings) {
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
    List<String> contenders = settings.only(NAMES);
    List<Integer> sizes = settings.sizes(EncodePayload.SIZES);
    for (int round = 0; round < settings.rounds(); round++) {
      for (int size : sizes) {
        for (String contender : contenders) {
          rounds.run(
              contender + " " + size,
              "CborToJsonBenchmark",
              Map.of("contender", contender, "size", Integer.toString(size)),
              1);
        }
      }
    }
    Table table =
        new Table(
            "contender",
            "size",
            "ns/op, median",
            "min",
            "rounds",
            "caller's CPU ns/op, median",
            "min",
            "B/op",
            "Cairn is x of it",
            "by CPU");
    for (int size : sizes) {
      Rounds.Scores cairn = rounds.scores("cairn " + size);
      for (String contender : contenders) {
        Rounds.Scores scores = rounds.scores().get(contender + " " + size);
        List<String> cells = new ArrayList<>(List.of(contender, Table.number(size, 0)));
        cells.addAll(scores.cells());
        cells.add(cairn == null ? "" : Table.number(cairn.nanos() / scores.nanos(), 2));
        cells.add(cairn == null ? "" : Table.number(cairn.cpu() / scores.cpu(), 2));
        table.row(cells.toArray(String[]::new));
      }
    }
    System.out.println(table);
  }
}
