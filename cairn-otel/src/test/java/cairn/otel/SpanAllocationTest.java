package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import com.sun.management.ThreadMXBean;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the processor adds to the bytes that a span of the SDK allocates on its thread, compiled: in
 * a JVM of its own, which compiles in the foreground.
 */
class SpanAllocationTest {
  @TempDir Path root;

  @ParameterizedTest
  @ValueSource(strings = {"server", "attributes", "current", "breadcrumb"})
  void spanAllocatesWhatItDoesWithoutTheProcessor(String kind) throws Exception {
    long without = bytes(kind, "without");
    long with = bytes(kind, "with");

    assertThat(without).as("bytes of a span of the SDK").isBetween(100L, 2_000L);
    assertThat(with).isEqualTo(without);
  }

  private long bytes(String kind, String processor) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xbatch",
                "-Xmx128m",
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                root.toString(),
                kind,
                processor)
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    return Long.parseLong(output.substring(output.indexOf("bytes=") + 6).strip());
  }

  /** Makes spans of one kind again and again and prints the least that a round allocated a span. */
  static final class Victim {
    private static final int CALLS = 20_000;
    private static final int ROUNDS = 12;

    private Victim() {}

    public static void main(String[] args) {
      Recorder recorder =
          Recorder.builder("allocation")
              .directory(Path.of(args[0]))
              // The vitals of a beat would be counted neither here nor there: other threads.
              .open();
      SpanProcessor processor =
          args[2].equals("with")
              ? CairnSpanProcessor.builder(recorder).threads(true).build()
              : new Nothing();
      if (!recorder.mode().equals("mapped")) {
        throw new IllegalStateException(recorder.mode());
      }
      SdkTracerProvider provider = SdkTracerProvider.builder().addSpanProcessor(processor).build();
      Tracer tracer = provider.get("allocation");
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
          span(tracer, recorder, args[1]);
        }
        least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
      }
      if (args[2].equals("with") && !ContextStorage.get().toString().contains("ThreadBinding")) {
        throw new IllegalStateException("threads are not bound: " + ContextStorage.get());
      }
      System.out.println("bytes=" + least / CALLS);
      System.exit(0);
    }

    private static void span(Tracer tracer, Recorder recorder, String kind) {
      switch (kind) {
        case "attributes" ->
            tracer
                .spanBuilder("SELECT orders")
                .setSpanKind(SpanKind.CLIENT)
                .setAttribute("db.system.name", "postgresql")
                .setAttribute("db.query.text", "SELECT * FROM orders WHERE id = ?")
                .setAttribute("server.address", "db.example")
                .startSpan()
                .end();
        case "current" -> {
          Span span = tracer.spanBuilder("GET").startSpan();
          try (Scope scope = span.makeCurrent()) {
            span.updateName(scope == Scope.noop() ? "none" : "GET /products");
          }
          span.end();
        }
        case "breadcrumb" -> {
          Span span = tracer.spanBuilder("GET").startSpan();
          try (Scope scope = span.makeCurrent()) {
            recorder.breadcrumb(null, "db", scope == Scope.noop() ? "none" : "SELECT");
          }
          span.end();
        }
        default -> tracer.spanBuilder("GET").setSpanKind(SpanKind.SERVER).startSpan().end();
      }
    }
  }

  /** What the SDK needs to record at all. */
  private static final class Nothing implements SpanProcessor {
    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {}

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
