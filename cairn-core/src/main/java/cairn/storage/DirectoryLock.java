package cairn.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a directory that one process at a time may write to: a file {@code lock} that nothing
 * else ever opens, and beside it {@code owner}, which says in words who holds it.
 *
 * <p>Held until {@link #close} or the death of the process. Advisory; not for file systems without
 * working locks.
 */
public final class DirectoryLock implements Closeable {
  /*
   * POSIX locks belong to the process and go when any descriptor of the file is closed in it. So a
   * directory that this JVM holds is refused before its lock file is opened, and nobody looks while
   * somebody takes it.
   *
   * To see whether it is held a reader takes a shared lock, and gives it back at once. Who wants the
   * lock at that moment is refused it too; so it is tried for as long as no reader holds it.
   */

  private static final int ATTEMPTS = 50;
  private static final long PAUSE_NANOS = 2_000_000;

  private static final int MAX_OWNER_BYTES = 1024;

  private final Path directory;
  private final FileChannel channel;
  private final FileLock lock;

  private DirectoryLock(Path directory, FileChannel channel, FileLock lock) {
    this.directory = directory;
    this.channel = channel;
    this.lock = lock;
  }

  /** Thrown if another holds the lock. */
  public static final class HeldException extends IOException {
    private static final long serialVersionUID = 1;

    HeldException(String message) {
      super(message);
    }
  }

  /**
   * Takes the lock; if another holds it, looks again for a tenth of a second.
   *
   * @param name of the lock file
   * @param what for the message, such as {@code journal}
   * @throws HeldException if it is held, naming the owner
   */
  public static DirectoryLock take(Path directory, String name, String what) throws IOException {
    Path real = directory.toRealPath();
    Path key = name.equals("lock") ? real : real.resolve(name);
    synchronized (HeldDirectories.monitor()) {
      if (!HeldDirectories.tryHold(key)) {
        throw held(
            real, name, what, "ownerPid=" + ProcessHandle.current().pid() + " (this process)");
      }
    }
    FileChannel channel = null;
    FileLock lock = null;
    boolean interrupted = Thread.interrupted();
    try {
      channel = open(real.resolve(name));
      lock = channel.tryLock();
      for (int i = 1; i < ATTEMPTS && lock == null; i++) {
        LockSupport.parkNanos(PAUSE_NANOS);
        lock = channel.tryLock();
      }
      if (lock == null) {
        throw held(real, name, what, owner(real.resolve(ownerName(name))));
      }
      writeOwner(real, name);
      return new DirectoryLock(key, channel, lock);
    } catch (IOException | RuntimeException e) {
      if (channel != null) {
        channel.close();
      }
      HeldDirectories.release(key);
      throw e;
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static String ownerName(String name) {
    return name.equals("lock") ? "owner" : name + ".owner";
  }

  private static HeldException held(Path directory, String name, String what, String owner) {
    return new HeldException(
        what
            + " is in use: dir="
            + directory
            + (name.equals("lock") ? "" : ", lock=" + name)
            + ", "
            + owner
            + " (close it there or choose another directory)");
  }

  private static FileChannel open(Path file) throws IOException {
    boolean posix = PrivateFiles.isPosix(file);
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      try {
        PrivateFiles.create(file, posix).close();
      } catch (java.nio.file.FileAlreadyExistsException e) {
        // Another process of ours came first.
      }
    }
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      throw new NotRegularFileException(file);
    }
    return FileChannel.open(file, Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS));
  }

  /** Written beside and renamed: a reader sees the old owner or the new one. */
  private static void writeOwner(Path directory, String name) {
    Path file = directory.resolve(ownerName(name));
    Path unfinished = directory.resolve(".new-" + ownerName(name));
    try {
      Files.deleteIfExists(unfinished);
      try (FileChannel made = PrivateFiles.create(unfinished, PrivateFiles.isPosix(directory))) {
        made.write(
            StandardCharsets.UTF_8.encode(
                "ownerPid=" + ProcessHandle.current().pid() + ", ownerHost=" + host() + "\n"));
      }
      Files.move(
          unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      // Only a message would be better for it; the lock is what counts.
    }
  }

  private static String host() {
    @Nullable String name = System.getenv("HOSTNAME");
    if (name != null && !name.isBlank()) {
      return name;
    }
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    } catch (IOException | RuntimeException e) {
      return "unknown";
    }
  }

  private static String owner(Path file) {
    try {
      if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          && Files.size(file) <= MAX_OWNER_BYTES) {
        String text = Files.readString(file).strip();
        if (text.startsWith("ownerPid=") && text.chars().allMatch(c -> c >= ' ' && c < 127)) {
          return text;
        }
      }
    } catch (IOException | RuntimeException e) {
      // Then it is not known.
    }
    return "owner=unknown";
  }

  /** {@return whether a living process other than through this object holds that lock} */
  public static boolean isHeld(Path directory) {
    synchronized (HeldDirectories.monitor()) {
      return look(directory);
    }
  }

  private static boolean look(Path directory) {
    if (HeldDirectories.isHeld(directory)) {
      return true;
    }
    Path file = directory.resolve("lock");
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return false;
    }
    try (FileChannel channel =
            FileChannel.open(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        FileLock shared = channel.tryLock(0, Long.MAX_VALUE, true)) {
      return shared == null;
    } catch (IOException | RuntimeException e) {
      return false;
    }
  }

  /** Gives it up; a second time does nothing. */
  @Override
  public synchronized void close() throws IOException {
    if (!channel.isOpen()) {
      return;
    }
    try {
      lock.release();
    } finally {
      channel.close();
      HeldDirectories.release(directory);
    }
  }
}
