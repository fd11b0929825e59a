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
    return PRESENT ? Extended.newBuilder() : new CairnSpanBuilder();
  }

  static RecordingTracer newTracer(Tracing tracing, InstrumentationScopeInfo scope) {
    return PRESENT ? Extended.newTracer(tracing, scope) : new RecordingTracer(tracing, scope);
  }

  /**
   * Apart, because the verifier of a class that has both kinds in one expression loads both to find
   * what they have in common.
   */
  private static final class Extended {
    private Extended() {}

    static CairnSpanBuilder newBuilder() {
      return new ExtendedCairnSpanBuilder();
    }

    static RecordingTracer newTracer(Tracing tracing, InstrumentationScopeInfo scope) {
      return new ExtendedRecordingTracer(tracing, scope);
    }
  }
}
