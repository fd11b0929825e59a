package cairn.otel;

import cairn.Level;
import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A span that the sampler dropped: no processor and no exporter sees it, and it is not recording.
 * The box has it all the same, with what the application sets: what a sampler is told before a
 * death cannot know of the death.
 */
final class UnsampledSpan implements Span {
  /** The status is final. */
  private static final int OK = 1 << 8;

  private final Tracing tracing;
  private final long traceHigh;
  private final long traceLow;
  private final long spanId;

  // Racy: end on one thread and a set on another at once is a set before or after the end, and
  // after it the handle's generation is over.
  private long handle;

  /** Of the context; and {@link #OK}, racy as the handle. */
  private int flags;

  /** Racy: the fields of one are final; that there are two at times, equal ones, does no harm. */
  private @Nullable SpanContext context;

  UnsampledSpan(
      Tracing tracing,
      long traceHigh,
      long traceLow,
      long spanId,
      int flags,
      TraceState traceState,
      long handle) {
    this.tracing = tracing;
    this.traceHigh = traceHigh;
    this.traceLow = traceLow;
    this.spanId = spanId;
    this.flags = flags;
    this.handle = handle;
    if (traceState != TraceState.getDefault()) {
      context = makeContext(traceState);
    }
  }

  @Override
  public SpanContext getSpanContext() {
    SpanContext known = context;
    if (known == null) {
      known = makeContext(TraceState.getDefault());
      context = known;
    }
    return known;
  }

  private SpanContext makeContext(TraceState state) {
    return SpanContext.create(
        Hex.of(traceHigh, traceLow), Hex.of(spanId), TraceFlags.fromByte((byte) flags), state);
  }

  @Override
  @SuppressWarnings("MustBeClosedChecker") // by the caller
  public Scope makeCurrent() {
    boolean isBound = tracing.box.bind(handle);
    Scope scope = Span.super.makeCurrent();
    return isBound ? new BoundScope(scope, tracing.box, handle) : scope;
  }

  @Override
  public boolean isRecording() {
    return false;
  }

  // ---- what the box takes

  @Override
  public Span setAttribute(@Nullable String key, @Nullable String value) {
    if (isKey(key)) {
      tracing.box.set(handle, key, value);
    }
    return this;
  }

  @Override
  public Span setAttribute(@Nullable String key, long value) {
    if (isKey(key)) {
      tracing.box.set(handle, key, value);
    }
    return this;
  }

  @Override
  public Span setAttribute(@Nullable String key, double value) {
    if (isKey(key)) {
      tracing.box.set(handle, key, value);
    }
    return this;
  }

  @Override
  public Span setAttribute(@Nullable String key, boolean value) {
    if (isKey(key)) {
      tracing.box.set(handle, key, value);
    }
    return this;
  }

  @Override
  public Span setAttribute(@Nullable AttributeKey<Long> key, int value) {
    return setAttribute(RecordingTracer.nameOf(key, tracing.faults), (long) value);
  }

  @Override
  public <T> Span setAttribute(@Nullable AttributeKey<T> key, @Nullable T value) {
    String name = RecordingTracer.nameOf(key, tracing.faults);
    if (name != null && value != null && handle != OpenSpans.NONE) {
      try {
        Values.record(tracing.box, handle, name, value);
      } catch (Throwable e) {
        tracing.faults.note("value of an attribute threw, the box has it not: " + name, e);
      }
    }
    return this;
  }

  private static boolean isKey(@Nullable String key) {
    return key != null && !key.isEmpty();
  }

  @Override
  public Span updateName(@Nullable String name) {
    tracing.box.rename(handle, name);
    return this;
  }

  @Override
  public Span setStatus(@Nullable StatusCode code, @Nullable String description) {
    if (code != null && code != StatusCode.UNSET && (flags & OK) == 0) {
      if (code == StatusCode.OK) {
        flags |= OK;
      }
      tracing.box.status(handle, Numbers.of(code), code == StatusCode.ERROR ? description : null);
    }
    return this;
  }

  @Override
  public Span addEvent(@Nullable String name, @Nullable Attributes attributes) {
    if (name != null) {
      tracing.box.event(handle);
    }
    return this;
  }

  @Override
  public Span addEvent(
      @Nullable String name,
      @Nullable Attributes attributes,
      long timestamp,
      @Nullable TimeUnit unit) {
    if (name != null && unit != null) {
      tracing.box.event(handle);
    }
    return this;
  }

  @Override
  public Span recordException(@Nullable Throwable exception, @Nullable Attributes additional) {
    if (exception != null && handle != OpenSpans.NONE) {
      tracing.box.event(handle);
      tracing.box.breadcrumb(
          Level.ERROR, Exceptions.CATEGORY, Exceptions.summary(exception), null, spanId);
    }
    return this;
  }

  @Override
  public void end() {
    long open = handle;
    if (open != OpenSpans.NONE) {
      handle = OpenSpans.NONE;
      tracing.box.end(open, spanId);
    }
  }

  @Override
  public void end(long timestamp, @Nullable TimeUnit unit) {
    end();
  }

  // ---- for children

  long traceHigh() {
    return traceHigh;
  }

  long traceLow() {
    return traceLow;
  }

  long spanId() {
    return spanId;
  }

  int flags() {
    return flags & 0xff;
  }

  TraceState traceState() {
    SpanContext known = context;
    return known == null ? TraceState.getDefault() : known.getTraceState();
  }

  @Override
  public String toString() {
    return "UnsampledSpan{traceId="
        + Hex.of(traceHigh, traceLow)
        + ", spanId="
        + Hex.of(spanId)
        + '}';
  }
}
