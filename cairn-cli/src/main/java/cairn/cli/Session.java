package cairn.cli;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** One invocation: its outputs, UTF-8 whatever the locale says, and its surroundings. */
final class Session {
  final PrintStream out;
  final PrintStream err;
  final Surroundings surroundings;

  /** The options before the command. */
  final CommonOptions top;

  private final CheckedOutput checkedOut;

  Session(OutputStream out, OutputStream err, Surroundings surroundings) {
    this.checkedOut = new CheckedOutput(out);
    this.out =
        new PrintStream(
            new BufferedOutputStream(checkedOut, 1 << 14), false, StandardCharsets.UTF_8);
    this.err = new PrintStream(new CheckedOutput(err), true, StandardCharsets.UTF_8);
    this.surroundings = surroundings;
    this.top = new CommonOptions(surroundings, null);
  }

  /** Flushes stdout and returns whether anybody still reads it. */
  boolean flush() {
    out.flush();
    return checkedOut.failure() == null;
  }

  /** Prints {@code cairn: <message>} on stderr, escaped, as one line. */
  void error(String message) {
    err.println("cairn: " + Escape.line(message));
  }

  /**
   * Flushes stdout and turns an output error into a line on stderr; a broken pipe stays quiet.
   *
   * @param exitCode of the command
   * @return the exit code of the process
   */
  int finish(int exitCode) {
    flush();
    IOException failure = checkedOut.failure();
    if (failure == null || checkedOut.isBrokenPipe()) {
      return exitCode;
    }
    error(
        "output failed: error="
            + RunSource.describe(failure)
            + " (free space, or write somewhere else)");
    return ExitCode.UNREADABLE;
  }
}
