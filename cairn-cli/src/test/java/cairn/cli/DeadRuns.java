package cairn.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Any number of dead runs from one real death: copies of its directory, each under an id of its
 * own.
 */
final class DeadRuns {
  private final ChildRun original;
  private int count;

  /**
   * Records a run with an open span, {@code POST /export}, and kills it.
   *
   * @param root of the original; not where it is copied to
   */
  DeadRuns(Path root) {
    this.original = ChildRun.start(root, "shop").does("begin", "POST /export", "tenant", "acme");
    original.kill();
  }

  long pid() {
    return original.pid();
  }

  /** {@return the id that the boxes hold, the same in each copy} */
  String recordedId() {
    return original.id;
  }

  /** A copy. */
  record Dead(Path directory, String id) {
    Path storedReport() {
      return directory.resolveSibling("reports").resolve(id + ".json");
    }
  }

  /** Puts a dead run there; it appears at once and whole, as one that a recorder begins. */
  Dead addTo(Path root, String app) {
    String number = String.format(Locale.ROOT, "%08x", ++count);
    String id = original.id.substring(0, original.id.length() - 8) + number;
    try {
      Path parent = Files.createDirectories(root.resolve(app));
      Path unfinished = Files.createDirectory(parent.resolve(".new-" + id));
      try (DirectoryStream<Path> files = Files.newDirectoryStream(original.directory)) {
        for (Path file : files) {
          Files.copy(file, unfinished.resolve(file.getFileName()));
        }
      }
      return new Dead(Files.move(unfinished, parent.resolve(id)), id);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
