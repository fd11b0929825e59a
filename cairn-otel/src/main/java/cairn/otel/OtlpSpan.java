package cairn.otel;

import org.jspecify.annotations.Nullable;

/**
 * An open span of a dead run, closed by its death.
 *
 * @param traceId 32 hex digits, not all zero
 * @param spanId 16 hex digits, not all zero
 * @param parentSpanId 16 hex digits; null for a root
 * @param traceFlags the byte of W3C
 * @param kind a name of OpenTelemetry's {@code SpanKind}
 * @param startNanos since 1970; 0 or later
 * @param endNanos not before the start
 * @param events how many it had had; none of them was kept
 * @param statusMessage of its status, which is always an error
 */
record OtlpSpan(
    String traceId,
    String spanId,
    @Nullable String parentSpanId,
    int traceFlags,
    String name,
    String kind,
    long startNanos,
    long endNanos,
    OtlpAttributes attributes,
    int events,
    String statusMessage) {}
