package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.Durability;
import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CairnSpanProcessorTest {
  private static final int MAX_COLLECTIONS = 200;

  @TempDir Path root;

  private BoxUnderTest box;
  private CairnSpanProcessor processor;
  private SdkTracerProvider provider;
  private Tracer tracer;

  @BeforeEach
  void open() {
    box = new BoxUnderTest(root);
    use(byHand());
  }

  @AfterEach
  void close() {
    provider.close();
    box.close();
  }

  /** A processor whose refresher is the test. */
  private CairnSpanProcessor.Builder byHand() {
    return CairnSpanProcessor.builder(box.recorder).refresh(Duration.ZERO);
  }

  private void use(CairnSpanProcessor.Builder builder) {
    use(builder, Sampler.alwaysOn());
  }

  private void use(CairnSpanProcessor.Builder builder, Sampler sampler) {
    if (provider != null) {
      provider.close();
    }
    processor = builder.build();
    provider = SdkTracerProvider.builder().setSampler(sampler).addSpanProcessor(processor).build();
    tracer = provider.get("test");
  }

  /** A span is young at its first look, and looked at again at the second. */
  private void lookTwice() {
    processor.refresh();
    processor.refresh();
  }

  @Test
  void startedSpanIsInTheBoxWithWhatIsKnownOfIt() {
    Span span =
        tracer
            .spanBuilder("GET")
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("http.request.method", "GET")
            .setAttribute("url.path", "/orders/17")
            .startSpan();

    UnfinishedSpan open = box.only();
    assertThat(open.name()).isEqualTo("GET");
    assertThat(open.traceId()).isEqualTo(span.getSpanContext().getTraceId());
    assertThat(open.spanId()).isEqualTo(span.getSpanContext().getSpanId());
    assertThat(open.parentSpanId()).isNull();
    assertThat(open.kind()).isEqualTo("SERVER");
    assertThat(open.traceFlags()).isEqualTo(span.getSpanContext().getTraceFlags().asByte());
    assertThat(open.thread()).isEqualTo(Thread.currentThread().getName());
    assertThat(open.attributes())
        .containsEntry("http.request.method", "GET")
        .containsEntry("url.path", "/orders/17")
        .hasSize(2);
    span.end();
  }

  @Test
  void spanOfEachKindKeepsItsKind() {
    for (SpanKind kind : SpanKind.values()) {
      Span span = tracer.spanBuilder("work").setSpanKind(kind).startSpan();

      assertThat(box.only().kind()).isEqualTo(kind.name());
      span.end();
    }
  }

  @Test
  void endedSpanIsNotInTheBox() {
    Span first = tracer.spanBuilder("first").startSpan();
    Span second = tracer.spanBuilder("second").startSpan();

    first.end();
    first.end();

    assertThat(box.only().name()).isEqualTo("second");
    second.end();
    assertThat(box.open()).isEmpty();
  }

  @Test
  void childHasTheParentAndTraceOfItsContext() {
    SpanContext remote =
        SpanContext.createFromRemoteParent(
            "0af7651916cd43dd8448eb211c80319c",
            "ffffffffffffffff",
            TraceFlags.getSampled(),
            TraceState.getDefault());

    Span span =
        tracer.spanBuilder("child").setParent(Context.root().with(Span.wrap(remote))).startSpan();

    assertThat(box.only().traceId()).isEqualTo("0af7651916cd43dd8448eb211c80319c");
    assertThat(box.only().parentSpanId()).isEqualTo("ffffffffffffffff");
    span.end();
  }

  @Test
  void startTimeThatWasGivenIsFoundAtTheSecondLook() {
    Instant before = Instant.now();
    Instant start = before.minusSeconds(3600);
    Span span = tracer.spanBuilder("receive").setStartTimestamp(start).startSpan();
    Span usual = tracer.spanBuilder("usual").startSpan();

    processor.refresh();
    assertThat(box.open().get(0).startedAt()).as("a young span").isAfter(before.minusMillis(500));
    processor.refresh();

    assertThat(box.open().get(0).startedAt())
        .isBetween(start.minusMillis(500), start.plusMillis(500));
    assertThat(box.open().get(1).startedAt()).isAfter(before.minusMillis(500));
    usual.end();
    span.end();
    assertThat(box.open()).isEmpty();
  }

  @Test
  void slotThatIsTakenAgainHasNothingOfTheSpanBefore() {
    Span server = tracer.spanBuilder("GET").setSpanKind(SpanKind.SERVER).startSpan();
    server.setAttribute("http.request.method", "GET");
    processor.refresh();
    processor.refresh();
    server.end();

    Span client = tracer.spanBuilder("call").setSpanKind(SpanKind.CLIENT).startSpan();
    client.setAttribute("http.request.method", "GET");
    processor.refresh();
    processor.refresh();

    assertThat(box.only().attributes()).containsEntry("http.request.method", "GET");
    client.end();
  }

  @Test
  void nameAndAttributesThatAreSetLateAreFoundAtTheSecondLook() {
    Span span = tracer.spanBuilder("GET").setSpanKind(SpanKind.SERVER).startSpan();
    span.updateName("GET /orders/{id}");
    span.setAttribute("http.route", "/orders/{id}");
    span.setAttribute("http.response.status_code", 503);

    processor.refresh();
    assertThat(box.only().name()).as("a span that is young").isEqualTo("GET");
    processor.refresh();

    assertThat(box.only().name()).isEqualTo("GET /orders/{id}");
    assertThat(box.only().attributes())
        .containsEntry("http.route", "/orders/{id}")
        .containsEntry("http.response.status_code", 503L);
    span.updateName("GET /orders/{number}");
    processor.refresh();
    assertThat(box.only().name()).isEqualTo("GET /orders/{number}");
    span.end();
    assertThat(box.open()).isEmpty();
  }

  @Test
  void attributeThatWasChangedBeforeTheFirstLookIsRecordedAnew() {
    Span span =
        tracer
            .spanBuilder("GET")
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("url.path", "/before")
            .startSpan();
    span.setAttribute("url.path", "/after");

    lookTwice();

    assertThat(box.only().attributes()).containsEntry("url.path", "/after");
    span.end();
  }

  @Test
  void lookAtAnUnchangedSpanTakesNoRoomInItsSlot() {
    Span span =
        tracer
            .spanBuilder("GET")
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("url.path", "/" + "a".repeat(240))
            .startSpan();

    for (int i = 0; i < 100; i++) {
      processor.refresh();
    }

    assertThat(box.report().counters()).containsEntry("attributesOverflowed", 0L);
    span.end();
  }

  @Test
  void attributeThatWasFoundOnceTakesRoomOnce() {
    Span span = tracer.spanBuilder("GET").setSpanKind(SpanKind.SERVER).startSpan();
    span.setAttribute("http.route", "/" + "a".repeat(100));

    for (int i = 0; i < 100; i++) {
      processor.refresh();
    }

    assertThat(box.only().attributes()).containsKey("http.route");
    assertThat(box.report().counters()).containsEntry("attributesOverflowed", 0L);
    span.end();
  }

  @Test
  void attributeThatChangesAllTheTimeIsRecordedEverMoreRarely() {
    use(byHand().attributes(List.of("step:long")));
    Span span = tracer.spanBuilder("job").setAttribute("step", 0L).startSpan();

    for (int i = 1; i <= 2_000; i++) {
      span.setAttribute("step", (long) i);
      processor.refresh();
    }

    assertThat((long) box.only().attributes().get("step")).isBetween(1_900L, 2_000L);
    assertThat(box.report().counters().get("attributesOverflowed")).isLessThan(100L);
    span.end();
  }

  @Test
  void attributeThatIsNotListedIsNotRecorded() {
    Span span =
        tracer
            .spanBuilder("GET")
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("url.query", "token=secret")
            .setAttribute("url.full", "http://x/?token=secret")
            .setAttribute("custom", "x")
            .startSpan();

    lookTwice();

    assertThat(box.only().attributes()).isEmpty();
    span.end();
  }

  @Test
  void listedAttributeIsRecordedInItsTypeWhetherNamedOrNot() {
    use(byHand().attributes(List.of("a", "b", "c", "d", "e", "f:long", "g:strings", "default")));
    Span span =
        tracer
            .spanBuilder("all")
            .setAttribute("a", "text")
            .setAttribute("b", 2L)
            .setAttribute("c", 0.5)
            .setAttribute("d", true)
            .setAttribute(AttributeKey.stringArrayKey("e"), List.of("x", "y"))
            .setAttribute("f", 6L)
            .setAttribute(AttributeKey.stringArrayKey("g"), List.of("z"))
            .startSpan();

    assertThat(box.only().attributes())
        .containsEntry("a", "text")
        .containsEntry("b", 2L)
        .containsEntry("c", 0.5)
        .containsEntry("d", true)
        .containsEntry("e", List.of("x", "y"))
        .containsEntry("f", 6L)
        .containsEntry("g", List.of("z"));
    span.end();
  }

  /** The table of OTEL-SDK-AGENT.md. */
  @Test
  void whichOfTheDefaultAttributesAreThereAtTheStartDependsOnTheKind() {
    assertThat(atStart(SpanKind.SERVER, "default"))
        .containsExactlyInAnyOrder("http.request.method", "url.path", "rpc.method");
    assertThat(atStart(SpanKind.CLIENT, "default"))
        .containsExactlyInAnyOrder(
            "http.request.method",
            "server.address",
            "db.system.name",
            "db.query.text",
            "db.system",
            "db.statement",
            "rpc.method");
    assertThat(atStart(SpanKind.PRODUCER, "default"))
        .containsExactlyInAnyOrder("messaging.destination.name");
    assertThat(atStart(SpanKind.CONSUMER, "default"))
        .containsExactlyInAnyOrder("messaging.destination.name", "messaging.message.id");
    assertThat(atStart(SpanKind.INTERNAL, "default")).isEmpty();
  }

  @Test
  void nameWithItsTypeIsAskedForAtTheStartOfEveryKind() {
    for (SpanKind kind : SpanKind.values()) {
      assertThat(atStart(kind, "default", "enduser.id:string", "order.id"))
          .contains("enduser.id", "order.id");
    }
  }

  /** The keys in the box of a span that was given all of them, before anybody looks again. */
  private Set<String> atStart(SpanKind kind, String... listed) {
    use(byHand().attributes(List.of(listed)));
    SpanBuilder builder = tracer.spanBuilder("span").setSpanKind(kind);
    ListedKeys keys = ListedKeys.of(List.of("default", "order.id"));
    for (int i = 0; i < keys.count(); i++) {
      String name = keys.name(i);
      if (name.endsWith("_code") || name.endsWith(".port")) {
        builder.setAttribute(name, 1L);
      } else {
        builder.setAttribute(name, "x");
      }
    }
    Span span = builder.startSpan();
    Set<String> found = Set.copyOf(box.only().attributes().keySet());
    span.end();
    return found;
  }

  @Test
  void spanThatASamplerDropsIsNotRecordedAndOneThatIsOnlyRecordedIs() {
    use(byHand(), Sampler.alwaysOff());
    tracer.spanBuilder("dropped").startSpan();
    assertThat(box.open()).isEmpty();

    use(byHand(), recordOnly());
    Span span = tracer.spanBuilder("recorded").startSpan();
    assertThat(box.only().name()).isEqualTo("recorded");
    assertThat(box.only().traceFlags() & 1).isZero();
    span.end();
  }

  private static Sampler recordOnly() {
    return new Sampler() {
      @Override
      public io.opentelemetry.sdk.trace.samplers.SamplingResult shouldSample(
          Context parentContext,
          String traceId,
          String name,
          SpanKind spanKind,
          io.opentelemetry.api.common.Attributes attributes,
          List<io.opentelemetry.sdk.trace.data.LinkData> parentLinks) {
        return io.opentelemetry.sdk.trace.samplers.SamplingResult.recordOnly();
      }

      @Override
      public String getDescription() {
        return "recordOnly";
      }
    };
  }

  @Test
  void endOfASpanThatBeganBeforeTheProcessorDoesNothing() {
    List<ReadWriteSpan> seen = new ArrayList<>();
    try (SdkTracerProvider other =
        SdkTracerProvider.builder().addSpanProcessor(new SeeingSpans(seen)).build()) {
      Span before = other.get("before").spanBuilder("before").startSpan();
      Span here = tracer.spanBuilder("here").startSpan();

      processor.onEnd(seen.get(0));

      assertThat(box.only().name()).isEqualTo("here");
      assertThat(processor.faults()).isZero();
      before.end();
      here.end();
    }
  }

  @Test
  void spanWhoseMethodsThrowIsCountedAndNothingReachesTheApplication() {
    ReadWriteSpan hostile =
        (ReadWriteSpan)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ReadWriteSpan.class},
                (proxy, method, arguments) -> {
                  throw new IllegalStateException("hostile");
                });

    assertThatCode(() -> processor.onStart(Context.root(), hostile)).doesNotThrowAnyException();
    assertThatCode(() -> processor.onEnd(hostile)).doesNotThrowAnyException();
    processor.refresh();

    assertThat(processor.faults()).isEqualTo(2);
    assertThat(box.report().scope().contexts().toString()).contains("faults=2");
  }

  @Test
  void errorOfTheVirtualMachineIsPassedOn() {
    ReadWriteSpan hostile =
        (ReadWriteSpan)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ReadWriteSpan.class},
                (proxy, method, arguments) -> {
                  throw new InternalError("of the machine");
                });

    assertThatThrownBy(() -> processor.onEnd(hostile)).isInstanceOf(InternalError.class);
  }

  @Test
  void spanThatThrowsInTheMiddleOfItsStartLeavesNoEntryTaken() {
    // opentelemetry-java 8848: what a processor throws in a start leaves things half done.
    use(byHand().attributes(List.of("a:string")));
    for (int i = 0; i < 10_000; i++) {
      Span real = tracer.spanBuilder("real").startSpan();
      ReadWriteSpan hostile =
          (ReadWriteSpan)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {ReadWriteSpan.class},
                  (proxy, method, arguments) -> {
                    if (method.getName().equals("getAttribute")) {
                      throw new IllegalStateException("hostile");
                    }
                    return method.invoke(real, arguments);
                  });
      real.end();
      processor.onStart(Context.root(), hostile);
      processor.onEnd(hostile);
    }

    assertThat(processor.faults()).isEqualTo(10_000);
    assertThat(processor.unwatched()).isZero();
    assertThat(box.open()).isEmpty();
  }

  @Test
  void spanThatNobodyCanEndAnyMoreGivesItsSlotBack() {
    // opentelemetry-java-instrumentation 2097: connections whose spans are never ended.
    WeakReference<Span> dropped = new WeakReference<>(tracer.spanBuilder("dropped").startSpan());
    Span held = tracer.spanBuilder("held").startSpan();
    lookTwice();

    for (int i = 0; i < MAX_COLLECTIONS && processor.evicted() == 0; i++) {
      System.gc();
      processor.refresh();
    }

    assertThat(dropped.get()).isNull();
    assertThat(processor.evicted()).isEqualTo(1);
    assertThat(box.only().name()).isEqualTo("held");
    assertThat(box.report().scope().contexts().toString()).contains("spansEvicted=1");
    held.end();
  }

  @Test
  void spanThatIsOlderThanTheMaximalAgeGivesItsSlotBack() {
    use(byHand().maxAge(Duration.ofNanos(1)));
    Span span = tracer.spanBuilder("for ever").startSpan();
    lookTwice();
    processor.refresh();

    assertThat(box.open()).isEmpty();
    assertThat(processor.evicted()).isEqualTo(1);
    span.end();
    assertThat(processor.faults()).isZero();
  }

  @Test
  void spansBeyondTheTableAreInTheReportUntilTheyEnd() {
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < BoxUnderTest.SLOTS + 20; i++) {
      spans.add(tracer.spanBuilder("span " + i).startSpan());
    }
    assertThat(box.open()).hasSize(spans.size());

    spans.forEach(Span::end);

    assertThat(box.open()).isEmpty();
  }

  @Test
  void spansWithoutASlotAreCountedAndRecordedAllTheSame() throws IOException {
    box.close();
    box = new BoxUnderTest(Files.createDirectory(root.resolve("large")), 1024);
    use(byHand());
    List<Span> spans = new ArrayList<>();
    for (int i = 0; i < 3_000; i++) {
      spans.add(tracer.spanBuilder("span").startSpan());
    }
    lookTwice();

    assertThat(processor.unwatched()).isEqualTo(3_000 - 1_024);
    assertThat(box.open()).hasSize(spans.size());
    spans.forEach(Span::end);
    assertThat(box.open()).isEmpty();
    Span after = tracer.spanBuilder("after").startSpan();
    after.updateName("later");
    lookTwice();
    assertThat(box.only().name()).isEqualTo("later");
    after.end();
  }

  @Test
  void spansOfManyThreadsLeaveNothingBehind() throws InterruptedException {
    int threads = 8;
    CountDownLatch done = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      new Thread(
              () -> {
                for (int i = 0; i < 5_000; i++) {
                  Span span = tracer.spanBuilder("work").startSpan();
                  span.updateName("renamed");
                  span.end();
                }
                done.countDown();
              })
          .start();
    }
    while (!done.await(0, TimeUnit.NANOSECONDS)) {
      processor.refresh();
    }

    assertThat(box.open()).isEmpty();
    assertThat(processor.evicted()).isZero();
    assertThat(processor.unwatched()).isZero();
    assertThat(processor.faults()).isZero();
  }

  @Test
  void spanIsEndedOnAnotherThreadWhileItIsLookedAt() throws InterruptedException {
    for (int i = 0; i < 500; i++) {
      Span span = tracer.spanBuilder("work").startSpan();
      processor.refresh();
      span.updateName("renamed");
      Thread ending = new Thread(span::end);
      ending.start();
      processor.refresh();
      ending.join();

      assertThat(box.recorder.openSpans().find(id(span))).isZero();
    }
    assertThat(processor.evicted()).isZero();
  }

  private static long id(Span span) {
    return Long.parseUnsignedLong(span.getSpanContext().getSpanId(), 16);
  }

  @Test
  void breadcrumbAndSpanOfTheRecorderBelongToTheCurrentSpan() {
    Span span = tracer.spanBuilder("request").startSpan();
    String spanId = span.getSpanContext().getSpanId();
    try (Scope scope = span.makeCurrent();
        OpenSpan inner = box.recorder.begin("inner")) {
      assertThat(scope).isNotNull();
      UnfinishedSpan innerOpen =
          box.open().stream().filter(s -> s.name().equals("inner")).findFirst().orElseThrow();
      assertThat(innerOpen.parentSpanId()).isEqualTo(spanId);
      assertThat(innerOpen.traceId()).isEqualTo(span.getSpanContext().getTraceId());
      inner.close();
      box.recorder.breadcrumb(Level.INFO, "db", "SELECT");
    }

    assertThat(box.lastBreadcrumb().spanId()).isEqualTo(spanId);
    box.recorder.breadcrumb(Level.INFO, "db", "after");
    assertThat(box.lastBreadcrumb().spanId()).isNull();
    span.end();
  }

  @Test
  void spanOfCairnsOwnTracerIsInTheBoxOnceAndItsThreadsBreadcrumbsAreItsOwn() {
    try (CairnOpenTelemetry own =
        CairnOpenTelemetry.builder(box.recorder).addSpanProcessor(processor).build()) {
      use(byHand()); // the last to say which span is current
      Span span = own.getTracer("own").spanBuilder("once").startSpan();
      try (Scope scope = span.makeCurrent()) {
        assertThat(scope).isNotSameAs(Scope.noop());
        tracer.spanBuilder("sdk").startSpan().end();
        box.recorder.breadcrumb(Level.INFO, "db", "SELECT");
      }

      assertThat(box.only().name()).isEqualTo("once");
      assertThat(box.lastBreadcrumb().spanId()).isEqualTo(span.getSpanContext().getSpanId());
      span.end();
      assertThat(box.open()).isEmpty();
    }
  }

  @Test
  void idGeneratorThatMakesNoIdsLeavesSpansUnrecorded() {
    provider.close();
    provider =
        SdkTracerProvider.builder()
            .setIdGenerator(
                new IdGenerator() {
                  @Override
                  public String generateSpanId() {
                    return "not an id";
                  }

                  @Override
                  public String generateTraceId() {
                    return "";
                  }
                })
            .addSpanProcessor(processor)
            .build();

    provider.get("test").spanBuilder("no id").startSpan().end();

    assertThat(box.open()).isEmpty();
    assertThat(processor.faults()).isZero();
  }

  @Test
  void disabledRecorderMakesAProcessorThatAsksForNothing() {
    BoxUnderTest closed = box;
    closed.close();

    CairnSpanProcessor disabled = CairnSpanProcessor.create(closed.recorder);

    assertThat(disabled.isStartRequired()).isFalse();
    assertThat(disabled.isEndRequired()).isFalse();
    assertThat(disabled.refresher()).isNull();
    assertThat(succeeds(disabled.forceFlush())).isTrue();
  }

  @Test
  void recorderThatIsClosedUnderTheProcessorIsNotNoticed() {
    Span span = tracer.spanBuilder("open").startSpan();
    box.close();

    Span later = tracer.spanBuilder("later").startSpan();
    later.end();
    span.end();
    lookTwice();

    assertThat(processor.faults()).isZero();
  }

  @Test
  void shutdownStopsTheRefresherAndKeepsOpenSpansUntilTheyEnd() throws InterruptedException {
    use(CairnSpanProcessor.builder(box.recorder));
    Thread refresher = processor.refresher().thread();
    assertThat(refresher.isDaemon()).isTrue();
    Span span = tracer.spanBuilder("open").startSpan();

    assertThat(succeeds(provider.shutdown())).isTrue();

    refresher.join(10_000);
    assertThat(refresher.isAlive()).isFalse();
    assertThat(box.only().name()).isEqualTo("open");
    span.end();
    assertThat(box.open()).isEmpty();
    assertThat(box.recorder.isEnabled()).isTrue();
  }

  @Test
  void refresherEndsWhenNobodyHoldsTheProcessor() throws InterruptedException {
    Thread refresher =
        CairnSpanProcessor.builder(box.recorder)
            .refresh(Duration.ofMillis(10))
            .build()
            .refresher()
            .thread();

    for (int i = 0; i < MAX_COLLECTIONS && refresher.isAlive(); i++) {
      System.gc();
      refresher.join(10);
    }

    assertThat(refresher.isAlive()).isFalse();
  }

  @Test
  void refresherFindsALateNameByItself() throws InterruptedException {
    use(CairnSpanProcessor.builder(box.recorder).refresh(Duration.ofMillis(10)));
    Span span = tracer.spanBuilder("GET").startSpan();
    span.updateName("GET /products");

    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!box.only().name().equals("GET /products") && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }

    assertThat(box.only().name()).isEqualTo("GET /products");
    span.end();
  }

  @Test
  void flushSucceedsWhereThereIsNothingToForceAndWhereTheForceSucceeds() {
    assertThat(succeeds(processor.forceFlush())).isTrue();

    try (Recorder bounded =
        Recorder.builder("bounded")
            .directory(root)
            .durability(Durability.bounded(1_000_000, Duration.ofDays(1)))
            .open()) {
      CairnSpanProcessor durable =
          CairnSpanProcessor.builder(bounded).refresh(Duration.ZERO).build();
      assertThat(succeeds(durable.forceFlush())).isTrue();
      assertThat(bounded.awaitDurable(Duration.ZERO)).isTrue();
    }
  }

  private static boolean succeeds(CompletableResultCode result) {
    return result.join(20, TimeUnit.SECONDS).isSuccess();
  }

  @Test
  void mistakeInTheConfigurationIsSaidAtOnce() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> byHand().attributes(List.of("order.id:integer")))
        .withMessageContaining("order.id:integer")
        .withMessageContaining("use string, long, double, boolean or strings");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> byHand().refresh(Duration.ofMillis(1)))
        .withMessageContaining("value=PT0.001S");
    assertThatIllegalArgumentException().isThrownBy(() -> byHand().maxAge(Duration.ZERO));
    assertThatThrownBy(() -> CairnSpanProcessor.builder(null))
        .isInstanceOf(NullPointerException.class);
  }

  @Test
  void textOfProcessorAndBuilderHasTheSettings() {
    assertThat(byHand().attributes(List.of("order.id:long")).threads(true).toString())
        .isEqualTo(
            "CairnSpanProcessor.Builder{attributes=[order.id], refresh=PT0S, maxAge=PT24H,"
                + " threads=true}");
    assertThat(processor.toString()).contains("refresh=PT0S").contains("mode=mapped");
  }

  /** Hands the SDK's spans out. */
  private record SeeingSpans(List<ReadWriteSpan> seen)
      implements io.opentelemetry.sdk.trace.SpanProcessor {
    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {
      seen.add(span);
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
  }
}
