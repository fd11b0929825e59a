package cairn.cli;

import cairn.report.Report;
import cairn.report.ReportPart;
import cairn.report.VitalsSample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code cairn vitals}. */
@Command(
    name = "vitals",
    description = "Shows heap, memory, collections, threads and files of a run's last minutes.",
    footer = {
      "Exit codes: 0 printed (maybe no sample), 2 wrong usage, 3 nothing readable",
      "",
      "Examples:",
      "  cairn vitals                 the newest dead run",
      "  cairn vitals --json | jq -r '.[] | [.at, .heapUsed, .rss] | @tsv'"
    })
final class VitalsCommand implements Callable<Integer> {
  private final Session session;

  @Mixin private final RunSource source;

  @Parameters(
      arity = "0..1",
      paramLabel = "RUN",
      description = "run id, a part of one, or a run's directory (default: the newest dead run)")
  private @Nullable String run;

  @Option(
      names = "--json",
      fallbackValue = "true",
      description = "print every sample, oldest first, as a JSON array")
  private boolean json;

  VitalsCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session);
  }

  @Override
  public Integer call() {
    Report report = RunSource.read(source.select(run, false));
    if (json) {
      session.out.println(Json.lines(rows(report)));
    } else {
      TextOutput.print(session.out, report.toText(ReportPart.VITALS));
    }
    return ExitCode.OK;
  }

  private static List<Map<String, @Nullable Object>> rows(Report report) {
    List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    for (VitalsSample sample : report.vitals()) {
      Map<String, @Nullable Object> row = new LinkedHashMap<>();
      row.put("at", sample.at());
      row.putAll(sample.values());
      rows.add(row);
    }
    return rows;
  }
}
