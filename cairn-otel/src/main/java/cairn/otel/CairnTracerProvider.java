package cairn.otel;

import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.common.InstrumentationScopeInfoBuilder;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** One tracer per name, version and schema URL: the same at each call. Any thread. */
final class CairnTracerProvider implements TracerProvider {
  private final Tracing tracing;
  private final ConcurrentHashMap<Scope, RecordingTracer> tracers = new ConcurrentHashMap<>();

  CairnTracerProvider(Tracing tracing) {
    this.tracing = tracing;
  }

  /** Compared by code of its own: the JVM's for records keeps a class loader reachable softly. */
  private record Scope(String name, @Nullable String version, @Nullable String schemaUrl) {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof Scope scope
          && name.equals(scope.name)
          && Objects.equals(version, scope.version)
          && Objects.equals(schemaUrl, scope.schemaUrl);
    }

    @Override
    public int hashCode() {
      return (name.hashCode() * 31 + Objects.hashCode(version)) * 31 + Objects.hashCode(schemaUrl);
    }
  }

  @Override
  public CairnTracer get(@Nullable String name) {
    return tracer(new Scope(nameOf(name), null, null));
  }

  @Override
  public CairnTracer get(@Nullable String name, @Nullable String version) {
    return tracer(new Scope(nameOf(name), version, null));
  }

  @Override
  public TracerBuilder tracerBuilder(@Nullable String name) {
    return new ScopeBuilder(nameOf(name));
  }

  private static String nameOf(@Nullable String name) {
    return name == null ? "" : name;
  }

  private RecordingTracer tracer(Scope scope) {
    RecordingTracer known = tracers.get(scope);
    return known != null ? known : tracers.computeIfAbsent(scope, this::make);
  }

  private RecordingTracer make(Scope scope) {
    InstrumentationScopeInfoBuilder builder = InstrumentationScopeInfo.builder(scope.name());
    if (scope.version() != null) {
      builder.setVersion(scope.version());
    }
    if (scope.schemaUrl() != null) {
      builder.setSchemaUrl(scope.schemaUrl());
    }
    return Incubator.newTracer(tracing, builder.build());
  }

  private final class ScopeBuilder implements TracerBuilder {
    private final String name;
    private @Nullable String version;
    private @Nullable String schemaUrl;

    ScopeBuilder(String name) {
      this.name = name;
    }

    @Override
    public TracerBuilder setSchemaUrl(@Nullable String schemaUrl) {
      this.schemaUrl = schemaUrl;
      return this;
    }

    @Override
    public TracerBuilder setInstrumentationVersion(@Nullable String version) {
      this.version = version;
      return this;
    }

    @Override
    public CairnTracer build() {
      return tracer(new Scope(name, version, schemaUrl));
    }
  }
}
