package cairn.storage;

import java.io.IOException;
import java.nio.file.Path;

/** Thrown for a link, a directory or a pipe where a file of ours should be; it is not opened. */
public final class NotRegularFileException extends IOException {
  private static final long serialVersionUID = 1;

  NotRegularFileException(Path file) {
    super("not a regular file: file=" + file + " (put the file back, or remove this)");
  }
}
