package cairn.cli;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A child JVM that records, and dies as the test wants. */
final class ChildRun implements AutoCloseable {
  private final Process process;
  private final Writer in;
  private final BufferedReader out;
  final String id;
  final Path directory;

  private ChildRun(Process process, Path root, String app) throws IOException {
    this.process = process;
    this.in = process.outputWriter(StandardCharsets.UTF_8);
    this.out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    this.id = String.valueOf(out.readLine());
    this.directory = root.resolve(app).resolve(id);
  }

  static ChildRun start(Path root, String app) {
    try {
      Process process =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:+UseSerialGC",
                  "-XX:TieredStopAtLevel=1",
                  "-Xmx64m",
                  "-Dfile.encoding=UTF-8",
                  "-cp",
                  System.getProperty("java.class.path"),
                  RecordedApp.class.getName(),
                  root.toString(),
                  app)
              .redirectError(new File("/dev/null"))
              .start();
      return new ChildRun(process, root, app);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Does it and waits until it is done. */
  ChildRun does(String... words) {
    send(words);
    try {
      if (!"done".equals(out.readLine())) {
        throw new AssertionError("not done: " + List.of(words));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  private void send(String... words) {
    try {
      in.write(String.join("\t", words) + "\n");
      in.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends by itself. */
  ChildRun ends(String... words) {
    send(words);
    return awaitEnd();
  }

  /** Dies of SIGKILL. */
  ChildRun kill() {
    process.destroyForcibly();
    return awaitEnd();
  }

  private ChildRun awaitEnd() {
    try {
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new AssertionError("still alive: pid=" + process.pid());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
    return this;
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    kill();
  }
}
