package cairn.stress;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A process that is killed while it serves a request, when the steps of that request have ended and
 * been exported and the request has not.
 *
 * <p>Arguments: root directory, file that takes what is exported, one line for each span.
 */
public final class OrphanVictim {
  private OrphanVictim() {}

  /** Serves two requests: one to its end. */
  public static void main(String[] args) throws IOException {
    Recorder recorder = Recorder.builder("orphans").directory(Path.of(args[0])).open();
    CairnOpenTelemetry otel =
        CairnOpenTelemetry.builder(recorder)
            .addSpanProcessor(new Exporter(Path.of(args[1])))
            .build();
    Tracer tracer = otel.getTracerProvider().get("shop");
    serve(tracer, "GET /health").end();
    Span request = serve(tracer, "POST /orders");
    request.setAttribute("order.id", 17);
    System.out.println(recorder.isEnabled() ? "ready" : "disabled");
    System.out.flush();
    while (System.in.read() >= 0) {
      // It hangs in the request until it is killed.
    }
  }

  @SuppressWarnings("try") // a scope is there to be closed
  private static Span serve(Tracer tracer, String name) {
    Span request = tracer.spanBuilder(name).setNoParent().setSpanKind(SpanKind.SERVER).startSpan();
    try (Scope ignored = request.makeCurrent()) {
      tracer.spanBuilder("SELECT orders").setSpanKind(SpanKind.CLIENT).startSpan().end();
      tracer.spanBuilder("POST payment").setSpanKind(SpanKind.CLIENT).startSpan().end();
    }
    return request;
  }

  private record Exporter(Path file) implements SpanProcessor {
    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
      return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      String line =
          span.getSpanContext().getTraceId()
              + " "
              + span.getSpanContext().getSpanId()
              + " "
              + span.getParentSpanContext().getSpanId()
              + " "
              + span.getName()
              + "\n";
      try {
        Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
