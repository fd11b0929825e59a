package cairn.otel;

import cairn.OpenSpans;
import cairn.Recorder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the open spans of an OpenTelemetry SDK in the box, so that the report of a process that
 * died names them.
 *
 * <pre>{@code
 * SdkTracerProvider.builder()
 *     .addSpanProcessorFirst(CairnSpanProcessor.create(recorder))
 *     .addSpanProcessor(BatchSpanProcessor.builder(exporter).build())
 * }</pre>
 *
 * <p>A span is in the box from its start, with its ids, kind and name, and with those attributes of
 * the {@link Builder#attributes list} that are asked for at the start of its kind. All other ones
 * of the list follow within two intervals of the refresher, whether they were set at the start or
 * later, and so do changed names and a start time that was given. Spans that a sampler drops are
 * not recorded: the SDK does not show them.
 *
 * <p>Any thread; lock-free. Adds no allocation to a span that ends within an interval. Nothing is
 * thrown into the application, but for an error of the virtual machine. Survives process death once
 * {@code startSpan} has returned. Does not export, and does not close the recorder.
 */
public final class CairnSpanProcessor implements SpanProcessor {
  private final Recorder recorder;
  private final OpenSpans spans;
  private final WatchedSpans watched;
  private final Faults faults = new Faults();
  private final boolean isRequired;
  private final boolean bindsThreads;
  private final Runnable look = this::refresh;
  private final @Nullable Refresher refresher;
  private final String settings;

  private final CurrentSpan current = new CurrentSpan();

  private long toldEvicted;
  private long toldUnwatched;
  private long toldFaults;

  private CairnSpanProcessor(Builder builder) {
    recorder = builder.recorder;
    spans = recorder.openSpans();
    watched = new WatchedSpans(spans, builder.keys, builder.maxAge);
    isRequired = recorder.isEnabled();
    bindsThreads = builder.threads;
    settings = builder.settings();
    if (isRequired) {
      spans.current(current);
      if (bindsThreads) {
        ThreadBinding.to(spans);
      }
    }
    refresher =
        isRequired && !builder.refresh.isZero() ? Refresher.start(look, builder.refresh) : null;
  }

  /**
   * Makes a processor with the defaults of {@link #builder}.
   *
   * @param recorder an open one; with one that is disabled the processor does nothing
   * @return the processor
   */
  public static CairnSpanProcessor create(Recorder recorder) {
    return builder(recorder).build();
  }

  /**
   * Starts to configure a processor.
   *
   * @param recorder as for {@link #create}
   * @return a builder with the defaults that its methods name
   */
  public static Builder builder(Recorder recorder) {
    return new Builder(recorder);
  }

  @Override
  public void onStart(Context parentContext, ReadWriteSpan span) {
    try {
      current.spanStarted();
      watched.begin(span);
    } catch (Throwable e) {
      faults.unrecorded("onStart", e);
    }
  }

  /** {@return whether the recorder was open when this was made} */
  @Override
  public boolean isStartRequired() {
    return isRequired;
  }

  @Override
  public void onEnd(ReadableSpan span) {
    try {
      watched.end(span);
    } catch (Throwable e) {
      faults.unrecorded("onEnd", e);
    }
  }

  /** {@return whether the recorder was open when this was made} */
  @Override
  public boolean isEndRequired() {
    return isRequired;
  }

  /** Looks at the spans that last. On the refresher's thread. */
  void refresh() {
    try {
      watched.refresh(System.nanoTime());
      tellCounts();
    } catch (Throwable e) {
      faults.unrecorded("refresh", e);
    }
  }

  /** What was not done goes into the report. */
  private void tellCounts() {
    long evicted = watched.evicted();
    long unwatched = watched.unwatched();
    long failed = faults.count();
    if (evicted != toldEvicted || unwatched != toldUnwatched || failed != toldFaults) {
      toldEvicted = evicted;
      toldUnwatched = unwatched;
      toldFaults = failed;
      recorder
          .scope()
          .context(
              "opentelemetry",
              Map.of("spansEvicted", evicted, "spansUnwatched", unwatched, "faults", failed));
    }
  }

  /**
   * {@return how many spans were taken out of the box because nobody would have ended them: they
   * were garbage, or older than {@link Builder#maxAge}} Also in the report, as context {@code
   * opentelemetry}.
   */
  public long evicted() {
    return watched.evicted();
  }

  /**
   * {@return how many spans were not looked at again, since no slot was free: they are in the trail
   * as they started} Also in the report.
   */
  public long unwatched() {
    return watched.unwatched();
  }

  /** {@return how many calls of the SDK could not be recorded} Also in the report. */
  public long faults() {
    return faults.count();
  }

  /**
   * Waits, on a thread of its own, until everything recorded so far is as safe as the recorder's
   * durability says. Nothing to wait for under {@link cairn.Durability#process}.
   *
   * @return how that went; a failure if the force failed or took more than 10 seconds
   */
  @Override
  public CompletableResultCode forceFlush() {
    return Forces.await(recorder);
  }

  /**
   * Stops looking at spans that last. Those that are open stay in the box until they end.
   *
   * @return as {@link #forceFlush}
   */
  @Override
  public CompletableResultCode shutdown() {
    if (refresher != null) {
      refresher.stop();
    }
    if (bindsThreads) {
      ThreadBinding.release(spans);
    }
    return forceFlush();
  }

  /** The id of the calling thread's span; held by the recorder, and so not by way of this. */
  private static final class CurrentSpan implements LongSupplier {
    // Racy is fine: a thread that has started a span sees its own store. Until then none is
    // current, and no context may be touched: wrappers of its storage are added before that.
    private boolean everStarted;

    void spanStarted() {
      if (!everStarted) {
        everStarted = true;
      }
    }

    @Override
    public long getAsLong() {
      return everStarted ? HexIds.spanId(Span.current()) : 0;
    }
  }

  @Nullable Refresher refresher() {
    return refresher;
  }

  @Override
  public String toString() {
    return "CairnSpanProcessor{" + settings + ", recorder=" + recorder + '}';
  }

  /** Configures a processor. A mistake throws at once. One thread. */
  public static final class Builder {
    private static final Duration MIN_REFRESH = Duration.ofMillis(10);
    private static final Duration MAX_DURATION = Duration.ofDays(10_000);

    private final Recorder recorder;
    private ListedKeys keys = ListedKeys.defaults();
    private Duration refresh = Duration.ofMillis(250);
    private Duration maxAge = Duration.ofDays(1);
    private boolean threads;

    private Builder(Recorder recorder) {
      this.recorder = Objects.requireNonNull(recorder, "recorder");
    }

    /**
     * Sets which attributes are recorded. Default: common ones of HTTP, databases, messaging and
     * RPC, and {@code error.type} and {@code enduser.id}; no query strings of URLs.
     *
     * <p>Each question takes the span's lock, so of the default list a span that starts is asked
     * only for what instrumentations of its kind set before: SERVER for {@code
     * http.request.method}, {@code url.path} and {@code rpc.method}; CLIENT for {@code
     * http.request.method}, {@code server.address}, {@code db.system.name}, {@code db.query.text},
     * {@code db.system}, {@code db.statement} and {@code rpc.method}; PRODUCER for {@code
     * messaging.destination.name}; CONSUMER for that and {@code messaging.message.id}; INTERNAL for
     * none. A name with its type, and one that is not in the default list, is asked for at the
     * start of every span.
     *
     * @param names each a name, or a name, a colon and its type ({@code string}, {@code long},
     *     {@code double}, {@code boolean} or {@code strings}), which is faster; {@code default}
     *     stands for the default list
     * @return this
     * @throws IllegalArgumentException for an unknown type
     */
    public Builder attributes(List<String> names) {
      this.keys = ListedKeys.of(names);
      return this;
    }

    /**
     * Sets how often spans that last are looked at again for a changed name or attribute. Default:
     * 250 ms.
     *
     * @param interval at least 10 ms; zero for never
     * @return this
     * @throws IllegalArgumentException for anything else
     */
    public Builder refresh(Duration interval) {
      if (!interval.isZero()) {
        check("refresh interval", interval, MIN_REFRESH);
      }
      this.refresh = interval;
      return this;
    }

    /**
     * Sets after how long a span that does not end gives its place in the box back. Default: a day.
     *
     * @param age positive
     * @return this
     * @throws IllegalArgumentException for anything else
     */
    public Builder maxAge(Duration age) {
      check("maximal age", age, Duration.ofNanos(1));
      this.maxAge = age;
      return this;
    }

    /**
     * Sets whether the report names the thread that works on a span, in place of the one that
     * started it. Default: false, since it wraps OpenTelemetry's context storage for the whole
     * process. Build the processor before anything uses a {@link Context}: OpenTelemetry refuses it
     * later, with a warning.
     *
     * @param bind whether it does
     * @return this
     */
    public Builder threads(boolean bind) {
      this.threads = bind;
      return this;
    }

    Builder keys(ListedKeys keys) {
      this.keys = keys;
      return this;
    }

    private static void check(String what, Duration value, Duration least) {
      if (value.compareTo(least) < 0 || value.compareTo(MAX_DURATION) > 0) {
        throw new IllegalArgumentException(
            what
                + " is out of range: value="
                + value
                + ", least="
                + least
                + ", most="
                + MAX_DURATION);
      }
    }

    /** {@return the processor} */
    public CairnSpanProcessor build() {
      return new CairnSpanProcessor(this);
    }

    private String settings() {
      return "attributes="
          + keys
          + ", refresh="
          + refresh
          + ", maxAge="
          + maxAge
          + ", threads="
          + threads;
    }

    /** {@return the effective values} */
    @Override
    public String toString() {
      return "CairnSpanProcessor.Builder{" + settings() + '}';
    }
  }
}
