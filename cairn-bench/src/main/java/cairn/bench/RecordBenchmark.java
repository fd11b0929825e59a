package cairn.bench;

import cairn.OpenSpan;
import cairn.Recorder;
import cairn.report.Report;
import cairn.report.UnfinishedSpan;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.BenchmarkParams;

/** The caller's cost of each call of the recorder, with one recorder shared by all threads. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RecordBenchmark {

  /** A recorder with default settings; afterwards, proof of what it took. */
  @State(Scope.Benchmark)
  public static class Recording {
    Recorder recorder;
    cairn.Scope scope;
    private final Scratch scratch = Scratch.create("record");
    private final Calls calls = new Calls();

    @Setup(Level.Trial)
    public void open(BenchmarkParams benchmark) {
      recorder = Evidence.open(scratch.directory());
      scope = recorder.scope();
      if (benchmark.getBenchmark().endsWith("MixedCallers")) {
        mixTypes();
      }
    }

    /** What an application does to the type profiles: other maps, values and calls come first. */
    private void mixTypes() {
      List<Map<String, Object>> maps =
          List.of(
              new HashMap<>(Payload.SMALL[0].data()),
              new TreeMap<>(Payload.SMALL[1].data()),
              Map.of("one", 1.5, "list", List.of(1, "two", false)),
              Payload.MID[0].data(),
              Map.copyOf(Payload.SMALL[2].data()));
      for (int i = 0; i < 50_000; i++) {
        recorder.breadcrumb(cairn.Level.DEBUG, "mix", "other call sites", maps.get(i % 5));
        scope.context("mix", maps.get(i % 3)).extra("mix", i).tag("mix", "a");
        recorder.begin("mix").set("i", i).close();
      }
    }

    @TearDown(Level.Trial)
    public void finish(BenchmarkParams benchmark) throws Exception {
      try (scratch) {
        Path root = scratch.directory();
        String name = benchmark.getBenchmark();
        OpenSpan open = recorder.begin("still open").set("calls", calls.sum());
        recorder.close();
        if (name.contains("breadcrumb")) {
          Evidence.requireTrail(root, calls.sum());
        }
        Report report = Evidence.reportOf(root);
        Evidence.requireNoLoss(report);
        if (name.contains("scopeTag")) {
          Evidence.require(
              report.scope().tags().size() == Payload.TAG_KEYS.length,
              "tags",
              report.scope().tags(),
              "all");
        }
        if (name.contains("scopeContext")) {
          Evidence.require(
              report.scope().contexts().get("cart") instanceof Map<?, ?> cart
                  && "EUR".equals(cart.get("currency")),
              "context",
              report.scope().contexts(),
              "currency=EUR");
        }
        List<UnfinishedSpan> spans = report.openSpans();
        Evidence.require(spans.size() == 1, "open spans", spans.size(), 1);
        Evidence.require(
            spans.get(0).attributes().get("calls") instanceof Long seen && seen == calls.sum(),
            "attributes of " + open.spanId(),
            spans.get(0).attributes(),
            calls.sum());
        Evidence.require(
            report.counters().get("spansOverflowed") == 0,
            "spansOverflowed",
            report.counters().get("spansOverflowed"),
            0);
      }
    }
  }

  /** One calling thread. */
  @State(Scope.Thread)
  public static class Caller extends Calls.Caller {
    @Setup(Level.Trial)
    public void join(Recording recording) {
      recording.calls.join(this);
    }
  }

  @Benchmark
  public void breadcrumb(Recording recording, Caller caller) {
    record(recording, Payload.SMALL[caller.next()]);
  }

  /** As {@link #breadcrumb}, after other call sites have used other types. */
  @Benchmark
  public void breadcrumbMixedCallers(Recording recording, Caller caller) {
    record(recording, Payload.SMALL[caller.next()]);
  }

  /** As {@link #breadcrumb}, with the map made at the call, as most callers do. */
  @Benchmark
  public void breadcrumbFreshMap(Recording recording, Caller caller) {
    Payload.Event event = Payload.SMALL[caller.next()];
    recording.recorder.breadcrumb(
        cairn.Level.INFO,
        event.category(),
        event.message(),
        Map.of("url", event.url(), "status", event.status(), "millis", event.millis()));
  }

  @Benchmark
  public void breadcrumb1200(Recording recording, Caller caller) {
    record(recording, Payload.MID[caller.next()]);
  }

  private static void record(Recording recording, Payload.Event event) {
    recording.recorder.breadcrumb(
        cairn.Level.INFO, event.category(), event.message(), event.data());
  }

  @Benchmark
  public void scopeTag(Recording recording, Caller caller) {
    int i = caller.next();
    recording.scope.tag(Payload.TAG_KEYS[i % Payload.TAG_KEYS.length], Payload.TAG_VALUES[i]);
  }

  @Benchmark
  public void scopeContext(Recording recording, Caller caller) {
    recording.scope.context("cart", Payload.CONTEXTS.get(caller.next()));
  }

  @Benchmark
  public void openSpan(Recording recording, Caller caller) {
    try (OpenSpan span = recording.recorder.begin("GET /orders")) {
      set(span, Payload.SMALL[caller.next()]);
    }
  }

  /**
   * As {@link #openSpan}, without the exception handler of a try statement: on JDK 17 that keeps
   * the JIT from taking the span object apart.
   */
  @Benchmark
  public void openSpanPlainClose(Recording recording, Caller caller) {
    OpenSpan span = recording.recorder.begin("GET /orders");
    set(span, Payload.SMALL[caller.next()]);
    span.close();
  }

  private static void set(OpenSpan span, Payload.Event event) {
    span.set("http.route", event.url());
    span.set("http.status", (long) event.millis());
    span.set("ratio", 0.25);
    span.set("cached", true);
  }
}
