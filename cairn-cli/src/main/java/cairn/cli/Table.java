package cairn.cli;

import java.util.ArrayList;
import java.util.List;

/** Left-aligned columns, two blanks between them, nothing behind the last. Escapes its cells. */
final class Table {
  private final List<List<String>> rows = new ArrayList<>();

  void add(String... cells) {
    List<String> row = new ArrayList<>(cells.length);
    for (String cell : cells) {
      row.add(Escape.line(cell));
    }
    rows.add(row);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      int end = row.size();
      while (end > 0 && row.get(end - 1).isEmpty()) {
        end--;
      }
      for (int column = 0; column < end; column++) {
        String cell = row.get(column);
        text.append(cell);
        if (column < end - 1) {
          text.append(" ".repeat(width(column) + 2 - length(cell)));
        }
      }
      text.append('\n');
    }
    return text.toString();
  }

  private int width(int column) {
    int width = 0;
    for (List<String> row : rows) {
      if (column < row.size()) {
        width = Math.max(width, length(row.get(column)));
      }
    }
    return width;
  }

  private static int length(String cell) {
    return cell.codePointCount(0, cell.length());
  }
}
