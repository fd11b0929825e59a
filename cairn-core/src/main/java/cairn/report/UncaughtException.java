package cairn.report;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An exception that no handler caught. Whether it ended the run, the verdict says.
 *
 * @param type name of its class; null if unknown
 * @param message its message; null if it had none
 * @param thread name of the thread that it ended; empty if that had none, as a virtual one; null if
 *     unknown
 * @param stack frames as {@link StackTraceElement#toString} gives them, innermost first, as many as
 *     there was room for; empty if unknown
 * @param at wall-clock time; null if unknown
 */
public record UncaughtException(
    @Nullable String type,
    @Nullable String message,
    @Nullable String thread,
    List<String> stack,
    @Nullable Instant at) {
  /** Checks for null and copies the list. */
  public UncaughtException {
    stack = List.copyOf(Objects.requireNonNull(stack, "stack"));
  }
}
