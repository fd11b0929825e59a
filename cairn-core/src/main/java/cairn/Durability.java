package cairn;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
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
   * As {@link #process()}, and power loss takes at most the larger of the two windows, plus what
   * arrived during the force in flight and the one before it: nobody is made to wait, so what
   * arrives during one force is the next batch, however much that is.
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
   * {@code true} for. A record call does not wait: what it stored is on its way to the disk at
   * once, together with what other threads record.
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

  /** {@return its nanoseconds, or what is long enough if they don't fit} */
  static long nanos(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException e) {
      return duration.isNegative() ? 0 : Long.MAX_VALUE / 2; // 146 years
    }
  }

  /**
   * {@return the durability of that form, which is that of {@link #toString}, in any case}
   *
   * @throws IllegalArgumentException if it is none, naming the choices
   */
  static Durability parse(String text) {
    String form = text.strip().toLowerCase(Locale.ROOT);
    if (form.equals("process")) {
      return process();
    }
    if (form.equals("power")) {
      return power();
    }
    int comma = form.indexOf(',');
    if (form.startsWith("bounded(") && form.endsWith(")") && comma > 0) {
      try {
        return bounded(
            Integer.parseInt(form.substring("bounded(".length(), comma).strip()),
            delay(form.substring(comma + 1, form.length() - 1).strip()));
      } catch (NumberFormatException | DateTimeParseException e) {
        // named below
      }
    }
    throw new IllegalArgumentException(
        "durability is unknown: cairn.durability="
            + text
            + " (use process, power or bounded(20, 100 ms))");
  }

  /** {@return what {@code 100 ms}, {@code 2s}, {@code 1 min} or an ISO duration says} */
  private static Duration delay(String text) {
    if (text.endsWith("ms")) {
      return Duration.ofMillis(number(text, "ms"));
    }
    if (text.endsWith("min")) {
      return Duration.ofMinutes(number(text, "min"));
    }
    if (text.endsWith("s") && !text.startsWith("p")) {
      return Duration.ofSeconds(number(text, "s"));
    }
    return Duration.parse(text);
  }

  private static long number(String text, String unit) {
    return Long.parseLong(text.substring(0, text.length() - unit.length()).strip());
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
