package cairn.otel;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;

/** Ids of OpenTelemetry, which are hex digits, as words. Allocates nothing. */
final class HexIds {
  private static final int WORD_DIGITS = 16;

  /** Of what {@link SpanContext#create} makes. */
  private static final Class<?> API_CONTEXT = SpanContext.getInvalid().getClass();

  private HexIds() {}

  /** {@return the span id, or 0 if there is none} */
  static long spanId(SpanContext context) {
    String id = context.getSpanId();
    if (isChecked(context)) {
      return word(id, 0);
    }
    return id.length() == WORD_DIGITS ? checkedWord(id, 0) : 0;
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
    return traceIdWord(context, 0);
  }

  /** {@return the second half of the trace id, or 0 if there is none} */
  static long traceIdLow(SpanContext context) {
    return traceIdWord(context, WORD_DIGITS);
  }

  private static long traceIdWord(SpanContext context, int from) {
    String id = context.getTraceId();
    if (isChecked(context)) {
      return word(id, from);
    }
    return id.length() == 2 * WORD_DIGITS ? checkedWord(id, from) : 0;
  }

  /** {@return whether the API has seen that the ids are of the right length, and of hex digits} */
  private static boolean isChecked(SpanContext context) {
    return context.getClass() == API_CONTEXT && context.isValid();
  }

  /** {@return 16 hex digits as a word} */
  private static long word(String hex, int from) {
    return number(eight(hex, from)) << 32 | number(eight(hex, from + 8));
  }

  /** {@return 16 hex digits as a word, or 0 if they are none} */
  private static long checkedWord(String hex, int from) {
    for (int i = from; i < from + WORD_DIGITS; i++) {
      if (hex.charAt(i) > 0x7f || Character.digit(hex.charAt(i), 16) < 0) {
        return 0;
      }
    }
    return word(hex, from);
  }

  private static long eight(String hex, int from) {
    long characters = 0;
    for (int i = from; i < from + 8; i++) {
      characters = characters << 8 | hex.charAt(i);
    }
    return characters;
  }

  /** {@return the number of eight hex digits of either case} */
  private static long number(long characters) {
    // All at once: '0' is 0x30, 'A' is 0x41, 'a' is 0x61, so bit 6 tells them apart.
    long letters = characters >>> 6 & 0x0101010101010101L;
    long digits = (characters & 0x0f0f0f0f0f0f0f0fL) + 9 * letters;
    long pairs = (digits | digits >>> 4) & 0x00ff00ff00ff00ffL;
    long fours = (pairs | pairs >>> 8) & 0x0000ffff0000ffffL;
    return (fours | fours >>> 16) & 0xffffffffL;
  }
}
