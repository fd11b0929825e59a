package cairn;

import cairn.format.BoxLayout;
import cairn.format.CborWriter;
import cairn.format.CounterLayout;
import cairn.format.EncodeLimits;
import cairn.format.Forms;
import cairn.format.RecordLayout;
import cairn.format.Secrets;
import cairn.format.VitalsLayout;
import cairn.storage.Region;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The writers of all sections over one region: what turns a call into stores.
 *
 * <p>Any thread. No file, no thread, no life of its own: a test runs it over plain memory.
 */
final class Box {
  private static final int MAX_MESSAGE_BYTES = 8 * 1024;
  private static final int MAX_LIST_BYTES = 256;

  final Clock clock;
  final Region region;
  final BoxPlan plan;
  final Counters counters;
  final ScratchPool scratches;
  private final ScratchPool scopeScratches;
  final Trail trail;
  final ScopeLog scope;
  final SpanTable spans;
  final LifeCycle life;
  final Vitals vitals;
  final Pressure pressure;
  private final boolean ruled;
  private final TwoCopies identity;
  private final TwoCopies beat;
  private final TwoCopies lifeCopies;
  private final TwoCopies uncaughtCopies;
  private final TwoCopies scopeHead;
  private final TwoCopies pressureCopies;
  private final long nonce;

  Box(Region region, BoxPlan plan, long nonce, Clock clock, Secrets secrets, Forms forms) {
    this.region = region;
    this.plan = plan;
    this.clock = clock;
    this.nonce = nonce;
    ruled = secrets.rule() != null;
    counters = new Counters(region, plan.counters, BoxPlan.COUNTER_UNIT);
    trail = new Trail(region, plan.trail, plan.trailBytes, counters);
    scopeHead = new TwoCopies(region, plan.scopeHead, BoxPlan.COPY_UNIT, nonce);
    scope = new ScopeLog(region, plan.scopeLog, plan.scopeHalf, nonce, scopeHead, counters);
    boolean isWide = plan.scopeHalf > BoxPlan.SCOPE_HALVES * BoxPlan.SCOPE_BYTES;
    int narrow = isWide ? 0 : scope.maxRecordBytes();
    scratches =
        new ScratchPool(
            nonce,
            Math.max(trail.maxRecordBytes(), narrow),
            EncodeLimits.DEFAULT,
            secrets,
            forms,
            counters);
    // Of its own: a breadcrumb needs no scratch of that size.
    scopeScratches =
        isWide
            ? new ScratchPool(
                nonce, scope.maxRecordBytes(), EncodeLimits.WIDE, secrets, forms, counters)
            : scratches;
    spans =
        new SpanTable(
            region,
            plan.spans,
            BoxPlan.SPAN_SLOT,
            plan.spanSlots,
            nonce,
            counters,
            trail,
            scratches,
            clock);
    identity = new TwoCopies(region, plan.identity, BoxPlan.IDENTITY_UNIT, nonce);
    beat = new TwoCopies(region, plan.beat, BoxPlan.COPY_UNIT, nonce);
    lifeCopies = new TwoCopies(region, plan.life, BoxPlan.LIFE_UNIT, nonce);
    uncaughtCopies = new TwoCopies(region, plan.uncaught, BoxPlan.UNCAUGHT_UNIT, nonce);
    life = new LifeCycle(lifeCopies, uncaughtCopies, clock, secrets, counters);
    pressureCopies = new TwoCopies(region, plan.pressure, BoxPlan.PRESSURE_UNIT, nonce);
    pressure = new Pressure(spans, pressureCopies, clock);
    vitals =
        new Vitals(region, nonce, plan.seconds, BoxPlan.SECONDS, plan.minutes, BoxPlan.MINUTES);
  }

  /** Stores what a reader needs of a box in which nothing has been recorded; the header last. */
  void start(byte[] identityPayload, int length) {
    identity.write(identityPayload, length);
    scope.start();
    life.open();
    beat();
    plan.writeHeader(region);
  }

  // ---- what the committer copies

  /** The tags of the values in two copies; at the same index of {@link #copies} the value. */
  static final int[] COPY_TAGS = {
    BoxLayout.IDENTITY,
    BoxLayout.LIFE,
    BoxLayout.UNCAUGHT,
    BoxLayout.BEAT,
    BoxLayout.SCOPE_HEAD,
    BoxLayout.PRESSURE
  };

  /** Of {@link #COPY_TAGS}: the scope's head. */
  static final int SCOPE_HEAD = 4;

  /** {@return the values in two copies, but for what is a ring or a table} */
  TwoCopies copies(int index) {
    return switch (index) {
      case 0 -> identity;
      case 1 -> lifeCopies;
      case 2 -> uncaughtCopies;
      case 3 -> beat;
      case SCOPE_HEAD -> scopeHead;
      default -> pressureCopies;
    };
  }

  /** {@return the checksum seed of everything in this box} */
  long nonce() {
    return nonce;
  }

  int identityLimit() {
    return identity.payloadLimit();
  }

  /** Stores a sign of life. */
  void beat() {
    beat.write(clock.wallMillis(), clock.nanos());
  }

  /** Stores a sample that {@code sources} read. */
  void sample(long[] values) {
    values[VitalsLayout.OPEN_SPANS] = spans.openCount();
    vitals.add(values);
  }

  // ---- the trail

  /** Adds a breadcrumb of the span that this thread works on. */
  void breadcrumb(
      @Nullable Level level,
      @Nullable String category,
      @Nullable String message,
      @Nullable Map<String, ?> data) {
    breadcrumb(level, category, message, data, spans.currentId());
  }

  /** Adds a breadcrumb of the span with that id, 0 for none. */
  void breadcrumb(
      @Nullable Level level,
      @Nullable String category,
      @Nullable String message,
      @Nullable Map<String, ?> data,
      long spanId) {
    long wallMillis = clock.wallMillis();
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(RecordLayout.CRUMB_THREAD);
      scratch.threadName.write(out);
      if (spanId != 0) {
        out.unsigned(RecordLayout.CRUMB_SPAN_ID);
        out.unsigned(spanId);
      }
      if (category != null) {
        out.unsigned(RecordLayout.CRUMB_CATEGORY);
        int written = out.keyCut(ruled ? scratch.encoder.ruled(null, category) : category);
        if ((written & CborWriter.CUT) != 0) {
          counters.increment(CounterLayout.CUT);
        }
      }
      if (message != null) {
        field(scratch, RecordLayout.CRUMB_MESSAGE, message, MAX_MESSAGE_BYTES);
      }
      if (data != null) {
        int start = out.position();
        if (!(out.unsigned(RecordLayout.CRUMB_DATA) && scratch.encoder.map(data))) {
          out.position(start);
          counters.increment(CounterLayout.CUT);
        }
      }
      count(scratch);
      trail.append(
          scratch,
          scratch.finish(),
          RecordLayout.TYPE_BREADCRUMB,
          (level == null ? Level.INFO : level).code,
          wallMillis);
      scratch.encoder.rethrowFatal();
    } finally {
      scratches.release(scratch);
    }
  }

  private void field(Scratch scratch, int key, String text, int maxBytes) {
    CborWriter out = scratch.writer;
    int start = out.position();
    int outcome = out.unsigned(key) ? scratch.encoder.text(null, text, maxBytes) : CborWriter.NONE;
    if (outcome == CborWriter.NONE) {
      out.position(start);
    }
    if (outcome != CborWriter.WHOLE) {
      counters.increment(CounterLayout.CUT);
    }
  }

  private void count(Scratch scratch) {
    if (scratch.encoder.cuts() > 0) {
      counters.add(CounterLayout.CUT, scratch.encoder.cuts());
    }
    if (scratch.encoder.placeholders() > 0) {
      counters.add(CounterLayout.PLACEHOLDERS, scratch.encoder.placeholders());
    }
    if (scratch.writer.redactions() > 0) {
      counters.add(CounterLayout.REDACTED, scratch.writer.redactions());
    }
    scratch.encoder.resetCounts();
  }

  // ---- spans

  /** Sets an attribute; a rule of the application is asked before the slot is taken. */
  void setAttribute(long handle, String key, int kind, long bits, String text) {
    if (kind != SpanTable.TEXT || !ruled) {
      spans.set(handle, key, kind, bits, text);
      return;
    }
    Scratch scratch = scratches.acquire();
    try {
      String result = scratch.encoder.ruled(key, text);
      count(scratch);
      spans.set(handle, key, kind, bits, result);
      scratch.encoder.rethrowFatal();
    } finally {
      scratches.release(scratch);
    }
  }

  /** Begins a span on this thread. */
  long beginSpan(@Nullable String name) {
    // First the rule, unlike elsewhere: nobody could end a span whose beginning threw.
    return spans.begin(name == null ? null : ruled(name));
  }

  /** Sets an attribute to several values. */
  void setAttribute(long handle, String key, List<?> values) {
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      int named = out.keyCut(key);
      boolean secret = named > 0 && (named & CborWriter.SECRET) != 0;
      int from = out.position();
      out.limit(Math.min(out.limit(), from + MAX_LIST_BYTES));
      boolean written = scratch.encoder.value(key, secret, values);
      count(scratch);
      if (written) {
        spans.setEncoded(handle, key, scratch.bytes, from, out.position() - from);
      }
      scratch.encoder.rethrowFatal();
    } finally {
      scratches.release(scratch);
    }
  }

  /** Gives a span another name. */
  void rename(long handle, String name) {
    spans.rename(handle, ruled(name));
  }

  /** Sets the status of a span. */
  void status(long handle, int code, @Nullable String description) {
    spans.status(handle, code, description == null ? null : ruled(description));
  }

  /** What a rule of the application makes of a text; before a slot is taken. */
  private String ruled(String text) {
    if (!ruled) {
      return text;
    }
    Scratch scratch = scratches.acquire();
    try {
      String result = scratch.encoder.ruled(null, text);
      count(scratch);
      scratch.encoder.rethrowFatal();
      return result;
    } finally {
      scratches.release(scratch);
    }
  }

  /** Begins a span with ids of its own. */
  long beginSpan(
      @Nullable String name,
      long traceHigh,
      long traceLow,
      long id,
      long parentId,
      int kind,
      int traceFlags,
      long epochNanos,
      long startNanos,
      OpenSpans.@Nullable Attributes attributes) {
    String allowed = name == null ? null : ruled(name);
    if (ruled && attributes != null) {
      long handle =
          spans.begin(
              allowed,
              traceHigh,
              traceLow,
              id,
              parentId,
              kind,
              traceFlags,
              epochNanos,
              startNanos,
              null);
      for (int i = 0; i < attributes.count(); i++) {
        int valueKind = attributes.kind(i);
        if (valueKind != OpenSpans.Attributes.OTHER) {
          boolean isText = valueKind == SpanTable.TEXT;
          String text = isText ? attributes.text(i) : "";
          long bits = isText ? 0 : attributes.bits(i);
          setAttribute(handle, attributes.name(i), valueKind, bits, text);
        }
      }
      return handle;
    }
    return spans.begin(
        allowed,
        traceHigh,
        traceLow,
        id,
        parentId,
        kind,
        traceFlags,
        epochNanos,
        startNanos,
        attributes);
  }

  // ---- the scope

  /** Sets a field to a value of any kind; a null value removes it. */
  void setScope(int kind, @Nullable String key, @Nullable Object value) {
    long wallMillis = clock.wallMillis();
    Scratch scratch = scopeScratches.acquire();
    try {
      int prefix = startScope(scratch, kind, key);
      if (prefix < 0) {
        counters.increment(CounterLayout.SCOPE_DROPPED);
        return;
      }
      if (value != null) {
        CborWriter out = scratch.writer;
        boolean whole =
            out.unsigned(RecordLayout.FIELD_VALUE)
                && scratch.encoder.value(key, scratch.secret, value);
        count(scratch);
        if (!whole) {
          counters.increment(CounterLayout.SCOPE_DROPPED); // and the old value stays
          scratch.encoder.rethrowFatal();
          return;
        }
      }
      scope.update(scratch, scratch.finish(), prefix, value == null, wallMillis);
      scratch.encoder.rethrowFatal();
    } finally {
      scopeScratches.release(scratch);
    }
  }

  /** Removes every field. */
  void clearScope() {
    scope.clear();
  }

  /** Writes what names the field and returns how many bytes that is, or -1 if it doesn't fit. */
  private int startScope(Scratch scratch, int kind, @Nullable String key) {
    scratch.start(scope.maxRecordBytes());
    CborWriter out = scratch.writer;
    boolean fits = out.beginMap() && out.unsigned(RecordLayout.FIELD_KIND) && out.unsigned(kind);
    scratch.secret = false;
    if (key != null && fits) {
      int named = out.unsigned(RecordLayout.FIELD_KEY) ? out.keyCut(key) : CborWriter.NONE;
      fits = named != CborWriter.NONE;
      scratch.secret = fits && (named & CborWriter.SECRET) != 0;
    }
    return fits ? out.position() - Scratch.PAYLOAD : -1;
  }
}
