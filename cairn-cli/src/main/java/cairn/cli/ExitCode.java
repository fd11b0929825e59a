package cairn.cli;

/** What the exit status of {@code cairn} says; listed in the help of each command. */
final class ExitCode {
  /** Done; {@code why}: the run ended cleanly. */
  static final int OK = 0;

  /**
   * {@code why}: the run died. {@code doctor}: a problem. {@code prune}: something was kept back.
   * {@code export}, {@code scrub}: it could not be done with a run. {@code profile}: a layer
   * failed. {@code journal}: something is missing or damaged.
   */
  static final int FOUND = 1;

  /** The command line is wrong. */
  static final int USAGE = 2;

  /**
   * Nothing readable: no directory, no such run, no readable box or journal; or the output failed.
   */
  static final int UNREADABLE = 3;

  /** {@code why}, {@code export}, {@code scrub}: the run is still running. */
  static final int RUNNING = 4;

  /** A defect in {@code cairn} itself. */
  static final int INTERNAL = 70;

  private ExitCode() {}
}
