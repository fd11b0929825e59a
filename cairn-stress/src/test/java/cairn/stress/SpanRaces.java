package cairn.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE_INTERESTING;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;
import org.openjdk.jcstress.infra.results.LL_Result;
import org.openjdk.jcstress.infra.results.L_Result;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/**
 * Two threads on one span, one builder, one pool of attribute stores; run by {@link SpanRaceTest}.
 *
 * <p>Of each outcome that may be, the description says by which order of the two threads it comes.
 */
public final class SpanRaces {
  private static final AttributeKey<Long> A = AttributeKey.longKey("a");
  private static final AttributeKey<Long> B = AttributeKey.longKey("b");
  private static final AttributeKey<Long> FOREIGN = AttributeKey.longKey("foreign");
  private static final AttributeKey<Long> PLACE = AttributeKey.longKey("place");
  private static final Recorder RECORDER = Recorder.builder("races").open();

  /** Of nobody but the box: attribute stores go back to the pool at the end. */
  private static final Tracer ALONE =
      CairnOpenTelemetry.builder(RECORDER).build().getTracerProvider().get("alone");

  /** With a processor. */
  private static final Tracer SEEN =
      CairnOpenTelemetry.builder(RECORDER)
          .addSpanProcessor(new Ends())
          .build()
          .getTracerProvider()
          .get("seen");

  private SpanRaces() {}

  private static Attributes attributes(Span span) {
    return ((ReadableSpan) span).toSpanData().getAttributes();
  }

  private static boolean isSame(Attributes seen, Attributes expected) {
    return seen.asMap().equals(expected.asMap());
  }

  /** Notes for each span, by its place, how often it ended and the name it had then. */
  private static final class Ends implements SpanProcessor {
    private static final int PLACES = 1 << 16;
    private static final AtomicInteger NEXT = new AtomicInteger();
    private static final AtomicReferenceArray<String> ENDS = new AtomicReferenceArray<>(PLACES);

    static Span start(String name) {
      int place = NEXT.getAndIncrement() & PLACES - 1;
      ENDS.set(place, "");
      return SEEN.spanBuilder(name).setNoParent().setAttribute(PLACE, place).startSpan();
    }

    static String of(Span span) {
      return ENDS.get((int) (long) ((ReadableSpan) span).getAttribute(PLACE));
    }

    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      int place = (int) (long) span.getAttribute(PLACE);
      ENDS.accumulateAndGet(place, span.toSpanData().getName(), String::concat);
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }

  /** A late attribute must not get into the span that the store was given to next. */
  @JCStressTest
  @Outcome(
      id = "own",
      expect = ACCEPTABLE,
      desc = "set before the end, or after it: in both orders the next span has what it was given")
  @Outcome(expect = FORBIDDEN, desc = "an attribute of another span")
  @State
  public static class EndAgainstSet {
    private final Span span = ALONE.spanBuilder("first").setAttribute(A, 1L).startSpan();

    /** Ends the span and starts the next, which has the store that became free. */
    @Actor
    public void end(L_Result result) {
      span.end();
      Span next = ALONE.spanBuilder("next").setAttribute(B, 2L).startSpan();
      Attributes seen = attributes(next);
      next.setAttribute(A, 3L);
      Attributes later = attributes(next);
      next.end();
      result.r1 =
          isSame(seen, Attributes.of(B, 2L)) && isSame(later, Attributes.of(A, 3L, B, 2L))
              ? "own"
              : seen + " " + later;
    }

    /** Sets attributes of the first span, too late or not. */
    @Actor
    public void set() {
      span.setAttribute(FOREIGN, 7L);
      span.setAttribute(A, 7L);
    }
  }

  /** A span ends once. */
  @JCStressTest
  @Outcome(id = "once, 1", expect = ACCEPTABLE, desc = "the first thread was first")
  @Outcome(id = "once, 2", expect = ACCEPTABLE, desc = "the second thread was first")
  @Outcome(expect = FORBIDDEN, desc = "ended twice, or with a time that nobody gave")
  @State
  public static class EndAgainstEnd {
    private final Span span = Ends.start("once");

    /** Ends it at 1. */
    @Actor
    public void first() {
      span.end(1, TimeUnit.NANOSECONDS);
    }

    /** Ends it at 2. */
    @Actor
    public void second() {
      span.end(2, TimeUnit.NANOSECONDS);
    }

    /** Looks at what came of it. */
    @Arbiter
    public void look(LL_Result result) {
      result.r1 = Ends.of(span);
      result.r2 = ((ReadableSpan) span).toSpanData().getEndEpochNanos();
    }
  }

  /** What a processor saw at the end is what the span stays. */
  @JCStressTest
  @Outcome(id = "old, old", expect = ACCEPTABLE, desc = "renamed after its end: too late")
  @Outcome(id = "new, new", expect = ACCEPTABLE, desc = "renamed, then ended")
  @Outcome(expect = FORBIDDEN, desc = "an ended span changed")
  @State
  public static class EndAgainstRename {
    private final Span span = Ends.start("old");

    /** Ends it. */
    @Actor
    public void end() {
      span.end();
    }

    /** Renames it. */
    @Actor
    public void rename() {
      span.updateName("new");
    }

    /** Looks at what came of it. */
    @Arbiter
    public void look(LL_Result result) {
      result.r1 = Ends.of(span);
      result.r2 = ((ReadableSpan) span).toSpanData().getName();
    }
  }

  /** The span context is made when it is asked for, by two threads at once. */
  @JCStressTest
  @Outcome(id = "true, true", expect = ACCEPTABLE, desc = "both see one and the same, whole")
  @Outcome(expect = FORBIDDEN, desc = "two, or half of one")
  @State
  public static class ContextAgainstContext {
    private final Span span = ALONE.spanBuilder("s").setNoParent().startSpan();
    private SpanContext first;
    private SpanContext second;

    /** Asks, and looks at once. */
    @Actor
    public void first(ZZ_Result result) {
      first = span.getSpanContext();
      result.r1 = isWhole(first);
    }

    /** Asks, and looks at once. */
    @Actor
    public void second(ZZ_Result result) {
      second = span.getSpanContext();
      result.r2 = isWhole(second);
    }

    /** Compares them. */
    @Arbiter
    public void compare(ZZ_Result result) {
      result.r1 &= first.equals(second);
      result.r2 &= first.equals(span.getSpanContext());
      span.end();
    }

    private static boolean isWhole(SpanContext context) {
      return context.isValid()
          && context.getTraceId().length() == 32
          && context.getSpanId().length() == 16
          && context.getTraceState().isEmpty()
          && context.getTraceFlags().asByte() == 3;
    }
  }

  /** Two attributes, and a snapshot in between. */
  @JCStressTest
  @Outcome(id = "none", expect = ACCEPTABLE, desc = "the snapshot came first")
  @Outcome(id = "a", expect = ACCEPTABLE, desc = "the snapshot came between the two")
  @Outcome(id = "ab", expect = ACCEPTABLE, desc = "the snapshot came last")
  @Outcome(expect = FORBIDDEN, desc = "the second without the first, or none of ours")
  @State
  public static class SnapshotAgainstSets {
    private final Span span = ALONE.spanBuilder("s").startSpan();

    /** Sets both. */
    @Actor
    public void set() {
      span.setAttribute(A, 1L);
      span.setAttribute(B, 2L);
    }

    /** Takes a snapshot. */
    @Actor
    public void look(L_Result result) {
      StringBuilder keys = new StringBuilder();
      attributes(span).forEach((key, value) -> keys.append(key.getKey()));
      result.r1 = keys.length() == 0 ? "none" : keys.toString();
    }

    /** Ends the span. */
    @Arbiter
    public void end(L_Result result) {
      span.end();
    }
  }

  /** The same attribute from two threads. */
  @JCStressTest
  @Outcome(id = "1", expect = ACCEPTABLE, desc = "the second thread was first")
  @Outcome(id = "2", expect = ACCEPTABLE, desc = "the first thread was first")
  @Outcome(expect = FORBIDDEN, desc = "twice, or neither")
  @State
  public static class SetAgainstSet {
    private final Span span = ALONE.spanBuilder("s").startSpan();

    /** Sets it to 1. */
    @Actor
    public void first() {
      span.setAttribute(A, 1L);
    }

    /** Sets it to 2. */
    @Actor
    public void second() {
      span.setAttribute(A, 2L);
    }

    /** Looks at what came of it. */
    @Arbiter
    public void look(I_Result result) {
      Attributes attributes = attributes(span);
      result.r1 = attributes.size() == 1 ? (int) (long) attributes.get(A) : -attributes.size();
      span.end();
    }
  }

  /** A builder is handed to another thread while its own goes on with the next. */
  @JCStressTest
  @Outcome(id = "own, own", expect = ACCEPTABLE, desc = "each has what it was given")
  @Outcome(id = "own, none", expect = ACCEPTABLE, desc = "nothing had been handed over yet")
  @Outcome(expect = FORBIDDEN, desc = "one span has what was meant for another")
  @State
  public static class BuilderHandedOver {
    private volatile SpanBuilder handed;

    /** Hands one over, and starts spans of its own. */
    @Actor
    public void owner(LL_Result result) {
      handed = ALONE.spanBuilder("handed").setNoParent().setAttribute(A, 1L);
      result.r1 = "own";
      for (long i = 0; i < 9; i++) {
        String wrong = startAndLook(ALONE.spanBuilder("own").setNoParent(), "own", B, i);
        if (wrong != null) {
          result.r1 = wrong;
        }
      }
    }

    /** Starts a span from what was handed over. */
    @Actor
    public void other(LL_Result result) {
      SpanBuilder builder = handed;
      if (builder == null) {
        result.r2 = "none";
        return;
      }
      Span span = builder.setAttribute(FOREIGN, 7L).startSpan();
      Attributes expected = Attributes.of(A, 1L, FOREIGN, 7L);
      result.r2 =
          ((ReadableSpan) span).getName().equals("handed") && isSame(attributes(span), expected)
              ? "own"
              : "" + attributes(span);
      span.end();
    }
  }

  /**
   * A builder is kept after its span has started, and used while its thread makes spans of other
   * names.
   */
  @JCStressTest
  @Outcome(id = "own, own", expect = ACCEPTABLE, desc = "the kept builder is nobody else's")
  @Outcome(id = "own, none", expect = ACCEPTABLE, desc = "nothing had been kept yet")
  @Outcome(expect = FORBIDDEN, desc = "one span has what was meant for another")
  @State
  public static class StaleAgainstNext {
    private volatile SpanBuilder kept;

    /** Keeps one, and starts the next spans. */
    @Actor
    public void owner(LL_Result result) {
      SpanBuilder builder = ALONE.spanBuilder("first").setNoParent();
      builder.startSpan().end();
      kept = builder;
      result.r1 = "own";
      for (long i = 0; i < 9; i++) {
        String wrong = startAndLook(ALONE.spanBuilder("own").setNoParent(), "own", B, i);
        if (wrong != null) {
          result.r1 = wrong;
        }
      }
    }

    /** Starts a second span from what was kept. */
    @Actor
    public void other(LL_Result result) {
      result.r2 = startFromKept(kept);
    }
  }

  /** As {@link StaleAgainstNext}, while its thread makes spans of the same name. */
  @JCStressTest
  @Outcome(id = "own, own", expect = ACCEPTABLE, desc = "the kept builder is nobody else's")
  @Outcome(id = "own, none", expect = ACCEPTABLE, desc = "nothing had been kept yet")
  @Outcome(
      expect = ACCEPTABLE_INTERESTING,
      desc = "the documented limit: used within the building of a later span of that name")
  @State
  public static class StaleAgainstItsName {
    private volatile SpanBuilder kept;

    /** Keeps one, and starts more spans of that name. */
    @Actor
    public void owner(LL_Result result) {
      SpanBuilder builder = ALONE.spanBuilder("first").setNoParent();
      builder.startSpan().end();
      kept = builder;
      result.r1 = "own";
      for (long i = 0; i < 9; i++) {
        String wrong = startAndLook(ALONE.spanBuilder("first").setNoParent(), "first", B, i);
        if (wrong != null) {
          result.r1 = wrong;
        }
      }
    }

    /** Starts a second span from what was kept. */
    @Actor
    public void other(LL_Result result) {
      result.r2 = startFromKept(kept);
    }
  }

  private static String startAndLook(
      SpanBuilder builder, String name, AttributeKey<Long> key, long value) {
    Span span = builder.setAttribute(key, value).startSpan();
    Attributes seen = attributes(span);
    String nameSeen = ((ReadableSpan) span).getName();
    span.end();
    return nameSeen.equals(name) && isSame(seen, Attributes.of(key, value))
        ? null
        : nameSeen + " " + seen;
  }

  private static String startFromKept(SpanBuilder builder) {
    if (builder == null) {
      return "none";
    }
    String wrong = startAndLook(builder, "first", FOREIGN, 7);
    return wrong == null ? "own" : wrong;
  }
}
