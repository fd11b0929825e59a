package cairn.report;

import java.io.IOException;
import java.nio.file.Path;

/** One run: one process lifetime and its directory. Immutable; any thread. */
@SuppressWarnings("DoNotCallSuggester")
public final class Run {
  Run() {}

  /** {@return the run id: sorts by start time} */
  public String id() {
    throw new AssertionError();
  }

  /** {@return the name of the application's directory} */
  public String app() {
    throw new AssertionError();
  }

  /** {@return the run's directory} */
  public Path directory() {
    throw new AssertionError();
  }

  /** {@return whether the process is alive, looked up at each call; never waits} */
  public boolean isRunning() {
    throw new AssertionError();
  }

  /**
   * Reads the evidence, salvages and judges it. Allocates about the size of the box and what is in
   * it.
   *
   * @throws IOException if there is no readable box
   */
  public Report report() throws IOException {
    throw new IOException("stub");
  }
}
