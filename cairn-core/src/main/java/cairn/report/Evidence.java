package cairn.report;

import java.util.Objects;

/**
 * One reason for or against a verdict, or one that is missing.
 *
 * @param kind what the text does to the verdict
 * @param text one sentence without a full stop
 */
public record Evidence(Kind kind, String text) {
  /** What a piece of evidence does to the verdict. */
  public enum Kind {
    /** Supports it. */
    FOR,
    /** Speaks against it, or excludes another cause. */
    AGAINST,
    /** Would have helped, and is not there. */
    MISSING
  }

  /** Checks for null. */
  public Evidence {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(text, "text");
  }
}
