package cairn.cli;

/** Cuts text to a length. */
final class Text {
  private Text() {}

  /** {@return {@code text}, cut at a code point and ended by … if it has more than that many} */
  static String cut(String text, int codePoints) {
    if (text.codePointCount(0, text.length()) <= codePoints) {
      return text;
    }
    return text.substring(0, text.offsetByCodePoints(0, codePoints - 1)) + "…";
  }
}
