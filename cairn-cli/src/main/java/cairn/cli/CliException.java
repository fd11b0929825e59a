package cairn.cli;

/** Ends the command with one line on stderr and an exit code. */
final class CliException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;

  /**
   * @param message {@code <what>: key=value (what to do)}; shown escaped
   */
  CliException(int exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  static CliException usage(String message) {
    return new CliException(ExitCode.USAGE, message);
  }

  static CliException unreadable(String message) {
    return new CliException(ExitCode.UNREADABLE, message);
  }

  int exitCode() {
    return exitCode;
  }
}
