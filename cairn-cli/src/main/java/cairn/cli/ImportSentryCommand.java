package cairn.cli;

import cairn.report.Report;
import cairn.sentry.SentryFiles;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code cairn import sentry}. */
final class ImportSentryCommand implements Callable<Integer> {
  private static final String REMEDY =
      " (give what cacheDirPath of sentry-java was set to, or a directory in it)";

  private final Session session;
  private final OptionSpec json = Options.flag("one report a line, as JSON", "--json");
  private final PositionalParamSpec directory =
      PositionalParamSpec.builder()
          .index("0")
          .arity("1")
          .required(true)
          .type(String.class)
          .paramLabel("DIR")
          .description(
              "what cacheDirPath was set to, the directory of one DSN in it, or a .scope-cache,"
                  + " .options-cache or outbox itself")
          .build();

  ImportSentryCommand(Session session) {
    this.session = session;
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "sentry",
            this,
            new String[] {
              "Prints what sentry-java left in its cache: scope, breadcrumbs, unsent envelopes,"
                  + " sessions",
              "and crash markers, what is sound of them; one report for each DSN, newest first."
            },
            new String[] {
              "What is damaged is under Findings, with file and offset. No file is changed or"
                  + " locked, no",
              "symbolic link followed. The cause is UNKNOWN unless a crash marker or a session says"
                  + " more.",
              "",
              "Exit codes: 0 printed, 2 wrong usage, 3 nothing readable or output failed",
              "",
              "Examples:",
              "  cairn import sentry /var/cache/orders",
              "  cairn import sentry --json /var/cache/orders | jq '.scope.user, .findings'"
            });
    spec.addOption(json);
    spec.addPositional(directory);
    spec.addOption(Options.help());
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    boolean isFirst = true;
    for (SentryFiles files : read()) {
      Report report = files.toReport();
      if (Options.isSet(json)) {
        report.writeJson(session.out);
        session.out.println();
      } else {
        if (!isFirst) {
          session.out.println();
          session.out.println();
        }
        TextOutput.print(session.out, report.toText());
      }
      isFirst = false;
    }
    return ExitCode.OK;
  }

  private List<SentryFiles> read() {
    String text = directory.getValue();
    Path path;
    try {
      path = Path.of(text).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: DIR=" + text + REMEDY);
    }
    try {
      return SentryFiles.read(path);
    } catch (NoSuchFileException e) {
      throw CliException.unreadable("no such directory: dir=" + path + REMEDY);
    } catch (NotDirectoryException e) {
      throw CliException.unreadable("not a directory: dir=" + path + REMEDY);
    } catch (IOException e) {
      throw CliException.unreadable(RunSource.describe(e) + REMEDY);
    }
  }
}
