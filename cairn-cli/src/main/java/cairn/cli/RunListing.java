package cairn.cli;

import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Lists the runs under a root again and again, and only when there may be other ones. */
final class RunListing {
  /*
   * A run that begins or is deleted changes the time of its application's directory, a new
   * application that of the root. So a look is a stat of each application, not a listing of all
   * runs. A time that is younger than the grain of file times may stand for two changes: then, and
   * once in a while whatever the times say, everything is listed.
   */

  private static final Duration GRAIN = Duration.ofSeconds(2);
  private static final Duration AT_LEAST_EVERY = Duration.ofSeconds(30);

  private final Path root;
  private final Clock clock;

  private long fingerprint;
  private Instant newestChange = Instant.MIN;
  private Instant listedAt = Instant.MIN;

  /** Whether a change since the last listing must show in the fingerprint. */
  private boolean isSettled;

  RunListing(Path root, Clock clock) {
    this.root = root;
    this.clock = clock;
  }

  /**
   * {@return the runs, newest first; null if they are the same as at the last call}
   *
   * @throws IOException if the root is missing or not readable; the next call then lists again
   */
  @Nullable List<Run> ifChanged() throws IOException {
    Instant now = clock.instant();
    long before = fingerprint;
    boolean wasSettled = isSettled;
    isSettled = false;
    try {
      stamp();
    } catch (DirectoryIteratorException e) {
      throw e.getCause();
    }
    boolean same =
        wasSettled
            && fingerprint == before
            && Duration.between(listedAt, now).abs().compareTo(AT_LEAST_EVERY) < 0;
    List<Run> runs = same ? null : Runs.under(root).list();
    listedAt = same ? listedAt : now;
    isSettled = same || newestChange.isBefore(now.minus(GRAIN));
    return runs;
  }

  /** Takes the names and times of the root and of its applications. */
  private void stamp() throws IOException {
    newestChange = Files.getLastModifiedTime(root).toInstant();
    long sum = newestChange.hashCode();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
      for (Path entry : entries) {
        Instant changed;
        try {
          changed = Files.getLastModifiedTime(entry).toInstant();
        } catch (IOException e) {
          continue; // gone meanwhile: the root's time says so
        }
        // A sum, since the order of entries may differ from one look to the next.
        sum += IdSet.hash(entry.getFileName() + "/" + changed);
        newestChange = changed.isAfter(newestChange) ? changed : newestChange;
      }
    }
    fingerprint = sum;
  }
}
