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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn vitals}. */
final class VitalsCommand implements Callable<Integer> {
  private final Session session;

  private final RunSource source;
  private final OptionSpec json =
      Options.flag("print every sample, oldest first, as a JSON array", "--json");

  VitalsCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the dead run that was seen last");
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "vitals",
            this,
            new String[] {
              "Shows heap, memory, collections, threads and files of a run's last minutes."
            },
            new String[] {
              "Exit codes: 0 printed (maybe no sample), 2 wrong usage, 3 nothing readable",
              "",
              "Examples:",
              "  cairn vitals                 the run that died last",
              "  cairn vitals --json | jq -r '.[] | [.at, .heapUsed, .rss] | @tsv'"
            });
    spec.addOption(json);
    source.addOneTo(spec);
    return spec;
  }

  @Override
  public Integer call() {
    Report report = RunSource.read(source.select(false));
    if (Options.isSet(json)) {
      session.out.println(Json.lines(rows(report)));
    } else {
      session.out.println(RunLine.of(report, session.surroundings.clock()));
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
