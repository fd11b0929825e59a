package cairn.stress;

import cairn.Durability;
import java.time.Duration;
import java.util.List;

/**
 * What a victim does. Everything it records is a pure function of the plan, the thread's number and
 * the number of the step; so the checker needs no copy of what was recorded.
 *
 * @param seed of all pseudo-random choices
 * @param threads that record
 * @param trailBytes size of the trail's ring
 * @param spanSlots size of the span table
 * @param scenario what the load leans on
 * @param durability {@code process}, {@code bounded} or {@code power}
 */
public record Plan(
    long seed, int threads, int trailBytes, int spanSlots, Scenario scenario, String durability) {
  /** One under {@code process}. */
  public Plan(long seed, int threads, int trailBytes, int spanSlots, Scenario scenario) {
    this(seed, threads, trailBytes, spanSlots, scenario, "process");
  }

  /** {@return the plan that {@link #toString} wrote} */
  public static Plan parse(String text) {
    List<String> parts = List.of(text.split(":", -1));
    return new Plan(
        Long.parseLong(parts.get(0)),
        Integer.parseInt(parts.get(1)),
        Integer.parseInt(parts.get(2)),
        Integer.parseInt(parts.get(3)),
        Scenario.valueOf(parts.get(4)),
        parts.get(5));
  }

  @Override
  public String toString() {
    return seed
        + ":"
        + threads
        + ":"
        + trailBytes
        + ":"
        + spanSlots
        + ":"
        + scenario
        + ":"
        + durability;
  }

  /** {@return the durability of that name} */
  static Durability durability(String name) {
    return switch (name) {
      case "process" -> Durability.process();
      case "bounded" -> Durability.bounded(20, Duration.ofMillis(100));
      case "power" -> Durability.power();
      default -> throw new IllegalArgumentException("unknown durability: " + name);
    };
  }

  /** {@return pseudo-random bits, always the same for the same arguments} */
  long bits(int thread, int stream, long step) {
    return bits(seed ^ ((long) thread << 56) ^ ((long) stream << 48), step);
  }

  /** {@return pseudo-random bits, always the same for the same arguments (SplitMix64)} */
  static long bits(long seed, long step) {
    long z = seed + (step + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** {@return the largest trail record, padding included: a record is at most 1/64 of the ring} */
  int maxRecordBytes() {
    return trailBytes / 64;
  }
}
