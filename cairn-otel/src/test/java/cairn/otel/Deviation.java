package cairn.otel;

import java.util.concurrent.atomic.LongAdder;

/**
 * Where Cairn differs from the SDK on purpose. The world of the SDK does there what Cairn promises,
 * and counts it; one that never occurs is none, and fails the test.
 */
enum Deviation {
  /** A list is copied at the call: what its owner does with it later doesn't show in the span. */
  LIST_COPIED("a list attribute is what it was at the call"),
  /** What a processor throws doesn't reach the caller, and the other processors are still called. */
  PROCESSOR_GUARDED("a processor that throws is counted, not felt"),
  /** The SDK's snapshot of a span in flight shows links added later. */
  LIVE_LINKS("a snapshot keeps its links");

  final String reason;
  private final LongAdder occurrences = new LongAdder();

  Deviation(String reason) {
    this.reason = reason;
  }

  void occurred() {
    occurrences.increment();
  }

  long occurrences() {
    return occurrences.sum();
  }
}
