package cairn.stress;

/** Texts of any length up to {@link #MAX_CHARS}, with characters of one to four UTF-8 bytes. */
final class Texts {
  static final int MAX_CHARS = 400;

  /** No UTF-8 form of one character is longer, in bytes for one Java char. */
  static final int MAX_BYTES_PER_CHAR = 3;

  private static final String ASCII = repeat("SELECT id, total FROM orders WHERE id = 4711; ");
  private static final String LATIN = repeat("h\u00e9llo w\u00f6rld \u00f1and\u00fa ");
  private static final String WIDE = repeat("\u4f60\u597d \u20ac ");
  private static final String PAIRS = repeat("ok \ud83d\ude00 ");

  private Texts() {}

  /**
   * {@return a text chosen by {@code bits}}
   *
   * @param maxChars at most {@link #MAX_CHARS}
   */
  static String of(long bits, int maxChars) {
    int length = (int) ((bits >>> 8 & 0xffff) % (maxChars + 1));
    int kind = (int) (bits & 7);
    if (kind == 0) {
      return LATIN.substring(0, length);
    }
    if (kind == 1) {
      return WIDE.substring(0, length);
    }
    if (kind == 2) {
      // A pair is never cut in half: that would be a lone surrogate, which is recorded as '?'.
      boolean half = length > 0 && Character.isHighSurrogate(PAIRS.charAt(length - 1));
      return PAIRS.substring(0, half ? length - 1 : length);
    }
    return ASCII.substring(0, length);
  }

  private static String repeat(String unit) {
    return unit.repeat(MAX_CHARS / unit.length() + 1);
  }
}
