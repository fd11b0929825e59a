package cairn;

/** The two clocks of a recorder; a seam for tests. */
interface Clock {
  /** What other logs of the same moment show; may step back. */
  long wallMillis();

  /** Monotonic, as {@link System#nanoTime}. */
  long nanos();

  /** The machine's clocks. About 25 ns a call, no system call on Linux with a TSC clock source. */
  Clock SYSTEM = new SystemClock();

  /** Reads the machine's clocks. */
  final class SystemClock implements Clock {
    @Override
    public long wallMillis() {
      return System.currentTimeMillis();
    }

    @Override
    public long nanos() {
      return System.nanoTime();
    }
  }
}
