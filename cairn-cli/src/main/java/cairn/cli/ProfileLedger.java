package cairn.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What follows from the figures: where the time of a durable write goes, what each durability costs
 * and loses, and which one a rate of events suggests. What was not measured is left out.
 */
final class ProfileLedger {
  /** What the suggested durability may take of the disk's time. */
  static final double BUSY_LIMIT = 0.1;

  /** The delay of the bounded durabilities that are measured. */
  static final Duration DELAY = Duration.ofMillis(100);

  /** How old a dirty page gets before Linux writes it, by default: 30 s, looked at every 5. */
  static final int WRITE_BACK_SECONDS = 35;

  static final int SMALL_BATCH = 20;
  static final int LARGE_BATCH = 100;

  private final List<ProfileResult> results;
  private final ForceVerdict verdict;
  private final int recordBytes;

  /**
   * @param results at most one of each layer
   */
  ProfileLedger(List<ProfileResult> results, ProfileDisk disk, int recordBytes) {
    this.results = List.copyOf(results);
    this.recordBytes = recordBytes;
    ProfileResult preallocated = find(ProfileLayers.FORCE);
    ProfileResult forced = preallocated != null ? preallocated : find(ProfileLayers.FORCE_GROWING);
    ProfileResult unforced = find(ProfileLayers.WRITE);
    this.verdict =
        ForceVerdict.of(
            disk,
            forced == null ? null : forced.p50Micros(),
            unforced == null ? null : unforced.p50Micros());
  }

  List<ProfileResult> results() {
    return results;
  }

  ForceVerdict verdict() {
    return verdict;
  }

  /** {@return what was measured of that layer; null if nothing was} */
  @Nullable ProfileResult find(String id) {
    for (ProfileResult result : results) {
      if (result.layer().id().equals(id) && result.isMeasured() && result.error() == null) {
        return result;
      }
    }
    return null;
  }

  /**
   * A part of a durable write.
   *
   * @param name in a word
   * @param micros median with it less median without it; not below 0
   * @param share of all parts
   */
  record Part(String name, double micros, double share) {}

  /** {@return the parts of a write that is forced into blocks that exist; none if not measured} */
  List<Part> durableWrite() {
    ProfileResult encode = find(ProfileLayers.ENCODE);
    ProfileResult write = find(ProfileLayers.WRITE);
    ProfileResult force = find(ProfileLayers.FORCE);
    if (encode == null || write == null || force == null) {
      return List.of();
    }
    double encoding = encode.p50Micros();
    double writing = Math.max(0, write.p50Micros() - encoding);
    double forcing = Math.max(0, force.p50Micros() - write.p50Micros());
    double sum = Math.max(1e-9, encoding + writing + forcing);
    return List.of(
        new Part("encode", encoding, encoding / sum),
        new Part("write", writing, writing / sum),
        new Part("force", forcing, forcing / sum));
  }

  /**
   * What a durability costs and loses.
   *
   * @param name such as {@code power()}
   * @param result what its calls took
   * @param processDeathEvents how many of the calls that returned process death takes, at most
   * @param lostEvents how many of them power loss takes, about
   */
  record Price(String name, ProfileResult result, long processDeathEvents, long lostEvents) {
    /** {@return whether what it promises for power loss needs a true force} */
    boolean isForced() {
      return name.startsWith("bounded") || name.equals("power()");
    }
  }

  /**
   * {@return the price of each way to write that was measured, weakest first}
   *
   * @param rate events per second
   */
  List<Price> prices(int rate) {
    List<Price> prices = new ArrayList<>();
    ProfileResult buffer = find(ProfileLayers.BUFFER);
    long process = (long) rate * WRITE_BACK_SECONDS;
    if (buffer != null) {
      long buffered = Math.max(1, ProfileLayers.BUFFER_BYTES / recordBytes);
      prices.add(new Price("stream buffer", buffer, buffered, Math.max(buffered, process)));
    }
    add(prices, "process()", ProfileLayers.BOX, process);
    add(prices, "bounded(100)", ProfileLayers.BOUNDED_LARGE, lost(rate, LARGE_BATCH));
    add(prices, "bounded(20)", ProfileLayers.BOUNDED_SMALL, lost(rate, SMALL_BATCH));
    add(prices, "power()", ProfileLayers.POWER, 0);
    return prices;
  }

  private void add(List<Price> prices, String name, String layer, long lost) {
    ProfileResult result = find(layer);
    if (result != null) {
      prices.add(new Price(name, result, 0, lost));
    }
  }

  /**
   * What a rate of events makes of the durabilities.
   *
   * @param eventsPerSecond the rate
   * @param powerBusy share of the disk's time that forces take with {@code power()}, each event
   *     forced alone; above 1 it cannot keep up with one thread
   * @param smallBusy the same with {@code bounded(20, 100 ms)}
   * @param largeBusy with {@code bounded(100, 100 ms)}
   * @param smallLost events that power loss takes with {@code bounded(20, 100 ms)}, about
   * @param largeLost with {@code bounded(100, 100 ms)}
   * @param processLost with {@code process()}
   * @param suggested such as {@code power()}
   */
  record Rate(
      int eventsPerSecond,
      double powerBusy,
      double smallBusy,
      double largeBusy,
      long smallLost,
      long largeLost,
      long processLost,
      String suggested) {}

  /** {@return what the rate makes of the durabilities; null if no force was measured} */
  @Nullable Rate at(int rate) {
    if (force() == null) {
      return null;
    }
    double power = rate * forceSeconds();
    double small = power / batch(rate, SMALL_BATCH);
    double large = power / batch(rate, LARGE_BATCH);
    String suggested =
        !verdict.kind().isTrusted()
            ? "process()"
            : power <= BUSY_LIMIT
                ? "power()"
                : small <= BUSY_LIMIT
                    ? "bounded(20)"
                    : large <= BUSY_LIMIT ? "bounded(100)" : "process()";
    return new Rate(
        rate,
        power,
        small,
        large,
        lost(rate, SMALL_BATCH),
        lost(rate, LARGE_BATCH),
        (long) rate * WRITE_BACK_SECONDS,
        suggested);
  }

  /**
   * {@return what one force of one thread takes: as the journal does it, else as plain I/O does}
   */
  private @Nullable ProfileResult force() {
    ProfileResult power = find(ProfileLayers.POWER);
    return power != null ? power : find(ProfileLayers.FORCE);
  }

  private double forceSeconds() {
    ProfileResult force = force();
    return force == null ? 0 : force.meanMicros() / 1e6;
  }

  /** How many events a force takes: those that came until there were enough, or it was time. */
  private static double batch(int rate, int most) {
    return Math.min(most, 1 + rate * DELAY.toNanos() / 1e9);
  }

  /** What waits, and what comes while it is forced. */
  private long lost(int rate, int most) {
    return Math.round(batch(rate, most)) + (long) Math.ceil(rate * forceSeconds());
  }
}
