package cairn.otel;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.function.Consumer;

/** A processor that only wants starts; an end would be an error. */
record OnStart(Consumer<ReadWriteSpan> action) implements SpanProcessor {
  @Override
  public void onStart(Context parentContext, ReadWriteSpan span) {
    action.accept(span);
  }

  @Override
  public boolean isStartRequired() {
    return true;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    throw new IllegalStateException("an end was not asked for");
  }

  @Override
  public boolean isEndRequired() {
    return false;
  }
}
