package cairn.report;

import cairn.Level;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A breadcrumb as it was recorded.
 *
 * @param position its place in the trail; grows without end
 * @param at wall-clock time of the recording process
 * @param level how serious
 * @param category what it is about, such as {@code db}; null if none was given
 * @param message what happened; null if none was given
 * @param data values, by key in recorded order; empty if none. Values are null, Boolean, Long,
 *     BigInteger, Double, BigDecimal, String, byte[], List and Map
 * @param thread name of the recording thread; null if unknown
 * @param spanId 16 hex digits of the span that was open on the thread; null if none
 */
public record Breadcrumb(
    long position,
    Instant at,
    Level level,
    @Nullable String category,
    @Nullable String message,
    Map<String, @Nullable Object> data,
    @Nullable String thread,
    @Nullable String spanId) {}
