package cairn.bench;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import cairn.otel.CairnSpanProcessor;
import cairn.otel.CairnTracer;
import cairn.report.Report;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Spans that are in a box while they are open; afterwards, proof of it. */
final class CairnSpanContender extends OtelContender {
  private static final String LAST = "still open";

  private final Tracer tracer;
  private final Recorder recorder;
  private final boolean isInBox;

  /** The processor reads the attributes of what stays open for a while, and not before. */
  private final boolean hasAttributesAtOnce;

  private final Path root;

  private CairnSpanContender(
      Tracer tracer,
      SpanBuilder kept,
      AutoCloseable provider,
      @Nullable Counting ended,
      Recorder recorder,
      boolean isInBox,
      boolean hasAttributesAtOnce,
      Path root) {
    super(tracer, kept, provider, ended);
    this.tracer = tracer;
    this.recorder = recorder;
    this.isInBox = isInBox;
    this.hasAttributesAtOnce = hasAttributesAtOnce;
    this.root = root;
  }

  /** Cairn's own tracer; nobody else sees the spans. */
  static SpanContender api(boolean sampled, Path root) {
    return api(sampled, root, null);
  }

  /** Cairn's own tracer, and a processor that is shown each span. */
  static SpanContender apiAndProcessor(boolean sampled, Path root) {
    return api(sampled, root, new Counting());
  }

  private static SpanContender api(boolean sampled, Path root, @Nullable Counting ended) {
    Recorder recorder = Evidence.open(root);
    CairnOpenTelemetry.Builder builder =
        CairnOpenTelemetry.builder(recorder).sampler(sampler(sampled));
    if (ended != null) {
      builder.addSpanProcessor(ended);
    }
    CairnOpenTelemetry openTelemetry = builder.build();
    CairnTracer tracer = openTelemetry.getTracer("bench");
    return new CairnSpanContender(
        tracer,
        tracer.reusableSpanBuilder(SpanPayload.ROOT),
        openTelemetry,
        sampled ? ended : null,
        recorder,
        true,
        true,
        root);
  }

  /** The SDK's tracer; Cairn is told of each span, unless it is sampled out. */
  static SpanContender sdk(boolean sampled, Path root) {
    Recorder recorder = Evidence.open(root);
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setSampler(sampler(sampled))
            .addSpanProcessor(CairnSpanProcessor.create(recorder))
            .build();
    Tracer tracer = provider.get("bench");
    return new CairnSpanContender(
        tracer,
        tracer.spanBuilder(SpanPayload.ROOT),
        provider,
        null,
        recorder,
        sampled,
        false,
        root);
  }

  @Override
  void finish(long spans) throws Exception {
    tracer
        .spanBuilder(LAST)
        .setNoParent()
        .setAttribute(SpanPayload.ROUTE, SpanPayload.route(0))
        .startSpan();
    Report report = Evidence.reportOf(root);
    boolean found =
        report.openSpans().stream()
            .filter(span -> LAST.equals(span.name()))
            .map(UnfinishedSpan::attributes)
            .anyMatch(
                attributes ->
                    !hasAttributesAtOnce || attributes.containsValue(SpanPayload.route(0)));
    Evidence.require(found == isInBox, "last span in the box", report.openSpans(), isInBox);
    Evidence.require(
        report.openSpans().size() <= 2, "open spans", report.openSpans().size(), "1, or 2");
    Evidence.requireNoLoss(report);
    Long overflowed = report.counters().get("spansOverflowed");
    Evidence.require(overflowed != null && overflowed == 0, "spansOverflowed", overflowed, 0);
    super.finish(spans);
    recorder.close();
  }
}
