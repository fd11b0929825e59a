package cairn.cli;

/**
 * How long calls took: a histogram whose steps are at most 1/64 of the value, of constant size
 * however many calls there are. Not safe for use by several threads: each has its own, and {@link
 * #add} puts them together.
 */
final class Latencies {
  private static final int STEP_BITS = 6;
  private static final int STEPS = 1 << STEP_BITS;

  private final long[] counts = new long[(Long.SIZE - STEP_BITS) * STEPS];
  private long count;
  private long sumNanos;
  private long maxNanos;

  void record(long nanos) {
    long value = Math.max(0, nanos);
    counts[index(value)]++;
    count++;
    sumNanos += value;
    maxNanos = Math.max(maxNanos, value);
  }

  /** Adds all that {@code other} recorded. */
  void add(Latencies other) {
    for (int i = 0; i < counts.length; i++) {
      counts[i] += other.counts[i];
    }
    count += other.count;
    sumNanos += other.sumNanos;
    maxNanos = Math.max(maxNanos, other.maxNanos);
  }

  long count() {
    return count;
  }

  double meanNanos() {
    return count == 0 ? 0 : (double) sumNanos / count;
  }

  long maxNanos() {
    return maxNanos;
  }

  /**
   * {@return a value that this share of the calls did not exceed; 0 if there were none}
   *
   * @param share such as 0.99
   */
  long quantileNanos(double share) {
    long rank = Math.max(1, (long) Math.ceil(share * count));
    long seen = 0;
    for (int i = 0; i < counts.length && count > 0; i++) {
      seen += counts[i];
      if (seen >= rank) {
        return Math.min(highest(i), maxNanos);
      }
    }
    return maxNanos;
  }

  /** Values below {@link #STEPS} have an index each; above, every power of two has that many. */
  private static int index(long value) {
    if (value < STEPS) {
      return (int) value;
    }
    int shift = Long.SIZE - 1 - Long.numberOfLeadingZeros(value) - STEP_BITS;
    return (shift + 1) * STEPS + (int) (value >> shift) - STEPS;
  }

  private static long highest(int index) {
    if (index < STEPS) {
      return index;
    }
    int shift = index / STEPS - 1;
    return ((index % STEPS + STEPS + 1L) << shift) - 1;
  }
}
