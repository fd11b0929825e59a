package cairn.stress;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Other Java processes, and other Javas. */
final class Java {
  private static final Pattern VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");
  private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

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
    Path own = Path.of(System.getProperty("java.home"));
    if (Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS) {
      return Optional.of(own);
    }
    try (Stream<Path> homes = Files.list(own.toRealPath().getParent())) {
      for (Path home : homes.sorted().toList()) {
        Path release = home.resolve("release");
        if (Files.isReadable(release)) {
          Matcher matcher = VERSION.matcher(Files.readString(release));
          if (matcher.find() && Integer.parseInt(matcher.group(1)) >= FIRST_WITH_VIRTUAL_THREADS) {
            return Optional.of(home);
          }
        }
      }
    }
    System.out.println("NOT RUN, no Java 21 or later beside " + own);
    return Optional.empty();
  }
}
