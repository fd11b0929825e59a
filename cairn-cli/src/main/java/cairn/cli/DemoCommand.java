package cairn.cli;

import cairn.report.Report;
import cairn.report.ReportPart;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.Console;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code cairn demo}. */
@Command(
    name = "demo",
    description =
        "Starts a web shop, sends it real requests, kills it in the middle of them, and says what it"
            + " was doing. Then compares that with what the clients know.",
    synopsisHeading = "Usage: ",
    descriptionHeading = "%n",
    optionListHeading = "%nOptions:%n",
    footerHeading = "%n",
    footer = {
      "Exit codes: 0 everything is on record, 1 something is missing or the shop failed,",
      "2 wrong usage, 3 nothing readable",
      "",
      "Examples:",
      "  cairn demo                                  eight clients, killed after five seconds",
      "  cairn demo --clients 64 --kill-after 500ms",
      "  cairn why                                   afterwards: says it again"
    })
final class DemoCommand implements Callable<Integer> {
  /** The name under which the shop records. */
  private static final String APP = "cairn-demo";

  private static final int MAX_CLIENTS = 256;
  private static final Duration MAX_KILL_AFTER = Duration.ofMinutes(10);
  private static final Duration START_LIMIT = Duration.ofMinutes(3);
  private static final Duration IN_FLIGHT = Duration.ofMillis(20);
  private static final int MAX_PROBLEMS_SHOWN = 50;
  private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|)");

  private final Session session;

  @Mixin private final CommonOptions common;

  @Option(
      names = "--kill-after",
      order = 1,
      paramLabel = "TIME",
      defaultValue = "5s",
      description = "length of the load before the kill, such as 3, 3s or 500ms (default: 5s)")
  private String killAfter = "";

  @Option(
      names = "--clients",
      order = 2,
      paramLabel = "NUMBER",
      defaultValue = "8",
      description = "clients, each with one request at a time (default: 8)")
  private int clients;

  @Option(
      names = "--keep",
      order = 3,
      fallbackValue = "true",
      description = "keep the runs of earlier demos, and the shop's log")
  private boolean keep;

  DemoCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Duration load = duration(killAfter);
    if (clients < 1 || clients > MAX_CLIENTS) {
      throw CliException.usage(
          "clients out of range: clients=" + clients + ", limit=1 to " + MAX_CLIENTS);
    }
    Path jar = jar();
    Path root = common.root();
    String temporary = session.surroundings.properties().getProperty("java.io.tmpdir", "/tmp");
    Path directory = Files.createTempDirectory(Path.of(temporary), "cairn-demo-");
    int exitCode = ExitCode.FOUND;
    try {
      exitCode = run(jar, root, directory, load);
    } finally {
      if (exitCode == ExitCode.OK && !keep) {
        delete(directory);
      }
    }
    if (keep) {
      line("shop's log:  " + directory.resolve("shop.log"));
    }
    return exitCode;
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
    if (!keep) {
      prune(root, run);
    }
    return ExitCode.OK;
  }

  private List<DemoRequest> loadAndKill(DemoShop shop, Duration duration)
      throws InterruptedException {
    DemoLoad load = new DemoLoad(shop.port(), clients);
    Progress progress = new Progress();
    load.start();
    long start = System.nanoTime();
    long elapsed = 0;
    // Not between two requests: with one client that would be a kill with nothing to show.
    while (elapsed < duration.toNanos()
        || (load.waitingFor(IN_FLIGHT) == 0 && elapsed < duration.toNanos() + 10_000_000_000L)) {
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

  /** Deletes what earlier demos left: dead runs of the shop that have their report. */
  private static void prune(Path root, Run kept) throws IOException {
    Path reports = root.resolve(APP).resolve("reports");
    for (Run run : Runs.under(root)) {
      Path json = reports.resolve(run.id() + ".json");
      if (run.app().equals(APP)
          && !run.id().equals(kept.id())
          && Files.exists(json)
          && !run.isRunning()) {
        delete(run.directory());
        Files.delete(json);
        Files.deleteIfExists(reports.resolve(run.id() + ".txt"));
      }
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      files.sorted(Comparator.reverseOrder()).forEach(DemoCommand::deleteFile);
    }
  }

  private static void deleteFile(Path file) {
    try {
      Files.delete(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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
    private final boolean isTerminal = isTerminal();
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
              load.waitingFor(Duration.ZERO));
      session.out.print(isTerminal ? "\r" + text : text + System.lineSeparator());
      session.out.flush();
    }

    void end() {
      if (isTerminal) {
        session.out.println();
      }
    }
  }

  @SuppressWarnings("SystemConsoleNull") // Asks for the null of Java 17 to 21 and for the rest.
  private static boolean isTerminal() {
    Console console = System.console();
    if (console == null) {
      return false;
    }
    try {
      // Java 22 and later have a console off a terminal too, and this method to tell.
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (NoSuchMethodException e) {
      return true;
    } catch (IllegalAccessException | InvocationTargetException e) {
      return false;
    }
  }
}
