package cairn.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Other people's agents, fetched by {@code bin/bench agents} into a directory beside the jar. */
final class Agents {
  private Agents() {}

  /** {@return the jar of Datadog's agent; null if it was not fetched} */
  static @Nullable Path datadog() throws IOException {
    return jar("dd-java-agent-");
  }

  /** {@return the jar of OpenTelemetry's agent; null if it was not fetched} */
  static @Nullable Path openTelemetry() throws IOException {
    return jar("opentelemetry-javaagent-");
  }

  private static @Nullable Path jar(String prefix) throws IOException {
    Path directory = Path.of(Child.classpath()).toAbsolutePath().resolveSibling("agents");
    if (!Files.isDirectory(directory)) {
      return null;
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(prefix))
          .sorted()
          .reduce((first, second) -> second)
          .orElse(null);
    }
  }
}
