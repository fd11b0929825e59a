package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Many spans on a few threads, whose attribute stores, builders and slots in the box are used again
 * and again, while other threads call too late: every span has the tags it was given, and late ones
 * only if they were meant for it.
 */
@Tag("slow")
class SpanPoolTest {
  private static final long MILLIS = Long.getLong("cairn.stress.raceMillis", 1_500);
  private static final int THREADS = 4;
  private static final int SHARED = 6;
  private static final int MAX_OPEN = 12;
  private static final int MAX_TAGS = 20;
  private static final AttributeKey<String> LATE = AttributeKey.stringKey("late");

  @TempDir Path directory;

  private final Queue<String> violations = new ConcurrentLinkedQueue<>();
  private final AtomicLong spans = new AtomicLong();
  private final AtomicLong lates = new AtomicLong();

  /** Spans of all threads, ended or not, on which every thread makes late calls. */
  private final AtomicReferenceArray<Span> shared = new AtomicReferenceArray<>(SHARED);

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @Timeout(3600)
  void everySpanHasItsOwnTagsAndNoOthers(boolean isProcessed) throws Exception {
    long seed = System.nanoTime();
    try (Recorder recorder = Recorder.builder("pool").directory(directory).open()) {
      CairnOpenTelemetry.Builder builder = CairnOpenTelemetry.builder(recorder);
      if (isProcessed) {
        builder.addSpanProcessor(new Judge());
      }
      Tracer tracer = builder.build().getTracerProvider().get("pool");
      CyclicBarrier barrier = new CyclicBarrier(THREADS);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int number = t;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    barrier.await();
                    new Worker(tracer, new SplittableRandom(seed + number)).run();
                  } catch (Exception | Error e) {
                    violations.add("threw: " + e);
                  }
                },
                "pool-" + t);
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      System.out.println(
          "span pool: processed="
              + isProcessed
              + " spans="
              + spans
              + " lateCalls="
              + lates
              + " seed="
              + seed);
      assertThat(violations).as("seed=" + seed).isEmpty();
      assertThat(spans).hasValueGreaterThan(1_000);
      List<Run> runs = Runs.under(directory).list();
      Report report = runs.get(0).report();
      assertThat(report.openSpans().stream().map(UnfinishedSpan::name))
          .as("what is left in the box when all have ended")
          .isEmpty();
    }
  }

  private void judge(String name, Attributes attributes, int tags, String when) {
    Map<AttributeKey<?>, Object> seen = attributes.asMap();
    int expected = tags;
    String late = attributes.get(LATE);
    if (late != null) {
      expected++;
      if (!late.equals(name)) {
        violations.add(when + ": " + name + " has what was meant for " + late);
      }
    }
    for (int i = 0; i < tags; i++) {
      Object value = seen.get(AttributeKey.stringKey("tag" + i));
      if (!(name + "/" + i).equals(value)) {
        violations.add(when + ": " + name + " has tag" + i + "=" + value);
      }
    }
    if (seen.size() != expected) {
      violations.add(when + ": " + name + " has " + seen + ", tags=" + tags);
    }
  }

  private static int tagsOf(String name) {
    return Integer.parseInt(name.substring(name.indexOf(' ') + 1));
  }

  private final class Worker {
    private final Tracer tracer;
    private final SplittableRandom random;
    private final List<Span> open = new ArrayList<>();

    Worker(Tracer tracer, SplittableRandom random) {
      this.tracer = tracer;
      this.random = random;
    }

    void run() {
      long end = System.nanoTime() + MILLIS * 1_000_000;
      while (System.nanoTime() < end && violations.isEmpty()) {
        for (int i = 0; i < 100; i++) {
          step();
        }
      }
      while (!open.isEmpty()) {
        end(open.size() - 1);
      }
    }

    private void step() {
      int dice = random.nextInt(8);
      if (dice < 3 && open.size() < MAX_OPEN) {
        begin();
      } else if (dice < 6 && !open.isEmpty()) {
        end(random.nextInt(open.size()));
      } else {
        callLate();
      }
    }

    private void begin() {
      // One in sixty is huge; the others have a few tags, some of them from the builder.
      int tags = random.nextInt(60) == 0 ? 100 : random.nextInt(MAX_TAGS);
      String name = spans.incrementAndGet() + " " + tags;
      SpanBuilder builder = tracer.spanBuilder(name);
      if (!open.isEmpty() && random.nextBoolean()) {
        builder.setParent(Context.root().with(open.get(open.size() - 1)));
      }
      int early = random.nextInt(tags + 1);
      for (int i = 0; i < early; i++) {
        builder.setAttribute("tag" + i, name + "/" + i);
      }
      Span span = builder.startSpan();
      for (int i = early; i < tags; i++) {
        span.setAttribute("tag" + i, name + "/" + i);
      }
      open.add(span);
      shared.set(random.nextInt(SHARED), span);
    }

    private void end(int place) {
      Span span = open.remove(place);
      SpanData data = ((ReadableSpan) span).toSpanData();
      judge(data.getName(), data.getAttributes(), tagsOf(data.getName()), "before its end");
      span.end();
    }

    private void callLate() {
      Span span = shared.get(random.nextInt(SHARED));
      if (span == null) {
        return;
      }
      lates.incrementAndGet();
      String name = ((ReadableSpan) span).getName();
      switch (random.nextInt(4)) {
        case 0 -> span.setAttribute(LATE, name);
        case 1 -> span.setAttribute("late", name);
        case 2 -> {
          String late = ((ReadableSpan) span).getAttribute(LATE);
          if (late != null && !late.equals(name)) {
            violations.add("read late: " + name + " has what was meant for " + late);
          }
        }
        default -> {
          SpanData data = ((ReadableSpan) span).toSpanData();
          String late = data.getAttributes().get(LATE);
          if (late != null && !late.equals(name)) {
            violations.add("seen late: " + name + " has what was meant for " + late);
          }
        }
      }
    }
  }

  /** Looks at the spans when they have ended, as an exporter does. */
  private final class Judge implements SpanProcessor {
    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      SpanData data = span.toSpanData();
      judge(data.getName(), data.getAttributes(), tagsOf(data.getName()), "at its end");
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
