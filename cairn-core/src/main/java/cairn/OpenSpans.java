package cairn;

import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The open spans of a run, by handle: for tracers and their bridges, which have a span object and
 * ids of their own. An application uses {@link Recorder#begin}.
 *
 * <p>A handle is what {@link #begin} returned: positive; negative for a span that found no slot and
 * went to the trail, where a lap can overwrite it; {@link #NONE} if nothing is recorded. It is of
 * one recorder, and means nothing to another. A handle of a span that has ended does nothing,
 * whoever has its slot meanwhile.
 *
 * <p>Any thread; lock-free. No system call and no allocation in steady state; {@code
 * docs/BENCHMARKS.md} has the time. Nothing here throws, but for an error of the virtual machine in
 * code of the application ({@link Redaction#rule}, elements of a list). Survives process death once
 * the call returns. If two threads change one span in the same instant, one of two changes goes to
 * the trail, and of two events one is not counted, which is counted in {@code cut}.
 */
public final class OpenSpans {
  /** No span is recorded: every method does nothing with it. */
  public static final long NONE = SpanTable.NONE;

  /**
   * Attributes that a span begins with, as its tracer keeps them. Read on the thread that begins
   * the span, before that returns; must not throw, and not change meanwhile.
   */
  public interface Attributes {
    /** {@link #text} is the value. */
    int TEXT = SpanTable.TEXT;

    /** {@link #bits} is the value. */
    int LONG = SpanTable.INTEGER;

    /** {@link #bits} is the value, as {@link Double#doubleToRawLongBits} has it. */
    int DOUBLE = SpanTable.FLOATING;

    /** {@link #bits} is not 0 if the value is true. */
    int BOOLEAN = SpanTable.BOOLEAN;

    /** Something else, which the caller sets later or not at all. */
    int OTHER = -1;

    /** {@return how many there are} */
    int count();

    /**
     * {@return the name}
     *
     * @param index below {@link #count}
     */
    String name(int index);

    /**
     * {@return one of the kinds}
     *
     * @param index below {@link #count}
     */
    int kind(int index);

    /**
     * {@return the value of a text}
     *
     * @param index below {@link #count}
     */
    String text(int index);

    /**
     * {@return the value of a number}
     *
     * @param index below {@link #count}
     */
    long bits(int index);
  }

  private final @Nullable OpenRun run;

  OpenSpans(@Nullable OpenRun run) {
    this.run = run;
  }

  /**
   * Begins a span. Spans that the thread begins by name later are below it only if {@link #current}
   * says so.
   *
   * @param name operation name; cut at 160 bytes
   * @param traceIdHigh the first eight bytes of the trace id, big-endian
   * @param traceIdLow the last eight
   * @param spanId no other span of the run has it; 0 records nothing
   * @param parentSpanId 0 for a root
   * @param kind 0 internal, 1 server, 2 client, 3 producer, 4 consumer
   * @param traceFlags of W3C Trace Context
   * @param startEpochNanos when it says that it began, in nanoseconds since 1970; 0 for now
   * @return its handle
   */
  public long begin(
      @Nullable String name,
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      int kind,
      int traceFlags,
      long startEpochNanos) {
    return begin(
        name,
        traceIdHigh,
        traceIdLow,
        spanId,
        parentSpanId,
        kind,
        traceFlags,
        startEpochNanos,
        0,
        null);
  }

  /**
   * Begins a span with attributes, which costs less than setting each: together with the span they
   * are one entry of the box, and are there when the span is.
   *
   * @param name operation name; cut at 160 bytes
   * @param traceIdHigh the first eight bytes of the trace id, big-endian
   * @param traceIdLow the last eight
   * @param spanId no other span of the run has it; 0 records nothing
   * @param parentSpanId 0 for a root
   * @param kind 0 internal, 1 server, 2 client, 3 producer, 4 consumer
   * @param traceFlags of W3C Trace Context
   * @param startEpochNanos when it says that it began, in nanoseconds since 1970; 0 for now
   * @param startNanos {@link System#nanoTime} of this moment if the caller has it already, which
   *     saves a look at the clock; 0 if not
   * @param attributes as {@link #set(long, String, String)} takes them; null for none
   * @return its handle
   */
  public long begin(
      @Nullable String name,
      long traceIdHigh,
      long traceIdLow,
      long spanId,
      long parentSpanId,
      int kind,
      int traceFlags,
      long startEpochNanos,
      long startNanos,
      @Nullable Attributes attributes) {
    if (run == null || spanId == 0 || !run.enter()) {
      return NONE;
    }
    long handle =
        run.box.beginSpan(
            name,
            traceIdHigh,
            traceIdLow,
            spanId,
            parentSpanId,
            Math.max(0, kind),
            traceFlags,
            startEpochNanos,
            startNanos,
            attributes);
    run.leave();
    return handle;
  }

  /**
   * {@return the handle of the open span with that id, begun here and not in the trail; else {@link
   * #NONE}} A few memory reads, unless the table was full once: then up to one for each slot where
   * there is no such span.
   *
   * @param spanId as given to {@link #begin}
   */
  public long find(long spanId) {
    return run == null || spanId == 0 ? NONE : run.box.spans.find(spanId);
  }

  /**
   * {@return whether the span of that handle has not ended} False for one in the trail, of which
   * nobody keeps account.
   *
   * @param handle any
   */
  public boolean isOpen(long handle) {
    return run != null && handle > 0 && run.box.spans.isOpen(handle);
  }

  /**
   * Sets an attribute, as {@link OpenSpan#set(String, String)} does.
   *
   * @param handle any
   * @param key name; null does nothing
   * @param value cut at 256 bytes of UTF-8, counted; null does nothing
   */
  public void set(long handle, @Nullable String key, @Nullable String value) {
    if (run != null && handle != NONE) {
      run.setAttribute(handle, key, SpanTable.TEXT, 0, value);
    }
  }

  /**
   * As {@link #set(long, String, String)}.
   *
   * @param handle any
   * @param key name; null does nothing
   * @param value any
   */
  public void set(long handle, @Nullable String key, long value) {
    if (run != null && handle != NONE) {
      run.setAttribute(handle, key, SpanTable.INTEGER, value, "");
    }
  }

  /**
   * As {@link #set(long, String, String)}.
   *
   * @param handle any
   * @param key name; null does nothing
   * @param value any
   */
  public void set(long handle, @Nullable String key, double value) {
    if (run != null && handle != NONE) {
      run.setAttribute(handle, key, SpanTable.FLOATING, Double.doubleToRawLongBits(value), "");
    }
  }

  /**
   * As {@link #set(long, String, String)}.
   *
   * @param handle any
   * @param key name; null does nothing
   * @param value either
   */
  public void set(long handle, @Nullable String key, boolean value) {
    if (run != null && handle != NONE) {
      run.setAttribute(handle, key, SpanTable.BOOLEAN, value ? 1 : 0, "");
    }
  }

  /**
   * As {@link #set(long, String, String)}.
   *
   * @param handle any
   * @param key name; null does nothing
   * @param values encoded before this returns, cut at 256 bytes in all, counted; null does nothing
   */
  public void set(long handle, @Nullable String key, @Nullable List<?> values) {
    if (run != null && handle != NONE && key != null && values != null && run.enter()) {
      run.box.setAttribute(handle, key, values);
      run.leave();
    }
  }

  /**
   * Gives the span another name. Each takes room in the slot, or in the trail if it finds none.
   *
   * @param handle any
   * @param name cut at 160 bytes; null does nothing
   */
  public void rename(long handle, @Nullable String name) {
    if (run != null && handle != NONE && name != null && run.enter()) {
      run.box.rename(handle, name);
      run.leave();
    }
  }

  /**
   * Says when the span began, where that was not known to {@link #begin}. Takes room in the slot;
   * without any nothing happens, counted.
   *
   * @param handle of a span with a slot
   * @param startEpochNanos in nanoseconds since 1970
   */
  public void started(long handle, long startEpochNanos) {
    if (run != null && handle > 0 && startEpochNanos != 0 && run.enter()) {
      run.box.spans.started(handle, startEpochNanos);
      run.leave();
    }
  }

  /**
   * {@return which slot the span has: a number from 0 on that no other open span of the run has; -1
   * for a handle without one}
   *
   * @param handle any
   */
  public static int slot(long handle) {
    return handle > 0 ? SpanTable.index(handle) : -1;
  }

  /** {@return how many slots there are: one more than the largest that {@link #slot} gives} */
  public int slots() {
    return run == null ? 0 : run.box.spans.slotCount();
  }

  /**
   * Sets the status; the latest is shown. Takes room as {@link #rename} does.
   *
   * @param handle any
   * @param code 0 unset, 1 ok, 2 error
   * @param description why it is an error; cut at 128 bytes; may be null
   */
  public void status(long handle, int code, @Nullable String description) {
    if (run != null && handle != NONE && code >= 0 && run.enter()) {
      run.box.status(handle, code, description);
      run.leave();
    }
  }

  /**
   * Counts an event of the span.
   *
   * @param handle of a span with a slot
   */
  public void event(long handle) {
    if (run != null && handle > 0 && run.enter()) {
      run.box.spans.event(handle);
      run.leave();
    }
  }

  /**
   * Says that the calling thread works on the span now: the report names it, and what it allocates
   * counts for the span. The same thread as before costs two memory reads.
   *
   * @param handle of a span with a slot
   * @return whether it was another thread before; then {@link #unbind} should follow
   */
  public boolean bind(long handle) {
    if (run == null || handle <= 0 || !run.enter()) {
      return false;
    }
    boolean isBound = run.box.spans.bind(handle);
    run.leave();
    return isBound;
  }

  /**
   * Says that the calling thread has done with the span, unless another has taken it over: the
   * thread that began it counts again.
   *
   * @param handle as given to {@link #bind}
   */
  public void unbind(long handle) {
    if (run != null && handle > 0 && run.enter()) {
      run.box.spans.unbind(handle);
      run.leave();
    }
  }

  /**
   * Ends the span: one release store. A second call does nothing.
   *
   * @param handle {@link #NONE} if {@link #find} did not find it, since it may be in the trail
   * @param spanId as given to {@link #begin}
   */
  public void end(long handle, long spanId) {
    if (run == null || !run.enter()) {
      return;
    }
    if (handle != NONE) {
      run.box.spans.close(handle);
    } else if (spanId != 0) {
      run.box.spans.closeById(spanId);
    }
    run.leave();
  }

  /**
   * Adds a breadcrumb, as {@link Recorder#breadcrumb(Level, String, String, Map)} does, of a span
   * that the caller names.
   *
   * @param level null counts as {@link Level#INFO}
   * @param category what it is about; may be null
   * @param message what happened; may be null
   * @param data values by name; may be null
   * @param spanId 0 for none
   */
  public void breadcrumb(
      @Nullable Level level,
      @Nullable String category,
      @Nullable String message,
      @Nullable Map<String, ?> data,
      long spanId) {
    if (run != null && run.enter()) {
      run.box.breadcrumb(level, category, message, data, spanId);
      run.leave();
    }
  }

  /**
   * Says how to learn which span the calling thread works on, for {@link Recorder#breadcrumb} and
   * as the parent of {@link Recorder#begin}. The last that was set is asked, at each of those
   * calls; where the thread has begun a span by name as well, the one begun last counts.
   *
   * @param spanId gives the id as given to {@link #begin}, 0 for none; cheap, allocates nothing,
   *     never throws and records nothing itself; null asks nobody any more
   */
  public void current(@Nullable LongSupplier spanId) {
    if (run != null) {
      run.box.spans.outside(spanId);
    }
  }
}
