package cairn;

import java.io.Closeable;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A small file of the kernel's, kept open and read anew at each look.
 *
 * <p>One thread. A read of a small file is two system calls, and no allocation. What can't be read
 * is unknown, never an error: other systems have no such files.
 */
final class ProcFile implements Closeable {
  static final long UNKNOWN = Long.MIN_VALUE;

  /**
   * The kernel hands out such a file by pages of whole lines, so what is shorter than half of one
   * is the last of it.
   */
  private static final int LAST_BYTES = 2048;

  private final @Nullable RandomAccessFile file;
  private final byte[] bytes;
  private int length;

  private ProcFile(@Nullable RandomAccessFile file, int capacity) {
    this.file = file;
    this.bytes = new byte[capacity];
  }

  /** Opens the file; if that is not possible, every look at it finds nothing. */
  static ProcFile open(String path, int capacity) {
    RandomAccessFile file;
    try {
      file = new RandomAccessFile(path, "r");
    } catch (IOException | SecurityException e) {
      file = null;
    }
    return new ProcFile(file, capacity);
  }

  /** Reads the file from its start, up to the capacity. */
  ProcFile read() {
    length = 0;
    if (file == null) {
      return this;
    }
    try {
      file.seek(0);
      int count;
      while (length < bytes.length
          && (count = file.read(bytes, length, bytes.length - length)) > 0) {
        length += count;
        if (count < LAST_BYTES) {
          break;
        }
      }
    } catch (IOException e) {
      length = 0; // a cgroup that was removed, say
    }
    return this;
  }

  /**
   * {@return the number at the index-th field of white space, counted from 0 behind {@code from}}
   */
  long field(int from, int index) {
    int at = skipSpace(from);
    for (int i = 0; i < index && at < length; i++) {
      while (at < length && bytes[at] > ' ') {
        at++;
      }
      at = skipSpace(at);
    }
    return number(at);
  }

  /** {@return the number behind a line's first word, or unknown} */
  long value(String key) {
    for (int at = 0; at < length; at = nextLine(at)) {
      if (startsWith(at, key) && at + key.length() < length && bytes[at + key.length()] == ' ') {
        return number(skipSpace(at + key.length()));
      }
    }
    return UNKNOWN;
  }

  /**
   * Reads the numbers that lines begin with.
   *
   * @param into gets as many as it has room for
   * @return how many lines there are, as far as the capacity goes
   */
  int numbers(long[] into) {
    int lines = 0;
    for (int at = 0; at < length; at = nextLine(at)) {
      if (lines < into.length) {
        into[lines] = number(at);
      }
      lines++;
    }
    return lines;
  }

  /** {@return the index behind the last {@code ch}, or 0} */
  int afterLast(char ch) {
    for (int at = length - 1; at >= 0; at--) {
      if (bytes[at] == ch) {
        return at + 1;
      }
    }
    return 0;
  }

  private boolean startsWith(int at, String key) {
    if (at + key.length() > length) {
      return false;
    }
    for (int i = 0; i < key.length(); i++) {
      if (bytes[at + i] != key.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  private int nextLine(int at) {
    int next = at;
    while (next < length && bytes[next] != '\n') {
      next++;
    }
    return next + 1;
  }

  private int skipSpace(int from) {
    int at = from;
    while (at < length && bytes[at] <= ' ') {
      at++;
    }
    return at;
  }

  private long number(int from) {
    long value = 0;
    int at = from;
    while (at < length && bytes[at] >= '0' && bytes[at] <= '9') {
      value = value * 10 + bytes[at] - '0';
      at++;
    }
    return at == from ? UNKNOWN : value;
  }

  @Override
  public void close() {
    if (file != null) {
      try {
        file.close();
      } catch (IOException e) {
        // Nothing was written to it.
      }
    }
  }

  /** {@return a small file's bytes, or none} */
  static byte[] bytes(String path) {
    // Not Files.readAllBytes, whose channel classes would be the first of their kind at start-up.
    try (FileInputStream in = new FileInputStream(path)) {
      return in.readAllBytes();
    } catch (IOException | SecurityException e) {
      return new byte[0];
    }
  }

  /** {@return a small file's text without white space around it, or null} */
  static @Nullable String text(String path) {
    byte[] bytes = bytes(path);
    return bytes.length == 0 ? null : new String(bytes, StandardCharsets.UTF_8).trim();
  }

  /** {@return where a symbolic link points, or null} */
  static @Nullable String link(String path) {
    try {
      return Files.readSymbolicLink(Path.of(path)).toString();
    } catch (IOException | SecurityException | UnsupportedOperationException e) {
      return null;
    }
  }
}
