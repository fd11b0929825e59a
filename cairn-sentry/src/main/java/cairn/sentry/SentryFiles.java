package cairn.sentry;

import cairn.report.Finding;
import cairn.report.Report;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What sentry-java left behind in one directory of its cache: the persisted scope, the options,
 * envelopes that were not sent, sessions and crash markers. Immutable; any thread.
 *
 * <p>Reading changes and locks nothing, follows no symbolic link out of the directory, and takes
 * memory and time in proportion to what is there. What is damaged is no failure: what is sound of
 * it is kept, the rest is a {@link Finding} with file and offset. Needs no class of sentry-java.
 */
public final class SentryFiles {
  /** The SDK names the directory of a DSN by its SHA-1. */
  /** A SHA-1 as a number: without the zeros it begins with. */
  static final Pattern DSN_DIRECTORY = Pattern.compile("[0-9a-f]{32,40}");

  private final Path directory;
  private final Report report;
  private final @Nullable Instant newest;

  private SentryFiles(Path directory, Report report, @Nullable Instant newest) {
    this.directory = directory;
    this.report = report;
    this.newest = newest;
  }

  /**
   * Reads a directory of the SDK.
   *
   * @param directory what {@code cacheDirPath} was set to, the directory of one DSN in it, or a
   *     {@code .scope-cache}, {@code .options-cache} or {@code outbox} itself
   * @return one for each DSN, newest first
   * @throws IOException if there is no such directory, or nothing of sentry-java in it
   */
  public static List<SentryFiles> read(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      throw new NoSuchFileException(directory.toString());
    }
    if (!Files.isDirectory(directory)) {
      throw new NotDirectoryException(directory.toString());
    }
    Path root = directory.toRealPath();
    List<SentryFiles> found = new ArrayList<>();
    add(root, found);
    for (String name : new CacheFolder(root).names("")) {
      Path child = root.resolve(name);
      if (DSN_DIRECTORY.matcher(name).matches()
          && Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
        add(child, found);
      }
    }
    if (found.isEmpty()) {
      throw new IOException("no files of sentry-java: dir=" + directory);
    }
    found.sort(
        Comparator.comparing(
            files -> files.newest, Comparator.nullsLast(Comparator.reverseOrder())));
    return List.copyOf(found);
  }

  private static void add(Path directory, List<SentryFiles> found) {
    CacheReading reading = CacheReading.of(new CacheFolder(directory));
    if (reading != null) {
      Report report = reading.report();
      Instant seen = report.run().lastSeenAt();
      found.add(new SentryFiles(directory, report, seen == null ? reading.newestChange() : seen));
    }
  }

  /** {@return the directory that was read} */
  public Path directory() {
    return directory;
  }

  /** {@return damage and gaps, and what lies there unsent} */
  public List<Finding> findings() {
    return report.findings();
  }

  /**
   * {@return what was found, as a report} Its cause is {@code UNKNOWN} unless a crash marker or a
   * session says more, and then {@code possible} at most.
   */
  public Report toReport() {
    return report;
  }

  @Override
  public String toString() {
    return "SentryFiles[" + directory + "]";
  }
}
