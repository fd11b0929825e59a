package cairn.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** {@code cairn import} without a command of its own: prints the help. */
final class ImportCommand implements Callable<Integer> {
  private final Session session;
  private final CommandSpec spec;

  ImportCommand(Session session) {
    this.session = session;
    this.spec =
        Options.command(
            "import",
            this,
            new String[] {"Reads what another recorder left behind, as a report. Changes nothing."},
            new String[] {
              "Exit codes: 0 printed, 2 wrong usage, 3 nothing readable or output failed",
              "",
              "Examples:",
              "  cairn import sentry /var/cache/orders        the cacheDirPath of sentry-java"
            });
    spec.addOption(Options.help());
    spec.addSubcommand("sentry", new CommandLine(new ImportSentryCommand(session).spec()));
  }

  CommandSpec spec() {
    return spec;
  }

  @Override
  public Integer call() {
    session.out.print(spec.commandLine().getUsageMessage(CommandLine.Help.Ansi.OFF));
    return ExitCode.OK;
  }
}
