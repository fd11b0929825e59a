package cairn.otel;

import java.util.concurrent.atomic.LongAdder;

/**
 * What code of others threw into the tracer: counted, the first said at WARNING, later ones at
 * DEBUG.
 */
final class Faults {
  private final LongAdder count = new LongAdder();

  /**
   * Notes what was caught, so that the application goes on.
   *
   * @param what the code that threw, and what follows
   * @param thrown thrown again if it is an error of the virtual machine
   */
  void note(String what, Throwable thrown) {
    if (thrown instanceof VirtualMachineError fatal) {
      throw fatal;
    }
    count.increment();
    try {
      System.Logger.Level level =
          count.sum() == 1 ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG;
      System.getLogger("cairn").log(level, what, thrown);
    } catch (RuntimeException | LinkageError e) {
      // A broken logging set-up is not ours to report, and nothing is left to report it to.
    }
  }

  long count() {
    return count.sum();
  }
}
