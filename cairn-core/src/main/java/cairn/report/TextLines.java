package cairn.report;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a file that nothing vouches for. One use, one thread.
 *
 * <p>Reads each byte once and keeps one line, at most {@value #MAX_LINE} bytes of it; what is
 * longer is passed over. A line ends at LF, and CR before it is no part of it. Ends, as if the file
 * did, after the given number of bytes, and where reading fails.
 */
final class TextLines {
  static final int MAX_LINE = 4096;

  private final InputStream in;
  private final byte[] buffer = new byte[16 * 1024];
  private final byte[] line = new byte[MAX_LINE];
  private long left;
  private int position;
  private int limit;
  private boolean isWhole;

  TextLines(InputStream in, long maxBytes) {
    this.in = in;
    this.left = maxBytes;
  }

  /** {@return the next line, null at the end} */
  @Nullable String next() {
    int length = 0;
    boolean some = false;
    boolean cut = false;
    isWhole = false;
    while (position < limit || fill()) {
      byte next = buffer[position++];
      some = true;
      if (next == '\n') {
        isWhole = !cut;
        break;
      }
      if (length < MAX_LINE) {
        line[length++] = next;
      } else {
        cut = true;
      }
    }
    if (!some) {
      return null;
    }
    if (!cut && length > 0 && line[length - 1] == '\r') {
      length--;
    }
    return new String(line, 0, length, StandardCharsets.UTF_8);
  }

  /** {@return whether the last line was given in full, and its end was there} */
  boolean isWhole() {
    return isWhole;
  }

  private boolean fill() {
    try {
      int read = left <= 0 ? -1 : in.read(buffer, 0, (int) Math.min(buffer.length, left));
      position = 0;
      limit = Math.max(0, read);
      left -= limit;
      return limit > 0;
    } catch (IOException e) {
      limit = 0;
      position = 0;
      left = 0;
      return false;
    }
  }
}
