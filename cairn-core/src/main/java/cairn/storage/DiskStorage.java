package cairn.storage;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A directory of the file system.
 *
 * <p>Files are {@link RandomAccessFile}s and not channels: an interrupted thread closes a channel,
 * for everyone.
 */
public final class DiskStorage implements Storage {
  /*
   * writeForced goes through a second descriptor that was opened with O_DSYNC ("rwd"): write and
   * force in one system call, and like fdatasync it leaves the modification time alone. An fsync
   * would commit that too, which doubles the price on a journaling file system. RandomAccessFile has no fdatasync of its own.
   */

  private final Path directory;
  private final boolean posix;

  /** The directory need not exist for reading. */
  public DiskStorage(Path directory) {
    this.directory = directory;
    this.posix = PrivateFiles.isPosix(directory);
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> String.valueOf(file.getFileName())).collect(Collectors.toList());
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (java.io.UncheckedIOException e) {
      throw e.getCause();
    }
  }

  @Override
  public Output create(String name) throws IOException {
    PrivateFiles.create(directory.resolve(name), posix).close();
    return open(name);
  }

  @Override
  public Output open(String name) throws IOException {
    return new DiskOutput(regular(name));
  }

  @Override
  public Input read(String name) throws IOException {
    Path file = regular(name);
    try {
      return new DiskInput(file);
    } catch (FileNotFoundException e) { // also for a missing permission
      if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
        throw new NoSuchFileException(file.toString()); // deleted since it was looked at
      }
      throw e;
    }
  }

  private Path regular(String name) throws IOException {
    Path file = directory.resolve(name);
    // One look: between two, a file may come or go.
    if (!Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
        .isRegularFile()) {
      throw new NotRegularFileException(file);
    }
    return file;
  }

  @Override
  public void rename(String from, String to) throws IOException {
    Files.move(
        directory.resolve(from),
        directory.resolve(to),
        StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public void delete(String name) throws IOException {
    Files.deleteIfExists(directory.resolve(name));
  }

  @Override
  public void forceDirectory() throws IOException {
    PrivateFiles.forceDirectory(directory);
  }

  @Override
  public String toString() {
    return directory.toString();
  }

  private static final class DiskOutput implements Output {
    private final RandomAccessFile file;

    /** Opened with the file, not at the first use: by then the file may have another name. */
    private final RandomAccessFile forced;

    DiskOutput(Path path) throws IOException {
      file = new RandomAccessFile(path.toFile(), "rw");
      boolean done = false;
      try {
        forced = new RandomAccessFile(path.toFile(), "rwd");
        done = true;
      } finally {
        if (!done) {
          file.close();
        }
      }
    }

    @Override
    public void write(long position, byte[] bytes, int from, int length) throws IOException {
      file.seek(position);
      file.write(bytes, from, length);
    }

    @Override
    public void writeForced(long position, byte[] bytes, int from, int length) throws IOException {
      forced.seek(position);
      forced.write(bytes, from, length);
    }

    @Override
    public void force() throws IOException {
      file.getFD().sync();
    }

    @Override
    public void close() throws IOException {
      try {
        forced.close();
      } finally {
        file.close();
      }
    }
  }

  private static final class DiskInput implements Input {
    private final RandomAccessFile file;

    DiskInput(Path path) throws IOException {
      file = new RandomAccessFile(path.toFile(), "r");
    }

    @Override
    public long size() throws IOException {
      return file.length();
    }

    @Override
    public int read(long position, byte[] into, int from, int length) throws IOException {
      file.seek(position);
      int count = 0;
      while (count < length) {
        int read = file.read(into, from + count, length - count);
        if (read < 0) {
          break;
        }
        count += read;
      }
      return count;
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
