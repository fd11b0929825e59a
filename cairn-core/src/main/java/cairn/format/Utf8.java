package cairn.format;

/** UTF-8 as a reader meets it: any bytes at all. Pure. */
public final class Utf8 {
  /** What an invalid sequence becomes. */
  public static final int REPLACEMENT = 0xFFFD;

  private Utf8() {}

  /**
   * {@return the code point at {@code offset} in the low half and its length in bytes in the high
   * half} An invalid sequence counts as U+FFFD, as often as {@code new String(bytes, UTF_8)} has
   * it.
   *
   * @param offset less than {@code limit}
   */
  public static long decode(byte[] bytes, int offset, int limit) {
    int first = bytes[offset] & 0xff;
    if (first < 0x80) {
      return result(first, 1);
    }
    int more;
    int low = 0x80;
    int high = 0xbf;
    if (first >= 0xc2 && first <= 0xdf) {
      more = 1;
    } else if (first >= 0xe0 && first <= 0xef) {
      more = 2;
      low = first == 0xe0 ? 0xa0 : 0x80; // no overlong form
    } else if (first >= 0xf0 && first <= 0xf4) {
      more = 3;
      low = first == 0xf0 ? 0x90 : 0x80;
      high = first == 0xf4 ? 0x8f : 0xbf;
    } else {
      return result(REPLACEMENT, 1);
    }
    int codePoint = first & (0x3f >> more);
    for (int i = 1; i <= more; i++) {
      int next = offset + i < limit ? bytes[offset + i] & 0xff : -1;
      if (next < low || next > high) {
        return result(REPLACEMENT, i);
      }
      codePoint = codePoint << 6 | (next & 0x3f);
      low = 0x80;
      high = 0xbf;
    }
    // A surrogate, as CESU-8 has it, is invalid as a whole.
    boolean surrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
    return result(surrogate ? REPLACEMENT : codePoint, more + 1);
  }

  /** {@return the code point in a result of {@link #decode}} */
  public static int codePoint(long decoded) {
    return (int) decoded;
  }

  /** {@return the length in bytes in a result of {@link #decode}} */
  public static int length(long decoded) {
    return (int) (decoded >>> 32);
  }

  /** {@return how many of the last bytes begin a character that goes on behind {@code limit}} */
  static int incomplete(byte[] bytes, int offset, int limit) {
    for (int back = 1; back <= Math.min(3, limit - offset); back++) {
      int b = bytes[limit - back];
      if (b >> 6 != -2) {
        int length = b >= 0 ? 1 : b < (byte) 0xe0 ? 2 : b < (byte) 0xf0 ? 3 : 4;
        return length > back ? back : 0;
      }
    }
    return 0;
  }

  private static long result(int codePoint, int length) {
    return (long) length << 32 | codePoint;
  }
}
