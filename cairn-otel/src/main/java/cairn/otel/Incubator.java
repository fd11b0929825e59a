package cairn.otel;

import io.opentelemetry.sdk.common.InstrumentationScopeInfo;

/**
 * Makes tracers and builders: those that can be cast to the interfaces of {@code
 * opentelemetry-api-incubator} if that is on the class path. The classes that implement them are
 * loaded only then.
 */
final class Incubator {
  private static final boolean PRESENT = isPresent();

  private Incubator() {}

  private static boolean isPresent() {
    try {
      Class<?> unused =
          Class.forName(
              "io.opentelemetry.api.incubator.trace.ExtendedSpanBuilder",
              false,
              Incubator.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }

  static CairnSpanBuilder newBuilder() {
    return PRESENT ? new ExtendedCairnSpanBuilder() : new CairnSpanBuilder();
  }

  static RecordingTracer newTracer(Tracing tracing, InstrumentationScopeInfo scope) {
    return PRESENT
        ? new ExtendedRecordingTracer(tracing, scope)
        : new RecordingTracer(tracing, scope);
  }
}
