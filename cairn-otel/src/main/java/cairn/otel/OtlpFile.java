package cairn.otel;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Files of OTLP JSON lines, as the Collector's {@code otlpjsonfile} receiver and others read them.
 * Any thread of any process.
 *
 * <p>What a call has written is forced before it returns. New files are their owner's alone. In a
 * directory each file appears whole and holds one kind of records, as the specification asks; a
 * file that is appended to holds both kinds, a request a line.
 */
public final class OtlpFile {
  /*
   * Appending: under the file's lock, at its end; a line that another writer left torn gets its
   * line feed first, so that nothing is ever glued to it. What could not be written whole is cut
   * off again. Readers that tail the file see whole lines, or a torn one that never grows.
   *
   * In a directory: written under a name that no *.jsonl matches, forced, renamed. The names come
   * from the run id: a second export replaces a file by one with the same records.
   */

  private static final FileAttribute<?>[] NONE = {};
  private static final byte LINE_FEED = '\n';

  private OtlpFile() {}

  /**
   * Appends all requests of a run to a file, the spans first, the death last; makes the file if
   * there is none. A pipe or a device is written to as it is.
   *
   * @throws IOException if not all of it could be written and forced; then a regular file ends
   *     where it ended before, unless even that failed
   */
  public static void append(Path file, OtlpJson telemetry) throws IOException {
    Objects.requireNonNull(file, "file");
    Objects.requireNonNull(telemetry, "telemetry");
    List<byte[]> requests = new ArrayList<>(telemetry.traceRequests());
    requests.addAll(telemetry.logRequests());
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.WRITE)) {
        for (byte[] request : requests) {
          out.write(line(request).array());
        }
      }
      return;
    }
    appendLocked(file, requests);
  }

  // A file lock is one of the whole JVM and is refused to a second thread of it.
  private static synchronized void appendLocked(Path file, List<byte[]> requests)
      throws IOException {
    boolean isNew = !Files.exists(file);
    try (FileChannel channel =
            FileChannel.open(
                file,
                Set.of(
                    StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
                ownerOnly(file));
        FileLock lock = channel.lock()) {
      append(channel, requests);
      if (lock.isValid() && isNew) {
        forceDirectory(file);
      }
    }
  }

  private static void append(FileChannel channel, List<byte[]> requests) throws IOException {
    long end = channel.size();
    try {
      channel.position(end);
      if (end > 0 && !endsLine(channel, end)) {
        writeAll(channel, ByteBuffer.wrap(new byte[] {LINE_FEED}));
      }
      for (byte[] request : requests) {
        writeAll(channel, line(request));
      }
      channel.force(true);
    } catch (IOException e) {
      try {
        channel.truncate(end);
      } catch (IOException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  private static boolean endsLine(FileChannel channel, long end) throws IOException {
    ByteBuffer last = ByteBuffer.allocate(1);
    return channel.read(last, end - 1) == 1 && last.get(0) == LINE_FEED;
  }

  /**
   * Writes the files {@code <run id>.traces.jsonl} and {@code <run id>.logs.jsonl} into a
   * directory, which is made if there is none; only those with something in them.
   *
   * @return the files, the spans first
   * @throws IOException if not all could be written and forced; each file is there whole or as it
   *     was
   */
  public static List<Path> create(Path directory, OtlpJson telemetry) throws IOException {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(telemetry, "telemetry");
    Files.createDirectories(directory);
    List<Path> files = new ArrayList<>();
    String name = plainName(telemetry.runId());
    create(directory.resolve(name + ".traces.jsonl"), telemetry.traceRequests(), files);
    create(directory.resolve(name + ".logs.jsonl"), telemetry.logRequests(), files);
    return files;
  }

  private static void create(Path file, List<byte[]> requests, List<Path> files)
      throws IOException {
    if (requests.isEmpty()) {
      return;
    }
    Path unfinished =
        file.resolveSibling(
            ".new-"
                + ProcessHandle.current().pid()
                + "-"
                + Thread.currentThread().getId()
                + "-"
                + Long.toHexString(System.nanoTime()));
    try {
      try (FileChannel channel =
          FileChannel.open(
              unfinished,
              Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
              ownerOnly(file))) {
        for (byte[] request : requests) {
          writeAll(channel, line(request));
        }
        channel.force(true);
      }
      Files.move(
          unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(unfinished);
    }
    forceDirectory(file);
    files.add(file);
  }

  /** {@return a name without anything that a path could be made of: a box may lie about its id} */
  private static String plainName(String runId) {
    StringBuilder name = new StringBuilder();
    for (int i = 0; i < runId.length() && i < 100; i++) {
      char c = runId.charAt(i);
      boolean isPlain =
          (c >= '0' && c <= '9')
              || (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c == '-' && i > 0);
      name.append(isPlain ? c : '_');
    }
    return name.isEmpty() ? "_" : name.toString();
  }

  private static ByteBuffer line(byte[] request) {
    return ByteBuffer.allocate(request.length + 1).put(request).put(LINE_FEED).flip();
  }

  private static void writeAll(FileChannel channel, ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private static FileAttribute<?>[] ownerOnly(Path file) {
    return file.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
        }
        : NONE;
  }

  /** Makes a new name last; not every system can open a directory, and those needn't. */
  private static void forceDirectory(Path file) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || NONE == ownerOnly(file)) {
      return;
    }
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }
}
