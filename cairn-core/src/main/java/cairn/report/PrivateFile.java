package cairn.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A small file that only its owner may read, and that is complete when it has its name.
 *
 * <p>Written under another name of the same directory first, then renamed over what is there; a
 * death in between leaves that other name, which begins with {@code .new-}. Survives process death
 * once {@link #write} returned.
 */
final class PrivateFile {
  private PrivateFile() {}

  /** Writes the content of the file. */
  interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  /**
   * Writes a file.
   *
   * @param modified what it gets as its time
   * @throws IOException if it could not be written: then nothing has the name that had it not
   */
  static void write(Path target, FileTime modified, Content content) throws IOException {
    String random = Long.toHexString(ThreadLocalRandom.current().nextLong());
    Path made = target.resolveSibling(".new-" + random);
    try {
      try (SeekableByteChannel channel =
              Files.newByteChannel(
                  made,
                  Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                  ownerOnly(target));
          OutputStream out = Channels.newOutputStream(channel)) {
        content.writeTo(out);
      }
      Files.setLastModifiedTime(made, modified);
      Files.move(made, target, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(made);
    }
  }

  static void write(Path target, FileTime modified, byte[] content) throws IOException {
    write(target, modified, out -> out.write(content));
  }

  private static FileAttribute<?>[] ownerOnly(Path path) {
    if (!path.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return new FileAttribute<?>[0];
    }
    return new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))
    };
  }
}
