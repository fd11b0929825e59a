package cairn.cli;

import org.jspecify.annotations.Nullable;

/**
 * What a layer took.
 *
 * @param layer which one
 * @param latencies of every call
 * @param elapsedNanos from the first call to the end of what the calls left to others
 * @param isPartial whether it was stopped
 * @param error why there is no more of it; null if it went well
 */
record ProfileResult(
    ProfileLayer layer,
    Latencies latencies,
    long elapsedNanos,
    boolean isPartial,
    @Nullable String error) {

  /** {@return whether there is anything to show} */
  boolean isMeasured() {
    return latencies.count() > 0;
  }

  double p50Micros() {
    return micros(0.5);
  }

  double p99Micros() {
    return micros(0.99);
  }

  double p999Micros() {
    return micros(0.999);
  }

  private double micros(double share) {
    return latencies.quantileNanos(share) / 1e3;
  }

  double maxMicros() {
    return latencies.maxNanos() / 1e3;
  }

  double meanMicros() {
    return latencies.meanNanos() / 1e3;
  }

  double eventsPerSecond() {
    return elapsedNanos == 0 ? 0 : latencies.count() * 1e9 / elapsedNanos;
  }
}
