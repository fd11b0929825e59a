package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs {@link CoverageFuzzTarget} under Jazzer, which follows the branches that are taken: {@code
 * mvn -pl cairn-stress -am -Pfuzz verify -Dcairn.stress.fuzzSeconds=600}. Not a part of the build.
 */
class CoverageFuzz {
  @Test
  void inputsThatReachNewBranchesFindNothing(@TempDir Path directory) throws Exception {
    long seconds = Long.getLong("cairn.stress.fuzzSeconds", 60);
    Path corpus = Files.createDirectory(directory.resolve("corpus"));
    Path log = directory.resolve("log");
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx600m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    "com.code_intelligence.jazzer.Jazzer",
                    "--target_class=" + CoverageFuzzTarget.class.getName(),
                    "--instrumentation_includes=cairn.**",
                    "-max_total_time=" + seconds,
                    corpus.toString()))
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(process.waitFor(seconds + 120, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    List<String> lines = Files.readAllLines(log);
    System.out.println("CoverageFuzz: " + lines.get(lines.size() - 1));
    assertThat(process.exitValue()).as("%s", String.join("\n", lines)).isZero();
    assertThat(lines.get(lines.size() - 1)).startsWith("Done ");
  }
}
