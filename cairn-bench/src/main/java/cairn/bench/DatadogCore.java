package cairn.bench;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Enumeration;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import org.jspecify.annotations.Nullable;

/**
 * Makes the tracer inside Datadog's agent usable as a library. Its classes are in the agent's jar
 * under another name, which only the agent's own loader takes for classes.
 */
final class DatadogCore {
  private static final String HIDDEN = ".classdata";

  /** Folders of the jar whose classes the tracer is made of; the agent's loader shows both. */
  private static final List<String> FOLDERS = List.of("trace/", "shared/");

  /** Whatever would speak to somebody or log is off; port 9 has nobody. */
  private static final List<String> QUIET =
      List.of(
          "-Ddatadog.slf4j.simpleLogger.defaultLogLevel=off",
          "-Ddd.trace.startup.logs=false",
          "-Ddd.instrumentation.telemetry.enabled=false",
          "-Ddd.remote_config.enabled=false",
          "-Ddd.jmxfetch.enabled=false",
          "-Ddd.trace.health.metrics.enabled=false",
          "-Ddd.crashtracking.enabled=false",
          "-Ddd.trace.agent.url=http://127.0.0.1:9");

  private DatadogCore() {}

  /** {@return JVM arguments with which no tracer of Datadog's tries to leave this machine} */
  static List<String> quiet() {
    return QUIET;
  }

  /** {@return whether a {@link SpanContender} is the tracer inside the agent} */
  static boolean isNeededBy(String contender) {
    return contender.startsWith("dd-") && !contender.equals("dd-before");
  }

  /**
   * Unpacks the tracer.
   *
   * @param agent the agent's jar
   * @param directory takes the classes
   * @return JVM arguments for a process that is to see them
   */
  static List<String> unpack(Path agent, Path directory) throws IOException {
    int classes = 0;
    try (JarFile jar = new JarFile(agent.toFile())) {
      for (Enumeration<JarEntry> entries = jar.entries(); entries.hasMoreElements(); ) {
        JarEntry entry = entries.nextElement();
        String name = classFile(entry.getName());
        if (name != null) {
          Path file = directory.resolve(name).normalize();
          Evidence.require(file.startsWith(directory), "file of the agent", file, directory);
          Files.createDirectories(file.getParent());
          try (InputStream in = jar.getInputStream(entry)) {
            Files.copy(in, file);
          }
          classes++;
        }
      }
    }
    Evidence.require(classes > 1000, "classes in " + agent, classes, "more than 1000");
    return List.of("-Xbootclasspath/a:" + agent.toAbsolutePath() + ":" + directory);
  }

  /** {@return where a class belongs; null for an entry that is no class of the tracer} */
  static @Nullable String classFile(String entry) {
    for (String folder : FOLDERS) {
      if (entry.startsWith(folder) && entry.endsWith(HIDDEN)) {
        return entry.substring(folder.length(), entry.length() - HIDDEN.length()) + ".class";
      }
    }
    return null;
  }
}
