package cairn.cli;

/** Checks of option values that the types cannot express. */
final class Arguments {
  private Arguments() {}

  static void atLeast(String option, int value, int limit) {
    if (value < limit) {
      throw CliException.usage(
          "value is too small: option=" + option + ", value=" + value + ", limit=" + limit);
    }
  }

  /** {@return {@code text}, cut to {@code limit} characters} */
  static String shorten(String text, int limit) {
    if (text.codePointCount(0, text.length()) <= limit) {
      return text;
    }
    return text.substring(0, text.offsetByCodePoints(0, limit - 1)) + "…";
  }
}
