package cairn.otel;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringArrayKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import cairn.otel.Pipeline.Maker;
import cairn.otel.Pipeline.Setup;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the OpenTelemetry specification says a tracer must do, and what its users rely on beside it.
 * The SDK passes each test too, which is what proves the tests; one that is older than what a test
 * says is left out of it, aloud.
 */
class SpecificationTest {
  private static final Attributes MANY = many(200);

  // ---- tracers -----------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void equalNameVersionAndSchemaGiveTheSameTracer(Maker maker) {
    TracerProvider provider = Traced.by(maker).pipeline.provider();
    assertThat(provider.get("lib")).isSameAs(provider.get("lib"));
    assertThat(provider.get("lib", "1")).isSameAs(provider.get("lib", "1"));
    assertThat(provider.tracerBuilder("lib").setInstrumentationVersion("1").build())
        .isSameAs(provider.get("lib", "1"));
    assertThat(provider.tracerBuilder("lib").setSchemaUrl("https://s/1").build())
        .isSameAs(provider.tracerBuilder("lib").setSchemaUrl("https://s/1").build())
        .isNotSameAs(provider.get("lib"));
    assertThat(provider.get("lib", "1")).isNotSameAs(provider.get("lib", "2"));
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aTracerWithoutANameWorksAndHasTheEmptyName(Maker maker) {
    Traced traced = Traced.by(maker);
    for (String name : new String[] {null, ""}) {
      Span span = traced.pipeline.provider().get(name).spanBuilder("s").startSpan();
      span.end();
      assertThat(traced.last().getInstrumentationScopeInfo().getName()).isEmpty();
      assertThat(span.getSpanContext().isValid()).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void nameVersionAndSchemaOfTheTracerAreTheScopeOfItsSpans(Maker maker) {
    Traced traced = Traced.by(maker);
    traced
        .pipeline
        .provider()
        .tracerBuilder("lib")
        .setInstrumentationVersion("1.2")
        .setSchemaUrl("https://s/1")
        .build()
        .spanBuilder("s")
        .startSpan()
        .end();
    assertThat(traced.last().getInstrumentationScopeInfo().getName()).isEqualTo("lib");
    assertThat(traced.last().getInstrumentationScopeInfo().getVersion()).isEqualTo("1.2");
    assertThat(traced.last().getInstrumentationScopeInfo().getSchemaUrl()).isEqualTo("https://s/1");
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void resourceAndScopeOfAllSpansAreTheSameObjectsSinceExportersGroupByIdentity(Maker maker) {
    Traced traced = Traced.by(maker);
    traced.root("one").startSpan().end();
    traced.root("two").startSpan().end();
    SpanData one = traced.ended.get(0);
    SpanData two = traced.ended.get(1);
    assertThat(one.getResource()).isSameAs(two.getResource()).isEqualTo(Traced.resource());
    assertThat(one.getInstrumentationScopeInfo()).isSameAs(two.getInstrumentationScopeInfo());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aTracerWithAProcessorIsEnabled(Maker maker) {
    assertThat(Newest.isEnabled(Traced.by(maker).tracer)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void withNobodyToSeeThemSpansDoNotRecordButPropagate(Maker maker) {
    if (Newest.isNotThatOf(maker, "without processors spans do not record")) {
      return;
    }
    Pipeline pipeline =
        maker.build(
            new Setup(
                Recorders.disabled(),
                new SettableClock(),
                IdGenerator.random(),
                Sampler.alwaysOn(),
                SpanLimits::getDefault,
                List.of(),
                Traced.resource()));
    assertThat(Newest.isEnabled(pipeline.provider().get("t"))).isFalse();
    Span span =
        pipeline.provider().get("t").spanBuilder("s").setParent(Traced.remote()).startSpan();
    assertThat(span.isRecording()).isFalse();
    assertThat(span.getSpanContext().getTraceId()).isEqualTo(Traced.REMOTE.getTraceId());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void afterShutdownSpansDoNotRecordButPropagateTheirParent(Maker maker) {
    Traced traced = Traced.by(maker);
    assertThat(traced.pipeline.shutdown().isSuccess()).isTrue();
    Span root = traced.root("root").startSpan();
    assertThat(root.isRecording()).isFalse();
    assertThat(root.getSpanContext().isValid()).isFalse();
    Span child = traced.tracer.spanBuilder("child").setParent(Traced.remote()).startSpan();
    assertThat(child.isRecording()).isFalse();
    assertThat(child.getSpanContext()).isEqualTo(Traced.REMOTE);
    child.setAttribute("a", "x").addEvent("e").end();
    assertThat(traced.started).isEmpty();
    assertThat(traced.ended).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void shutdownIsPassedOnOnceAndForceFlushEachTime(Maker maker) {
    Traced traced = Traced.by(maker);
    traced.pipeline.forceFlush();
    traced.pipeline.forceFlush();
    assertThat(traced.flushes).isEqualTo(2);
    traced.pipeline.shutdown();
    traced.pipeline.shutdown();
    assertThat(traced.shutdowns).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void shutdownIncludesForceFlush(Maker maker) {
    InMemorySpanExporter exporter = InMemorySpanExporter.create();
    List<String> exported = new ArrayList<>();
    Traced traced =
        Traced.by(
            maker,
            BatchSpanProcessor.builder(
                    new SpanExporter() {
                      @Override
                      public CompletableResultCode export(Collection<SpanData> spans) {
                        spans.forEach(span -> exported.add(span.getName()));
                        return CompletableResultCode.ofSuccess();
                      }

                      @Override
                      public CompletableResultCode flush() {
                        return exporter.flush();
                      }

                      @Override
                      public CompletableResultCode shutdown() {
                        return exporter.shutdown();
                      }
                    })
                .setScheduleDelay(1, TimeUnit.HOURS)
                .build());
    traced.root("waiting").startSpan().end();
    traced.pipeline.shutdown().join(10, SECONDS);
    assertThat(exported).containsExactly("waiting");
  }

  // ---- parents and ids ---------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aSpanWithoutANameHasThePlaceholderName(Maker maker) {
    Traced traced = Traced.by(maker);
    for (String name : new String[] {null, "", " ", "\t"}) {
      traced.tracer.spanBuilder(name).startSpan().end();
      assertThat(traced.last().getName()).isEqualTo("<unspecified span name>");
    }
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void startingASpanDoesNotMakeItCurrent(Maker maker) {
    Traced traced = Traced.by(maker);
    Span before = Span.current();
    Span span = traced.root("s").startSpan();
    assertThat(Span.current()).isSameAs(before);
    try (Scope ignored = span.makeCurrent()) {
      assertThat(Span.current()).isSameAs(span);
      traced.tracer.spanBuilder("child").startSpan();
      assertThat(Span.current()).isSameAs(span);
      span.end();
      assertThat(Span.current()).as("nor does its end change what is current").isSameAs(span);
    }
    assertThat(Span.current()).isSameAs(before);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void everyRootHasATraceIdOfItsOwn(Maker maker) {
    Traced traced = Traced.by(maker);
    Set<String> traceIds = new HashSet<>();
    Set<String> spanIds = new HashSet<>();
    for (int i = 0; i < 1_000; i++) {
      SpanContext context = traced.root("s").startSpan().getSpanContext();
      assertThat(context.isValid()).isTrue();
      traceIds.add(context.getTraceId());
      spanIds.add(context.getSpanId());
    }
    assertThat(traceIds).hasSize(1_000);
    assertThat(spanIds).hasSize(1_000);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aChildHasItsParentsTraceIdAndStateAndIsNotRemote(Maker maker) {
    Traced traced = Traced.by(maker);
    Span child = traced.tracer.spanBuilder("child").setParent(Traced.remote()).startSpan();
    SpanContext context = child.getSpanContext();
    assertThat(context.getTraceId()).isEqualTo(Traced.REMOTE.getTraceId());
    assertThat(context.getSpanId()).isNotEqualTo(Traced.REMOTE.getSpanId());
    assertThat(context.getTraceState()).isEqualTo(Traced.REMOTE.getTraceState());
    assertThat(context.isRemote()).isFalse();
    assertThat(Traced.dataOf(child).getParentSpanContext()).isEqualTo(Traced.REMOTE);
    assertThat(Traced.dataOf(child).getParentSpanContext().isRemote()).isTrue();
    SpanContext grandChild = traced.child(child, "grandchild").startSpan().getSpanContext();
    assertThat(grandChild.getTraceState()).isEqualTo(Traced.REMOTE.getTraceState());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theParentIsTheCurrentSpanWhenTheSpanStartsNotWhenItIsBuilt(Maker maker) {
    Traced traced = Traced.by(maker);
    Span parent = traced.root("parent").startSpan();
    SpanBuilder builder = traced.tracer.spanBuilder("child");
    SpanBuilder early;
    try (Scope ignored = parent.makeCurrent()) {
      early = traced.tracer.spanBuilder("built under, started after");
      assertThat(Traced.dataOf(builder.startSpan()).getParentSpanId())
          .isEqualTo(parent.getSpanContext().getSpanId());
    }
    assertThat(Traced.dataOf(early.startSpan()).getParentSpanContext().isValid()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theLastCallForTheParentWinsAndNullIsNone(Maker maker) {
    Traced traced = Traced.by(maker);
    Span other = traced.root("other").startSpan();
    try (Scope ignored = other.makeCurrent()) {
      assertThat(parentOf(traced.tracer.spanBuilder("s").setParent(Traced.remote()).setNoParent()))
          .isEqualTo(SpanContext.getInvalid());
      assertThat(parentOf(traced.tracer.spanBuilder("s").setNoParent().setParent(Traced.remote())))
          .isEqualTo(Traced.REMOTE);
      assertThat(
              parentOf(traced.tracer.spanBuilder("s").setParent(Traced.remote()).setParent(null)))
          .isEqualTo(Traced.REMOTE);
      assertThat(parentOf(traced.tracer.spanBuilder("s").setParent(null)))
          .isEqualTo(other.getSpanContext());
    }
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aParentContextWithoutAValidSpanMakesARootEvenWhileASpanIsCurrent(Maker maker) {
    Traced traced = Traced.by(maker);
    Span other = traced.root("other").startSpan();
    Context keyed = Context.root().with(ContextKey.named("k"), "v");
    try (Scope ignored = other.makeCurrent()) {
      for (Context parent :
          List.of(Context.root(), keyed, Context.root().with(Span.getInvalid()))) {
        Span span = traced.tracer.spanBuilder("s").setParent(parent).startSpan();
        assertThat(Traced.dataOf(span).getParentSpanContext().isValid()).isFalse();
        assertThat(span.getSpanContext().getTraceId())
            .isNotEqualTo(other.getSpanContext().getTraceId());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void anEndedSpanIsStillAParent(Maker maker) {
    Traced traced = Traced.by(maker);
    Span parent = traced.root("parent").startSpan();
    parent.end();
    assertThat(parentOf(traced.child(parent, "late"))).isEqualTo(parent.getSpanContext());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theEndOfAParentDoesNotEndItsChildren(Maker maker) {
    Traced traced = Traced.by(maker);
    Span parent = traced.root("parent").startSpan();
    Span child = traced.child(parent, "child").startSpan();
    parent.end();
    assertThat(child.isRecording()).isTrue();
    child.setAttribute("a", "x").end();
    assertThat(traced.last().getAttributes().asMap())
        .isEqualTo(Attributes.of(Traced.A, "x").asMap());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void rootsSayThatTheirTraceIdIsRandomAndChildrenSayWhatTheirParentSays(Maker maker) {
    if (Newest.isNotThatOf(maker, "roots say that their trace id is random")) {
      return;
    }
    Traced traced = Traced.by(maker);
    Span root = traced.root("root").startSpan();
    assertThat(root.getSpanContext().getTraceFlags().asHex()).isEqualTo("03");
    assertThat(traced.child(root, "child").startSpan().getSpanContext().getTraceFlags().asHex())
        .isEqualTo("03");
    assertThat(
            traced
                .tracer
                .spanBuilder("s")
                .setParent(Traced.remote())
                .startSpan()
                .getSpanContext()
                .getTraceFlags()
                .asHex())
        .isEqualTo("01");
  }

  // ---- sampling ----------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theSamplerIsAskedWithTheTraceIdAndAllThatTheBuilderWasGiven(Maker maker) {
    Asked sampler = new Asked(SamplingResult.recordAndSample());
    Traced traced = Traced.by(maker, sampler);
    Context parent = Traced.remote();
    Span span =
        traced
            .tracer
            .spanBuilder("name")
            .setParent(parent)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("a", "x")
            .addLink(Traced.REMOTE)
            .startSpan();
    assertThat(sampler.parent).isSameAs(parent);
    assertThat(sampler.traceId).isEqualTo(span.getSpanContext().getTraceId());
    assertThat(sampler.name).isEqualTo("name");
    assertThat(sampler.kind).isEqualTo(SpanKind.SERVER);
    assertThat(sampler.attributes).isEqualTo("a=x ");
    assertThat(sampler.links).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theSamplerOfARootSeesThatTheTraceIdIsRandom(Maker maker) {
    if (Newest.isNotThatOf(maker, "the sampler of a root sees that the trace id is random")) {
      return;
    }
    Asked sampler = new Asked(SamplingResult.recordAndSample());
    Traced traced = Traced.by(maker, sampler);
    traced.root("root").startSpan();
    SpanContext seen = Span.fromContext(sampler.parent).getSpanContext();
    assertThat(seen.isValid()).isFalse();
    assertThat(seen.getTraceFlags().asByte() & 2).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aDroppedSpanHasAFreshSpanIdAndNoProcessorSeesIt(Maker maker) {
    Traced traced = Traced.by(maker, new Asked(SamplingResult.drop()));
    Span span = traced.tracer.spanBuilder("s").setParent(Traced.remote()).startSpan();
    assertThat(span.isRecording()).isFalse();
    assertThat(span.getSpanContext().isValid()).isTrue();
    assertThat(span.getSpanContext().isSampled()).isFalse();
    assertThat(span.getSpanContext().getTraceId()).isEqualTo(Traced.REMOTE.getTraceId());
    assertThat(span.getSpanContext().getSpanId()).isNotEqualTo(Traced.REMOTE.getSpanId());
    assertThat(span.getSpanContext().getTraceState()).isEqualTo(Traced.REMOTE.getTraceState());
    span.setAttribute("a", "x").updateName("n").end();
    assertThat(traced.started).isEmpty();
    assertThat(traced.ended).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aSpanThatIsOnlyRecordedIsNotSampledAndNotExported(Maker maker) {
    InMemorySpanExporter exporter = InMemorySpanExporter.create();
    List<SamplingResult> results =
        new ArrayList<>(List.of(SamplingResult.recordOnly(), SamplingResult.recordAndSample()));
    Asked sampler = new Asked(SamplingResult.recordOnly());
    Traced traced = Traced.by(maker, sampler, SimpleSpanProcessor.create(exporter));
    for (SamplingResult result : results) {
      sampler.result = result;
      Span span = traced.root(result.getDecision().name()).startSpan();
      assertThat(span.isRecording()).isTrue();
      assertThat(span.getSpanContext().isSampled())
          .isEqualTo(result.getDecision() == SamplingDecision.RECORD_AND_SAMPLE);
      span.end();
    }
    assertThat(traced.ended).hasSize(2);
    assertThat(exporter.getFinishedSpanItems().stream().map(SpanData::getName))
        .containsExactly("RECORD_AND_SAMPLE");
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void whatTheSamplerAddsReplacesWhatTheBuilderWasGiven(Maker maker) {
    Asked sampler =
        new Asked(
            SamplingResult.create(
                SamplingDecision.RECORD_AND_SAMPLE,
                Attributes.of(Traced.A, "sampler", stringKey("b"), "added")));
    Traced traced = Traced.by(maker, sampler);
    Span span = traced.root("s").setAttribute("a", "builder").startSpan();
    assertThat(Traced.dataOf(span).getAttributes().asMap())
        .isEqualTo(Attributes.of(Traced.A, "sampler", stringKey("b"), "added").asMap());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theSamplerMayReplaceTheTraceState(Maker maker) {
    TraceState mine = TraceState.builder().put("mine", "1").build();
    Traced traced =
        Traced.by(
            maker,
            new Asked(
                new SamplingResult() {
                  @Override
                  public SamplingDecision getDecision() {
                    return SamplingDecision.RECORD_AND_SAMPLE;
                  }

                  @Override
                  public Attributes getAttributes() {
                    return Attributes.empty();
                  }

                  @Override
                  public TraceState getUpdatedTraceState(TraceState parent) {
                    return mine;
                  }
                }));
    Span span = traced.tracer.spanBuilder("s").setParent(Traced.remote()).startSpan();
    assertThat(span.getSpanContext().getTraceState()).isEqualTo(mine);
  }

  // ---- what a builder is given -------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aSpanIsInternalUnlessAnotherKindIsSet(Maker maker) {
    Traced traced = Traced.by(maker);
    assertThat(Traced.dataOf(traced.root("s").startSpan()).getKind()).isEqualTo(SpanKind.INTERNAL);
    for (SpanKind kind : SpanKind.values()) {
      Span span = traced.root("s").setSpanKind(kind).setSpanKind(null).startSpan();
      assertThat(Traced.dataOf(span).getKind()).isEqualTo(kind);
    }
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aStartTimeIsTakenAndABadOneIgnored(Maker maker) {
    Traced traced = Traced.by(maker);
    assertThat(startOf(traced.root("s").setStartTimestamp(5, MILLISECONDS))).isEqualTo(5_000_000);
    assertThat(startOf(traced.root("s").setStartTimestamp(Instant.ofEpochSecond(3, 4))))
        .isEqualTo(3_000_000_004L);
    long now = traced.clock.now();
    assertThat(startOf(traced.root("s").setStartTimestamp(-5, MILLISECONDS))).isEqualTo(now);
    assertThat(startOf(traced.root("s").setStartTimestamp(5, null))).isEqualTo(now);
    assertThat(startOf(traced.root("s").setStartTimestamp(null))).isEqualTo(now);
    assertThat(startOf(traced.root("s").setStartTimestamp(0, NANOSECONDS))).isEqualTo(now);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void linksAreKeptWithTheirAttributesAndInvalidOnesIgnored(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span =
        traced
            .root("s")
            .addLink(null)
            .addLink(SpanContext.getInvalid())
            .addLink(null, Attributes.empty())
            .addLink(Traced.REMOTE)
            .addLink(Traced.REMOTE, Attributes.of(Traced.A, "x"))
            .addLink(Traced.REMOTE, null)
            .startSpan();
    assertThat(Traced.dataOf(span).getLinks())
        .containsExactly(
            LinkData.create(Traced.REMOTE),
            LinkData.create(Traced.REMOTE, Attributes.of(Traced.A, "x")),
            LinkData.create(Traced.REMOTE));
    assertThat(Traced.dataOf(span).getTotalRecordedLinks()).isEqualTo(3);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aLinkIsAddedLaterToo(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").startSpan();
    span.addLink(Traced.REMOTE).addLink(null).addLink(SpanContext.getInvalid());
    assertThat(Traced.dataOf(span).getLinks()).containsExactly(LinkData.create(Traced.REMOTE));
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void everySetterReturnsItsBuilderAndItsSpan(Maker maker) {
    Traced traced = Traced.by(maker);
    SpanBuilder builder = traced.root("s");
    assertThat(builder.setAttribute("k", "v")).isSameAs(builder);
    assertThat(builder.setAttribute((AttributeKey<String>) null, null)).isSameAs(builder);
    assertThat(builder.addLink(null)).isSameAs(builder);
    assertThat(builder.setParent(null)).isSameAs(builder);
    assertThat(builder.setSpanKind(null)).isSameAs(builder);
    assertThat(builder.setStartTimestamp(-1, null)).isSameAs(builder);
    Span span = builder.startSpan();
    for (int i = 0; i < 2; i++) {
      assertThat(span.setAttribute("k", "v")).isSameAs(span);
      assertThat(span.setAttribute((AttributeKey<String>) null, null)).isSameAs(span);
      assertThat(span.addEvent("e")).isSameAs(span);
      assertThat(span.addEvent(null, (Attributes) null)).isSameAs(span);
      assertThat(span.addLink(null)).isSameAs(span);
      assertThat(span.setStatus(null)).isSameAs(span);
      assertThat(span.updateName(null)).isSameAs(span);
      assertThat(span.recordException(null)).isSameAs(span);
      span.end();
    }
  }

  // ---- attributes --------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void attributesOfAllTypesAreKept(Maker maker) {
    Traced traced = Traced.by(maker);
    Attributes all =
        Attributes.builder()
            .put("s", "x")
            .put("l", 5)
            .put("d", 1.5)
            .put("b", true)
            .put("ss", "x", "y")
            .put("ls", 1L, 2L)
            .put("ds", 1.5, 2.5)
            .put("bs", true, false)
            .build();
    Span early = traced.root("s").setAllAttributes(all).startSpan();
    Span late = traced.root("s").startSpan().setAllAttributes(all);
    for (Span span : List.of(early, late)) {
      assertThat(Traced.dataOf(span).getAttributes().asMap()).isEqualTo(all.asMap());
      assertThat(Traced.dataOf(span).getTotalAttributeCount()).isEqualTo(8);
      span.end();
      assertThat(traced.last().getAttributes().asMap()).isEqualTo(all.asMap());
    }
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void anAttributeWithoutKeyOrValueIsIgnoredAndNullDeletesNothing(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span =
        traced
            .root("s")
            .setAttribute("a", "x")
            .setAttribute("a", (String) null)
            .setAttribute("", "x")
            .setAttribute((String) null, "x")
            .setAttribute((AttributeKey<String>) null, "x")
            .setAttribute(stringKey(""), "x")
            .setAttribute(Traced.A, null)
            .startSpan();
    span.setAttribute("a", (String) null)
        .setAttribute("", 5)
        .setAttribute((String) null, 5)
        .setAttribute(Traced.A, null);
    assertThat(Traced.dataOf(span).getAttributes().asMap())
        .isEqualTo(Attributes.of(Traced.A, "x").asMap());
    assertThat(Traced.dataOf(span).getTotalAttributeCount()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theSameNameWithAnotherTypeReplacesTheAttribute(Maker maker) {
    if (Newest.isNotThatOf(maker, "the same name with another type replaces the attribute")) {
      return;
    }
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").setAttribute("a", "x").setAttribute("b", 1).startSpan();
    span.setAttribute("a", 5L);
    assertThat(Traced.dataOf(span).getAttributes().asMap())
        .isEqualTo(Attributes.of(longKey("a"), 5L, longKey("b"), 1L).asMap());
    assertThat(((ReadableSpan) span).getAttribute(longKey("a"))).isEqualTo(5);
    assertThat(((ReadableSpan) span).getAttribute(Traced.A)).isNull();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void keysKeepTheirCase(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").setAttribute("a", "x").setAttribute("A", "y").startSpan();
    assertThat(Traced.dataOf(span).getAttributes().asMap())
        .isEqualTo(Attributes.of(Traced.A, "x", stringKey("A"), "y").asMap());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void nullElementsAndEmptyArraysAreKept(Maker maker) {
    Traced traced = Traced.by(maker);
    List<String> holes = Arrays.asList("x", null);
    Span span =
        traced
            .root("s")
            .setAttribute(stringArrayKey("holes"), holes)
            .setAttribute(stringArrayKey("empty"), List.of())
            .startSpan();
    assertThat(((ReadableSpan) span).getAttribute(stringArrayKey("holes"))).isEqualTo(holes);
    assertThat(((ReadableSpan) span).getAttribute(stringArrayKey("empty"))).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void beyondTheLimitNewAttributesAreDroppedAndCountedAndOldOnesStillChange(Maker maker) {
    if (Newest.isNotThatOf(maker, "an attribute that was changed counts once")) {
      return;
    }
    Traced traced = Traced.by(maker, SpanLimits.builder().setMaxNumberOfAttributes(2).build());
    Span span = traced.root("s").setAttribute("a", "x").startSpan();
    span.setAttribute("b", "x").setAttribute("c", "x").setAttribute("a", "y");
    span.end();
    assertThat(traced.last().getAttributes().asMap())
        .isEqualTo(Attributes.of(Traced.A, "y", stringKey("b"), "x").asMap());
    assertThat(traced.last().getTotalAttributeCount())
        .as("what was dropped counts, what was changed counts once")
        .isEqualTo(3);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theDefaultLimitsAre128(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").setAllAttributes(MANY).startSpan();
    for (int i = 0; i < 200; i++) {
      span.addEvent("e" + i, i == 0 ? MANY : Attributes.empty());
      span.addLink(Traced.REMOTE, i == 0 ? MANY : Attributes.empty());
    }
    span.end();
    SpanData data = traced.last();
    assertThat(data.getAttributes().size()).isEqualTo(128);
    assertThat(data.getTotalAttributeCount()).isEqualTo(200);
    assertThat(data.getEvents()).hasSize(128);
    assertThat(data.getTotalRecordedEvents()).isEqualTo(200);
    assertThat(data.getLinks()).hasSize(128);
    assertThat(data.getTotalRecordedLinks()).isEqualTo(200);
    assertThat(data.getEvents().get(0).getAttributes().size()).isEqualTo(128);
    assertThat(data.getEvents().get(0).getDroppedAttributesCount()).isEqualTo(72);
    assertThat(data.getLinks().get(0).getAttributes().size()).isEqualTo(128);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void textsAreCutAtTheLimitInArraysTooAndNumbersAreNot(Maker maker) {
    Traced traced = Traced.by(maker, SpanLimits.builder().setMaxAttributeValueLength(3).build());
    Span span = traced.root("s").setAttribute("a", "12345").setAttribute("b", 12345).startSpan();
    span.setAttribute(stringArrayKey("c"), List.of("12345", "12"));
    span.addEvent("12345", Attributes.of(Traced.A, "12345"));
    span.end();
    assertThat(traced.last().getAttributes().asMap())
        .isEqualTo(
            Attributes.of(
                    Traced.A,
                    "123",
                    longKey("b"),
                    12345L,
                    stringArrayKey("c"),
                    List.of("123", "12"))
                .asMap());
    EventData event = traced.last().getEvents().get(0);
    assertThat(event.getName()).isEqualTo("12345");
    assertThat(event.getAttributes().asMap()).isEqualTo(Attributes.of(Traced.A, "123").asMap());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void limitsAreLoggedAtMostOnceForASpan(Maker maker) {
    List<LogRecord> records = new ArrayList<>();
    Handler handler =
        new Handler() {
          @Override
          public synchronized void publish(LogRecord record) {
            records.add(record);
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    Logger rootLogger = Logger.getLogger("");
    handler.setLevel(Level.INFO);
    rootLogger.addHandler(handler);
    try {
      Span span = Traced.by(maker).root("s").startSpan();
      for (int i = 0; i < 1_000; i++) {
        span.setAttribute("k" + i, i).addEvent("e").addLink(Traced.REMOTE);
      }
      span.end();
    } finally {
      rootLogger.removeHandler(handler);
    }
    assertThat(records).hasSizeLessThanOrEqualTo(1);
  }

  // ---- events, status, name, exceptions ----------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void eventsHaveTheTimeTheyWereGivenOrAddedAtAndKeepTheirOrder(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").startSpan();
    traced.clock.advance(10);
    long now = traced.clock.now();
    span.addEvent("now")
        .addEvent("given", 5, MILLISECONDS)
        .addEvent("negative", -5, NANOSECONDS)
        .addEvent("instant", Instant.ofEpochSecond(1))
        .addEvent("attributes", Attributes.of(Traced.A, "x"), 0, NANOSECONDS);
    assertThat(Traced.dataOf(span).getEvents())
        .extracting(EventData::getName, EventData::getEpochNanos)
        .containsExactly(
            tuple("now", now),
            tuple("given", 5_000_000L),
            tuple("negative", -5L),
            tuple("instant", 1_000_000_000L),
            tuple("attributes", 0L));
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void anEventWithoutNameOrUnitIsIgnored(Maker maker) {
    Span span = Traced.by(maker).root("s").startSpan();
    span.addEvent(null)
        .addEvent("e", 5, null)
        .addEvent(null, Attributes.empty())
        .addEvent("e", Attributes.empty(), 5, null)
        .addEvent("empty attributes", (Attributes) null);
    assertThat(Traced.dataOf(span).getEvents())
        .extracting(EventData::getName)
        .containsExactly("empty attributes");
    assertThat(Traced.dataOf(span).getTotalRecordedEvents()).isEqualTo(1);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void okIsFinalUnsetSetsNothingAndOnlyErrorHasADescription(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").startSpan();
    span.setStatus(StatusCode.ERROR, "why").setStatus(StatusCode.UNSET).setStatus(null);
    assertThat(Traced.dataOf(span).getStatus())
        .isEqualTo(StatusData.create(StatusCode.ERROR, "why"));
    span.setStatus(StatusCode.ERROR, "better");
    assertThat(Traced.dataOf(span).getStatus().getDescription()).isEqualTo("better");
    span.setStatus(StatusCode.OK, "ignored").setStatus(StatusCode.ERROR, "late");
    assertThat(Traced.dataOf(span).getStatus()).isEqualTo(StatusData.ok());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aNewNameReplacesTheOldOneAndNullDoesNot(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("old").startSpan();
    span.updateName("new").updateName(null);
    assertThat(Traced.dataOf(span).getName()).isEqualTo("new");
    assertThat(Traced.dataOf(span.updateName("")).getName()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void anExceptionIsAnEventWithTypeMessageAndStackTrace(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").startSpan();
    Exception exception = new IllegalStateException("no such order", new Exception("cause"));
    span.recordException(
        exception, Attributes.of(Traced.A, "x", stringKey("exception.message"), "mine"));
    span.recordException(new NullPointerException());
    span.recordException(null);
    List<EventData> events = Traced.dataOf(span).getEvents();
    assertThat(events).hasSize(2);
    EventData event = events.get(0);
    assertThat(event.getName()).isEqualTo("exception");
    assertThat(event.getAttributes().get(stringKey("exception.type")))
        .isEqualTo("java.lang.IllegalStateException");
    assertThat(event.getAttributes().get(stringKey("exception.message"))).isEqualTo("mine");
    assertThat(event.getAttributes().get(Traced.A)).isEqualTo("x");
    assertThat(event.getAttributes().get(stringKey("exception.stacktrace")))
        .startsWith("java.lang.IllegalStateException: no such order")
        .contains("at cairn.otel.SpecificationTest")
        .contains("Caused by: java.lang.Exception: cause");
    assertThat(events.get(1).getAttributes().get(stringKey("exception.message"))).isNull();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void anExceptionDoesNotSetTheStatus(Maker maker) {
    Span span = Traced.by(maker).root("s").startSpan();
    span.recordException(new IllegalStateException());
    assertThat(Traced.dataOf(span).getStatus()).isEqualTo(StatusData.unset());
  }

  // ---- time and end ------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theSpansOfALocalRootShareAClockThatNobodySets(Maker maker) {
    Traced traced = Traced.by(maker);
    Span root = traced.root("root").startSpan();
    long begin = Traced.dataOf(root).getStartEpochNanos();
    traced.clock.advance(100);
    traced.clock.jump(-1_000_000_000);
    Span child = traced.child(root, "child").startSpan();
    assertThat(Traced.dataOf(child).getStartEpochNanos()).isEqualTo(begin + 100);
    traced.clock.advance(50);
    child.end();
    root.end();
    assertThat(traced.ended.get(0).getEndEpochNanos()).isEqualTo(begin + 150);
    assertThat(traced.ended.get(1).getEndEpochNanos()).isEqualTo(begin + 150);
    long after = traced.clock.now();
    Span of = traced.tracer.spanBuilder("s").setParent(Traced.remote()).startSpan();
    assertThat(Traced.dataOf(of).getStartEpochNanos()).isEqualTo(after);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theFirstEndWins(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").startSpan();
    span.end(5, SECONDS);
    span.end(6, SECONDS);
    span.end();
    assertThat(traced.ended).hasSize(1);
    assertThat(traced.last().getEndEpochNanos()).isEqualTo(5_000_000_000L);
    assertThat(Traced.dataOf(span).getEndEpochNanos()).isEqualTo(5_000_000_000L);
    assertThat(traced.last().hasEnded()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void anEndTimeOfZeroIsNowAndOneWithoutUnitIsNanos(Maker maker) {
    Traced traced = Traced.by(maker);
    Span zero = traced.root("zero").startSpan();
    traced.clock.advance(9);
    zero.end(0, SECONDS);
    assertThat(traced.last().getEndEpochNanos()).isEqualTo(traced.clock.now());
    traced.root("no unit").startSpan().end(7, null);
    assertThat(traced.last().getEndEpochNanos()).isEqualTo(7);
    Span negative = traced.root("negative").startSpan();
    negative.end(-7, NANOSECONDS);
    assertThat(traced.last().getEndEpochNanos()).isEqualTo(-7);
    assertThat(((ReadableSpan) negative).getLatencyNanos())
        .isEqualTo(-7 - traced.last().getStartEpochNanos());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void theEndTimeIsFixedBeforeProcessorsRun(Maker maker) {
    List<Long> latencies = new ArrayList<>();
    SettableClock[] clock = new SettableClock[1];
    Traced traced =
        Traced.by(
            maker,
            new OnEnd(
                span -> {
                  clock[0].advance(1_000);
                  latencies.add(span.getLatencyNanos());
                  assertThat(span.hasEnded()).isTrue();
                }));
    clock[0] = traced.clock;
    Span span = traced.root("s").startSpan();
    traced.clock.advance(5);
    span.end();
    assertThat(latencies).containsExactly(5L);
    assertThat(traced.last().getEndEpochNanos() - traced.last().getStartEpochNanos()).isEqualTo(5);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void afterItsEndASpanChangesNoMore(Maker maker) {
    Traced traced = Traced.by(maker);
    Span span = traced.root("name").setAttribute("a", "x").startSpan();
    SpanContext context = span.getSpanContext();
    span.end();
    span.setAttribute("a", "late")
        .setAttribute("b", "late")
        .addEvent("late")
        .addLink(Traced.REMOTE)
        .setStatus(StatusCode.ERROR)
        .recordException(new IllegalStateException())
        .updateName("late");
    assertThat(span.isRecording()).isFalse();
    assertThat(span.getSpanContext()).isEqualTo(context);
    SpanData data = Traced.dataOf(span);
    assertThat(data.getName()).isEqualTo("name");
    assertThat(data.getAttributes().asMap()).isEqualTo(Attributes.of(Traced.A, "x").asMap());
    assertThat(data.getTotalAttributeCount()).isEqualTo(1);
    assertThat(data.getEvents()).isEmpty();
    assertThat(data.getTotalRecordedEvents()).isZero();
    assertThat(data.getLinks()).isEmpty();
    assertThat(data.getTotalRecordedLinks()).isZero();
    assertThat(data.getStatus()).isEqualTo(StatusData.unset());
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void endDoesNotWaitForAnExporter(Maker maker) throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch entered = new CountDownLatch(1);
    BatchSpanProcessor batch =
        BatchSpanProcessor.builder(
                new SpanExporter() {
                  @Override
                  public CompletableResultCode export(Collection<SpanData> spans) {
                    entered.countDown();
                    try {
                      release.await();
                    } catch (InterruptedException e) {
                      Thread.currentThread().interrupt();
                    }
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
                })
            .setMaxExportBatchSize(1)
            .build();
    Traced traced = Traced.by(maker, batch);
    traced.root("first").startSpan().end();
    entered.await();
    for (int i = 0; i < 100; i++) {
      traced.root("s").startSpan().end();
    }
    assertThat(traced.ended).as("while the exporter hangs").hasSize(101);
    release.countDown();
    traced.pipeline.shutdown().join(10, SECONDS);
  }

  // ---- processors --------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void onStartGetsTheParentContextAndTheSpanThatTheCallerGets(Maker maker) {
    Traced traced = Traced.by(maker);
    Context parent = Traced.remote().with(ContextKey.named("k"), "v");
    Span span = traced.tracer.spanBuilder("s").setParent(parent).startSpan();
    assertThat(traced.started).containsExactly((ReadWriteSpan) span);
    assertThat(traced.started.get(0)).isSameAs(span);
    assertThat(traced.parents.get(0)).isSameAs(parent);
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void processorsAreCalledInTheirOrderAndWhatOneSetsTheNextSees(Maker maker) {
    List<String> seen = new ArrayList<>();
    Traced traced =
        Traced.by(
            maker,
            new OnStart(span -> span.setAttribute("a", "first")),
            new OnStart(span -> seen.add(span.getAttribute(Traced.A))));
    traced.root("s").startSpan();
    assertThat(seen).containsExactly("first");
  }

  @ParameterizedTest
  @EnumSource(Maker.class)
  void aProcessorThatNeedsNoStartsOrEndsGetsNone(Maker maker) {
    AtomicInteger calls = new AtomicInteger();
    Traced traced =
        Traced.by(
            maker,
            new OnStart(span -> calls.incrementAndGet()),
            new OnEnd(span -> calls.addAndGet(100)));
    traced.root("s").startSpan().end();
    assertThat(calls.get()).isEqualTo(101);
  }

  // ---- threads -----------------------------------------------------------------------------

  @ParameterizedTest
  @EnumSource(Maker.class)
  void allCallsOnOneSpanFromManyThreadsAreCounted(Maker maker) throws Exception {
    if (Newest.isNotThatOf(maker, "an attribute that was changed counts once")) {
      return;
    }
    Traced traced = Traced.by(maker);
    Span span = traced.root("s").startSpan();
    int threads = 4;
    int rounds = 500;
    CyclicBarrier barrier = new CyclicBarrier(threads);
    List<Throwable> failures = new ArrayList<>();
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int number = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  barrier.await();
                  for (int i = 0; i < rounds; i++) {
                    span.setAttribute("k" + number, i);
                    span.addEvent("e");
                    span.addLink(Traced.REMOTE);
                    Traced.dataOf(span).getAttributes();
                  }
                } catch (Exception | Error e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      thread.start();
      all.add(thread);
    }
    for (Thread thread : all) {
      thread.join();
    }
    assertThat(failures).isEmpty();
    span.end();
    SpanData data = traced.last();
    assertThat(data.getTotalAttributeCount()).isEqualTo(threads);
    assertThat(data.getTotalRecordedEvents()).isEqualTo(threads * rounds);
    assertThat(data.getTotalRecordedLinks()).isEqualTo(threads * rounds);
    for (int t = 0; t < threads; t++) {
      assertThat(data.getAttributes().get(longKey("k" + t))).isEqualTo(rounds - 1);
    }
  }

  private static SpanContext parentOf(SpanBuilder builder) {
    return Traced.dataOf(builder.startSpan()).getParentSpanContext();
  }

  private static long startOf(SpanBuilder builder) {
    return Traced.dataOf(builder.startSpan()).getStartEpochNanos();
  }

  private static Attributes many(int count) {
    AttributesBuilder builder = Attributes.builder();
    for (int i = 0; i < count; i++) {
      builder.put("k" + i, i);
    }
    return builder.build();
  }

  /** A sampler that decides as it is told, and keeps what it was asked. */
  private static final class Asked implements Sampler {
    SamplingResult result;
    Context parent;
    String traceId;
    String name;
    SpanKind kind;
    String attributes;
    int links;

    Asked(SamplingResult result) {
      this.result = result;
    }

    @Override
    public SamplingResult shouldSample(
        Context parentContext,
        String trace,
        String spanName,
        SpanKind spanKind,
        Attributes given,
        List<LinkData> parentLinks) {
      parent = parentContext;
      traceId = trace;
      name = spanName;
      kind = spanKind;
      StringBuilder text = new StringBuilder();
      given.forEach(
          (key, value) -> text.append(key.getKey()).append('=').append(value).append(' '));
      attributes = text.toString();
      links = parentLinks.size();
      return result;
    }

    @Override
    public String getDescription() {
      return "Asked";
    }
  }
}
