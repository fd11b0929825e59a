package cairn.otel;

import cairn.Recorder;
import cairn.otel.Pipeline.Maker;
import cairn.otel.Pipeline.Setup;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.AttributeType;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerBuilder;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextKey;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One tracer provider on which a sequence of calls is made, and the log of all that could be
 * noticed of it: what each call returned or threw, what samplers, id generators and processors were
 * called with, and what spans said then.
 *
 * <p>For one sequence. The setup follows from the seed: clock, ids, sampler, limits and processors
 * decide the same in each world as long as they are called the same way.
 */
final class FuzzWorld {
  /*
   * The reference is the SDK as it is, but for what `Deviation` lists: there the world of the SDK
   * does what Cairn promises instead, and counts that it had to.
   *
   * Objects have the numbers in whose order they first appear ("span#3"), so that the logs of two
   * worlds are alike if and only if the worlds are. What must be the same object is therefore
   * compared as well: the span that a processor gets and that startSpan returns, resource and scope.
   */
  private static final ContextKey<String> KEY = ContextKey.named("fuzz");
  private static final int RECENT = 6;
  private static final int MAX_TRACERS = 5;
  private static final int MAX_NESTED = 2;
  private static final int FEW_ATTRIBUTES = 100;

  /** What a builder forgets when it is started. */
  private static final Set<FuzzStep.Call> SETTINGS =
      EnumSet.of(
          FuzzStep.Call.PARENT,
          FuzzStep.Call.NO_PARENT,
          FuzzStep.Call.START_TIME,
          FuzzStep.Call.BUILDER_LINK);

  private static final String NAMELESS = "<unspecified span name>";

  private static final String ELSEWHERE_NAME = "elsewhere";

  private static final ExecutorService ELSEWHERE =
      Executors.newSingleThreadExecutor(
          task -> {
            Thread thread = new Thread(task, ELSEWHERE_NAME);
            thread.setDaemon(true);
            return thread;
          });

  private final Maker maker;
  private final FuzzText texts;
  private final long seed;
  private final List<String> log = new ArrayList<>();
  private final SettableClock clock = new SettableClock();
  private final Resource resource;
  private final Pipeline pipeline;
  private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
  private final List<Tracer> tracers = new ArrayList<>();
  private final List<Building> builders = new ArrayList<>();
  private final List<Span> spans = new ArrayList<>();
  private final List<Context> contexts = new ArrayList<>();
  private final List<OpenScope> scopes = new ArrayList<>();
  private final List<Kept> kept = new ArrayList<>();
  private final List<List<Object>> mutables = new ArrayList<>();
  private final Map<Object, Integer> numbers = new IdentityHashMap<>();
  private SpanLimits limits;
  private int idCalls;
  private int samplerCalls;
  private final @Nullable Path root;

  /** Those on which end was called. */
  private final Set<Span> ended = Collections.newSetFromMap(new IdentityHashMap<>());

  private boolean isShutDown;
  private boolean hasRoom;
  private int nested;

  /** How often each was made. */
  private final Map<Request, Integer> requests = new HashMap<>();

  /** What a thread asked a builder for. */
  private record Request(Tracer tracer, String name, boolean elsewhere) {}

  /** A builder, and whether it may still be used. */
  private static final class Building {
    final SpanBuilder builder;
    final Request request;
    final int number;
    private boolean isTight;
    private boolean hasSettings;
    private boolean isStarted;
    private boolean isKept;

    Building(SpanBuilder builder, Request request, int number, boolean isTight) {
      this.isTight = isTight;
      this.builder = builder;
      this.request = request;
      this.number = number;
    }
  }

  /** Text of ours, to be shown whole. */
  private record Text(String text) {
    @Override
    public String toString() {
      return text;
    }
  }

  private record OpenScope(Scope scope, boolean elsewhere) {}

  /** A snapshot that must not change any more, what it said first. */
  private record Kept(SpanData data, boolean hadEnded, String text) {}

  /**
   * Sets one up.
   *
   * @param box the recorder of Cairn's world
   * @param root where that recorder records, if the box is to be compared too
   */
  FuzzWorld(Maker maker, long seed, Recorder box, @Nullable Path root) {
    this.maker = maker;
    this.texts = new FuzzText(maker == Maker.SDK);
    this.root = maker == Maker.CAIRN ? root : null;
    this.seed = seed;
    SplittableRandom random = new SplittableRandom(seed ^ 0x5e7_0b57L);
    limits = FuzzValues.limits(random.nextInt(1 << 20));
    resource = Resource.create(Attributes.of(AttributeKey.stringKey("service.name"), "fuzzed"));
    boolean isRandom = random.nextBoolean();
    Sampler sampler = sampler(random.nextInt(16), random.nextLong());
    List<SpanProcessor> processors = new ArrayList<>();
    int watchers = 1 + random.nextInt(2);
    for (int i = 0; i < watchers; i++) {
      processors.add(guarded(new Watcher(i, random.nextInt(8), random.nextLong())));
    }
    if (random.nextInt(4) == 0) {
      processors.add(SimpleSpanProcessor.create(exporter));
    }
    log.add(
        "sampler="
            + sampler.getDescription()
            + " watchers="
            + watchers
            + " randomIds="
            + isRandom
            + " "
            + limits);
    pipeline =
        maker.build(
            new Setup(box, clock, new Ids(isRandom), sampler, () -> limits, processors, resource));
    for (int i = 0; i < 3; i++) {
      mutables.add(new ArrayList<>(List.of("m1", "m2")));
    }
    contexts.add(Context.root());
    contexts.add(Context.root().with(KEY, "keyed"));
    contexts.add(Context.root().with(Span.getInvalid()));
    for (int i = 0; i < FuzzValues.contexts(); i++) {
      SpanContext remote = FuzzValues.context(i);
      if (remote != null) {
        contexts.add(Context.root().with(Span.wrap(remote)));
      }
    }
    contexts.add(Context.root().with(new ForeignSpan()));
    contexts.forEach(this::numberOf);
    tracers.add(pipeline.provider().get("fuzz"));
    numberOf(tracers.get(0));
  }

  /** Makes the calls, ends what they left, and returns the log. */
  List<String> run(List<FuzzStep> steps) {
    try {
      for (int i = 0; i < steps.size(); i++) {
        FuzzStep step = steps.get(i);
        log.add("step " + i + ": " + step.call() + (step.elsewhere() ? " elsewhere" : ""));
        where(step.elsewhere(), () -> make(step));
      }
      log.add("the end");
      while (!scopes.isEmpty()) {
        OpenScope last = scopes.remove(scopes.size() - 1);
        where(last.elsewhere(), last.scope()::close);
      }
      if (root != null) {
        compareBox(root);
      }
      for (int i = 0; i < spans.size(); i++) {
        Span span = spans.get(i);
        note("read " + name(span), () -> new Text(readAll(span)));
        span.end();
      }
      for (Kept each : kept) {
        keepsItsWord(each);
      }
      note("exported", () -> new Text(exported()));
      note("shutdown", () -> pipeline.shutdown().isSuccess());
    } finally {
      pipeline.shutdown();
    }
    return log;
  }

  private void keepsItsWord(Kept each) {
    String now = describe(each.data());
    if (now.equals(each.text())) {
      return;
    }
    // In the SDK, the links of a snapshot of a span that goes on are its own list.
    if (maker == Maker.SDK && !each.hadEnded()) {
      Deviation.LIVE_LINKS.occurred();
      return;
    }
    log.add("a snapshot changed: " + each.text() + " became " + now);
  }

  /** What the box says of the open spans, against what they say themselves. */
  private void compareBox(Path directory) {
    Map<String, UnfinishedSpan> open = new HashMap<>();
    try {
      for (Run run : Runs.under(directory)) {
        Report report = run.report();
        report.openSpans().forEach(span -> open.put(span.spanId(), span));
        // In a slot that is full of attributes there may be no place for what comes later.
        hasRoom = report.counters().get("attributesOverflowed") == 0;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (Span span : spans) {
      boolean isOpen =
          span instanceof CairnSpan recording
              ? !recording.hasEnded()
              : span instanceof UnsampledSpan && !ended.contains(span);
      UnfinishedSpan seen = isOpen ? open.remove(span.getSpanContext().getSpanId()) : null;
      if (isOpen && seen == null) {
        log.add("box: not in it: " + name(span));
      } else if (seen != null) {
        compareBox(span, seen);
      }
    }
    open.values().forEach(span -> log.add("box: not open: " + span));
  }

  private void compareBox(Span span, UnfinishedSpan seen) {
    SpanContext context = span.getSpanContext();
    boolean isRight =
        context.getTraceId().equals(seen.traceId())
            && context.getTraceFlags().asByte() == (byte) seen.traceFlags();
    if (span instanceof CairnSpan recording) {
      SpanData data = recording.toSpanData();
      SpanContext parent = data.getParentSpanContext();
      isRight &=
          data.getKind().name().equals(seen.kind())
              && (parent.isValid() ? parent.getSpanId() : "null").equals("" + seen.parentSpanId())
              && (!hasRoom || hasSameState(data, seen));
      data.getAttributes()
          .forEach(
              (key, value) -> {
                Object recorded = seen.attributes().get(key.getKey());
                if (recorded != null
                    && isPlain(key.getKey())
                    && (value instanceof Long
                        || value instanceof Boolean
                        || (value instanceof Double d && !d.isNaN() && !d.isInfinite())
                        || (value instanceof String text && isPlain(text)))
                    && !recorded.equals(value)) {
                  log.add(
                      "box: " + name(span) + " " + key.getKey() + "=" + value + " is " + recorded);
                }
              });
    }
    if (!isRight) {
      log.add("box: " + name(span) + " " + readAll(span) + " is " + seen);
    }
  }

  private static boolean hasSameState(SpanData data, UnfinishedSpan seen) {
    StatusCode code = data.getStatus().getStatusCode();
    return data.getTotalRecordedEvents() == seen.events()
        && (code == StatusCode.UNSET ? "null" : code.name()).equals("" + seen.status())
        && (!isPlain(data.getName()) || data.getName().equals(seen.name()));
  }

  /** Whether a text is in the box as it is. */
  private static boolean isPlain(String text) {
    return !text.isEmpty() && text.length() <= 32 && text.chars().allMatch(c -> c > 31 && c < 127);
  }

  private String exported() {
    StringBuilder text = new StringBuilder();
    exporter.getFinishedSpanItems().forEach(data -> text.append(data.getSpanId()).append(' '));
    return text.toString();
  }

  private static void where(boolean elsewhere, Runnable task) {
    if (!elsewhere) {
      task.run();
      return;
    }
    try {
      ELSEWHERE.submit(task).get();
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    }
  }

  // ---- what is noted -----------------------------------------------------------------------

  private interface Question {
    @Nullable Object ask();
  }

  /** Notes what a call returns, or that it throws. */
  private void note(String call, Question question) {
    int place = log.size();
    String outcome;
    try {
      outcome = text(question.ask());
    } catch (RuntimeException | StackOverflowError e) {
      outcome = "threw " + e;
    }
    // What the call made others notice comes after it.
    log.add(place, call + " -> " + outcome);
  }

  private String text(@Nullable Object value) {
    if (value instanceof Span || value instanceof SpanBuilder || value instanceof Tracer) {
      return name(value);
    }
    return texts.ofCut(value);
  }

  private int numberOf(Object object) {
    return numbers.computeIfAbsent(object, any -> numbers.size());
  }

  private String name(Object object) {
    if (object instanceof Span span) {
      if (!numbers.containsKey(span) && span != Span.getInvalid()) {
        spans.add(span);
      }
      return (span == Span.getInvalid() ? "invalid" : "span") + "#" + numberOf(span);
    }
    String kind =
        object instanceof SpanBuilder ? "builder" : object instanceof Tracer ? "tracer" : "object";
    return kind + "#" + numberOf(object);
  }

  /** The context as it is known, or what it holds. */
  private String name(Context context) {
    String known = numbers.containsKey(context) ? "context#" + numberOf(context) : "a context";
    Span span = Span.fromContextOrNull(context);
    return known
        + " with "
        + (span == null ? "no span" : name(span) + " " + texts.of(span.getSpanContext()))
        + " key="
        + context.get(KEY);
  }

  private String describe(SpanData data) {
    InstrumentationScopeInfo scope = data.getInstrumentationScopeInfo();
    return "name="
        + texts.of(data.getName())
        + " kind="
        + data.getKind()
        + " context="
        + texts.of(data.getSpanContext())
        + " ids="
        + data.getTraceId()
        + data.getSpanId()
        + " parent="
        + texts.of(data.getParentSpanContext())
        + data.getParentSpanId()
        + " status="
        + texts.of(data.getStatus())
        + " start="
        + data.getStartEpochNanos()
        + " end="
        + data.getEndEpochNanos()
        + " ended="
        + data.hasEnded()
        + " attributes="
        + texts.of(data.getAttributes())
        + data.getTotalAttributeCount()
        + " events="
        + texts.ofEvents(data.getEvents())
        + data.getTotalRecordedEvents()
        + " links="
        + texts.ofLinks(data.getLinks())
        + data.getTotalRecordedLinks()
        + " resource="
        + data.getResource().equals(resource)
        + numberOf(data.getResource())
        + " scope#"
        + numberOf(scope)
        + scope;
  }

  private String snapshot(ReadableSpan span) {
    SpanData data = span.toSpanData();
    String text = describe(data);
    kept.add(new Kept(data, data.hasEnded(), text));
    return text;
  }

  private String readAll(Span span) {
    String text = span.isRecording() + " " + texts.of(span.getSpanContext());
    return span instanceof ReadableSpan readable
        ? text + " " + readable.getLatencyNanos() + " " + snapshot(readable)
        : text;
  }

  // ---- the calls ---------------------------------------------------------------------------

  private static <T> T recent(List<T> list, int choice) {
    int window = Math.min(RECENT, list.size());
    // The last ones are preferred, so that calls meet on one object; one in eight goes further
    // back.
    return choice / 64 % 8 == 0
        ? list.get(choice / 512 % list.size())
        : list.get(list.size() - 1 - Math.min(choice % window, choice / 8 % window));
  }

  private void make(FuzzStep step) {
    switch (step.call()) {
      case TRACER -> tracer(step);
      case BUILDER -> builder(step);
      case PARENT,
          NO_PARENT,
          BUILDER_LINK,
          KIND,
          START_TIME,
          BUILDER_ATTRIBUTE,
          BUILDER_ATTRIBUTES ->
          configure(step);
      case START -> start(step);
      case ATTRIBUTE, ATTRIBUTES, EVENT, LINK, STATUS, NAME, EXCEPTION, END, READ, SNAPSHOT -> {
        if (!spans.isEmpty()) {
          use(recent(spans, step.a()), step);
        }
      }
      case WITH -> with(step);
      case CURRENT -> makeCurrent(step);
      case CLOSE -> close(step);
      case CLOCK -> clock.advance(step.a() % 3 == 0 ? 0 : step.b() % 5_000_000);
      case CLOCK_JUMP -> clock.jump(step.b() % 10_000_000 - 5_000_000L);
      case LIMITS -> limits = FuzzValues.limits(step.b());
      case MUTATE -> mutate(step);
      case FLUSH -> note("forceFlush", () -> pipeline.forceFlush().isSuccess());
      case SHUTDOWN -> {
        note("shutdown", () -> pipeline.shutdown().isSuccess());
        isShutDown = true;
      }
    }
  }

  private void tracer(FuzzStep step) {
    String[] names = {"fuzz", "other", "", null, "lib"};
    String[] versions = {null, "1", "", "2"};
    String[] schemas = {null, "https://opentelemetry.io/schemas/1.0.0", ""};
    String name = names[step.a() % names.length];
    String version = versions[step.b() % versions.length];
    String schema = schemas[step.c() % schemas.length];
    int form = step.c() / 8 % 4;
    note(
        "tracer " + form + " " + name + " " + version + " " + schema,
        () -> {
          Tracer tracer =
              switch (form) {
                case 0 -> pipeline.provider().get(name);
                case 1 -> pipeline.provider().get(name, version);
                default -> {
                  TracerBuilder builder = pipeline.provider().tracerBuilder(name);
                  if (form == 3) {
                    builder.setInstrumentationVersion(version).setSchemaUrl(schema);
                  }
                  yield builder.build();
                }
              };
          if (!tracers.contains(tracer) && tracers.size() < MAX_TRACERS) {
            tracers.add(tracer);
          }
          boolean isEnabled = tracer.isEnabled();
          if (isEnabled && isShutDown && maker == Maker.SDK) {
            Deviation.DISABLED_BY_SHUTDOWN.occurred();
            isEnabled = false;
          }
          return new Text(name(tracer) + " enabled=" + isEnabled);
        });
  }

  private void builder(FuzzStep step) {
    Tracer tracer = recent(tracers, step.a());
    String name = FuzzValues.name(step.b());
    note(
        name(tracer) + ".spanBuilder(" + texts.of(name) + ")",
        () -> {
          SpanBuilder builder = spanBuilder(tracer, name);
          Request request = request(tracer, name);
          builders.add(
              new Building(
                  builder,
                  request,
                  requests.get(request),
                  limits.getMaxNumberOfAttributes() < FEW_ATTRIBUTES));
          // Builders may be reused, so they are told apart by their place.
          return new Text("builder " + builders.size());
        });
  }

  private SpanBuilder spanBuilder(Tracer tracer, @Nullable String name) {
    requests.merge(request(tracer, name), 1, Integer::sum);
    return tracer.spanBuilder(name);
  }

  private static Request request(Tracer tracer, @Nullable String name) {
    return new Request(tracer, name == null || name.isBlank() ? NAMELESS : name, isElsewhere());
  }

  private static boolean isElsewhere() {
    return Thread.currentThread().getName().equals(ELSEWHERE_NAME);
  }

  /**
   * {@return a builder to be used, or null} One that was started may be used again, unless the
   * thread has asked for one of that name since: then it may have been given this one.
   */
  private @Nullable Building chosen(int choice) {
    if (builders.isEmpty()) {
      return null;
    }
    Building building = recent(builders, choice);
    boolean isGivenAway = requests.get(building.request) > building.number;
    if (building.isStarted && !building.isKept && isGivenAway) {
      builders.remove(building);
      return null;
    }
    return building;
  }

  private void configure(FuzzStep step) {
    Building building = chosen(step.a());
    if (building == null) {
      return;
    }
    SpanBuilder builder = building.builder;
    if (setsFromElsewhere(building, step)) {
      return;
    }
    building.hasSettings |= SETTINGS.contains(step.call());
    String on = "builder " + (builders.indexOf(building) + 1) + " of " + builders.size();
    switch (step.call()) {
      case PARENT -> {
        Context parent = step.b() % 32 == 0 ? null : recent(contexts, step.b());
        note(
            on + ".setParent(" + (parent == null ? null : name(parent)) + ")",
            () -> builder.setParent(parent) == builder);
      }
      case NO_PARENT -> note(on + ".setNoParent()", () -> builder.setNoParent() == builder);
      case BUILDER_LINK -> {
        SpanContext to = linkTarget(step.b());
        Attributes attributes = FuzzValues.attributes(step.c());
        boolean plain = step.c() / 16 % 3 == 0;
        note(
            on + ".addLink(" + texts.of(to) + (plain ? "" : ", " + texts.of(attributes)) + ")",
            () -> (plain ? builder.addLink(to) : builder.addLink(to, attributes)) == builder);
      }
      case KIND -> {
        SpanKind kind = FuzzValues.kind(step.b());
        note(on + ".setSpanKind(" + kind + ")", () -> builder.setSpanKind(kind) == builder);
      }
      case START_TIME -> {
        if (step.c() % 4 == 0) {
          Instant at = FuzzValues.instant(step.b());
          note(
              on + ".setStartTimestamp(" + at + ")",
              () -> builder.setStartTimestamp(at) == builder);
        } else {
          long time = FuzzValues.time(step.b());
          TimeUnit unit = FuzzValues.unit(step.c() / 4);
          note(
              on + ".setStartTimestamp(" + time + ", " + unit + ")",
              () -> builder.setStartTimestamp(time, unit) == builder);
        }
      }
      case BUILDER_ATTRIBUTES -> {
        Attributes attributes = FuzzValues.attributes(step.b());
        note(
            on + ".setAllAttributes(" + texts.of(attributes) + ")",
            () -> builder.setAllAttributes(attributes) == builder);
      }
      default -> setAttribute(on, new OfBuilder(builder), step);
    }
  }

  /** Whether a thread that didn't ask for the builder gives it what may be too much. */
  private boolean setsFromElsewhere(Building building, FuzzStep step) {
    boolean isAttribute = step.call() == FuzzStep.Call.BUILDER_ATTRIBUTE;
    boolean areAttributes = step.call() == FuzzStep.Call.BUILDER_ATTRIBUTES;
    Attributes all = areAttributes ? FuzzValues.attributes(step.b()) : null;
    building.isTight |= all != null && all.size() > FEW_ATTRIBUTES;
    boolean isLink = step.call() == FuzzStep.Call.BUILDER_LINK;
    if (!(isAttribute || areAttributes || isLink)
        || !building.isTight
        || step.elsewhere() == building.request.elsewhere()) {
      return false;
    }
    if (maker == Maker.SDK) {
      Deviation.DROPPED_ELSEWHERE.occurred();
    }
    return true;
  }

  private SpanContext linkTarget(int choice) {
    return choice % 3 == 0 && !spans.isEmpty()
        ? recent(spans, choice / 4).getSpanContext()
        : FuzzValues.context(choice / 4);
  }

  /** The ways to set an attribute that a span and a builder have in common. */
  private interface Target {
    boolean set(@Nullable String key, @Nullable String value);

    boolean set(@Nullable String key, long value);

    boolean set(@Nullable String key, double value);

    boolean set(@Nullable String key, boolean value);

    boolean set(@Nullable AttributeKey<Long> key, int value);

    <T> boolean set(@Nullable AttributeKey<T> key, @Nullable T value);
  }

  private record OfBuilder(SpanBuilder builder) implements Target {
    @Override
    public boolean set(@Nullable String key, @Nullable String value) {
      return builder.setAttribute(key, value) == builder;
    }

    @Override
    public boolean set(@Nullable String key, long value) {
      return builder.setAttribute(key, value) == builder;
    }

    @Override
    public boolean set(@Nullable String key, double value) {
      return builder.setAttribute(key, value) == builder;
    }

    @Override
    public boolean set(@Nullable String key, boolean value) {
      return builder.setAttribute(key, value) == builder;
    }

    @Override
    public boolean set(@Nullable AttributeKey<Long> key, int value) {
      return builder.setAttribute(key, value) == builder;
    }

    @Override
    public <T> boolean set(@Nullable AttributeKey<T> key, @Nullable T value) {
      return builder.setAttribute(key, value) == builder;
    }
  }

  private record OfSpan(Span span) implements Target {
    @Override
    public boolean set(@Nullable String key, @Nullable String value) {
      return span.setAttribute(key, value) == span;
    }

    @Override
    public boolean set(@Nullable String key, long value) {
      return span.setAttribute(key, value) == span;
    }

    @Override
    public boolean set(@Nullable String key, double value) {
      return span.setAttribute(key, value) == span;
    }

    @Override
    public boolean set(@Nullable String key, boolean value) {
      return span.setAttribute(key, value) == span;
    }

    @Override
    public boolean set(@Nullable AttributeKey<Long> key, int value) {
      return span.setAttribute(key, value) == span;
    }

    @Override
    public <T> boolean set(@Nullable AttributeKey<T> key, @Nullable T value) {
      return span.setAttribute(key, value) == span;
    }
  }

  @SuppressWarnings("unchecked")
  private void setAttribute(String on, Target target, FuzzStep step) {
    String key = FuzzValues.key(step.b());
    int form = step.b() / 256 % 12;
    int choice = step.c();
    String call = on + ".setAttribute(" + texts.of(key) + ", ";
    switch (form) {
      case 0, 1 -> {
        String value = FuzzValues.text(choice);
        note(call + texts.of(value) + ")", () -> target.set(key, value));
      }
      case 2 -> {
        long value = FuzzValues.whole(choice);
        note(call + value + "L)", () -> target.set(key, value));
      }
      case 3 -> {
        double value = FuzzValues.fraction(choice);
        note(call + value + "d)", () -> target.set(key, value));
      }
      case 4 -> note(call + (choice % 2 == 0) + ")", () -> target.set(key, choice % 2 == 0));
      case 5 -> {
        AttributeKey<Long> longKey = key == null ? null : AttributeKey.longKey(key);
        note(call + "int " + choice + ")", () -> target.set(longKey, choice));
      }
      case 6 -> {
        // A list that its owner changes later.
        if (key != null) {
          List<Object> list = mutables.get(choice % mutables.size());
          AttributeKey<Object> listKey =
              (AttributeKey<Object>) (AttributeKey<?>) AttributeKey.stringArrayKey(key);
          Object value = maker == Maker.SDK ? new ArrayList<>(list) : list;
          note(call + "mutable " + texts.of(list) + ")", () -> target.set(listKey, value));
        }
      }
      case 7 -> {
        // As with raw types: the value isn't of the key's type. In the SDK a key for complex values
        // makes startSpan and toSpanData throw then.
        AttributeType declared = FuzzValues.type(choice);
        if (declared.name().equals("VALUE")) {
          declared = AttributeType.STRING;
        }
        AttributeKey<Object> keyOfType = (AttributeKey<Object>) FuzzValues.key(declared, key);
        AttributeType other = FuzzValues.type(choice / 16);
        Object value = FuzzValues.value(other, choice / 256);
        note(
            call + texts.of(keyOfType) + " raw " + texts.of(value) + ")",
            () -> target.set(keyOfType, value));
      }
      default -> {
        AttributeType type = FuzzValues.type(choice);
        AttributeKey<Object> keyOfType = (AttributeKey<Object>) FuzzValues.key(type, key);
        Object value = FuzzValues.value(type, choice / 16);
        note(
            call + texts.of(keyOfType) + " " + texts.of(value) + ")",
            () -> target.set(keyOfType, value));
      }
    }
  }

  private void mutate(FuzzStep step) {
    List<Object> list = mutables.get(step.a() % mutables.size());
    if (step.b() % 4 == 0 && !list.isEmpty()) {
      list.remove(0);
    } else {
      list.add("later" + step.b() % 100);
    }
    if (maker == Maker.SDK) {
      Deviation.LIST_COPIED.occurred();
    }
  }

  private void start(FuzzStep step) {
    Building building = chosen(step.a());
    if (building == null) {
      return;
    }
    int place = builders.indexOf(building);
    // A call that does nothing may leave it to reuse; a start doesn't.
    building.isKept = building.isStarted;
    building.isStarted = true;
    note(
        "builder " + (place + 1) + ".startSpan()",
        () -> {
          Span span = building.builder.startSpan();
          boolean isKept = step.b() % 4 == 0;
          if (isKept && building.hasSettings) {
            isKept = false;
            if (maker == Maker.SDK) {
              Deviation.SETTINGS_DROPPED.occurred();
            }
          }
          if (isKept && !span.isRecording() && maker == Maker.SDK) {
            Deviation.ATTRIBUTES_OF_DROPPED.occurred();
          }
          if (!isKept || !span.isRecording()) {
            builders.remove(building);
          }
          return new Text(started(span));
        });
  }

  private String started(Span span) {
    return name(span)
        + " recording="
        + span.isRecording()
        + " readable="
        + (span instanceof ReadWriteSpan)
        + " "
        + texts.of(span.getSpanContext());
  }

  private void use(Span span, FuzzStep step) {
    String on = name(span);
    switch (step.call()) {
      case ATTRIBUTE -> setAttribute(on, new OfSpan(span), step);
      case ATTRIBUTES -> {
        Attributes attributes = FuzzValues.attributes(step.b());
        note(
            on + ".setAllAttributes(" + texts.of(attributes) + ")",
            () -> span.setAllAttributes(attributes));
      }
      case EVENT -> addEvent(on, span, step);
      case LINK -> {
        SpanContext to = linkTarget(step.b());
        Attributes attributes = FuzzValues.attributes(step.c());
        boolean plain = step.c() / 16 % 3 == 0;
        note(
            on + ".addLink(" + texts.of(to) + (plain ? "" : ", " + texts.of(attributes)) + ")",
            () -> plain ? span.addLink(to) : span.addLink(to, attributes));
      }
      case STATUS -> {
        StatusCode code = FuzzValues.status(step.b());
        String description = FuzzValues.text(step.c());
        boolean plain = step.c() / 16 % 3 == 0;
        note(
            on + ".setStatus(" + code + (plain ? "" : ", " + texts.of(description)) + ")",
            () -> plain ? span.setStatus(code) : span.setStatus(code, description));
      }
      case NAME -> {
        String name = FuzzValues.name(step.b());
        note(on + ".updateName(" + texts.of(name) + ")", () -> span.updateName(name));
      }
      case EXCEPTION -> recordException(on, span, step);
      case END -> end(on, span, step);
      case READ -> read(on, span, step);
      default -> {
        if (span instanceof ReadableSpan readable) {
          note(on + ".toSpanData()", () -> new Text(snapshot(readable)));
        }
      }
    }
  }

  private void addEvent(String on, Span span, FuzzStep step) {
    String name = FuzzValues.name(step.b());
    Attributes attributes = FuzzValues.attributes(step.b() / 16);
    int form = step.c() % 6;
    long time = FuzzValues.time(step.c() / 8);
    TimeUnit unit = FuzzValues.unit(step.c() / 128);
    Instant instant = FuzzValues.instant(step.c() / 1024);
    String call =
        on
            + ".addEvent("
            + texts.of(name)
            + " form "
            + form
            + " "
            + texts.of(attributes)
            + " "
            + time
            + " "
            + unit
            + " "
            + instant
            + ")";
    note(
        call,
        () ->
            switch (form) {
              case 0 -> span.addEvent(name);
              case 1 -> span.addEvent(name, time, unit);
              case 2 -> span.addEvent(name, instant);
              case 3 -> span.addEvent(name, attributes);
              case 4 -> span.addEvent(name, attributes, time, unit);
              default -> span.addEvent(name, attributes, instant);
            });
  }

  private void recordException(String on, Span span, FuzzStep step) {
    Throwable exception = FuzzValues.exception(step.b());
    Attributes attributes = FuzzValues.attributes(step.c());
    boolean plain = step.c() / 16 % 3 == 0;
    note(
        on
            + ".recordException("
            + texts.of(exception)
            + (plain ? "" : ", " + texts.of(attributes))
            + ")",
        () ->
            plain ? span.recordException(exception) : span.recordException(exception, attributes));
  }

  private void end(String on, Span span, FuzzStep step) {
    ended.add(span);
    switch (step.b() % 8) {
      case 0 -> {
        Instant at = FuzzValues.instant(step.c());
        note(
            on + ".end(" + at + ")",
            () -> {
              span.end(at);
              return span.isRecording();
            });
      }
      case 1, 2 -> {
        long time = FuzzValues.time(step.c());
        TimeUnit unit = FuzzValues.unit(step.c() / 16);
        note(
            on + ".end(" + time + ", " + unit + ")",
            () -> {
              span.end(time, unit);
              return span.isRecording();
            });
      }
      default ->
          note(
              on + ".end()",
              () -> {
                span.end();
                return span.isRecording();
              });
    }
  }

  private void read(String on, Span span, FuzzStep step) {
    if (!(span instanceof ReadWriteSpan readable)) {
      note(on + " read", () -> span.isRecording() + texts.of(span.getSpanContext()));
      return;
    }
    AttributeKey<?> key = FuzzValues.key(FuzzValues.type(step.c()), FuzzValues.key(step.b()));
    switch (step.c() / 16 % 8) {
      case 0 -> note(on + ".getName()", readable::getName);
      case 1 -> note(on + ".getKind()", readable::getKind);
      case 2 -> note(on + ".getLatencyNanos()", readable::getLatencyNanos);
      case 3 -> note(on + ".hasEnded()", readable::hasEnded);
      case 4 -> note(on + ".getParentSpanContext()", readable::getParentSpanContext);
      case 5 ->
          note(
              on + ".getInstrumentationScopeInfo()",
              () -> numberOf(readable.getInstrumentationScopeInfo()) + "");
      case 6 -> note(on + ".getAttributes()", readable::getAttributes);
      default -> {
        if (key != null) {
          note(on + ".getAttribute(" + texts.of(key) + ")", () -> readable.getAttribute(key));
        }
      }
    }
  }

  private void with(FuzzStep step) {
    Context from = recent(contexts, step.a());
    if (step.c() % 4 == 0 || spans.isEmpty()) {
      contexts.add(from.with(KEY, "key" + step.b() % 3));
    } else {
      Span span = recent(spans, step.b());
      contexts.add(step.c() % 2 == 0 ? from.with(span) : span.storeInContext(from));
    }
    numberOf(contexts.get(contexts.size() - 1));
  }

  private void makeCurrent(FuzzStep step) {
    if (step.b() % 3 == 0 || spans.isEmpty()) {
      Context context = recent(contexts, step.a());
      note(
          name(context) + ".makeCurrent()",
          () -> {
            scopes.add(new OpenScope(context.makeCurrent(), step.elsewhere()));
            return Span.current();
          });
    } else {
      Span span = recent(spans, step.a());
      note(
          name(span) + ".makeCurrent()",
          () -> {
            scopes.add(new OpenScope(span.makeCurrent(), step.elsewhere()));
            return Span.current() == span;
          });
    }
  }

  private void close(FuzzStep step) {
    if (scopes.isEmpty()) {
      return;
    }
    // Mostly the last one; one that isn't is ignored, and closed again at the end.
    int place = step.b() % 8 == 0 ? step.a() % scopes.size() : scopes.size() - 1;
    OpenScope scope = scopes.get(place);
    if (scope.elsewhere() != step.elsewhere()) {
      return;
    }
    if (place == scopes.size() - 1) {
      scopes.remove(place);
    }
    note(
        "scope " + place + ".close()",
        () -> {
          scope.scope().close();
          return new Text(name(Context.current()));
        });
  }

  // ---- what the pipeline calls -------------------------------------------------------------

  private final class Ids implements IdGenerator {
    private final boolean isRandom;

    Ids(boolean isRandom) {
      this.isRandom = isRandom;
    }

    @Override
    public String generateSpanId() {
      log.add("ids: span");
      return String.format("%016x", 0xabcd_0000_0000_0000L + ++idCalls);
    }

    @Override
    public String generateTraceId() {
      log.add("ids: trace");
      return String.format("%016x%016x", 0x1234_5678_0000_0000L + ++idCalls, seed | 1);
    }

    @Override
    public boolean generatesRandomTraceIds() {
      return isRandom;
    }
  }

  private Sampler sampler(int kind, long bits) {
    return switch (kind) {
      case 0 -> Sampler.alwaysOn();
      case 1 -> Sampler.alwaysOff();
      case 2, 3, 4 -> Sampler.parentBased(Sampler.alwaysOn());
      case 5 -> Sampler.parentBased(Sampler.alwaysOff());
      case 6 -> Sampler.traceIdRatioBased(0.5);
      case 7 -> Sampler.parentBased(Sampler.traceIdRatioBased(0.5));
      case 8 ->
          Sampler.parentBasedBuilder(new Scripted(bits))
              .setLocalParentNotSampled(new Scripted(bits + 1))
              .build();
      default -> new Scripted(bits);
    };
  }

  /** Decides by the number of the call, and tells what it was asked. */
  private final class Scripted implements Sampler {
    private final long bits;

    Scripted(long bits) {
      this.bits = bits;
    }

    @Override
    public SamplingResult shouldSample(
        Context parent,
        String traceId,
        String name,
        SpanKind kind,
        Attributes attributes,
        List<LinkData> links) {
      log.add(
          "sampler: parent="
              + name(parent)
              + " trace="
              + traceId
              + " name="
              + texts.of(name)
              + " kind="
              + kind
              + " attributes="
              + texts.of(attributes)
              + " links="
              + texts.ofLinks(links));
      int dice = new SplittableRandom(bits + samplerCalls++).nextInt(1 << 20);
      if (dice % 29 == 0) {
        startAnother("in sampler", parent);
      }
      SamplingDecision decision =
          dice / 32 % 4 == 0
              ? SamplingDecision.DROP
              : dice / 32 % 4 == 1
                  ? SamplingDecision.RECORD_ONLY
                  : SamplingDecision.RECORD_AND_SAMPLE;
      Attributes more = FuzzValues.attributes(dice / 128);
      Attributes added = dice % 3 == 0 && more != null ? more : Attributes.empty();
      return new SamplingResult() {
        @Override
        public SamplingDecision getDecision() {
          return decision;
        }

        @Override
        public Attributes getAttributes() {
          return added;
        }

        @Override
        public TraceState getUpdatedTraceState(TraceState parentState) {
          log.add("sampler: state of parent=" + parentState.asMap());
          return dice % 5 == 0 ? parentState.toBuilder().put("s", "1").build() : parentState;
        }
      };
    }

    @Override
    public String getDescription() {
      return "Scripted";
    }
  }

  /** A span within the start or end of another. */
  private void startAnother(String name, Context parent) {
    if (nested == MAX_NESTED) {
      return;
    }
    nested++;
    try {
      Span span =
          spanBuilder(tracers.get(0), name)
              .setAttribute("nested", nested)
              .setParent(parent)
              .startSpan();
      log.add(name + ": " + started(span));
      span.end();
      ended.add(span);
    } finally {
      nested--;
    }
  }

  /** Tells what it is called with, and now and then does something with it. */
  private final class Watcher implements SpanProcessor {
    private final int number;
    private final int required;
    private final long bits;
    private int calls;

    Watcher(int number, int required, long bits) {
      this.number = number;
      this.required = required;
      this.bits = bits;
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
      log.add(
          "watcher "
              + number
              + " onStart "
              + name(parent)
              + " "
              + name(span)
              + " "
              + readAll(span));
      int dice = new SplittableRandom(bits + calls++).nextInt(1 << 20);
      switch (dice % 24) {
        case 0 -> span.setAttribute("watched", number);
        case 1 -> span.updateName("renamed");
        case 2 -> span.addEvent("seen");
        case 3 -> span.end();
        case 4 -> startAnother("in onStart", parent);
        case 5 -> startAnother("under onStart", parent.with(span));
        case 6 -> throw new IllegalStateException("onStart");
        case 7 -> span.setStatus(StatusCode.ERROR, "early");
        default -> {}
      }
    }

    @Override
    public boolean isStartRequired() {
      return required != 1;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      log.add("watcher " + number + " onEnd " + name(span) + " " + readAll((Span) span));
      int dice = new SplittableRandom(bits + calls++).nextInt(1 << 20);
      switch (dice % 24) {
        case 0 -> ((Span) span).setAttribute("too", "late");
        case 1 -> ((Span) span).end();
        case 2 -> startAnother("in onEnd", Context.current());
        case 3 -> throw new IllegalStateException("onEnd");
        default -> {}
      }
    }

    @Override
    public boolean isEndRequired() {
      return required != 2;
    }
  }

  /** In the world of the SDK: keeps what a processor throws from the application. */
  private SpanProcessor guarded(SpanProcessor processor) {
    if (maker != Maker.SDK) {
      return processor;
    }
    return new SpanProcessor() {
      @Override
      public void onStart(Context parent, ReadWriteSpan span) {
        try {
          processor.onStart(parent, span);
        } catch (IllegalStateException e) {
          Deviation.PROCESSOR_GUARDED.occurred();
        }
      }

      @Override
      public boolean isStartRequired() {
        return processor.isStartRequired();
      }

      @Override
      public void onEnd(ReadableSpan span) {
        try {
          processor.onEnd(span);
        } catch (IllegalStateException e) {
          Deviation.PROCESSOR_GUARDED.occurred();
        }
      }

      @Override
      public boolean isEndRequired() {
        return processor.isEndRequired();
      }
    };
  }

  /** A span of neither maker. */
  private static final class ForeignSpan implements Span {
    private final SpanContext context =
        SpanContext.create(
            "11111111111111111111111111111111",
            "2222222222222222",
            io.opentelemetry.api.trace.TraceFlags.getSampled(),
            TraceState.builder().put("foreign", "1").build());

    @Override
    public <T> Span setAttribute(AttributeKey<T> key, @Nullable T value) {
      return this;
    }

    @Override
    public Span addEvent(String name, Attributes attributes) {
      return this;
    }

    @Override
    public Span addEvent(String name, Attributes attributes, long timestamp, TimeUnit unit) {
      return this;
    }

    @Override
    public Span setStatus(StatusCode statusCode, String description) {
      return this;
    }

    @Override
    public Span recordException(Throwable exception, Attributes additionalAttributes) {
      return this;
    }

    @Override
    public Span updateName(String name) {
      return this;
    }

    @Override
    public void end() {}

    @Override
    public void end(long timestamp, TimeUnit unit) {}

    @Override
    public SpanContext getSpanContext() {
      return context;
    }

    @Override
    public boolean isRecording() {
      return true;
    }
  }
}
