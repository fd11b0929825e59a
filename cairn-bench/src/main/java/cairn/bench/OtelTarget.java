package cairn.bench;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An OpenTelemetry SDK root span with four attributes and a batch processor that exports to
 * nowhere.
 */
final class OtelTarget implements Target {
  private static final AttributeKey<String> ROUTE = AttributeKey.stringKey("http.route");
  private static final AttributeKey<Long> STATUS = AttributeKey.longKey("http.status");
  private static final AttributeKey<Double> RATIO = AttributeKey.doubleKey("ratio");
  private static final AttributeKey<Boolean> CACHED = AttributeKey.booleanKey("cached");

  private final AtomicLong exported = new AtomicLong();
  private final SdkTracerProvider provider;
  private final Tracer tracer;

  OtelTarget() {
    provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(BatchSpanProcessor.builder(new Counting(exported)).build())
            .build();
    tracer = provider.get("bench");
  }

  @Override
  public void record(int index) {
    Payload.Event event = Payload.SMALL[index];
    Span span = tracer.spanBuilder("GET /orders").setNoParent().startSpan();
    span.setAttribute(ROUTE, event.url());
    span.setAttribute(STATUS, event.millis());
    span.setAttribute(RATIO, 0.25);
    span.setAttribute(CACHED, true);
    span.end();
  }

  @Override
  public void finish(long calls) {
    provider.close();
    // A saturated batch processor drops; that some arrived proves that spans were recorded.
    Evidence.require(exported.get() >= Math.min(calls, 512), "spans", exported.get(), calls);
  }

  private record Counting(AtomicLong exported) implements SpanExporter {
    @Override
    public CompletableResultCode export(Collection<SpanData> spans) {
      exported.addAndGet(spans.size());
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode flush() {
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      return CompletableResultCode.ofSuccess();
    }
  }
}
