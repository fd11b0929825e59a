package cairn;

import java.io.Closeable;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Properties;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run's directory: built under a temporary name with the box written and the lock held, then
 * renamed.
 *
 * <p>One thread. Every failure is an {@link IOException}, and leaves nothing behind.
 */
final class RunDirectory implements Closeable {
  /** Where all class loaders of a JVM note the runs that it holds; see {@link #hold}. */
  static final String HELD_KEY = "cairn.held";

  private static final FileAttribute<?>[] NONE = {};

  private final Path directory;
  private final FileChannel lockChannel;
  private final FileLock lock;
  final String runId;

  private RunDirectory(Path directory, String runId, FileChannel lockChannel, FileLock lock) {
    this.directory = directory;
    this.runId = runId;
    this.lockChannel = lockChannel;
    this.lock = lock;
  }

  Path directory() {
    return directory;
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
    boolean posix = root.getFileSystem().supportedFileAttributeViews().contains("posix");
    createPrivately(root, posix);
    Path parent = root.resolve(directoryName(app));
    createPrivately(parent, posix);
    Path building = parent.resolve(".new-" + runId);
    Path target = parent.resolve(runId);
    Files.createDirectory(building, attributes(posix, true));
    FileChannel lockChannel = null;
    Path real = null;
    try {
      lockChannel = newFile(building.resolve("lock"), posix);
      FileLock lock = lockChannel.tryLock();
      if (lock == null) {
        throw new IOException("lock is taken: file=" + building.resolve("lock"));
      }
      newFile(building.resolve("box"), posix).close();
      writer.write(building.resolve("box"));
      // Noted before it can be found: a reader in this JVM must never open this lock file.
      real = building.toRealPath().resolveSibling(runId);
      hold(real, true);
      Files.move(building, target, StandardCopyOption.ATOMIC_MOVE);
      return new RunDirectory(real, runId, lockChannel, lock);
    } catch (IOException | RuntimeException e) {
      remove(building, lockChannel);
      if (real != null) {
        hold(real, false);
      }
      throw e;
    }
  }

  private static void remove(Path building, @Nullable FileChannel lockChannel) {
    try {
      if (lockChannel != null) {
        lockChannel.close();
      }
      Files.deleteIfExists(building.resolve("box"));
      Files.deleteIfExists(building.resolve("lock"));
      Files.deleteIfExists(building);
    } catch (IOException e) {
      // The first error is the one to report; `cairn prune` removes what is left.
    }
  }

  /** An existing directory is taken as it is; a symbolic link is not, whoever made it. */
  private static void createPrivately(Path directory, boolean posix) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    if (Files.isSymbolicLink(directory)) {
      throw new IOException(
          "directory is a symbolic link: dir=" + directory + " (name the place it points to)");
    }
    Path parent = directory.toAbsolutePath().getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      createPrivately(parent, posix);
    }
    try {
      Files.createDirectory(directory, attributes(posix, true));
    } catch (java.nio.file.FileAlreadyExistsException e) {
      // Another process of ours came first, or it is a file.
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException("not a directory: dir=" + directory, e);
      }
    }
  }

  private static FileChannel newFile(Path file, boolean posix) throws IOException {
    return FileChannel.open(
        file,
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
        attributes(posix, false));
  }

  private static FileAttribute<?>[] attributes(boolean posix, boolean directory) {
    if (!posix) {
      return NONE;
    }
    EnumSet<PosixFilePermission> mode =
        EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    if (directory) {
      mode.add(PosixFilePermission.OWNER_EXECUTE);
    }
    return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(mode)};
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

  /** Writes zeros: a hole would be a SIGBUS on a full disk later. */
  static void fill(RandomAccessFile file, int size, int chunk) throws IOException {
    byte[] zeros = new byte[chunk];
    for (int at = 0; at < size; at += chunk) {
      file.write(zeros, 0, Math.min(chunk, size - at));
    }
  }

  /**
   * Notes, for all class loaders of this JVM, that it holds that run, or no longer does. POSIX
   * locks belong to the process and go with any descriptor of the file, so nobody in this JVM may
   * open such a lock file: closing it would make the run look dead. A text, since whoever stores
   * the system properties expects texts: absolute paths, each followed by a line feed.
   */
  private static void hold(Path directory, boolean held) {
    Properties properties = System.getProperties();
    String line = directory.toString() + '\n';
    synchronized (properties) {
      String lines = properties.getProperty(HELD_KEY, "");
      properties.setProperty(HELD_KEY, held ? lines + line : lines.replace(line, ""));
    }
  }

  /** Gives the lock up: to others, the run has ended. */
  @Override
  public void close() throws IOException {
    try {
      lock.release();
    } finally {
      lockChannel.close();
      hold(directory, false);
    }
  }
}
