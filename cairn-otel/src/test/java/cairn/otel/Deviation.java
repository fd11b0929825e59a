package cairn.otel;

import java.util.concurrent.atomic.LongAdder;

/**
 * Where Cairn differs from the SDK on purpose. The world of the SDK does there what Cairn promises,
 * and counts it; one that never occurs is none, and fails the test.
 */
enum Deviation {
  /** A list is copied at the call: what its owner does with it later doesn't show in the span. */
  LIST_COPIED("a list attribute is what it was at the call"),
  /**
   * What a processor throws doesn't reach the caller, and the other processors are still called.
   */
  PROCESSOR_GUARDED("a processor that throws is counted, not felt"),
  /**
   * A builder started again has the attributes set since its last start. The SDK's has also those
   * of the starts that were dropped; so builders of dropped spans aren't used again here.
   */
  ATTRIBUTES_OF_DROPPED("a second span has no attributes of the first, dropped or not"),
  /**
   * A builder forgets parent, start time and the count of links when its span starts. So one that
   * was given those isn't started again here.
   */
  SETTINGS_DROPPED("parent and start time are for one span"),
  /**
   * What another thread than the builder's own sets is kept apart, within limits of its own. So a
   * builder that may reach its limit is given nothing from elsewhere here.
   */
  DROPPED_ELSEWHERE("what several threads give one builder is counted apart"),
  /** Who asks a tracer before making a costly span is told so after the shutdown too. */
  DISABLED_BY_SHUTDOWN("a tracer is not enabled after the shutdown"),
  /** A text is cut between characters. The SDK keeps the first half of a surrogate pair. */
  WHOLE_CHARACTERS("a text is not cut inside a character"),
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
