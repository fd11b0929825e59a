package cairn.stress;

import cairn.report.Run;
import cairn.report.Runs;
import cairn.stress.VictimCheck.Durable;
import cairn.stress.VictimProcess.Launcher;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Starts victims, kills each with SIGKILL at a random moment of its load, and checks what its
 * report says against its oracle.
 *
 * <p>Prints one line for each kill and a last line with the sums; exits 1 if anything was wrong.
 * The evidence of the first violations is kept.
 *
 * <p>Options: {@code --kills N} (200), {@code --seed N} (random), {@code --parallel N} (2), {@code
 * --threads N} (4, every fifth victim 16), {@code --stops} (also stops and continues the victim
 * under way), {@code --dir DIR}, {@code --quiet}.
 */
public final class KillHarness {
  private static final List<Scenario> SCENARIOS = List.of(Scenario.values());
  private static final List<String> DURABILITIES =
      List.of("process", "process", "bounded", "power");
  private static final int[] RING_BYTES = {64 << 10, 256 << 10, 2 << 20};
  private static final long MIN_MILLIS = 20;
  private static final long MAX_MILLIS = 400;
  private static final int STOP_MILLIS = 5;
  private static final int MAX_KEPT = 5;

  private final Options options;
  private final Path directory;
  private final Launcher launcher;
  private final PrintStream out;
  private final Tally total = new Tally();
  private final AtomicInteger kept = new AtomicInteger();

  private KillHarness(Options options, Path directory, Launcher launcher, PrintStream out) {
    this.options = options;
    this.directory = directory;
    this.launcher = launcher;
    this.out = out;
  }

  /**
   * What to do.
   *
   * @param kills how many victims
   * @param seed of every choice
   * @param parallel victims at a time
   * @param threads of a victim
   * @param stops whether to stop and continue the victim while it records
   * @param quiet whether to print no line for each kill
   */
  public record Options(
      int kills, long seed, int parallel, int threads, boolean stops, boolean quiet) {
    static Options of(Map<String, String> named) {
      return new Options(
          Integer.parseInt(named.getOrDefault("kills", "200")),
          Long.parseLong(named.getOrDefault("seed", Long.toString(System.nanoTime()))),
          Integer.parseInt(named.getOrDefault("parallel", "2")),
          Integer.parseInt(named.getOrDefault("threads", "4")),
          named.containsKey("stops"),
          named.containsKey("quiet"));
    }
  }

  /** Runs with the options of the command line. */
  public static void main(String[] args) throws Exception {
    Map<String, String> named = new HashMap<>();
    for (int i = 0; i < args.length; i++) {
      String name = args[i].replaceFirst("^--", "");
      boolean isFlag = name.equals("stops") || name.equals("quiet");
      if (!isFlag && (args[i].equals(name) || i + 1 == args.length)) {
        System.err.println("unknown option or no value: " + args[i]);
        System.exit(2);
      }
      named.put(name, isFlag ? "" : args[++i]);
    }
    Path directory =
        named.containsKey("dir")
            ? Files.createDirectories(Path.of(named.get("dir")))
            : Files.createTempDirectory("cairn-kills");
    Tally tally = run(Options.of(named), directory, System.out);
    System.exit(tally.violations() == 0 ? 0 : 1);
  }

  /**
   * Kills as many victims as the options say.
   *
   * @param directory gets everything; what no violation needs is deleted again
   * @param out gets the progress and the sums
   */
  public static Tally run(Options options, Path directory, PrintStream out)
      throws IOException, InterruptedException {
    Path tools = Files.createTempDirectory(directory, "tools");
    KillHarness harness = new KillHarness(options, directory, Launcher.fast(tools), out);
    harness.killAll();
    VictimProcess.delete(tools);
    return harness.total;
  }

  private void killAll() throws InterruptedException {
    long begin = System.nanoTime();
    out.println("seed=" + options.seed() + " kills=" + options.kills());
    ExecutorService lanes = Executors.newFixedThreadPool(options.parallel());
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int i = 0; i < options.kills(); i++) {
        int number = i;
        ends.add(lanes.submit(() -> killOne(number)));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("harness failed: seed=" + options.seed(), e.getCause());
    } finally {
      lanes.shutdownNow();
      lanes.awaitTermination(1, TimeUnit.MINUTES);
    }
    total.details().forEach(out::println);
    long millis = (System.nanoTime() - begin) / 1_000_000;
    out.println(total + " seed=" + options.seed() + " seconds=" + millis / 1000);
  }

  private Tally killOne(int number) throws IOException, InterruptedException {
    Random random = new Random(options.seed() + number);
    Scenario scenario = SCENARIOS.get(random.nextInt(SCENARIOS.size()));
    Plan plan =
        new Plan(
            random.nextLong(),
            number % 5 == 4 ? 16 : options.threads(),
            RING_BYTES[number % RING_BYTES.length],
            scenario == Scenario.OVERFLOWING ? 16 : 1024,
            scenario,
            DURABILITIES.get(random.nextInt(DURABILITIES.size())));
    boolean onlyC1 = number % 2 == 0;
    long millis = random.nextLong(MIN_MILLIS, MAX_MILLIS);
    Path home = Files.createDirectory(directory.resolve("kill-" + number));
    Tally tally;
    long crumbs = 0;
    try (VictimProcess victim =
        (onlyC1 ? launcher.with("-XX:TieredStopAtLevel=1") : launcher)
            .start(plan, home.resolve("root"), home)) {
      if (!victim.isEnabled()) {
        throw new IOException("victim does not record: mode=" + victim.mode());
      }
      victim.recordForever();
      await(victim, millis, random);
      victim.kill();
      tally = check(victim);
      for (int t = 0; t < plan.threads(); t++) {
        crumbs += victim.oracle().started(t, Oracle.Stream.CRUMBS);
      }
    }
    total.add(tally);
    if (!options.quiet() || tally.violations() > 0) {
      out.println(
          "kill="
              + number
              + " plan="
              + plan
              + " c1="
              + onlyC1
              + " millis="
              + millis
              + " crumbs="
              + crumbs
              + " "
              + tally);
    }
    if (tally.violations() == 0 || kept.incrementAndGet() > MAX_KEPT) {
      VictimProcess.delete(home);
    } else {
      out.println("evidence is kept: " + home);
    }
    return tally;
  }

  private void await(VictimProcess victim, long millis, Random random)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis; left > 0; ) {
      if (options.stops()) {
        victim.signal("STOP");
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(STOP_MILLIS)));
        victim.signal("CONT");
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(STOP_MILLIS)));
      } else {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(left));
      }
      left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
    }
  }

  private static Tally check(VictimProcess victim) throws IOException {
    List<Run> runs = Runs.under(victim.root()).list();
    if (runs.size() != 1) {
      throw new IOException("one run expected: runs=" + runs.size() + ", root=" + victim.root());
    }
    Plan plan = victim.plan();
    Oracle oracle = victim.oracle();
    Tally tally = VictimCheck.ofKilled(plan, oracle, Seen.of(runs.get(0).report()));
    Durable durable = Durable.now(plan, oracle);
    if (!durable.isNothing()) {
      // What awaitDurable was true for is in the journal alone.
      Files.move(runs.get(0).directory().resolve("box"), victim.root().resolveSibling("box"));
      for (Run run : Runs.under(victim.root())) {
        tally.add(VictimCheck.ofPowerCut(plan, oracle, Seen.of(run.report()), durable));
      }
    }
    return tally;
  }
}
