package cairn.cli;

import cairn.report.Report;
import cairn.report.Witness;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** {@code cairn report}. */
final class ReportCommand implements Callable<Integer> {
  private final Session session;

  private final RunSource source;
  private final OptionSpec text = Options.flag("as text (default)", "--text");
  private final ExitCodeOption exitCode = new ExitCodeOption();
  private final OptionSpec json = Options.flag("as JSON", "--json");
  private final OptionSpec output =
      Options.value(
          String.class, "FILE", "write to FILE, replacing it, instead of stdout", "-o", "--output");

  private final CommandSpec spec;

  ReportCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the dead run that was seen last");
    this.spec =
        Options.command(
            "report",
            this,
            new String[] {"Prints everything that is known about a run."},
            new String[] {
              "Exit codes: 0 printed, 2 wrong usage, 3 nothing readable or output failed",
              "",
              "Examples:",
              "  cairn report                      the run that died last, as text",
              "  cairn report 7f3a9c01 | less      one run",
              "  cairn report --json -o run.json   as JSON into a file that only you can read"
            });
    spec.addOption(text);
    spec.addOption(json);
    spec.addOption(output);
    exitCode.addTo(spec);
    source.addOneTo(spec);
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    boolean asJson = isJson();
    @Nullable Witness witness = exitCode.witness();
    String target = Options.text(output);
    Path file = target == null || target.equals("-") ? null : file(target);
    Report report = RunSource.read(source.select(false), witness);
    if (file == null) {
      write(report, asJson, session.out);
      return ExitCode.OK;
    }
    try (OutputStream out = create(file)) {
      PrintStream print =
          new PrintStream(new BufferedOutputStream(out), false, StandardCharsets.UTF_8);
      write(report, asJson, print);
      if (print.checkError()) {
        throw new IOException("write error");
      }
    } catch (IOException e) {
      throw CliException.unreadable(
          "report cannot be written: file="
              + file
              + ", error="
              + RunSource.describe(e)
              + " (choose another file with -o)");
    }
    session.err.println("cairn: report written: file=" + Escape.line(file.toString()));
    return ExitCode.OK;
  }

  /** An option on the command line wins over the other one from the environment. */
  private boolean isJson() {
    if (!Options.isSet(text) || !Options.isSet(json)) {
      return Options.isSet(json);
    }
    ParseResult given = spec.commandLine().getParseResult();
    boolean textGiven = given.hasMatchedOption(text);
    boolean jsonGiven = given.hasMatchedOption(json);
    if (textGiven && jsonGiven) {
      throw CliException.usage(
          "options exclude each other: option=--text, option=--json (give one of them)");
    }
    return jsonGiven;
  }

  private static Path file(String text) {
    if (text.isEmpty()) {
      throw CliException.usage("empty value: option=--output (give a file, or - for stdout)");
    }
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: option=--output, value=" + text + " (give a file)");
    }
  }

  private static void write(Report report, boolean asJson, PrintStream out) throws IOException {
    if (asJson) {
      report.writeJson(out);
      out.println();
    } else {
      TextOutput.print(out, report.toText());
    }
  }

  /** A report holds what the application recorded, so a new file is its owner's alone. */
  static OutputStream create(Path file) throws IOException {
    if (!Files.exists(file)
        && Files.getFileStore(parent(file)).supportsFileAttributeView("posix")) {
      Files.createFile(
          file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    }
    return Files.newOutputStream(file);
  }

  private static Path parent(Path file) {
    Path parent = file.toAbsolutePath().getParent();
    return parent == null ? file : parent;
  }
}
