package cairn;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Starts a class of the tests in a JVM of its own. */
public final class ChildJvm {
  private static final long TIMEOUT_SECONDS = 60;

  private ChildJvm() {}

  /** What starts fast. */
  private static final List<String> FAST = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  /** Runs a main class to its end and returns what it printed, both streams. */
  public static String run(Class<?> main, String... args) throws IOException {
    return run(FAST, main, args);
  }

  /** As {@link #run(Class, String...)}, with these options of the JVM and no others. */
  public static String run(List<String> options, Class<?> main, String... args) throws IOException {
    Process process = launch(options, main, args);
    try {
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("child did not end: output=" + output);
      }
      return output + "exit=" + process.exitValue() + "\n";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } finally {
      process.destroyForcibly();
    }
  }

  /** Starts a main class; both its streams can be read as its input stream. */
  public static Process start(List<String> options, Class<?> main, String... args)
      throws IOException {
    List<String> all = new ArrayList<>(FAST);
    all.addAll(options);
    return launch(all, main, args);
  }

  /** As {@link #start}, with these options of the JVM and no others. */
  public static Process startWith(List<String> options, Class<?> main, String... args)
      throws IOException {
    return launch(options, main, args);
  }

  private static Process launch(List<String> options, Class<?> main, String... args)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xmx128m");
    command.addAll(options);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
            .replace(';', File.pathSeparatorChar));
    command.add(main.getName());
    command.addAll(List.of(args));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }
}
