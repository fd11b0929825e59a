package cairn.report;

import cairn.format.VitalsLayout;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * How much memory the run used when it was last looked at, and of how much. Immutable.
 *
 * @param rss resident bytes of the process
 * @param usage bytes of its cgroup, the page cache of its files included
 * @param limit the cgroup's, else the machine's
 * @param ofCgroup whose limit it is
 * @param rising whether the last second brought it nearer, or nothing is left to bring
 * @param raced whether a snapshot just before the end shows far more than the last sample
 */
record MemoryUse(
    OptionalLong rss,
    OptionalLong usage,
    OptionalLong limit,
    boolean ofCgroup,
    boolean rising,
    boolean raced) {
  private static final double NEAR = 0.9;
  private static final double MUCH = 0.5;
  private static final double FULL = 0.98;
  private static final double GROWTH = 0.01;
  private static final double RACE = 0.2;
  private static final Duration JUST_NOW = Duration.ofSeconds(2);
  private static final long ABOUT_A_SECOND = 900_000_000;
  private static final long NO_LIMIT = 1L << 60;

  static MemoryUse of(Salvage run, HostFacts host) {
    OptionalLong limit = run.lastVital(VitalsLayout.CGROUP_LIMIT);
    OptionalLong machine = host.memoryBytes();
    boolean limited =
        limit.isPresent()
            && limit.getAsLong() > 0
            && limit.getAsLong() < NO_LIMIT
            && (machine.isEmpty() || limit.getAsLong() <= machine.getAsLong());
    OptionalLong limitInForce = limited ? limit : machine;
    return new MemoryUse(
        run.lastVital(VitalsLayout.RSS),
        run.lastVital(VitalsLayout.CGROUP_USAGE),
        limitInForce,
        limited,
        limitInForce.isPresent()
            && (isRising(run, VitalsLayout.RSS, limitInForce.getAsLong())
                || isRising(run, VitalsLayout.CGROUP_USAGE, limitInForce.getAsLong())),
        limitInForce.isPresent() && hasRaced(run, limitInForce.getAsLong()));
  }

  private static boolean hasRaced(Salvage run, long limit) {
    long before = run.lastVital(VitalsLayout.CGROUP_USAGE).orElse(limit);
    for (PressureSnapshot snapshot : run.pressure) {
      if (snapshot.limit() == PressureSnapshot.Limit.CGROUP
          && snapshot.at() != null
          && run.lastSeen != null
          && Duration.between(snapshot.at(), run.lastSeen).abs().compareTo(JUST_NOW) <= 0
          && snapshot.usedBytes() - before >= RACE * limit) {
        return true;
      }
    }
    return false;
  }

  /**
   * Who is killed for want of memory has used up what there was: slowly, and then the last sample
   * shows it full, or fast, and then it shows it growing. Who sits below the limit is no more
   * likely a victim than any other.
   */
  private static boolean isRising(Salvage run, int vital, long limit) {
    long[] last = null;
    for (int i = run.vitals.size() - 1; i >= 0; i--) {
      long[] sample = run.vitals.get(i);
      if (sample[vital] == VitalsLayout.UNKNOWN) {
        continue;
      }
      if (last == null) {
        last = sample;
        if (last[vital] >= FULL * limit) {
          return true;
        }
      } else if (last[VitalsLayout.NANOS] - sample[VitalsLayout.NANOS] >= ABOUT_A_SECOND) {
        return last[vital] - sample[vital] >= GROWTH * limit;
      }
    }
    return false;
  }

  /** {@return whether the process itself was near the limit} */
  boolean isNear() {
    return isAtLeast(rss, NEAR);
  }

  /**
   * {@return whether its cgroup was near the limit, much of it by the process} A cgroup full of
   * page cache is not short of memory.
   */
  boolean isNearWithOthers() {
    return ofCgroup && isAtLeast(usage, NEAR) && isAtLeast(rss, MUCH);
  }

  /** {@return whether the process had at least half of its cgroup's limit} */
  boolean isMost() {
    return ofCgroup && isAtLeast(rss, MUCH);
  }

  private boolean isAtLeast(OptionalLong bytes, double share) {
    return bytes.isPresent()
        && limit.isPresent()
        && limit.getAsLong() > 0
        && bytes.getAsLong() >= share * limit.getAsLong();
  }

  /** {@return in words, what is near the limit} Only if something is. */
  String nearness() {
    if (raced && !isNear() && !isNearWithOthers()) {
      return "its cgroup's usage went up by a fifth of the limit or more in the last second";
    }
    boolean own = isNear();
    return (own ? "resident memory was " : "its cgroup's usage was ")
        + Names.bytes((own ? rss : usage).orElse(0))
        + ", 90 % or more of "
        + (ofCgroup ? "its cgroup's limit of " : "the machine's ")
        + Names.bytes(limit.orElse(0))
        + (rising ? "" : ", and not growing");
  }

  /** {@return in words, that nothing is} */
  String distance() {
    return rss.isEmpty()
        ? "how near the run was to its limit is unknown"
        : "the run was not near its limit: resident memory was " + Names.bytes(rss.getAsLong());
  }

  /** {@return such as {@code , last seen at 510 MiB of 512 MiB}; empty if it is unknown} */
  String ofLimit() {
    OptionalLong used = ofCgroup && usage.isPresent() ? usage : rss;
    return used.isEmpty() || limit.isEmpty()
        ? ""
        : ", last seen at "
            + Names.bytes(used.getAsLong())
            + " of "
            + Names.bytes(limit.getAsLong());
  }
}
