package cairn.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code cairn} without a command: prints the help. */
@Command(
    name = "cairn",
    versionProvider = Version.class,
    customSynopsis = "cairn COMMAND [OPTIONS] [RUN]",
    header = "The black box of JVM applications: what was it doing, and what killed it?%n",
    footer = {
      "RUN is a run id, a part that only one id starts or ends with, or a run's directory.",
      "Without it, a command looks at the newest dead run.",
      "",
      "Every option is also a system property and an environment variable: --older-than is",
      "-Dcairn.older-than (in CAIRN_JAVA_OPTS) and CAIRN_OLDER_THAN. The option wins over the",
      "property, the property over the variable.",
      "",
      "Exit codes:",
      "  0   done; why: the run ended cleanly",
      "  1   why: the run died; doctor: there is a problem; prune: something could not be deleted",
      "  2   the command line is wrong",
      "  3   nothing readable: no directory, no such run, no readable box; or the output failed",
      "  4   why: the run is still running",
      "  70  a defect in cairn itself",
      "",
      "Examples:",
      "  cairn why                    what killed the application that died last",
      "  cairn list                   all runs, newest first",
      "  cairn report -o report.txt   everything that is known about it",
      "  cairn why --help             the options of a command"
    })
final class CairnCommand implements Callable<Integer> {
  private final Session session;

  @Mixin
  @SuppressWarnings("UnusedVariable") // picocli fills it
  private final CommonOptions common;

  @Option(
      names = {"-V", "--version"},
      order = 92,
      versionHelp = true,
      description = "show the version")
  @SuppressWarnings("UnusedVariable") // picocli fills it
  private boolean version;

  @Spec
  @SuppressWarnings("NullAway.Init") // picocli sets it before call()
  private CommandSpec spec;

  CairnCommand(Session session) {
    this.session = session;
    this.common = session.top;
  }

  @Override
  public Integer call() {
    CommandLine commandLine = spec.commandLine();
    session.out.print(commandLine.getUsageMessage(CommandLine.Help.Ansi.OFF));
    return ExitCode.OK;
  }
}
