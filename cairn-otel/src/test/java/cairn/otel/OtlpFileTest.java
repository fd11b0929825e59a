package cairn.otel;

import static cairn.report.BoxBuilder.START_WALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.report.BoxBuilder;
import cairn.report.ReportOfBytes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several tests are what opentelemetry-java-contrib's disk buffering gets wrong: a batch larger
 * than a file is dropped, later records are glued to one that was cut off, a torn tail costs the
 * whole file, files of one millisecond replace each other, another process takes the file away.
 */
class OtlpFileTest {
  private static final Instant OBSERVED = Instant.ofEpochMilli(START_WALL + 3_600_000);

  @TempDir Path temp;

  private static OtlpJson run(String id) {
    return new OtlpJson(
        new OtlpTelemetry(
            ReportOfBytes.read(
                BoxBuilder.box()
                    .identity("runId", id)
                    .beat(60_000)
                    .span(0, BoxBuilder.begin("POST /orders", 2, 0, "t"))
                    .crumb(1, 1, "c", "m")
                    .bytes()),
            OBSERVED));
  }

  private static List<byte[]> lines(Path file) throws IOException {
    String text = Files.readString(file);
    assertThat(text).endsWith("\n");
    return text.lines().map(line -> line.getBytes(StandardCharsets.UTF_8)).toList();
  }

  /** {@return the ids of the deaths that the file tells of} */
  private static List<String> deaths(Path file) throws IOException {
    List<String> ids = new ArrayList<>();
    for (byte[] line : lines(file)) {
      if (new String(line, StandardCharsets.UTF_8).startsWith("{\"resourceLogs\"")) {
        Protocol.records(List.of(line)).stream()
            .filter(record -> record.getEventName().equals("app.crash"))
            .forEach(
                record ->
                    ids.add(
                        (String)
                            Protocol.attributes(record.getAttributesList()).get("app.crash.id")));
      } else {
        assertThat(Protocol.spans(List.of(line))).isNotEmpty();
      }
    }
    return ids;
  }

  // One file

  @Test
  void runsAreAppendedTheSpansFirstALineEach() throws IOException {
    Path file = temp.resolve("deaths.jsonl");

    OtlpFile.append(file, run("a"));
    OtlpFile.append(file, run("b"));

    assertThat(Files.readAllLines(file))
        .hasSize(4)
        .satisfiesExactly(
            line -> assertThat(line).startsWith("{\"resourceSpans\""),
            line -> assertThat(line).startsWith("{\"resourceLogs\""),
            line -> assertThat(line).startsWith("{\"resourceSpans\""),
            line -> assertThat(line).startsWith("{\"resourceLogs\""));
    assertThat(deaths(file)).containsExactly("a", "b");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
  }

  @Test
  void nothingIsGluedToALineThatAnotherLeftTorn() throws IOException {
    Path file = temp.resolve("deaths.jsonl");
    Files.writeString(file, "{\"resourceSpans\":[{\"res");

    OtlpFile.append(file, run("a"));

    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0)).isEqualTo("{\"resourceSpans\":[{\"res");
    assertThat(Protocol.spans(List.of(lines.get(1).getBytes(StandardCharsets.UTF_8)))).hasSize(1);
  }

  @Test
  void emptyFileGetsNoEmptyLine() throws IOException {
    Path file = Files.createFile(temp.resolve("deaths.jsonl"));

    OtlpFile.append(file, run("a"));

    assertThat(Files.readAllLines(file)).hasSize(2);
  }

  @Test
  void threadsThatAppendAtOnceLoseNothing() throws Exception {
    Path file = temp.resolve("deaths.jsonl");
    ExecutorService threads = Executors.newFixedThreadPool(8);
    CountDownLatch start = new CountDownLatch(1);
    try {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 0; i < 40; i++) {
        OtlpJson run = run("run-" + i);
        results.add(
            threads.submit(
                (Callable<?>)
                    () -> {
                      start.await();
                      OtlpFile.append(file, run);
                      return null;
                    }));
      }
      start.countDown();
      for (Future<?> result : results) {
        result.get(60, TimeUnit.SECONDS);
      }
    } finally {
      threads.shutdownNow();
    }

    assertThat(deaths(file)).hasSize(40).doesNotHaveDuplicates();
  }

  @Test
  void processesThatAppendAtOnceLoseNothing() throws Exception {
    Path file = temp.resolve("deaths.jsonl");
    List<Process> processes = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      processes.add(append(file, "p" + i, 20, ""));
    }
    for (Process process : processes) {
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      assertThat(process.exitValue()).isZero();
    }

    assertThat(deaths(file)).hasSize(60).doesNotHaveDuplicates();
  }

  @Test
  void whatDoesNotFitOntoTheDiskIsCutOffAgainAndSaid() throws Exception {
    Path file = temp.resolve("deaths.jsonl");
    OtlpFile.append(file, run("before"));
    byte[] before = Files.readAllBytes(file);

    // A file of at most 32 blocks, by the kernel; the JVM ignores the signal and sees the error.
    Process process = append(file, "more", 30, "ulimit -f 32; ");
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();

    assertThat(process.exitValue()).as("some were written, one was refused").isEqualTo(3);
    List<String> deaths = deaths(file);
    assertThat(deaths).startsWith("before", "more-0").hasSizeLessThan(31);
    assertThat(Files.readAllBytes(file)).startsWith(before);
    OtlpFile.append(file, run("after"));
    assertThat(deaths(file)).hasSize(deaths.size() + 1).endsWith("after");
  }

  /** Appends from another process, which exits with 3 if something could not be written. */
  private static Process append(Path file, String id, int count, String before) throws IOException {
    return new ProcessBuilder(
            "sh",
            "-c",
            before + "exec \"$@\"",
            "sh",
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:-UsePerfData",
            "-Xshare:auto",
            "-cp",
            System.getProperty("java.class.path"),
            Appender.class.getName(),
            file.toString(),
            id,
            String.valueOf(count))
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
        .start();
  }

  /** Appends runs to a file. */
  static final class Appender {
    private Appender() {}

    public static void main(String[] args) {
      for (int i = 0; i < Integer.parseInt(args[2]); i++) {
        try {
          OtlpFile.append(Path.of(args[0]), run(args[1] + "-" + i));
        } catch (IOException e) {
          System.exit(3);
        }
      }
    }
  }

  @Test
  void deviceThatIsFullIsSaidAndAPipeIsWrittenTo() throws Exception {
    assertThatThrownBy(() -> OtlpFile.append(Path.of("/dev/full"), run("a")))
        .isInstanceOf(IOException.class);

    Path pipe = temp.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    ExecutorService reader = Executors.newSingleThreadExecutor();
    try {
      Future<List<String>> read = reader.submit(() -> Files.readAllLines(pipe));
      OtlpFile.append(pipe, run("a"));
      assertThat(read.get(60, TimeUnit.SECONDS)).hasSize(2);
    } finally {
      reader.shutdownNow();
    }
  }

  // A directory

  @Test
  void directoryGetsOneFileForEachKindOfRecord() throws IOException {
    Path directory = temp.resolve("new/deaths");

    List<Path> files = OtlpFile.create(directory, run("20261130-140000-000-4711-0badcafe"));

    assertThat(files)
        .containsExactly(
            directory.resolve("20261130-140000-000-4711-0badcafe.traces.jsonl"),
            directory.resolve("20261130-140000-000-4711-0badcafe.logs.jsonl"));
    assertThat(Protocol.spans(lines(files.get(0)))).hasSize(1);
    assertThat(Protocol.records(lines(files.get(1)))).hasSize(2);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(files.get(0))))
        .isEqualTo("rw-------");
    assertThat(names(directory)).hasSize(2);
  }

  @Test
  void runWithoutOpenSpansHasNoFileForThem() throws IOException {
    OtlpJson json =
        new OtlpJson(
            new OtlpTelemetry(ReportOfBytes.read(BoxBuilder.box().beat(1).bytes()), OBSERVED));

    assertThat(OtlpFile.create(temp, json))
        .containsExactly(temp.resolve(BoxBuilder.RUN_ID + ".logs.jsonl"));
  }

  @Test
  void secondExportReplacesTheFilesByTheSame() throws IOException {
    List<Path> files = OtlpFile.create(temp, run("a"));
    byte[] first = Files.readAllBytes(files.get(1));

    OtlpFile.create(temp, run("a"));

    assertThat(Files.readAllBytes(files.get(1))).isEqualTo(first);
    assertThat(names(temp)).hasSize(2);
  }

  @Test
  void runsOfOneMillisecondDoNotReplaceEachOther() throws IOException {
    for (int i = 0; i < 50; i++) {
      OtlpFile.create(temp, run("run-" + i));
    }

    assertThat(names(temp)).hasSize(100);
  }

  @Test
  void nameOfARunCannotLeaveTheDirectory() throws IOException {
    Path directory = temp.resolve("deaths");

    for (String id : List.of("../../evil", "/etc/evil", "..", "", "a\u0000b", "x".repeat(500))) {
      List<Path> files = OtlpFile.create(directory, run(id));
      assertThat(files).hasSize(2).allSatisfy(file -> assertThat(file).hasParent(directory));
    }
    assertThat(names(temp)).containsExactly("deaths");
  }

  @Test
  void directoryThatCannotBeWrittenToIsSaidAndNothingIsLeft() throws IOException {
    Path file = Files.createFile(temp.resolve("file"));

    assertThatThrownBy(() -> OtlpFile.create(file, run("a"))).isInstanceOf(IOException.class);

    // A directory where the file is to be: the new file is not left beside it.
    Path taken = Files.createDirectories(temp.resolve("d/a.traces.jsonl/x")).getParent();
    assertThatThrownBy(() -> OtlpFile.create(taken.getParent(), run("a")))
        .isInstanceOf(IOException.class);
    assertThat(names(taken.getParent())).containsExactly("a.traces.jsonl");
  }

  @Test
  void fileIsWholeWheneverItHasItsName() throws IOException {
    Path directory = temp.resolve("watched");
    Path file = directory.resolve("a.logs.jsonl");
    OtlpFile.create(directory, run("a"));
    Files.writeString(directory.resolve(".new-1-1-left"), "{\"torn", StandardOpenOption.CREATE);

    for (int i = 0; i < 20; i++) {
      OtlpFile.create(directory, run("a"));
      assertThat(deaths(file)).containsExactly("a");
    }

    assertThat(names(directory))
        .as("what a killed export left matches no *.jsonl")
        .containsExactly(".new-1-1-left", "a.logs.jsonl", "a.traces.jsonl");
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
