package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@link SpanRaces} with jcstress, in processes of its own.
 *
 * <p>{@code -Dcairn.stress.raceMillis=N} lets each of them run for so long instead of a moment.
 */
@Tag("slow")
class SpanRaceTest {
  private static final int MILLIS = Integer.getInteger("cairn.stress.raceMillis", 300);

  @TempDir Path directory;

  @Test
  @Timeout(3600)
  void noOrderOfTwoThreadsGivesASpanWhatIsNotItsOwn() throws Exception {
    List<String> lines = run();

    String all = String.join("\n", lines);
    assertThat(all).contains("Failed tests: No matches").contains("Error tests: No matches");
    for (Class<?> race : SpanRaces.class.getClasses()) {
      assertThat(all).contains("[OK] " + race.getName().replace('$', '.'));
    }
  }

  private List<String> run() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                "org.openjdk.jcstress.Main",
                "-t",
                SpanRaces.class.getName(),
                "-v",
                "-m",
                "quick",
                "-sc",
                "false",
                "-af",
                "NONE",
                "-f",
                "1",
                "-fsm",
                "1",
                "-iters",
                "1",
                "-time",
                Integer.toString(MILLIS),
                "-strideSize",
                "32",
                "-strideCount",
                "8",
                "-jvmArgs",
                "-XX:+UseSerialGC -Dcairn.dir=" + directory.resolve("runs"))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .start();
    List<String> lines = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      reader.lines().filter(line -> !line.isBlank()).forEach(lines::add);
    } finally {
      process.destroy();
    }
    int from = lines.indexOf("RUN RESULTS:");
    lines.subList(Math.max(0, from), lines.size()).forEach(System.out::println);
    return lines;
  }
}
