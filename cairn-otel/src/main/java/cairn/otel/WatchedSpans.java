package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.trace.ReadableSpan;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The open spans of an SDK: puts each into the box, and looks again at those that last.
 *
 * <p>{@link #begin} and {@link #end} on any thread, lock-free; {@link #refresh} on one thread.
 * Allocates nothing for a span that ends within an interval of the refresher; 100 bytes and more on
 * the refresher's thread for one that lasts.
 */
final class WatchedSpans {
  /*
   * A processor hears of a span's start and end, and of nothing between. What comes later (the route
   * of an HTTP request in its name, an attribute) is found by looking again.
   *
   * There is an entry for each slot of the box, so that nobody else's is this span's: none, a young
   * span, or an old one.
   *
   * Begin:    1 the box gives a slot   2 fill the row: what was recorded   3 release-store the span
   * Refresh:  a young span that was there at the last look is old: copy the row, CAS to `Old`.
   *           An old one is compared with what was recorded of it; what differs is recorded.
   * End:      1 CAS the span, young or old, -> none   2 clear the row   3 the box takes the slot back
   *
   * A row is cleared only behind a CAS to none, so one that was copied for `Old` was the young
   * span's own if the CAS to `Old` succeeds.
   *
   * A young span is held strongly: a weak reference for each would be 48 bytes. So a span that is
   * dropped without an end is kept for one interval, and then only by `Old`, which is weak. When that
   * is cleared nobody can end the span any more, and its slot in the box goes back: HTTP clients
   * that never end their spans filled a heap that way (opentelemetry-java-instrumentation 2097). A
   * span that is held for ever and never ended goes at the maximal age.
   *
   * A span that found no slot in the box is not looked at again, since its name could not be changed
   * there. Counted.
   *
   * When a span says that it began is asked for only when it is old: most began when they started,
   * and the question costs a look at the clock and the span's lock.
   */
  /** Start times further back than this were given by the application. */
  private static final long GIVEN_START_NANOS = 1_000_000;

  /** Each time a span has changed that often, the refresher halves how often it looks at it. */
  private static final int CHANGES_PER_PAUSE = 8;

  private static final int MAX_PAUSE = 64;

  private final OpenSpans spans;
  private final ListedKeys keys;
  private final long maxAgeNanos;
  private final int rowLength;
  private final AtomicReferenceArray<@Nullable Object> entries;

  /** Of each entry the name and the listed values as recorded. Whose is in the essay. */
  private final @Nullable Object[] rows;

  /** Of each entry when the span was put into the box. */
  private final long[] begunNanos;

  /** Of the refresher: the ids of the young spans at its last look. */
  private final long[] seen;

  private final StorePool stores = new StorePool();

  private final AtomicLong evicted = new AtomicLong();
  private final AtomicLong unwatched = new AtomicLong();

  WatchedSpans(OpenSpans spans, ListedKeys keys, Duration maxAge) {
    this.spans = spans;
    this.keys = keys;
    this.maxAgeNanos = maxAge.toNanos();
    this.rowLength = 1 + keys.count();
    int slots = spans.slots();
    this.entries = new AtomicReferenceArray<>(slots);
    this.rows = new @Nullable Object[slots * rowLength];
    this.begunNanos = new long[slots];
    this.seen = new long[slots];
  }

  /** A span that has lasted, and what was recorded of it. Of the refresher, but for its id. */
  private static final class Old extends WeakReference<ReadableSpan> {
    final long id;
    final long sinceNanos;
    final @Nullable Object[] recorded;
    int changes;
    int pause = 1;
    int toWait;

    Old(ReadableSpan span, long id, long sinceNanos, @Nullable Object[] recorded) {
      super(span);
      this.id = id;
      this.sinceNanos = sinceNanos;
      this.recorded = recorded;
    }
  }

  // ---- on the application's threads

  /** Puts a span that starts into the box. One of Cairn's own tracer is there already. */
  void begin(ReadableSpan span) {
    if (span instanceof CairnSpan) {
      return;
    }
    SpanContext context = span.getSpanContext();
    long id = HexIds.spanId(context);
    if (id == 0) {
      return; // its id generator makes none: it could not be found at its end
    }
    String name = span.getName();
    SpanKind kind = span.getKind();
    int[] asked = keys.atStart(kind);
    AttributeStore store = asked.length == 0 ? null : atStart(span, asked);
    long now = System.nanoTime();
    long handle =
        spans.begin(
            name,
            HexIds.traceIdHigh(context),
            HexIds.traceIdLow(context),
            id,
            HexIds.spanId(span.getParentSpanContext()),
            ListedKeys.number(kind),
            context.getTraceFlags().asByte() & 0xff,
            0,
            now,
            store);
    int index = OpenSpans.slot(handle);
    if (index >= 0) {
      // Plain: published with the span below.
      int row = index * rowLength;
      rows[row] = name;
      begunNanos[index] = now;
      if (store != null) {
        for (int key : asked) {
          rows[row + 1 + key] = store.valueOf(keys.name(key));
        }
      }
      // Release: publishes the row. Partner: the acquire in refresh.
      entries.setRelease(index, span);
    } else if (handle != OpenSpans.NONE) {
      unwatched.incrementAndGet();
    }
    if (store != null) {
      store.recordOthers(spans, handle);
      stores.release(store);
    }
  }

  /** {@return those attributes of a span that starts, or null if it has none of them} */
  private @Nullable AttributeStore atStart(ReadableSpan span, int[] asked) {
    AttributeStore store = null;
    for (int key : asked) {
      Object value = keys.value(span, key);
      if (value != null) {
        if (store == null) {
          store = stores.acquire();
        }
        boolean unused = store.put(asked.length, keys.key(key), keys.name(key), value);
      }
    }
    return store;
  }

  /** Takes a span that ends out of the box. One that was never in it does nothing. */
  void end(ReadableSpan span) {
    if (span instanceof CairnSpan) {
      return;
    }
    long id = HexIds.spanId(span.getSpanContext());
    if (id == 0) {
      return;
    }
    long handle = spans.find(id);
    int index = OpenSpans.slot(handle);
    if (index >= 0) {
      forget(index, span, id);
    }
    spans.end(handle, id);
  }

  /** Frees the entry of a span that ends. Its slot is still its own, and so is the row. */
  private void forget(int index, ReadableSpan span, long id) {
    Object entry = entries.getAcquire(index);
    while (entry == span || (entry instanceof Old old && old.id == id)) {
      if (entries.compareAndSet(index, entry, null)) {
        int row = index * rowLength;
        rows[row] = null;
        for (int key : keys.atStart(span.getKind())) {
          rows[row + 1 + key] = null;
        }
        return;
      }
      entry = entries.getAcquire(index); // the refresher has made it an old one
    }
    // Its start was told with another object: the next span in the slot takes the entry's place.
    clear(index);
  }

  private void clear(int index) {
    Arrays.fill(rows, index * rowLength, (index + 1) * rowLength, null);
  }

  // ---- on the refresher's thread

  /** Looks at every span that was there at the last look already. */
  void refresh(long nowNanos) {
    for (int index = 0; index < entries.length(); index++) {
      Object entry = entries.getAcquire(index);
      if (entry instanceof Old old) {
        look(index, old, nowNanos);
      } else if (entry instanceof ReadableSpan span) {
        long id = HexIds.spanId(span.getSpanContext());
        if (seen[index] != id) {
          seen[index] = id;
          continue;
        }
        int row = index * rowLength;
        Old old = new Old(span, id, nowNanos, Arrays.copyOfRange(rows, row, row + rowLength));
        // A span is young once, so success means that the row was its own all the while.
        if (entries.compareAndSet(index, entry, old)) {
          start(span, old, index, nowNanos);
          look(index, old, nowNanos);
        }
      } else {
        seen[index] = 0;
      }
    }
  }

  /** Records when a span began, if it says another time than when it started. */
  private void start(ReadableSpan span, Old old, int index, long nowNanos) {
    long latency = span.getLatencyNanos();
    if (latency - (nowNanos - begunNanos[index]) > GIVEN_START_NANOS && !span.hasEnded()) {
      spans.started(spans.find(old.id), System.currentTimeMillis() * 1_000_000 - latency);
    }
  }

  private void look(int index, Old old, long nowNanos) {
    ReadableSpan span = old.get();
    if (span == null || nowNanos - old.sinceNanos > maxAgeNanos) {
      if (entries.compareAndSet(index, old, null)) {
        clear(index);
        spans.end(spans.find(old.id), old.id);
        evicted.incrementAndGet();
      }
    } else if (span.hasEnded()) {
      // Its end was told by way of a wrapper, or is being told right now.
      if (entries.compareAndSet(index, old, null)) {
        clear(index);
        spans.end(spans.find(old.id), old.id);
      }
    } else if (--old.toWait <= 0) {
      old.toWait = old.pause;
      record(span, old);
    }
  }

  private void record(ReadableSpan span, Old old) {
    long handle = spans.find(old.id);
    if (handle == OpenSpans.NONE) {
      return;
    }
    int changes = 0;
    String name = span.getName();
    if (!name.equals(old.recorded[0])) {
      spans.rename(handle, name);
      old.recorded[0] = name;
      changes++;
    }
    for (int key = 0; key < keys.count(); key++) {
      Object value = keys.value(span, key);
      // By reference first: it is what nearly all are, and asks no code of the application.
      if (value != null && value != old.recorded[1 + key] && !value.equals(old.recorded[1 + key])) {
        keys.set(spans, handle, key, value);
        old.recorded[1 + key] = value;
        changes++;
      }
    }
    old.changes += changes;
    if (old.changes >= CHANGES_PER_PAUSE) {
      // A slot has room for some ten updates; what comes after them goes to the trail.
      old.changes = 0;
      old.pause = Math.min(MAX_PAUSE, old.pause * 2);
    }
  }

  /** {@return how many spans were taken out of the box because nobody would end them} */
  long evicted() {
    return evicted.get();
  }

  /** {@return how many spans found no entry, and were not looked at again} */
  long unwatched() {
    return unwatched.get();
  }
}
