package cairn.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** A Markdown table. */
final class Table {
  private final List<String[]> rows = new ArrayList<>();

  Table(String... headings) {
    rows.add(headings);
  }

  void row(String... cells) {
    rows.add(cells);
  }

  /** {@return a number with that many decimals} */
  static String number(double value, int decimals) {
    return String.format(Locale.ROOT, "%,." + decimals + "f", value);
  }

  /** {@return the median; of an even count, the mean of the middle two} */
  static double median(double... values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  static double median(List<Double> values) {
    return median(values.stream().mapToDouble(Double::doubleValue).toArray());
  }

  static double min(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).min().orElse(Double.NaN);
  }

  static double max(List<Double> values) {
    return values.stream().mapToDouble(Double::doubleValue).max().orElse(Double.NaN);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < rows.size(); i++) {
      text.append("| ").append(String.join(" | ", rows.get(i))).append(" |\n");
      if (i == 0) {
        text.append("|---|");
        for (int column = 1; column < rows.get(0).length; column++) {
          text.append(isText(column) ? "---|" : "---:|");
        }
        text.append('\n');
      }
    }
    return text.toString();
  }

  /** {@return whether a column has cells and all begin with a letter} */
  private boolean isText(int column) {
    return rows.size() > 1
        && rows.stream()
            .map(row -> row[column])
            .allMatch(cell -> !cell.isEmpty() && Character.isLetter(cell.charAt(0)));
  }
}
