package cairn.cli;

import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Witness;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code cairn run}. */
final class RunCommand implements Callable<Integer> {
  /*
   * The command must never be worse off for being run by this: its status is passed through whatever
   * goes wrong here, and what is said comes after its own last word. Nothing is read of its output.
   *
   * Witness is borne twice. Of the child's own run only when its status is known: one witness of a
   * name is written, so a look in between would forestall that. Of all others within a second of
   * their death, since the next JVM of this user deletes their hsperfdata files.
   */

  /** Set by {@code bin/cairn}: what LC_ALL was, which it changes for the JVM that runs this. */
  private static final String CALLERS_LOCALE = "CAIRN_CALLER_LC_ALL";

  private static final int MAX_LINES = 20;
  private static final int LOOKS_FOR_LATE_DEATHS = 10;
  private static final long LATE_DEATH_NANOS = 50_000_000;

  private final Session session;
  private final CommonOptions common;
  private final OptionSpec quiet =
      Options.flag("say nothing about deaths; the evidence is kept all the same", "--quiet");
  private final OptionSpec reportFile =
      Options.value(
          String.class, "FILE", "write what is known as JSON to FILE, replacing it", "--report");
  private final PositionalParamSpec words =
      PositionalParamSpec.builder()
          .index("0..*")
          .arity("1..*")
          .type(List.class)
          .auxiliaryTypes(String.class)
          .paramLabel("CMD")
          .description("the command and its arguments")
          .build();

  RunCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "run",
            this,
            new String[] {
              "Runs a command, and says on stderr what ended it, if it ended badly.",
              "",
              "Its input, output and exit status are passed through; TERM, HUP, INT, USR1 and USR2 go to it.",
              "One line for each JVM that died: of the command itself, and of whatever it started, such as",
              "the test JVMs of Maven or Gradle, if they record with Cairn. Of other commands the exit",
              "status, the kernel's count of OOM kills and an hs_err file are told.",
              "",
              "Ends when the command ends. If cairn run itself is killed, the command goes on."
            },
            new String[] {
              "Exit codes: that of the command, 128+n if signal n ended it; 126 it cannot be run,",
              "            127 there is no such command; 2 wrong usage",
              "",
              "Examples:",
              "  cairn run -- java -jar orders.jar",
              "  cairn run -- mvn -B verify           in CI: names the test in which a test JVM died",
              "  cairn run --report death.json -- ./gradlew test --no-daemon"
            });
    spec.usageMessage().customSynopsis("cairn run [OPTIONS] -- CMD...");
    // What comes behind the command is the command's.
    spec.parser().stopAtPositional(true);
    spec.addPositional(words);
    spec.addOption(quiet);
    spec.addOption(reportFile);
    common.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws InterruptedException {
    List<String> command = Options.texts(words);
    if (command.isEmpty() || command.get(0).isEmpty()) {
      throw CliException.usage("missing argument: argument=CMD (see: cairn run --help)");
    }
    Path file = file();
    Path root = common.root().toAbsolutePath();
    String launcher = HexFormat.of().toHexDigits(new SplittableRandom().nextLong());
    LaunchedRuns runs = new LaunchedRuns(root, launcher, session.surroundings.clock());
    Instant started = session.surroundings.clock().instant();
    OomKills oomKills = new OomKills(session.surroundings.systemRoot());
    try (SignalPasser signals = new SignalPasser()) {
      Process child;
      try {
        child = process(command, root, launcher).start();
      } catch (IOException e) {
        return notStarted(command, e);
      }
      signals.to(child);
      List<LaunchedRuns.Launched> dead = new ArrayList<>();
      while (!child.waitFor(1, TimeUnit.SECONDS)) {
        look(runs, child, dead);
      }
      int status = child.exitValue();
      try {
        look(runs, child, dead);
        for (int i = 0; status != 0 && runs.livingCount() > 0 && i < LOOKS_FOR_LATE_DEATHS; i++) {
          // A group that is killed together does not die at once: a large heap takes its time.
          TimeUnit.NANOSECONDS.sleep(LATE_DEATH_NANOS);
          look(runs, child, dead);
        }
        new Aftermath(command, child, started, status, oomKills, signals).tell(dead, file);
      } catch (RuntimeException | OutOfMemoryError e) {
        session.error("defect in cairn: exception=" + e + " (please report it)");
      }
      return status;
    }
  }

  private @Nullable Path file() {
    String text = Options.text(reportFile);
    try {
      return text == null ? null : Path.of(text);
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: option=--report, value=" + text + " (give a file)");
    }
  }

  private ProcessBuilder process(List<String> command, Path root, String launcher) {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    Map<String, String> environment = builder.environment();
    environment.put(
        LaunchedRuns.VARIABLE,
        LaunchedRuns.variable(environment.getOrDefault(LaunchedRuns.VARIABLE, ""), launcher));
    if (common.isChosenHere()) {
      environment.put(Surroundings.variableName("dir"), root.toString());
    }
    String locale = environment.remove(CALLERS_LOCALE);
    if (locale != null && locale.isEmpty()) {
      environment.remove("LC_ALL");
    } else if (locale != null) {
      environment.put("LC_ALL", locale.substring(1));
    }
    return builder;
  }

  private int notStarted(List<String> command, IOException e) {
    String message = String.valueOf(e.getMessage());
    boolean missing = message.matches("(?s).*error[=:] ?2,? .*");
    String reason = message.substring(Math.max(0, message.lastIndexOf(", ") + 2));
    session.error(
        "command cannot be run: command="
            + Text.cut(command.get(0), 200)
            + ", error="
            + (missing ? "no such command" : reason)
            + (missing ? " (check its name and the PATH)" : " (check the file's permissions)"));
    return missing ? ExitStatus.NOT_FOUND : ExitStatus.NOT_RUNNABLE;
  }

  private void look(LaunchedRuns runs, Process child, List<LaunchedRuns.Launched> dead) {
    for (LaunchedRuns.Launched died : runs.look()) {
      dead.add(died);
      if (!died.isOf(child.pid(), namespace())) {
        witness(died, Witness.by("run"));
      }
    }
  }

  private @Nullable String namespace() {
    try {
      return Files.readSymbolicLink(session.surroundings.systemRoot().resolve("proc/self/ns/pid"))
          .toString();
    } catch (IOException | UnsupportedOperationException e) {
      return null;
    }
  }

  private void witness(LaunchedRuns.Launched died, Witness witness) {
    try {
      died.run().witness(witness);
    } catch (IOException e) {
      session.error(
          "evidence not kept: run="
              + died.run()
              + ", error="
              + RunSource.describe(e)
              + " (the report goes without it)");
    } catch (IllegalStateException e) {
      // Its process is there after all, in shutdown hooks behind the recorder's.
    }
  }

  /** What is said when the child has ended. */
  private final class Aftermath {
    private final List<String> command;
    private final Process child;
    private final int status;
    private final OomKills oomKills;
    private final boolean wasAskedToStop;
    private final CrashFiles crashFiles;
    private final Map<String, @Nullable Object> document = new LinkedHashMap<>();
    private final List<Map<String, @Nullable Object>> rows = new ArrayList<>();
    private int lines;

    Aftermath(
        List<String> command,
        Process child,
        Instant started,
        int status,
        OomKills oomKills,
        SignalPasser signals) {
      this.command = command;
      this.child = child;
      this.status = status;
      this.oomKills = oomKills;
      String signal = ExitStatus.signal(status);
      this.wasAskedToStop = signal != null && signals.hasReceived(signal);
      this.crashFiles = new CrashFiles(Path.of("").toAbsolutePath(), Path.of("/tmp"), started);
      document.put("command", command);
      document.put("pid", child.pid());
      document.put("status", status);
      if (signal != null) {
        document.put("signal", "SIG" + signal);
      }
      document.put("startedAt", started);
      document.put("endedAt", session.surroundings.clock().instant());
      oomKills.onNode().ifPresent(kills -> document.put("oomKillsOnHost", kills));
      oomKills.inGroup().ifPresent(kills -> document.put("oomKillsInCgroup", kills));
    }

    void tell(List<LaunchedRuns.Launched> dead, @Nullable Path file) {
      int told = 0;
      for (LaunchedRuns.Launched died : dead) {
        boolean isChild = died.isOf(child.pid(), namespace());
        if (isChild) {
          witness(died, Witness.by("run").exitStatus(status));
        }
        told += tell(died, isChild) ? 1 : 0;
      }
      Path crashFile = crashFiles.of(child.pid());
      if (crashFile != null) {
        document.put("crashFile", crashFile.toString());
      }
      if (told == 0 && status != 0 && !wasAskedToStop) {
        say(withoutRun(crashFile));
      }
      if (lines > MAX_LINES) {
        session.error(
            (lines - MAX_LINES) + " more died (see: cairn list" + common.asArgument() + ")");
      }
      if (file != null) {
        document.put("runs", rows);
        write(file);
      }
    }

    /** {@return whether there was something to say} */
    private boolean tell(LaunchedRuns.Launched died, boolean isChild) {
      Report report;
      try {
        report = died.run().report();
      } catch (IOException e) {
        say(
            DeathLine.who(died.identity())
                + ": no readable box: error="
                + RunSource.describe(e)
                + " (see: cairn doctor)");
        return true;
      }
      boolean bad = isBad(report, isChild);
      row(died, report, isChild, bad);
      if (bad) {
        say(
            DeathLine.who(died.identity())
                + (isChild ? ", exit status " + status : "")
                + ": "
                + DeathLine.what(report)
                + " (cairn why "
                + DeathLine.shortId(died.run().id())
                + common.asArgument()
                + ")");
      }
      return bad;
    }

    private boolean isBad(Report report, boolean isChild) {
      Cause cause = report.verdict().cause();
      if (cause == Cause.RUNNING) {
        return false;
      }
      if (!cause.isClean()) {
        return true;
      }
      if (isChild) {
        return status != 0 && !wasAskedToStop;
      }
      // A test that calls System.exit takes its JVM along, and the build fails for it.
      return status != 0 && cause == Cause.EXIT && !report.openSpans().isEmpty();
    }

    private void row(LaunchedRuns.Launched died, Report report, boolean isChild, boolean bad) {
      if (rows.size() >= 1_000) {
        return;
      }
      Map<String, @Nullable Object> row = new LinkedHashMap<>();
      row.put("id", died.run().id());
      row.put("app", report.run().app());
      row.put("pid", report.run().pid());
      row.put("directory", died.run().directory().toString());
      row.put("isCommand", isChild);
      row.put("endedBadly", bad);
      DeathRow.verdict(row, report);
      rows.add(row);
    }

    /** {@return what can be said of a command that recorded nothing} */
    private String withoutRun(@Nullable Path crashFile) {
      StringBuilder line = new StringBuilder();
      Path name = Path.of(command.get(0)).getFileName();
      line.append(Text.cut(String.valueOf(name), 60)).append(" (pid ").append(child.pid());
      line.append(") ended with status ").append(status);
      String meaning = ExitStatus.inWords(status);
      if (!meaning.isEmpty()) {
        line.append(": ").append(meaning);
      }
      if (crashFile != null) {
        line.append("; the JVM crashed: ").append(CrashFiles.what(crashFile));
        return line.append(", see ").append(Text.cut(crashFile.toString(), 200)).toString();
      }
      if ("KILL".equals(ExitStatus.signal(status)) || oomKills.onNode().orElse(0) > 0) {
        line.append("; ").append(oomKills.inWords());
      }
      List<Path> others = crashFiles.others();
      if (!others.isEmpty()) {
        line.append("; a JVM that it started crashed: ");
        line.append(CrashFiles.what(others.get(0))).append(", see ");
        line.append(Text.cut(others.get(0).toString(), 200));
        line.append(others.size() > 1 ? " and " + (others.size() - 1) + " more" : "");
      } else if (meaning.isEmpty()) {
        line.append("; no hs_err file here, and no run of it under ");
        line.append(Text.cut(common.root().toString(), 200));
      }
      return line.toString();
    }

    private void say(String line) {
      if (!Options.isSet(quiet) && ++lines <= MAX_LINES) {
        session.error(line);
      }
    }

    private void write(Path file) {
      try (OutputStream out = ReportCommand.create(file)) {
        out.write((Json.of(document) + "\n").getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        session.error(
            "report cannot be written: file="
                + file
                + ", error="
                + RunSource.describe(e)
                + " (choose another file with --report)");
      }
    }
  }
}
