package cairn.otel;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Random ids as numbers.
 *
 * <p>Any thread; wait-free; no allocation.
 */
final class Ids {
  /*
   * Each stripe is a counter with an odd step; a step is whitened by a bijection, so the numbers of
   * one stripe differ for 2^64 steps. Threads share a stripe only if there are more of them than
   * stripes; the add is atomic, so no number comes twice even then.
   *
   * All processes walk the same circle of 2^64 numbers, and two of them may come to walk it in
   * step. What makes their trace ids differ nevertheless are the keys, 64 bits for either half,
   * which each process draws for itself.
   */
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final int STRIPES = 16;

  /** Longs per stripe: two cache lines, since some processors fetch pairs. */
  private static final int SPACING = 16;

  private final AtomicLongArray counters = new AtomicLongArray(STRIPES * SPACING);
  private final long highKey;
  private final long lowKey;
  private final long spanKey;

  Ids() {
    SecureRandom random = new SecureRandom();
    for (int i = 0; i < STRIPES; i++) {
      counters.setPlain(i * SPACING, random.nextLong());
    }
    highKey = random.nextLong();
    lowKey = random.nextLong();
    spanKey = random.nextLong();
  }

  /** {@return what the three ids of one span come from} */
  // Thread.threadId() is newer than 17; numbers are modulo 2^64.
  @SuppressWarnings({"deprecation", "ConstantOverflow"})
  long next() {
    int stripe = (int) Thread.currentThread().getId() & STRIPES - 1;
    return counters.getAndAdd(stripe * SPACING, 3 * GOLDEN);
  }

  long spanId(long state) {
    return notZero(mix(state) ^ spanKey);
  }

  long traceHigh(long state) {
    return mix(state + GOLDEN) ^ highKey;
  }

  /** {@return the half that is never 0, and of which W3C wants seven random bytes} */
  @SuppressWarnings("ConstantOverflow") // modulo 2^64
  long traceLow(long state) {
    return notZero(mix(state + 2 * GOLDEN) ^ lowKey);
  }

  private static long notZero(long id) {
    return id == 0 ? GOLDEN : id;
  }

  // Stafford's variant 13 of the 64-bit finaliser of MurmurHash3, as in java.util.SplittableRandom.
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
