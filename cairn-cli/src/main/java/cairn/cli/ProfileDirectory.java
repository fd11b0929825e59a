package cairn.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The private directory that {@code profile} writes into. It goes with {@link #close}, and when
 * this process is interrupted or terminated: then the end of the JVM waits until what was measured
 * so far is shown.
 */
final class ProfileDirectory implements AutoCloseable {
  /** Behind it come random digits. */
  static final String PREFIX = ".cairn-profile-";

  private static final long PATIENCE_SECONDS = 20;

  private final Path path;
  private final Runnable stop;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook = new Thread(this::endWithProcess, "profile-end");

  private ProfileDirectory(Path path, Runnable stop) {
    this.path = path;
    this.stop = stop;
  }

  /**
   * Makes one.
   *
   * @param parent on the disk that is to be measured
   * @param stop called when the process is to end
   */
  static ProfileDirectory in(Path parent, Runnable stop) throws IOException {
    // Its owner's alone wherever the file system has permissions.
    ProfileDirectory directory =
        new ProfileDirectory(Files.createTempDirectory(parent, PREFIX), stop);
    try {
      Runtime.getRuntime().addShutdownHook(directory.hook);
    } catch (IllegalStateException e) {
      delete(directory.path); // This process is ending already.
      throw e;
    }
    return directory;
  }

  /** {@return directories that a profile left in {@code parent} because it was killed} */
  static List<Path> leftIn(Path parent) {
    List<Path> left = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(parent, PREFIX + "*")) {
      entries.forEach(left::add);
    } catch (IOException e) {
      return left; // What can't be listed has nothing to say about.
    }
    return left;
  }

  Path path() {
    return path;
  }

  private void endWithProcess() {
    stop.run();
    try {
      if (!closed.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        delete(path);
      }
    } catch (IOException | InterruptedException e) {
      // What is left has a name that says whose it is.
    }
  }

  /** Deletes it, and lets the process end. */
  @Override
  public void close() throws IOException {
    try {
      delete(path);
    } finally {
      closed.countDown();
      try {
        Runtime.getRuntime().removeShutdownHook(hook);
      } catch (IllegalStateException e) {
        // This process is ending: the hook runs, and finds nothing left to do.
      }
    }
  }

  /** Deletes a directory and everything in it; follows no link. */
  static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path path, @Nullable IOException e)
              throws IOException {
            if (e != null) {
              throw e;
            }
            Files.delete(path);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
