package cairn;

import java.time.Duration;
import java.util.Objects;

/**
 * What a returned record call survives. Two kinds of death are told apart: <em>process death</em>
 * ({@code kill -9}, the OOM killer, a native crash, {@code Runtime.halt}), which the page cache
 * outlives, and <em>power loss</em> (also kernel panic and VM reset), which it does not.
 *
 * <p>Immutable; safe for use by many threads.
 */
public final class Durability {
  private static final Durability PROCESS = new Durability("process", 0, Duration.ZERO);
  private static final Durability POWER = new Durability("power", 1, Duration.ZERO);

  private final String name;
  private final int maxEvents;
  private final Duration maxDelay;

  private Durability(String name, int maxEvents, Duration maxDelay) {
    this.name = name;
    this.maxEvents = maxEvents;
    this.maxDelay = maxDelay;
  }

  /**
   * Every call that returned survives process death. Power loss may take about the last 35 seconds:
   * Linux writes dirty pages back after 30 s, looking every 5 s ({@code vm.dirty_expire_centisecs}
   * and {@code vm.dirty_writeback_centisecs}), and promises nothing. Costs no system call.
   */
  public static Durability process() {
    return PROCESS;
  }

  /**
   * As {@link #process()}, and power loss takes at most the larger of the two windows plus what
   * arrived during the force in flight.
   *
   * <p>{@link Recorder.Builder#durability} refuses this value in this version: it needs the
   * journal.
   *
   * @param maxEvents at most this many records wait for a force; 1 or more
   * @param maxDelay no record waits longer; positive
   * @throws IllegalArgumentException if either is out of range
   */
  public static Durability bounded(int maxEvents, Duration maxDelay) {
    Objects.requireNonNull(maxDelay, "maxDelay");
    if (maxEvents < 1) {
      throw new IllegalArgumentException(
          "maxEvents is too small: maxEvents=" + maxEvents + ", limit=1");
    }
    if (maxDelay.isNegative() || maxDelay.isZero()) {
      throw new IllegalArgumentException("maxDelay is not positive: maxDelay=" + maxDelay);
    }
    return new Durability("bounded", maxEvents, maxDelay);
  }

  /**
   * As {@link #process()}, and power loss takes nothing that {@link Recorder#awaitDurable} returned
   * {@code true} for.
   *
   * <p>{@link Recorder.Builder#durability} refuses this value in this version: it needs the
   * journal.
   */
  public static Durability power() {
    return POWER;
  }

  /** {@return {@code process}, {@code bounded} or {@code power}} */
  public String name() {
    return name;
  }

  /**
   * {@return how many records wait for a force at most} For {@link #power} 1: each asks for one.
   * For {@link #process} 0: none ever does.
   */
  public int maxEvents() {
    return maxEvents;
  }

  /** {@return how long a record waits for a force at most; zero unless it is bounded} */
  public Duration maxDelay() {
    return maxDelay;
  }

  boolean needsJournal() {
    return !equals(PROCESS);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Durability that
        && name.equals(that.name)
        && maxEvents == that.maxEvents
        && maxDelay.equals(that.maxDelay);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, maxEvents, maxDelay);
  }

  /**
   * {@return the form that the report shows, such as {@code process} or {@code bounded(20,
   * PT0.1S)}}
   */
  @Override
  public String toString() {
    return name.equals("bounded") ? "bounded(" + maxEvents + ", " + maxDelay + ")" : name;
  }
}
