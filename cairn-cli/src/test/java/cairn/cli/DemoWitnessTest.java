package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoWitnessTest {
  @TempDir Path directory;

  @Test
  void wholeLinesCount() throws IOException {
    assertThat(read("A c1-1\nB c1-1\nA c2-1\nE c1-1\n"))
        .isEqualTo(new DemoWitness(Set.of("c1-1", "c2-1"), Set.of("c1-1"), Set.of("c1-1")));
  }

  @Test
  void lineThatDeathCutDoesNotCount() throws IOException {
    assertThat(read("A c1-17\nB c1-1"))
        .isEqualTo(new DemoWitness(Set.of("c1-17"), Set.of(), Set.of()));
    assertThat(read("A c1-17\nB\n")).isEqualTo(read("A c1-17\n"));
  }

  private DemoWitness read(String content) throws IOException {
    return DemoWitness.read(Files.writeString(directory.resolve("witness"), content));
  }
}
