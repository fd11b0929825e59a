package cairn.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code cairn profile}. */
final class ProfileCommand implements Callable<Integer> {
  private static final double SECONDS = 2;
  private static final double MIN_SECONDS = 0.05;
  private static final double MAX_SECONDS = 60;
  private static final int RECORD_BYTES = 250;
  private static final int THREADS = 16;
  private static final int MAX_THREADS = 256;
  private static final int RATE = 100;
  private static final int MAX_RATE = 1_000_000;

  /** What must be free; a layer has at most this much on disk at a time. */
  private static final long NEEDED_BYTES = 64L << 20;

  /** Empties the line of the progress on any terminal. */
  private static final String CLEAR = "\r" + " ".repeat(72) + "\r";

  private final Session session;
  private final CommonOptions common;

  private final PositionalParamSpec directory =
      PositionalParamSpec.builder()
          .index("0")
          .arity("0..1")
          .type(String.class)
          .paramLabel("DIR")
          .description("a directory on the disk to measure (default: where the runs are)")
          .build();
  private final OptionSpec rate =
      Options.value(
          Integer.class,
          "N",
          "events per second that your application has (default: " + RATE + ")",
          "--rate");
  private final OptionSpec seconds =
      Options.value(Double.class, "N", "time for each layer, 0.05 to 60 (default: 2)", "--seconds");
  private final OptionSpec recordBytes =
      Options.value(
          Integer.class,
          "N",
          "length of an event as JSON, "
              + ProfileEvent.MIN_BYTES
              + " to "
              + ProfileEvent.MAX_BYTES
              + " (default: "
              + RECORD_BYTES
              + ")",
          "--record-bytes");
  private final OptionSpec threads =
      Options.value(
          Integer.class,
          "N",
          "threads that share forces, 2 to " + MAX_THREADS + " (default: " + THREADS + ")",
          "--threads");
  private final OptionSpec chart =
      Options.value(String.class, "FILE", "write a picture too, as SVG, replacing it", "--chart");
  private final OptionSpec json = Options.flag("print one JSON object", "--json");

  ProfileCommand(Session session) {
    this.session = session;
    this.common = new CommonOptions(session.surroundings, session.top);
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "profile",
            this,
            new String[] {
              "Measures each layer of the write path on your own disk, and says what that means.",
              "",
              "Where the time of a durable write goes, what each durability costs and loses, and which one to"
                  + " take.",
              "Writes into a directory of its own in DIR, and removes it. Enter ends it early, and so"
                  + " does Ctrl-C;",
              "what was measured until then is shown."
            },
            new String[] {
              "Exit codes: 0 measured (maybe in part), 1 a layer failed, 2 wrong usage,",
              "3 DIR cannot be measured, or the chart cannot be written",
              "",
              "Examples:",
              "  cairn profile                     the disk that the runs are on",
              "  cairn profile /data --rate 2000   another one, for 2,000 events a second",
              "  cairn profile --chart disk.svg --seconds 5",
              "  cairn profile --json | jq '.layers[] | {layer, p50: .micros.p50}'"
            });
    spec.addPositional(directory);
    spec.addOption(rate);
    spec.addOption(seconds);
    spec.addOption(recordBytes);
    spec.addOption(threads);
    spec.addOption(chart);
    spec.addOption(json);
    common.addTo(spec);
    return spec;
  }

  @Override
  public Integer call() throws IOException {
    ProfileReport.Settings settings = settings();
    Path file = chartFile();
    Path parent = parent();
    ProfileDisk disk = disk(parent);
    List<ProfileLayer> layers = ProfileLayers.all(settings.threads());
    ProfileRun run =
        new ProfileRun(settings.recordBytes(), Duration.ofNanos((long) (settings.seconds() * 1e9)));
    try (ProfileDirectory own = open(parent, run)) {
      announce(parent, own.path(), layers, run);
      long clockNanos = ProfileRun.clockNanos();
      List<ProfileResult> results = measure(run, layers, own.path());
      ProfileReport report =
          new ProfileReport(
              parent,
              disk,
              new ProfileLedger(results, disk, settings.recordBytes()),
              settings,
              session.surroundings.clock().instant(),
              run.isStopped(),
              clockNanos,
              machine());
      // Shown before the end of `own`, for which a JVM that is to end waits.
      return show(report, file);
    }
  }

  private ProfileReport.Settings settings() {
    Double given = seconds.getValue();
    double time = given == null ? SECONDS : given;
    // Written so that what is not a number is refused too.
    if (!(time >= MIN_SECONDS && time <= MAX_SECONDS)) {
      throw CliException.usage(
          "value is out of range: option=--seconds, value="
              + time
              + ", limit=0.05 to 60 (give another)");
    }
    return new ProfileReport.Settings(
        time,
        Options.number(recordBytes, ProfileEvent.MIN_BYTES, ProfileEvent.MAX_BYTES, RECORD_BYTES),
        Options.number(threads, 2, MAX_THREADS, THREADS),
        Options.number(rate, 1, MAX_RATE, RATE));
  }

  /** {@return DIR; without, the root of the runs, or what there is of the way to it} */
  private Path parent() {
    String given = Options.text(directory);
    Path path;
    try {
      path = given == null ? common.root() : Path.of(given);
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: DIR=" + given + " (give a directory)");
    }
    path = path.toAbsolutePath().normalize();
    if (given == null) {
      // No run was recorded yet: the disk is that of the nearest directory there is.
      Path up = path.getParent();
      while (!Files.exists(path, LinkOption.NOFOLLOW_LINKS) && up != null) {
        path = up;
        up = path.getParent();
      }
    }
    if (!Files.exists(path)) {
      throw CliException.unreadable(
          "no such directory: dir=" + path + " (give one on the disk that is to be measured)");
    }
    if (!Files.isDirectory(path)) {
      throw CliException.unreadable(
          "not a directory: dir=" + path + " (give one on the disk that is to be measured)");
    }
    if (!Files.isWritable(path)) {
      throw CliException.unreadable(
          "directory is not writable: dir="
              + path
              + " (give one on the same disk that is, or run cairn as its owner)");
    }
    return path;
  }

  private ProfileDisk disk(Path parent) throws IOException {
    ProfileDisk disk = ProfileDisk.under(parent, session.surroundings.systemRoot());
    requireSpace(parent, disk);
    return disk;
  }

  static void requireSpace(Path parent, ProfileDisk disk) {
    if (disk.usableBytes() >= 0 && disk.usableBytes() < NEEDED_BYTES) {
      throw CliException.unreadable(
          "not enough space: dir="
              + parent
              + ", free="
              + Units.size(disk.usableBytes())
              + ", need="
              + Units.size(NEEDED_BYTES)
              + " (free some, or give another directory)");
    }
  }

  private static ProfileDirectory open(Path parent, ProfileRun run) {
    try {
      return ProfileDirectory.in(parent, run::stop);
    } catch (IOException e) {
      throw CliException.unreadable(
          "directory is not writable: dir="
              + parent
              + ", error="
              + RunSource.describe(e)
              + " (give one on the same disk that is)");
    }
  }

  private void announce(Path parent, Path own, List<ProfileLayer> layers, ProfileRun run) {
    for (Path left : ProfileDirectory.leftIn(parent)) {
      if (!left.equals(own)) {
        session.error(
            "directory of another profile: dir=" + left + " (if none is running, delete it)");
      }
    }
    long bytes = 0;
    for (ProfileLayer layer : layers) {
      bytes += layer.diskBytes();
    }
    session.error(
        String.format(
            Locale.ROOT,
            "measuring %d layers, at most %.0f s: dir=%s, writes at most %s, at a time %s",
            layers.size(),
            Math.ceil(run.longest(layers.size()).toMillis() / 1e3),
            own,
            Units.size(bytes),
            Units.size(NEEDED_BYTES)));
  }

  private List<ProfileResult> measure(ProfileRun run, List<ProfileLayer> layers, Path own)
      throws IOException {
    InputStream keys = session.surroundings.keyboard().open();
    if (keys != null) {
      stopOnKey(run, keys);
    }
    List<ProfileResult> results = new ArrayList<>();
    for (int i = 0; i < layers.size() && !run.isStopped(); i++) {
      ProfileLayer layer = layers.get(i);
      progress(keys != null, (i + 1) + "/" + layers.size() + "  " + layer.name());
      results.add(run.measure(layer, own));
    }
    if (keys != null) {
      session.err.print(CLEAR);
    }
    if (run.isStopped()) {
      session.error("stopped: layers=" + results.size() + " of " + layers.size());
    }
    return results;
  }

  private void progress(boolean isTerminal, String text) {
    if (isTerminal) {
      session.err.print(CLEAR + "  " + text + "   (Enter stops)");
      session.err.flush();
    } else {
      session.err.println("cairn: " + text);
    }
  }

  /** Ends with the JVM: nothing can interrupt reading a terminal. */
  private static void stopOnKey(ProfileRun run, InputStream keys) {
    Thread thread =
        new Thread(
            () -> {
              if (isStopKeyTyped(keys)) {
                run.stop();
              }
            },
            "profile-keys");
    thread.setDaemon(true);
    thread.start();
  }

  private static boolean isStopKeyTyped(InputStream keys) {
    try {
      for (int key = keys.read(); key >= 0; key = keys.read()) {
        if (key == '\n' || key == '\r' || key == 'q' || key == 'Q') {
          return true;
        }
      }
      return false;
    } catch (IOException e) {
      return false; // A terminal that went away stops nothing.
    }
  }

  private int show(ProfileReport report, @Nullable Path file) {
    session.out.print(Options.isSet(json) ? ProfileJson.of(report) + "\n" : ProfileText.of(report));
    session.flush();
    if (file != null) {
      try {
        Files.writeString(file, ProfileChart.of(report));
      } catch (IOException e) {
        throw CliException.unreadable(
            "chart cannot be written: file="
                + file
                + ", error="
                + RunSource.describe(e)
                + " (choose another file with --chart)");
      }
      session.error("chart written: file=" + file);
    }
    for (ProfileResult result : report.ledger().results()) {
      if (result.error() != null) {
        return ExitCode.FOUND;
      }
    }
    return ExitCode.OK;
  }

  /** {@return where the chart goes, known to be possible before anything is measured; or null} */
  private @Nullable Path chartFile() {
    String text = Options.text(chart);
    if (text == null) {
      return null;
    }
    if (text.isEmpty()) {
      throw CliException.usage("empty value: option=--chart (give a file)");
    }
    Path file;
    try {
      file = Path.of(text);
    } catch (InvalidPathException e) {
      throw CliException.usage("invalid path: option=--chart, value=" + text + " (give a file)");
    }
    Path parent = file.toAbsolutePath().getParent();
    boolean exists = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
    if (exists && !Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw CliException.unreadable(
          "chart would replace what is no regular file: file=" + file + " (choose another)");
    }
    if (parent == null || !Files.isDirectory(parent) || !Files.isWritable(parent)) {
      throw CliException.unreadable(
          "chart cannot be written: file="
              + file
              + ", error=no writable directory "
              + parent
              + " (choose another file with --chart)");
    }
    return file;
  }

  private String machine() {
    Properties properties = session.surroundings.properties();
    int processors = Runtime.getRuntime().availableProcessors();
    return processors
        + (processors == 1 ? " processor" : " processors")
        + load()
        + ", "
        + properties.getProperty("os.name", "")
        + " "
        + properties.getProperty("os.version", "").replaceFirst("^(\\d+\\.\\d+).*", "$1")
        + ", Java "
        + properties.getProperty("java.version", "");
  }

  /** {@return how many others wanted to run; measured beside them, everything takes longer} */
  private String load() {
    try {
      Path file = session.surroundings.systemRoot().resolve("proc/loadavg");
      return " (load " + Files.readString(file).split(" ", 2)[0] + ")";
    } catch (IOException e) {
      return "";
    }
  }
}
