package cairn.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** {@code cairn journal} without a command of its own: prints the help. */
final class JournalCommand implements Callable<Integer> {
  private final Session session;
  private final CommandSpec spec;

  JournalCommand(Session session) {
    this.session = session;
    this.spec =
        Options.command(
            "journal",
            this,
            new String[] {"Reads a journal, of a living process or a dead one. Changes nothing."},
            new String[] {
              "DIR is the directory that Journal.builder got; a run's directory also has a journal where"
                  + " its",
              "durability is bounded or power.",
              "",
              "Exit codes: 0 read and sound, 1 something is missing or damaged, 2 wrong usage,",
              "3 nothing readable",
              "",
              "Examples:",
              "  cairn journal cat /data/jobs          every entry as a line of JSON",
              "  cairn journal verify /data/jobs       what is damaged or missing",
              "  cairn journal stat /data/jobs         numbers, times, sizes, consumers"
            });
    spec.addOption(Options.help());
    spec.addSubcommand("cat", new CommandLine(new JournalCatCommand(session).spec()));
    spec.addSubcommand("verify", new CommandLine(new JournalVerifyCommand(session).spec()));
    spec.addSubcommand("stat", new CommandLine(new JournalStatCommand(session).spec()));
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
