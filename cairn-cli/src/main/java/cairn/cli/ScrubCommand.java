package cairn.cli;

import cairn.Redaction;
import cairn.report.Run;
import cairn.report.Scrubbed;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn scrub}. */
final class ScrubCommand implements Callable<Integer> {
  private final Session session;

  private final RunSource source;
  private final OptionSpec all =
      Options.flag("every dead run; with --app, of one application", "--all");
  private final OptionSpec keys =
      Options.repeated(
          "NAME",
          "values under this key are secret too; found in any case and joining (may be repeated)",
          "--key");
  private final OptionSpec texts =
      Options.repeated(
          "TEXT", "this text is secret wherever a report shows it (may be repeated)", "--text");
  private final OptionSpec dryRun =
      Options.flag("say what would be done, change nothing", "--dry-run");
  private final OptionSpec json = Options.flag("print a JSON array", "--json");

  private final List<Map<String, @Nullable Object>> rows = new ArrayList<>();
  private int changed;
  private int failed;
  private int running;

  ScrubCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the dead run that was seen last");
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "scrub",
            this,
            new String[] {
              "Erases from dead runs what no report shows, and redacts secrets in what it shows.",
              "",
              "Erased: old values of the scope, closed spans, older breadcrumbs, what is damaged. Redacted:",
              "what the recorder redacts by default, in runs recorded without that, and what --key and --text",
              "add. The report says everything else as before, and that the run was scrubbed. This cannot be",
              "undone. The kept copy of hsperfdata is deleted. Other files are left alone: the JVM's own hs_err",
              "file, a core dump, a heap dump, copies and backups of the box."
            },
            new String[] {
              "Exit codes: 0 done or nothing to do, 1 a run could not be scrubbed, 2 wrong usage,",
              "            3 no such run or directory, 4 still running",
              "",
              "Examples:",
              "  cairn scrub                  the run that died last",
              "  cairn scrub --all --dry-run  what there is to scrub in all dead runs",
              "  cairn scrub orders --key iban --key customerName",
              "  cairn scrub 7f3a9c01 --text 'Anna Example'"
            });
    spec.addOption(all);
    spec.addOption(keys);
    spec.addOption(texts);
    spec.addOption(dryRun);
    spec.addOption(json);
    source.addSeveralTo(spec);
    return spec;
  }

  @Override
  public Integer call() {
    Redaction redaction = redaction();
    boolean everyRun = Options.isSet(all);
    for (Run run : runs(everyRun)) {
      if (run.isRunning()) {
        running++;
        if (!everyRun) {
          session.error(
              "run is still running: run="
                  + name(run)
                  + " (scrub it when it has ended; a removed or cleared scope field is erased by the"
                  + " recorder within a minute)");
        }
      } else {
        scrub(run, redaction);
      }
    }
    if (Options.isSet(json)) {
      session.out.println(Json.lines(rows));
    } else if (everyRun) {
      summary();
    }
    if (failed > 0) {
      return ExitCode.FOUND;
    }
    return running > 0 && !everyRun ? ExitCode.RUNNING : ExitCode.OK;
  }

  private List<Run> runs(boolean everyRun) {
    List<Run> named = source.named();
    if (everyRun) {
      if (!named.isEmpty()) {
        throw CliException.usage("options exclude each other: option=RUN, option=--all (give one)");
      }
      return source.runs();
    }
    return named.isEmpty() ? List.of(source.select(false)) : named;
  }

  private Redaction redaction() {
    Redaction redaction = Redaction.standard();
    for (String key : Options.texts(keys)) {
      try {
        redaction = redaction.keys(key);
      } catch (IllegalArgumentException e) {
        throw CliException.usage(
            "invalid value: option=--key, value=" + key + " (give a name with a letter or digit)");
      }
    }
    for (String text : Options.texts(texts)) {
      if (text.isBlank()) {
        throw CliException.usage("empty value: option=--text (give the text that is secret)");
      }
      String stars = "*".repeat(text.getBytes(StandardCharsets.UTF_8).length);
      redaction = redaction.rule((key, shown) -> shown.replace(text, stars));
    }
    return redaction;
  }

  private void scrub(Run run, Redaction redaction) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("id", run.id());
    row.put("app", run.app());
    rows.add(row);
    try {
      Scrubbed scrubbed = isDryRun() ? run.scrubPreview(redaction) : run.scrub(redaction);
      changed += scrubbed.changed() ? 1 : 0;
      row.put("changed", scrubbed.changed() && !isDryRun());
      row.put("valuesRedacted", scrubbed.valuesRedacted());
      row.put("bytesErased", scrubbed.bytesErased());
      if (!Options.isSet(json)) {
        session.out.println(line(run, scrubbed));
      }
    } catch (IOException | IllegalStateException e) {
      failed++;
      String error =
          e instanceof IOException failure ? RunSource.describe(failure) : "it is alive again";
      row.put("error", error);
      session.error("run not scrubbed: run=" + name(run) + ", error=" + error + " (look into it)");
    }
  }

  private String line(Run run, Scrubbed scrubbed) {
    if (!scrubbed.changed()) {
      return Escape.line("nothing to scrub in " + name(run));
    }
    return Escape.line((isDryRun() ? "would scrub " : "scrubbed ") + name(run))
        + ": "
        + scrubbed.valuesRedacted()
        + (scrubbed.valuesRedacted() == 1 ? " value" : " values")
        + " redacted, "
        + Units.size(scrubbed.bytesErased())
        + " erased";
  }

  private void summary() {
    session.out.println(
        (isDryRun() ? "would scrub " : "scrubbed ")
            + changed
            + " of "
            + rows.size()
            + " dead, "
            + running
            + " running");
  }

  private boolean isDryRun() {
    return Options.isSet(dryRun);
  }

  private static String name(Run run) {
    return run.app() + "/" + run.id();
  }
}
