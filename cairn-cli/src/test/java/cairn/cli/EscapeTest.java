package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class EscapeTest {
  @Test
  void controlsFormattersLineEndsAndLoneSurrogatesAreNamed() {
    assertThat(Escape.line("a\u001b[31m\u0000\u007f\u009b\n\r\t\u202e\u200b\u2028\ud800z"))
        .isEqualTo(
            "a\\u{1b}[31m\\u{0}\\u{7f}\\u{9b}\\u{a}\\u{d}\\u{9}\\u{202e}\\u{200b}\\u{2028}"
                + "\\u{d800}z");
  }

  @Test
  void whatIsVisibleStays() {
    assertThat(Escape.line("plain \\ ü 漢 😀")).isEqualTo("plain \\ ü 漢 😀");
  }

  @Test
  void aTableEscapesItsCellsAndAlignsThem() {
    Table table = new Table();
    table.add("A", "LONGER", "LAST");
    table.add("\u001b[2J", "ü", "");

    assertThat(table).hasToString("A          LONGER  LAST\n\\u{1b}[2J  ü\n");
  }
}
