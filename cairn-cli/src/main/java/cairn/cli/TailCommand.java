package cairn.cli;

import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Run;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn tail}. */
final class TailCommand implements Callable<Integer> {
  private static final int LINES = 20;
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final Session session;

  private final RunSource source;
  private final OptionSpec follow =
      Options.flag("go on with new ones until the run ends", "-f", "--follow");
  private final OptionSpec lines =
      Options.value(Integer.class, "N", "the N newest (default: 20)", "-n", "--lines");
  private final OptionSpec json = Options.flag("print one JSON object a line", "--json");

  /** Position of the last breadcrumb that was looked at; below every position at first. */
  private long last = -1;

  TailCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the dead run that was seen last; with -f the living one");
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "tail",
            this,
            new String[] {"Prints the newest breadcrumbs of a run, oldest first."},
            new String[] {
              "Exit codes: 0 printed (maybe none), 2 wrong usage, 3 nothing readable",
              "",
              "Examples:",
              "  cairn tail                   the last 20 of the run that died last",
              "  cairn tail -f                the living run, as it goes, until it ends",
              "  cairn tail -n 500 --json | jq -r 'select(.level == \"error\") | .message'"
            });
    spec.addOption(follow);
    spec.addOption(lines);
    spec.addOption(json);
    source.addOneTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws InterruptedException {
    Integer given = Options.number(lines, 0);
    int count = given == null ? LINES : given;
    boolean following = Options.isSet(follow);
    Run selected = source.select(following);
    boolean running = following && selected.isRunning();
    Report report = RunSource.read(selected);
    List<Breadcrumb> trail = report.trail();
    if (!Options.isSet(json)) {
      session.out.println(RunLine.of(report, session.surroundings.clock()));
      if (trail.isEmpty()) {
        session.out.println("  no breadcrumbs");
      }
    }
    print(trail.subList(Math.max(0, trail.size() - count), trail.size()));
    last = trail.isEmpty() ? last : trail.get(trail.size() - 1).position();
    while (session.flush() && running) {
      session.surroundings.pause().await(PAUSE);
      // Asked before reading, so that what a run records last is seen.
      running = selected.isRunning();
      report = RunSource.read(selected);
      printNew(report.trail());
    }
    if (following && session.flush()) {
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
      session.out.println(Options.isSet(json) ? Json.of(row(breadcrumb)) : line(breadcrumb));
    }
  }

  private static Map<String, @Nullable Object> row(Breadcrumb breadcrumb) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("at", breadcrumb.at());
    row.put("level", level(breadcrumb));
    putIfKnown(row, "category", breadcrumb.category());
    putIfKnown(row, "message", breadcrumb.message());
    row.put("data", breadcrumb.data());
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

  /** As the trail of the report, but nothing is cut. */
  private static String line(Breadcrumb breadcrumb) {
    StringBuilder line = new StringBuilder("  ").append(Units.clock(breadcrumb.at())).append('Z');
    String level = level(breadcrumb);
    line.append(' ').append(level).append(" ".repeat(7 - level.length()));
    for (String text : new String[] {breadcrumb.category(), breadcrumb.message()}) {
      if (text != null && !text.isEmpty()) {
        line.append(' ').append(text);
      }
    }
    if (!breadcrumb.data().isEmpty()) {
      line.append(' ').append(plain(breadcrumb.data()));
    }
    if (breadcrumb.thread() != null) {
      line.append(" [").append(breadcrumb.thread()).append(']');
    }
    return Escape.line(line.toString());
  }

  private static String plain(@Nullable Object value) {
    if (value instanceof byte[] bytes) {
      return "0x" + HexFormat.of().formatHex(bytes);
    }
    StringBuilder text = new StringBuilder();
    if (value instanceof Map<?, ?> map) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        text.append(text.isEmpty() ? "{" : ", ");
        text.append(entry.getKey()).append('=').append(plain(entry.getValue()));
      }
      return text.isEmpty() ? "{}" : text.append('}').toString();
    }
    if (value instanceof List<?> list) {
      for (Object element : list) {
        text.append(text.isEmpty() ? "[" : ", ").append(plain(element));
      }
      return text.isEmpty() ? "[]" : text.append(']').toString();
    }
    return String.valueOf(value);
  }
}
