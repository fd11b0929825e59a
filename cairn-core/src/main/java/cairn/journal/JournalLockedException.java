package cairn.journal;

import java.io.IOException;

/** Thrown when another process, or another journal of this one, writes to the directory. */
public final class JournalLockedException extends IOException {
  private static final long serialVersionUID = 1;

  JournalLockedException(IOException cause) {
    super(cause.getMessage(), cause);
  }
}
