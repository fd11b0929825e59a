package cairn.otel;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of its own for one main method: for what is read once, and what the JIT believes. */
final class ChildProcess {
  static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
  private static final int TIMEOUT_SECONDS = 60;

  private ChildProcess() {}

  /** {@return what it printed, and its exit status} */
  static String java(Path java, List<String> options, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(java.toString(), "-Xmx128m"));
    command.addAll(options);
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("child does not end: " + command);
      }
      return output + "exit=" + process.exitValue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } finally {
      process.destroyForcibly();
    }
  }
}
