package cairn.report;

import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A span that had begun and not ended.
 *
 * @param name operation name
 * @param spanId 16 hex digits
 * @param parentSpanId 16 hex digits; null for a root
 * @param traceId 32 hex digits; null if unknown
 * @param thread name of the thread that began it; null if unknown
 * @param startedAt wall-clock time; null if the clock anchors are lost
 * @param ageMillis from its begin to the last sign of life of the run; -1 if unknown
 * @param attributes latest value by key, in the order they were first set; as {@link
 *     Breadcrumb#data}
 */
public record UnfinishedSpan(
    String name,
    String spanId,
    @Nullable String parentSpanId,
    @Nullable String traceId,
    @Nullable String thread,
    @Nullable Instant startedAt,
    long ageMillis,
    Map<String, @Nullable Object> attributes) {}
