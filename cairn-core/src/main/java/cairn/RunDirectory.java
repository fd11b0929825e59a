package cairn;

import cairn.storage.HeldDirectories;
import cairn.storage.PrivateFiles;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A run's directory: built under a temporary name with the box written and the lock held, then
 * renamed.
 *
 * <p>One thread. Every failure is an {@link IOException}, and leaves nothing behind.
 */
final class RunDirectory implements Closeable {
  private final Path directory;
  private final FileChannel lockChannel;
  private final FileLock lock;
  final String runId;
  private final List<Path> parents;

  /**
   * Until all shutdown hooks have ended. The JVM runs them in any order and all at once; but what
   * {@link File#deleteOnExit} names it deletes after the last of them. So the file is there after
   * every other death: also after one in the middle of a shutdown, whatever our own hook has said.
   */
  static final String HOOKS = "hooks";

  private RunDirectory(
      Path directory, List<Path> parents, String runId, FileChannel lockChannel, FileLock lock) {
    this.directory = directory;
    this.parents = parents;
    this.runId = runId;
    this.lockChannel = lockChannel;
    this.lock = lock;
  }

  Path directory() {
    return directory;
  }

  /** {@return the directories to force so that this one's name survives power loss} */
  List<Path> parents() {
    return parents;
  }

  /** The application's directory, the root, and whatever above it is not there yet. */
  private static List<Path> parents(Path root, Path app) {
    List<Path> parents = new ArrayList<>();
    parents.add(app);
    Path above = root;
    while (above != null) {
      parents.add(above);
      if (Files.isDirectory(above)) {
        break;
      }
      above = above.getParent();
    }
    return parents;
  }

  /** Fills the box of a directory that nobody sees yet. */
  interface BoxWriter {
    void write(Path file) throws IOException;
  }

  /**
   * Creates {@code <root>/<app>/<runId>}.
   *
   * @throws IOException if a directory is missing and can't be made, is a symbolic link, or the
   *     disk is full
   */
  static RunDirectory create(Path root, String app, String runId, BoxWriter writer)
      throws IOException {
    boolean posix = PrivateFiles.isPosix(root);
    Path parent = root.resolve(directoryName(app));
    List<Path> parents = parents(root.toAbsolutePath(), parent.toAbsolutePath());
    PrivateFiles.createDirectories(root, posix);
    PrivateFiles.createDirectories(parent, posix);
    Path building = parent.resolve(".new-" + runId);
    Path target = parent.resolve(runId);
    PrivateFiles.createDirectory(building, posix);
    FileChannel lockChannel = null;
    Path real = null;
    try {
      lockChannel = PrivateFiles.create(building.resolve("lock"), posix);
      FileLock lock = lockChannel.tryLock();
      if (lock == null) {
        throw new IOException("lock is taken: file=" + building.resolve("lock"));
      }
      PrivateFiles.create(building.resolve("box"), posix).close();
      PrivateFiles.create(building.resolve(HOOKS), posix).close();
      writer.write(building.resolve("box"));
      // Noted before it can be found: a reader in this JVM must never open this lock file.
      real = building.toRealPath().resolveSibling(runId);
      HeldDirectories.hold(real);
      Files.move(building, target, StandardCopyOption.ATOMIC_MOVE);
      deleteAfterLastHook(real.resolve(HOOKS));
      return new RunDirectory(real, parents, runId, lockChannel, lock);
    } catch (IOException | RuntimeException e) {
      remove(building, lockChannel);
      if (real != null) {
        HeldDirectories.release(real);
      }
      throw e;
    }
  }

  private static void deleteAfterLastHook(Path file) throws IOException {
    try {
      file.toFile().deleteOnExit();
    } catch (IllegalStateException | SecurityException e) {
      Files.deleteIfExists(file); // the last hook has ended
    }
  }

  private static void remove(Path building, @Nullable FileChannel lockChannel) {
    try {
      if (lockChannel != null) {
        lockChannel.close();
      }
      Files.deleteIfExists(building.resolve("box"));
      Files.deleteIfExists(building.resolve(HOOKS));
      Files.deleteIfExists(building.resolve("lock"));
      Files.deleteIfExists(building);
    } catch (IOException e) {
      // The first error is the one to report; `cairn prune` removes what is left.
    }
  }

  /**
   * {@return the name as a directory's: bytes other than letters, digits and {@code . _ -} as %XX}
   */
  static String directoryName(String app) {
    StringBuilder name = new StringBuilder(app.length());
    for (byte b : app.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xFF);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || c == '_'
              || c == '-'
              || (c == '.' && name.length() > 0);
      if (plain) {
        name.append(c);
      } else {
        name.append('%');
        name.append(Character.toUpperCase(Character.forDigit(c >> 4, 16)));
        name.append(Character.toUpperCase(Character.forDigit(c & 15, 16)));
      }
    }
    return name.toString();
  }

  /**
   * Gives the lock up: to others, the run has ended. {@link #HOOKS} stays until the JVM ends in
   * order: it tells a kill after this from such an end.
   */
  @Override
  public void close() throws IOException {
    try {
      lock.release();
    } finally {
      lockChannel.close();
      HeldDirectories.release(directory);
    }
  }
}
