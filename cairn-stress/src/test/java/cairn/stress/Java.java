package cairn.stress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Other Java processes, and other Javas. */
final class Java {
  private Java() {}

  /**
   * How a process ended.
   *
   * @param status exit status
   * @param output standard output and error
   */
  record Outcome(int status, String output) {}

  /** Runs a class of these tests to its end. */
  static Outcome run(
      List<String> prefix, List<String> options, Class<?> main, Path log, String... args)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(prefix);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-XX:ErrorFile=" + log.resolveSibling("hs_err_pid%p.log"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(args));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    process.getOutputStream().close();
    boolean ended = process.waitFor(2, TimeUnit.MINUTES);
    if (!ended) {
      process.destroyForcibly().waitFor();
    }
    return new Outcome(process.exitValue(), Files.readString(log, StandardCharsets.UTF_8));
  }

  /**
   * {@return the home of a Java that has virtual threads: this one, else one installed beside it}
   */
  static Optional<Path> withVirtualThreads() throws IOException {
    for (Jdk jdk : Jdk.installed()) {
      if (jdk.feature() >= Jdk.FIRST_WITH_VIRTUAL_THREADS) {
        return Optional.of(jdk.home());
      }
    }
    System.out.println("NOT RUN, no Java 21 or later beside " + System.getProperty("java.home"));
    return Optional.empty();
  }
}
