package cairn.stress;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import cairn.stress.OtelPlan.Kind;
import cairn.stress.OtelPlan.Mark;
import cairn.stress.OtelPlan.Pipeline;
import cairn.stress.OtelPlan.Walk;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The process that is killed while it makes spans through the OpenTelemetry API.
 *
 * <p>Arguments: plan, root directory, oracle file. It prints {@code ready} when its threads are
 * about to start, and makes spans until it is killed or its standard input ends.
 */
public final class OtelVictim {
  private static final int ORPHANED = 9;

  private OtelVictim() {}

  /** Makes spans until it is killed. */
  public static void main(String[] args) throws IOException {
    OtelPlan plan = OtelPlan.parse(args[0]);
    Oracle oracle = Oracle.open(Path.of(args[2]));
    Recorder recorder = Recorder.builder("otel-victim").directory(Path.of(args[1])).open();
    CairnOpenTelemetry.Builder builder = CairnOpenTelemetry.builder(recorder);
    if (plan.pipeline() == Pipeline.DROPPED) {
      builder.sampler(Sampler.alwaysOff());
    } else if (plan.pipeline() == Pipeline.PROCESSED) {
      builder.addSpanProcessor(new Snapshots());
    }
    Tracer tracer = builder.build().getTracerProvider().get("victim");
    System.out.println(recorder.isEnabled() ? "ready" : "disabled");
    System.out.flush();
    for (int t = 0; t < plan.threads(); t++) {
      Thread thread = new Thread(new Worker(plan, t, oracle, tracer), OtelPlan.threadName(t));
      thread.setDaemon(true);
      thread.start();
    }
    while (System.in.read() >= 0) {
      // Whatever it is told, it goes on.
    }
    Runtime.getRuntime().halt(ORPHANED);
  }

  private static final class Worker implements Runnable {
    private final int thread;
    private final Oracle oracle;
    private final Tracer tracer;
    private final Walk walk;
    private final @Nullable Span[] spans = new Span[OtelPlan.PLACES];

    Worker(OtelPlan plan, int thread, Oracle oracle, Tracer tracer) {
      this.thread = thread;
      this.oracle = oracle;
      this.tracer = tracer;
      this.walk = plan.new Walk(thread);
    }

    @Override
    public void run() {
      for (long step = 0; ; step++) {
        try {
          Kind kind = walk.next();
          oracle.start(thread, Oracle.Stream.SPANS, step);
          make(kind, step);
          oracle.returned(thread, Oracle.Stream.SPANS, step);
        } catch (RuntimeException | Error e) {
          oracle.fail(thread);
          e.printStackTrace();
          throw e;
        }
      }
    }

    private void make(Kind kind, long step) {
      Span span = spans[walk.place];
      Mark mark = walk.places[walk.place];
      switch (kind) {
        case BEGIN -> spans[walk.place] = begin(mark, step);
        case ATTRIBUTE -> set(span, walk.key, mark.attributes.get(walk.key));
        case RENAME -> span.updateName(mark.name);
        case STATUS -> {
          // Whether the mark changes or not, the call is made: OK is final.
          if ("OK".equals(mark.status)) {
            span.setStatus(StatusCode.OK).setStatus(StatusCode.ERROR, "too late");
          } else {
            span.setStatus(StatusCode.ERROR, mark.description);
          }
        }
        case EVENT -> span.addEvent("event");
        case END -> {
          span.end();
          spans[walk.place] = null;
        }
      }
    }

    @SuppressWarnings("try") // a scope is there to be closed
    private Span begin(Mark mark, long step) {
      if (mark.isRoot()) {
        return start(tracer.spanBuilder(mark.name).setNoParent(), mark);
      }
      Span parent = spans[walk.parentPlace];
      if (step % 2 == 0) {
        return start(tracer.spanBuilder(mark.name).setParent(Context.root().with(parent)), mark);
      }
      try (Scope ignored = parent.makeCurrent()) {
        return start(tracer.spanBuilder(mark.name), mark);
      }
    }

    private Span start(SpanBuilder builder, Mark mark) {
      builder.setSpanKind(SpanKind.valueOf(mark.kind));
      mark.attributes.forEach((key, value) -> set(builder, key, value));
      return builder.startSpan();
    }

    @SuppressWarnings("unchecked")
    private static void set(SpanBuilder builder, String key, Object value) {
      if (value instanceof String text) {
        builder.setAttribute(key, text);
      } else if (value instanceof Long number) {
        builder.setAttribute(key, number);
      } else if (value instanceof Double number) {
        builder.setAttribute(key, number);
      } else if (value instanceof Boolean flag) {
        builder.setAttribute(key, flag);
      } else {
        builder.setAttribute(AttributeKey.stringArrayKey(key), (List<String>) value);
      }
    }

    @SuppressWarnings("unchecked")
    private static void set(Span span, String key, Object value) {
      if (value instanceof String text) {
        span.setAttribute(key, text);
      } else if (value instanceof Long number) {
        span.setAttribute(key, number);
      } else if (value instanceof Double number) {
        span.setAttribute(key, number);
      } else if (value instanceof Boolean flag) {
        span.setAttribute(key, flag);
      } else {
        span.setAttribute(AttributeKey.stringArrayKey(key), (List<String>) value);
      }
    }
  }

  /** Looks at each span as exporters do. */
  private static final class Snapshots implements SpanProcessor {
    @Override
    public void onStart(Context parentContext, ReadWriteSpan span) {
      span.toSpanData().getAttributes().size();
    }

    @Override
    public boolean isStartRequired() {
      return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      if (!span.toSpanData().hasEnded()) {
        throw new IllegalStateException("not ended in onEnd: " + span.getName());
      }
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }
  }
}
