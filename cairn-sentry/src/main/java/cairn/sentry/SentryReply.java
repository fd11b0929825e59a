package cairn.sentry;

import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What became of an event that was sent.
 *
 * @param outcome what it means
 * @param status of HTTP; 0 if there was no reply
 * @param again not before then; null if nothing was said
 * @param text {@code key=value}s for a message; without key and secret, else whatever was replied
 */
public record SentryReply(Outcome outcome, int status, @Nullable Instant again, String text) {
  /** What a reply means. */
  public enum Outcome {
    /** Sentry has it. */
    DELIVERED,
    /** Sentry doesn't want it, now or ever: sending it again soon is of no use. */
    REFUSED,
    /** Something between here and Sentry doesn't let it pass, such as a proxy. */
    BLOCKED,
    /** Sentry wants nothing for a while. */
    LIMITED,
    /** Sentry has trouble, or wasn't reached: it can be sent again. */
    FAILED
  }

  /** Checks for null. */
  public SentryReply {
    Objects.requireNonNull(outcome, "outcome");
    Objects.requireNonNull(text, "text");
  }
}
