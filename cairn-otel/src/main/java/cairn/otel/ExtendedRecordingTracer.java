package cairn.otel;

import io.opentelemetry.api.incubator.trace.ExtendedSpanBuilder;
import io.opentelemetry.api.incubator.trace.ExtendedTracer;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import org.jspecify.annotations.Nullable;

/** A tracer where the incubating API is on the class path; all builders there can be cast. */
final class ExtendedRecordingTracer extends RecordingTracer implements ExtendedTracer {
  ExtendedRecordingTracer(Tracing tracing, InstrumentationScopeInfo scope) {
    super(tracing, scope);
  }

  @Override
  public boolean isEnabled() {
    return super.isEnabled();
  }

  @Override
  public ExtendedSpanBuilder spanBuilder(@Nullable String spanName) {
    return (ExtendedSpanBuilder) super.spanBuilder(spanName);
  }
}
