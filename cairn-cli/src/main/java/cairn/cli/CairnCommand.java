package cairn.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn} without a command: prints the help. */
final class CairnCommand implements Callable<Integer> {
  private final Session session;
  private final CommandSpec spec;

  CairnCommand(Session session) {
    this.session = session;
    this.spec =
        Options.command(
            "cairn",
            this,
            new String[0],
            new String[] {
              "RUN is a run id, a part that only one id starts or ends with, a run's directory, or the name",
              "of an application, for its newest dead run. Without RUN: the dead run that was seen last.",
              "",
              "Every option is also a system property and an environment variable: --older-than is",
              "-Dcairn.older-than (in CAIRN_JAVA_OPTS) and CAIRN_OLDER_THAN. The option wins over the",
              "property, the property over the variable. (Not --key and --text of scrub, --header of export.)",
              "",
              "Exit codes:",
              "  0   done; why: the run ended in order: a return, System.exit or a signal",
              "  1   why: the run died; doctor: there is a problem; journal: something is missing or damaged;",
              "      profile, export, prune, scrub: something could not be done",
              "  2   the command line is wrong",
              "  3   nothing readable: no directory, no such run, no readable box or journal; or the output failed",
              "  4   why, export, scrub: the run is still running",
              "  70  a defect in cairn itself",
              "",
              "Examples:",
              "  cairn why                    what killed the application that died last",
              "  cairn list                   all runs, newest first",
              "  cairn report -o report.txt   everything that is known about it",
              "  cairn why --help             the options of a command"
            });
    spec.usageMessage()
        .header("The black box of JVM applications: what was it doing, and what killed it?%n")
        .customSynopsis("cairn COMMAND [OPTIONS] [RUN]");
    spec.versionProvider(new Version());
    session.top.addTo(spec);
    spec.addOption(
        OptionSpec.builder("-V", "--version")
            .type(boolean.class)
            .versionHelp(true)
            .description("show the version")
            .build());
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
