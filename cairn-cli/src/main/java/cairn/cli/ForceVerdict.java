package cairn.cli;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Whether the force of this disk can be what it claims to be, told from how long it takes.
 *
 * @param kind in a word
 * @param text in words, with the numbers
 */
record ForceVerdict(Kind kind, String text) {
  /** Flash takes longer to write a page, and a disk to turn; a cache answers faster. */
  static final double FASTEST_MICROS = 20;

  /** In a word. */
  enum Kind {
    /** It takes as long as a medium does. */
    PLAUSIBLE,
    /** The files are memory. */
    MEMORY,
    /** Too fast to have reached a medium. */
    SUSPICIOUS,
    /** Up to somebody else. */
    REMOTE,
    /** Not measured. */
    UNKNOWN;

    /** {@return whether a guarantee for power loss may be built on it} */
    boolean isTrusted() {
      return this == PLAUSIBLE || this == REMOTE;
    }
  }

  /**
   * Judges.
   *
   * @param forcedMicros median of a forced write; null if it was not measured
   * @param unforcedMicros median of the same write without a force; null if it was not measured
   */
  static ForceVerdict of(
      ProfileDisk disk, @Nullable Double forcedMicros, @Nullable Double unforcedMicros) {
    if (disk.isMemory()) {
      return new ForceVerdict(
          Kind.MEMORY,
          (disk.backing() == null ? disk.type() : disk.device() + " (" + disk.backingText() + ")")
              + " is memory: a force does nothing there, and a reboot or power loss takes everything,"
              + " whatever the durability.");
    }
    if (forcedMicros == null) {
      return new ForceVerdict(Kind.UNKNOWN, "The force was not measured: nothing can be said.");
    }
    String numbers =
        "median "
            + ProfileUnits.micros(forcedMicros)
            + " us"
            + (unforcedMicros == null
                ? ""
                : ", without force "
                    + ProfileUnits.micros(unforcedMicros)
                    + " us"
                    + (unforcedMicros > 0
                        ? String.format(Locale.ROOT, ", %.1f times", forcedMicros / unforcedMicros)
                        : ""));
    if (disk.isRemote()) {
      return new ForceVerdict(
          Kind.REMOTE,
          disk.type()
              + " is not a disk of this machine: what a force means ("
              + numbers
              + ") is up to who serves it, and can't be told from here.");
    }
    if (forcedMicros < FASTEST_MICROS) {
      return new ForceVerdict(
          Kind.SUSPICIOUS,
          "This force does not reach a medium, or the write cache lies: "
              + numbers
              + "; flash needs some "
              + Units.whole(FASTEST_MICROS)
              + " us or more, a disk thousands. Power loss guarantees do not hold here, unless"
              + " you know that the cache outlives power loss.");
    }
    return new ForceVerdict(
        Kind.PLAUSIBLE,
        "The force is as slow as one that reaches a medium: "
            + numbers
            + "."
            + ("write through".equals(disk.writeCache())
                ? " But the kernel takes the device for one without a write cache, and asks it to"
                    + " flush nothing: whoever configured it must know."
                : "")
            + (disk.isVirtual()
                ? " It is a virtual disk: whether its host passes the force on can't be seen from"
                    + " inside."
                : ""));
  }
}
