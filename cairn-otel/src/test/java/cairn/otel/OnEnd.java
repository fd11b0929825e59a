package cairn.otel;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.function.Consumer;

/** A processor that only wants ends; a start would be an error. */
record OnEnd(Consumer<ReadableSpan> action) implements SpanProcessor {
  @Override
  public void onStart(Context parentContext, ReadWriteSpan span) {
    throw new IllegalStateException("a start was not asked for");
  }

  @Override
  public boolean isStartRequired() {
    return false;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    action.accept(span);
  }

  @Override
  public boolean isEndRequired() {
    return true;
  }
}
