package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.format.CounterLayout;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class TerminationMessageTest {
  @TempDir Path directory;

  private final MemoryBox memory = new MemoryBox(64, 64 * 1024);
  private final Box box = memory.box;

  private Path file() {
    return directory.resolve("termination-log");
  }

  private TerminationMessage message(Path path) {
    return new TerminationMessage(path, "run-1 orders", box.spans, memory.clock, box.counters);
  }

  private static String text(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    assertThat(bytes.length).isLessThanOrEqualTo(TerminationMessage.MAX_BYTES);
    return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
  }

  private static String lastLine(Path file) throws IOException {
    List<String> lines = text(file).lines().toList();
    return lines.get(lines.size() - 1);
  }

  @Test
  void exceptionThatNothingCaughtIsNamedWithoutItsMessage() throws IOException {
    TerminationMessage message = message(file());
    message.uncaught(Thread.currentThread(), new IllegalStateException("card 4111"));
    message.write();

    assertThat(text(file()))
        .contains("uncaught: java.lang.IllegalStateException on thread ")
        .doesNotContain("4111");
  }

  @Test
  void lastLineIsTheHeadlineAndAboveItTheOldestSpan() throws IOException {
    box.spans.begin("POST /export");
    memory.clock.advanceMillis(29_500);
    box.spans.begin("GET /orders");
    memory.clock.advanceMillis(12_000);
    message(file()).write();

    assertThat(text(file()))
        .isEqualTo(
            """
            cairn: run-1 orders
              12 s  GET /orders
              41 s  POST /export
            2 spans in flight, oldest 41 s: POST /export, as of 22:14:01Z
            """);
  }

  @Test
  void attributesAreNotInIt() throws IOException {
    long span = box.spans.begin("POST /export");
    box.spans.set(span, "tenant", SpanTable.TEXT, 0, "acme");
    message(file()).write();

    assertThat(text(file())).contains("POST /export").doesNotContain("tenant", "acme");
  }

  @Test
  void nothingInFlightIsSaid() throws IOException {
    message(file()).write();

    assertThat(lastLine(file())).isEqualTo("no span in flight, as of 22:13:20Z");
  }

  @Test
  void moreSpansThanAreListedAreCounted() throws IOException {
    for (int i = 0; i < 60; i++) {
      box.spans.begin("span " + i);
      memory.clock.advanceMillis(7_000);
    }
    message(file()).write();

    List<String> lines = text(file()).lines().toList();
    assertThat(lines).hasSize(15);
    assertThat(lines.get(1)).isEqualTo("  and 48 younger spans");
    assertThat(lines.get(2)).isEqualTo("  5 min  span 11");
    assertThat(lines.get(13)).isEqualTo("  7 min  span 0");
    assertThat(lines.get(14))
        .isEqualTo("60 spans in flight, oldest 7 min: span 0, as of 22:20:20Z");
  }

  @Test
  void whateverNamesAreItIsShortValidAndOnOneLineEach() throws IOException {
    String[] names = {
      "a\nb\r\u001b[2J\u0000",
      "\u202egnp.exe",
      "ä".repeat(500),
      "\uD83E\uDDC0".repeat(200),
      "\uD800x",
      "\u0007".repeat(160),
      "\uDBFF\uDFFF\u200b",
      "",
      "x".repeat(5_000)
    };
    for (int i = 0; i < 60; i++) {
      box.spans.begin(names[i % names.length]);
      memory.clock.advanceMillis(1);
    }
    message(file()).write();

    String text = text(file());
    assertThat(text.lines()).hasSize(15);
    assertThat(text).contains("a\\u{a}b\\u{d}\\u{1b}[2J\\u{0}").contains("\\u{202e}gnp.exe");
    assertThat(text.codePoints()).noneMatch(c -> c != '\n' && cairn.format.Hostile.is(c));
    assertThat(lastLine(file())).startsWith("60 spans in flight, oldest 0 s: a\\u{a}b");
  }

  @Test
  void everyLengthOfNameLeavesValidText() throws IOException {
    TerminationMessage message = message(file());
    for (int length = 0; length < 140; length++) {
      long span = box.spans.begin("x".repeat(length % 4) + "\uD83E\uDDC0ä\u0001".repeat(length));
      message.write();
      assertThat(lastLine(file())).startsWith("1 span in flight");
      box.spans.close(span);
    }
  }

  // In place

  @Test
  void fileNeverGetsShorterAndAKillNeverLeavesTheEndOfAnOlderMessage() throws IOException {
    TerminationMessage message = message(file());
    List<Long> open = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      open.add(box.spans.begin("a span with a long name, number " + i));
    }
    message.write();
    long longest = Files.size(file());
    assertThat(longest).isGreaterThan(400);
    open.forEach(box.spans::close);
    message.write();

    assertThat(Files.size(file())).isEqualTo(longest);
    assertThat(text(file()))
        .isEqualTo(
            " ".repeat((int) longest - 55)
                + "cairn: run-1 orders\nno span in flight, as of 22:13:20Z\n");
  }

  @Test
  void fileKeepsItsInode() throws IOException {
    Files.writeString(file(), "");
    Object before = Files.getAttribute(file(), "unix:ino");
    TerminationMessage message = message(file());
    message.write();
    message.write();

    assertThat(Files.getAttribute(file(), "unix:ino")).isEqualTo(before);
  }

  @Test
  void messageOfAnEarlierRunIsCutOff() throws IOException {
    Files.writeString(file(), "old\n".repeat(3_000));
    message(file()).write();

    assertThat(text(file())).startsWith("cairn: run-1 orders\n").doesNotContain("old");
  }

  @Test
  void missingFileIsMadeForItsOwnerAlone() throws IOException {
    message(file()).write();

    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file())))
        .isEqualTo("rw-------");
  }

  // The end

  @Test
  void shutdownIsSaidAndWhatIsStillInFlight() throws IOException {
    TerminationMessage message = message(file());
    box.spans.begin("drain");
    memory.clock.advanceMillis(3_000);
    message.ending(new LifeCycle.End("SIGNAL", "SIGTERM", null, List.of(), null));
    memory.clock.advanceMillis(25_000);
    message.write();

    assertThat(lastLine(file()))
        .isEqualTo(
            "shutting down (SIGTERM) since 22:13:23Z; 1 span in flight, oldest 28 s: drain, as of"
                + " 22:13:48Z");
  }

  @Test
  void closedRecorderIsSaidAndStays() throws IOException {
    TerminationMessage message = message(file());
    message.write();
    message.close();
    box.spans.begin("later");
    message.write();

    assertThat(lastLine(file()))
        .isEqualTo(
            "ended in order (recorder closed) since 22:13:20Z; no span in flight, as of 22:13:20Z");
  }

  // What is no such file

  @Test
  @Timeout(value = 20, unit = TimeUnit.SECONDS)
  void pipeThatNobodyReadsIsRefusedAndCounted() throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    message(pipe).write();

    assertThat(box.counters.get(CounterLayout.MESSAGE_ERRORS)).isEqualTo(1);
  }

  @Test
  void directoryAndMissingDirectoryAreRefusedAndCounted() {
    message(directory).write();
    message(directory.resolve("missing").resolve("file")).write();

    assertThat(box.counters.get(CounterLayout.MESSAGE_ERRORS)).isEqualTo(2);
    assertThat(memory.report().counters()).containsEntry("messageErrors", 2L);
  }

  @Test
  void afterAFailureItIsTriedAgainEveryMinute() throws IOException {
    Path late = directory.resolve("late");
    TerminationMessage message = message(late.resolve("file"));
    for (int second = 0; second < 60; second++) {
      message.write();
    }
    assertThat(box.counters.get(CounterLayout.MESSAGE_ERRORS)).isEqualTo(1);
    Files.createDirectory(late);
    message.write();
    message.write();

    assertThat(lastLine(late.resolve("file"))).isEqualTo("no span in flight, as of 22:13:20Z");
    assertThat(box.counters.get(CounterLayout.MESSAGE_ERRORS)).isEqualTo(1);
  }

  // The recorder

  @Test
  void recorderWritesItAndSaysThatItWasClosed() throws IOException {
    try (Recorder recorder =
        Recorder.builder("orders")
            .directory(directory.resolve("root"))
            .terminationMessage(file())
            .open()) {
      assertThat(recorder.mode()).isIn("mapped", "copy");
    }

    assertThat(lastLine(file())).startsWith("ended in order (recorder closed) since ");
  }

  @Test
  void killedProcessLeavesWhatWasInFlight() throws Exception {
    Process process =
        ChildJvm.start(
            List.of("-Dcairn.termination.message=" + file()), Victim.class, directory.toString());
    try {
      String said =
          new BufferedReader(
                  new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))
              .readLine();
      assertThat(said).isEqualTo("ready");
    } finally {
      process.destroyForcibly().waitFor();
    }

    assertThat(lastLine(file()))
        .matches("1 span in flight, oldest \\d+ s: POST /export, as of .*Z");
  }

  @Test
  void processThatIsToldToStopSaysSo() throws Exception {
    Process process =
        ChildJvm.start(
            List.of("-Dcairn.termination.message=" + file()), Victim.class, directory.toString());
    try (BufferedReader said =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(said.readLine()).isEqualTo("ready");
      process.toHandle().destroy(); // leaves its streams alone
      assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly().waitFor();
    }

    assertThat(lastLine(file()))
        .matches("shutting down \\(SIGTERM\\) since .*Z; 1 span in flight, oldest .*Z");
  }

  @Test
  void builderNamesTheFileAndRefusesNone() {
    assertThat(Recorder.builder("orders").terminationMessage(file()).toString())
        .contains("terminationMessage=" + file());
    assertThatThrownBy(() -> Recorder.builder("orders").terminationMessage(null))
        .isInstanceOf(NullPointerException.class);
  }

  /** Begins a span and waits until the message names it. */
  static final class Victim {
    public static void main(String[] args) throws Exception {
      Path file = Path.of(System.getProperty("cairn.termination.message"));
      Recorder recorder = Recorder.builder("orders").directory(Path.of(args[0], "root")).open();
      recorder.begin("POST /export");
      while (!Files.exists(file) || !Files.readString(file).contains("POST /export")) {
        Thread.onSpinWait();
      }
      System.out.println("ready");
      System.in.read();
    }
  }
}
