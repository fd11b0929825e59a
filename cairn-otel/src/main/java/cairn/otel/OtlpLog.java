package cairn.otel;

import org.jspecify.annotations.Nullable;

/**
 * A breadcrumb, or the death itself, as a log record.
 *
 * @param timeNanos since 1970; 0 if unknown
 * @param severity number of OpenTelemetry's {@code Severity}
 * @param body null if there was no message
 * @param eventName null for a breadcrumb
 * @param traceId 32 hex digits; null, as the span id, if it belongs to no span that is known
 * @param spanId 16 hex digits
 */
record OtlpLog(
    long timeNanos,
    int severity,
    String severityText,
    @Nullable String body,
    @Nullable String eventName,
    @Nullable String traceId,
    @Nullable String spanId,
    int traceFlags,
    OtlpAttributes attributes) {}
