package cairn.report;

import java.util.List;
import java.util.Objects;

/**
 * What ended a run.
 *
 * @param cause the cause
 * @param confidence how sure it is
 * @param headline one sentence for a person
 * @param evidence why, in order of weight
 */
public record Verdict(
    Cause cause, Confidence confidence, String headline, List<Evidence> evidence) {
  /** Checks for null and copies the list. */
  public Verdict {
    Objects.requireNonNull(cause, "cause");
    Objects.requireNonNull(confidence, "confidence");
    Objects.requireNonNull(headline, "headline");
    evidence = List.copyOf(evidence);
  }
}
