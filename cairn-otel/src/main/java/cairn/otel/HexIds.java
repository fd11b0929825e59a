package cairn.otel;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;

/** Ids of OpenTelemetry, which are hex digits, as words. Allocates nothing. */
final class HexIds {
  private static final int SPAN_ID_DIGITS = 16;
  private static final int TRACE_ID_DIGITS = 32;

  private HexIds() {}

  /** {@return the span id, or 0 if there is none} */
  static long spanId(SpanContext context) {
    String id = context.getSpanId();
    return id.length() == SPAN_ID_DIGITS ? word(id, 0) : 0;
  }

  /** {@return the span's id, or 0 if there is none} Of Cairn's own spans without their digits. */
  static long spanId(Span span) {
    if (span instanceof CairnSpan own) {
      return own.spanId();
    }
    if (span instanceof UnsampledSpan own) {
      return own.spanId();
    }
    return spanId(span.getSpanContext());
  }

  /** {@return the first half of the trace id, or 0 if there is none} */
  static long traceIdHigh(SpanContext context) {
    String id = context.getTraceId();
    return id.length() == TRACE_ID_DIGITS ? word(id, 0) : 0;
  }

  /** {@return the second half of the trace id, or 0 if there is none} */
  static long traceIdLow(SpanContext context) {
    String id = context.getTraceId();
    return id.length() == TRACE_ID_DIGITS ? word(id, SPAN_ID_DIGITS) : 0;
  }

  /** {@return 16 hex digits as a word, or 0 if they are none} */
  private static long word(String hex, int from) {
    long word = 0;
    for (int i = from; i < from + SPAN_ID_DIGITS; i++) {
      int digit = digit(hex.charAt(i));
      if (digit < 0) {
        return 0;
      }
      word = word << 4 | digit;
    }
    return word;
  }

  private static int digit(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    char lower = (char) (c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  }
}
