package cairn.stress;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A process that obeys the lines on its standard input, seen from the one that started it. One
 * thread.
 */
final class Child implements AutoCloseable {
  private static final long PATIENCE_SECONDS = 60;

  private final Process process;
  private final Path log;
  private final BufferedReader lines;

  private Child(Process process, Path log) {
    this.process = process;
    this.log = log;
    this.lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /**
   * Starts one.
   *
   * @param log gets what it writes to its standard error
   */
  static Child start(List<String> command, Path log) throws IOException {
    return new Child(new ProcessBuilder(command).redirectError(log.toFile()).start(), log);
  }

  long pid() {
    return process.pid();
  }

  /** {@return the next line of its standard output} Waits for it. */
  String readLine() throws IOException {
    String line = lines.readLine();
    if (line == null) {
      throw died();
    }
    return line;
  }

  void send(String command) throws IOException {
    OutputStream out = process.getOutputStream();
    out.write((command + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /** Sends a command and waits until it says that it is done. */
  void obey(String command) throws IOException {
    send(command);
    String answer = readLine();
    if (!answer.equals("done")) {
      throw new IOException(
          "victim did not obey: command=" + command + ", answer=" + answer + ", log=" + log());
    }
  }

  /** Lets it live on for so long; throws if it dies meanwhile. */
  void liveOn(long millis) throws IOException, InterruptedException {
    if (diesWithin(millis)) {
      throw died();
    }
  }

  /** {@return whether it ends by itself within so long} */
  boolean diesWithin(long millis) throws InterruptedException {
    return process.waitFor(millis, TimeUnit.MILLISECONDS);
  }

  private IOException died() throws IOException {
    process.onExit().join();
    return new IOException("victim died: status=" + process.exitValue() + ", log=" + log());
  }

  /** Kills it with SIGKILL, whatever it is doing, and waits for its death. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  /**
   * Sends a signal to it.
   *
   * @param name such as {@code STOP}
   */
  void signal(String name) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start().waitFor();
  }

  /**
   * Ends it in an orderly way and waits for that.
   *
   * @param command such as {@code close}
   * @return its exit status
   */
  int end(String command) throws IOException, InterruptedException {
    send(command);
    return awaitEnd();
  }

  /** {@return its exit status} Waits for its end. */
  int awaitEnd() throws IOException, InterruptedException {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new IOException("victim does not end: log=" + log());
    }
    return process.exitValue();
  }

  /** {@return what it wrote to its standard error} */
  String log() throws IOException {
    return Files.readString(log);
  }

  /** Kills it if it lives. */
  @Override
  public void close() {
    kill();
  }
}
