package cairn.cli;

import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.Witness;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code --dir} with RUN or {@code --app}: which runs a command looks at. */
final class RunSource {
  private final CommonOptions common;
  private final OptionSpec app =
      Options.value(String.class, "NAME", "only the runs of this application", "--app");
  private final PositionalParamSpec run;
  private final PositionalParamSpec several;

  /**
   * @param defaultRun what RUN is if it is not given
   */
  RunSource(Session session, String defaultRun) {
    this.common = new CommonOptions(session.surroundings, session.top);
    String description =
        "run id, a part of one, a pid, a run's directory, or an application (default: "
            + defaultRun
            + ")";
    this.run =
        PositionalParamSpec.builder()
            .index("0")
            .arity("0..1")
            .type(String.class)
            .paramLabel("RUN")
            .description(description)
            .build();
    this.several =
        PositionalParamSpec.builder()
            .index("0..*")
            .arity("0..*")
            .type(List.class)
            .auxiliaryTypes(String.class)
            .paramLabel("RUN")
            .description(description)
            .build();
  }

  /** For a command that looks at many runs: {@code --app} and the common options. */
  void addManyTo(CommandSpec spec) {
    spec.addOption(app);
    common.addTo(spec);
  }

  /** For a command that looks at one run: RUN and the common options. */
  void addOneTo(CommandSpec spec) {
    spec.addPositional(run);
    common.addTo(spec);
  }

  /** For a command that looks at the runs it is told: RUN..., {@code --app}, common options. */
  void addSeveralTo(CommandSpec spec) {
    spec.addPositional(several);
    addManyTo(spec);
  }

  /** {@return the application that was named; null if none was} */
  @Nullable String app() {
    return Options.text(app);
  }

  Path root() {
    return common.root();
  }

  /** {@return whether that directory's runs are looked at} */
  boolean includes(Path appDirectory) {
    String only = app();
    return only == null || isApp(String.valueOf(appDirectory.getFileName()), only);
  }

  private static boolean isApp(Run run, String app) {
    return isApp(run.app(), app);
  }

  private static boolean isApp(String directory, String app) {
    return directory.equals(app) || directory.equals(directoryName(app));
  }

  /** {@return the name of an application's directory: what is not plain, as %XX} */
  private static String directoryName(String app) {
    StringBuilder name = new StringBuilder(app.length());
    for (byte b : app.getBytes(StandardCharsets.UTF_8)) {
      boolean plain =
          (b >= 'a' && b <= 'z')
              || (b >= 'A' && b <= 'Z')
              || (b >= '0' && b <= '9')
              || b == '_'
              || b == '-'
              || (b == '.' && name.length() > 0);
      if (plain) {
        name.append((char) b);
      } else {
        name.append('%');
        name.append(HexFormat.of().withUpperCase().toHexDigits(b));
      }
    }
    return name.toString();
  }

  /** {@return options to add to another command so that it finds the same runs} */
  String asArgument() {
    return common.asArgument();
  }

  /** {@return the runs, newest first, of {@code --app} if given; maybe none} */
  List<Run> runs() {
    Path root = root();
    List<Run> runs = list(root);
    String only = app();
    List<Run> ofApp = new ArrayList<>();
    for (Run run : runs) {
      if (only == null || isApp(run, only)) {
        ofApp.add(run);
      }
    }
    return ofApp;
  }

  /**
   * {@return the run that RUN names: an id, a part that exactly one id starts or ends with, the
   * path of a run's directory, or an application, which stands for the run of it that would be
   * taken without RUN}
   *
   * @param preferRunning without RUN: the newest living run rather than the dead one that was seen
   *     last; if there is none, whichever was seen last
   */
  Run select(boolean preferRunning) {
    return select(Options.text(run), preferRunning);
  }

  /** {@return the runs that RUN... names, each once; maybe none} */
  List<Run> named() {
    Map<Path, Run> named = new LinkedHashMap<>();
    for (String name : Options.texts(several)) {
      Run one = select(name, false);
      named.put(one.directory(), one);
    }
    return new ArrayList<>(named.values());
  }

  private Run select(@Nullable String name, boolean preferRunning) {
    if (name != null && name.indexOf('/') >= 0) {
      return byDirectory(name);
    }
    List<Run> runs = runs();
    if (runs.isEmpty()) {
      throw CliException.unreadable(none());
    }
    return name == null ? seenLast(runs, preferRunning) : byName(runs, name, preferRunning);
  }

  /**
   * Of each application its newest run in question, and of those the one that was seen last: a
   * service that ran for a week died later than the job that started an hour ago.
   */
  private static Run seenLast(List<Run> runs, boolean running) {
    Map<String, Run> newest = new LinkedHashMap<>();
    for (Run run : runs) {
      if (!newest.containsKey(run.app()) && run.isRunning() == running) {
        newest.put(run.app(), run);
      }
    }
    Run last = runs.get(0);
    Instant lastSeen = Instant.MIN;
    for (Run run : newest.values()) {
      // With one candidate there is nothing to compare, so nothing to read.
      Instant seen = newest.size() == 1 ? Instant.MAX : seen(run);
      if (seen.isAfter(lastSeen)) {
        last = run;
        lastSeen = seen;
      }
    }
    return last;
  }

  private static Instant seen(Run run) {
    try {
      Instant seen = run.report().run().lastSeenAt();
      return seen == null ? Instant.EPOCH : seen;
    } catch (IOException e) {
      return Instant.EPOCH;
    }
  }

  private Run byName(List<Run> runs, String name, boolean preferRunning) {
    List<Run> matches = new ArrayList<>();
    List<Run> ofApp = new ArrayList<>();
    List<Run> ofPid = new ArrayList<>();
    for (Run run : runs) {
      if (run.id().split("-", -1)[3].equals(name)) {
        ofPid.add(run); // what dmesg, systemd and a shell name
      }
      if (run.id().equals(name)) {
        return run;
      }
      if (!name.isEmpty() && (run.id().startsWith(name) || run.id().endsWith(name))) {
        matches.add(run);
      }
      if (isApp(run, name)) {
        ofApp.add(run);
      }
    }
    if (matches.size() == 1) {
      return matches.get(0);
    }
    if (!ofApp.isEmpty()) {
      return seenLast(ofApp, preferRunning);
    }
    if (matches.isEmpty() && !ofPid.isEmpty()) {
      return seenLast(ofPid, preferRunning);
    }
    if (matches.isEmpty()) {
      throw CliException.unreadable(
          "no such run: run="
              + name
              + ", runs="
              + runs.size()
              + ", dir="
              + root()
              + inApp()
              + " (see: cairn list"
              + common.asArgument()
              + ")");
    }
    throw CliException.usage(
        "ambiguous run: run="
            + name
            + ", matches="
            + matches.size()
            + ", newest="
            + matches.get(0).id()
            + ", oldest="
            + matches.get(matches.size() - 1).id()
            + " (give more of the id's start or end)");
  }

  private static Run byDirectory(String text) {
    Path directory;
    try {
      directory = Path.of(text).toAbsolutePath().normalize();
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: run=" + text + " (give a run's directory)");
    }
    Path appDirectory = directory.getParent();
    Path root = appDirectory == null ? null : appDirectory.getParent();
    if (root != null && Files.isDirectory(directory)) {
      for (Run run : list(root)) {
        if (run.directory().toAbsolutePath().normalize().equals(directory)) {
          return run;
        }
      }
    }
    throw CliException.unreadable(
        "no such run directory: dir=" + directory + " (give <root>/<app>/<run>, or a run id)");
  }

  static List<Run> list(Path root) {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      throw CliException.unreadable(
          "no such directory: dir="
              + root
              + " (nothing was recorded there yet; if the application records elsewhere, name that"
              + " with --dir)");
    }
    if (!Files.isDirectory(root)) {
      throw CliException.unreadable(
          "not a directory: dir=" + root + " (give the directory that holds <app>/<run>/)");
    }
    if (!Files.isReadable(root) || !Files.isExecutable(root)) {
      throw CliException.unreadable(
          "directory is not readable: dir="
              + root
              + owner(root)
              + " (run cairn as the user that ran the application)");
    }
    try {
      return Runs.under(root).list();
    } catch (IOException e) {
      throw CliException.unreadable(
          "directory is not readable: dir="
              + root
              + ", error="
              + describe(e)
              + " (see: cairn doctor)");
    }
  }

  /** {@return the line that says there are no runs, with what else may be meant} */
  String none() {
    Path root = root();
    String what = "no runs: dir=" + root + inApp();
    if (Files.exists(root.resolve("box"))) {
      return what
          + " (that is the directory of one run: give "
          + root.toAbsolutePath().normalize()
          + "/ as RUN, or its grandparent with --dir)";
    }
    if (app() != null && !list(root).isEmpty()) {
      return what + " (see: cairn list" + common.asArgument() + ")";
    }
    return what + " (start an application that opens a Recorder, or name its directory with --dir)";
  }

  private String inApp() {
    return app() == null ? "" : ", app=" + app();
  }

  private static String owner(Path path) {
    try {
      return ", owner=" + Files.getOwner(path).getName();
    } catch (IOException | UnsupportedOperationException e) {
      return "";
    }
  }

  /** {@return what is in the run's box, as far as it is sound} */
  static Report read(Run run) {
    return read(run, null);
  }

  /**
   * {@return what is in the run's box, as far as it is sound, judged with what a person says too}
   */
  static Report read(Run run, @Nullable Witness witness) {
    try {
      return witness == null ? run.report() : run.report(witness);
    } catch (IOException e) {
      throw CliException.unreadable(
          "no readable box: run="
              + run.id()
              + ", error="
              + describe(e)
              + " (nothing of this run can be read; for others see: cairn list)");
    }
  }

  /** {@return the error with its kind, where the message alone is just a file name} */
  static String describe(IOException e) {
    String message = e.getMessage();
    if (message == null) {
      return e.getClass().getSimpleName();
    }
    return e instanceof java.nio.file.FileSystemException
        ? e.getClass().getSimpleName().replace("Exception", "") + " " + message
        : message;
  }
}
