package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class DatadogCoreTest {
  @TempDir Path directory;

  @Test
  void hiddenClassesOfTheTracerBecomeClasses() {
    assertThat(DatadogCore.classFile("trace/a/Core.classdata")).isEqualTo("a/Core.class");
    assertThat(DatadogCore.classFile("shared/a/Config.classdata")).isEqualTo("a/Config.class");
  }

  @Test
  void whatIsNoClassOfTheTracerStaysInTheJar() {
    assertThat(DatadogCore.classFile("trace/a/version.txt")).isNull();
    assertThat(DatadogCore.classFile("inst/a/Advice.classdata")).isNull();
    assertThat(DatadogCore.classFile("datadog/a/Api.class")).isNull();
  }

  @Test
  void jarWithoutTheTracerIsRefused() throws IOException {
    Path jar = jar("trace/a/Core.classdata");

    assertThatThrownBy(() -> DatadogCore.unpack(jar, directory.resolve("classes")))
        .hasMessageContaining("actual=1");
  }

  @Test
  void entryThatPointsOutOfTheDirectoryIsRefused() throws IOException {
    Path jar = jar("trace/../../escaped.classdata");

    assertThatThrownBy(() -> DatadogCore.unpack(jar, directory.resolve("classes")))
        .hasMessageContaining("escaped.class");
    assertThat(directory.resolve("escaped.class")).doesNotExist();
  }

  private Path jar(String... entries) throws IOException {
    Path file = directory.resolve("agent.jar");
    try (JarOutputStream jar = new JarOutputStream(Files.newOutputStream(file))) {
      for (String entry : List.of(entries)) {
        jar.putNextEntry(new JarEntry(entry));
        jar.write(new byte[] {1, 2, 3});
      }
    }
    return file;
  }
}
