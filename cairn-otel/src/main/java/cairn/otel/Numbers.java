package cairn.otel;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;

/**
 * OpenTelemetry's enumerations as the box numbers them: in their order, to which constants are only
 * ever added.
 */
@SuppressWarnings("EnumOrdinal")
final class Numbers {
  private Numbers() {}

  static int of(SpanKind kind) {
    return kind.ordinal();
  }

  static int of(StatusCode code) {
    return code.ordinal();
  }
}
