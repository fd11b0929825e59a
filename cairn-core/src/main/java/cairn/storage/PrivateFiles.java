package cairn.storage;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Makes directories and files that only their owner can read, and forces directories. */
public final class PrivateFiles {
  private static final FileAttribute<?>[] NONE = {};

  /** {@return whether files there have POSIX modes} */
  public static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("posix");
  }

  /**
   * Makes a directory and what is missing above it. An existing directory is taken as it is; a
   * symbolic link is not, whoever made it.
   */
  public static void createDirectories(Path directory, boolean posix) throws IOException {
    if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    if (Files.isSymbolicLink(directory)) {
      throw new IOException(
          "directory is a symbolic link: dir=" + directory + " (name the place it points to)");
    }
    Path parent = directory.toAbsolutePath().getParent();
    if (parent != null && !Files.isDirectory(parent)) {
      createDirectories(parent, posix);
    }
    try {
      createDirectory(directory, posix);
    } catch (FileAlreadyExistsException e) {
      // Another process of ours came first, or it is a file.
      if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
        throw new IOException("not a directory: dir=" + directory, e);
      }
    }
  }

  /** Makes one directory, 0700. */
  public static void createDirectory(Path directory, boolean posix) throws IOException {
    Files.createDirectory(directory, attributes(posix, true));
  }

  /** Makes a file, 0600, that must not exist. */
  public static FileChannel create(Path file, boolean posix) throws IOException {
    return FileChannel.open(
        file,
        Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE),
        attributes(posix, false));
  }

  /**
   * Makes a small file, 0600, that appears whole or not at all, and only if there is none of its
   * name: of several processes exactly one gets true.
   *
   * <p>Where the file system has no hard links, a process that dies within it leaves an empty file.
   *
   * @return false if there was one already
   */
  public static boolean createWhole(Path file, byte[] bytes) throws IOException {
    return createWhole(file, bytes, null);
  }

  /**
   * As {@link #createWhole(Path, byte[])}, for a copy.
   *
   * @param modified what it gets as the time when it was last written; null for now
   */
  public static boolean createWhole(Path file, byte[] bytes, @Nullable FileTime modified)
      throws IOException {
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    boolean posix = isPosix(file);
    Path unfinished =
        file.resolveSibling(
            ".new-"
                + file.getFileName()
                + "-"
                + ProcessHandle.current().pid()
                + "-"
                + Long.toHexString(System.nanoTime()));
    try {
      try (FileChannel channel = create(unfinished, posix)) {
        writeAll(channel, bytes);
      }
      if (modified != null) {
        Files.setLastModifiedTime(unfinished, modified);
      }
      try {
        Files.createLink(file, unfinished); // unlike a rename it never replaces
        return true;
      } catch (FileAlreadyExistsException e) {
        return false;
      } catch (IOException | UnsupportedOperationException e) {
        return createInPlace(file, bytes, posix);
      }
    } finally {
      Files.deleteIfExists(unfinished);
    }
  }

  private static boolean createInPlace(Path file, byte[] bytes, boolean posix) throws IOException {
    try (FileChannel channel = create(file, posix)) {
      writeAll(channel, bytes);
      return true;
    } catch (FileAlreadyExistsException e) {
      return false;
    }
  }

  /** Writes a file, 0600, beside the old one and puts it in its place. */
  public static void replaceWhole(Path file, byte[] bytes) throws IOException {
    Path unfinished = file.resolveSibling(".new-" + file.getFileName());
    Files.deleteIfExists(unfinished);
    try (FileChannel channel = create(unfinished, isPosix(file))) {
      writeAll(channel, bytes);
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void writeAll(FileChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
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

  /** Writes zeros: a hole would be a SIGBUS, or a metadata commit, on a full disk later. */
  public static void fill(RandomAccessFile file, int size, int chunk) throws IOException {
    byte[] zeros = new byte[chunk];
    for (int at = 0; at < size; at += chunk) {
      file.write(zeros, 0, Math.min(chunk, size - at));
    }
  }

  /**
   * Makes the names in a directory survive power loss. Where the system has no such thing (Windows)
   * it does nothing. An interrupt, which would close the channel, is kept for later.
   */
  public static void forceDirectory(Path directory) throws IOException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          interrupted |= Thread.interrupted();
          forceOnce(directory);
          return;
        } catch (ClosedByInterruptException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static void forceOnce(Path directory) throws IOException {
    FileChannel channel;
    try {
      channel = FileChannel.open(directory, StandardOpenOption.READ);
    } catch (IOException e) {
      if (isPosix(directory)) {
        throw e;
      }
      return;
    }
    try (channel) {
      channel.force(true);
    }
  }

  private PrivateFiles() {}
}
