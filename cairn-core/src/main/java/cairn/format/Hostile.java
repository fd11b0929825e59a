package cairn.format;

/**
 * Which characters may not reach a terminal, a log line or a page as they are: those that move the
 * cursor, hide, reorder or break a line.
 */
public final class Hostile {
  /**
   * One bit for each character of the basic plane, in words of 32: set once it is known to be
   * harmless. Filled as characters are met, by any thread; each word is right whenever it is seen.
   */
  private static final int[] HARMLESS = new int[0x10000 / Integer.SIZE];

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
    if (codePoint >>> 16 != 0) {
      return judge(codePoint);
    }
    int word = HARMLESS[codePoint >> 5];
    // An int shift takes the low 5 bits of its distance.
    return (word >>> codePoint & 1) == 0 && (word != 0 || learn(codePoint));
  }

  private static boolean learn(int codePoint) {
    int first = codePoint & -Integer.SIZE;
    int word = 0;
    for (int i = 0; i < Integer.SIZE; i++) {
      word |= judge(first + i) ? 0 : 1 << i;
    }
    HARMLESS[codePoint >> 5] = word;
    return (word >>> codePoint & 1) == 0;
  }

  private static boolean judge(int codePoint) {
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
