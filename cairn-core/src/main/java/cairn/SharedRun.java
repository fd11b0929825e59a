package cairn;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The run that recorders of other class loaders of this JVM become parts of: an agent's, say, which
 * the application knows nothing of.
 *
 * <p>Any thread.
 */
final class SharedRun {
  /*
   * Class loaders share no class of ours, so what they know of each other is a system property: the
   * process and the run's directory. The process, since a child may be started with the properties
   * of its parent.
   *
   * No file has two writers: a part is a whole run directory, with box, lock and journal of its own,
   * under `parts` in the directory of the run. A reader puts them together; see cairn.report.
   */
  private static final String PROPERTY = "cairn.run.shared";

  /** The directory of parts within a run's. */
  static final String PARTS = "parts";

  private SharedRun() {}

  static void offer(Path directory) {
    System.setProperty(PROPERTY, value(Identity.pid(), directory));
  }

  /** Takes the offer back, if it is this run's. */
  static void withdraw(Path directory) {
    if (value(Identity.pid(), directory).equals(System.getProperty(PROPERTY))) {
      System.clearProperty(PROPERTY);
    }
  }

  private static String value(long pid, Path directory) {
    return pid + ":" + directory;
  }

  /** {@return the directory of the run that this process offers, or null} */
  static @Nullable Path offered(long pid) {
    String value = System.getProperty(PROPERTY);
    String prefix = pid + ":";
    if (value == null || !value.startsWith(prefix)) {
      return null;
    }
    Path directory = Path.of(value.substring(prefix.length()));
    return Files.isRegularFile(directory.resolve("box"), LinkOption.NOFOLLOW_LINKS)
        ? directory
        : null;
  }

  /** {@return the root directory that a run's directory is in} */
  static Path root(Path directory) {
    Path app = directory.getParent();
    Path root = app == null ? null : app.getParent();
    return root == null ? directory : root;
  }
}
