package cairn.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * What a sweep has measured so far, kept in {@code heaps.csv} line by line, so that a sweep that is
 * cut off goes on where it was.
 */
final class HeapResults {
  private static final String HEADINGS =
      "heap,arm,start,round,status,answers,failures,seconds,p50us,p99us,cpuMillis,compilerMillis,gcMillis,gcCount,"
          + "allocatedMb";

  /** The load was measured. */
  static final String OK = "ok";

  private final Path file;
  private final List<Row> rows;

  /**
   * One load on one shop.
   *
   * @param status {@link #OK}, else what became of the shop, in words
   * @param failures answers that were none, and connections that broke
   * @param cpuMillis of the shop's process during the load
   * @param compilerMillis of that, the JIT's threads'
   * @param gcMillis of its collector's pauses
   * @param allocatedMb what its collector freed or kept in between
   */
  record Row(
      int heap,
      HeapArm arm,
      int start,
      int round,
      String status,
      long answers,
      long failures,
      double seconds,
      long p50Micros,
      long p99Micros,
      long cpuMillis,
      long compilerMillis,
      double gcMillis,
      int gcCount,
      double allocatedMb) {

    static Row without(int heap, HeapArm arm, int start, int round, String status) {
      return new Row(heap, arm, start, round, status, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    }

    boolean isOk() {
      return status.equals(OK);
    }

    double perSecond() {
      return answers / seconds;
    }

    private String line() {
      return Csv.line(
          heap,
          arm.id,
          start,
          round,
          status.replace(',', ';').replace('"', '\'').replace('\n', ' '),
          answers,
          failures,
          seconds,
          p50Micros,
          p99Micros,
          cpuMillis,
          compilerMillis,
          gcMillis,
          gcCount,
          allocatedMb);
    }

    private static Row parse(String line) {
      String[] cells = line.split(",", -1);
      return new Row(
          Integer.parseInt(cells[0]),
          HeapArm.of(cells[1]),
          Integer.parseInt(cells[2]),
          Integer.parseInt(cells[3]),
          cells[4],
          Long.parseLong(cells[5]),
          Long.parseLong(cells[6]),
          Double.parseDouble(cells[7]),
          Long.parseLong(cells[8]),
          Long.parseLong(cells[9]),
          Long.parseLong(cells[10]),
          Long.parseLong(cells[11]),
          Double.parseDouble(cells[12]),
          Integer.parseInt(cells[13]),
          Double.parseDouble(cells[14]));
    }
  }

  private HeapResults(Path file, List<Row> rows) {
    this.file = file;
    this.rows = rows;
  }

  /**
   * Opens the results in a directory, or begins new ones.
   *
   * @throws IllegalArgumentException if what is there was measured in another way
   */
  static HeapResults open(Path directory, String settings) throws IOException {
    Path file = directory.resolve("heaps.csv");
    String head = "# " + settings;
    if (!Files.exists(file)) {
      Files.createDirectories(directory);
      Files.write(file, List.of(head, HEADINGS));
      return new HeapResults(file, new ArrayList<>());
    }
    List<String> lines = Files.readAllLines(file);
    if (lines.size() < 2 || !lines.get(0).equals(head) || !lines.get(1).equals(HEADINGS)) {
      throw new IllegalArgumentException(
          "results are from another plan: file="
              + file
              + ", theirs="
              + (lines.isEmpty() ? "" : lines.get(0))
              + ", now="
              + head
              + " (give the same settings, or another --out)");
    }
    List<Row> rows = new ArrayList<>();
    for (String line : lines.subList(2, lines.size())) {
      rows.add(Row.parse(line));
    }
    return new HeapResults(file, rows);
  }

  /** Adds one round, which is complete. */
  void add(List<Row> round) throws IOException {
    rows.addAll(round);
    StringBuilder text = new StringBuilder();
    round.forEach(row -> text.append(row.line()).append('\n'));
    Files.write(file, text.toString().getBytes(StandardCharsets.UTF_8), StandardOpenOption.APPEND);
  }

  List<Row> rows() {
    return Collections.unmodifiableList(rows);
  }

  List<Row> rows(int heap, HeapArm arm) {
    return rows.stream().filter(row -> row.heap() == heap && row.arm() == arm).toList();
  }

  /** {@return how many rounds all of those arms have at that heap} */
  int rounds(int heap, List<HeapArm> arms) {
    return arms.stream().mapToInt(arm -> rows(heap, arm).size()).min().orElse(0);
  }

  /** {@return the number of the next start at that heap, from 1} */
  int nextStart(int heap) {
    return 1 + rows.stream().filter(row -> row.heap() == heap).mapToInt(Row::start).max().orElse(0);
  }

  /**
   * {@return the rounds in which both that arm and the base were measured}
   *
   * @param heap in MiB
   */
  List<Bootstrap.Pair> pairs(int heap, HeapArm arm, HeapArm base) {
    List<Bootstrap.Pair> pairs = new ArrayList<>();
    for (Row row : rows(heap, arm)) {
      rows(heap, base).stream()
          .filter(other -> other.start() == row.start() && other.round() == row.round())
          .filter(other -> row.isOk() && other.isOk())
          .forEach(other -> pairs.add(new Bootstrap.Pair(row.perSecond(), other.perSecond())));
    }
    return pairs;
  }
}
