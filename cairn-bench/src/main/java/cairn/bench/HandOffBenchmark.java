package cairn.bench;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * What a caller pays to encode a value, against what it would pay to hand it to a worker: a copy
 * where the application may change the value, a place in a bounded queue, and a system call where
 * the worker sleeps.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class HandOffBenchmark {
  private static final int QUEUE_CAPACITY = 64;

  /** What the caller has in hand. */
  @State(Scope.Thread)
  public static class Caller extends Calls.Caller {
    @Param({"230", "1200", "20000", "238000"})
    int size;

    private final Calls calls = new Calls();
    private Contender.Encoder encoder;
    private Map<String, Object>[] values;
    private int mask;

    @Setup(Level.Trial)
    @SuppressWarnings("unchecked") // An array of maps.
    public void open(BenchmarkParams benchmark) throws Exception {
      encoder = Contender.open("d").encoder();
      List<Map<String, Object>> all = EncodePayload.values(size);
      values = all.toArray(Map[]::new);
      mask = all.size() - 1;
      for (Map<String, Object> value : all) {
        Object[] copy = (Object[]) Snapshot.of(value);
        Evidence.require(
            copy.length == 1 + 2 * value.size(), "copied", copy.length, value.keySet());
      }
      String name = benchmark.getBenchmark();
      if (name.endsWith(".encode")) {
        WarmUp.untilCompiled(this::encode);
      } else if (name.endsWith(".copyMaps")) {
        WarmUp.untilCompiled(this::copyMaps);
      } else {
        WarmUp.untilCompiled(this::copy);
      }
      if (!name.endsWith("AndUnpark")) {
        // Else the calling thread's CPU time is mostly that of waiting between the calls.
        calls.join(this);
      }
    }

    Map<String, Object> value() {
      return values[next() & mask];
    }

    int encode() throws Exception {
      return encoder.encode(value());
    }

    @Nullable Object copyMaps() {
      return TwoPassJson.normalised(value());
    }

    Object copy() {
      return Snapshot.of(value());
    }
  }

  /** A queue that no worker sleeps at: when it is full, the caller empties it. */
  @State(Scope.Thread)
  public static class Attended {
    private final ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(QUEUE_CAPACITY);

    void offer(Object v) {
      if (!queue.offer(v)) {
        queue.clear();
        queue.add(v);
      }
    }
  }

  /** A queue whose worker is asleep before each call. */
  @State(Scope.Thread)
  public static class Asleep {
    private static final long TO_FALL_ASLEEP_NANOS = 20_000;

    private final ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(QUEUE_CAPACITY);
    private final Thread worker = new Thread(this::work, "cairn-bench-worker");
    private long offered;
    private volatile long taken;

    private void work() {
      try {
        while (true) {
          queue.take();
          taken++; // Written by this thread only.
        }
      } catch (InterruptedException e) {
        // The end.
      }
    }

    @Setup(Level.Trial)
    public void start() {
      worker.setDaemon(true);
      worker.start();
    }

    @Setup(Level.Invocation)
    public void awaitSleep() {
      while (taken < offered || worker.getState() != Thread.State.WAITING) {
        Thread.onSpinWait();
      }
      // The state comes a little before the sleep.
      for (long start = System.nanoTime(); System.nanoTime() - start < TO_FALL_ASLEEP_NANOS; ) {
        Thread.onSpinWait();
      }
    }

    @TearDown(Level.Trial)
    public void finish() throws InterruptedException {
      awaitSleep();
      worker.interrupt();
      worker.join();
      Evidence.require(taken == offered, "taken by the worker", taken, offered);
    }

    void offer(Object v) {
      offered++;
      if (!queue.offer(v)) {
        throw new IllegalStateException("queue is full: capacity=" + QUEUE_CAPACITY);
      }
    }
  }

  /** What Cairn does. */
  @Benchmark
  public int encode(Caller caller) throws Exception {
    return caller.encode();
  }

  /** A copy that the application can't change, as maps and lists. */
  @Benchmark
  public @Nullable Object copyMaps(Caller caller) {
    return caller.copyMaps();
  }

  /** The cheapest such copy: arrays of keys and values, nothing hashed. */
  @Benchmark
  public Object copy(Caller caller) {
    return caller.copy();
  }

  /** A value that is known not to change. */
  @Benchmark
  public void offer(Caller caller, Attended queue) {
    queue.offer(caller.value());
  }

  @Benchmark
  public void copyAndOffer(Caller caller, Attended queue) {
    queue.offer(caller.copy());
  }

  @Benchmark
  public void offerAndUnpark(Caller caller, Asleep queue) {
    queue.offer(caller.value());
  }

  @Benchmark
  public void copyAndUnpark(Caller caller, Asleep queue) {
    queue.offer(caller.copy());
  }

  /** What the clock adds to the two above. */
  @Benchmark
  public Object nothingAndUnpark(Caller caller, Asleep queue) {
    return caller.value();
  }
}
