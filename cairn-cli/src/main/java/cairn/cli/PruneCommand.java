package cairn.cli;

import cairn.report.Run;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** {@code cairn prune}. */
final class PruneCommand implements Callable<Integer> {
  /** Dead runs that are kept of each application. */
  static final int KEEP = 20;

  /** A directory that a recorder began to build and never named is dead after this. */
  private static final Duration UNFINISHED_AGE = Duration.ofDays(1);

  private final Session session;

  private final RunSource source;
  private final OptionSpec keep =
      Options.value(
          Integer.class,
          "N",
          "keep the newest N dead runs of each application (default: 20; none if only --older-than is given)",
          "--keep");
  private final OptionSpec olderThan =
      Options.value(
          String.class,
          "DURATION",
          "delete only what showed its last sign of life that long ago: 45s, 30m, 12h, 7d, 2w, 1d12h",
          "--older-than");
  private final OptionSpec dryRun =
      Options.flag("say what would be deleted, delete nothing", "--dry-run");

  private int deleted;
  private int failed;
  private long freed;

  PruneCommand(Session session) {
    this.session = session;
    this.source = new RunSource(session, "the newest dead run");
  }

  CommandSpec spec() {
    CommandSpec spec =
        Options.command(
            "prune",
            this,
            new String[] {
              "Deletes old dead runs; never a living one.",
              "",
              "Deletes all but the newest N dead runs of each application, or those older than a duration;",
              "given both, those that are older and not among the newest N. What was kept of them under",
              "<app>/reports/ goes too. A directory that holds anything that Cairn did not put there is left",
              "alone, and said so."
            },
            new String[] {
              "Exit codes: 0 done, 1 something could not be deleted, 2 wrong usage, 3 directory not readable",
              "",
              "Examples:",
              "  cairn prune                  keep the newest 20 dead runs of each application",
              "  cairn prune --older-than 7d  delete what died more than seven days ago",
              "  cairn prune --keep 5 --older-than 12h --dry-run"
            });
    spec.addOption(keep);
    spec.addOption(olderThan);
    spec.addOption(dryRun);
    source.addManyTo(spec);
    return spec;
  }

  @Override
  public Integer call() {
    Duration age = age();
    Integer given = Options.number(keep, 0);
    int kept = given != null ? given : age == null ? KEEP : 0;
    Instant limit = age == null ? null : session.surroundings.clock().instant().minus(age);
    List<Run> runs = source.runs();
    int remaining = 0;
    int running = 0;
    Map<String, Integer> seen = new HashMap<>();
    for (Run run : runs) {
      if (run.isRunning()) {
        running++;
        continue;
      }
      int place = seen.merge(run.app(), 1, Integer::sum);
      if (place <= kept || (limit != null && !lastSeen(run).isBefore(limit))) {
        remaining++;
      } else {
        delete(run.directory(), run.app() + "/" + run.id());
      }
    }
    deleteUnfinished();
    session.out.println(
        (isDryRun() ? "would delete " : "deleted ")
            + deleted
            + ", "
            + (isDryRun() ? "would free " : "freed ")
            + Units.size(freed)
            + "; kept "
            + remaining
            + " dead, "
            + running
            + " running");
    return failed == 0 ? ExitCode.OK : ExitCode.FOUND;
  }

  private boolean isDryRun() {
    return Options.isSet(dryRun);
  }

  private @Nullable Duration age() {
    String text = Options.text(olderThan);
    if (text == null) {
      return null;
    }
    Duration age = Units.parse(text);
    if (age == null) {
      throw CliException.usage(
          "invalid value: option=--older-than, value="
              + text
              + " (give a number and s, m, h, d or w, such as 7d or 12h)");
    }
    return age;
  }

  /** The last sign of life; of a box that does not tell, when it was last changed. */
  private static Instant lastSeen(Run run) {
    try {
      Instant lastSeen = run.report().run().lastSeenAt();
      if (lastSeen != null) {
        return lastSeen;
      }
    } catch (IOException e) {
      // An unreadable box is deleted by its age like any other.
    }
    try {
      Path box = run.directory().resolve("box");
      return Files.getLastModifiedTime(Files.exists(box) ? box : run.directory()).toInstant();
    } catch (IOException e) {
      return Instant.MAX;
    }
  }

  private void deleteUnfinished() {
    Instant limit = session.surroundings.clock().instant().minus(UNFINISHED_AGE);
    for (Path app : directories(source.root(), "*")) {
      for (Path unfinished : directories(app, ".new-*")) {
        if (source.includes(app) && isBefore(unfinished, limit)) {
          delete(unfinished, app.getFileName() + "/" + unfinished.getFileName());
        }
      }
    }
  }

  private static boolean isBefore(Path path, Instant limit) {
    try {
      return Files.getLastModifiedTime(path, LinkOption.NOFOLLOW_LINKS).toInstant().isBefore(limit);
    } catch (IOException e) {
      return false;
    }
  }

  private static List<Path> directories(Path parent, String glob) {
    List<Path> directories = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent, glob)) {
      for (Path entry : entries) {
        if (Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS)) {
          directories.add(entry);
        }
      }
    } catch (IOException | DirectoryIteratorException e) {
      return List.of();
    }
    directories.sort(null);
    return directories;
  }

  private void delete(Path directory, String name) {
    try {
      RunDeletion deletion = new RunDeletion(directory);
      if (!isDryRun()) {
        deletion.delete();
      }
      deleted++;
      freed += deletion.bytes();
      session.out.println(
          Escape.line((isDryRun() ? "would delete " : "deleted ") + name + ", ")
              + Units.size(deletion.bytes()));
    } catch (IOException e) {
      if (Files.notExists(directory, LinkOption.NOFOLLOW_LINKS)) {
        return; // another prune was faster
      }
      failed++;
      session.error(
          "run not deleted: run=" + name + ", error=" + RunSource.describe(e) + " (look into it)");
    }
  }
}
