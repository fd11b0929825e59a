package cairn.report;

import java.time.Instant;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What somebody outside the process saw of its death; see {@link Run#witness}. Immutable; any
 * thread.
 */
public final class Witness {
  private static final Pattern NAME = Pattern.compile("[a-z0-9-]{1,20}");
  private static final int MAX_STATUS = 255;

  private final String name;
  private final OptionalInt exitStatus;
  private final @Nullable Instant at;

  private Witness(String name, OptionalInt exitStatus, @Nullable Instant at) {
    this.name = name;
    this.exitStatus = exitStatus;
    this.at = at;
  }

  /**
   * Begins with who saw it.
   *
   * @param name such as {@code watch}: 1 to 20 of a to z, 0 to 9 and {@code -}; one statement of
   *     each name is kept
   * @return a witness that has seen that the process is dead, and no more
   * @throws IllegalArgumentException for another name
   */
  public static Witness by(String name) {
    Objects.requireNonNull(name, "name");
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "name of a witness is not 1 to 20 of a-z, 0-9 and -: name=" + name);
    }
    return new Witness(name, OptionalInt.empty(), null);
  }

  /**
   * {@return this, and how the process's parent saw it end}
   *
   * @param status 0 to 255, as a shell has it: 128 + n for the signal n
   * @throws IllegalArgumentException for another number
   */
  public Witness exitStatus(int status) {
    if (status < 0 || status > MAX_STATUS) {
      throw new IllegalArgumentException(
          "exit status is out of range: exitStatus=" + status + ", limit=" + MAX_STATUS);
    }
    return new Witness(name, OptionalInt.of(status), at);
  }

  /** {@return this, and when it was seen} Default: when it is written down. */
  public Witness at(Instant when) {
    return new Witness(name, exitStatus, Objects.requireNonNull(when, "when"));
  }

  String name() {
    return name;
  }

  OptionalInt exitStatus() {
    return exitStatus;
  }

  @Nullable Instant at() {
    return at;
  }

  @Override
  public String toString() {
    return "Witness{name=" + name + ", exitStatus=" + exitStatus + ", at=" + at + '}';
  }
}
