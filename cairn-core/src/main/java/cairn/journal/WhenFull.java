package cairn.journal;

import java.time.Duration;
import java.util.Objects;

/**
 * What {@link Journal#append} does when the staging is full, because records come faster than the
 * disk takes them or the disk takes none. Immutable.
 */
public final class WhenFull {
  enum Policy {
    BLOCK,
    DROP_NEWEST,
    DROP_OLDEST
  }

  private static final long MAX_WAIT_NANOS = Duration.ofDays(365).toNanos();

  final Policy policy;
  final long waitNanos;

  private WhenFull(Policy policy, long waitNanos) {
    this.policy = policy;
    this.waitNanos = waitNanos;
  }

  /**
   * Waits for room; when that takes too long, the new record is dropped and counted.
   *
   * @param maxWait positive; an interrupt does not end the wait, it stays set
   */
  public static WhenFull block(Duration maxWait) {
    Objects.requireNonNull(maxWait, "maxWait");
    if (maxWait.isNegative() || maxWait.isZero()) {
      throw new IllegalArgumentException(
          "maxWait is not positive: maxWait=" + maxWait + " (use dropNewest)");
    }
    boolean isLong = maxWait.compareTo(Duration.ofNanos(MAX_WAIT_NANOS)) > 0;
    return new WhenFull(Policy.BLOCK, isLong ? MAX_WAIT_NANOS : maxWait.toNanos());
  }

  /** Never waits: the new record is dropped and counted. */
  public static WhenFull dropNewest() {
    return new WhenFull(Policy.DROP_NEWEST, 0);
  }

  /**
   * Never waits: the oldest records that are not being written are dropped and counted, with their
   * sequence numbers. Those that are being written stay, and when nothing else is left to drop, it
   * is the new record.
   */
  public static WhenFull dropOldest() {
    return new WhenFull(Policy.DROP_OLDEST, 0);
  }

  @Override
  public String toString() {
    return switch (policy) {
      case BLOCK -> "block(" + Duration.ofNanos(waitNanos) + ")";
      case DROP_NEWEST -> "dropNewest";
      case DROP_OLDEST -> "dropOldest";
    };
  }
}
