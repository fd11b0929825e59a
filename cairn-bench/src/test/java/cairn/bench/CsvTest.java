package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class CsvTest {

  @Test
  void plainCellsHaveNoQuotes() {
    Csv csv = new Csv("case", "ns");
    csv.row("root", 1.5);

    assertThat(csv).hasToString("case,ns\nroot,1.5\n");
  }

  @Test
  void cellsWithACommaOrAQuoteAreQuoted() {
    assertThat(Csv.line("a,b", "say \"no\"", 3)).isEqualTo("\"a,b\",\"say \"\"no\"\"\",3");
  }
}
