package cairn.report;

import java.util.Objects;

/**
 * One thing to do about a death.
 *
 * @param kind what for
 * @param text one sentence without a full stop
 */
public record Advice(Kind kind, String text) {
  /** What a piece of advice is for. */
  public enum Kind {
    /** What to look at next. */
    LOOK,
    /** How to know more about the next death. */
    MORE
  }

  /** Checks for null. */
  public Advice {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(text, "text");
  }
}
