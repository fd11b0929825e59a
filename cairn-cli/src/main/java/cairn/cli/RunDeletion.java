package cairn.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * Deletes the directory of one run, and nothing that a recorder did not put there: a symbolic link
 * or an unknown file keeps the whole directory.
 */
final class RunDeletion {
  private final Path directory;

  /** Known files, the box last: what is left of an interrupted deletion is still a run. */
  private final List<Path> files = new ArrayList<>();

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
        if (!attributes.isRegularFile() || !isKnown(name)) {
          throw new IOException("not a recorder's file: file=" + entry);
        }
        bytes += attributes.size();
        (name.equals("box") ? boxes : files).add(entry);
      }
    }
    files.addAll(boxes);
  }

  private static void requireRealDirectory(Path directory) throws IOException {
    if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      throw new IOException("not a directory of its own: dir=" + directory);
    }
  }

  private static boolean isKnown(String name) {
    return name.equals("lock")
        || name.equals("box")
        || name.equals("box.scrub") // of a scrub that died
        || name.startsWith("journal-")
        || name.startsWith(".new-journal-"); // of a recorder that died while it made a segment
  }

  /** {@return the size of its files} */
  long bytes() {
    return bytes;
  }

  /**
   * Deletes.
   *
   * @throws IOException if a file or the directory cannot be deleted
   */
  void delete() throws IOException {
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
    Files.deleteIfExists(directory);
  }
}
