package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The public API is what {@code api/cairn.api} says. To change it on purpose, run with {@code
 * -Dcairn.api.write=true} and review the difference.
 */
class ApiTest {
  private static final Path GOLDEN = Path.of("api", "cairn.api");
  private static final Path CLASSES = Path.of("target", "classes");
  private static final List<String> EXPORTED = List.of("cairn", "cairn/report");

  @Test
  void publicApiIsTheRecordedOne() throws IOException {
    StringBuilder api = new StringBuilder();
    for (String directory : EXPORTED) {
      try (Stream<Path> files = Files.list(CLASSES.resolve(directory))) {
        for (Path file : files.filter(f -> f.toString().endsWith(".class")).sorted().toList()) {
          api.append(publicMembers(file));
        }
      }
    }
    if (Boolean.getBoolean("cairn.api.write")) {
      Files.createDirectories(GOLDEN.getParent());
      Files.writeString(GOLDEN, api);
    }
    assertThat(api.toString()).isEqualTo(Files.readString(GOLDEN));
  }

  private static String publicMembers(Path file) {
    StringWriter out = new StringWriter();
    int status =
        ToolProvider.findFirst("javap")
            .orElseThrow()
            .run(
                new PrintWriter(out),
                new PrintWriter(out),
                "-protected",
                "-cp",
                CLASSES.toString(),
                file.toString());
    assertThat(status).as("javap %s", file).isZero();
    String text =
        out.toString()
            .lines()
            .filter(line -> !line.startsWith("Compiled from"))
            .collect(Collectors.joining("\n", "", "\n"));
    return text.startsWith("public ") ? text : "";
  }
}
