package cairn.cli;

import cairn.report.Cause;
import cairn.report.Finding;
import cairn.report.Report;
import cairn.report.ReportPart;
import cairn.report.Run;
import cairn.report.Witness;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn why}. */
final class WhyCommand implements Callable<Integer> {
  private final Session session;

  private final RunSource source;
  private final ExitCodeOption exitCode = new ExitCodeOption();
  private final OptionSpec json = Options.flag("print the report as JSON", "--json");

  WhyCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the dead run that was seen last");
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "why",
            this,
            new String[] {
              "Says what ended a run, what was open at that moment, why, and what to look at next."
            },
            new String[] {
              "Exit codes: 0 clean end, 1 died or exited with another status than 0, 2 wrong usage,",
              "3 nothing readable, 4 still running",
              "",
              "Examples:",
              "  cairn why                    the run that died last",
              "  cairn why orders             the newest dead run of one application",
              "  cairn why 7f3a9c01           the run whose id ends so",
              "  cairn why --exit-code 137    its exit code is known from elsewhere",
              "  cairn why --json | jq -r .verdict.cause"
            });
    spec.addOption(json);
    exitCode.addTo(spec);
    source.addOneTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    @Nullable Witness witness = exitCode.witness();
    Run selected = source.select(false);
    Report report = RunSource.read(selected, witness);
    if (Options.isSet(json)) {
      report.writeJson(session.out);
      session.out.println();
    } else {
      printText(selected, report);
    }
    Cause cause = report.verdict().cause();
    if (cause == Cause.RUNNING) {
      return ExitCode.RUNNING;
    }
    return report.endedWell() ? ExitCode.OK : ExitCode.FOUND;
  }

  private void printText(Run selected, Report report) {
    List<ReportPart> parts = new ArrayList<>();
    parts.add(ReportPart.HEADLINE);
    parts.add(ReportPart.OPEN_SPANS);
    if (!report.pressure().isEmpty()) {
      parts.add(ReportPart.PRESSURE);
    }
    parts.add(ReportPart.EVIDENCE);
    if (!report.advice().isEmpty()) {
      parts.add(ReportPart.ADVICE);
    }
    for (Finding finding : report.findings()) {
      if (finding.severity() != Finding.Severity.INFO) {
        parts.add(ReportPart.FINDINGS);
        break;
      }
    }
    TextOutput.print(session.out, report.toText(parts.toArray(new ReportPart[0])));
    session.out.println();
    session.out.println(RunLine.of(report, session.surroundings.clock()));
    session.out.println(
        Escape.line("Full report: cairn report " + selected.id() + source.asArgument()));
  }
}
