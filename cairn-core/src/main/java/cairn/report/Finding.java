package cairn.report;

import java.util.Objects;

/**
 * Something about the evidence that a reader should know: damage, a gap, a limit that was hit.
 *
 * @param severity how much it matters
 * @param where the file or section, with an offset where there is one
 * @param text what was found, with values
 */
public record Finding(Severity severity, String where, String text) {
  /** How much a finding matters. */
  public enum Severity {
    /** Worth knowing; nothing is missing. */
    INFO,
    /** Something is missing or cut; the rest is sound. */
    WARNING,
    /** The file as a whole cannot be trusted or read. */
    ERROR
  }

  /** Checks for null. */
  public Finding {
    Objects.requireNonNull(severity, "severity");
    Objects.requireNonNull(where, "where");
    Objects.requireNonNull(text, "text");
  }
}
