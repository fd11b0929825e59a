package cairn.report;

import cairn.storage.PrivateFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Finds and copies the performance counters of a run: {@link PerfData}. Any new JVM of the same
 * user deletes those of dead ones, so the copy is to be made soon after a death.
 */
final class PerfCopy {
  /** A copy in the run's own directory, made by a witness. */
  static final String COPY = "hsperfdata";

  private PerfCopy() {}

  /**
   * Copies them, without what the application keeps to itself. The copy is its owner's only,
   * complete as soon as it has its name, and has the time of the file.
   *
   * @return false if there was something of that name already, which is left alone
   * @throws IOException if the file can't be read or is none, or the copy not be written
   */
  static boolean copy(Path source, Path target) throws IOException {
    PerfData data = read(source);
    if (data == null) {
      throw new IOException("not a file of performance counters: file=" + source);
    }
    return PrivateFiles.createWhole(target, data.redacted(), Files.getLastModifiedTime(source));
  }

  /** {@return the counters in that file; null if there are none} */
  static @Nullable PerfData read(Path file) {
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        return null;
      }
      try (InputStream in = Files.newInputStream(file)) {
        return PerfData.parse(in.readNBytes(PerfData.MAX_BYTES + 1));
      }
    } catch (IOException | SecurityException e) {
      return null;
    }
  }

  /** {@return the run's file on this machine; null if there is none, or another JVM's} */
  static @Nullable Path find(Salvage salvage, HostFacts host) {
    OptionalLong pid = Salvage.integer(salvage.identity, "pid");
    if (pid.isEmpty() || Judge.isElsewhere(salvage, host)) {
      return null;
    }
    return find(salvage, List.of(Path.of("/tmp")), pid.getAsLong());
  }

  static @Nullable Path find(Salvage salvage, List<Path> temporary, long pid) {
    Instant opened = CrashEvidence.opened(salvage);
    if (opened == null) {
      return null;
    }
    for (Path directory : temporary) {
      for (Path candidate : candidates(directory, pid)) {
        PerfData data = read(candidate);
        Instant started = data == null ? null : data.startedAt();
        // Of those that started before the recorder opened, one of this pid is the run's if it is
        // not of a process before it.
        if (started != null
            && !started.isAfter(opened.plus(CrashEvidence.SLACK))
            && !isBefore(started, CrashEvidence.processStart(salvage, opened))) {
          return candidate;
        }
      }
    }
    return null;
  }

  private static boolean isBefore(Instant started, @Nullable Instant process) {
    return process != null && started.plus(CrashEvidence.SLACK).isBefore(process);
  }

  private static List<Path> candidates(Path directory, long pid) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> users = Files.newDirectoryStream(directory, "hsperfdata_*")) {
      for (Path user : users) {
        found.add(user.resolve(Long.toString(pid)));
      }
    } catch (IOException | DirectoryIteratorException | SecurityException e) {
      // Not there, or not ours to read.
    } catch (InvalidPathException e) {
      // A name that this machine can't have.
    }
    return found;
  }
}
