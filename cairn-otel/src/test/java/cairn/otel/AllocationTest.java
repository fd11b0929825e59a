package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import com.sun.management.ThreadMXBean;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Bytes that a span allocates on its thread, with a recorder and no span processor, once it is
 * compiled. Each case has a JVM of its own, which compiles in the foreground: what other tests made
 * the JIT believe would show otherwise.
 */
class AllocationTest {
  @TempDir Path root;

  @ParameterizedTest
  @CsvSource({
    "root, 96",
    "child, 96",
    "fourAttributesOnTheBuilder, 96",
    "fourAttributesOnTheSpan, 96",
    "tenAttributesByName, 96",
    "immutableList, 96",
    "childWithFourAttributesAndScope, 168",
    "sampledOut, 56",
    "keptBuilder, 96",
    "nestedSpans, 288",
    "renamedWithStatus, 96",
  })
  void spanAllocatesNoMoreThan(String call, long limit) throws IOException {
    String output =
        ChildProcess.java(
            ChildProcess.JAVA, List.of("-Xbatch"), Victim.class, root.toString(), call);

    assertThat(output).contains("exit=0").contains("bytes=");
    String bytes = output.substring(output.indexOf("bytes=") + 6).lines().findFirst().orElse("");
    // Not a byte more on the average: every ten milliseconds the wall clock is read, for 24 bytes.
    assertThat(Long.parseLong(bytes)).isLessThan((limit + 1) * Victim.CALLS);
  }

  /** Makes one kind of call again and again and prints the least that a round allocated. */
  static final class Victim {
    static final int CALLS = 20_000;
    private static final int ROUNDS = 10;

    private static final AttributeKey<String> METHOD =
        AttributeKey.stringKey("http.request.method");
    private static final AttributeKey<Long> STATUS =
        AttributeKey.longKey("http.response.status_code");
    private static final AttributeKey<Boolean> RETRIED = AttributeKey.booleanKey("retried");
    private static final AttributeKey<List<String>> TAGS = AttributeKey.stringArrayKey("tags");
    private static final List<String> LIST = List.of("a", "b", "c", "d", "e");
    private static final String[] NAMES = {
      "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"
    };

    private final Tracer tracer;
    private final Tracer unsampled;
    private final SpanBuilder kept;

    private Victim(Recorder recorder) {
      CairnOpenTelemetry otel = CairnOpenTelemetry.builder(recorder).build();
      CairnTracer cairn = otel.getTracer("test");
      kept = cairn.reusableSpanBuilder("GET /orders").setAttribute(METHOD, "GET");
      tracer = cairn;
      unsampled =
          CairnOpenTelemetry.builder(recorder)
              .sampler(Sampler.alwaysOff())
              .build()
              .getTracer("test");
    }

    public static void main(String[] args) {
      Recorder recorder = Recorder.builder("allocation").directory(Path.of(args[0])).open();
      if (!recorder.isEnabled()) {
        throw new IllegalStateException(recorder.mode());
      }
      Victim victim = new Victim(recorder);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long least = Long.MAX_VALUE;
      Span parent = victim.tracer.spanBuilder("parent").startSpan();
      boolean below = args[1].startsWith("child");
      try (Scope scope = below ? parent.makeCurrent() : Scope.noop()) {
        for (int round = 0; round < ROUNDS; round++) {
          long before = threads.getCurrentThreadAllocatedBytes();
          victim.run(args[1]);
          least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
      }
      System.out.println("bytes=" + least);
    }

    private void run(String call) {
      switch (call) {
        case "root", "child" -> root();
        case "fourAttributesOnTheBuilder" -> fourAttributesOnTheBuilder();
        case "fourAttributesOnTheSpan" -> fourAttributesOnTheSpan();
        case "tenAttributesByName" -> tenAttributesByName();
        case "immutableList" -> immutableList();
        case "childWithFourAttributesAndScope" -> fourAttributesAndScope();
        case "sampledOut" -> sampledOut();
        case "keptBuilder" -> keptBuilder();
        case "nestedSpans" -> nestedSpans();
        case "renamedWithStatus" -> renamedWithStatus();
        default -> throw new IllegalArgumentException(call);
      }
    }

    private void root() {
      for (int i = 0; i < CALLS; i++) {
        tracer.spanBuilder("GET /orders").startSpan().end();
      }
    }

    private void fourAttributesOnTheBuilder() {
      for (int i = 0; i < CALLS; i++) {
        tracer
            .spanBuilder("GET /orders")
            .setAttribute(METHOD, "GET")
            .setAttribute(STATUS, 1_000 + i)
            .setAttribute(RETRIED, true)
            .setAttribute("ratio", i / 3.0)
            .startSpan()
            .end();
      }
    }

    private void fourAttributesOnTheSpan() {
      for (int i = 0; i < CALLS; i++) {
        Span span = tracer.spanBuilder("GET /orders").startSpan();
        four(span, i);
        span.end();
      }
    }

    private static void four(Span span, int i) {
      span.setAttribute(METHOD, "GET");
      span.setAttribute(STATUS, 1_000 + i);
      span.setAttribute(RETRIED, true);
      span.setAttribute("ratio", i / 3.0);
    }

    private void tenAttributesByName() {
      for (int i = 0; i < CALLS; i++) {
        SpanBuilder builder = tracer.spanBuilder("GET /orders");
        for (String name : NAMES) {
          builder.setAttribute(name, "value");
        }
        builder.startSpan().end();
      }
    }

    private void immutableList() {
      for (int i = 0; i < CALLS; i++) {
        tracer.spanBuilder("GET /orders").setAttribute(TAGS, LIST).startSpan().end();
      }
    }

    private void fourAttributesAndScope() {
      for (int i = 0; i < CALLS; i++) {
        Span span = tracer.spanBuilder("GET /orders").startSpan();
        Scope scope = span.makeCurrent();
        four(span, i);
        scope.close();
        span.end();
      }
    }

    private void sampledOut() {
      for (int i = 0; i < CALLS; i++) {
        unsampled.spanBuilder("GET /orders").setAttribute(METHOD, "GET").startSpan().end();
      }
    }

    private void keptBuilder() {
      for (int i = 0; i < CALLS; i++) {
        kept.startSpan().end();
      }
    }

    private void nestedSpans() {
      for (int i = 0; i < CALLS; i++) {
        Span outer = tracer.spanBuilder("outer").setAttribute(METHOD, "GET").startSpan();
        Span middle = tracer.spanBuilder("middle").setAttribute(METHOD, "GET").startSpan();
        Span inner = tracer.spanBuilder("inner").setAttribute(METHOD, "GET").startSpan();
        inner.end();
        middle.end();
        outer.end();
      }
    }

    private void renamedWithStatus() {
      for (int i = 0; i < CALLS; i++) {
        Span span = tracer.spanBuilder("GET").startSpan();
        span.updateName("GET /orders/{id}");
        span.setStatus(io.opentelemetry.api.trace.StatusCode.ERROR);
        span.end();
      }
    }
  }
}
