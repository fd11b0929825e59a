package cairn.cli;

import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code cairn export}. */
final class ExportCommand implements Callable<Integer> {
  private final Session session;

  private final RunSource source;
  private final OptionSpec file =
      Options.value(
          String.class,
          "FILE",
          "append JSON lines to FILE, or put two files for each run into FILE if it is a directory"
              + " or ends with /; - for stdout",
          "--otlp-file");
  private final OptionSpec endpoint =
      Options.value(
          String.class,
          "URL",
          "send to a receiver of OTLP over HTTP, such as http://127.0.0.1:4318",
          "--otlp-endpoint");
  private final OptionSpec headers =
      Options.repeated(
          "NAME=VALUE",
          "send this header too (may be repeated); secrets rather in the variable"
              + " OTEL_EXPORTER_OTLP_HEADERS",
          "--header");
  private final SentrySettings sentry;
  private final OptionSpec dryRun =
      Options.flag(
          "with --sentry: print the envelope as it would be sent, send and mark nothing",
          "--dry-run");
  private final OptionSpec all =
      Options.flag(
          "every run that died and was not exported yet; with --app, of one application",
          "--all-dead");
  private final OptionSpec clean =
      Options.flag("with --all-dead: runs that ended in order too", "--clean");

  private final CommandSpec spec;

  private int exported;
  private int failed;
  private int running;
  private int notYet;
  private int left;
  private boolean outputFailed;

  ExportCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the dead run that was seen last");
    this.sentry = new SentrySettings(session, "send each death as an event to this DSN of Sentry");
    this.spec =
        Options.command(
            "export",
            this,
            new String[] {
              "Exports dead runs: as OpenTelemetry's traces and logs, or as events of Sentry.",
              "",
              "For OpenTelemetry, open spans become spans that end with an error at the last sign of"
                  + " life,",
              "breadcrumbs log records, the death the event app.crash with the run id as"
                  + " app.crash.id. For",
              "Sentry, a death is one event with the scope, the breadcrumbs and the open spans of"
                  + " the run:",
              "what the application recorded goes there, so scrub first what must not. A run that"
                  + " ended in",
              "order has no app.crash and is no event.",
              "",
              "At least once: what was exported is marked after it was written and forced, or"
                  + " answered by",
              "the endpoint, and --all-dead leaves it out from then on. A run that is named is"
                  + " exported",
              "whatever its mark; to stdout that is a look, and sets none. Exported again, all ids"
                  + " are",
              "the same. A run that Sentry or a proxy refused is kept, and --all-dead tries it again"
                  + " after",
              "10 min, then ever more rarely, for 30 days."
            },
            new String[] {
              "Exit codes: 0 exported or nothing to export, 1 a run could not be exported, 2 wrong"
                  + " usage,",
              "            3 no such run or directory, or the output failed, 4 still running",
              "",
              "Examples:",
              "  cairn export --otlp-file /var/spool/otlp/ --all-dead   for the Collector's"
                  + " otlpjsonfile",
              "  cairn export --otlp-file deaths.jsonl 7f3a9c01         one run, behind what is"
                  + " there",
              "  cairn export --otlp-file - | jq .                      a look at the run that died"
                  + " last",
              "  cairn export --otlp-endpoint http://127.0.0.1:4318 --all-dead",
              "  cairn export --sentry env --all-dead                   each death to SENTRY_DSN",
              "  cairn export --sentry env --dry-run                    a look at what that sends"
            });
    spec.addOption(file);
    spec.addOption(endpoint);
    spec.addOption(headers);
    sentry.addTo(spec);
    spec.addOption(dryRun);
    spec.addOption(all);
    spec.addOption(clean);
    source.addSeveralTo(spec);
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() {
    ExportTarget target = target();
    List<Run> named = source.named();
    boolean everyRun = Options.isSet(all);
    if (everyRun) {
      if (!named.isEmpty()) {
        throw CliException.usage(
            "options exclude each other: option=RUN, option=--all-dead (give one)");
      }
      exportAll(target);
    } else {
      if (Options.isSet(clean) && spec.commandLine().getParseResult().hasMatchedOption(clean)) {
        throw CliException.usage(
            "option without another: option=--clean, needs=--all-dead (give both, or name a run)");
      }
      for (Run run : named.isEmpty() ? List.of(source.select(false)) : named) {
        exportNamed(run, target);
      }
    }
    if (outputFailed) {
      return ExitCode.UNREADABLE;
    }
    if (failed > 0 || left > 0) {
      return ExitCode.FOUND;
    }
    return running > 0 && !everyRun ? ExitCode.RUNNING : ExitCode.OK;
  }

  // Where to

  private ExportTarget target() {
    OptionSpec chosen = chosen();
    if (chosen.equals(sentry.dsn())) {
      requireNoHeaders();
      return new SentryTarget(sentry.endpoint(), session, Options.isSet(dryRun));
    }
    sentry.requireUnused(spec);
    if (Options.isSet(dryRun)) {
      // Also from the environment: who asked for a look must not get an export.
      throw CliException.usage(
          "option without another: option=--dry-run, needs=--sentry (give both, or"
              + " --otlp-file -)");
    }
    if (chosen.equals(endpoint)) {
      return OtlpEndpoint.of(
          String.valueOf(Options.text(endpoint)), Options.texts(headers), session);
    }
    requireNoHeaders();
    return file(String.valueOf(Options.text(file)));
  }

  private void requireNoHeaders() {
    if (!Options.texts(headers).isEmpty()) {
      throw CliException.usage(
          "option without another: option=--header, needs=--otlp-endpoint (give both)");
    }
  }

  /** {@return the one target that was given; on the command line, or else in the environment} */
  private OptionSpec chosen() {
    ParseResult given = spec.commandLine().getParseResult();
    List<OptionSpec> all = List.of(file, endpoint, sentry.dsn());
    List<OptionSpec> set = all.stream().filter(each -> Options.text(each) != null).toList();
    List<OptionSpec> here = set.stream().filter(given::hasMatchedOption).toList();
    List<OptionSpec> candidates = here.isEmpty() ? set : here;
    if (candidates.isEmpty()) {
      requireNoHeaders();
      sentry.requireUnused(spec);
      throw CliException.usage(
          "missing option: option=--otlp-file, --otlp-endpoint or --sentry (say where to; see:"
              + " cairn export --help)");
    }
    if (candidates.size() > 1) {
      throw CliException.usage(
          "options exclude each other: option="
              + candidates.get(0).longestName()
              + ", option="
              + candidates.get(1).longestName()
              + " (give one)");
    }
    return candidates.get(0);
  }

  private ExportTarget file(String text) {
    if (text.isEmpty()) {
      throw CliException.usage(
          "empty value: option=--otlp-file (give a file, a directory, or - for stdout)");
    }
    if (text.equals("-")) {
      return new ExportTarget.StandardOutput(session);
    }
    Path path;
    try {
      path = Path.of(text);
    } catch (InvalidPathException e) {
      throw CliException.usage(
          "invalid path: option=--otlp-file, value=" + text + " (give a file or a directory)");
    }
    return text.endsWith("/") || Files.isDirectory(path)
        ? new ExportTarget.Directory(path)
        : new ExportTarget.AppendedFile(path);
  }

  // What

  private void exportNamed(Run run, ExportTarget target) {
    if (run.isRunning()) {
      sayRunning(run);
      return;
    }
    Report report = RunSource.read(run);
    if (report.verdict().cause() == Cause.RUNNING) {
      sayRunning(run);
    } else if (!target.wants(report)) {
      session.err.println(
          Escape.line(
              "cairn: nothing to send, it ended in order: run="
                  + name(run)
                  + ", cause="
                  + report.verdict().cause()));
    } else {
      export(run, report, target, !target.isLook());
    }
  }

  private void sayRunning(Run run) {
    running++;
    session.error("run is still running: run=" + name(run) + " (export it when it has ended)");
  }

  private void exportAll(ExportTarget target) {
    List<Run> runs = source.runs();
    if (runs.isEmpty() && source.app() != null) {
      session.error("no run of that application: app=" + source.app() + " (see: cairn list)");
    }
    Collections.reverse(runs); // the oldest death first, as they happened
    int dead = 0;
    int elsewhere = 0;
    for (Run run : runs) {
      if (run.isRunning()) {
        running++;
        continue;
      }
      dead++;
      ExportTarget.Due due = target.due(run);
      if (due != ExportTarget.Due.NOW) {
        notYet += due == ExportTarget.Due.NOT_YET ? 1 : 0;
        continue;
      }
      if (target.isClosed()) {
        left++;
        continue;
      }
      try {
        // Whether it lives can only be told there.
        if (run.isElsewhere()) {
          elsewhere++;
          continue;
        }
        Report report = run.report();
        boolean isWanted = Options.isSet(clean) || !report.endedWell();
        if (isWanted && report.verdict().cause() != Cause.RUNNING && target.wants(report)) {
          export(run, report, target, true);
        }
      } catch (IOException e) {
        sayFailed(run, e, "look into it");
      }
    }
    session.err.println(
        "cairn: exported "
            + exported
            + " of "
            + dead
            + " dead, "
            + running
            + " running"
            + (elsewhere == 0 ? "" : ", " + elsewhere + " of other machines left alone")
            + (notYet == 0 ? "" : ", " + notYet + " refused before and kept")
            + (left == 0 ? "" : ", " + left + " not tried after that"));
  }

  private void export(Run run, Report report, ExportTarget target, boolean isDelivery) {
    String taken;
    try {
      taken = target.take(run, report);
    } catch (IOException e) {
      outputFailed |= target.isOutput();
      sayFailed(run, e, "nothing is lost: export it again");
      return;
    }
    exported++;
    session.err.println(
        Escape.line(
            "cairn: exported: run="
                + name(run)
                + ", cause="
                + report.verdict().cause()
                + ", "
                + taken
                + ", to="
                + target.name()));
    if (isDelivery) {
      mark(run, target);
    }
  }

  private void mark(Run run, ExportTarget target) {
    try {
      target.mark(run, session.surroundings.clock().instant());
    } catch (IOException e) {
      failed++;
      session.error(
          "export not marked: run="
              + name(run)
              + ", error="
              + RunSource.describe(e)
              + " (it will be exported again, with the same ids)");
    }
  }

  private void sayFailed(Run run, IOException e, String remedy) {
    failed++;
    session.error(
        "run not exported: run="
            + name(run)
            + ", error="
            + RunSource.describe(e)
            + " ("
            + remedy
            + ")");
  }

  private static String name(Run run) {
    return run.app() + "/" + run.id();
  }
}
