package cairn.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What telemetry costs a small application in throughput: the demo shop at several heaps, with and
 * without, under load from a process of its own that sends its next request when it has the answer.
 *
 * <p>At each heap the shops of all arms are started together and warmed up; then they are loaded in
 * turn, in an order drawn anew each round, while the others are stopped. Results are kept after
 * each round: what is cut off goes on later.
 *
 * <p>Options: {@code --heaps MB,...}, {@code --only ARM,...}, {@code --rounds N}, {@code --starts
 * N} (fresh processes that share the rounds), {@code --seconds N}, {@code --warmup ANSWERS}, {@code
 * --clients N}, {@code --out DIR}.
 */
final class HeapSweep {
  /** Load before each measurement: caches are cold, and what the stop held up is made up for. */
  static final int SETTLE_MILLIS = 300;

  private static final long START_LIMIT_SECONDS = 240;
  private static final long WARM_UP_LIMIT_SECONDS = 360;
  private static final int WARM_UP_CLIENTS = 2;

  /** A shop whose JIT takes no more of its CPU time is warm. */
  private static final int WARM_PERCENT = 3;

  private static final int LAST_LOAD_MILLIS = 5_000;
  private static final String SHOP_CORE = "0";
  private static final String LOAD_CORE = "1";

  private final HeapPlan plan;
  private final Patience patience;
  private final HeapResults results;
  private final Path shop;
  private final boolean pinned;
  private final Random random = new Random();

  private HeapSweep(HeapPlan plan, Patience patience, Path shop) throws IOException {
    this.plan = plan;
    this.patience = patience;
    this.results = HeapResults.open(plan.out(), plan.settings());
    this.shop = shop;
    this.pinned = Runtime.getRuntime().availableProcessors() > 1 && hasTaskset();
  }

  static void run(HeapPlan wanted, Settings settings) throws IOException, InterruptedException {
    Path shop = Path.of(System.getProperty("cairn.demo.jar", "cairn-demo/target/cairn-demo.jar"));
    if (!Files.isRegularFile(shop)) {
      throw new IllegalArgumentException(
          "no shop: jar=" + shop + " (run: mvn -q -pl cairn-bench,cairn-demo -am package)");
    }
    List<HeapArm> arms = new ArrayList<>();
    for (HeapArm arm : wanted.arms()) {
      if (HeapShop.isAvailable(arm)) {
        arms.add(arm);
      } else {
        Bench.progress("left out: " + arm.label + " (bin/bench agents fetches it)");
      }
    }
    HeapPlan plan =
        new HeapPlan(
            wanted.heaps(),
            arms,
            wanted.rounds(),
            wanted.starts(),
            wanted.seconds(),
            wanted.warmUpAnswers(),
            wanted.clients(),
            wanted.out());
    new HeapSweep(plan, settings.patience(), shop.toAbsolutePath()).run();
  }

  private void run() throws IOException, InterruptedException {
    int done = 0;
    for (int heap : plan.heaps()) {
      done += Math.min(plan.rounds(), results.rounds(heap, plan.arms()));
    }
    Bench.progress("plan: " + plan);
    Bench.progress(
        "done: "
            + done
            + " of "
            + plan.heaps().size() * plan.rounds()
            + " rounds; left: about "
            + Math.round(plan.estimatedSeconds(done) / 60.0)
            + " min; results: "
            + plan.out());
    if (!pinned) {
      Bench.progress("shop and load share all cores: one core, or no taskset");
    }
    HeapReport report = new HeapReport(plan, results);
    try (Scratch scratch = Scratch.create("heaps");
        Load load = Load.start(plan.clients(), pinned ? LOAD_CORE : null)) {
      for (int heap : plan.heaps()) {
        while (results.rounds(heap, plan.arms()) < plan.rounds()) {
          int start = results.nextStart(heap);
          Path directory = scratch.directory().resolve(heap + "-" + start);
          start(heap, start, directory, load);
          report.write();
        }
      }
    }
    report.write();
    System.out.println(report.text());
  }

  /** One set of processes, and the rounds that fall to it. */
  private void start(int heap, int start, Path directory, Load load)
      throws IOException, InterruptedException {
    patience.await("heap " + heap + " MiB, start " + start);
    Map<HeapArm, HeapShop> shops = new LinkedHashMap<>();
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_LIMIT_SECONDS);
      for (HeapArm arm : shuffled()) {
        shops.put(arm, HeapShop.start(shop, arm, heap, directory.resolve(arm.id)));
      }
      for (HeapShop one : shops.values()) {
        one.awaitReady(deadline);
      }
      warmUp(shops.values(), load);
      for (HeapShop one : shops.values()) {
        one.pin(pinned ? SHOP_CORE : null);
        one.freeze();
      }
      int first = results.rounds(heap, plan.arms()) + 1;
      int last = Math.min(plan.rounds(), first + plan.roundsOfAStart() - 1);
      for (int round = first; round <= last; round++) {
        patience.await("heap " + heap + " MiB, round " + round);
        List<HeapResults.Row> rows = new ArrayList<>();
        for (HeapArm arm : shuffled()) {
          rows.add(measure(shops.get(arm), heap, start, round, load));
        }
        results.add(rows);
      }
      for (HeapShop one : shops.values()) {
        if (one.failure() == null
            && (one.arm() == HeapArm.CAIRN || one.arm() == HeapArm.SDK_CAIRN)) {
          requireOpenSpans(one, load);
        }
      }
    } finally {
      for (HeapShop one : shops.values()) {
        one.close();
      }
    }
  }

  private List<HeapArm> shuffled() {
    List<HeapArm> arms = new ArrayList<>(plan.arms());
    Collections.shuffle(arms, random);
    return arms;
  }

  /**
   * All at once and on all cores, as many answers of each as planned, and then of each more until
   * its JIT has nothing to do any more: what is compiled during a round is compiled on the time of
   * the requests, and what has more code pays more. By few clients, since with many the JIT waits
   * for a core among their threads.
   */
  private void warmUp(Collection<HeapShop> shops, Load load)
      throws IOException, InterruptedException {
    List<HeapShop> cold = new ArrayList<>();
    for (HeapShop one : shops) {
      if (one.failure() == null) {
        Map<String, String> prepared = load.ask("prepare " + one.port());
        if (prepared.containsKey("error")) {
          one.fail("did not take an order: " + prepared.get("error"));
        }
      }
      if (one.failure() == null && !one.isTelemetryThere()) {
        throw new IllegalStateException("telemetry is not at work: arm=" + one.arm().id);
      }
      if (one.failure() == null) {
        cold.add(one);
      } else {
        Bench.progress(one.arm().label + ": " + one.failure());
      }
    }
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WARM_UP_LIMIT_SECONDS);
    long answers = warm(cold, plan.warmUpAnswers(), load);
    while (!cold.isEmpty() && System.nanoTime() - deadline < 0) {
      List<Long> cpu = new ArrayList<>();
      List<Long> compiler = new ArrayList<>();
      for (HeapShop one : cold) {
        cpu.add(one.cpuMillis());
        compiler.add(one.compilerMillis());
      }
      answers += warm(cold, Math.max(1_000, plan.warmUpAnswers() / 4), load);
      for (int i = cold.size() - 1; i >= 0; i--) {
        HeapShop one = cold.get(i);
        long used = one.cpuMillis() - cpu.get(i);
        if ((one.compilerMillis() - compiler.get(i)) * 100 <= used * WARM_PERCENT) {
          one.freeze();
          cold.remove(i);
        }
      }
    }
    Bench.progress("warm after " + answers + " answers");
    for (HeapShop one : cold) {
      Bench.progress("JIT is still busy: " + one.arm().label);
    }
  }

  private static long warm(List<HeapShop> shops, long answers, Load load) throws IOException {
    StringBuilder command = new StringBuilder("warm " + WARM_UP_CLIENTS + " " + answers);
    command.append(' ').append(WARM_UP_LIMIT_SECONDS * 1000);
    shops.forEach(shop -> command.append(' ').append(shop.port()));
    return Long.parseLong(load.ask(command.toString()).get("answers"));
  }

  private HeapResults.Row measure(HeapShop one, int heap, int start, int round, Load load)
      throws IOException, InterruptedException {
    String failure = one.failure();
    if (failure != null) {
      return HeapResults.Row.without(heap, one.arm(), start, round, failure);
    }
    one.thaw();
    load.ask("load " + one.port() + " " + SETTLE_MILLIS + " 2");
    long cpu = one.cpuMillis();
    long compiler = one.compilerMillis();
    long from = System.currentTimeMillis();
    Map<String, String> seen =
        load.ask("load " + one.port() + " " + plan.seconds() * 1000L + " " + (1000L * round));
    long to = System.currentTimeMillis();
    cpu = one.cpuMillis() - cpu;
    compiler = one.compilerMillis() - compiler;
    one.freeze();
    failure = one.failure();
    if (failure != null) {
      return HeapResults.Row.without(heap, one.arm(), start, round, failure);
    }
    long answers = Long.parseLong(seen.get("answers"));
    long failures = Long.parseLong(seen.get("failures"));
    if (answers == 0) {
      return HeapResults.Row.without(
          heap, one.arm(), start, round, "did not answer: " + seen.get("failure"));
    }
    GcLog.Pauses pauses = one.pauses(from, to);
    return new HeapResults.Row(
        heap,
        one.arm(),
        start,
        round,
        HeapResults.OK,
        answers,
        failures,
        plan.seconds(),
        Long.parseLong(seen.get("p50")),
        Long.parseLong(seen.get("p99")),
        Math.max(0, cpu),
        Math.max(0, compiler),
        pauses.millis(),
        pauses.count(),
        pauses.allocatedMb());
  }

  /** Kills a shop in the middle of its requests: what was measured must be what finds them. */
  private static void requireOpenSpans(HeapShop one, Load load)
      throws IOException, InterruptedException {
    one.thaw();
    load.send("load " + one.port() + " " + LAST_LOAD_MILLIS + " 3");
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LAST_LOAD_MILLIS);
    long whileAlive = 0;
    while (whileAlive == 0 && System.nanoTime() - deadline < 0) {
      Thread.sleep(20);
      whileAlive = requestsInBox(one);
    }
    one.close();
    load.receive("load"); // The clients end with the shop.
    Evidence.require(whileAlive > 0, "requests in the box of " + one.arm().id, whileAlive, "some");
    Bench.progress(
        one.arm().label + ": killed under load; requests in its report: " + requestsInBox(one));
  }

  private static long requestsInBox(HeapShop one) throws IOException {
    return Evidence.reportOf(one.runs()).openSpans().stream()
        .filter(span -> "SERVER".equals(span.kind()))
        .count();
  }

  private static boolean hasTaskset() throws IOException {
    for (String directory : System.getenv().getOrDefault("PATH", "").split(":")) {
      if (Files.isExecutable(Path.of(directory, "taskset"))) {
        return true;
      }
    }
    return false;
  }

  /** {@link ShopLoad} as a process. */
  private static final class Load implements AutoCloseable {
    private final Process process;
    private final PrintWriter commands;
    private final BufferedReader answers;

    private Load(Process process) {
      this.process = process;
      this.commands = new PrintWriter(process.getOutputStream(), true, StandardCharsets.UTF_8);
      this.answers =
          new BufferedReader(
              new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    }

    static Load start(int clients, @Nullable String core) throws IOException {
      List<String> command = new ArrayList<>();
      if (core != null) {
        command.addAll(List.of("taskset", "-c", core));
      }
      command.addAll(
          List.of(
              Path.of(System.getProperty("java.home"), "bin", "java").toString(),
              "-Xmx256m",
              "-cp",
              Child.classpath(),
              ShopLoad.class.getName(),
              Integer.toString(clients)));
      return new Load(
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
    }

    Map<String, String> ask(String command) throws IOException {
      send(command);
      return receive(command);
    }

    void send(String command) {
      commands.println(command);
    }

    /** Awaits the answer to a command that was sent. */
    Map<String, String> receive(String command) throws IOException {
      String answer = answers.readLine();
      if (answer == null || !answer.startsWith("result ")) {
        throw new IOException("load ended: command=" + command + ", answer=" + answer);
      }
      Map<String, String> values = new LinkedHashMap<>();
      for (String pair : answer.substring("result ".length()).split(" ")) {
        int equals = pair.indexOf('=');
        values.put(pair.substring(0, equals), pair.substring(equals + 1));
      }
      return values;
    }

    @Override
    public void close() throws IOException {
      commands.close(); // It ends at the end of its commands.
      answers.close();
      process.destroy();
    }
  }
}
