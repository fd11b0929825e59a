package cairn.otel;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/** The span builders that one platform thread uses again and again. */
final class BuilderRing {
  /*
   * Each request takes the next of eight places. What is there was spent by its startSpan seven
   * requests ago or more; if it was not, it is nested in use, handed to another thread, or was
   * never started, and nobody can tell which: it keeps its state and leaves the ring, and a new
   * builder takes the place. So an abandoned builder costs one allocation, and eight can be nested
   * without one.
   *
   * The thread has the ring through a WeakReference only, an object of the JDK: neither a closed
   * CairnOpenTelemetry nor our class loader is kept by a thread of the application, and what spent
   * builders still refer to is kept until the next collection at most. The price is a new ring per
   * thread after a collection.
   *
   * Virtual threads get a builder each: there are too many of them for rings.
   */
  private static final int COUNT = 8;

  /** Read once, so that the JIT removes the other branch. */
  private static final boolean REUSE =
      !"false".equalsIgnoreCase(System.getProperty("cairn.otel.builderReuse"));

  private static final ThreadLocal<WeakReference<BuilderRing>> RINGS = new ThreadLocal<>();

  private final @Nullable CairnSpanBuilder[] builders = new CairnSpanBuilder[COUNT];
  private int next;

  private BuilderRing() {}

  /** {@return a builder for one span, without settings} */
  static CairnSpanBuilder acquire(RecordingTracer tracer, String name, Limits limits) {
    Thread thread = Thread.currentThread();
    if (!REUSE || VirtualThreads.isVirtual(thread)) {
      CairnSpanBuilder builder = Incubator.newBuilder();
      builder.begin(tracer, name, limits);
      return builder;
    }
    return ring().next(tracer, name, limits);
  }

  private static BuilderRing ring() {
    WeakReference<BuilderRing> reference = RINGS.get();
    BuilderRing ring = reference == null ? null : reference.get();
    if (ring == null) {
      ring = new BuilderRing();
      RINGS.set(new WeakReference<>(ring));
    }
    return ring;
  }

  private CairnSpanBuilder next(RecordingTracer tracer, String name, Limits limits) {
    int index = next;
    next = index + 1 & COUNT - 1;
    CairnSpanBuilder builder = builders[index];
    if (builder == null || !builder.claim()) {
      builder = Incubator.newBuilder();
      builder.joinRing();
      builders[index] = builder;
    }
    builder.begin(tracer, name, limits);
    return builder;
  }
}
