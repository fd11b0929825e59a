package cairn.cli;

import java.io.IOException;

/** Nobody takes what is printed: the reader is gone, or the disk is full. */
final class OutputFailedException extends IOException {
  private static final long serialVersionUID = 1L;

  OutputFailedException(IOException cause) {
    super("output failed", cause);
  }
}
