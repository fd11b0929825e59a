package cairn.cli;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * The shop as a process of its own. It ends with {@link #close}, with this process when that is
 * interrupted or terminated, and by itself when it finds this process gone.
 */
final class DemoShop implements AutoCloseable {
  private final Process process;
  private final Path directory;
  private final Thread hook;
  private int port;
  private String runId = "";

  private DemoShop(Process process, Path directory) {
    this.process = process;
    this.directory = directory;
    this.hook = new Thread(this::clearAway, "demo-shop-end");
  }

  /**
   * Starts the shop.
   *
   * @param jar the shop's runnable jar
   * @param root where it records its run
   * @param directory for its log and for what it tells the demo
   */
  static DemoShop start(Path jar, Path root, Path directory) throws IOException {
    Process process =
        new ProcessBuilder(
                System.getProperty("java.home") + File.separator + "bin" + File.separator + "java",
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-Dcairn.dir=" + root.toAbsolutePath(),
                "-Dshop.ready-file=" + readyFile(directory),
                "-Dshop.witness-file=" + witnessFile(directory),
                "-Dshop.end-with-parent=true",
                "-jar",
                jar.toAbsolutePath().toString())
            .directory(directory.toFile())
            .redirectInput(Redirect.PIPE)
            .redirectErrorStream(true)
            .redirectOutput(log(directory).toFile())
            .start();
    DemoShop shop = new DemoShop(process, directory);
    try {
      Runtime.getRuntime().addShutdownHook(shop.hook);
    } catch (IllegalStateException e) {
      process.destroyForcibly(); // This process is ending already.
      throw e;
    }
    return shop;
  }

  /** Waits until the shop answers. */
  void awaitReady(Duration timeout) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    Path readyFile = readyFile(directory);
    while (!Files.exists(readyFile)) {
      if (!process.isAlive()) {
        throw failure("shop ended while it started: exitStatus=" + process.exitValue());
      }
      if (System.nanoTime() - deadline > 0) {
        throw failure("shop did not start in time: limit=" + timeout.toSeconds() + " s");
      }
      Thread.sleep(20);
    }
    Properties ready = new Properties();
    try (InputStream in = Files.newInputStream(readyFile)) {
      ready.load(in);
    }
    port = Integer.parseInt(ready.getProperty("port"));
    runId = ready.getProperty("run");
    String mode = ready.getProperty("mode");
    if (!mode.equals("mapped")) {
      throw failure("shop does not record at the call: mode=" + mode + ", expected=mapped");
    }
  }

  int port() {
    return port;
  }

  long pid() {
    return process.pid();
  }

  String runId() {
    return runId;
  }

  Path witnessFile() {
    return witnessFile(directory);
  }

  private static Path readyFile(Path directory) {
    return directory.resolve("ready");
  }

  private static Path witnessFile(Path directory) {
    return directory.resolve("witness");
  }

  /** {@return where the shop's output goes} */
  static Path log(Path directory) {
    return directory.resolve("shop.log");
  }

  /** {@return what to throw when the shop is the reason} */
  CliException failure(String what) {
    return new CliException(
        ExitCode.FOUND, what + ", log=" + log(directory) + " (its end says why)");
  }

  /** {@return the exit status; null while the shop is alive} */
  @Nullable Integer exitStatus() {
    return process.isAlive() ? null : process.exitValue();
  }

  /** Sends SIGKILL, and waits until the process is gone. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** When this process is interrupted or terminated. */
  private void clearAway() {
    process.destroyForcibly();
    try {
      process.waitFor();
      delete(directory);
    } catch (IOException | InterruptedException e) {
      // The log stays, in the directory for temporary files.
    }
  }

  /** Deletes the directory given to {@link #start}, and what the shop wrote into it. */
  static void delete(Path directory) throws IOException {
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.delete(file);
      }
    }
    Files.delete(directory);
  }

  @Override
  public void close() {
    // Waits: whoever looks afterwards finds no shop.
    process.destroyForcibly().onExit().join();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // This process is ending: the hook runs, and finds nothing left to do.
    }
  }
}
