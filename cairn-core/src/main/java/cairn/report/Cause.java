package cairn.report;

/** How a run ended, as far as the evidence says. */
public enum Cause {
  /** The run's lock is still held: the process is alive. */
  RUNNING,
  /**
   * The last thread but daemons ended, as when {@code main} returns, or the application closed its
   * recorder.
   */
  RETURNED,
  /** {@code System.exit} was called. */
  EXIT,
  /** An uncaught exception ended the process. */
  UNCAUGHT,
  /** A termination signal began an orderly shutdown. */
  SIGNAL_TERM,
  /** An orderly shutdown began, did not end, and the process was killed. */
  STOP_TIMEOUT,
  /** Killed, or halted, with no further evidence of why. */
  KILLED,
  /** Killed by the kernel because memory ran out. */
  OOM_KILLED,
  /** The JVM itself crashed. */
  NATIVE_CRASH,
  /** The Java heap ran out and the JVM ended because of it. */
  JAVA_OOM,
  /** {@code Runtime.halt} was called. */
  HALTED,
  /** The machine went down: reboot, power loss or kernel panic. */
  HOST_DOWN,
  /** The evidence does not say. */
  UNKNOWN;

  /** {@return whether this is the clean end of a run} */
  public boolean isClean() {
    return this == RETURNED || this == EXIT || this == SIGNAL_TERM;
  }
}
