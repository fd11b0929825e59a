package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Tells the box which thread works on a span: the one that made it current last.
 *
 * <p>Any thread; lock-free. Allocates nothing: the scope is the wrapped storage's own. What the
 * wrapped storage throws goes through; nothing else is thrown.
 */
final class ThreadBinding implements ContextStorage {
  private static final AtomicBoolean INSTALLED = new AtomicBoolean();

  // A storage is for the whole process, and a box may be closed before it: hence not in the
  // storage.
  private static volatile @Nullable OpenSpans box;
  private static final Faults FAULTS = new Faults();

  private final ContextStorage storage;

  ThreadBinding(ContextStorage storage) {
    this.storage = storage;
  }

  /**
   * Binds the spans of that box from now on, in place of any other. Takes effect if no context was
   * used yet in this process: OpenTelemetry logs a warning otherwise.
   */
  static void to(OpenSpans spans) {
    target(spans);
    if (INSTALLED.compareAndSet(false, true)) {
      ContextStorage.addWrapper(ThreadBinding::new);
    }
  }

  /** As {@link #to}, where the storage is wrapped already. */
  static void target(OpenSpans spans) {
    box = spans;
  }

  /** Binds no more spans of that box. */
  static void release(OpenSpans spans) {
    if (box == spans) {
      box = null;
    }
  }

  @Override
  public Scope attach(Context toAttach) {
    Scope scope = storage.attach(toAttach);
    OpenSpans spans = box;
    if (spans != null) {
      try {
        long handle = bind(spans, toAttach);
        if (handle != OpenSpans.NONE) {
          return new BoundScope(scope, spans, handle);
        }
      } catch (Throwable e) {
        FAULTS.unrecorded("attach", e);
      }
    }
    return scope;
  }

  /** {@return the handle of the span that another thread worked on before, or NONE} */
  private static long bind(OpenSpans spans, @Nullable Context attached) {
    // OpenTelemetry takes a null context, and does nothing with it.
    Span span = attached == null ? null : Span.fromContextOrNull(attached);
    if (span != null) {
      long handle = spans.find(HexIds.spanId(span));
      if (handle != OpenSpans.NONE && spans.bind(handle)) {
        return handle;
      }
    }
    return OpenSpans.NONE;
  }

  @Override
  public @Nullable Context current() {
    return storage.current();
  }

  @Override
  public Context root() {
    return storage.root();
  }

  @Override
  public String toString() {
    return "ThreadBinding{" + storage + '}';
  }
}
