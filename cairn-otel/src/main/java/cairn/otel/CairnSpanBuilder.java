package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceId;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.samplers.SamplingDecision;
import io.opentelemetry.sdk.trace.samplers.SamplingResult;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * Builds a span. One thread, as the API has it, or one after the other.
 *
 * <p>As of the SDK's builder, more than one span can be started from it: the later ones have the
 * same name, parent, kind and start time, and the attributes and links that were set since the last
 * start.
 */
class CairnSpanBuilder implements SpanBuilder {
  /*
   * Used again within a thread, behind an API that knows nothing of it. The word `use` says whose it
   * is:
   *
   *   PRIVATE   nobody uses it again: made for one span, or it has left the cache for good
   *   IN_USE    of a cache, from spanBuilder to the return of startSpan on its thread
   *   SPENT     of a cache, until the thread asks for a builder of that name: see BuilderCache
   *   KEEPS     of its owner, for any number of spans
   *
   * IN_USE -> SPENT   at the end of startSpan, by the cache's thread only. Started by another thread
   *                   it stays IN_USE, so the cache lets it go at the next request.
   * SPENT -> IN_USE   at a request: a CAS, by the cache's thread.
   * SPENT -> PRIVATE  when anybody calls anything on it: a CAS. It is never anybody else's again.
   *
   * So a builder that was kept, in a field say, starts more spans, of its tracer and name whoever had
   * it in between, and no call on it reaches another's; with one exception, which would cost an
   * object per span to close: if the first such call comes while the thread is between spanBuilder
   * and startSpan with this very builder, for a span of that name, the call counts for that span.
   *
   * A start drops all settings but the kind, in every state but KEEPS: a builder in the cache keeps
   * nothing alive, and whether a later span has a parent does not depend on who had the builder in
   * between. The SDK keeps parent and start time. Rejected: a second startSpan that starts nothing.
   * The API leaves it undefined, the SDK starts a span, and missing spans are the worse surprise.
   *
   * Calls of other code (a key, a list, the sampler, a supplier of limits) may use the tracer while
   * this builder is IN_USE: they get another builder.
   *
   * Attributes lie in a store that startSpan hands to the span; when that ends, the store may become
   * another's. So only the builder's own thread ever writes into it. What other threads set goes to
   * a place apart, under a monitor, and startSpan adds a copy of it; where another thread starts the
   * span, all is copied and the store is left to the collector. Two threads on one builder at once,
   * which the API forbids, lose attributes of that span at most.
   *
   * A builder for any number of spans keeps its store and gives each span a copy; startSpan changes
   * nothing in it, so any threads may start spans from it.
   */

  private static final AtomicIntegerFieldUpdater<CairnSpanBuilder> USE =
      AtomicIntegerFieldUpdater.newUpdater(CairnSpanBuilder.class, "use");

  private static final int PRIVATE = 0;
  private static final int IN_USE = 1;
  private static final int SPENT = 2;
  private static final int KEEPS = 3;

  private static final int SAMPLED = 1;

  /** W3C Trace Context, level 2. */
  private static final int RANDOM_TRACE_ID = 2;

  /** Tells a sampler that a root's trace id will be random. */
  private static final Span RANDOM_ROOT =
      Span.wrap(
          SpanContext.create(
              TraceId.getInvalid(),
              SpanId.getInvalid(),
              TraceFlags.fromByte((byte) RANDOM_TRACE_ID),
              TraceState.getDefault()));

  private volatile int use;

  /** The thread that asked for it. */
  private @Nullable Thread owner;

  /** What other threads set. Guarded by this builder's monitor; racy where it only says if any. */
  private @Nullable Foreign foreign;

  private @Nullable RecordingTracer tracer;
  private @Nullable Limits limits;
  private @Nullable String name;
  private @Nullable Context parent;
  private SpanKind kind = SpanKind.INTERNAL;
  private @Nullable AttributeStore store;
  private @Nullable List<LinkData> links;
  private int totalLinks;
  private long startEpochNanos;

  /** Attributes and links of threads that are not the builder's; never pooled. */
  private static final class Foreign {
    final AttributeStore attributes = new AttributeStore();
    final List<LinkData> links = new ArrayList<>();
    int totalLinks;
  }

  // ---- the cache

  /** Becomes a builder of the calling thread's cache, in use. */
  final void join() {
    use = IN_USE;
  }

  final boolean isOf(RecordingTracer asking, String asked) {
    return tracer == asking && asked.equals(name);
  }

  /** {@return whether it was spent, and is in use now} */
  final boolean claim() {
    // Acquires what the release in spend published, which is of the same thread.
    return USE.compareAndSet(this, SPENT, IN_USE);
  }

  /** Starts a use: every field is as in a new builder, but for these. */
  final void begin(RecordingTracer newTracer, String newName, Limits newLimits) {
    owner = Thread.currentThread();
    foreign = null;
    tracer = newTracer;
    name = newName;
    limits = newLimits;
    parent = null;
    kind = SpanKind.INTERNAL;
    store = null;
    links = null;
    totalLinks = 0;
    startEpochNanos = 0;
  }

  final void keepSettings() {
    use = KEEPS;
  }

  /** Before any call: what was spent is the caller's own from here on. */
  private RecordingTracer own() {
    RecordingTracer known = tracer;
    if (known == null) {
      throw new AssertionError(); // begin comes first
    }
    if (use == SPENT && USE.compareAndSet(this, SPENT, PRIVATE)) {
      known.tracing.staleBuilders.increment();
    }
    return known;
  }

  private boolean isOwner() {
    return owner == Thread.currentThread();
  }

  /**
   * {@return whether what is set goes to the place apart: once something does, all does, in order}
   */
  private boolean isApart() {
    return foreign != null || !isOwner();
  }

  private void spend() {
    if (use == IN_USE && isOwner()) {
      USE.lazySet(this, SPENT);
    }
  }

  // ---- settings

  @Override
  public SpanBuilder setParent(@Nullable Context context) {
    RecordingTracer unused = own();
    if (context != null) {
      parent = context;
    }
    return this;
  }

  @Override
  public SpanBuilder setNoParent() {
    RecordingTracer unused = own();
    parent = Context.root();
    return this;
  }

  @Override
  public SpanBuilder setSpanKind(@Nullable SpanKind newKind) {
    RecordingTracer unused = own();
    if (newKind != null) {
      kind = newKind;
    }
    return this;
  }

  @Override
  public SpanBuilder setStartTimestamp(long timestamp, @Nullable TimeUnit unit) {
    RecordingTracer unused = own();
    if (timestamp >= 0 && unit != null) {
      startEpochNanos = unit.toNanos(timestamp);
    }
    return this;
  }

  @Override
  public SpanBuilder addLink(@Nullable SpanContext linked) {
    return addLink(linked, null);
  }

  @Override
  public SpanBuilder addLink(@Nullable SpanContext linked, @Nullable Attributes given) {
    RecordingTracer of = own();
    Limits within = within();
    LinkData link = of.link(linked, given, within);
    if (link == null) {
      return this;
    }
    if (isApart()) {
      synchronized (this) {
        Foreign apart = foreign();
        if (apart.links.size() < within.links()) {
          apart.links.add(link);
        }
        apart.totalLinks++;
      }
      return this;
    }
    List<LinkData> all = links;
    if (all == null) {
      all = new ArrayList<>(4);
      links = all;
    }
    if (all.size() < within.links()) {
      all.add(link);
    }
    totalLinks++;
    return this;
  }

  @Override
  public SpanBuilder setAttribute(@Nullable String key, @Nullable String value) {
    return setAttribute(own().tracing.keys.text(key), value);
  }

  @Override
  public SpanBuilder setAttribute(@Nullable String key, long value) {
    RecordingTracer of = own();
    AttributeKey<Long> known = of.tracing.keys.integer(key);
    if (known != null) {
      setLong(of, known, known.getKey(), value);
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(@Nullable AttributeKey<Long> key, int value) {
    RecordingTracer of = own();
    String keyName = RecordingTracer.nameOf(key, of.tracing.faults);
    if (key != null && keyName != null) {
      setLong(of, key, keyName, value);
    }
    return this;
  }

  private void setLong(RecordingTracer of, AttributeKey<Long> key, String keyName, long value) {
    if (isApart()) {
      setForeign(key, keyName, value);
    } else {
      boolean unused = store(of).putLong(within().attributes(), key, keyName, value);
    }
  }

  @Override
  public SpanBuilder setAttribute(@Nullable String key, double value) {
    RecordingTracer of = own();
    AttributeKey<Double> known = of.tracing.keys.floating(key);
    if (known == null) {
      return this;
    }
    if (isApart()) {
      setForeign(known, known.getKey(), value);
    } else {
      boolean unused = store(of).putDouble(within().attributes(), known, known.getKey(), value);
    }
    return this;
  }

  @Override
  public SpanBuilder setAttribute(@Nullable String key, boolean value) {
    return setAttribute(own().tracing.keys.bool(key), (Boolean) value);
  }

  @Override
  public <T> SpanBuilder setAttribute(@Nullable AttributeKey<T> key, @Nullable T value) {
    RecordingTracer of = own();
    String keyName = RecordingTracer.nameOf(key, of.tracing.faults);
    if (key != null && keyName != null && value != null) {
      try {
        Object kept = Values.keep(value, within().valueLength());
        if (isApart()) {
          setForeign(key, keyName, kept);
        } else {
          boolean unused = store(of).put(within().attributes(), key, keyName, kept);
        }
      } catch (Throwable e) {
        of.tracing.faults.note("value of an attribute threw, it is not set: " + keyName, e);
      }
    }
    return this;
  }

  private synchronized void setForeign(AttributeKey<?> key, String keyName, Object kept) {
    boolean unused = foreign().attributes.put(within().attributes(), key, keyName, kept);
  }

  /** Under the monitor. */
  private Foreign foreign() {
    Foreign known = foreign;
    if (known == null) {
      known = new Foreign();
      foreign = known;
    }
    return known;
  }

  private Limits within() {
    Limits known = limits;
    if (known == null) {
      throw new AssertionError(); // begin comes first
    }
    return known;
  }

  private AttributeStore store(RecordingTracer of) {
    AttributeStore known = store;
    if (known == null) {
      known = of.tracing.stores.acquire();
      store = known;
    }
    return known;
  }

  // ---- start

  @Override
  public Span startSpan() {
    RecordingTracer of = own();
    try {
      return start(of);
    } catch (Throwable e) {
      of.tracing.faults.note("span was not started: " + name, e);
      return Span.getInvalid();
    } finally {
      if (use != KEEPS) {
        parent = null;
        startEpochNanos = 0;
        totalLinks = 0;
      }
      spend();
    }
  }

  private Span start(RecordingTracer of) {
    Tracing tracing = of.tracing;
    Limits within = within();
    String spanName = name == null ? RecordingTracer.UNSPECIFIED_NAME : name;
    Context parentContext = parent == null ? Context.current() : parent;
    Span parentSpan = Span.fromContext(parentContext);

    // The parent, without making its SpanContext where it is one of ours.
    long traceHigh = 0;
    long traceLow = 0;
    long parentId = 0;
    int parentFlags = 0;
    boolean remote = false;
    TraceState state = TraceState.getDefault();
    SpanContext parentToKeep = null;
    boolean anchored = false;
    long anchor = 0;
    if (parentSpan instanceof CairnSpan above) {
      traceHigh = above.traceHigh();
      traceLow = above.traceLow();
      parentId = above.spanId();
      parentFlags = above.flags();
      state = above.traceState();
      if (!state.isEmpty()) {
        parentToKeep = above.getSpanContext();
      }
      anchored = tracing.hasClockOf(above.tracing());
      anchor = above.anchor();
    } else if (parentSpan instanceof UnsampledSpan above) {
      traceHigh = above.traceHigh();
      traceLow = above.traceLow();
      parentId = above.spanId();
      parentFlags = above.flags();
      state = above.traceState();
      if (!state.isEmpty()) {
        parentToKeep = above.getSpanContext();
      }
    } else {
      SpanContext above = parentSpan.getSpanContext();
      if (above != SpanContext.getInvalid()) {
        state = above.getTraceState();
        if (above.isValid()
            && Hex.isHex(above.getTraceId(), Hex.TRACE_ID_DIGITS)
            && Hex.isHex(above.getSpanId(), Hex.SPAN_ID_DIGITS)) {
          traceHigh = Hex.parse(above.getTraceId(), 0);
          traceLow = Hex.parse(above.getTraceId(), Hex.SPAN_ID_DIGITS);
          parentId = Hex.parse(above.getSpanId(), 0);
          parentFlags = above.getTraceFlags().asByte() & 0xff;
          remote = above.isRemote();
          if (!state.isEmpty()) {
            parentToKeep = above;
          }
        } else {
          parentToKeep = above;
        }
      }
    }
    boolean root = parentId == 0;

    // Ids: the span's first, as the SDK asks a generator.
    long spanId;
    IdGenerator generator = tracing.generator;
    if (generator == null) {
      long idState = tracing.ids.next();
      spanId = tracing.ids.spanId(idState);
      if (root) {
        traceHigh = tracing.ids.traceHigh(idState);
        traceLow = tracing.ids.traceLow(idState);
      }
    } else {
      String id = generator.generateSpanId();
      spanId = Hex.isHex(id, Hex.SPAN_ID_DIGITS) ? Hex.parse(id, 0) : 0;
      if (root) {
        String traceId = generator.generateTraceId();
        boolean valid = Hex.isHex(traceId, Hex.TRACE_ID_DIGITS);
        traceHigh = valid ? Hex.parse(traceId, 0) : 0;
        traceLow = valid ? Hex.parse(traceId, Hex.SPAN_ID_DIGITS) : 0;
      }
      if (spanId == 0 || (traceHigh | traceLow) == 0) {
        // As the SDK: half an id is none.
        spanId = 0;
        traceHigh = 0;
        traceLow = 0;
      }
    }
    boolean random = root ? tracing.generatesRandomTraceIds : (parentFlags & RANDOM_TRACE_ID) != 0;

    AttributeStore attributes = takeStore(tracing, within);
    List<LinkData> spanLinks = takeLinks(within);
    int spanLinksTotal = takeForeign();

    boolean sampled;
    boolean recordOnly = false;
    switch (tracing.sampling) {
      case Tracing.ALWAYS_ON -> sampled = true;
      case Tracing.ALWAYS_OFF -> sampled = false;
      case Tracing.PARENT_OR_ON -> sampled = root || (parentFlags & SAMPLED) != 0;
      case Tracing.PARENT_OR_OFF -> sampled = !root && (parentFlags & SAMPLED) != 0;
      default -> {
        Context asked = root && random ? parentContext.with(RANDOM_ROOT) : parentContext;
        Decision decision =
            ask(tracing, asked, spanName, traceHigh, traceLow, attributes, spanLinks, state);
        state = decision.state();
        sampled = decision.decision() == SamplingDecision.RECORD_AND_SAMPLE;
        recordOnly = decision.decision() == SamplingDecision.RECORD_ONLY;
        if (!decision.attributes().isEmpty()) {
          if (attributes == null) {
            attributes = tracing.stores.acquire();
          }
          of.putAll(attributes, decision.attributes(), within);
        }
      }
    }
    int flags = (sampled ? SAMPLED : 0) | (random ? RANDOM_TRACE_ID : 0);

    // One clock for a local root and all below it.
    long start = startEpochNanos;
    Clock clock = tracing.clock;
    long nanos = clock == null ? System.nanoTime() : 0;
    if (anchored) {
      if (start == 0) {
        start = (clock == null ? nanos : clock.nanoTime()) + anchor;
      }
    } else {
      long now;
      if (clock == null) {
        anchor = tracing.anchorAt(nanos);
        now = nanos + anchor;
      } else {
        now = clock.now();
        anchor = now - clock.nanoTime();
      }
      if (start == 0) {
        start = now;
      }
    }

    long handle =
        tracing.box.begin(
            spanName,
            traceHigh,
            traceLow,
            spanId,
            parentId,
            Numbers.of(kind),
            flags,
            start,
            nanos,
            attributes);
    if (attributes != null && handle != OpenSpans.NONE) {
      record(tracing, handle, attributes);
    }
    if (!sampled && !recordOnly) {
      if (attributes != null) {
        tracing.stores.release(attributes);
      }
      return new UnsampledSpan(tracing, traceHigh, traceLow, spanId, flags, state, handle);
    }
    CairnSpan.More more = null;
    if (spanLinksTotal != 0 || !state.isEmpty() || parentToKeep != null) {
      more = new CairnSpan.More();
      more.traceState = state.isEmpty() ? null : state;
      more.parent = parentToKeep;
      more.links = spanLinks;
      more.totalLinks = spanLinksTotal;
    }
    CairnSpan span =
        new CairnSpan(
            of,
            within,
            spanName,
            traceHigh,
            traceLow,
            spanId,
            parentId,
            CairnSpan.word(kind, flags, parentFlags, remote),
            start,
            anchor,
            handle,
            attributes,
            more);
    tracing.processors.onStart(parentContext, span);
    return span;
  }

  private void record(Tracing tracing, long handle, AttributeStore attributes) {
    try {
      attributes.recordOthers(tracing.box, handle);
    } catch (Throwable e) {
      tracing.faults.note("value of an attribute threw, the box may lack some: " + name, e);
    }
  }

  /** {@return the attributes of the span that starts: in a store that nobody else has} */
  private @Nullable AttributeStore takeStore(Tracing tracing, Limits within) {
    AttributeStore known = store;
    Foreign apart = foreign;
    if (use != KEEPS) {
      store = null;
      if (apart == null && isOwner()) {
        return known;
      }
    }
    if (known == null && apart == null) {
      return null;
    }
    AttributeStore copy = tracing.stores.acquire();
    if (known != null) {
      copy.putAll(within.attributes(), known);
    }
    if (apart != null) {
      synchronized (this) {
        copy.putAll(within.attributes(), apart.attributes);
      }
    }
    return copy;
  }

  /** {@return the links of the span that starts: in a list that nobody else has} */
  private @Nullable List<LinkData> takeLinks(Limits within) {
    List<LinkData> known = links;
    Foreign apart = foreign;
    if (use != KEEPS) {
      links = null;
      if (apart == null && isOwner()) {
        return known;
      }
    }
    if (known == null && apart == null) {
      return null;
    }
    List<LinkData> copy = known == null ? new ArrayList<>() : new ArrayList<>(known);
    if (apart != null) {
      synchronized (this) {
        for (LinkData link : apart.links) {
          if (copy.size() < within.links()) {
            copy.add(link);
          }
        }
      }
    }
    return copy;
  }

  /** Forgets what other threads set, and counts it: the span has it, or it is too late for it. */
  private int takeForeign() {
    Foreign apart = foreign;
    if (apart == null) {
      return totalLinks;
    }
    synchronized (this) {
      if (use == KEEPS) {
        return totalLinks + apart.totalLinks;
      }
      foreign = null;
      totalLinks += apart.totalLinks;
      return totalLinks;
    }
  }

  // ---- a sampler that has to be asked

  private record Decision(SamplingDecision decision, TraceState state, Attributes attributes) {}

  private Decision ask(
      Tracing tracing,
      Context asked,
      String spanName,
      long traceHigh,
      long traceLow,
      @Nullable AttributeStore attributes,
      @Nullable List<LinkData> spanLinks,
      TraceState parentState) {
    try {
      SamplingResult result =
          tracing.sampler.shouldSample(
              asked,
              Hex.of(traceHigh, traceLow),
              spanName,
              kind,
              attributes == null ? Attributes.empty() : attributes.freeze(),
              spanLinks == null ? List.of() : List.copyOf(spanLinks));
      return new Decision(
          result.getDecision(), result.getUpdatedTraceState(parentState), result.getAttributes());
    } catch (Throwable e) {
      tracing.faults.note("sampler threw, the span is not sampled: " + spanName, e);
      return new Decision(SamplingDecision.DROP, parentState, Attributes.empty());
    }
  }

  @Override
  public String toString() {
    return "CairnSpanBuilder{name=" + name + ", kind=" + kind + '}';
  }
}
