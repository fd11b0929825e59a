package cairn.report;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Who recorded the run.
 *
 * @param id run id
 * @param app application name
 * @param release null if not given
 * @param environment null if not given
 * @param pid -1 if unknown
 * @param host null if unknown
 * @param startedAt when the recorder opened; null if unknown
 * @param lastSeenAt last sign of life; null if there is none
 * @param durability the durability in force; null if unknown
 * @param more everything else that the identity holds, by name
 */
public record RunIdentity(
    String id,
    String app,
    @Nullable String release,
    @Nullable String environment,
    long pid,
    @Nullable String host,
    @Nullable Instant startedAt,
    @Nullable Instant lastSeenAt,
    @Nullable String durability,
    Map<String, @Nullable Object> more) {}
