package cairn.cli;

import java.io.PrintStream;

/** Prints rendered text so that it ends with exactly one line end. */
final class TextOutput {
  private TextOutput() {}

  static void print(PrintStream out, String text) {
    out.println(text.stripTrailing());
  }
}
