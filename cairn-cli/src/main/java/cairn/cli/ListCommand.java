package cairn.cli;

import cairn.report.Cause;
import cairn.report.Confidence;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.RunIdentity;
import cairn.report.UnfinishedSpan;
import cairn.report.Verdict;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn list}. */
final class ListCommand implements Callable<Integer> {
  private final Session session;

  private final RunSource source;
  private final OptionSpec limit =
      Options.value(Integer.class, "N", "only the N newest (default: all)", "-n", "--limit");
  private final OptionSpec json = Options.flag("print a JSON array", "--json");

  ListCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the newest dead run");
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "list",
            this,
            new String[] {
              "Lists the runs, newest first: how each ended, when, and what was left open."
            },
            new String[] {
              "AGE is the time since the last sign of life; of a living run, how long it has been up.",
              "",
              "Exit codes: 0 listed (maybe none), 2 wrong usage, 3 directory not readable",
              "",
              "Examples:",
              "  cairn list                   all runs",
              "  cairn list --app orders -n 5 the five newest of one application",
              "  cairn list --json | jq -r '.[] | select(.cause == \"OOM_KILLED\") | .id'"
            });
    spec.addOption(limit);
    spec.addOption(json);
    source.addManyTo(spec);
    return spec;
  }

  @Override
  public Integer call() {
    Integer limit = Options.number(this.limit, 1);
    List<Run> runs = source.runs();
    List<Run> shown = limit == null ? runs : runs.subList(0, Math.min(limit, runs.size()));
    if (Options.isSet(json)) {
      printJson(shown);
    } else if (runs.isEmpty()) {
      session.error(source.none());
    } else {
      printTable(shown);
      if (shown.size() < runs.size()) {
        session.out.println((runs.size() - shown.size()) + " older runs not shown");
      }
    }
    return ExitCode.OK;
  }

  private void printTable(List<Run> runs) {
    Table table = new Table();
    table.add("RUN", "APP", "STATE", "AGE", "OPEN SPANS");
    for (Run run : runs) {
      Report report = readOrNull(run);
      if (report == null) {
        table.add(run.id(), run.app(), "UNREADABLE", "", "");
      } else {
        table.add(
            run.id(), report.run().app(), state(report.verdict()), age(report), openSpans(report));
      }
    }
    session.out.print(table);
  }

  private static @Nullable Report readOrNull(Run run) {
    try {
      return run.report();
    } catch (IOException e) {
      return null;
    }
  }

  private static String state(Verdict verdict) {
    boolean sure = verdict.confidence() == Confidence.CERTAIN || verdict.cause() == Cause.UNKNOWN;
    return verdict.cause()
        + (sure ? "" : " (" + verdict.confidence().name().toLowerCase(Locale.ROOT) + ")");
  }

  private String age(Report report) {
    boolean running = report.verdict().cause() == Cause.RUNNING;
    RunIdentity run = report.run();
    Instant since = running || run.lastSeenAt() == null ? run.startedAt() : run.lastSeenAt();
    if (since == null) {
      return "?";
    }
    String age = Units.age(Duration.between(since, session.surroundings.clock().instant()));
    return running ? "up " + age : age + " ago";
  }

  private static String openSpans(Report report) {
    List<UnfinishedSpan> spans = report.openSpans();
    if (spans.isEmpty()) {
      return "0";
    }
    UnfinishedSpan oldest = spans.get(0);
    String age =
        oldest.ageMillis() < 0 ? "" : " " + Units.age(Duration.ofMillis(oldest.ageMillis()));
    return spans.size() + " (oldest" + age + ": " + Text.cut(oldest.name(), 40) + ")";
  }

  private void printJson(List<Run> runs) {
    List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    for (Run run : runs) {
      rows.add(row(run));
    }
    session.out.println(Json.lines(rows));
  }

  private static Map<String, @Nullable Object> row(Run run) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("id", run.id());
    row.put("app", run.app());
    row.put("directory", run.directory().toString());
    try {
      Report report = run.report();
      Verdict verdict = report.verdict();
      row.put("app", report.run().app());
      row.put("cause", verdict.cause().name());
      row.put("confidence", verdict.confidence().name().toLowerCase(Locale.ROOT));
      row.put("headline", verdict.headline());
      putIfKnown(row, "startedAt", report.run().startedAt());
      putIfKnown(row, "lastSeenAt", report.run().lastSeenAt());
      row.put("openSpans", report.openSpans().size());
      if (!report.openSpans().isEmpty()) {
        row.put("oldestOpenSpan", report.openSpans().get(0).name());
      }
      row.put("findings", report.findings().size());
    } catch (IOException e) {
      row.put("error", RunSource.describe(e));
    }
    return row;
  }

  private static void putIfKnown(
      Map<String, @Nullable Object> row, String key, @Nullable Object value) {
    if (value != null) {
      row.put(key, value);
    }
  }
}
