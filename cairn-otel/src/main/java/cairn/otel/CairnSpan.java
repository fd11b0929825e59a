package cairn.otel;

import cairn.Level;
import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A recording span: in the box while it is open, and with the processors. */
final class CairnSpan implements ReadWriteSpan {
  /*
   * One object of 96 bytes, and nothing else until somebody asks for more: ids are numbers, the
   * SpanContext with its texts is made when it is asked for, attributes lie in a store from a pool,
   * and what few spans have (links, events, a trace state) in one more object, More.
   *
   * The state word says how the span stands (open, ending, ended), what never changes and is small
   * (kind, flags), and holds the lock: a bit. Every change of a field that is not final is made
   * with the bit set, every read of them too, but for the word itself and the context.
   *
   * Locking. CAS of the word with the bit clear to the word with the bit set, spinning, then
   * yielding; a volatile store of the new word ends it. Between the two no code but ours runs, and
   * nothing blocks: what a caller's object has to say (the name in a key, elements of a list, limits)
   * is asked before, the box is written after, exporters are called after. So the bit is held for
   * some nanoseconds, or as long as its thread is off the processor; hence the yield. Nothing is
   * pinned, no monitor is inflated. An error of the virtual machine in between unlocks in a finally,
   * and that is why it is a plain assignment of a volatile field and not a release by a method: a
   * call needs a frame, and where the stack was full it left the bit set for ever.
   *
   * End. One thread makes open ending or ended; that step takes the store out of the span, and the
   * end time takes the place of the handle, which is of no use any more. So whoever gets the lock
   * later finds an ended span and touches neither. A thread that took the handle before and writes
   * into the box only now finds the handle's generation over. Then the box is told, then the
   * processors. Ending is a state of its own only where a processor wants to change spans in it;
   * then the ending thread alone may.
   *
   * Without a processor nobody is going to read an ended span, so its attributes are gone with the
   * end. With one, the span keeps a copy of exactly their size; the store goes back to the pool in
   * both cases.
   *
   * A child copies the ids of its parent and the anchor of its clock, never a reference: an open
   * span keeps nothing of its ancestors alive.
   */

  static final AtomicIntegerFieldUpdater<CairnSpan> WORD =
      AtomicIntegerFieldUpdater.newUpdater(CairnSpan.class, "word");

  private static final int LOCKED = 1;
  private static final int ENDING = 1 << 1;
  private static final int ENDED = 1 << 2;
  private static final int KIND_SHIFT = 3;
  private static final int KIND_MASK = 7;
  private static final int STATUS_SHIFT = 6;
  private static final int STATUS_MASK = 3;
  private static final int FLAGS_SHIFT = 8;
  private static final int PARENT_FLAGS_SHIFT = 16;
  private static final int PARENT_REMOTE = 1 << 24;
  private static final int SPINS = 64;

  private static final SpanKind[] KINDS = SpanKind.values();
  private static final StatusCode[] CODES = StatusCode.values();

  private final long traceHigh;
  private final long traceLow;
  private final long spanId;
  private final long parentSpanId;
  private final long startEpochNanos;

  /** Wall clock time is the clock's nanoTime and this. */
  private final long anchor;

  /** While open, of the box; once ended, the end time. */
  private long handleOrEnd;

  private volatile int word;
  private final RecordingTracer tracer;
  private final Limits limits;
  private String name;

  /** Null, an {@link AttributeStore} while open, {@link FrozenAttributes} once ended. */
  private @Nullable Object attributes;

  // Racy reads are all right: its fields are final, and it is set once, under the lock.
  private @Nullable SpanContext context;
  private @Nullable More more;

  /** What few spans have. Read and written under the span's lock. */
  static final class More {
    /** Null: the default, an empty one. Set before the span is published. */
    @Nullable TraceState traceState;

    /** Null: what the ids say. Set before the span is published. */
    @Nullable SpanContext parent;

    @Nullable List<LinkData> links;
    int totalLinks;
    @Nullable List<EventData> events;
    int totalEvents;
    @Nullable String statusDescription;

    /** Who may change the span while it is ending, and when it ended. */
    @Nullable Thread endingThread;

    long endEpochNanos;
  }

  /**
   * @param word of {@link #word}
   */
  CairnSpan(
      RecordingTracer tracer,
      Limits limits,
      String name,
      long traceHigh,
      long traceLow,
      long spanId,
      long parentSpanId,
      int word,
      long startEpochNanos,
      long anchor,
      long handle,
      @Nullable AttributeStore attributes,
      @Nullable More more) {
    this.tracer = tracer;
    this.limits = limits;
    this.name = name;
    this.traceHigh = traceHigh;
    this.traceLow = traceLow;
    this.spanId = spanId;
    this.parentSpanId = parentSpanId;
    this.startEpochNanos = startEpochNanos;
    this.anchor = anchor;
    this.handleOrEnd = handle;
    this.attributes = attributes;
    this.more = more;
    WORD.lazySet(this, word);
  }

  /** {@return the state word of a span that begins} */
  static int word(SpanKind kind, int flags, int parentFlags, boolean parentRemote) {
    return Numbers.of(kind) << KIND_SHIFT
        | flags << FLAGS_SHIFT
        | parentFlags << PARENT_FLAGS_SHIFT
        | (parentRemote ? PARENT_REMOTE : 0);
  }

  // ---- the lock

  /**
   * Takes the lock, which must be given back by an assignment to {@link #word} in a {@code
   * finally}.
   *
   * @return the word, as it is to be assigned unless something of it changes
   */
  @SuppressWarnings("ThreadPriorityCheck") // the holder may be waiting for this processor
  private int lock() {
    for (int spins = 0; ; spins++) {
      int open = word;
      if ((open & LOCKED) == 0 && WORD.compareAndSet(this, open, open | LOCKED)) {
        return open;
      }
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  /** Under the lock. */
  private boolean isClosed(int open) {
    if ((open & (ENDING | ENDED)) == 0) {
      return false;
    }
    More rare = more;
    return (open & ENDED) != 0 || rare == null || rare.endingThread != Thread.currentThread();
  }

  /** Under the lock. */
  private More more() {
    More rare = more;
    if (rare == null) {
      rare = new More();
      more = rare;
    }
    return rare;
  }

  /** Under the lock. */
  private AttributeStore store() {
    if (attributes instanceof AttributeStore store) {
      return store;
    }
    AttributeStore store = tracer.tracing.stores.acquire();
    attributes = store;
    return store;
  }

  // ---- attributes

  @Override
  public ReadWriteSpan setAttribute(@Nullable String key, @Nullable String value) {
    return setAttribute(tracer.tracing.keys.text(key), value);
  }

  @Override
  public ReadWriteSpan setAttribute(@Nullable String key, long value) {
    AttributeKey<Long> of = tracer.tracing.keys.integer(key);
    if (of != null) {
      setLong(of, of.getKey(), value);
    }
    return this;
  }

  @Override
  public ReadWriteSpan setAttribute(@Nullable String key, double value) {
    AttributeKey<Double> of = tracer.tracing.keys.floating(key);
    if (of == null) {
      return this;
    }
    long handle = OpenSpans.NONE;
    boolean put = false;
    int open = lock();
    try {
      if (!isClosed(open)) {
        put = store().putDouble(limits.attributes(), of, of.getKey(), value);
        handle = handleOrEnd;
      }
    } finally {
      word = open; // unlocks
    }
    if (put) {
      tracer.tracing.box.set(handle, of.getKey(), value);
    }
    return this;
  }

  @Override
  public ReadWriteSpan setAttribute(@Nullable String key, boolean value) {
    return setAttribute(tracer.tracing.keys.bool(key), (Boolean) value);
  }

  @Override
  public ReadWriteSpan setAttribute(@Nullable AttributeKey<Long> key, int value) {
    String keyName = nameOf(key);
    if (key != null && keyName != null) {
      setLong(key, keyName, value);
    }
    return this;
  }

  private void setLong(AttributeKey<Long> key, String keyName, long value) {
    long handle = OpenSpans.NONE;
    boolean put = false;
    int open = lock();
    try {
      if (!isClosed(open)) {
        put = store().putLong(limits.attributes(), key, keyName, value);
        handle = handleOrEnd;
      }
    } finally {
      word = open; // unlocks
    }
    if (put) {
      tracer.tracing.box.set(handle, keyName, value);
    }
  }

  @Override
  public <T> ReadWriteSpan setAttribute(@Nullable AttributeKey<T> key, @Nullable T value) {
    if (value == null || (word & ENDED) != 0) {
      return this;
    }
    String keyName = nameOf(key);
    if (key == null || keyName == null) {
      return this;
    }
    Object kept;
    try {
      kept = Values.keep(value, limits.valueLength());
    } catch (Throwable e) {
      tracer.tracing.faults.note("value of an attribute threw, it is not set: " + keyName, e);
      return this;
    }
    long handle = OpenSpans.NONE;
    boolean put = false;
    int open = lock();
    try {
      if (!isClosed(open)) {
        put = store().put(limits.attributes(), key, keyName, kept);
        handle = handleOrEnd;
      }
    } finally {
      word = open; // unlocks
    }
    if (put && handle != OpenSpans.NONE) {
      record(handle, keyName, kept);
    }
    return this;
  }

  private void record(long handle, String keyName, Object kept) {
    try {
      Values.record(tracer.tracing.box, handle, keyName, kept);
    } catch (Throwable e) {
      tracer.tracing.faults.note("value of an attribute threw, the box has it not: " + keyName, e);
    }
  }

  /** {@return the key's name, or null if it is no key} A key may be of a class of anybody. */
  private @Nullable String nameOf(@Nullable AttributeKey<?> key) {
    return RecordingTracer.nameOf(key, tracer.tracing.faults);
  }

  // ---- events

  @Override
  public ReadWriteSpan addEvent(@Nullable String eventName) {
    if (eventName != null) {
      addEvent(EventData.create(now(), eventName, Attributes.empty(), 0));
    }
    return this;
  }

  @Override
  public ReadWriteSpan addEvent(
      @Nullable String eventName, long timestamp, @Nullable TimeUnit unit) {
    if (eventName != null && unit != null) {
      addEvent(EventData.create(unit.toNanos(timestamp), eventName, Attributes.empty(), 0));
    }
    return this;
  }

  @Override
  public ReadWriteSpan addEvent(@Nullable String eventName, @Nullable Attributes given) {
    if (eventName != null) {
      addEvent(now(), eventName, given);
    }
    return this;
  }

  @Override
  public ReadWriteSpan addEvent(
      @Nullable String eventName,
      @Nullable Attributes given,
      long timestamp,
      @Nullable TimeUnit unit) {
    if (eventName != null && unit != null) {
      addEvent(unit.toNanos(timestamp), eventName, given);
    }
    return this;
  }

  private void addEvent(long epochNanos, String eventName, @Nullable Attributes given) {
    try {
      Attributes all = given == null ? Attributes.empty() : given;
      Attributes kept = Values.limited(all, limits.attributesPerEvent(), limits.valueLength());
      addEvent(EventData.create(epochNanos, eventName, kept, all.size()));
    } catch (Throwable e) {
      tracer.tracing.faults.note("attributes threw, the event is not added: " + eventName, e);
    }
  }

  private void addEvent(EventData event) {
    long handle = OpenSpans.NONE;
    int open = lock();
    try {
      if (isClosed(open)) {
        return;
      }
      More rare = more();
      List<EventData> events = rare.events;
      if (events == null) {
        events = new ArrayList<>(4);
        rare.events = events;
      }
      if (events.size() < limits.events()) {
        events.add(event);
      }
      rare.totalEvents++;
      handle = handleOrEnd;
    } finally {
      word = open; // unlocks
    }
    tracer.tracing.box.event(handle);
  }

  @Override
  public ReadWriteSpan recordException(@Nullable Throwable exception) {
    return recordException(exception, Attributes.empty());
  }

  @Override
  public ReadWriteSpan recordException(
      @Nullable Throwable exception, @Nullable Attributes additional) {
    if (exception == null || (word & ENDED) != 0) {
      return this;
    }
    Exceptions.Described described = Exceptions.describe(exception, limits);
    tracer.tracing.box.breadcrumb(
        Level.ERROR, Exceptions.CATEGORY, described.summary(), null, spanId);
    AttributeStore store = tracer.tracing.stores.acquire();
    FrozenAttributes kept;
    try {
      described.putInto(store, limits);
      if (additional != null) {
        tracer.putAll(store, additional, limits);
      }
      kept = store.freeze();
    } finally {
      tracer.tracing.stores.release(store);
    }
    addEvent(Exceptions.event(now(), exception, kept));
    return this;
  }

  // ---- links, name, status

  @Override
  public ReadWriteSpan addLink(@Nullable SpanContext linked) {
    return addLink(linked, null);
  }

  @Override
  public ReadWriteSpan addLink(@Nullable SpanContext linked, @Nullable Attributes given) {
    LinkData link = tracer.link(linked, given, limits);
    if (link == null) {
      return this;
    }
    int open = lock();
    try {
      if (!isClosed(open)) {
        More rare = more();
        List<LinkData> links = rare.links;
        if (links == null) {
          links = new ArrayList<>(4);
          rare.links = links;
        }
        if (links.size() < limits.links()) {
          links.add(link);
        }
        rare.totalLinks++;
      }
    } finally {
      word = open; // unlocks
    }
    return this;
  }

  @Override
  public ReadWriteSpan updateName(@Nullable String newName) {
    if (newName == null) {
      return this;
    }
    long handle = OpenSpans.NONE;
    int open = lock();
    try {
      if (!isClosed(open)) {
        name = newName;
        handle = handleOrEnd;
      }
    } finally {
      word = open; // unlocks
    }
    tracer.tracing.box.rename(handle, newName);
    return this;
  }

  @Override
  public ReadWriteSpan setStatus(@Nullable StatusCode code) {
    return setStatus(code, "");
  }

  @Override
  public ReadWriteSpan setStatus(@Nullable StatusCode code, @Nullable String description) {
    if (code == null || code == StatusCode.UNSET) {
      return this;
    }
    String kept = code == StatusCode.ERROR && description != null ? description : "";
    long handle = OpenSpans.NONE;
    int open = lock();
    int changed = open;
    try {
      if (!isClosed(open) && status(open) != StatusCode.OK) {
        if (!kept.isEmpty() || more != null) {
          more().statusDescription = kept;
        }
        changed = (open & ~(STATUS_MASK << STATUS_SHIFT)) | Numbers.of(code) << STATUS_SHIFT;
        handle = handleOrEnd;
      }
    } finally {
      word = changed; // unlocks
    }
    tracer.tracing.box.status(handle, Numbers.of(code), kept);
    return this;
  }

  private static StatusCode status(int word) {
    return CODES[word >>> STATUS_SHIFT & STATUS_MASK];
  }

  // ---- end

  @Override
  public void end() {
    end(now());
  }

  @Override
  public void end(long timestamp, @Nullable TimeUnit unit) {
    if (timestamp == 0) {
      end(now());
    } else {
      end(unit == null ? timestamp : unit.toNanos(timestamp));
    }
  }

  private void end(long epochNanos) {
    Tracing tracing = tracer.tracing;
    Processors processors = tracing.processors;
    if (processors.isEndingRequired()) {
      if (!beginEnding(epochNanos)) {
        return;
      }
      processors.onEnding(this);
    }
    boolean kept = !processors.isEmpty();
    AttributeStore store = null;
    long handle;
    int open = lock();
    int changed = open;
    try {
      if ((open & ENDED) != 0 || ((open & ENDING) != 0 && isClosed(open))) {
        return;
      }
      if (attributes instanceof AttributeStore held) {
        // Before anything changes: it may find no memory.
        attributes = kept ? held.freeze() : null;
        store = held;
      }
      handle = handleOrEnd;
      handleOrEnd = epochNanos;
      More rare = more;
      if (rare != null) {
        rare.endingThread = null;
      }
      changed = (open & ~ENDING) | ENDED;
    } finally {
      word = changed; // unlocks
    }
    if (store != null) {
      tracing.stores.release(store);
    }
    if (handle != OpenSpans.NONE) {
      tracing.box.end(handle, spanId);
    }
    if (kept) {
      processors.onEnd(this);
    }
  }

  /** {@return whether the calling thread is the one that ends the span} */
  private boolean beginEnding(long epochNanos) {
    int open = lock();
    int changed = open;
    try {
      if ((open & (ENDING | ENDED)) != 0) {
        return false;
      }
      More rare = more();
      rare.endingThread = Thread.currentThread();
      rare.endEpochNanos = epochNanos;
      changed = open | ENDING;
      return true;
    } finally {
      word = changed; // unlocks
    }
  }

  // ---- read

  @Override
  public boolean isRecording() {
    return (word & ENDED) == 0;
  }

  @Override
  public boolean hasEnded() {
    return (word & ENDED) != 0;
  }

  @Override
  public SpanContext getSpanContext() {
    SpanContext known = context;
    return known != null ? known : makeContext();
  }

  private SpanContext makeContext() {
    SpanContext made =
        SpanContext.create(
            Hex.of(traceHigh, traceLow),
            Hex.of(spanId),
            TraceFlags.fromByte((byte) flags()),
            traceState());
    int open = lock();
    try {
      SpanContext known = context;
      if (known == null) {
        context = made;
        return made;
      }
      return known;
    } finally {
      word = open; // unlocks
    }
  }

  /** {@return that of the context} */
  TraceState traceState() {
    More rare = more; // racy: either none, or one whose trace state was set before any other saw it
    TraceState state = rare == null ? null : rare.traceState;
    return state == null ? TraceState.getDefault() : state;
  }

  @Override
  public SpanContext getParentSpanContext() {
    More rare = more; // as in traceState
    SpanContext parent = rare == null ? null : rare.parent;
    if (parent != null) {
      return parent;
    }
    if (parentSpanId == 0) {
      return SpanContext.getInvalid();
    }
    String traceId = Hex.of(traceHigh, traceLow);
    TraceFlags flags = TraceFlags.fromByte((byte) (word >>> PARENT_FLAGS_SHIFT));
    return (word & PARENT_REMOTE) != 0
        ? SpanContext.createFromRemoteParent(
            traceId, Hex.of(parentSpanId), flags, TraceState.getDefault())
        : SpanContext.create(traceId, Hex.of(parentSpanId), flags, TraceState.getDefault());
  }

  @Override
  public String getName() {
    int open = lock();
    try {
      return name;
    } finally {
      word = open; // unlocks
    }
  }

  @Override
  public SpanKind getKind() {
    return KINDS[word >>> KIND_SHIFT & KIND_MASK];
  }

  @Override
  public InstrumentationScopeInfo getInstrumentationScopeInfo() {
    return tracer.scope;
  }

  @Override
  @Deprecated // abstract in the interface up to this day
  @SuppressWarnings("deprecation")
  public io.opentelemetry.sdk.common.InstrumentationLibraryInfo getInstrumentationLibraryInfo() {
    return SpanSnapshot.libraryInfo(tracer.scope);
  }

  @Override
  public long getLatencyNanos() {
    long now = now();
    int open = lock();
    try {
      return ((open & (ENDING | ENDED)) == 0 ? now : endTime(open)) - startEpochNanos;
    } finally {
      word = open; // unlocks
    }
  }

  /** Under the lock. */
  private long endTime(int open) {
    if ((open & ENDED) != 0) {
      return handleOrEnd;
    }
    More rare = more;
    return rare == null ? 0 : rare.endEpochNanos;
  }

  @Override
  @SuppressWarnings("unchecked") // of the key's type, or whatever was put under that type
  public <T> @Nullable T getAttribute(@Nullable AttributeKey<T> key) {
    String keyName = nameOf(key);
    if (key == null || keyName == null) {
      return null;
    }
    AttributeKey<?> known = null;
    Object value = null;
    FrozenAttributes frozen = null;
    int open = lock();
    try {
      if (attributes instanceof AttributeStore store) {
        known = store.keyOf(keyName);
        value = store.valueOf(keyName);
      } else {
        frozen = (FrozenAttributes) attributes;
      }
    } finally {
      word = open; // unlocks
    }
    if (frozen != null) {
      return frozen.get(key);
    }
    return known != null && known.getType() == key.getType() ? (T) value : null;
  }

  @Override
  public Attributes getAttributes() {
    FrozenAttributes frozen;
    int open = lock();
    try {
      frozen = frozen();
    } finally {
      word = open; // unlocks
    }
    return frozen == null ? Attributes.empty() : frozen.sorted();
  }

  /** Under the lock. */
  private @Nullable FrozenAttributes frozen() {
    return attributes instanceof AttributeStore store
        ? store.freeze()
        : (FrozenAttributes) attributes;
  }

  @Override
  public SpanData toSpanData() {
    SpanContext own = getSpanContext();
    SpanContext parent = getParentSpanContext();
    FrozenAttributes frozen;
    List<EventData> events = Collections.emptyList();
    List<LinkData> links = Collections.emptyList();
    int totalEvents = 0;
    int totalLinks = 0;
    String description = "";
    String nameNow;
    long end;
    int open = lock();
    try {
      frozen = frozen();
      nameNow = name;
      end = endTime(open);
      More rare = more;
      if (rare != null) {
        boolean ended = (open & ENDED) != 0;
        events = snapshot(rare.events, ended);
        links = snapshot(rare.links, ended);
        totalEvents = rare.totalEvents;
        totalLinks = rare.totalLinks;
        description = rare.statusDescription == null ? "" : rare.statusDescription;
      }
    } finally {
      word = open; // unlocks
    }
    boolean ended = (open & ENDED) != 0;
    Attributes attributesNow = Attributes.empty();
    if (frozen != null && !frozen.isEmpty()) {
      // As the SDK: in order of setting once it has ended, sorted before.
      attributesNow = ended ? frozen : frozen.sorted();
    }
    return new SpanSnapshot(
        own,
        parent,
        tracer.tracing.resource,
        tracer.scope,
        nameNow,
        getKind(),
        startEpochNanos,
        end,
        attributesNow,
        frozen == null ? 0 : frozen.total(),
        events,
        totalEvents,
        links,
        totalLinks,
        StatusData.create(status(open), description),
        ended);
  }

  /** A list of an ended span does not change any more. */
  private static <T> List<T> snapshot(@Nullable List<T> list, boolean ended) {
    if (list == null || list.isEmpty()) {
      return Collections.emptyList();
    }
    return Collections.unmodifiableList(ended ? list : new ArrayList<>(list));
  }

  private long now() {
    return tracer.tracing.nanoTime() + anchor;
  }

  // ---- for children, and for the box

  @Override
  @SuppressWarnings("MustBeClosedChecker") // by the caller
  public Scope makeCurrent() {
    long bound = handle();
    boolean isBound = tracer.tracing.box.bind(bound);
    Scope scope = ReadWriteSpan.super.makeCurrent();
    return isBound ? new BoundScope(scope, tracer.tracing.box, bound) : scope;
  }

  private long handle() {
    int open = lock();
    try {
      return (open & ENDED) == 0 ? handleOrEnd : OpenSpans.NONE;
    } finally {
      word = open; // unlocks
    }
  }

  long traceHigh() {
    return traceHigh;
  }

  long traceLow() {
    return traceLow;
  }

  long spanId() {
    return spanId;
  }

  int flags() {
    return word >>> FLAGS_SHIFT & 0xff;
  }

  long anchor() {
    return anchor;
  }

  Tracing tracing() {
    return tracer.tracing;
  }

  @Override
  public String toString() {
    return "CairnSpan{traceId="
        + Hex.of(traceHigh, traceLow)
        + ", spanId="
        + Hex.of(spanId)
        + ", parentSpanId="
        + Hex.of(parentSpanId)
        + ", name="
        + getName()
        + ", kind="
        + getKind()
        + ", ended="
        + hasEnded()
        + '}';
  }
}
