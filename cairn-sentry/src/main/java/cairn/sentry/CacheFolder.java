package cairn.sentry;

import cairn.report.Finding;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A directory of sentry-java, looked at from outside: opens regular files only, for reading,
 * follows no symbolic link, takes no lock, and collects what is wrong.
 */
final class CacheFolder {
  /** More than the SDK ever writes into one file. */
  static final int MAX_FILE = 64 << 20;

  /** The SDK keeps 30 envelopes by default. */
  private static final int MAX_NAMES = 10_000;

  private static final int MAX_FINDINGS = 500;
  private static final int FIRST_BUFFER = 64 * 1024;

  private final Path directory;
  private final List<Finding> findings = new ArrayList<>();
  private int unlisted;
  private @Nullable Instant newestChange;

  /**
   * A directory that the caller named or found.
   *
   * @param directory no symbolic link
   */
  CacheFolder(Path directory) {
    this.directory = directory;
  }

  Path directory() {
    return directory;
  }

  /** {@return when the newest of the files that were read was last written to} */
  @Nullable Instant newestChange() {
    return newestChange;
  }

  /** {@return what was noted, a bounded number of findings} */
  List<Finding> findings() {
    List<Finding> all = new ArrayList<>(findings);
    if (unlisted > 0) {
      all.add(
          new Finding(
              Finding.Severity.WARNING,
              "directory",
              "more findings: count=" + unlisted + ", limit=" + MAX_FINDINGS));
    }
    return Collections.unmodifiableList(all);
  }

  void info(String where, String text) {
    found(Finding.Severity.INFO, where, text);
  }

  void warning(String where, String text) {
    found(Finding.Severity.WARNING, where, text);
  }

  void error(String where, String text) {
    found(Finding.Severity.ERROR, where, text);
  }

  private void found(Finding.Severity severity, String where, String text) {
    if (findings.size() < MAX_FINDINGS) {
      findings.add(new Finding(severity, where, text));
    } else {
      unlisted++;
    }
  }

  /** {@return whether there is something of that name, be it what it may} */
  boolean has(String name) {
    return Files.exists(directory.resolve(name), LinkOption.NOFOLLOW_LINKS);
  }

  boolean isFolder(String name) {
    return Files.isDirectory(directory.resolve(name), LinkOption.NOFOLLOW_LINKS);
  }

  /** {@return names in it or in that directory of it, sorted; a link to a directory has none} */
  List<String> names(String folder) {
    Path path = folder.isEmpty() ? directory : directory.resolve(folder);
    List<String> names = new ArrayList<>();
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      return names;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
      for (Path entry : entries) {
        if (names.size() == MAX_NAMES) {
          warning(where(folder), "more files than limit=" + MAX_NAMES + ": the rest is not read");
          break;
        }
        names.add(entry.getFileName().toString());
      }
    } catch (IOException | DirectoryIteratorException | SecurityException e) {
      error(where(folder), "directory cannot be read: error=" + e);
    }
    Collections.sort(names);
    return names;
  }

  private static String where(String folder) {
    return folder.isEmpty() ? "directory" : folder;
  }

  /**
   * {@return the contents; null if there is no such file, or none that can be read, which is then
   * noted}
   *
   * @param name with its folder
   */
  byte @Nullable [] read(String name) {
    try (SeekableByteChannel channel = open(name)) {
      if (channel == null) {
        return null;
      }
      long size = channel.size();
      if (size > MAX_FILE) {
        warning(name, "file is too long: size=" + size + ", limit=" + MAX_FILE + " (cut there)");
      }
      return read(channel, (int) Math.min(size, MAX_FILE));
    } catch (IOException | SecurityException e) {
      unreadable(name, e);
      return null;
    }
  }

  /** {@return so many bytes at the channel's position, fewer where the file ends} */
  static byte[] read(SeekableByteChannel channel, int size) throws IOException {
    // A file may shrink meanwhile: memory is taken as its bytes come.
    ByteBuffer buffer = ByteBuffer.allocate(Math.min(size, FIRST_BUFFER));
    while (true) {
      if (!buffer.hasRemaining()) {
        if (buffer.capacity() >= size) {
          break;
        }
        long larger = Math.min(size, 4L * buffer.capacity());
        buffer = ByteBuffer.allocate((int) larger).put(buffer.flip());
      }
      if (channel.read(buffer) < 0) {
        break;
      }
    }
    return buffer.hasRemaining()
        ? Arrays.copyOf(buffer.array(), buffer.position())
        : buffer.array();
  }

  /**
   * Opens a regular file.
   *
   * @return null if there is none of that name, which is noted if there is something else
   */
  @Nullable SeekableByteChannel open(String name) throws IOException {
    Path file = directory.resolve(name);
    Path parent = file.getParent();
    if (!has(name) || parent == null) {
      return null;
    }
    if (!parent.equals(directory) && !Files.isDirectory(parent, LinkOption.NOFOLLOW_LINKS)) {
      warning(name, "lies behind a symbolic link and is not read");
      return null;
    }
    BasicFileAttributes attributes =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isRegularFile()) {
      // Opening a pipe would wait for its other end.
      warning(
          name,
          attributes.isSymbolicLink()
              ? "is a symbolic link and is not followed"
              : "is no regular file and is not opened");
      return null;
    }
    Instant changed = attributes.lastModifiedTime().toInstant();
    if (newestChange == null || changed.isAfter(newestChange)) {
      newestChange = changed;
    }
    return Files.newByteChannel(file, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  void unreadable(String name, Exception e) {
    error(name, "file cannot be read: error=" + e);
  }
}
