package cairn.bench;

import cairn.report.Report;
import cairn.sentry.CairnIntegration;
import com.sun.management.ThreadMXBean;
import io.sentry.Breadcrumb;
import io.sentry.IScope;
import io.sentry.NoOpTransportFactory;
import io.sentry.ScopeCallback;
import io.sentry.Sentry;
import io.sentry.SentryLevel;
import io.sentry.SentryOptions;
import io.sentry.cache.PersistingScopeObserver;
import io.sentry.protocol.Contexts;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What a change of sentry-java's scope costs with nobody who hears of it, with Sentry's own
 * observer, which writes files, and with Cairn's. A JVM for each, in turn; the changes back to back
 * first, then at a pace that an application could have.
 */
public final class SentryObservers {
  /*
   * Back to back, Sentry's observer saves work: what is not written yet is replaced or, when its queue
   * is full, dropped. So what a change costs the whole process is measured at a pace at which it
   * writes each; that includes waking up, which the row without an observer has as well.
   */

  private static final List<String> OBSERVERS = List.of("none", "sentry", "cairn");
  private static final String LAST = "last";
  private static final String CONTEXT = "order";
  private static final String LARGE_CONTEXT = "catalog";
  private static final int LARGE_KEYS = 2_000;
  private static final int BATCHES = 10;
  private static final long CHILD_SECONDS = 120;

  /** One change of the scope, again and again with other values. */
  private enum Change {
    BREADCRUMB("`addBreadcrumb`, message and 2 values", 64, 1),
    TAG("`setTag`", 64, 1),
    CONTEXT("`setContexts`, 3 keys", 64, 1),
    BESIDE("`setContexts`, 3 keys, beside a context of 227 KB", 16, 20),
    LARGE("`setContexts`, 227 KB, one of its 2,000 keys changed", 1, 20);

    final String label;

    /** How many are done between two looks at the clock. */
    final int chunk;

    final int pauseMillis;

    Change(String label, int chunk, int pauseMillis) {
      this.label = label;
      this.chunk = chunk;
      this.pauseMillis = pauseMillis;
    }
  }

  /** How long each part takes. */
  private record Plan(long warmUpMillis, long batchMillis, long pacedMillis) {
    static Plan of(boolean quick) {
      return quick ? new Plan(1_000, 60, 1_000) : new Plan(4_000, 200, 5_000);
    }
  }

  private SentryObservers() {}

  static void run(Settings settings) throws Exception {
    Map<String, List<Map<String, String>>> results = new LinkedHashMap<>();
    Map<String, SystemCalls> traced = new HashMap<>();
    try (Scratch scratch = Scratch.create("classes")) {
      Path jar = Child.pack(scratch.directory().resolve("sentry.jar"), ColdStart.classes());
      for (int i = 0; i < settings.rounds(); i++) {
        for (Change change : Change.values()) {
          for (String observer : OBSERVERS) {
            settings.patience().await("sentry " + change + " " + observer);
            try (Scratch files = Scratch.create("sentry")) {
              results
                  .computeIfAbsent(change + " " + observer, key -> new ArrayList<>())
                  .add(child(List.of(), jar, observer, change, settings, files.directory()));
            }
          }
        }
      }
      if (settings.quick()) {
        Bench.progress("no forces in a quick run");
      } else if (SystemCalls.traceable()) {
        trace(jar, settings, traced);
      } else {
        Bench.progress("no forces: strace is missing or may not trace");
      }
    }
    show(settings.rounds(), results, traced);
  }

  private static void trace(Path jar, Settings settings, Map<String, SystemCalls> traced)
      throws Exception {
    for (Change change : Change.values()) {
      for (String observer : List.of("sentry", "cairn")) {
        Bench.progress("sentry, traced, " + change + " " + observer);
        try (Scratch files = Scratch.create("sentry");
            Scratch traces = Scratch.create("trace")) {
          Path trace = traces.directory().resolve("trace");
          child(SystemCalls.prefix(trace), jar, observer, change, settings, files.directory());
          traced.put(change + " " + observer, SystemCalls.read(trace, files.directory()));
        }
      }
    }
  }

  private static Map<String, String> child(
      List<String> prefix,
      Path jar,
      String observer,
      Change change,
      Settings settings,
      Path directory)
      throws Exception {
    return Child.run(
        prefix,
        List.of("-Xmx512m", "-Dcairn.dir=" + directory.resolve("cairn")),
        String.join(
            File.pathSeparator,
            jar.toString(),
            Child.jars("cairn-core-", "cairn-sentry-"),
            Child.jars("sentry-")),
        List.of(
            SentryObservers.class.getName(),
            observer,
            change.name(),
            Boolean.toString(settings.quick()),
            directory.toString()),
        CHILD_SECONDS);
  }

  private static void show(
      int rounds, Map<String, List<Map<String, String>>> results, Map<String, SystemCalls> traced) {
    Table tight =
        new Table(
            "change",
            "observer",
            "ns/op",
            "min",
            "caller's CPU ns/op",
            "process CPU ns/op",
            "B/op of the caller");
    Table paced =
        new Table(
            "change",
            "observer",
            "a",
            "ns/op, p50",
            "p99",
            "process CPU us/op",
            "of it compiling",
            "above none",
            "write calls/op",
            "bytes written/op",
            "bytes dirtied/op",
            "forces/op");
    for (Change change : Change.values()) {
      double none = Table.median(values(results.get(change + " none"), "cpuMicros"));
      for (String observer : OBSERVERS) {
        List<Map<String, String>> runs = results.get(change + " " + observer);
        tight.row(
            change.label,
            label(observer),
            median(runs, "nanos", 0),
            Table.number(Table.min(values(runs, "nanos")), 0),
            median(runs, "callerCpuNanos", 0),
            median(runs, "processCpuNanos", 0),
            median(runs, "callerBytes", 0));
        paced.row(
            change.label,
            label(observer),
            change.pauseMillis + " ms",
            median(runs, "p50", 0),
            median(runs, "p99", 0),
            median(runs, "cpuMicros", 1),
            median(runs, "compilerMicros", 1),
            observer.equals("none")
                ? ""
                : Table.number(Table.median(values(runs, "cpuMicros")) - none, 1),
            median(runs, "writeCalls", 2),
            median(runs, "writtenBytes", 0),
            median(runs, "dirtiedBytes", 0),
            forces(traced.get(change + " " + observer), runs));
      }
    }
    System.out.println("Back to back (medians of " + rounds + " JVMs each, in turn):\n\n" + tight);
    System.out.println(
        "Paced, in the same JVMs (the column *a* is the pause between two changes):\n\n" + paced);
  }

  private static String label(String observer) {
    return switch (observer) {
      case "none" -> "none";
      case "sentry" -> "Sentry's `PersistingScopeObserver`";
      default -> "**Cairn**";
    };
  }

  private static String forces(@Nullable SystemCalls traced, List<Map<String, String>> runs) {
    return traced == null
        ? "-"
        : Table.number(traced.forces() / Table.median(values(runs, "pacedCalls")), 2);
  }

  private static String median(List<Map<String, String>> runs, String name, int decimals) {
    return Table.number(Table.median(values(runs, name)), decimals);
  }

  private static List<Double> values(List<Map<String, String>> runs, String name) {
    return runs.stream().map(run -> Double.parseDouble(run.get(name))).toList();
  }

  // The child

  /** One JVM. Arguments: observer, change, whether quick, directory. */
  public static void main(String[] args) throws Exception {
    Change change = Change.valueOf(args[1]);
    Plan plan = Plan.of(Boolean.parseBoolean(args[2]));
    Path directory = Path.of(args[3]);
    SentryOptions options = init(args[0], directory);
    Calls calls = calls(change);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();

    batch(calls, change.chunk, plan.warmUpMillis());
    settle(options);

    double[] nanos = new double[BATCHES];
    ProcessMeter.read();
    ProcessMeter tightBefore = ProcessMeter.read();
    long callsBefore = calls.count;
    long bytesBefore = threads.getThreadAllocatedBytes(self);
    long cpuBefore = threads.getCurrentThreadCpuTime();
    for (int i = 0; i < BATCHES; i++) {
      nanos[i] = batch(calls, change.chunk, plan.batchMillis());
    }
    double callerCpu = threads.getCurrentThreadCpuTime() - cpuBefore;
    double callerBytes = threads.getThreadAllocatedBytes(self) - bytesBefore;
    long tightCalls = calls.count - callsBefore;
    settle(options);
    double processCpu = ProcessMeter.read().minus(tightBefore).cpuNanos();

    long[] times = new long[Math.toIntExact(plan.pacedMillis() / change.pauseMillis)];
    ProcessMeter.read();
    SystemCalls.begin();
    ProcessMeter before = ProcessMeter.read();
    pace(calls, TimeUnit.MILLISECONDS.toNanos(change.pauseMillis), times);
    settle(options);
    ProcessMeter used = ProcessMeter.read().minus(before);
    SystemCalls.end();

    calls.last.run();
    settle(options);
    prove(args[0], change, options, directory, calls.count + 1);
    Arrays.sort(times);
    double paced = times.length;
    System.out.println(
        Child.result(
            "nanos", Table.median(nanos),
            "callerCpuNanos", callerCpu / tightCalls,
            "processCpuNanos", processCpu / tightCalls,
            "callerBytes", callerBytes / tightCalls,
            "pacedCalls", times.length,
            "p50", times[times.length / 2],
            "p99", times[times.length * 99 / 100],
            "cpuMicros", used.cpuNanos() / 1e3 / paced,
            "compilerMicros", used.compilerCpuNanos() / 1e3 / paced,
            "writeCalls", used.writeCalls() / paced,
            "writtenBytes", used.writtenBytes() / paced,
            "dirtiedBytes", used.dirtiedBytes() / paced));
    System.exit(0);
  }

  /** Starts Sentry; all that differs is who hears of changes. */
  private static SentryOptions init(String observer, Path directory) {
    SentryOptions options = new SentryOptions();
    options.setDsn("http://key@127.0.0.1:9/1");
    options.setTransportFactory(NoOpTransportFactory.getInstance());
    options.setEnableAutoSessionTracking(false);
    options.setEnableShutdownHook(false); // It would wait for the network.
    options.setEnableUncaughtExceptionHandler(false); // It would not print what it catches.
    options.setRelease("bench@1.0");
    options.setCacheDirPath(directory.resolve("sentry").toString());
    switch (observer) {
      case "sentry" -> options.addScopeObserver(new PersistingScopeObserver(options));
      case "cairn" -> options.addIntegration(new CairnIntegration());
      default -> {}
    }
    Sentry.init(options);
    Evidence.require(Sentry.isEnabled(), "sentry", "disabled", "enabled");
    return options;
  }

  /** The changes: what they set was made before. */
  private static final class Calls {
    private final Runnable[] variants;

    /** A change that can be told from all others. */
    private final Runnable last;

    private long count;

    Calls(Runnable[] variants, Runnable last) {
      this.variants = variants;
      this.last = last;
    }

    void next() {
      variants[(int) count++ & Payload.MASK].run();
    }
  }

  private static Calls calls(Change change) {
    Runnable[] variants = new Runnable[Payload.VARIANTS];
    for (int i = 0; i < variants.length; i++) {
      Payload.Event event = Payload.SMALL[i];
      String value = Payload.TAG_VALUES[i];
      variants[i] =
          switch (change) {
            case BREADCRUMB -> () -> Sentry.addBreadcrumb(breadcrumb(event, event.message()));
            case TAG -> () -> Sentry.setTag(CONTEXT, value);
            case CONTEXT, BESIDE -> context(CONTEXT, Payload.CONTEXTS.get(i));
            case LARGE -> context(LARGE_CONTEXT, large(value));
          };
    }
    if (change == Change.BESIDE) {
      context(LARGE_CONTEXT, large(LAST)).run();
    }
    Runnable last =
        switch (change) {
          case BREADCRUMB -> () -> Sentry.addBreadcrumb(breadcrumb(Payload.SMALL[0], LAST));
          case TAG -> () -> Sentry.setTag(CONTEXT, LAST);
          case CONTEXT, BESIDE -> {
            Map<String, Object> context = new LinkedHashMap<>(Payload.CONTEXTS.get(0));
            context.put("currency", LAST);
            yield context(CONTEXT, context);
          }
          case LARGE -> context(LARGE_CONTEXT, large(LAST));
        };
    return new Calls(variants, last);
  }

  private static Breadcrumb breadcrumb(Payload.Event event, String message) {
    Breadcrumb breadcrumb = new Breadcrumb();
    breadcrumb.setLevel(SentryLevel.INFO);
    breadcrumb.setCategory(event.category());
    breadcrumb.setMessage(message);
    breadcrumb.setData("status", event.status());
    breadcrumb.setData("millis", event.millis());
    return breadcrumb;
  }

  private static Runnable context(String key, Map<String, Object> value) {
    ScopeCallback callback = scope -> scope.setContexts(key, value);
    return () -> Sentry.configureScope(callback);
  }

  /** {@return some 227 KB as JSON; what two have in common is the same object} */
  private static Map<String, Object> large(String value) {
    Map<String, Object> map = new HashMap<>(2 * LARGE_KEYS);
    for (int i = 0; i < LARGE_KEYS; i++) {
      map.put(LargeTexts.KEYS[i], LargeTexts.VALUES[i]);
    }
    map.put(LargeTexts.KEYS[LARGE_KEYS / 2], value);
    return map;
  }

  private static final class LargeTexts {
    static final String[] KEYS = new String[LARGE_KEYS];
    static final String[] VALUES = new String[LARGE_KEYS];

    static {
      for (int i = 0; i < LARGE_KEYS; i++) {
        KEYS[i] = "key" + i;
        String text = "product no. " + i + " of the catalog, in stock; ";
        VALUES[i] = text.repeat(3).substring(0, 100);
      }
    }
  }

  /** {@return nanoseconds per call} */
  private static double batch(Calls calls, int chunk, long millis) {
    long begin = System.nanoTime();
    long until = begin + TimeUnit.MILLISECONDS.toNanos(millis);
    long before = calls.count;
    long now = begin;
    while (now < until) {
      for (int i = 0; i < chunk; i++) {
        calls.next();
      }
      now = System.nanoTime();
    }
    return (double) (now - begin) / (calls.count - before);
  }

  private static void pace(Calls calls, long pauseNanos, long[] times) {
    long next = System.nanoTime();
    for (int i = 0; i < times.length; i++) {
      long start = System.nanoTime();
      calls.next();
      long end = System.nanoTime();
      times[i] = end - start;
      next = Math.max(next + pauseNanos, end);
      LockSupport.parkNanos(next - end);
    }
  }

  /**
   * Waits until Sentry has written what it was told, and for idle threads' times to be accounted.
   */
  private static void settle(SentryOptions options) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    for (int done = 0; done < 3; ) {
      try {
        options.getExecutorService().submit(() -> {}).get();
        done++;
      } catch (CancellationException e) {
        // Its queue is full.
        Evidence.require(System.nanoTime() < until, "Sentry's queue", "full", "empty");
        Thread.sleep(5);
      }
    }
    Thread.sleep(200);
  }

  // The proof

  private static void prove(
      String observer, Change change, SentryOptions options, Path directory, long calls)
      throws IOException {
    switch (observer) {
      case "none" -> proveMemory(change);
      case "sentry" -> proveFiles(change, options);
      default -> proveBox(change, directory.resolve("cairn"), calls);
    }
  }

  private static void proveMemory(Change change) {
    // The SDK swallows what a callback throws, so the scope is judged outside of it.
    AtomicReference<IScope> scope = new AtomicReference<>();
    Sentry.configureScope(scope::set);
    List<Breadcrumb> trail = new ArrayList<>(scope.get().getBreadcrumbs());
    prove(
        change,
        trail.isEmpty() ? null : trail.get(trail.size() - 1).getMessage(),
        scope.get().getTags(),
        scope.get().getContexts().get(CONTEXT),
        scope.get().getContexts().get(LARGE_CONTEXT));
  }

  private static void proveFiles(Change change, SentryOptions options) {
    PersistingScopeObserver reader = new PersistingScopeObserver(options);
    List<?> trail = reader.read(options, PersistingScopeObserver.BREADCRUMBS_FILENAME, List.class);
    Map<?, ?> tags = reader.read(options, PersistingScopeObserver.TAGS_FILENAME, Map.class);
    Contexts contexts =
        reader.read(options, PersistingScopeObserver.CONTEXTS_FILENAME, Contexts.class);
    prove(
        change,
        trail == null || trail.isEmpty()
            ? null
            : ((Breadcrumb) trail.get(trail.size() - 1)).getMessage(),
        tags == null ? Map.of() : tags,
        contexts == null ? null : contexts.get(CONTEXT),
        contexts == null ? null : contexts.get(LARGE_CONTEXT));
  }

  private static void proveBox(Change change, Path root, long calls) throws IOException {
    Sentry.close();
    Report report = Evidence.reportOf(root);
    Evidence.requireNoLoss(report);
    if (change == Change.BREADCRUMB) {
      Evidence.requireTrail(root, calls);
    }
    prove(
        change,
        report.trail().isEmpty() ? null : report.trail().get(report.trail().size() - 1).message(),
        report.scope().tags(),
        report.scope().contexts().get(CONTEXT),
        report.scope().contexts().get(LARGE_CONTEXT));
  }

  private static void prove(
      Change change,
      @Nullable String message,
      Map<?, ?> tags,
      @Nullable Object context,
      @Nullable Object large) {
    switch (change) {
      case BREADCRUMB -> requireLast("newest breadcrumb", message);
      case TAG -> requireLast("tag", tags.get(CONTEXT));
      case CONTEXT -> requireLast("context", value(context, "currency"));
      case BESIDE -> {
        requireLast("context", value(context, "currency"));
        requireLarge(large);
      }
      case LARGE -> requireLarge(large);
    }
  }

  private static @Nullable Object value(@Nullable Object context, String key) {
    return context instanceof Map<?, ?> map ? map.get(key) : null;
  }

  private static void requireLarge(@Nullable Object context) {
    requireLast("key of the large context", value(context, LargeTexts.KEYS[LARGE_KEYS / 2]));
    int size = ((Map<?, ?>) Objects.requireNonNull(context)).size();
    Evidence.require(size == LARGE_KEYS, "keys of the large context", size, LARGE_KEYS);
  }

  private static void requireLast(String what, @Nullable Object actual) {
    Evidence.require(LAST.equals(actual), what, String.valueOf(actual), LAST);
  }
}
