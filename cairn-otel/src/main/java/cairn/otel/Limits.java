package cairn.otel;

import io.opentelemetry.sdk.trace.SpanLimits;

/**
 * The numbers of a {@link SpanLimits}, asked for once: that class can be extended, and nobody
 * else's code runs while a span is locked.
 */
record Limits(
    int attributes,
    int events,
    int links,
    int attributesPerEvent,
    int attributesPerLink,
    int valueLength) {
  static Limits of(SpanLimits limits) {
    return new Limits(
        limits.getMaxNumberOfAttributes(),
        limits.getMaxNumberOfEvents(),
        limits.getMaxNumberOfLinks(),
        limits.getMaxNumberOfAttributesPerEvent(),
        limits.getMaxNumberOfAttributesPerLink(),
        limits.getMaxAttributeValueLength());
  }
}
