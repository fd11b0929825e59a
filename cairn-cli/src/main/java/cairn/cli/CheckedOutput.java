package cairn.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An output that remembers its first error and drops everything after it, so that a command whose
 * reader went away ({@code cairn tail | head}) ends quietly.
 */
final class CheckedOutput extends OutputStream {
  private final OutputStream out;
  private @Nullable IOException failure;

  CheckedOutput(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(int b) {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    if (failure != null) {
      return;
    }
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = e;
    }
  }

  @Override
  public void flush() {
    if (failure != null) {
      return;
    }
    try {
      out.flush();
    } catch (IOException e) {
      failure = e;
    }
  }

  /** {@return the first error; null if there was none} */
  @Nullable IOException failure() {
    return failure;
  }

  /** {@return whether the reader of the output went away} */
  boolean isBrokenPipe() {
    if (failure == null) {
      return false;
    }
    String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
    return message.contains("pipe");
  }
}
