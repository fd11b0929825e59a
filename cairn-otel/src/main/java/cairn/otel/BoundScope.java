package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.context.Scope;

/**
 * In which a thread works on a span that another one began: when it ends, that one counts again.
 * Only made where the thread changed. As the scope within it, of one thread.
 */
final class BoundScope implements Scope {
  private final Scope scope;
  private final OpenSpans box;
  private final long handle;

  BoundScope(Scope scope, OpenSpans box, long handle) {
    this.scope = scope;
    this.box = box;
    this.handle = handle;
  }

  @Override
  public void close() {
    scope.close();
    box.unbind(handle);
  }

  @Override
  public String toString() {
    return scope.toString();
  }
}
