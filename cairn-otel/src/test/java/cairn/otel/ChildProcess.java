package cairn.otel;

import cairn.Recorder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A JVM of its own for one main method: for what is read once, and what the JIT believes. */
final class ChildProcess {
  static final Path JAVA = Path.of(System.getProperty("java.home"), "bin", "java");
  private static final int TIMEOUT_SECONDS = 60;

  private ChildProcess() {}

  /** {@return what it printed, and its exit status} */
  static String java(Path java, List<String> options, Class<?> main, String... arguments)
      throws IOException {
    return run(java, System.getProperty("java.class.path"), options, main, arguments);
  }

  /** As {@link #java}, with nothing optional on the class path. */
  static String lean(Class<?> main) throws IOException {
    String classPath =
        leanClassPath().stream()
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator));
    return run(JAVA, classPath, List.of(), main);
  }

  /** {@return what an application needs at least, and the tests} */
  static List<Path> leanClassPath() {
    List<Path> entries = new ArrayList<>();
    for (Class<?> type :
        List.of(
            ChildProcess.class,
            CairnOpenTelemetry.class,
            Recorder.class,
            Span.class,
            Context.class,
            ComponentLoader.class,
            Resource.class,
            SpanProcessor.class)) {
      try {
        entries.add(Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()));
      } catch (URISyntaxException e) {
        throw new AssertionError(e);
      }
    }
    return entries;
  }

  private static String run(
      Path java, String classPath, List<String> options, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>(List.of(java.toString(), "-Xmx128m"));
    command.addAll(options);
    command.addAll(List.of("-cp", classPath, main.getName()));
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
