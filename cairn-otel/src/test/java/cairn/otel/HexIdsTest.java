package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class HexIdsTest {
  private static SpanContext context(String traceId, String spanId) {
    return SpanContext.create(traceId, spanId, TraceFlags.getDefault(), TraceState.getDefault());
  }

  @Test
  void wordsAreThoseOfTheDigits() {
    Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      long high = random.nextLong();
      long low = random.nextLong();
      long span = random.nextLong() | 1;
      SpanContext context =
          context(
              String.format(Locale.ROOT, "%016x%016x", high, low), String.format("%016x", span));

      assertThat(HexIds.traceIdHigh(context)).isEqualTo(high);
      assertThat(HexIds.traceIdLow(context)).isEqualTo(low);
      assertThat(HexIds.spanId(context)).isEqualTo(span);
    }
  }

  @Test
  void invalidContextHasNoIds() {
    SpanContext invalid = SpanContext.getInvalid();

    assertThat(HexIds.spanId(invalid)).isZero();
    assertThat(HexIds.traceIdHigh(invalid)).isZero();
    assertThat(HexIds.traceIdLow(invalid)).isZero();
  }

  @Test
  void whatIsNoIdIsZeroAndNeverThrows() {
    for (String id :
        new String[] {"", "abc", "zzzzzzzzzzzzzzzz", "00f067aa0ba902b", "ä".repeat(16)}) {
      SpanContext odd =
          (SpanContext)
              java.lang.reflect.Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {SpanContext.class},
                  (proxy, method, arguments) -> id);

      assertThat(HexIds.spanId(odd)).isZero();
      assertThat(HexIds.traceIdHigh(odd)).isZero();
      assertThat(HexIds.traceIdLow(odd)).isZero();
    }
  }
}
