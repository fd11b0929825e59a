package cairn.cli;

import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Run;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cairn tail}. */
@Command(
    name = "tail",
    description = "Prints the newest breadcrumbs of a run, oldest first.",
    footer = {
      "Exit codes: 0 printed (maybe none), 2 wrong usage, 3 nothing readable",
      "",
      "Examples:",
      "  cairn tail                   the last 20 of the newest dead run",
      "  cairn tail -f                the newest living run, as it goes, until it ends",
      "  cairn tail -n 500 --json | jq -r 'select(.level == \"error\") | .message'"
    })
final class TailCommand implements Callable<Integer> {
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final Session session;

  @Mixin private final RunSource source;

  @Parameters(
      arity = "0..1",
      paramLabel = "RUN",
      description =
          "run id, a part of one, or a run's directory (default: the newest dead run; with -f the"
              + " newest living one)")
  private @Nullable String run;

  @Option(
      names = {"-f", "--follow"},
      order = 1,
      fallbackValue = "true",
      description = "go on with new ones until the run ends")
  private boolean follow;

  @Option(
      names = {"-n", "--lines"},
      order = 2,
      paramLabel = "N",
      description = "the N newest (default: 20)")
  private int lines = 20;

  @Option(
      names = "--json",
      order = 3,
      fallbackValue = "true",
      description = "print one JSON object a line")
  private boolean json;

  /** Position of the last breadcrumb that was looked at; below every position at first. */
  private long last = -1;

  TailCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session);
  }

  @Override
  public Integer call() throws InterruptedException {
    Arguments.atLeast("--lines", lines, 0);
    Run selected = source.select(run, follow);
    boolean running = follow && selected.isRunning();
    Report report = RunSource.read(selected);
    List<Breadcrumb> trail = report.trail();
    print(trail.subList(Math.max(0, trail.size() - lines), trail.size()));
    last = trail.isEmpty() ? last : trail.get(trail.size() - 1).position();
    while (session.flush() && running) {
      session.surroundings.pause().await(PAUSE);
      // Asked before reading, so that what a run records last is seen.
      running = selected.isRunning();
      report = RunSource.read(selected);
      printNew(report.trail());
    }
    if (follow && session.flush()) {
      session.err.println("cairn: run ended: " + Escape.line(report.verdict().headline()));
    }
    return ExitCode.OK;
  }

  private void printNew(List<Breadcrumb> trail) {
    int first = trail.size();
    while (first > 0 && trail.get(first - 1).position() > last) {
      first--;
    }
    if (first == trail.size()) {
      return;
    }
    if (first == 0 && last >= 0) {
      session.err.println("cairn: breadcrumbs were overwritten before they were read");
    }
    print(trail.subList(first, trail.size()));
    last = trail.get(trail.size() - 1).position();
  }

  private void print(List<Breadcrumb> breadcrumbs) {
    for (Breadcrumb breadcrumb : breadcrumbs) {
      session.out.println(json ? Json.of(row(breadcrumb)) : line(breadcrumb));
    }
  }

  private static Map<String, @Nullable Object> row(Breadcrumb breadcrumb) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("at", breadcrumb.at());
    row.put("level", level(breadcrumb));
    putIfKnown(row, "category", breadcrumb.category());
    putIfKnown(row, "message", breadcrumb.message());
    if (!breadcrumb.data().isEmpty()) {
      row.put("data", breadcrumb.data());
    }
    putIfKnown(row, "thread", breadcrumb.thread());
    putIfKnown(row, "spanId", breadcrumb.spanId());
    return row;
  }

  private static void putIfKnown(
      Map<String, @Nullable Object> row, String key, @Nullable String value) {
    if (value != null) {
      row.put(key, value);
    }
  }

  private static String level(Breadcrumb breadcrumb) {
    return breadcrumb.level().name().toLowerCase(Locale.ROOT);
  }

  private static String line(Breadcrumb breadcrumb) {
    StringBuilder line = new StringBuilder(Units.clock(breadcrumb.at()));
    String level = level(breadcrumb);
    line.append("  ").append(level).append(" ".repeat(9 - level.length()));
    if (breadcrumb.category() != null) {
      line.append(breadcrumb.category()).append(": ");
    }
    if (breadcrumb.message() != null) {
      line.append(breadcrumb.message());
    }
    if (!breadcrumb.data().isEmpty()) {
      line.append("  ").append(Json.of(breadcrumb.data()));
    }
    return Escape.line(line.toString());
  }
}
