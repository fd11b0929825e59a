package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code profile} on the disk that the tests run on, as short as it can be. */
class ProfileCommandTest {
  private static final List<String> LAYERS =
      List.of(
          "encode",
          "buffer",
          "write",
          "force-growing",
          "force",
          "box",
          "journal-bounded-100",
          "journal-bounded-20",
          "journal-power",
          "journal-power-threads");

  @TempDir Path temp;
  private Path disk;
  private Cli cli;

  @BeforeEach
  void setUp() throws IOException {
    disk = Files.createDirectory(temp.resolve("disk"));
    cli = new Cli(temp);
    cli.clock = Clock.fixed(Instant.parse("2026-11-30T14:03:07Z"), ZoneOffset.UTC);
    cli.variables.put("CAIRN_SECONDS", "0.05");
  }

  @Test
  void everyLayerIsMeasuredAndNothingIsLeft() {
    Cli.Result result = cli.run("profile", disk);

    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .startsWith("Write path of " + disk.toString().substring(0, 20))
        .contains("microseconds a call", "+ force, preallocated", "cairn box, process()")
        .doesNotContain("PARTIAL", "failed");
    assertThat(result.out().lines())
        .allMatch(line -> line.length() <= 80 || line.contains(temp.toString()));
    assertThat(result.err())
        .contains("cairn: measuring " + LAYERS.size() + " layers, at most 1 s: dir=" + disk)
        .contains("MiB, at a time 64.0 MiB\n", "cairn: 1/" + LAYERS.size() + "  encode\n")
        .doesNotContain("\r");
    assertThat(disk).isEmptyDirectory();
  }

  @Test
  void jsonHasEveryLayerWithOrderedQuantilesAndWhatFollows() {
    Cli.Result result = cli.run("profile", disk, "--json", "--rate", 50, "--threads", 2);
    JsonNode json = result.json();

    assertThat(result.out()).hasLineCount(1);
    assertThat(json.get("schema").intValue()).isEqualTo(1);
    assertThat(json.get("at").textValue()).isEqualTo("2026-11-30T14:03:07.000Z");
    assertThat(json.get("partial").booleanValue()).isFalse();
    assertThat(json.at("/directory/path").textValue()).isEqualTo(disk.toString());
    assertThat(json.at("/directory/fileSystem").textValue()).isNotEmpty();
    assertThat(json.at("/settings/seconds").doubleValue()).isEqualTo(0.05);
    assertThat(json.at("/settings/rate").intValue()).isEqualTo(50);
    assertThat(json.get("layers"))
        .extracting(layer -> layer.get("layer").textValue())
        .isEqualTo(LAYERS);
    for (JsonNode layer : json.get("layers")) {
      JsonNode micros = layer.get("micros");
      assertThat(layer.has("error")).as(layer.toString()).isFalse();
      assertThat(layer.get("events").longValue()).isPositive();
      assertThat(layer.get("eventsPerSecond").doubleValue()).isPositive();
      assertThat(micros.get("p50").doubleValue())
          .isLessThanOrEqualTo(micros.get("p99").doubleValue());
      assertThat(micros.get("p99").doubleValue())
          .isLessThanOrEqualTo(micros.get("p999").doubleValue());
      assertThat(micros.get("p999").doubleValue())
          .isLessThanOrEqualTo(micros.get("max").doubleValue());
    }
    assertThat(json.get("durableWrite"))
        .extracting(part -> part.get("part").textValue())
        .containsExactly("encode", "write", "force");
    assertThat(json.at("/force/verdict").textValue())
        .isIn("plausible", "memory", "suspicious", "remote");
    assertThat(json.get("rates"))
        .extracting(rate -> rate.get("eventsPerSecond").intValue())
        .containsExactly(10, 50, 100, 1_000, 10_000);
    for (JsonNode rate : json.get("rates")) {
      assertThat(rate.get("suggested").textValue())
          .isIn("power()", "bounded(20)", "bounded(100)", "process()");
    }
  }

  @Test
  void eventsHaveTheLengthThatWasAskedFor() {
    for (int bytes : new int[] {ProfileEvent.MIN_BYTES, 250, ProfileEvent.MAX_BYTES}) {
      ProfileEvent event = new ProfileEvent(bytes);
      event.next();
      byte[] first = event.toJson();
      event.next();

      assertThat(first).hasSize(bytes);
      assertThat(event.toJson()).hasSize(bytes).isNotEqualTo(first);
      assertThat(Cli.Result.json(new String(first, StandardCharsets.UTF_8)).get("order").asLong())
          .isPositive();
    }
  }

  @Test
  void theDefaultDirectoryIsTheRootElseWhatThereIsOfTheWayToIt() throws IOException {
    Path root = disk.resolve("state/cairn");
    cli.variables.put("CAIRN_DIR", root.toString());

    assertThat(cli.run("profile", "--json").json().at("/directory/path").textValue())
        .isEqualTo(disk.toString());
    Files.createDirectories(root);
    assertThat(cli.run("profile", "--json").json().at("/directory/path").textValue())
        .isEqualTo(root.toString());
    assertThat(root).isEmptyDirectory();
  }

  @Test
  void aKeyEndsItAndWhatWasMeasuredIsShownAsPartial() {
    cli.variables.put("CAIRN_SECONDS", "60");
    cli.keyboard = new ByteArrayInputStream("xq".getBytes(StandardCharsets.UTF_8));

    Cli.Result result = cli.run("profile", disk);

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).contains("PARTIAL");
    assertThat(result.err()).contains("cairn: stopped: layers=");
    assertThat(disk).isEmptyDirectory();
  }

  @Test
  void aKeyboardThatEndsDoesNotEndIt() {
    cli.keyboard = new ByteArrayInputStream(new byte[0]);

    Cli.Result result = cli.run("profile", disk);

    assertThat(result.out()).doesNotContain("PARTIAL");
    assertThat(result.err()).contains("\r  1/", "(Enter stops)");
  }

  @Test
  void aSignalEndsItWithWhatWasMeasuredAndNothingIsLeft() throws Exception {
    Path out = temp.resolve("out");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "profile",
                disk.toString(),
                "--seconds",
                "60")
            .redirectOutput(out.toFile())
            .start();
    try {
      BufferedReader err = process.errorReader(StandardCharsets.UTF_8);
      List<String> said = new ArrayList<>();
      for (String line = err.readLine();
          line != null && !line.contains(" 1/");
          line = err.readLine()) {
        said.add(line);
      }
      assertThat(said).anyMatch(line -> line.contains("measuring"));
      assertThat(disk).isNotEmptyDirectory();
      process.destroy();

      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isEqualTo(143);
      assertThat(out).content().contains("PARTIAL");
      assertThat(disk).isEmptyDirectory();
    } finally {
      process.destroyForcibly();
    }
  }

  @Test
  void aChartIsWrittenAndReplacesAFileOnly() throws IOException {
    Path chart = temp.resolve("chart.svg");
    Files.writeString(chart, "old");

    Cli.Result result = cli.run("profile", disk, "--chart", chart);

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).endsWith("cairn: chart written: file=" + chart + "\n");
    assertThat(chart).content().startsWith("<svg ").doesNotContain("old");
  }

  @Test
  void aChartThatCannotBeIsRefusedBeforeAnythingIsMeasured() {
    assertThat(cli.run("profile", disk, "--chart", disk).err())
        .isEqualTo(
            "cairn: chart would replace what is no regular file: file="
                + disk
                + " (choose another)\n");
    Cli.Result missing = cli.run("profile", disk, "--chart", temp.resolve("no/chart.svg"));
    assertThat(missing.exitCode()).isEqualTo(3);
    assertThat(missing.err()).startsWith("cairn: chart cannot be written: file=").hasLineCount(1);
    assertThat(cli.run("profile", disk, "--chart=").exitCode()).isEqualTo(2);
  }

  @Test
  void aChartIsNotWrittenThroughALink() throws IOException {
    Path precious = Files.writeString(temp.resolve("precious"), "precious");
    Path link = Files.createSymbolicLink(temp.resolve("link.svg"), precious);

    assertThat(cli.run("profile", disk, "--chart", link).exitCode()).isEqualTo(3);
    assertThat(precious).content().isEqualTo("precious");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--seconds 0 | value is out of range: option=--seconds, value=0.0, limit=0.05 to 60",
        "--seconds NaN | value is out of range: option=--seconds, value=NaN, limit=0.05 to 60",
        "--seconds x | invalid value: option=--seconds, value=x (expected a number",
        "--record-bytes 10 | value is too small: option=--record-bytes, value=10, limit=160",
        "--record-bytes 8001 | value is too large: option=--record-bytes, value=8001, limit=8000",
        "--threads 1 | value is too small: option=--threads, value=1, limit=2",
        "--threads 257 | value is too large: option=--threads, value=257, limit=256",
        "--rate 0 | value is too small: option=--rate, value=0, limit=1",
      })
  void aValueOutOfItsRangeIsWrongUsage(String option, String message) {
    List<Object> words = new ArrayList<>(List.of("profile", disk));
    words.addAll(List.of(option.strip().split(" ")));

    Cli.Result result = cli.run(words.toArray());

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).startsWith("cairn: " + message.strip()).hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void aDirectoryThatIsMissingOrAFileOrNotWritableIsNamedWithExitCodeThree() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    assertUnreadable(temp.resolve("missing"), "no such directory: dir=");
    assertUnreadable(file, "not a directory: dir=");
    // Read-only for root too.
    Path proc = Path.of("/proc/self");
    if (Files.isDirectory(proc)) {
      assertUnreadable(proc, "directory is not writable: dir=");
    } else {
      System.out.println("no /proc here: a directory that nobody can write to was not tried");
    }
  }

  private void assertUnreadable(Path path, String message) {
    Cli.Result result = cli.run("profile", path);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).startsWith("cairn: " + message + path).hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }

  @Test
  void tooLittleSpaceIsNamedWithWhatIsNeeded() {
    ProfileDisk full = new ProfileDisk("ext4", "/dev/sda1", 1 << 20, null, null, null);

    assertThatThrownBy(() -> ProfileCommand.requireSpace(disk, full))
        .isInstanceOf(CliException.class)
        .hasMessageStartingWith("not enough space: dir=" + disk + ", free=1.0 MiB, need=64.0 MiB");
  }

  @Test
  void theDirectoryIsItsOwnersAloneAndOneThatWasLeftIsNamed() throws IOException {
    Path left = Files.createDirectory(disk.resolve(ProfileDirectory.PREFIX + "1"));

    assertThat(cli.run("profile", disk).err())
        .contains("cairn: directory of another profile: dir=" + left + " (");
    assertThat(disk).isDirectoryContaining(left::equals);
    try (ProfileDirectory own = ProfileDirectory.in(disk, () -> {})) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(own.path())))
          .isEqualTo("rwx------");
    }
  }

  @Test
  void aLayerThatFailsCostsNoOtherLayer() throws IOException {
    ProfileLayer failing =
        new ProfileLayer(
            "write",
            "+ write",
            "fails",
            2,
            Long.MAX_VALUE,
            0,
            directory ->
                event -> {
                  throw new IOException("No space left on device");
                });

    ProfileResult result = new ProfileRun(250, Duration.ofMillis(20)).measure(failing, disk);

    assertThat(result.error()).isEqualTo("No space left on device");
    assertThat(disk).isEmptyDirectory();
  }
}
