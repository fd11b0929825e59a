package cairn.report;

import cairn.Level;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The scope as it was last set.
 *
 * @param user fields of the user, {@code id} among them; empty if none
 * @param tags by key
 * @param contexts by key
 * @param extras by key
 * @param level null if not set
 * @param transaction null if not set
 * @param fingerprint empty if not set
 * @param trace trace id and span id, if set; else empty
 */
public record ScopeSnapshot(
    Map<String, @Nullable Object> user,
    Map<String, @Nullable Object> tags,
    Map<String, @Nullable Object> contexts,
    Map<String, @Nullable Object> extras,
    @Nullable Level level,
    @Nullable String transaction,
    List<String> fingerprint,
    Map<String, @Nullable Object> trace) {}
