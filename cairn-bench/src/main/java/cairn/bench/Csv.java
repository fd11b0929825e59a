package cairn.bench;

import java.util.Arrays;
import java.util.stream.Collectors;

/** A table for programs: one line a row, commas between, quotes only where they are needed. */
final class Csv {
  private final StringBuilder text = new StringBuilder();

  Csv(Object... headings) {
    row(headings);
  }

  void row(Object... cells) {
    text.append(line(cells)).append('\n');
  }

  /** {@return one row, without its end} */
  static String line(Object... cells) {
    return Arrays.stream(cells).map(Csv::cell).collect(Collectors.joining(","));
  }

  private static String cell(Object value) {
    String cell = String.valueOf(value);
    boolean plain = cell.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n' || c == '\r');
    return plain ? cell : '"' + cell.replace("\"", "\"\"") + '"';
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
