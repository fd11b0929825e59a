package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.incubator.propagation.ExtendedContextPropagators;
import io.opentelemetry.api.incubator.trace.ExtendedSpanBuilder;
import io.opentelemetry.api.incubator.trace.SpanCallable;
import io.opentelemetry.api.incubator.trace.SpanRunnable;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.ContextPropagators;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A builder where the incubating API is on the class path. */
final class ExtendedCairnSpanBuilder extends CairnSpanBuilder implements ExtendedSpanBuilder {
  @Override
  public ExtendedSpanBuilder setParentFrom(
      @Nullable ContextPropagators propagators, @Nullable Map<String, String> carrier) {
    if (propagators != null && carrier != null) {
      setParent(ExtendedContextPropagators.extractTextMapPropagationContext(carrier, propagators));
    }
    return this;
  }

  @Override
  public <T, E extends Throwable> T startAndCall(SpanCallable<T, E> work) throws E {
    return startAndCall(work, ExtendedCairnSpanBuilder::setError);
  }

  @Override
  @SuppressWarnings("try") // the scope is only closed
  public <T, E extends Throwable> T startAndCall(
      SpanCallable<T, E> work, BiConsumer<Span, Throwable> handler) throws E {
    Span span = startSpan();
    try (Scope unused = span.makeCurrent()) {
      return work.callInSpan();
    } catch (Throwable e) {
      handler.accept(span, e);
      throw e;
    } finally {
      span.end();
    }
  }

  @Override
  public <E extends Throwable> void startAndRun(SpanRunnable<E> work) throws E {
    startAndRun(work, ExtendedCairnSpanBuilder::setError);
  }

  @Override
  @SuppressWarnings("try") // the scope is only closed
  public <E extends Throwable> void startAndRun(
      SpanRunnable<E> work, BiConsumer<Span, Throwable> handler) throws E {
    Span span = startSpan();
    try (Scope unused = span.makeCurrent()) {
      work.runInSpan();
    } catch (Throwable e) {
      handler.accept(span, e);
      throw e;
    } finally {
      span.end();
    }
  }

  private static void setError(Span span, Throwable thrown) {
    span.setStatus(StatusCode.ERROR);
    span.recordException(thrown);
  }

  // ---- as above, under the narrower type

  @Override
  public ExtendedSpanBuilder setParent(@Nullable Context context) {
    super.setParent(context);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setNoParent() {
    super.setNoParent();
    return this;
  }

  @Override
  public ExtendedSpanBuilder addLink(@Nullable SpanContext linked) {
    super.addLink(linked);
    return this;
  }

  @Override
  public ExtendedSpanBuilder addLink(
      @Nullable SpanContext linked, @Nullable Attributes attributes) {
    super.addLink(linked, attributes);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setAttribute(@Nullable String key, @Nullable String value) {
    super.setAttribute(key, value);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setAttribute(@Nullable String key, long value) {
    super.setAttribute(key, value);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setAttribute(@Nullable String key, double value) {
    super.setAttribute(key, value);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setAttribute(@Nullable String key, boolean value) {
    super.setAttribute(key, value);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setAttribute(@Nullable AttributeKey<Long> key, int value) {
    super.setAttribute(key, value);
    return this;
  }

  @Override
  public <T> ExtendedSpanBuilder setAttribute(@Nullable AttributeKey<T> key, @Nullable T value) {
    super.setAttribute(key, value);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setSpanKind(@Nullable SpanKind kind) {
    super.setSpanKind(kind);
    return this;
  }

  @Override
  public ExtendedSpanBuilder setStartTimestamp(long timestamp, @Nullable TimeUnit unit) {
    super.setStartTimestamp(timestamp, unit);
    return this;
  }
}
