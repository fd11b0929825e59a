package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What can go wrong where builders are used again: each hazard has a test, with a safe outcome. */
class BuilderReuseTest {
  private static final AttributeKey<String> TAG = AttributeKey.stringKey("tag");

  /** Whose a builder is: no settings. */
  private static final List<String> NOT_RESET = List.of("use", "owner");

  private final Spans.Collecting processor = new Spans.Collecting();
  private final CairnOpenTelemetry otel =
      CairnOpenTelemetry.builder(Spans.disabled()).addSpanProcessor(processor).build();
  private final CairnTracer tracer = otel.getTracer("test");

  // ---- it is used again at all

  @Test
  void buildersOfANameTakeTurnsAndThoseOfAnotherAreOthers() {
    Set<SpanBuilder> builders = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 80; i++) {
      SpanBuilder builder = tracer.spanBuilder("span");
      builder.startSpan().end();
      builders.add(builder);
    }
    SpanBuilder other = tracer.spanBuilder("other");
    other.startSpan().end();

    assertThat(builders).hasSize(8).doesNotContain(other);
    assertThat(builders).doesNotContain(otel.getTracer("other").spanBuilder("span"));
  }

  @Test
  void buildersThatTwoKeepAgainstTheApiAreTwo() {
    SpanBuilder kept = tracer.spanBuilder("poll");
    kept.startSpan().end();
    SpanBuilder other = tracer.spanBuilder("poll");
    other.startSpan().end();
    processor.ended.clear();

    kept.setAttribute("tenant", "A");
    other.setAttribute("tenant", "B");
    kept.setAttribute("queue", "A");
    kept.startSpan().end();
    other.startSpan().end();

    assertThat(other).isNotSameAs(kept);
    assertThat(processor.ended.get(0).toSpanData().getAttributes())
        .isEqualTo(Attributes.builder().put("tenant", "A").put("queue", "A").build());
    assertThat(processor.ended.get(1).toSpanData().getAttributes())
        .isEqualTo(Attributes.builder().put("tenant", "B").build());
  }

  @Test
  void builderUsedAgainHasNothingOfTheSpanBefore() {
    for (int i = 0; i < 16; i++) {
      tracer
          .spanBuilder("span")
          .setSpanKind(SpanKind.SERVER)
          .setParent(Context.root().with(Span.wrap(remote())))
          .addLink(remote())
          .setStartTimestamp(7, TimeUnit.SECONDS)
          .setAttribute(TAG, "full")
          .startSpan()
          .end();
    }
    processor.ended.clear();

    tracer.spanBuilder("span").startSpan().end();

    SpanData bare = processor.only();
    assertThat(bare.getName()).isEqualTo("span");
    assertThat(bare.getKind()).isEqualTo(SpanKind.INTERNAL);
    assertThat(bare.getParentSpanContext().isValid()).isFalse();
    assertThat(bare.getLinks()).isEmpty();
    assertThat(bare.getTotalRecordedLinks()).isZero();
    assertThat(bare.getAttributes().isEmpty()).isTrue();
    assertThat(bare.getTotalAttributeCount()).isZero();
    assertThat(bare.getStartEpochNanos()).isGreaterThan(TimeUnit.DAYS.toNanos(1));
  }

  @Test
  void everyFieldOfABuilderUsedAgainIsThatOfANewOne() throws IllegalAccessException {
    CairnSpanBuilder used = new CairnSpanBuilder();
    CairnSpanBuilder fresh = new CairnSpanBuilder();
    RecordingTracer recording = (RecordingTracer) tracer;
    Limits limits = Limits.of(SpanLimits.getDefault());
    fresh.join();
    fresh.begin(recording, "new", limits);
    used.join();
    List<String> filled = new ArrayList<>();
    for (Field field : instanceFields()) {
      if (!NOT_RESET.contains(field.getName())) {
        Object filler = filler(field);
        assertThat(filler).as(field.getName()).isNotEqualTo(field.get(fresh));
        field.set(used, filler);
        filled.add(field.getName());
      }
    }

    used.begin(recording, "new", limits);

    assertThat(filled).contains("parent", "store", "links", "kind");
    for (Field field : instanceFields()) {
      assertThat(field.get(used)).as(field.getName()).isEqualTo(field.get(fresh));
    }
  }

  private static List<Field> instanceFields() {
    return Arrays.stream(CairnSpanBuilder.class.getDeclaredFields())
        .filter(field -> !Modifier.isStatic(field.getModifiers()))
        .peek(field -> field.setAccessible(true))
        .toList();
  }

  /** A value that no new builder has; a field of a type that is not here yet fails the test. */
  private Object filler(Field field) {
    Class<?> type = field.getType();
    if (type == int.class) {
      return 77;
    } else if (type == long.class) {
      return 77L;
    } else if (type == boolean.class) {
      return true;
    } else if (type == String.class) {
      return "old";
    } else if (type == SpanKind.class) {
      return SpanKind.CONSUMER;
    } else if (type == Context.class) {
      return Context.root();
    } else if (type == AttributeStore.class) {
      return new AttributeStore();
    } else if (type == List.class) {
      return new ArrayList<>();
    } else if (type == Limits.class) {
      return new Limits(1, 2, 3, 4, 5, 6);
    } else if (type == RecordingTracer.class) {
      return otel.getTracer("other");
    }
    if (type.getSimpleName().equals("Foreign")) {
      return newInstance(type);
    }
    throw new AssertionError("no value for a field of a builder: " + field);
  }

  private static Object newInstance(Class<?> type) {
    try {
      java.lang.reflect.Constructor<?> constructor = type.getDeclaredConstructor();
      constructor.setAccessible(true);
      return constructor.newInstance();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  // ---- a reference that is kept

  @Test
  void settersOfASpentBuilderReachNoOtherSpan() {
    SpanBuilder kept = tracer.spanBuilder("kept");
    kept.startSpan().end();
    kept.setAttribute(TAG, "stale").setSpanKind(SpanKind.CLIENT).addLink(remote());
    for (int i = 0; i < 20; i++) {
      tracer.spanBuilder("kept").startSpan().end();
    }

    assertThat(processor.data())
        .hasSize(21)
        .allSatisfy(
            span -> {
              assertThat(span.getAttributes().get(TAG)).isNull();
              assertThat(span.getKind()).isEqualTo(SpanKind.INTERNAL);
              assertThat(span.getLinks()).isEmpty();
            });
  }

  @Test
  void builderThatWasTouchedAfterItsStartIsNeverUsedForAnother() {
    SpanBuilder kept = tracer.spanBuilder("kept");
    kept.startSpan().end();
    kept.setAttribute(TAG, "stale");

    for (int i = 0; i < 32; i++) {
      SpanBuilder other = tracer.spanBuilder("kept");
      assertThat(other).isNotSameAs(kept);
      kept.setAttribute(TAG, "in between");
      other.startSpan().end();
    }

    assertThat(otel.tracing().staleBuilders.sum()).isEqualTo(1);
    assertThat(processor.data())
        .allSatisfy(span -> assertThat(span.getAttributes().isEmpty()).isTrue());
  }

  @Test
  void builderStartedTwiceStartsTwoSpansTheSecondWithNameAndKindAndWhatWasSetSince() {
    SpanBuilder builder =
        tracer
            .spanBuilder("twice")
            .setParent(Context.root().with(Span.wrap(remote())))
            .setSpanKind(SpanKind.CLIENT)
            .setStartTimestamp(7, TimeUnit.SECONDS)
            .addLink(remote())
            .setAttribute(TAG, "first");
    builder.startSpan().end();
    for (int i = 0; i < 50; i++) {
      tracer.spanBuilder("other").startSpan();
    }
    builder.setAttribute("since", true).startSpan().end();

    SpanData first = processor.data().get(0);
    SpanData second = processor.data().get(1);
    assertThat(first.getAttributes().get(TAG)).isEqualTo("first");
    assertThat(first.getParentSpanContext()).isEqualTo(remote());
    assertThat(first.getStartEpochNanos()).isEqualTo(7_000_000_000L);
    assertThat(first.getLinks()).hasSize(1);
    assertThat(second.getName()).isEqualTo("twice");
    assertThat(second.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(second.getSpanId()).isNotEqualTo(first.getSpanId());
    assertThat(second.getParentSpanContext().isValid()).isFalse();
    assertThat(second.getStartEpochNanos()).isGreaterThan(TimeUnit.DAYS.toNanos(1));
    assertThat(second.getAttributes().size()).isEqualTo(1);
    assertThat(second.getTotalRecordedLinks()).isZero();
  }

  @Test
  void builderStartedAgainAfterOthersUsedItStartsASpanOfItsNameAndNothingElseOfTheirs() {
    SpanBuilder kept = tracer.spanBuilder("kept");
    kept.startSpan();
    for (int i = 0; i < 3; i++) {
      tracer
          .spanBuilder("kept")
          .setParent(Context.root().with(Span.wrap(remote())))
          .setStartTimestamp(7, TimeUnit.SECONDS)
          .addLink(remote())
          .setAttribute(TAG, "theirs")
          .startSpan();
    }
    kept.startSpan().end();

    SpanData span = processor.only();
    assertThat(span.getName()).isEqualTo("kept");
    assertThat(span.getParentSpanContext().isValid()).isFalse();
    assertThat(span.getStartEpochNanos()).isGreaterThan(TimeUnit.DAYS.toNanos(1));
    assertThat(span.getTotalRecordedLinks()).isZero();
    assertThat(span.getAttributes().isEmpty()).isTrue();
  }

  @Test
  void builderInAFieldStartsARecordingSpanEachTime() {
    SpanBuilder field = tracer.spanBuilder("field");
    for (int i = 0; i < 100; i++) {
      field.startSpan().end();
      tracer.spanBuilder("other").setAttribute(TAG, "other").startSpan();
    }

    assertThat(processor.data())
        .hasSize(100)
        .allSatisfy(span -> assertThat(span.getName()).isEqualTo("field"));
  }

  @Test
  void startOfASpentBuilderDoesNotEndTheUseOfTheLiveOne() {
    SpanBuilder stale = tracer.spanBuilder("span");
    stale.startSpan().end();
    stale.setSpanKind(SpanKind.CLIENT);
    SpanBuilder live = tracer.spanBuilder("span").setAttribute(TAG, "live");

    stale.startSpan().end();
    SpanBuilder next = tracer.spanBuilder("span").setAttribute(TAG, "next");
    live.startSpan().end();
    next.startSpan().end();

    assertThat(processor.data())
        .extracting(span -> span.getKind() + "/" + span.getAttributes().get(TAG))
        .containsExactly("INTERNAL/null", "CLIENT/null", "INTERNAL/live", "INTERNAL/next");
  }

  // ---- several at once

  @Test
  void nestedBuildersStartTheirOwnSpansInEitherOrder() {
    List<SpanBuilder> nested = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      nested.add(tracer.spanBuilder("span").setAttribute(TAG, "tag " + i));
    }
    assertThat(nested).doesNotHaveDuplicates();
    for (int i = 19; i >= 0; i--) {
      nested.get(i).startSpan().end();
    }

    assertThat(processor.data()).hasSize(20);
    for (int i = 0; i < 20; i++) {
      SpanData span = processor.data().get(19 - i);
      assertThat(span.getAttributes().get(TAG)).isEqualTo("tag " + i);
    }
  }

  @Test
  void builderThatIsNeverStartedIsReplacedAndItsReplacementUsedAgain() {
    List<SpanBuilder> abandoned = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      abandoned.add(tracer.spanBuilder("span").setAttribute(TAG, "abandoned"));
    }
    List<SpanBuilder> replacements = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      SpanBuilder builder = tracer.spanBuilder("span");
      replacements.add(builder);
      builder.startSpan().end();
    }

    assertThat(abandoned).doesNotHaveDuplicates().doesNotContainAnyElementsOf(replacements);
    assertThat(replacements.get(8)).isSameAs(replacements.get(0));
    assertThat(processor.data())
        .allSatisfy(span -> assertThat(span.getAttributes().isEmpty()).isTrue());
    abandoned.get(3).startSpan().end();
    assertThat(processor.data().get(16).getAttributes().get(TAG)).isEqualTo("abandoned");
  }

  @Test
  @Timeout(20)
  void builderHandedToAnotherThreadIsThatThreadsForGood() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      SpanBuilder handed = tracer.spanBuilder("handed").setAttribute(TAG, "mine");
      other.submit(() -> handed.startSpan().end()).get();
      for (int i = 0; i < 32; i++) {
        SpanBuilder own = tracer.spanBuilder("handed");
        assertThat(own).isNotSameAs(handed);
        other.submit(() -> handed.setAttribute(TAG, "theirs")).get();
        own.startSpan().end();
      }
    } finally {
      other.shutdown();
    }

    assertThat(processor.data().get(0).getAttributes().get(TAG)).isEqualTo("mine");
    assertThat(processor.data().subList(1, 33))
        .allSatisfy(span -> assertThat(span.getAttributes().isEmpty()).isTrue());
  }

  @Test
  @Timeout(60)
  void twoThreadsOnOneBuilderHarmNoOtherSpanAndGetNoException() throws Exception {
    int rounds = 3_000;
    AtomicReference<SpanBuilder> shared = new AtomicReference<>();
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread other =
        new Thread(
            () -> {
              SpanBuilder last = null;
              for (int round = 0; round < rounds; round++) {
                SpanBuilder builder = shared.get();
                while (builder == last) {
                  Thread.yield();
                  builder = shared.get();
                }
                last = builder;
                try {
                  for (int i = 0; i < 60; i++) {
                    builder.setAttribute("their " + i, "theirs").setAttribute("number " + i, i);
                    builder.addLink(remote());
                  }
                } catch (RuntimeException e) {
                  thrown.set(e);
                }
              }
            });
    other.start();
    for (int round = 0; round < rounds; round++) {
      SpanBuilder builder = tracer.spanBuilder("shared " + round % 2);
      shared.set(builder);
      for (int i = 0; i < 40; i++) {
        builder.setAttribute("own " + i, "shared");
      }
      builder.startSpan().end();
      tracer.spanBuilder("innocent").setAttribute(TAG, "innocent").startSpan().end();
    }
    shared.set(tracer.spanBuilder("end"));
    while (other.isAlive()) {
      shared.set(tracer.spanBuilder("end"));
      Thread.yield();
    }

    assertThat(thrown.get()).isNull();
    assertThat(processor.data())
        .hasSize(2 * rounds)
        .allSatisfy(
            span -> {
              if (span.getName().equals("innocent")) {
                assertThat(span.getAttributes().size()).isEqualTo(1);
                assertThat(span.getLinks()).isEmpty();
              }
            });
    assertThat(otel.tracing().faults.count()).isZero();
  }

  @Test
  @Timeout(20)
  void builderConfiguredByTwoThreadsInTurnHasTheSettingsOfBoth() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      SpanBuilder handed = tracer.spanBuilder("handed").setAttribute(TAG, "mine").addLink(remote());
      other
          .submit(
              () ->
                  handed
                      .setAttribute("text", "theirs")
                      .setAttribute("long", 1)
                      .setAttribute("double", 0.5)
                      .setAttribute("boolean", true)
                      .setAttribute(AttributeKey.longKey("int"), 2)
                      .addLink(remote()))
          .get();
      handed.setAttribute("text", "mine").setAttribute("last", 7L).startSpan().end();
    } finally {
      other.shutdown();
    }

    assertThat(processor.only().getAttributes().asMap().keySet())
        .extracting(AttributeKey::getKey)
        .containsExactly("tag", "text", "long", "double", "boolean", "int", "last");
    assertThat(processor.only().getAttributes().get(AttributeKey.stringKey("text")))
        .isEqualTo("mine");
    assertThat(processor.only().getTotalAttributeCount()).isEqualTo(7);
    assertThat(processor.only().getLinks()).hasSize(2);
    assertThat(processor.only().getTotalRecordedLinks()).isEqualTo(2);
  }

  @Test
  @Timeout(20)
  void spentBuilderTouchedByAnotherThreadIsNotUsedAgain() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      SpanBuilder kept = tracer.spanBuilder("kept");
      kept.startSpan().end();
      other.submit(() -> kept.startSpan().end()).get();
      for (int i = 0; i < 16; i++) {
        SpanBuilder own = tracer.spanBuilder("kept");
        assertThat(own).isNotSameAs(kept);
        own.startSpan();
      }
    } finally {
      other.shutdown();
    }
    assertThat(processor.data()).extracting(SpanData::getName).containsExactly("kept", "kept");
  }

  // ---- exceptions and code of others

  @Test
  void exceptionBetweenRequestAndStartCostsThatBuilderAndNothingElse() {
    for (int i = 0; i < 30; i++) {
      SpanBuilder lost = tracer.spanBuilder("span").setAttribute(TAG, "lost");
      try {
        throw new IllegalStateException("between " + lost);
      } catch (IllegalStateException e) {
        tracer.spanBuilder("span").startSpan().end();
      }
    }

    assertThat(processor.data())
        .hasSize(30)
        .allSatisfy(span -> assertThat(span.getAttributes().isEmpty()).isTrue());
  }

  @Test
  void samplerThatThrowsLeavesTheSpanUnsampledAndTheBuilderUsable() {
    Sampler throwing =
        new Sampler() {
          @Override
          public SamplingResult shouldSample(
              Context parent,
              String traceId,
              String name,
              SpanKind kind,
              io.opentelemetry.api.common.Attributes attributes,
              List<io.opentelemetry.sdk.trace.data.LinkData> links) {
            if (name.equals("bad")) {
              throw new IllegalStateException("sampler");
            }
            return SamplingResult.recordAndSample();
          }

          @Override
          public String getDescription() {
            return "throwing";
          }
        };
    CairnOpenTelemetry sampled =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(processor)
            .sampler(throwing)
            .build();
    for (int i = 0; i < 20; i++) {
      Span bad = sampled.getTracer("t").spanBuilder("bad").setAttribute(TAG, "bad").startSpan();
      assertThat(bad.isRecording()).isFalse();
      assertThat(bad.getSpanContext().isValid()).isTrue();
      sampled.getTracer("t").spanBuilder("good").startSpan().end();
    }

    assertThat(sampled.tracing().faults.count()).isEqualTo(20);
    assertThat(processor.data())
        .hasSize(20)
        .allSatisfy(span -> assertThat(span.getAttributes().isEmpty()).isTrue());
  }

  @Test
  void valueWhoseCodeStartsSpansGetsOtherBuilders() {
    List<String> startsSpans =
        new AbstractList<>() {
          @Override
          public String get(int index) {
            tracer.spanBuilder("inner").setAttribute(TAG, "inner").startSpan().end();
            return "element";
          }

          @Override
          public int size() {
            return 12;
          }
        };

    tracer
        .spanBuilder("outer")
        .setAttribute(AttributeKey.stringArrayKey("list"), startsSpans)
        .setAttribute(TAG, "outer")
        .startSpan()
        .end();

    SpanData outer = processor.data().get(processor.data().size() - 1);
    assertThat(outer.getName()).isEqualTo("outer");
    assertThat(outer.getAttributes().get(TAG)).isEqualTo("outer");
    assertThat(outer.getAttributes().get(AttributeKey.stringArrayKey("list"))).hasSize(12);
    assertThat(processor.data().subList(0, 12))
        .allSatisfy(
            inner -> {
              assertThat(inner.getName()).isEqualTo("inner");
              assertThat(inner.getAttributes().size()).isEqualTo(1);
            });
  }

  @Test
  void valueWhoseCodeStartsThisVeryBuilderIsSetOnWhatItStartsNext() {
    SpanBuilder builder = tracer.spanBuilder("builder").setAttribute(TAG, "before");
    List<String> startsIt =
        new AbstractList<>() {
          @Override
          public String get(int index) {
            builder.startSpan().end();
            return "element";
          }

          @Override
          public int size() {
            return 1;
          }
        };
    builder.setAttribute(AttributeKey.stringArrayKey("list"), startsIt);
    tracer.spanBuilder("other").startSpan().end();

    assertThat(processor.data()).extracting(SpanData::getName).containsExactly("builder", "other");
    assertThat(processor.data().get(0).getAttributes().size()).isEqualTo(1);
    assertThat(processor.data().get(1).getAttributes().isEmpty()).isTrue();
  }

  @Test
  void processorThatStartsSpansInOnStartGetsOtherBuilders() {
    CairnOpenTelemetry[] self = new CairnOpenTelemetry[1];
    Spans.Collecting nesting = new Spans.Collecting();
    self[0] =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(
                new io.opentelemetry.sdk.trace.SpanProcessor() {
                  @Override
                  public void onStart(
                      Context parent, io.opentelemetry.sdk.trace.ReadWriteSpan span) {
                    if (span.getName().equals("outer")) {
                      self[0].getTracer("t").spanBuilder("inner").startSpan().end();
                    }
                  }

                  @Override
                  public boolean isStartRequired() {
                    return true;
                  }

                  @Override
                  public void onEnd(io.opentelemetry.sdk.trace.ReadableSpan span) {}

                  @Override
                  public boolean isEndRequired() {
                    return false;
                  }
                })
            .addSpanProcessor(nesting)
            .build();

    for (int i = 0; i < 10; i++) {
      self[0].getTracer("t").spanBuilder("outer").setAttribute(TAG, "outer").startSpan().end();
    }

    assertThat(nesting.data())
        .hasSize(20)
        .allSatisfy(
            span ->
                assertThat(span.getAttributes().get(TAG))
                    .isEqualTo(span.getName().equals("outer") ? "outer" : null));
  }

  // ---- size and retention

  @Test
  void oneHugeSpanLeavesNoHugeStoreBehind() {
    CairnOpenTelemetry unlimited =
        CairnOpenTelemetry.builder(Spans.disabled())
            .addSpanProcessor(processor)
            .spanLimits(SpanLimits.builder().setMaxNumberOfAttributes(1_000_000).build())
            .build();
    SpanBuilder builder = unlimited.getTracer("t").spanBuilder("huge");
    for (int i = 0; i < 100_000; i++) {
      builder.setAttribute("key " + i, i);
    }
    builder.startSpan().end();
    assertThat(processor.only().getAttributes().size()).isEqualTo(100_000);
    assertThat(unlimited.tracing().stores.count()).isZero();

    unlimited.getTracer("t").spanBuilder("tiny").setAttribute(TAG, "tiny").startSpan().end();

    assertThat(unlimited.tracing().stores.count()).isEqualTo(1);
  }

  @Test
  @Timeout(30)
  void spentBuilderKeepsNeitherParentNorAttributesAliveEvenIfItIsKept() {
    ContextKey<Object> key = ContextKey.named("big");
    List<SpanBuilder> kept = new ArrayList<>();
    WeakReference<Object> inParent = new WeakReference<>(startWith(key, kept));

    awaitCollected(() -> inParent.get() == null);
    assertThat(kept).hasSize(1);
  }

  private Object startWith(ContextKey<Object> key, List<SpanBuilder> kept) {
    Object big = new Object();
    SpanBuilder builder =
        tracer
            .spanBuilder("span")
            .setParent(Context.root().with(key, big))
            .setAttribute(AttributeKey.stringArrayKey("list"), new ArrayList<>(List.of("a")));
    builder.startSpan().end();
    kept.add(builder);
    processor.parents.clear();
    return big;
  }

  @Test
  @Timeout(30)
  void storeInThePoolHoldsNoKeyAndNoValue() {
    StorePool pool = new StorePool();
    AttributeStore store = pool.acquire();
    WeakReference<Object> value = new WeakReference<>(putNew(store));
    pool.release(store);

    awaitCollected(() -> value.get() == null);
    assertThat(pool.count()).isEqualTo(1);
  }

  private static Object putNew(AttributeStore store) {
    String value = new String("a value of its own");
    boolean unused = store.put(128, TAG, "tag", value);
    return value;
  }

  @Test
  @Timeout(30)
  void childKeepsNoReferenceToItsParent() {
    WeakReference<Span> parent = new WeakReference<>(tracer.spanBuilder("parent").startSpan());
    Span child = startChildOf(parent);
    processor.started.clear();
    processor.parents.clear();

    awaitCollected(() -> parent.get() == null);
    assertThat(((CairnSpan) child).getParentSpanContext().isValid()).isTrue();
  }

  private Span startChildOf(WeakReference<Span> parent) {
    return tracer.spanBuilder("child").setParent(Context.root().with(parent.get())).startSpan();
  }

  @Test
  @Timeout(30)
  void closedOpenTelemetryIsCollectableWhileItsThreadsLive() {
    WeakReference<CairnOpenTelemetry> closed = new WeakReference<>(useAndClose());

    awaitCollected(() -> closed.get() == null);
  }

  private static CairnOpenTelemetry useAndClose() {
    CairnOpenTelemetry used =
        CairnOpenTelemetry.builder(Recorder.global())
            .addSpanProcessor(new Spans.Collecting())
            .build();
    for (int i = 0; i < 20; i++) {
      used.getTracer("t").spanBuilder("span").setAttribute(TAG, "value").startSpan().end();
    }
    used.close();
    return used;
  }

  @Test
  @Timeout(60)
  void classLoaderOfARedeployedApplicationIsCollectableWhileThreadsOfTheContainerLive()
      throws Exception {
    ExecutorService container = Executors.newSingleThreadExecutor();
    try {
      WeakReference<ClassLoader> loader = new WeakReference<>(deployAndUndeploy(container));

      awaitCollected(() -> loader.get() == null);
    } finally {
      container.shutdown();
    }
  }

  private static ClassLoader deployAndUndeploy(ExecutorService container) throws Exception {
    List<URL> urls = new ArrayList<>();
    for (Path entry : ChildProcess.leanClassPath()) {
      urls.add(entry.toUri().toURL());
    }
    URLClassLoader loader =
        new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getPlatformClassLoader());
    Class<?> application = loader.loadClass(Application.class.getName());
    container
        .submit(
            () -> {
              Thread.currentThread().setContextClassLoader(loader);
              try {
                return application.getMethod("run").invoke(null);
              } finally {
                Thread.currentThread().setContextClassLoader(null);
              }
            })
        .get();
    loader.close();
    return loader;
  }

  /** Runs in a class loader of its own, on a thread that outlives it. */
  public static final class Application {
    public static void run() {
      CairnOpenTelemetry used =
          CairnOpenTelemetry.builder(Recorder.global())
              .addSpanProcessor(new Spans.Collecting())
              .build();
      for (int i = 0; i < 20; i++) {
        used.getTracer("t").spanBuilder("span").setAttribute(TAG, "value").startSpan().end();
      }
      used.close();
    }
  }

  /** Asks for collections until it holds; the test's timeout ends a vain wait. */
  private static void awaitCollected(BooleanSupplier holds) {
    while (!holds.getAsBoolean()) {
      if (Thread.interrupted()) {
        throw new AssertionError("not collected");
      }
      System.gc();
      Thread.yield();
    }
  }

  // ---- virtual threads, and reuse switched off

  @Test
  @Timeout(60)
  void virtualThreadsGetABuilderEach() throws IOException {
    Path jdk = Path.of("/usr/lib/jvm/temurin-25-jdk-amd64/bin/java");
    boolean own = Runtime.version().feature() >= 21;
    if (!own && !jdk.toFile().canExecute()) {
      System.out.println("no JDK with virtual threads here: builders on them were not looked at");
      return;
    }

    String output = ChildProcess.java(own ? ChildProcess.JAVA : jdk, List.of(), OnVirtual.class);

    assertThat(output).contains("virtual=true").contains("same=false").contains("recorded=9");
  }

  /** Asks for nine builders on a virtual thread. */
  public static final class OnVirtual {
    public static void main(String[] args) throws Exception {
      Spans.Collecting ended = new Spans.Collecting();
      CairnOpenTelemetry otel =
          CairnOpenTelemetry.builder(Spans.disabled()).addSpanProcessor(ended).build();
      CountDownLatch done = new CountDownLatch(1);
      Runnable work =
          () -> {
            List<SpanBuilder> builders = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
              builders.add(otel.getTracer("t").spanBuilder("span"));
              builders.get(i).startSpan().end();
            }
            System.out.println("virtual=" + VirtualThreads.isVirtual(Thread.currentThread()));
            System.out.println("same=" + (builders.get(8) == builders.get(0)));
            System.out.println("recorded=" + ended.ended.size());
            done.countDown();
          };
      // Thread.startVirtualThread is newer than what this is compiled for.
      Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
      done.await();
    }
  }

  @Test
  @Timeout(60)
  void builderIsNewEachTimeWhereReuseIsSwitchedOff() throws IOException {
    String output =
        ChildProcess.java(
            ChildProcess.JAVA, List.of("-Dcairn.otel.builderReuse=false"), SwitchedOff.class);

    assertThat(output).contains("distinct=9");
  }

  /** Asks for nine builders. */
  public static final class SwitchedOff {
    public static void main(String[] args) {
      CairnOpenTelemetry otel =
          CairnOpenTelemetry.builder(Spans.disabled())
              .addSpanProcessor(new Spans.Collecting())
              .build();
      List<SpanBuilder> builders = new ArrayList<>();
      for (int i = 0; i < 9; i++) {
        builders.add(otel.getTracer("t").spanBuilder("span"));
        builders.get(i).startSpan().end();
      }
      System.out.println("distinct=" + builders.stream().distinct().count());
    }
  }

  @Test
  @Timeout(60)
  void twoThreadsThatLoadTheClassesAtOnceBothGetTheirSpans() throws IOException {
    for (int i = 0; i < 5; i++) {
      String output = ChildProcess.java(ChildProcess.JAVA, List.of(), FirstUse.class);
      assertThat(output).contains("ended=2");
    }
  }

  /** Two threads meet in front of the first use of all classes. */
  public static final class FirstUse {
    public static void main(String[] args) throws Exception {
      Spans.Collecting ended = new Spans.Collecting();
      CountDownLatch ready = new CountDownLatch(2);
      Recorder recorder = Spans.disabled();
      List<Thread> threads = new ArrayList<>();
      for (int i = 0; i < 2; i++) {
        Thread thread =
            new Thread(
                () -> {
                  ready.countDown();
                  while (ready.getCount() != 0) {
                    Thread.onSpinWait();
                  }
                  CairnOpenTelemetry.builder(recorder)
                      .addSpanProcessor(ended)
                      .build()
                      .getTracer("t")
                      .spanBuilder("span")
                      .setAttribute("key", "value")
                      .startSpan()
                      .end();
                });
        threads.add(thread);
        thread.start();
      }
      for (Thread thread : threads) {
        thread.join();
      }
      System.out.println("ended=" + ended.ended.size());
    }
  }

  // ---- the other kind

  @Test
  void reusableBuilderStartsAnyNumberOfSpansWithAllSettings() {
    SpanBuilder many =
        tracer
            .reusableSpanBuilder("many")
            .setSpanKind(SpanKind.PRODUCER)
            .addLink(remote())
            .setAttribute(TAG, "kept")
            .setAttribute("number", 7);
    for (int i = 0; i < 20; i++) {
      many.startSpan().setAttribute("of its own", i).end();
      tracer.spanBuilder("other").startSpan();
    }

    assertThat(processor.data())
        .hasSize(20)
        .allSatisfy(
            span -> {
              assertThat(span.getName()).isEqualTo("many");
              assertThat(span.getKind()).isEqualTo(SpanKind.PRODUCER);
              assertThat(span.getAttributes().size()).isEqualTo(3);
              assertThat(span.getAttributes().get(TAG)).isEqualTo("kept");
              assertThat(span.getLinks()).hasSize(1);
              assertThat(span.getTotalRecordedLinks()).isEqualTo(1);
            });
    assertThat(processor.data()).extracting(SpanData::getSpanId).doesNotHaveDuplicates();
  }

  @Test
  @Timeout(30)
  void reusableBuilderStartsSpansOnSeveralThreadsAtOnce() throws Exception {
    SpanBuilder many = tracer.reusableSpanBuilder("many").setAttribute(TAG, "kept");
    ExecutorService pool = Executors.newFixedThreadPool(4);
    try {
      List<java.util.concurrent.Future<?>> done = new ArrayList<>();
      for (int t = 0; t < 4; t++) {
        done.add(
            pool.submit(
                () -> {
                  for (int i = 0; i < 500; i++) {
                    many.startSpan().setAttribute("thread", Thread.currentThread().getName()).end();
                  }
                }));
      }
      for (java.util.concurrent.Future<?> each : done) {
        each.get();
      }
    } finally {
      pool.shutdown();
    }

    assertThat(processor.data())
        .hasSize(2000)
        .allSatisfy(
            span -> {
              assertThat(span.getAttributes().size()).isEqualTo(2);
              assertThat(span.getAttributes().get(TAG)).isEqualTo("kept");
            });
  }

  // ---- values as of the call

  @Test
  void listThatIsChangedAfterTheCallShowsAsItWas() {
    List<String> list = new ArrayList<>(List.of("a", "b"));
    AttributeKey<List<String>> key = AttributeKey.stringArrayKey("list");
    Span span = tracer.spanBuilder("span").setAttribute(key, list).startSpan();
    list.set(0, "changed");
    span.setAttribute(AttributeKey.stringArrayKey("second"), list);
    list.clear();
    span.end();

    assertThat(processor.only().getAttributes().get(key)).containsExactly("a", "b");
    assertThat(processor.only().getAttributes().get(AttributeKey.stringArrayKey("second")))
        .containsExactly("changed", "b");
  }

  private static SpanContext remote() {
    return SpanContext.createFromRemoteParent(
        "0123456789abcdef0123456789abcdef",
        "0123456789abcdef",
        TraceFlags.getSampled(),
        TraceState.getDefault());
  }
}
