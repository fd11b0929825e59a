package cairn.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A directory that is deleted with everything in it. */
final class Scratch implements AutoCloseable {
  private final Path directory;

  private Scratch(Path directory) {
    this.directory = directory;
  }

  /**
   * {@return where directories are made: {@code java.io.tmpdir}, which the harnesses point to the
   * disk under test}
   */
  static Path root() {
    return Path.of(System.getProperty("java.io.tmpdir"));
  }

  static Scratch create(String prefix) {
    return create(root(), prefix);
  }

  static Scratch create(Path parent, String prefix) {
    try {
      return new Scratch(Files.createTempDirectory(parent, "cairn-" + prefix + "-"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Path directory() {
    return directory;
  }

  @Override
  public void close() throws IOException {
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.deleteIfExists(dir);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
