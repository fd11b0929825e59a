package cairn.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Measures layers, one after the other. */
final class ProfileRun {
  private static final long MAX_WARM_UP_NANOS = 400_000_000;
  private static final int CLOCK_READINGS = 20_000;

  private final int recordBytes;
  private final long nanos;
  private volatile boolean stopped;

  /**
   * @param recordBytes length of an event
   * @param time for each layer, warm-up aside
   */
  ProfileRun(int recordBytes, Duration time) {
    this.recordBytes = recordBytes;
    this.nanos = time.toNanos();
  }

  /** Ends it within one call of each thread. Any thread. */
  void stop() {
    stopped = true;
  }

  boolean isStopped() {
    return stopped;
  }

  /** {@return the most that it takes, but for what a layer does before and after} */
  Duration longest(int layers) {
    return Duration.ofNanos(layers * (nanos + warmUpNanos()));
  }

  private long warmUpNanos() {
    return Math.min(MAX_WARM_UP_NANOS, nanos / 4);
  }

  /** {@return what two readings of the clock take, which is in every figure; the median} */
  static long clockNanos() {
    Latencies latencies = new Latencies();
    for (int i = 0; i < CLOCK_READINGS; i++) {
      long start = System.nanoTime();
      latencies.record(System.nanoTime() - start);
    }
    return latencies.quantileNanos(0.5);
  }

  /**
   * Measures one layer.
   *
   * @param directory exists, and is left empty
   */
  ProfileResult measure(ProfileLayer layer, Path directory) throws IOException {
    Path own = Files.createDirectory(directory.resolve(layer.id()));
    Latencies latencies = new Latencies();
    long elapsed = 0;
    String error = null;
    try {
      ProfileLayer.Sink sink = layer.opener().open(own);
      try {
        long most = Math.max(layer.threads(), layer.maxBytes() / recordBytes);
        run(layer, sink, warmUpNanos(), most / 8, new Latencies());
        elapsed = run(layer, sink, nanos, most, latencies);
      } finally {
        sink.close();
      }
    } catch (IOException | RuntimeException e) {
      error = e instanceof IOException io ? RunSource.describe(io) : e.toString();
    } finally {
      ProfileDirectory.delete(own);
    }
    return new ProfileResult(layer, latencies, elapsed, stopped, error);
  }

  /** {@return how long it took} */
  private long run(
      ProfileLayer layer, ProfileLayer.Sink sink, long limitNanos, long most, Latencies sum)
      throws IOException {
    AtomicReference<IOException> failure = new AtomicReference<>();
    AtomicLong left = new AtomicLong(most);
    CountDownLatch ready = new CountDownLatch(layer.threads());
    CountDownLatch go = new CountDownLatch(1);
    AtomicLong start = new AtomicLong();
    List<Latencies> parts = new ArrayList<>();
    CountDownLatch done = new CountDownLatch(layer.threads());
    for (int i = 0; i < layer.threads(); i++) {
      Latencies part = new Latencies();
      Runnable work =
          () -> {
            ProfileEvent event = new ProfileEvent(recordBytes);
            ready.countDown();
            try {
              go.await();
              put(sink, event, left, start.get() + limitNanos, part);
            } catch (IOException e) {
              failure.compareAndSet(null, e);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            } catch (RuntimeException e) {
              failure.compareAndSet(null, new IOException(e.toString(), e));
            } finally {
              done.countDown();
            }
          };
      Thread thread = new Thread(work, "profile-" + layer.id() + "-" + i);
      thread.setDaemon(true);
      parts.add(part);
      thread.start();
    }
    await(ready);
    start.set(System.nanoTime());
    go.countDown();
    await(done);
    sink.finish();
    long elapsed = System.nanoTime() - start.get();
    for (Latencies part : parts) {
      sum.add(part);
    }
    IOException e = failure.get();
    if (e != null) {
      throw e;
    }
    return elapsed;
  }

  private void put(
      ProfileLayer.Sink sink, ProfileEvent event, AtomicLong left, long deadline, Latencies part)
      throws IOException {
    while (!stopped && left.getAndDecrement() > 0) {
      event.next();
      long begun = System.nanoTime();
      sink.put(event);
      long ended = System.nanoTime();
      part.record(ended - begun);
      if (ended - deadline >= 0) {
        return;
      }
    }
  }

  /** An interrupt is kept for later: no thread is left behind with a file that goes away. */
  private static void await(CountDownLatch latch) {
    boolean interrupted = false;
    while (true) {
      try {
        latch.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
