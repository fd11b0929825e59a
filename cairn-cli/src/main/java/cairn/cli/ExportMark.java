package cairn.cli;

import cairn.report.Run;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Set;

/**
 * That a run was exported: a small file beside the stored reports, which says when and where to.
 *
 * <p>Not the stored report: that says that a watcher told the death, and who looks at a console is
 * not who looks at a backend.
 */
final class ExportMark {
  /** Of its name. */
  static final String ENDING = ".exported";

  private static final FileAttribute<?>[] NONE = {};

  private final Path file;

  ExportMark(Run run) {
    this.file = run.storedReport().resolveSibling(run.id() + ENDING);
  }

  boolean isSet() {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }

  /** Sets it once the export is where it belongs; replaces an older one. */
  void set(Instant at, String target) throws IOException {
    Path reports = file.getParent();
    boolean isPosix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
    if (reports != null && !Files.isDirectory(reports, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(reports, mode(isPosix, "rwx------"));
    }
    Path unfinished =
        file.resolveSibling(".new-" + file.getFileName() + "-" + ProcessHandle.current().pid());
    Files.deleteIfExists(unfinished);
    String lines = "at: " + Units.rfc3339(at) + "\nto: " + Escape.line(target) + "\n";
    try (FileChannel channel =
        FileChannel.open(
            unfinished,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            mode(isPosix, "rw-------"))) {
      ByteBuffer bytes = ByteBuffer.wrap(lines.getBytes(StandardCharsets.UTF_8));
      while (bytes.hasRemaining()) {
        channel.write(bytes);
      }
    }
    Files.move(
        unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static FileAttribute<?>[] mode(boolean isPosix, String permissions) {
    return isPosix
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : NONE;
  }
}
