package cairn.bench;

import cairn.Durability;
import cairn.Level;
import cairn.Recorder;
import cairn.report.Report;
import com.sun.management.ThreadMXBean;
import io.sentry.IScope;
import io.sentry.Sentry;
import io.sentry.protocol.User;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The first calls of a fresh JVM: 107 breadcrumbs and 310 scope mutations, mixed, back to back or 2
 * to 4 ms apart. Inputs are made and the measuring code is warmed before; the recorder is opened
 * 300 ms before. Forces are counted by the recorder itself or else in a run of its own, which isn't
 * timed.
 */
public final class ColdStart {
  private static final int BREADCRUMBS = 107;
  private static final int MUTATIONS = 310;
  private static final List<String> MODES = List.of("tight", "paced");
  private static final Map<String, Durability> CAIRN = new LinkedHashMap<>();
  private static final List<String> TARGETS = new ArrayList<>();
  private static final long LEAST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final Duration SETTLED_WITHIN = Duration.ofSeconds(10);

  static {
    CAIRN.put("cairn", Durability.process());
    CAIRN.put("cairn-bounded-20", Durability.bounded(20, Duration.ofMillis(100)));
    CAIRN.put("cairn-bounded-100", Durability.bounded(100, Duration.ofSeconds(1)));
    CAIRN.put("cairn-power", Durability.power());
    TARGETS.add("noop");
    TARGETS.addAll(CAIRN.keySet());
    TARGETS.addAll(List.of("sentry-memory", "sentry-before", "sentry-after"));
  }

  private ColdStart() {}

  static void run(Settings settings) throws Exception {
    int runs = settings.quick() ? 1 : 2 * settings.rounds() + 1;
    Map<String, List<Map<String, String>>> results = new LinkedHashMap<>();
    Map<String, SystemCalls> traced = Map.of();
    try (Scratch scratch = Scratch.create("classes")) {
      Path jar = Child.pack(scratch.directory().resolve("cold.jar"), classes());
      for (int i = 0; i < runs; i++) {
        for (String mode : MODES) {
          for (String target : TARGETS) {
            settings.patience().await("cold " + mode + " " + target);
            try (Scratch files = Scratch.create("cold")) {
              results
                  .computeIfAbsent(mode + " " + target, key -> new ArrayList<>())
                  .add(child(List.of(), jar, target, mode, files.directory()));
            }
          }
        }
      }
      if (SystemCalls.traceable()) {
        traced = trace(jar, results);
      } else {
        Bench.progress("no forces of sentry-java: strace is missing or may not trace");
      }
    }
    for (String mode : MODES) {
      show(mode, runs, results, traced);
    }
  }

  /** Runs those again that don't count their forces, and counts them from outside. */
  private static Map<String, SystemCalls> trace(
      Path jar, Map<String, List<Map<String, String>>> results) throws Exception {
    Map<String, SystemCalls> traced = new HashMap<>();
    for (Map.Entry<String, List<Map<String, String>>> entry : results.entrySet()) {
      if (Table.median(values(entry.getValue(), "forces")) < 0) {
        Bench.progress("cold, traced, " + entry.getKey());
        String[] modeAndTarget = entry.getKey().split(" ");
        try (Scratch files = Scratch.create("cold");
            Scratch traces = Scratch.create("trace")) {
          Path trace = traces.directory().resolve("trace");
          List<String> prefix = SystemCalls.prefix(trace);
          child(prefix, jar, modeAndTarget[1], modeAndTarget[0], files.directory());
          traced.put(entry.getKey(), SystemCalls.read(trace, files.directory()));
        }
      }
    }
    return traced;
  }

  /** {@return the classes of this package: a child gets them without any library of theirs} */
  static List<String> classes() throws IOException {
    try (JarFile jar = new JarFile(Child.classpath())) {
      return jar.stream()
          .map(JarEntry::getName)
          .filter(name -> name.matches("cairn/bench/[^/]+[.]class"))
          .map(name -> name.substring(0, name.length() - ".class".length()))
          .toList();
    }
  }

  private static Map<String, String> child(
      List<String> prefix, Path jar, String target, String mode, Path directory) throws Exception {
    String sentry =
        target.equals("sentry-before")
            ? Child.jarsIn("sentry-before", "sentry-")
            : Child.jars("sentry-");
    return Child.run(
        prefix,
        List.of("-Xmx512m"),
        String.join(File.pathSeparator, jar.toString(), Child.jars("cairn-core-"), sentry),
        List.of(ColdStart.class.getName(), target, mode, directory.toString()),
        60);
  }

  private static void show(
      String mode,
      int runs,
      Map<String, List<Map<String, String>>> results,
      Map<String, SystemCalls> traced) {
    Table table =
        new Table(
            "target",
            "caller ms",
            "min",
            "worst call ms",
            "caller's CPU ms",
            "process CPU ms",
            "of it compiling",
            "of it Cairn's threads",
            "caller KB allocated",
            "write calls",
            "KB written",
            "KB dirtied",
            "forces");
    for (String target : TARGETS) {
      List<Map<String, String>> rounds = results.get(mode + " " + target);
      SystemCalls calls = traced.get(mode + " " + target);
      table.row(
          label(target),
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
          Table.number(Table.median(values(rounds, "dirtiedKb")), 0),
          forces(Table.median(values(rounds, "forces")), calls));
    }
    System.out.println(
        (mode.equals("tight") ? "Back to back" : "2 to 4 ms apart")
            + " (medians of "
            + runs
            + " JVMs each, in turn):\n\n"
            + table);
  }

  /** {@return the forces that were counted, else those that were traced} */
  private static String forces(double counted, @Nullable SystemCalls traced) {
    if (counted >= 0) {
      return Table.number(counted, 0);
    }
    return traced == null ? "-" : traced.forces() + " traced";
  }

  private static String label(String target) {
    Durability durability = CAIRN.get(target);
    if (durability != null) {
      return "**Cairn**, `" + durability + "`";
    }
    return switch (target) {
      case "noop" -> "nothing (what measuring costs)";
      case "sentry-memory" -> "sentry-java, in memory only";
      case "sentry-before" -> "sentry-java 8.51.0, persisted";
      case "sentry-after" -> "sentry-java 8.63.0, persisted";
      default -> target;
    };
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

    /** Awaits what the recorder has promised to force. */
    default void settle() {}

    /** Throws unless everything is there. */
    void finish() throws Exception;

    /** {@return how often it forced a file, known once finished; -1 if it can't tell} */
    default long forces() {
      return -1;
    }
  }

  /** One JVM. Arguments: target, mode, directory. */
  public static void main(String[] args) throws Exception {
    boolean paced = args[1].equals("paced");
    Durability durability = CAIRN.get(args[0]);
    Sink sink =
        switch (args[0]) {
          case "noop" -> new NoopSink();
          case "sentry-memory" -> new SentrySink(null);
          case "sentry-before", "sentry-after" -> new SentrySink(Path.of(args[2]));
          default -> new CairnSink(Path.of(args[2]), Objects.requireNonNull(durability, args[0]));
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

    SystemCalls.begin();
    ProcessMeter before = ProcessMeter.read();
    long allocatedBefore = threads.getThreadAllocatedBytes(self);
    long callerBefore = threads.getCurrentThreadCpuTime();
    long[] times = time(calls, paced);
    long caller = threads.getCurrentThreadCpuTime() - callerBefore;
    long allocated = threads.getThreadAllocatedBytes(self) - allocatedBefore;
    sink.settle();
    Thread.sleep(1000);
    ProcessMeter used = ProcessMeter.read().minus(before);
    SystemCalls.end();

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
            "dirtiedKb", used.dirtiedBytes() / 1024,
            "forces", sink.forces()));
    System.exit(0);
  }

  /** {@return the sum of the calls' times and the longest, in nanoseconds} */
  private static long[] time(Runnable[] calls, boolean paced) {
    long total = 0;
    long worst = 0;
    long pause = 0;
    for (Runnable call : calls) {
      long start = System.nanoTime();
      call.run();
      long nanos = System.nanoTime() - start;
      total += nanos;
      worst = Math.max(worst, nanos);
      if (paced) {
        // 2, 3 and 4 ms in turn, so that no background timer runs in step.
        LockSupport.parkNanos(LEAST_PAUSE_NANOS + pause++ % 3 * 1_000_000);
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
    private final boolean forced;
    private long forces;
    private final Recorder recorder;

    CairnSink(Path root, Durability durability) {
      this.root = root;
      this.forced = !durability.equals(Durability.process());
      recorder = Evidence.open(root, durability);
    }

    @Override
    public void settle() {
      if (forced) {
        boolean durable = recorder.awaitDurable(SETTLED_WITHIN);
        Evidence.require(durable, "everything forced", durable, true);
      }
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
      forces = report.counters().get("forces");
      Evidence.require(
          report.trail().size() == BREADCRUMBS, "trail", report.trail().size(), BREADCRUMBS);
      Evidence.require(report.scope().tags().size() == 8, "tags", report.scope().tags(), 8);
      Evidence.require(
          report.scope().contexts().size() == 3, "contexts", report.scope().contexts(), 3);
      Evidence.require(report.scope().extras().size() == 7, "extras", report.scope().extras(), 7);
    }

    @Override
    public long forces() {
      return forces;
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
