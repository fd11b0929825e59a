package cairn.stress;

import cairn.Recorder;
import cairn.otel.CairnSpanProcessor;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The process that is killed in the middle of thousands of spans of the OpenTelemetry SDK. Each
 * thread has places; it begins a span in each, says so, then ends one and begins the next there
 * until it is killed.
 *
 * <p>Arguments: root directory, file of its words.
 */
final class SdkVictim {
  static final int THREADS = 8;
  static final int PLACES = 500;
  static final int WORDS_BYTES = THREADS * PLACES * 16;

  /** Attribute: the place. Listed. */
  static final String PLACE = "place";

  /** How the name begins that some spans get after their start. */
  static final String LATE = "late ";

  private SdkVictim() {}

  /** {@return where the id is of the span that was begun last in that place} */
  static int begun(int thread, int place) {
    return (thread * PLACES + place) * 16;
  }

  /** {@return where the id is of the span whose end was begun last in that place} */
  static int ending(int thread, int place) {
    return begun(thread, place) + 8;
  }

  static String threadName(int thread) {
    return "sdk-" + thread;
  }

  public static void main(String[] args) throws IOException, InterruptedException {
    Recorder recorder = Recorder.builder("sdk").directory(Path.of(args[0])).spanSlots(8192).open();
    SharedWords words = SharedWords.open(Path.of(args[1]));
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(
                CairnSpanProcessor.builder(recorder)
                    .attributes(List.of("default", PLACE + ":long"))
                    .refresh(Duration.ofMillis(20))
                    .threads(true)
                    .build())
            .build();
    Tracer tracer = provider.get("victim");
    CountDownLatch filled = new CountDownLatch(THREADS);
    for (int t = 0; t < THREADS; t++) {
      int thread = t;
      Thread worker =
          new Thread(() -> work(tracer, words, thread, filled), threadName(thread) + "-begins");
      worker.setDaemon(true);
      worker.start();
    }
    filled.await();
    System.out.println(recorder.mode());
    System.out.flush();
    // Until the end of the input, or its own by force.
    while (System.in.read() >= 0) {}
    Runtime.getRuntime().halt(3);
  }

  private static void work(Tracer tracer, SharedWords words, int thread, CountDownLatch filled) {
    Span[] spans = new Span[PLACES];
    for (int place = 0; place < PLACES; place++) {
      spans[place] = begin(tracer, words, thread, place);
    }
    filled.countDown();
    // The report is to name the thread that made a span current, and not this one's first name.
    Thread.currentThread().setName(threadName(thread));
    while (true) {
      int place = ThreadLocalRandom.current().nextInt(PLACES);
      Span span = spans[place];
      Scope scope = span.makeCurrent();
      spans[ThreadLocalRandom.current().nextInt(PLACES)].updateName(LATE + thread);
      scope.close();
      words.putRelease(ending(thread, place), id(span));
      span.end();
      spans[place] = begin(tracer, words, thread, place);
    }
  }

  private static Span begin(Tracer tracer, SharedWords words, int thread, int place) {
    Span span =
        tracer
            .spanBuilder("work " + thread)
            .setSpanKind(SpanKind.CONSUMER)
            .setAttribute(PLACE, place)
            .setAttribute("messaging.destination.name", "queue-" + thread)
            .startSpan();
    words.putRelease(begun(thread, place), id(span));
    return span;
  }

  private static long id(Span span) {
    return Long.parseUnsignedLong(span.getSpanContext().getSpanId(), 16);
  }
}
