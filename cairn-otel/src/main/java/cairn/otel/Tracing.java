package cairn.otel;

import cairn.OpenSpans;
import cairn.Recorder;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.Closeable;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What all tracers of one {@link CairnOpenTelemetry} share. */
final class Tracing {
  /** Decides without asking the sampler: it says the same of every span. */
  static final int ALWAYS_ON = 0;

  static final int ALWAYS_OFF = 1;

  /** As the parent was decided; roots always. */
  static final int PARENT_OR_ON = 2;

  /** As the parent was decided; roots never. */
  static final int PARENT_OR_OFF = 3;

  /** The sampler is asked. */
  static final int ASK = 4;

  final Recorder recorder;
  final OpenSpans box;
  final Resource resource;
  final Processors processors;
  final Sampler sampler;
  final int sampling;
  final KeyCache keys;
  final StorePool stores = new StorePool();
  final Faults faults;

  /** Counts builders that were used again after they had started their span. */
  final LongAdder staleBuilders = new LongAdder();

  /** Null: {@link #ids}. */
  final @Nullable IdGenerator generator;

  final boolean generatesRandomTraceIds;
  final Ids ids = new Ids();

  /** Null: the system's, which is read without going through the interface. */
  final @Nullable Clock clock;

  private final Clock systemClock = Clock.getDefault();
  private final Supplier<SpanLimits> limitsSupplier;

  // Plain on purpose: both are immutable, and a pair that does not match is asked again.
  private @Nullable SpanLimits lastLimits;
  private Limits limits;

  /**
   * What to add to {@link System#nanoTime} to get the wall clock's time, as of {@link #anchoredAt}.
   */
  private volatile long anchor;

  private volatile long anchoredAt;

  private final Object shutdownLock = new Object();
  private volatile @Nullable CompletableResultCode shutdownResult;

  Tracing(CairnOpenTelemetry.Builder from, Faults faults) {
    this.faults = faults;
    recorder = from.recorder;
    box = recorder.openSpans();
    resource = from.resource;
    processors = new Processors(from.processors, faults);
    sampler = from.sampler;
    sampling = sampling(sampler);
    keys = new KeyCache(from.keyCacheSize);
    generator = from.idGenerator == IdGenerator.random() ? null : from.idGenerator;
    generatesRandomTraceIds = generator == null || generatesRandomTraceIds(generator);
    clock = from.clock == systemClock ? null : from.clock;
    limitsSupplier = from.limits;
    SpanLimits first = limitsSupplier.get();
    lastLimits = first;
    limits = Limits.of(first);
    anchoredAt = System.nanoTime() - 2 * ANCHOR_NANOS;
  }

  private static int sampling(Sampler sampler) {
    if (sampler.equals(Sampler.alwaysOn())) {
      return ALWAYS_ON;
    }
    if (sampler.equals(Sampler.alwaysOff())) {
      return ALWAYS_OFF;
    }
    if (sampler.equals(Sampler.parentBased(Sampler.alwaysOn()))) {
      return PARENT_OR_ON;
    }
    return sampler.equals(Sampler.parentBased(Sampler.alwaysOff())) ? PARENT_OR_OFF : ASK;
  }

  /** Since 1.63; before, no generator says so. */
  private static boolean generatesRandomTraceIds(IdGenerator generator) {
    try {
      return (boolean) IdGenerator.class.getMethod("generatesRandomTraceIds").invoke(generator);
    } catch (NoSuchMethodException | IllegalAccessException | InvocationTargetException e) {
      return false;
    }
  }

  /** {@return whether spans are of use to anybody: the box or a processor} */
  boolean isEnabled() {
    return shutdownResult == null && (!processors.isEmpty() || recorder.isEnabled());
  }

  /** {@return the limits for a span that begins now} */
  Limits limits() {
    try {
      SpanLimits now = limitsSupplier.get();
      if (now == lastLimits) {
        return limits;
      }
      Limits made = Limits.of(now);
      limits = made;
      lastLimits = now;
      return made;
    } catch (Throwable e) {
      faults.note("supplier of span limits threw; the last ones stay", e);
      return limits;
    }
  }

  // ---- time

  /** How old the relation of the two clocks may be. */
  private static final long ANCHOR_NANOS = 10_000_000;

  long nanoTime() {
    return clock == null ? System.nanoTime() : clock.nanoTime();
  }

  /**
   * {@return what to add to {@link System#nanoTime}, which is that now, to get the wall clock's
   * time; for a local root and all below it} At most 10 ms old, which saves reading one of the two
   * clocks of most roots.
   */
  long anchorAt(long nanos) {
    if (nanos - anchoredAt > ANCHOR_NANOS) {
      anchor = systemClock.now() - nanos;
      anchoredAt = nanos; // after the anchor: who sees this sees that, or a newer one
    }
    return anchor;
  }

  /** {@return whether spans of the other can pass their anchor to spans of this one} */
  boolean hasClockOf(Tracing other) {
    return this == other || clock == other.clock;
  }

  // ---- end

  CompletableResultCode forceFlush() {
    return processors.forceFlush();
  }

  CompletableResultCode shutdown() {
    synchronized (shutdownLock) {
      CompletableResultCode known = shutdownResult;
      if (known != null) {
        return known;
      }
      CompletableResultCode result = processors.shutdown();
      closeSampler(sampler);
      shutdownResult = result;
      return result;
    }
  }

  boolean isShutdown() {
    return shutdownResult != null;
  }

  /** A sampler is closeable since 1.66. */
  private void closeSampler(Object closing) {
    if (closing instanceof Closeable closeable) {
      try {
        closeable.close();
      } catch (IOException | RuntimeException | LinkageError e) {
        faults.note("sampler threw in close", e);
      }
    }
  }
}
