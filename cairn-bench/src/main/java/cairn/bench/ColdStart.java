package cairn.bench;

import cairn.Level;
import cairn.Recorder;
import cairn.report.Report;
import com.sun.management.ThreadMXBean;
import io.sentry.IScope;
import io.sentry.Sentry;
import io.sentry.protocol.User;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The first calls of a fresh JVM: 107 breadcrumbs and 310 scope mutations, mixed, back to back or 2
 * ms apart. Inputs are made and the measuring code is warmed before; the recorder is opened 300 ms
 * before.
 */
public final class ColdStart {
  private static final int BREADCRUMBS = 107;
  private static final int MUTATIONS = 310;
  private static final List<String> TARGETS =
      List.of("noop", "cairn", "sentry-memory", "sentry-persist");
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private ColdStart() {}

  static void run(Settings settings) throws Exception {
    int runs = settings.quick() ? 1 : 2 * settings.rounds() + 1;
    Map<String, List<Map<String, String>>> results = new LinkedHashMap<>();
    for (int i = 0; i < runs; i++) {
      for (String mode : List.of("tight", "paced")) {
        for (String target : TARGETS) {
          settings.patience().await("cold " + mode + " " + target);
          try (Scratch files = Scratch.create("cold")) {
            results
                .computeIfAbsent(mode + " " + target, key -> new ArrayList<>())
                .add(
                    Child.run(
                        List.of(),
                        List.of("-Xmx512m"),
                        Child.jars("cairn-core-", "sentry-")
                            + File.pathSeparator
                            + Child.classpath(),
                        List.of(
                            ColdStart.class.getName(), target, mode, files.directory().toString()),
                        60));
          }
        }
      }
    }
    show(results, runs);
  }

  private static void show(Map<String, List<Map<String, String>>> results, int runs) {
    Table table =
        new Table(
            "target",
            "caller ms",
            "min",
            "worst call ms",
            "caller's CPU ms",
            "process CPU ms",
            "of it compiling",
            "of it Cairn's thread",
            "caller KB allocated",
            "write calls",
            "KB written",
            "KB dirtied");
    results.forEach(
        (name, rounds) ->
            table.row(
                name.replace("cairn", "**Cairn**"),
                Table.number(Table.median(values(rounds, "callerMillis")), 1),
                Table.number(Table.min(values(rounds, "callerMillis")), 1),
                Table.number(Table.median(values(rounds, "worstMillis")), 2),
                Table.number(Table.median(values(rounds, "callerCpuMillis")), 1),
                Table.number(Table.median(values(rounds, "cpuMillis")), 0),
                Table.number(Table.median(values(rounds, "compilerCpuMillis")), 0),
                Table.number(Table.median(values(rounds, "cairnCpuMillis")), 1),
                Table.number(Table.median(values(rounds, "allocatedKb")), 0),
                Table.number(Table.median(values(rounds, "writeCalls")), 0),
                Table.number(Table.median(values(rounds, "writtenKb")), 0),
                Table.number(Table.median(values(rounds, "dirtiedKb")), 0)));
    System.out.println("Medians of " + runs + " JVMs each, in turn:\n\n" + table);
  }

  private static List<Double> values(List<Map<String, String>> rounds, String name) {
    return rounds.stream().map(round -> Double.parseDouble(round.get(name))).toList();
  }

  /** What the calls go to. The values were made before. */
  private interface Sink {
    Runnable breadcrumb(Payload.Event event);

    Runnable tag(String key, String value);

    Runnable context(String key, Map<String, Object> value);

    Runnable extra(String key, String value);

    Runnable user(String id);

    Runnable transaction(String name);

    /** Throws unless everything is there. */
    void finish() throws Exception;
  }

  /** One JVM. Arguments: target, mode, directory. */
  public static void main(String[] args) throws Exception {
    boolean paced = args[1].equals("paced");
    Sink sink =
        switch (args[0]) {
          case "noop" -> new NoopSink();
          case "cairn" -> new CairnSink(Path.of(args[2]));
          case "sentry-memory" -> new SentrySink(null);
          case "sentry-persist" -> new SentrySink(Path.of(args[2]));
          default -> throw new IllegalArgumentException("unknown target: name=" + args[0]);
        };
    Runnable[] calls = mix(sink);
    Runnable[] nothing = mix(new NoopSink());
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long self = Thread.currentThread().getId();
    for (int i = 0; i < 20; i++) {
      time(nothing, false);
      ProcessMeter.read();
      threads.getThreadAllocatedBytes(self);
      threads.getCurrentThreadCpuTime();
    }
    Thread.sleep(300);

    ProcessMeter before = ProcessMeter.read();
    long allocatedBefore = threads.getThreadAllocatedBytes(self);
    long callerBefore = threads.getCurrentThreadCpuTime();
    long[] times = time(calls, paced);
    long caller = threads.getCurrentThreadCpuTime() - callerBefore;
    long allocated = threads.getThreadAllocatedBytes(self) - allocatedBefore;
    Thread.sleep(1000);
    ProcessMeter used = ProcessMeter.read().minus(before);

    sink.finish();
    System.out.println(
        Child.result(
            "callerMillis", times[0] / 1e6,
            "worstMillis", times[1] / 1e6,
            "callerCpuMillis", caller / 1e6,
            "compilerCpuMillis", used.compilerCpuNanos() / 1e6,
            "cairnCpuMillis", used.cairnCpuNanos() / 1e6,
            "cpuMillis", used.cpuNanos() / 1e6,
            "allocatedKb", allocated / 1024,
            "writeCalls", used.writeCalls(),
            "writtenKb", used.writtenBytes() / 1024,
            "dirtiedKb", used.dirtiedBytes() / 1024));
    System.exit(0);
  }

  /** {@return the sum of the calls' times and the longest, in nanoseconds} */
  private static long[] time(Runnable[] calls, boolean paced) {
    long total = 0;
    long worst = 0;
    for (Runnable call : calls) {
      long start = System.nanoTime();
      call.run();
      long nanos = System.nanoTime() - start;
      total += nanos;
      worst = Math.max(worst, nanos);
      if (paced) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
    return new long[] {total, worst};
  }

  private static Runnable[] mix(Sink sink) {
    Random random = new Random(42);
    List<Runnable> calls = new ArrayList<>();
    int breadcrumbs = 0;
    int mutations = 0;
    while (breadcrumbs + mutations < BREADCRUMBS + MUTATIONS) {
      if (random.nextInt(BREADCRUMBS + MUTATIONS - breadcrumbs - mutations)
          < BREADCRUMBS - breadcrumbs) {
        calls.add(sink.breadcrumb(Payload.SMALL[breadcrumbs++ & Payload.MASK]));
      } else {
        calls.add(mutation(sink, mutations++));
      }
    }
    return calls.toArray(Runnable[]::new);
  }

  private static Runnable mutation(Sink sink, int i) {
    if (i % 31 == 0) {
      return sink.user("user-" + i);
    }
    if (i % 31 == 1) {
      return sink.transaction("GET /orders/" + i);
    }
    return switch (i % 4) {
      case 0 -> sink.context("context" + i % 3, Payload.CONTEXTS.get(i & Payload.MASK));
      case 1 -> sink.extra("extra" + i % 7, "value " + i);
      default ->
          sink.tag(Payload.TAG_KEYS[(i / 4 * 2 + i % 2) % 8], Payload.TAG_VALUES[i & Payload.MASK]);
    };
  }

  private static final class NoopSink implements Sink {
    private int calls;

    private Runnable count() {
      return () -> calls++;
    }

    @Override
    public Runnable breadcrumb(Payload.Event event) {
      return count();
    }

    @Override
    public Runnable tag(String key, String value) {
      return count();
    }

    @Override
    public Runnable context(String key, Map<String, Object> value) {
      return count();
    }

    @Override
    public Runnable extra(String key, String value) {
      return count();
    }

    @Override
    public Runnable user(String id) {
      return count();
    }

    @Override
    public Runnable transaction(String name) {
      return count();
    }

    @Override
    public void finish() {
      Evidence.require(calls == BREADCRUMBS + MUTATIONS, "calls", calls, BREADCRUMBS + MUTATIONS);
    }
  }

  private static final class CairnSink implements Sink {
    private final Path root;
    private final Recorder recorder;

    CairnSink(Path root) {
      this.root = root;
      recorder = Evidence.open(root);
    }

    @Override
    public Runnable breadcrumb(Payload.Event event) {
      return () -> recorder.breadcrumb(Level.INFO, event.category(), event.message(), event.data());
    }

    @Override
    public Runnable tag(String key, String value) {
      return () -> recorder.scope().tag(key, value);
    }

    @Override
    public Runnable context(String key, Map<String, Object> value) {
      return () -> recorder.scope().context(key, value);
    }

    @Override
    public Runnable extra(String key, String value) {
      return () -> recorder.scope().extra(key, value);
    }

    @Override
    public Runnable user(String id) {
      return () -> recorder.scope().user(id);
    }

    @Override
    public Runnable transaction(String name) {
      return () -> recorder.scope().transaction(name);
    }

    @Override
    public void finish() throws Exception {
      recorder.close();
      Report report = Evidence.reportOf(root);
      Evidence.requireNoLoss(report);
      Evidence.require(
          report.trail().size() == BREADCRUMBS, "trail", report.trail().size(), BREADCRUMBS);
      Evidence.require(report.scope().tags().size() == 8, "tags", report.scope().tags(), 8);
      Evidence.require(
          report.scope().contexts().size() == 3, "contexts", report.scope().contexts(), 3);
      Evidence.require(report.scope().extras().size() == 7, "extras", report.scope().extras(), 7);
    }
  }

  private static final class SentrySink implements Sink {
    private final @Nullable Path cacheDirectory;

    SentrySink(@Nullable Path cacheDirectory) {
      this.cacheDirectory = cacheDirectory;
      SentryTarget.init(cacheDirectory);
    }

    @Override
    public Runnable breadcrumb(Payload.Event event) {
      return () -> Sentry.addBreadcrumb(SentryTarget.breadcrumb(event));
    }

    @Override
    public Runnable tag(String key, String value) {
      return () -> Sentry.setTag(key, value);
    }

    @Override
    public Runnable context(String key, Map<String, Object> value) {
      return () -> Sentry.configureScope(scope -> scope.setContexts(key, value));
    }

    @Override
    public Runnable extra(String key, String value) {
      return () -> Sentry.setExtra(key, value);
    }

    @Override
    public Runnable user(String id) {
      User user = new User();
      user.setId(id);
      return () -> Sentry.setUser(user);
    }

    @Override
    public Runnable transaction(String name) {
      return () -> Sentry.setTransaction(name);
    }

    @Override
    public void finish() throws Exception {
      // The SDK swallows what a callback throws, so the scope is judged outside of it.
      AtomicReference<IScope> scope = new AtomicReference<>();
      Sentry.configureScope(scope::set);
      Evidence.require(
          scope.get().getBreadcrumbs().size() == 100,
          "trail",
          scope.get().getBreadcrumbs().size(),
          100);
      Evidence.require(scope.get().getTags().size() == 8, "tags", scope.get().getTags(), 8);
      if (cacheDirectory != null) {
        try (Stream<Path> files = Files.walk(cacheDirectory)) {
          long kept = files.filter(Files::isRegularFile).count();
          Evidence.require(kept == 6, "persisted files", kept, 6);
        }
      }
    }
  }
}
