package cairn.cli;

import cairn.report.Report;
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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code cairn report}. */
@Command(
    name = "report",
    description = "Prints everything that is known about a run.",
    footer = {
      "Exit codes: 0 printed, 2 wrong usage, 3 nothing readable or output failed",
      "",
      "Examples:",
      "  cairn report                      the newest dead run as text",
      "  cairn report 7f3a9c01 | less      one run",
      "  cairn report --json -o run.json   as JSON into a file that only you can read"
    })
final class ReportCommand implements Callable<Integer> {
  private final Session session;

  @Mixin private final RunSource source;

  @Parameters(
      arity = "0..1",
      paramLabel = "RUN",
      description = "run id, a part of one, or a run's directory (default: the newest dead run)")
  private @Nullable String run;

  @Option(names = "--text", order = 1, fallbackValue = "true", description = "as text (default)")
  private boolean text;

  @Option(names = "--json", order = 2, fallbackValue = "true", description = "as JSON")
  private boolean json;

  @Option(
      names = {"-o", "--output"},
      order = 3,
      paramLabel = "FILE",
      description = "write to FILE, replacing it, instead of stdout")
  private @Nullable String output;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  private CommandSpec spec;

  ReportCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session);
  }

  @Override
  public Integer call() throws IOException {
    boolean asJson = isJson();
    Path file = output == null || output.equals("-") ? null : file(output);
    Report report = RunSource.read(source.select(run, false));
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
    boolean textOption = spec.commandLine().getParseResult().hasMatchedOption("--text");
    boolean jsonOption = spec.commandLine().getParseResult().hasMatchedOption("--json");
    if (textOption && jsonOption && text && json) {
      throw CliException.usage("options exclude each other: option=--text, option=--json");
    }
    return jsonOption || (json && !textOption);
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
  private static OutputStream create(Path file) throws IOException {
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
