package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.data.LinkData;
import org.jspecify.annotations.Nullable;

/** The tracer of one instrumentation scope. Any thread. */
class RecordingTracer implements CairnTracer {
  static final String UNSPECIFIED_NAME = "<unspecified span name>";

  /** Its builders start nothing and pass the parent on. */
  private static final Tracer PROPAGATING = TracerProvider.noop().get("");

  final Tracing tracing;
  final InstrumentationScopeInfo scope;

  RecordingTracer(Tracing tracing, InstrumentationScopeInfo scope) {
    this.tracing = tracing;
    this.scope = scope;
  }

  /**
   * {@return whether spans are of use: to the box, or to a processor} In the interface since 1.61.
   */
  @SuppressWarnings("MissingOverride") // so that it compiles with 1.58
  public boolean isEnabled() {
    return tracing.isEnabled();
  }

  @Override
  public SpanBuilder spanBuilder(@Nullable String spanName) {
    if (!tracing.isEnabled()) {
      return PROPAGATING.spanBuilder(name(spanName));
    }
    return BuilderCache.acquire(this, name(spanName), tracing.limits());
  }

  @Override
  public SpanBuilder reusableSpanBuilder(@Nullable String spanName) {
    CairnSpanBuilder builder = Incubator.newBuilder();
    builder.begin(this, name(spanName), tracing.limits());
    builder.keepSettings();
    return builder;
  }

  private static String name(@Nullable String spanName) {
    return spanName == null || spanName.isBlank() ? UNSPECIFIED_NAME : spanName;
  }

  // ---- what builders and spans have in common

  /** {@return the key's name, or null if it is no key} A key may be of a class of anybody. */
  static @Nullable String nameOf(@Nullable AttributeKey<?> key, Faults faults) {
    if (key == null) {
      return null;
    }
    try {
      String name = key.getKey();
      return name == null || name.isEmpty() ? null : name;
    } catch (Throwable e) {
      faults.note("attribute key threw, nothing is set", e);
      return null;
    }
  }

  /** Puts what others gave; the store is the caller's alone. */
  void putAll(AttributeStore store, Attributes given, Limits limits) {
    try {
      given.forEach(
          (key, value) -> {
            String name = nameOf(key, tracing.faults);
            if (name != null && value != null) {
              Object kept = Values.keep(value, limits.valueLength());
              boolean unused = store.put(limits.attributes(), key, name, kept);
            }
          });
    } catch (Throwable e) {
      tracing.faults.note("attributes threw, some are not set", e);
    }
  }

  /** {@return the link within its limits; null for one that says nothing} */
  @Nullable LinkData link(@Nullable SpanContext linked, @Nullable Attributes given, Limits limits) {
    if (linked == null) {
      return null;
    }
    try {
      Attributes all = given == null ? Attributes.empty() : given;
      if (!linked.isValid() && all.isEmpty() && linked.getTraceState().isEmpty()) {
        return null;
      }
      Attributes kept = Values.limited(all, limits.attributesPerLink(), limits.valueLength());
      return LinkData.create(linked, kept, all.size());
    } catch (Throwable e) {
      tracing.faults.note("link threw, it is not added", e);
      return null;
    }
  }

  @Override
  public String toString() {
    return "CairnTracer{scope=" + scope + '}';
  }
}
