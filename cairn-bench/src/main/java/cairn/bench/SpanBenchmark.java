package cairn.bench;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.Blackhole;

/**
 * The caller's cost of a span, from the builder to its end. Each fork has one contender and one
 * case, so that what is virtual here is one method for the compiler. The span itself is returned:
 * nobody may find out that it is needed nowhere.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SpanBenchmark {
  /** Spans of one virtual thread, so that the thread itself hardly counts. */
  private static final int SPANS_OF_A_THREAD = 1_000;

  /** A tracer, shared by all threads. */
  @State(Scope.Benchmark)
  public static class Tracing {
    @Param("otel-sdk")
    String contender;

    SpanContender spans;
    private SpanCase asked;
    private final Scratch scratch = Scratch.create("spans");
    private final Calls calls = new Calls();

    @Setup(Level.Trial)
    public void open(BenchmarkParams benchmark) {
      String name = benchmark.getBenchmark();
      asked = SpanCase.of(name.substring(name.lastIndexOf('.') + 1));
      spans = SpanContender.open(contender, asked != SpanCase.SAMPLED_OUT, scratch.directory());
    }

    @TearDown(Level.Trial)
    public void finish() throws Exception {
      try (scratch) {
        spans.finish(calls.sum());
      }
    }
  }

  /** One calling thread. */
  @State(Scope.Thread)
  public static class Caller extends Calls.Caller {
    @Setup(Level.Trial)
    public void join(Tracing tracing) throws Exception {
      if (tracing.asked == SpanCase.VIRTUAL) {
        // This thread only waits: its CPU time says nothing.
        tracing.calls.count(this);
      } else {
        tracing.calls.join(this);
      }
      if (tracing.asked == SpanCase.CHILD || tracing.asked == SpanCase.CHILD_CURRENT) {
        tracing.spans.enter();
      }
      if (tracing.asked != SpanCase.VIRTUAL) {
        WarmUp.untilCompiled(() -> tracing.asked.ask(tracing.spans, this));
      }
    }
  }

  /** Makes virtual threads, on a JDK that has them. */
  @State(Scope.Benchmark)
  public static class VirtualThreads {
    ThreadFactory factory;

    @Setup(Level.Trial)
    public void find() throws ReflectiveOperationException {
      Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
      factory =
          (ThreadFactory)
              Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
    }
  }

  @Benchmark
  public Object root(Tracing tracing, Caller caller) {
    return tracing.spans.root(caller.next());
  }

  @Benchmark
  public Object child(Tracing tracing, Caller caller) {
    return tracing.spans.child(caller.next());
  }

  @Benchmark
  public Object fourAttributes(Tracing tracing, Caller caller) {
    return tracing.spans.fourAttributes(caller.next());
  }

  @Benchmark
  public Object fourLate(Tracing tracing, Caller caller) {
    return tracing.spans.fourLate(caller.next());
  }

  @Benchmark
  public Object tenAttributes(Tracing tracing, Caller caller) {
    return tracing.spans.tenAttributes(caller.next());
  }

  @Benchmark
  public Object list(Tracing tracing, Caller caller) {
    return tracing.spans.list(caller.next());
  }

  @Benchmark
  public Object childCurrent(Tracing tracing, Caller caller) {
    return tracing.spans.childCurrent(caller.next());
  }

  @Benchmark
  public Object keptBuilder(Tracing tracing, Caller caller) {
    return tracing.spans.keptBuilder(caller.next());
  }

  @Benchmark
  public Object exception(Tracing tracing, Caller caller) {
    return tracing.spans.exception(caller.next());
  }

  @Benchmark
  @OperationsPerInvocation(SpanContender.CHILDREN)
  public Object trace(Tracing tracing, Caller caller) {
    return tracing.spans.trace(caller);
  }

  /** On a thread that is new to the tracer, as virtual threads are. */
  @Benchmark
  @OperationsPerInvocation(SPANS_OF_A_THREAD)
  public void virtualThread(
      Tracing tracing, Caller caller, VirtualThreads threads, Blackhole blackhole)
      throws InterruptedException {
    Thread thread =
        threads.factory.newThread(
            () -> {
              for (int n = 0; n < SPANS_OF_A_THREAD; n++) {
                blackhole.consume(tracing.spans.fourAttributes(caller.next()));
              }
            });
    thread.start();
    thread.join();
  }

  /** As {@link #root}, by a tracer whose sampler refuses every root. */
  @Benchmark
  public Object sampledOut(Tracing tracing, Caller caller) {
    return tracing.spans.root(caller.next());
  }
}
