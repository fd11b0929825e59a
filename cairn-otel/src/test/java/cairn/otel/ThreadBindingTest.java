package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether it gets into the process's storage is seen in the tests with a JVM of their own. */
class ThreadBindingTest {
  @TempDir Path root;

  private final OneContext wrapped = new OneContext();
  private final ThreadBinding binding = new ThreadBinding(wrapped);
  private BoxUnderTest box;
  private SdkTracerProvider provider;

  @BeforeEach
  void open() {
    box = new BoxUnderTest(root);
    provider =
        SdkTracerProvider.builder()
            .addSpanProcessor(
                CairnSpanProcessor.builder(box.recorder).refresh(Duration.ZERO).build())
            .build();
    ThreadBinding.target(box.recorder.openSpans());
  }

  @AfterEach
  void close() {
    ThreadBinding.release(box.recorder.openSpans());
    provider.close();
    box.close();
  }

  private static void on(String thread, Runnable work) throws InterruptedException {
    Thread worker = new Thread(work, thread);
    worker.start();
    worker.join();
  }

  @Test
  void reportNamesTheThreadThatMadeTheSpanCurrentLast() throws InterruptedException {
    Span span = provider.get("test").spanBuilder("work").startSpan();
    Context context = Context.root().with(span);

    List<Scope> open = new ArrayList<>();
    on("worker-1", () -> open.add(binding.attach(context)));
    assertThat(box.only().thread()).isEqualTo("worker-1");
    on("worker-2", () -> open.add(binding.attach(context)));
    assertThat(box.only().thread()).isEqualTo("worker-2");
    span.end();
  }

  @Test
  void threadThatHasDoneWithTheSpanIsNotNamedAnyMore() throws InterruptedException {
    Span span = provider.get("test").spanBuilder("work").startSpan();
    Context context = Context.root().with(span);

    on("worker-1", () -> binding.attach(context).close());

    assertThat(box.only().thread()).isEqualTo(Thread.currentThread().getName());
    span.end();
  }

  @Test
  void scopeIsTheOneOfTheWrappedStorage() {
    assertThat(binding.attach(Context.root())).isSameAs(wrapped.scope);
    assertThat(binding.current()).isSameAs(wrapped.current);
    assertThat(binding.root()).isSameAs(wrapped.root());
    assertThat(binding.toString()).contains("OneContext");
  }

  @Test
  void contextOfNoSpanOrOfAnotherProcessBindsNothing() throws InterruptedException {
    Span span = provider.get("test").spanBuilder("work").startSpan();
    String thread = box.only().thread();
    Context remote =
        Context.root()
            .with(
                Span.wrap(
                    SpanContext.createFromRemoteParent(
                        "0af7651916cd43dd8448eb211c80319c",
                        "b7ad6b7169203331",
                        TraceFlags.getSampled(),
                        TraceState.getDefault())));

    on(
        "other",
        () -> {
          binding.attach(Context.root());
          binding.attach(remote);
          binding.attach(Context.root().with(Span.getInvalid()));
          binding.attach(null);
        });

    assertThat(wrapped.attached).isEqualTo(4);
    assertThat(box.only().thread()).isEqualTo(thread);
    span.end();
  }

  @Test
  void spanWhoseMethodsThrowDoesNotBreakTheContext() {
    Context hostile =
        new Context() {
          @Override
          public <V> V get(io.opentelemetry.context.ContextKey<V> key) {
            throw new IllegalStateException("hostile");
          }

          @Override
          public <V> Context with(io.opentelemetry.context.ContextKey<V> key, V value) {
            return this;
          }
        };

    assertThat(binding.attach(hostile)).isSameAs(wrapped.scope);
  }

  @Test
  void closedBoxIsAskedForNothing() throws InterruptedException {
    Span span = provider.get("test").spanBuilder("work").startSpan();
    String thread = box.only().thread();
    ThreadBinding.release(box.recorder.openSpans());

    on("worker-1", () -> binding.attach(Context.root().with(span)).close());

    assertThat(box.only().thread()).isEqualTo(thread);
    span.end();
  }

  /** A storage with nothing but what the test looks at. */
  private static final class OneContext implements ContextStorage {
    final Scope scope = () -> {};
    final Context current = Context.root().with(Span.getInvalid());
    int attached;

    @Override
    public Scope attach(Context toAttach) {
      attached++;
      return scope;
    }

    @Override
    public Context current() {
      return current;
    }

    @Override
    public String toString() {
      return "OneContext";
    }
  }
}
