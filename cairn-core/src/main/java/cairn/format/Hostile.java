package cairn.format;

/**
 * Which characters may not reach a terminal, a log line or a page as they are: those that move the
 * cursor, hide, reorder or break a line.
 */
public final class Hostile {
  private Hostile() {}

  /**
   * {@return whether {@code codePoint} must be shown escaped} Controls (C0, DEL, C1, and ESC among
   * them), line and paragraph separators, lone surrogates, and everything invisible that formats:
   * bidirectional controls, zero-width characters, tags.
   */
  public static boolean is(int codePoint) {
    if (codePoint >= 0x20 && codePoint < 0x7f) {
      return false;
    }
    return switch (Character.getType(codePoint)) {
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
