package cairn.otel;

import cairn.Recorder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import java.time.Duration;

/** The SDK's flushes as the box understands them. */
final class Forces {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private Forces() {}

  /** Waits on a thread of its own: a flush is asked for by threads that must not block. */
  static CompletableResultCode await(Recorder recorder) {
    if (!recorder.isEnabled()) {
      return CompletableResultCode.ofSuccess();
    }
    CompletableResultCode result = new CompletableResultCode();
    Thread thread =
        new Thread(null, () -> complete(result, recorder), "cairn-otel-force", 0, false);
    thread.setDaemon(true);
    try {
      thread.start();
    } catch (OutOfMemoryError e) {
      return CompletableResultCode.ofFailure(); // no thread to be had
    }
    return result;
  }

  private static void complete(CompletableResultCode result, Recorder recorder) {
    long began = System.nanoTime();
    boolean isDurable = false;
    try {
      isDurable = recorder.awaitDurable(PATIENCE);
    } finally {
      // Under Durability.process there is nothing to force, which awaitDurable says at once.
      boolean nothingToForce =
          System.nanoTime() - began < PATIENCE.toNanos()
              && !recorder.mode().contains("durability in force");
      if (isDurable || nothingToForce) {
        result.succeed();
      } else {
        result.fail();
      }
    }
  }
}
