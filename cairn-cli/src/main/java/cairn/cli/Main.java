package cairn.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;

/** The {@code cairn} command. */
public final class Main {
  /** In the order of the help. */
  private static final List<String> COMMANDS =
      List.of(
          "demo", "list", "why", "report", "tail", "vitals", "run", "watch", "note", "journal",
          "profile", "doctor", "export", "import", "scrub", "prune");

  private Main() {}

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    System.exit(
        run(
            args,
            new FileOutputStream(FileDescriptor.out),
            new FileOutputStream(FileDescriptor.err),
            Surroundings.ofThisProcess()));
  }

  /** {@return the exit code of the command line {@code args}} */
  static int run(String[] args, OutputStream out, OutputStream err, Surroundings surroundings) {
    Session session = new Session(out, err, surroundings);
    String[] words = withHelpAsOption(args);
    int exitCode;
    try {
      exitCode = commandLine(session, words).execute(words);
    } catch (OutOfMemoryError e) {
      session.error(
          "out of memory: maxHeap="
              + Units.size(Runtime.getRuntime().maxMemory())
              + " (give it more: CAIRN_JAVA_OPTS=-Xmx2g)");
      exitCode = ExitCode.INTERNAL;
    }
    return session.finish(exitCode);
  }

  /** {@code cairn help list} is {@code cairn list --help}. */
  private static String[] withHelpAsOption(String[] args) {
    if (args.length == 0 || !args[0].equals("help")) {
      return args;
    }
    String[] words = Arrays.copyOfRange(args, 1, args.length + 1);
    words[words.length - 1] = "--help";
    return words;
  }

  private static CommandLine commandLine(Session session, String[] args) {
    CommandLine top = new CommandLine(new CairnCommand(session).spec());
    // One command is enough to run it; all are needed to list or to suggest them.
    String only = args.length > 0 && COMMANDS.contains(args[0]) ? args[0] : null;
    for (String name : COMMANDS) {
      if (only == null || only.equals(name)) {
        top.addSubcommand(name, command(session, name));
      }
    }
    UsageErrors errors = new UsageErrors(session);
    // What a person types is never expanded: no @files, no ${variables}, no colour.
    return top.setExpandAtFiles(false)
        .setInterpolateVariables(false)
        .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
        .setUsageHelpWidth(100)
        .setDefaultValueProvider(new SettingsAsDefaults(session.surroundings))
        .setOut(new PrintWriter(session.out, true, StandardCharsets.UTF_8))
        .setErr(new PrintWriter(session.err, true, StandardCharsets.UTF_8))
        .setParameterExceptionHandler(errors)
        .setExecutionExceptionHandler(errors);
  }

  private static CommandSpec command(Session session, String name) {
    return switch (name) {
      case "demo" -> new DemoCommand(session).spec();
      case "list" -> new ListCommand(session).spec();
      case "why" -> new WhyCommand(session).spec();
      case "report" -> new ReportCommand(session).spec();
      case "tail" -> new TailCommand(session).spec();
      case "vitals" -> new VitalsCommand(session).spec();
      case "run" -> new RunCommand(session).spec();
      case "watch" -> new WatchCommand(session).spec();
      case "note" -> new NoteCommand(session).spec();
      case "journal" -> new JournalCommand(session).spec();
      case "doctor" -> new DoctorCommand(session).spec();
      case "profile" -> new ProfileCommand(session).spec();
      case "export" -> new ExportCommand(session).spec();
      case "import" -> new ImportCommand(session).spec();
      case "scrub" -> new ScrubCommand(session).spec();
      case "prune" -> new PruneCommand(session).spec();
      default -> throw new AssertionError(name);
    };
  }
}
