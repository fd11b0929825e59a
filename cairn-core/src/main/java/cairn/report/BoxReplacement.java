package cairn.report;

import cairn.storage.DiskStorage;
import cairn.storage.SegmentName;
import cairn.storage.Storage;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Puts another box in the place of a dead run's, in one step that is durable.
 *
 * <p>One thread. Between construction and {@link #close} no other process or thread can do the
 * same. Process death and power loss leave the old box or the new one, whole.
 */
final class BoxReplacement implements Closeable {
  /*
   * 1 create box.scrub, or take over what a dead scrub left, and lock it   2 write the new box
   * 3 force it   4 rename it over box: the commit   5 force the directory
   *
   * Dead before 4: the old box, and a box.scrub with nothing in it that was to be erased; the next
   * scrub or prune takes it away. Power loss between 4 and 5: either box, since 3 is done.
   *
   * The file itself is locked and not the run's lock: a reader would take that for a living run. A
   * lock on a file that was renamed meanwhile is one on the box; so the name is looked up again.
   * POSIX locks go when the process closes any descriptor of the file; so within one process it is
   * never opened twice.
   */

  /** Directories that this process works on. */
  private static final Set<Path> BUSY = ConcurrentHashMap.newKeySet();

  /** Beside the box for a moment; {@code cairn prune} knows it. */
  static final String NAME = "box.scrub";

  private static final Set<PosixFilePermission> PRIVATE =
      PosixFilePermissions.fromString("rw-------");

  private final Path directory;
  private final Path box;
  private final Path file;
  private final IntConsumer steps;
  private final FileChannel channel;
  private final Path busy;
  private boolean replaced;

  /**
   * Begins.
   *
   * @param steps told each step that is done, by its number
   * @throws IOException if another scrub is at work, or the directory can't be written to
   */
  BoxReplacement(Path directory, IntConsumer steps) throws IOException {
    this.directory = directory;
    this.box = directory.resolve("box");
    this.file = directory.resolve(NAME);
    this.steps = steps;
    this.busy = directory.toRealPath();
    if (!BUSY.add(busy)) {
      throw atWork();
    }
    FileChannel locked = null;
    try {
      locked = lock();
    } finally {
      if (locked == null) {
        BUSY.remove(busy);
      }
    }
    channel = locked;
    steps.accept(1);
  }

  private IOException atWork() {
    return new IOException(
        "another scrub is at work: file=" + file + " (try again when it has ended)");
  }

  private FileChannel lock() throws IOException {
    Object before = null;
    FileChannel opened;
    try {
      opened =
          FileChannel.open(
              file,
              StandardOpenOption.CREATE_NEW,
              StandardOpenOption.WRITE,
              LinkOption.NOFOLLOW_LINKS);
    } catch (FileAlreadyExistsException e) {
      before = key();
      opened = FileChannel.open(file, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }
    boolean ours = false;
    try {
      ours = isLocked(opened) && (before == null || before.equals(key()));
    } finally {
      if (!ours) {
        opened.close();
      }
    }
    if (!ours) {
      throw atWork();
    }
    return opened;
  }

  private @Nullable Object key() throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .fileKey();
  }

  /** The lock goes with the channel. */
  private static boolean isLocked(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null && lock.isValid();
    } catch (OverlappingFileLockException e) {
      return false;
    }
  }

  /**
   * Replaces the box.
   *
   * @throws IOException if that is not possible; the old box is untouched then, unless only the
   *     directory could not be forced
   */
  void replace(byte[] image) throws IOException {
    sameOwner();
    channel.truncate(0);
    ByteBuffer left = ByteBuffer.wrap(image);
    while (left.hasRemaining()) {
      channel.write(left);
    }
    steps.accept(2);
    channel.force(true);
    steps.accept(3);
    Files.move(file, box, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    replaced = true;
    steps.accept(4);
    forceDirectory();
    steps.accept(5);
  }

  /**
   * Deletes the run's journal: all of it that is shown is in the box now. Dead before it is done: a
   * reader doesn't use it any more, and the next scrub deletes it.
   *
   * @return whether there was one
   */
  boolean deleteJournal() throws IOException {
    Storage storage = new DiskStorage(directory);
    List<Long> segments = SegmentName.numbers(storage);
    if (segments.isEmpty()) {
      return false;
    }
    for (long segment : segments) {
      storage.delete(SegmentName.of(segment));
    }
    SegmentName.deleteUnfinished(storage);
    storage.forceDirectory();
    steps.accept(6);
    return true;
  }

  /** An administrator's scrub must not take the box away from the application's user. */
  private void sameOwner() throws IOException {
    PosixFileAttributeView view =
        Files.getFileAttributeView(file, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
    if (view == null) {
      return; // no such thing here
    }
    Path like = Files.exists(box, LinkOption.NOFOLLOW_LINKS) ? box : directory;
    PosixFileAttributes old =
        Files.readAttributes(like, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    PosixFileAttributes now = view.readAttributes();
    view.setPermissions(PRIVATE);
    if (!Objects.equals(old.group(), now.group())) {
      view.setGroup(old.group());
    }
    if (!Objects.equals(old.owner(), now.owner())) {
      view.setOwner(old.owner());
    }
  }

  private void forceDirectory() throws IOException {
    FileChannel opened;
    try {
      opened = FileChannel.open(directory, StandardOpenOption.READ);
    } catch (IOException e) {
      return; // systems that don't open directories order their renames themselves
    }
    try (opened) {
      opened.force(true);
    }
  }

  @Override
  public void close() throws IOException {
    try (channel) {
      if (!replaced) {
        Files.deleteIfExists(file);
      }
    } finally {
      BUSY.remove(busy);
    }
  }
}
