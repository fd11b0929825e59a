package cairn.bench;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * How often a benchmark method ran, warm-up included: a plain counter a thread, summed at the end.
 */
final class Calls {
  private final Queue<Caller> callers = new ConcurrentLinkedQueue<>();

  /** The counter of one thread. */
  static class Caller {
    private int index;
    private long calls;

    /** {@return the next variant of {@link Payload}} */
    final int next() {
      calls++;
      return index++ & Payload.MASK;
    }

    final long calls() {
      return calls;
    }
  }

  /** Counts the calls of the current thread, and its CPU time, from now on. */
  void join(Caller caller) {
    count(caller);
    CallerCpu.join(caller);
  }

  /** Counts the calls of a caller whose thread's CPU time says nothing about them. */
  void count(Caller caller) {
    callers.add(caller);
  }

  /** {@return the sum; throws if it is 0, which can only mean that the measurement is broken} */
  long sum() {
    long sum = 0;
    for (Caller caller : callers) {
      sum += caller.calls;
    }
    Evidence.require(sum > 0, "calls", sum, "more than 0");
    return sum;
  }
}
