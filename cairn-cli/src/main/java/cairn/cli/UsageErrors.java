package cairn.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns every exception into one line on stderr and an exit code. */
final class UsageErrors implements IParameterExceptionHandler, IExecutionExceptionHandler {
  private final Session session;

  UsageErrors(Session session) {
    this.session = session;
  }

  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    String see = "see: " + command.getCommandSpec().qualifiedName(" ") + " --help";
    if (e instanceof UnmatchedArgumentException unmatched) {
      session.error(unmatched(unmatched, command, see));
    } else if (e instanceof MissingParameterException missing && !missing.getMissing().isEmpty()) {
      ArgSpec first = missing.getMissing().get(0);
      session.error(
          (first.isOption() ? "no value: option=" : "missing argument: argument=")
              + name(first)
              + " ("
              + see
              + ")");
    } else if (e.getArgSpec() != null && e.getValue() != null) {
      session.error(
          "invalid value: option="
              + name(e.getArgSpec())
              + ", value="
              + e.getValue()
              + " (expected "
              + expected(e.getArgSpec())
              + "; "
              + see
              + ")");
    } else {
      session.error("wrong usage: " + e.getMessage() + " (" + see + ")");
    }
    return ExitCode.USAGE;
  }

  private static String unmatched(UnmatchedArgumentException e, CommandLine command, String see) {
    String argument = e.getUnmatched().get(0);
    List<String> suggestions = e.getSuggestions();
    String hint = suggestions.isEmpty() ? see : "did you mean " + suggestions.get(0) + "? " + see;
    if (e.isUnknownOption()) {
      return "unknown option: option=" + argument + " (" + hint + ")";
    }
    boolean takesCommands = !command.getSubcommands().isEmpty();
    return takesCommands
        ? "unknown command: command=" + argument + " (" + hint + ")"
        : "unexpected argument: argument=" + argument + " (" + see + ")";
  }

  private static String name(ArgSpec argument) {
    return argument instanceof OptionSpec option ? option.longestName() : argument.paramLabel();
  }

  private static String expected(ArgSpec argument) {
    Class<?> type = argument.type();
    if (type == int.class || type == Integer.class || type == Long.class) {
      return "a whole number";
    }
    if (type == Double.class) {
      return "a number";
    }
    return type == boolean.class ? "true or false" : argument.paramLabel();
  }

  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult result) {
    if (e instanceof CliException known) {
      session.error(String.valueOf(known.getMessage()));
      return known.exitCode();
    }
    Throwable cause = e instanceof UncheckedIOException ? e.getCause() : e;
    if (cause instanceof IOException io) {
      session.error(
          "input or output failed: error=" + RunSource.describe(io) + " (see: cairn doctor)");
      return ExitCode.UNREADABLE;
    }
    StackTraceElement[] stack = e.getStackTrace();
    session.error(
        "defect in cairn: exception="
            + e
            + (stack.length == 0 ? "" : ", at=" + stack[0])
            + " (please report it with the command line)");
    return ExitCode.INTERNAL;
  }
}
