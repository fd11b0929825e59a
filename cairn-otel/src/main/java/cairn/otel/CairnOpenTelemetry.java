package cairn.otel;

import cairn.Recorder;
import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.baggage.propagation.W3CBaggagePropagator;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.context.propagation.TextMapPropagator;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * OpenTelemetry for an application that has no agent: every span that is open is in the box, with
 * what was set on it up to the last call, and the report of a dead run names it. Span processors,
 * samplers and exporters of the OpenTelemetry SDK plug in; metrics and logs are those of providers
 * that are given.
 *
 * <pre>{@code
 * Recorder recorder = Recorder.builder("orders").open();
 * CairnOpenTelemetry otel =
 *     CairnOpenTelemetry.builder(recorder)
 *         .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
 *         .buildAndRegisterGlobal();
 * Tracer tracer = otel.getTracer("shop");
 * }</pre>
 *
 * <p>Any thread; a span may be changed and ended by any thread. It behaves as the SDK's, but for
 * what {@code docs/OTEL.md} lists. No call of the OpenTelemetry API throws, but for an error of the
 * virtual machine; what a processor, a sampler or a value throws is counted and said once in the
 * log.
 *
 * <p>A span is one object of 96 bytes. Without a span processor that is all that is allocated in
 * steady state, attributes included.
 *
 * <p>What is recorded survives process death once the call returns. Closing this does not close the
 * recorder, nor the providers that were given.
 */
public final class CairnOpenTelemetry implements OpenTelemetry, Closeable {
  private static final int CLOSE_TIMEOUT_SECONDS = 10;

  private final Tracing tracing;
  private final CairnTracerProvider tracers;
  private final MeterProvider meters;
  private final LoggerProvider loggers;
  private final ContextPropagators propagators;

  private CairnOpenTelemetry(Builder from) {
    tracing = new Tracing(from, new Faults());
    tracers = new CairnTracerProvider(tracing);
    meters = from.meters;
    loggers = from.loggers;
    propagators = from.propagators;
    // Of no object of ours: the recorder may outlive this.
    tracing.box.current(CairnOpenTelemetry::currentSpanId);
    RecordedResource.put(from.recorder, from.resource, tracing.faults);
  }

  /**
   * Starts to configure.
   *
   * @param recorder whose box takes the open spans; one that is disabled takes none, and the
   *     processors see them all the same
   */
  public static Builder builder(Recorder recorder) {
    return new Builder(recorder);
  }

  /** Of the breadcrumbs that the calling thread adds, and the parent of what it begins by name. */
  private static long currentSpanId() {
    Span current = Span.current();
    if (current instanceof CairnSpan span) {
      return span.spanId();
    }
    if (current instanceof UnsampledSpan span) {
      return span.spanId();
    }
    if (current == Span.getInvalid()) {
      return 0;
    }
    String id = current.getSpanContext().getSpanId();
    return Hex.isHex(id, Hex.SPAN_ID_DIGITS) ? Hex.parse(id, 0) : 0;
  }

  @Override
  public TracerProvider getTracerProvider() {
    return tracers;
  }

  @Override
  public CairnTracer getTracer(@Nullable String scopeName) {
    return tracers.get(scopeName);
  }

  @Override
  public CairnTracer getTracer(@Nullable String scopeName, @Nullable String scopeVersion) {
    return tracers.get(scopeName, scopeVersion);
  }

  @Override
  public MeterProvider getMeterProvider() {
    return meters;
  }

  @Override
  public LoggerProvider getLogsBridge() {
    return loggers;
  }

  @Override
  public ContextPropagators getPropagators() {
    return propagators;
  }

  /** {@return done when every span processor has exported what it had} */
  public CompletableResultCode forceFlush() {
    return tracing.forceFlush();
  }

  /**
   * Shuts the span processors down, which flush first, and the sampler. From then on tracers start
   * nothing and pass parents on; spans that are open can still be ended, and stay in the box until
   * they are.
   *
   * @return done when they all are; the same at each call
   */
  public CompletableResultCode shutdown() {
    return tracing.shutdown();
  }

  /** As {@link #shutdown}, and waits for it ten seconds at most. */
  @Override
  public void close() {
    CompletableResultCode unused = shutdown().join(CLOSE_TIMEOUT_SECONDS, TimeUnit.SECONDS);
  }

  Tracing tracing() {
    return tracing;
  }

  /** {@return the effective settings, and what was counted} */
  @Override
  public String toString() {
    return "CairnOpenTelemetry{recorder="
        + tracing.recorder
        + ", resource="
        + tracing.resource
        + ", sampler="
        + tracing.sampler.getDescription()
        + ", spanProcessors="
        + tracing.processors
        + ", limits="
        + tracing.limits()
        + ", staleBuilders="
        + tracing.staleBuilders.sum()
        + ", faults="
        + tracing.faults.count()
        + '}';
  }

  /** Configures a {@link CairnOpenTelemetry}. A mistake throws at once. One thread. */
  public static final class Builder {
    private static final int MAX_KEY_CACHE_SIZE = 1 << 20;

    final Recorder recorder;
    final List<SpanProcessor> processors = new ArrayList<>();
    Resource resource = Resource.getDefault();
    Sampler sampler = Sampler.parentBased(Sampler.alwaysOn());
    Supplier<SpanLimits> limits = SpanLimits::getDefault;
    IdGenerator idGenerator = IdGenerator.random();
    Clock clock = Clock.getDefault();
    int keyCacheSize = 1024;
    private MeterProvider meters = MeterProvider.noop();
    private LoggerProvider loggers = LoggerProvider.noop();
    private ContextPropagators propagators =
        ContextPropagators.create(
            TextMapPropagator.composite(
                W3CTraceContextPropagator.getInstance(), W3CBaggagePropagator.getInstance()));

    private Builder(Recorder recorder) {
      this.recorder = Objects.requireNonNull(recorder, "recorder");
    }

    /**
     * Sets what produces the telemetry, for exporters. Default: {@link Resource#getDefault}.
     *
     * @return this
     */
    public Builder resource(Resource resource) {
      this.resource = Objects.requireNonNull(resource, "resource");
      return this;
    }

    /**
     * Adds a processor behind those that are there. Default: none, and then only the box has spans.
     *
     * @return this
     */
    public Builder addSpanProcessor(SpanProcessor processor) {
      processors.add(Objects.requireNonNull(processor, "processor"));
      return this;
    }

    /**
     * Sets which spans processors and exporters get; the box gets all. Default: as the parent was
     * sampled, roots always. That one, always, never, and as the parent with roots never, are
     * decided without a call.
     *
     * @return this
     */
    public Builder sampler(Sampler sampler) {
      this.sampler = Objects.requireNonNull(sampler, "sampler");
      return this;
    }

    /**
     * Sets the limits of attributes, events and links. Default: {@link SpanLimits#getDefault}.
     *
     * @return this
     */
    public Builder spanLimits(SpanLimits limits) {
      Objects.requireNonNull(limits, "limits");
      this.limits = () -> limits;
      return this;
    }

    /**
     * As {@link #spanLimits(SpanLimits)}, asked at each span: what it returns may change.
     *
     * @return this
     */
    public Builder spanLimits(Supplier<SpanLimits> limits) {
      this.limits = Objects.requireNonNull(limits, "limits");
      return this;
    }

    /**
     * Sets where ids come from. Default: random numbers that are made without an allocation.
     *
     * @return this
     */
    public Builder idGenerator(IdGenerator generator) {
      this.idGenerator = Objects.requireNonNull(generator, "generator");
      return this;
    }

    /**
     * Sets the clock. Default: the system's.
     *
     * @return this
     */
    public Builder clock(Clock clock) {
      this.clock = Objects.requireNonNull(clock, "clock");
      return this;
    }

    /**
     * Sets what {@link CairnOpenTelemetry#getMeterProvider} returns. Default: one that does
     * nothing.
     *
     * @param meters its owner closes it
     * @return this
     */
    public Builder meterProvider(MeterProvider meters) {
      this.meters = Objects.requireNonNull(meters, "meters");
      return this;
    }

    /**
     * Sets what {@link CairnOpenTelemetry#getLogsBridge} returns. Default: one that does nothing.
     *
     * @param loggers its owner closes it
     * @return this
     */
    public Builder loggerProvider(LoggerProvider loggers) {
      this.loggers = Objects.requireNonNull(loggers, "loggers");
      return this;
    }

    /**
     * Sets the propagators. Default: W3C trace context and baggage.
     *
     * @return this
     */
    public Builder propagators(ContextPropagators propagators) {
      this.propagators = Objects.requireNonNull(propagators, "propagators");
      return this;
    }

    /**
     * Sets how many attribute keys are remembered, so that {@code setAttribute("name", value)}
     * makes no new one. Default: 1,024, some 40 KB once full.
     *
     * @param size a power of two up to 1,048,576, or 0 for none
     * @return this
     * @throws IllegalArgumentException for anything else
     */
    public Builder keyCacheSize(int size) {
      if (size < 0 || size > MAX_KEY_CACHE_SIZE || (size & size - 1) != 0) {
        throw new IllegalArgumentException(
            "keyCacheSize is not a power of two: value="
                + size
                + ", limit="
                + MAX_KEY_CACHE_SIZE
                + " (0 caches nothing)");
      }
      this.keyCacheSize = size;
      return this;
    }

    /** {@return what was configured} */
    public CairnOpenTelemetry build() {
      return new CairnOpenTelemetry(this);
    }

    /**
     * As {@link #build}, and makes it {@link GlobalOpenTelemetry}'s.
     *
     * @throws IllegalStateException if that has been set already
     */
    public CairnOpenTelemetry buildAndRegisterGlobal() {
      CairnOpenTelemetry built = build();
      GlobalOpenTelemetry.set(built);
      return built;
    }

    /** {@return the effective values} */
    @Override
    public String toString() {
      return "CairnOpenTelemetry.Builder{recorder="
          + recorder
          + ", resource="
          + resource
          + ", spanProcessors="
          + processors
          + ", sampler="
          + sampler.getDescription()
          + ", idGenerator="
          + idGenerator
          + ", clock="
          + clock
          + ", keyCacheSize="
          + keyCacheSize
          + '}';
    }
  }
}
