package cairn.report;

import cairn.storage.HeldDirectories;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** What the lock of a run says about its process. */
enum Liveness {
  /** The lock is held. */
  ALIVE,
  /** The lock is free: whoever held it is dead. */
  DEAD,
  /** There is no lock, or it can't be asked. */
  UNKNOWN;

  /*
   * POSIX locks belong to a process, and closing any descriptor of a file drops the process's lock
   * on it. So the lock file of a run that this JVM records is never opened: its recorder, in
   * whatever class loader, names the run in a system property first (real paths, each followed by a
   * line feed). For other processes a shared lock is tried on a read-only descriptor; it conflicts
   * with the owner's exclusive one, and not with other readers.
   */
  /** Asks the lock; never waits. */
  static Liveness of(Path run) {
    synchronized (HeldDirectories.monitor()) { // two looks at a time would see one another
      return ask(run);
    }
  }

  private static Liveness ask(Path run) {
    if (HeldDirectories.isHeld(run)) {
      return ALIVE;
    }
    Path lock = run.resolve("lock");
    if (!Files.isRegularFile(lock, LinkOption.NOFOLLOW_LINKS)) {
      return UNKNOWN;
    }
    try (FileChannel channel =
            FileChannel.open(lock, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
        FileLock shared = channel.tryLock(0, Long.MAX_VALUE, true)) {
      return shared == null ? ALIVE : DEAD;
    } catch (OverlappingFileLockException e) {
      return ALIVE; // held by this JVM, and not named: an older recorder
    } catch (IOException | UnsupportedOperationException | SecurityException e) {
      return UNKNOWN;
    }
  }
}
