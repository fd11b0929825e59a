package cairn.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The command as a process of its own. */
final class CliProcess implements AutoCloseable {
  final Process process;
  private final Path err;
  private final Writer in;
  private final BufferedReader out;

  private CliProcess(Process process, Path err) {
    this.process = process;
    this.err = err;
    this.in = process.outputWriter(StandardCharsets.UTF_8);
    this.out = process.inputReader(StandardCharsets.UTF_8);
  }

  /**
   * Starts {@code cairn words}.
   *
   * @param directory where it works, and where a file takes its stderr
   */
  static CliProcess start(Path directory, Map<String, String> environment, Object... words) {
    try {
      Path err = Files.createTempFile(directory, "stderr", "");
      return new CliProcess(
          builder(directory, environment, words).redirectError(err.toFile()).start(), err);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** {@return what starts it, with its output in pipes} */
  static ProcessBuilder builder(Path directory, Map<String, String> environment, Object... words) {
    List<String> command = java("-XX:TieredStopAtLevel=1", Main.class.getName());
    for (Object word : words) {
      command.add(word.toString());
    }
    ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
    builder.environment().putAll(environment);
    return builder;
  }

  /** {@return a command line for a small JVM with this class path; may be added to} */
  static List<String> java(String... words) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xmx64m",
                "-Dfile.encoding=UTF-8",
                "-cp",
                System.getProperty("java.class.path")));
    command.addAll(List.of(words));
    return command;
  }

  /** {@return the next line that it, or what it runs, prints; null at the end} */
  String readLine() {
    try {
      return out.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  CliProcess send(String line) {
    try {
      in.write(line + "\n");
      in.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  /** Sends a signal to it alone. */
  CliProcess signal(String name) {
    signal(process.pid(), name);
    return this;
  }

  static void signal(long pid, String name) {
    try {
      int status =
          new ProcessBuilder("/bin/sh", "-c", "kill -s " + name + " " + pid)
              .redirectErrorStream(true)
              .start()
              .waitFor();
      if (status != 0) {
        throw new AssertionError("no such process: pid=" + pid);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** {@return what it said from now on, when it ends} */
  Cli.Result await() {
    try {
      in.close();
      StringBuilder rest = new StringBuilder();
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        rest.append(line).append('\n');
      }
      if (!process.waitFor(60, TimeUnit.SECONDS)) {
        throw new AssertionError("still alive: pid=" + process.pid());
      }
      return new Cli.Result(process.exitValue(), rest.toString(), Files.readString(err));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
