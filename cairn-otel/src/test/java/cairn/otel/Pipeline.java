package cairn.otel;

import cairn.Recorder;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.util.List;
import java.util.function.Supplier;

/** A tracer provider with all that it was built with: the SDK's or Cairn's, told apart by none. */
interface Pipeline {
  /** Who makes the spans. */
  enum Maker {
    /** The OpenTelemetry SDK: the reference. */
    SDK {
      @Override
      Pipeline build(Setup setup) {
        return ofSdk(setup);
      }
    },
    /** Cairn. */
    CAIRN {
      @Override
      Pipeline build(Setup setup) {
        return ofCairn(setup);
      }
    };

    abstract Pipeline build(Setup setup);
  }

  /**
   * What a pipeline is built with.
   *
   * @param recorder of Cairn; the SDK has none
   */
  record Setup(
      Recorder recorder,
      Clock clock,
      IdGenerator ids,
      Sampler sampler,
      Supplier<SpanLimits> limits,
      List<SpanProcessor> processors,
      Resource resource) {}

  TracerProvider provider();

  CompletableResultCode forceFlush();

  CompletableResultCode shutdown();

  private static Pipeline ofSdk(Setup setup) {
    SdkTracerProviderBuilder builder =
        SdkTracerProvider.builder()
            .setClock(setup.clock())
            .setIdGenerator(setup.ids())
            .setSampler(setup.sampler())
            .setSpanLimits(setup.limits())
            .setResource(setup.resource());
    setup.processors().forEach(builder::addSpanProcessor);
    SdkTracerProvider provider = builder.build();
    return new Pipeline() {
      @Override
      public TracerProvider provider() {
        return provider;
      }

      @Override
      public CompletableResultCode forceFlush() {
        return provider.forceFlush();
      }

      @Override
      public CompletableResultCode shutdown() {
        return provider.shutdown();
      }
    };
  }

  private static Pipeline ofCairn(Setup setup) {
    CairnOpenTelemetry.Builder builder =
        CairnOpenTelemetry.builder(setup.recorder())
            .clock(setup.clock())
            .idGenerator(setup.ids())
            .sampler(setup.sampler())
            .spanLimits(setup.limits())
            .resource(setup.resource());
    setup.processors().forEach(builder::addSpanProcessor);
    CairnOpenTelemetry otel = builder.build();
    return new Pipeline() {
      @Override
      public TracerProvider provider() {
        return otel.getTracerProvider();
      }

      @Override
      public CompletableResultCode forceFlush() {
        return otel.forceFlush();
      }

      @Override
      public CompletableResultCode shutdown() {
        return otel.shutdown();
      }
    };
  }
}
