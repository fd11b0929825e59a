package cairn.report;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A span that had begun and not ended.
 *
 * @param name operation name
 * @param spanId 16 hex digits
 * @param parentSpanId 16 hex digits; null for a root
 * @param traceId 32 hex digits; null if unknown
 * @param thread name of the thread that works on it, as far as the run was told, else of the one
 *     that began it; null if unknown
 * @param startedAt wall-clock time, as the span itself said if it did; null if the clock anchors
 *     are lost
 * @param ageMillis from its begin to the last sign of life of the run; -1 if unknown
 * @param attributes latest value by key, in the order they were first set; as {@link
 *     Breadcrumb#data}
 * @param kind {@code INTERNAL}, {@code SERVER}, {@code CLIENT}, {@code PRODUCER} or {@code
 *     CONSUMER}; null if it was begun without one
 * @param traceFlags of W3C Trace Context, 0 to 255; -1 if unknown
 * @param status {@code OK} or {@code ERROR}; null if none was set
 * @param statusDescription why it is an error; null if unknown
 * @param events how many events were added to it
 */
public record UnfinishedSpan(
    String name,
    String spanId,
    @Nullable String parentSpanId,
    @Nullable String traceId,
    @Nullable String thread,
    @Nullable Instant startedAt,
    long ageMillis,
    Map<String, @Nullable Object> attributes,
    @Nullable String kind,
    int traceFlags,
    @Nullable String status,
    @Nullable String statusDescription,
    int events) {
  private static final List<String> KINDS =
      List.of("INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER");

  static @Nullable String kind(int number) {
    return number < 0 || number >= KINDS.size() ? null : KINDS.get(number);
  }

  static @Nullable String status(int number) {
    return number == 1 ? "OK" : number == 2 ? "ERROR" : null;
  }
}
