package cairn.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs {@link HandOffBenchmark} in rounds; then shows all ways at all sizes. */
final class HandOffRuns {
  static final List<String> METHODS =
      List.of(
          "encode",
          "copyMaps",
          "copy",
          "offer",
          "copyAndOffer",
          "nothingAndUnpark",
          "offerAndUnpark",
          "copyAndUnpark");

  private final Settings settings;
  private final Rounds rounds;

  HandOffRuns(Settings settings) {
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
    List<String> methods = settings.only(METHODS);
    List<Integer> sizes = settings.sizes(EncodePayload.SIZES);
    for (int round = 0; round < settings.rounds(); round++) {
      for (int size : sizes) {
        for (String method : methods) {
          rounds.run(
              method + " " + size,
              "HandOffBenchmark." + method + "$",
              Map.of("size", Integer.toString(size)),
              1);
        }
      }
    }
    Table table =
        new Table(
            "caller",
            "size",
            "ns/op, median",
            "min",
            "rounds",
            "caller's CPU ns/op, median",
            "min",
            "B/op",
            "x encode");
    for (int size : sizes) {
      Rounds.Scores encode = rounds.scores("encode " + size);
      for (String method : methods) {
        Rounds.Scores scores = rounds.scores().get(method + " " + size);
        List<String> cells = new ArrayList<>(List.of(label(method), Table.number(size, 0)));
        cells.addAll(scores.cells());
        cells.add(encode == null ? "" : Table.number(scores.nanos() / encode.nanos(), 2));
        table.row(cells.toArray(String[]::new));
      }
    }
    System.out.println(table);
  }

  private static String label(String method) {
    return switch (method) {
      case "encode" -> "**encode**";
      case "copyMaps" -> "copy, as maps and lists";
      case "copy" -> "copy, as arrays";
      case "offer" -> "offer a value that can't change; nobody asleep";
      case "copyAndOffer" -> "copy as arrays, offer; nobody asleep";
      case "nothingAndUnpark" -> "nothing (what the clock adds below)";
      case "offerAndUnpark" -> "offer a value that can't change; worker asleep";
      case "copyAndUnpark" -> "copy as arrays, offer; worker asleep";
      default -> method;
    };
  }
}
