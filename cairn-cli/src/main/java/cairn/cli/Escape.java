package cairn.cli;

/** Makes text harmless to a terminal: hostile names can neither move the cursor nor hide. */
final class Escape {
  private Escape() {}

  /**
   * {@return {@code text} on one line, with controls, invisible format characters, line separators
   * and lone surrogates in the form that the report gives them, such as <code>\&#117;{1b}</code>}
   */
  static String line(String text) {
    StringBuilder line = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (isHostile(c)) {
        line.append("\\u{").append(Integer.toHexString(c)).append('}');
      } else {
        line.appendCodePoint(c);
      }
    }
    return line.toString();
  }

  private static boolean isHostile(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }
}
