package cairn.otel;

import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/** The span builders that one platform thread uses again and again, by name. */
final class BuilderCache {
  /*
   * A builder is used again only for spans of the same tracer and name. Somebody may have kept it
   * from an earlier use, against the API, and start it again: then the span that starts has the
   * right name, whoever used it last. Names of spans are few, or should be.
   *
   * A name has eight places, which take turns. Who keeps a builder against the API and calls it
   * before its turn comes round takes it out of the cache by that call, and it is his own from then
   * on; so a builder is two people's only if both keep it for seven uses of the name without a
   * call. What is in use when its turn comes is nested, handed to another thread, or was never
   * started, and nobody can tell which: it keeps its state and leaves the cache, and a new builder
   * takes the place. So an abandoned builder costs one allocation.
   *
   * The thread has the cache through a WeakReference only, an object of the JDK: neither a closed
   * CairnOpenTelemetry nor our class loader is kept by a thread of the application, and what spent
   * builders still refer to is kept until the next collection at most. The price is a new cache per
   * thread after a collection.
   *
   * Virtual threads get a builder each: there are too many of them for caches.
   *
   * Rejected: a ring of eight, each used again when its turn comes, whatever the name. A builder
   * that was kept in a field started spans under the names of others.
   */
  private static final int GROUPS = 32;

  private static final int PLACES = 8;

  /** Read once, so that the JIT removes the other branch. */
  private static final boolean REUSE =
      !"false".equalsIgnoreCase(System.getProperty("cairn.otel.builderReuse"));

  private static final ThreadLocal<WeakReference<BuilderCache>> CACHES = new ThreadLocal<>();

  private final @Nullable CairnSpanBuilder[] builders = new CairnSpanBuilder[GROUPS * PLACES];

  /** Which place is next, whatever the name. */
  private int turn;

  private BuilderCache() {}

  /** {@return a builder for one span, without settings} */
  static CairnSpanBuilder acquire(RecordingTracer tracer, String name, Limits limits) {
    if (!REUSE || VirtualThreads.isVirtual(Thread.currentThread())) {
      CairnSpanBuilder builder = Incubator.newBuilder();
      builder.begin(tracer, name, limits);
      return builder;
    }
    CairnSpanBuilder builder = cache().builder(tracer, name);
    builder.begin(tracer, name, limits);
    return builder;
  }

  private static BuilderCache cache() {
    WeakReference<BuilderCache> reference = CACHES.get();
    BuilderCache cache = reference == null ? null : reference.get();
    if (cache == null) {
      cache = new BuilderCache();
      CACHES.set(new WeakReference<>(cache));
    }
    return cache;
  }

  /** {@return one that is in use from here on, by this request} */
  private CairnSpanBuilder builder(RecordingTracer tracer, String name) {
    int hash = name.hashCode();
    int place = ((hash ^ hash >>> 16) & GROUPS - 1) * PLACES + (turn++ & PLACES - 1);
    CairnSpanBuilder builder = builders[place];
    if (builder != null && builder.isOf(tracer, name) && builder.claim()) {
      return builder;
    }
    CairnSpanBuilder made = Incubator.newBuilder();
    made.join();
    builders[place] = made;
    return made;
  }
}
