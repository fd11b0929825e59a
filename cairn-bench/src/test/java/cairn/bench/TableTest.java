package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class TableTest {

  @Test
  void medianOfAnOddCountIsTheMiddle() {
    assertThat(Table.median(9, 1, 5)).isEqualTo(5);
  }

  @Test
  void medianOfAnEvenCountIsTheMeanOfTheMiddleTwo() {
    assertThat(Table.median(List.of(8.0, 1.0, 2.0, 4.0))).isEqualTo(3);
  }

  @Test
  void leastAndGreatestAreFound() {
    assertThat(Table.min(List.of(3.0, 1.0, 2.0))).isEqualTo(1);
    assertThat(Table.max(List.of(3.0, 1.0, 2.0))).isEqualTo(3);
  }

  @Test
  void numbersHaveGroupsAndTheDecimalsAskedFor() {
    assertThat(Table.number(1234.567, 1)).isEqualTo("1,234.6");
    assertThat(Table.number(0.4, 0)).isEqualTo("0");
  }

  @Test
  void theFirstColumnIsTextAndNumbersAreAlignedRight() {
    Table table = new Table("what", "ns", "B");
    table.row("a", "1", "2");
    assertThat(table).hasToString("| what | ns | B |\n|---|---:|---:|\n| a | 1 | 2 |\n");
  }

  @Test
  void aColumnOfWordsIsAlignedLikeText() {
    Table table = new Table("what", "survives", "ns", "forces");
    table.row("a", "power loss", "1", "none");
    table.row("b", "process death", "2", "0.5");
    assertThat(table.toString()).contains("\n|---|---|---:|---:|\n");
  }
}
