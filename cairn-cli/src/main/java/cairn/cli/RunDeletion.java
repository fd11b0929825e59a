package cairn.cli;

import cairn.sentry.SentryMark;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Deletes the directory of one run, and nothing that a recorder did not put there: a symbolic link
 * or an unknown file keeps the whole directory.
 */
final class RunDeletion {
  /** All that do not come in numbers. */
  private static final Set<String> KNOWN =
      Set.of(
          "lock",
          "box",
          "box.scrub", // of a scrub that died
          "hooks",
          "hs_err.log",
          "hsperfdata",
          "note-oom");

  private static final String PARTS = "parts";

  private final Path directory;

  /** Known files, the box last: what is left of an interrupted deletion is still a run. */
  private final List<Path> files = new ArrayList<>();

  /** What recorders of other class loaders of its process have left; each like a run. */
  private final List<RunDeletion> parts = new ArrayList<>();

  /** In the directory of the reports. */
  private final List<Path> reported = new ArrayList<>();

  private long bytes;

  /**
   * Looks, deletes nothing.
   *
   * @throws IOException if the directory may not be deleted, saying why
   */
  RunDeletion(Path directory) throws IOException {
    this.directory = directory;
    requireRealDirectory(directory);
    Path app = directory.getParent();
    if (app != null) {
      requireRealDirectory(app);
    }
    List<Path> boxes = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        BasicFileAttributes attributes =
            Files.readAttributes(entry, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        String name = String.valueOf(entry.getFileName());
        if (name.equals(PARTS) && attributes.isDirectory()) {
          addParts(entry);
          continue;
        }
        if (!attributes.isRegularFile() || !isKnown(name)) {
          throw new IOException("not a recorder's file: file=" + entry);
        }
        bytes += attributes.size();
        (name.equals("box") ? boxes : files).add(entry);
      }
    }
    files.addAll(boxes);
    addReports();
  }

  private void addParts(Path directory) throws IOException {
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
      for (Path entry : entries) {
        RunDeletion part = new RunDeletion(entry);
        parts.add(part);
        bytes += part.bytes;
      }
    }
  }

  /** What is kept of it among the reports. Goes last: with the run there it would be made again. */
  private void addReports() throws IOException {
    Path reports = directory.resolveSibling("reports");
    String id = String.valueOf(directory.getFileName());
    if (!Files.isDirectory(reports, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    for (String ending : List.of(".json", ".adopted", ExportMark.ENDING, SentryMark.ENDING)) {
      Path file = reports.resolve(id + ending);
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
        reported.add(file);
        bytes += Files.size(file);
      }
    }
  }

  private static void requireRealDirectory(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException("not a directory of its own: dir=" + directory);
    }
  }

  private static boolean isKnown(String name) {
    return KNOWN.contains(name)
        || name.startsWith("journal-")
        || name.startsWith("death-") // what witnesses said
        || name.startsWith(".new-"); // of a process that died while it made one of these
  }

  /** {@return the size of its files, and of its reports} */
  long bytes() {
    return bytes;
  }

  /**
   * Deletes.
   *
   * @throws IOException if a file or the directory cannot be deleted
   */
  void delete() throws IOException {
    for (RunDeletion part : parts) {
      part.delete();
    }
    Files.deleteIfExists(directory.resolve(PARTS));
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
    Files.deleteIfExists(directory);
    for (Path file : reported) {
      Files.deleteIfExists(file);
    }
  }
}
