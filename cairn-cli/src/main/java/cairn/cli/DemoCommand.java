package cairn.cli;

import cairn.report.Report;
import cairn.report.ReportPart;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn demo}. */
final class DemoCommand implements Callable<Integer> {
  /** The name under which the shop records. */
  private static final String APP = "cairn-demo";

  private static final int MAX_CLIENTS = 256;
  private static final Duration MAX_KILL_AFTER = Duration.ofMinutes(10);
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final Duration INTERRUPTED_AGE = Duration.ofMinutes(10);
  private static final Duration IN_FLIGHT = Duration.ofMillis(100);
  private static final int MAX_PROBLEMS_SHOWN = 50;
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|)");

  private static final int CLIENTS = 8;
  private static final String KILL_AFTER = "5s";

  private final Session session;
  private final CommonOptions common;
  private final OptionSpec killAfter =
      Options.value(
          String.class,
          "TIME",
          "length of the load before the kill: 3, 3s or 500ms (default: " + KILL_AFTER + ")",
          "--kill-after");
  private final OptionSpec clients =
      Options.value(
          Integer.class,
          "N",
          "clients, each with one request at a time (default: " + CLIENTS + ")",
          "--clients");
  private final OptionSpec keep =
      Options.flag("keep the runs of earlier demos, and the shop's log", "--keep");

  DemoCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "demo",
            this,
            new String[] {
              "Kills a web shop in the middle of its work, and says what it was doing.",
              "",
              "Starts the shop as a process of its own, sends it real requests, kills it with SIGKILL,"
                  + " prints",
              "what `cairn why` says, and compares that with what the clients know: each request that"
                  + " was",
              "answered, and each that was not, must be on record."
            },
            new String[] {
              "Exit codes: 0 everything is on record, 1 something is missing or the shop failed,"
                  + " 2 wrong usage,",
              "3 nothing readable",
              "",
              "Examples:",
              "  cairn demo                                  eight clients, killed after five seconds",
              "  cairn demo --clients 64 --kill-after 500ms",
              "  cairn why                                   afterwards: says it again"
            });
    spec.addOption(killAfter);
    spec.addOption(clients);
    spec.addOption(keep);
    common.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    String time = Options.text(killAfter);
    Duration load = duration(time == null ? KILL_AFTER : time);
    clientCount();
    Path jar = jar();
    Path root = common.root();
    String temporary = session.surroundings.properties().getProperty("java.io.tmpdir", "/tmp");
    Path directory = Files.createTempDirectory(Path.of(temporary), "cairn-demo-");
    int exitCode = ExitCode.FOUND;
    try {
      exitCode = run(jar, root, directory, load);
    } finally {
      if (exitCode == ExitCode.OK && !Options.isSet(keep)) {
        DemoShop.delete(directory);
      }
    }
    if (Options.isSet(keep)) {
      line("shop's log:  " + DemoShop.log(directory));
    }
    return exitCode;
  }

  private int clientCount() {
    return Options.number(clients, 1, MAX_CLIENTS, CLIENTS);
  }

  private int run(Path jar, Path root, Path directory, Duration load)
      throws IOException, InterruptedException {
    List<DemoRequest> requests;
    String runId;
    DemoWitness witness;
    line("Starting the shop: " + jar);
    try (DemoShop shop = DemoShop.start(jar, root, directory)) {
      shop.awaitReady(START_LIMIT);
      line("The shop is process " + shop.pid() + ", http://127.0.0.1:" + shop.port());
      requests = loadAndKill(shop, load);
      runId = shop.runId();
      witness = DemoWitness.read(shop.witnessFile());
    }
    Run run =
        Runs.under(root)
            .find(runId)
            .orElseThrow(
                () ->
                    new CliException(
                        ExitCode.FOUND, "run is missing: run=" + runId + ", dir=" + root));
    Report report = run.report();
    line("");
    TextOutput.print(
        session.out,
        report.toText(
            ReportPart.HEADLINE, ReportPart.OPEN_SPANS, ReportPart.EVIDENCE, ReportPart.TRAIL));
    line("");
    write(report, root.resolve(APP).resolve("reports"));

    DemoCheck check =
        DemoCheck.of(
            requests, witness, report.trail(), report.openSpans(), report.verdict().cause());
    line(check.summary());
    if (!check.problems().isEmpty()) {
      fail(check.problems(), directory);
      return ExitCode.FOUND;
    }
    if (!Options.isSet(keep)) {
      prune(root, run);
    }
    return ExitCode.OK;
  }

  private List<DemoRequest> loadAndKill(DemoShop shop, Duration duration)
      throws IOException, InterruptedException {
    DemoLoad load = new DemoLoad(shop.port(), clientCount());
    Progress progress = new Progress();
    load.start();
    long start = System.nanoTime();
    long elapsed = 0;
    while (elapsed < duration.toNanos()
        || (!isInTheMiddle(load, shop) && elapsed < duration.plus(PATIENCE).toNanos())) {
      Integer exitStatus = shop.exitStatus();
      if (exitStatus != null) {
        throw shop.failure("shop ended by itself: exitStatus=" + exitStatus);
      }
      if (load.failure() != null) {
        throw shop.failure(load.failure());
      }
      progress.show(elapsed, load);
      Thread.sleep(Math.max(1, Math.min(50, (duration.toNanos() - elapsed) / 1_000_000)));
      elapsed = System.nanoTime() - start;
    }
    load.expectDeath();
    shop.kill();
    progress.end();
    List<DemoRequest> requests = load.await(Duration.ofSeconds(20));
    if (load.failure() != null) {
      throw shop.failure(load.failure());
    }
    line(
        String.format(
            Locale.ROOT,
            "Killed it with SIGKILL after %.1f s, %d requests.",
            elapsed / 1e9,
            requests.size()));
    return requests;
  }

  /**
   * A kill before the first answers, or between two requests, has nothing to show. A request that
   * has waited for a while is a slow one, and will hardly end before the kill.
   */
  private boolean isInTheMiddle(DemoLoad load, DemoShop shop) throws IOException {
    return load.answers() >= clientCount()
        && !Collections.disjoint(
            load.waitingFor(IN_FLIGHT), DemoWitness.read(shop.witnessFile()).begun());
  }

  private void fail(List<String> problems, Path directory) {
    session.flush();
    int shown = Math.min(problems.size(), MAX_PROBLEMS_SHOWN);
    for (String problem : problems.subList(0, shown)) {
      session.error(problem);
    }
    if (shown < problems.size()) {
      session.error("and " + (problems.size() - shown) + " more");
    }
    session.error("demo failed: problems=" + problems.size() + ", evidence=" + directory);
  }

  private void write(Report report, Path directory) throws IOException {
    Files.createDirectories(directory);
    Path json = directory.resolve(report.run().id() + ".json");
    try (OutputStream out = Files.newOutputStream(json)) {
      report.writeJson(out);
    }
    Path text = directory.resolve(report.run().id() + ".txt");
    Files.writeString(text, report.toText() + System.lineSeparator(), StandardCharsets.UTF_8);
    line("report:  " + text);
    line("         " + json);
  }

  /** Deletes what earlier demos left. */
  private void prune(Path root, Run kept) throws IOException {
    Path reports = root.resolve(APP).resolve("reports");
    for (Run run : Runs.under(root)) {
      Path json = reports.resolve(run.id() + ".json");
      if (!run.app().equals(APP) || run.id().equals(kept.id()) || run.isRunning()) {
        continue;
      }
      try {
        // One without a report may be of another demo, which has yet to read it; or was
        // interrupted.
        if (Files.exists(json) || isOld(run)) {
          new RunDeletion(run.directory()).delete();
          Files.deleteIfExists(json);
          Files.deleteIfExists(reports.resolve(run.id() + ".txt"));
        }
      } catch (IOException e) {
        session.error(
            "earlier run not deleted: run=" + run.id() + ", error=" + RunSource.describe(e));
      }
    }
  }

  private boolean isOld(Run run) throws IOException {
    Instant written = Files.getLastModifiedTime(run.directory().resolve("box")).toInstant();
    return written.plus(INTERRUPTED_AGE).isBefore(session.surroundings.clock().instant());
  }

  private Path jar() {
    String property = session.surroundings.properties().getProperty("cairn.demo.jar");
    String setting =
        property != null ? property : session.surroundings.variables().get("CAIRN_DEMO_JAR");
    if (setting == null || setting.isEmpty()) {
      throw CliException.usage(
          "no shop to run: property=cairn.demo.jar, variable=CAIRN_DEMO_JAR (name the file"
              + " cairn-demo.jar with one of them)");
    }
    Path jar = Path.of(setting);
    if (!Files.isRegularFile(jar)) {
      throw CliException.usage(
          "shop is missing: jar="
              + jar.toAbsolutePath()
              + " (build it, or correct"
              + " cairn.demo.jar or CAIRN_DEMO_JAR)");
    }
    return jar;
  }

  static Duration duration(String text) {
    Matcher matcher = DURATION.matcher(text);
    if (matcher.matches()) {
      long number = Long.parseLong(matcher.group(1));
      boolean isMillis = "ms".equals(matcher.group(2));
      Duration duration = isMillis ? Duration.ofMillis(number) : Duration.ofSeconds(number);
      if (!duration.isZero() && duration.compareTo(MAX_KILL_AFTER) <= 0) {
        return duration;
      }
    }
    throw CliException.usage(
        "invalid value: option=--kill-after, value="
            + text
            + " (expected 3, 3s or 500ms, at most "
            + MAX_KILL_AFTER.toSeconds()
            + "s)");
  }

  private void line(String text) {
    session.out.println(Escape.line(text));
    session.out.flush();
  }

  /** One line: rewritten in place on a terminal, a new one each second elsewhere. */
  private final class Progress {
    private final boolean isTerminal = Terminal.isPresent();
    private long nextNanos;

    void show(long elapsedNanos, DemoLoad load) {
      if (elapsedNanos < nextNanos) {
        return;
      }
      nextNanos = elapsedNanos + (isTerminal ? 100_000_000 : 1_000_000_000);
      String text =
          String.format(
              Locale.ROOT,
              "  %5.1f s  %6d answers  %3d in flight",
              elapsedNanos / 1e9,
              load.answers(),
              load.waitingFor(Duration.ZERO).size());
      session.out.print(isTerminal ? "\r" + text : text + System.lineSeparator());
      session.out.flush();
    }

    void end() {
      if (isTerminal) {
        session.out.println();
      }
    }
  }
}
