package cairn.stress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A file system of its own for a test, where this user may mount one. */
final class Mount implements AutoCloseable {
  final Path directory;

  private Mount(Path directory) {
    this.directory = directory;
  }

  /**
   * Mounts one.
   *
   * @param type such as {@code tmpfs}
   * @param options such as {@code size=64k}
   * @return empty, and a line on the standard output that says why, if this user may not
   */
  static Optional<Mount> of(String type, String options, Path directory) throws IOException {
    return of(type, options, "cairn-stress", directory);
  }

  /**
   * As {@link #of(String, String, Path)}.
   *
   * @param source what is mounted
   */
  static Optional<Mount> of(String type, String options, String source, Path directory)
      throws IOException {
    Files.createDirectories(directory);
    String said = run("mount", "-t", type, "-o", options, source, directory.toString());
    if (said != null) {
      System.out.println("NOT RUN, cannot mount " + type + " (needs root): " + said);
      return Optional.empty();
    }
    return Optional.of(new Mount(directory));
  }

  /** Makes it read-only. */
  void readOnly() throws IOException {
    remount("ro");
  }

  /** Mounts it with other options, such as a size. */
  void remount(String options) throws IOException {
    String said = run("mount", "-o", "remount," + options, directory.toString());
    if (said != null) {
      throw new IOException("cannot remount: " + said);
    }
  }

  /** Takes all the space that is left. */
  void fill() throws IOException {
    try (var out = Files.newOutputStream(directory.resolve("filler"))) {
      byte[] block = new byte[4096];
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      // Full, as wanted.
      if (Files.getFileStore(directory).getUsableSpace() != 0) {
        throw e;
      }
    }
  }

  @Override
  public void close() throws IOException {
    String said = run("umount", directory.toString());
    if (said != null) {
      run("umount", "--lazy", directory.toString()); // gone as soon as nobody uses it
      throw new IOException("cannot unmount: " + said);
    }
  }

  /** {@return null if the command succeeds, else what it says} */
  static String run(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.onExit().join().exitValue() == 0 ? null : said.strip();
    } catch (IOException e) {
      return e.getMessage();
    }
  }
}
