package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Durability;
import cairn.Level;
import cairn.Recorder;
import cairn.journal.Entry;
import cairn.journal.Journal;
import cairn.journal.JournalConsumer;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code journal cat}, {@code verify} and {@code stat} on real journals. */
class JournalCommandTest {
  /** Behind it, the first frame's header; then its payload. */
  private static final int FIRST_FRAME = 4096;

  private static final int FRAME_HEADER = 32;

  @TempDir Path temp;
  private Path directory;
  private Cli cli;

  @BeforeEach
  void setUp() {
    directory = temp.resolve("jobs");
    cli = new Cli(temp);
  }

  private Journal open() throws IOException {
    return Journal.builder(directory).durability(Durability.power()).open();
  }

  /** Events with steps 1 to {@code count}, as sequences 1 to {@code count}. */
  private void write(int count) throws IOException {
    try (Journal journal = open()) {
      for (int step = 1; step <= count; step++) {
        journal.append(Map.of("step", step));
      }
    }
  }

  private void damage(long offset) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(directory.resolve("journal-000001").toFile(), "rw")) {
      file.seek(offset);
      int old = file.read();
      file.seek(offset);
      file.write(old ^ 0x5a);
    }
  }

  private static List<Long> sequences(Cli.Result result) {
    List<Long> sequences = new ArrayList<>();
    for (String line : result.out().lines().toList()) {
      sequences.add(Cli.Result.json(line).get("sequence").longValue());
    }
    return sequences;
  }

  @Test
  void catPrintsEveryEntryAsALineOfJson() throws IOException {
    try (Journal journal = open()) {
      journal.append(Map.of("step", "export", "rows", 17));
      journal.append("plain €".getBytes(StandardCharsets.UTF_8));
      journal.append(new byte[] {(byte) 0xff, 1});
    }

    Cli.Result result = cli.run("journal", "cat", directory);

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).isEmpty();
    List<String> lines = result.out().lines().toList();
    assertThat(lines).hasSize(3);
    JsonNode event = Cli.Result.json(lines.get(0));
    assertThat(event.get("sequence").longValue()).isEqualTo(1);
    assertThat(Instant.parse(event.get("time").textValue())).isAfter(Instant.EPOCH);
    assertThat(event.at("/event/step").textValue()).isEqualTo("export");
    assertThat(event.at("/event/rows").intValue()).isEqualTo(17);
    assertThat(Cli.Result.json(lines.get(1)).get("text").textValue()).isEqualTo("plain €");
    assertThat(Cli.Result.json(lines.get(2)).get("base64").textValue()).isEqualTo("/wE=");
  }

  @Test
  void catStartsAtASequenceAndEndsWithTheNewest() throws IOException {
    write(10);

    assertThat(sequences(cli.run("journal", "cat", directory, "--from", 8)))
        .containsExactly(8L, 9L, 10L);
    assertThat(sequences(cli.run("journal", "cat", directory, "-n", 2))).containsExactly(9L, 10L);
    assertThat(sequences(cli.run("journal", "cat", directory, "--from", 5, "-n", 3)))
        .containsExactly(8L, 9L, 10L);
    assertThat(cli.run("journal", "cat", directory, "--from", 11).out()).isEmpty();
    assertThat(cli.run("journal", "cat", directory, "-n", 0).out()).isEmpty();
  }

  @Test
  void catStartsAtATimeOrAnAge() throws IOException {
    write(2);
    Instant first =
        Instant.parse(
            Cli.Result.json(cli.run("journal", "cat", directory, "-n", 1).out())
                .get("time")
                .textValue());
    cli.clock = Clock.fixed(first.plusSeconds(3600), ZoneOffset.UTC);

    assertThat(sequences(cli.run("journal", "cat", directory, "--since", "2h")))
        .containsExactly(1L, 2L);
    assertThat(cli.run("journal", "cat", directory, "--since", "30m").out()).isEmpty();
    assertThat(cli.run("journal", "cat", directory, "--since", first.plusSeconds(1)).out())
        .isEmpty();
    assertThat(sequences(cli.run("journal", "cat", directory, "--since", "2026-01-01T00:00:00Z")))
        .containsExactly(1L, 2L);
  }

  @Test
  void catFollowsUntilTheWriterIsGone() throws Exception {
    CountDownLatch seen = new CountDownLatch(1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    OutputStream watched =
        new OutputStream() {
          @Override
          public void write(int b) {
            write(new byte[] {(byte) b}, 0, 1);
          }

          @Override
          public void write(byte[] bytes, int offset, int length) {
            out.write(bytes, offset, length);
            if (out.toString(StandardCharsets.UTF_8).contains("\"sequence\":2,")) {
              seen.countDown();
            }
          }
        };
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    String[] words = {"journal", "cat", directory.toString(), "-f", "-n", "1"};
    CompletableFuture<Integer> exitCode;
    try (Journal journal = open()) {
      journal.append(Map.of("step", 1));
      journal.append(Map.of("step", 2));
      exitCode =
          CompletableFuture.supplyAsync(() -> Main.run(words, watched, err, cli.surroundings()));
      assertThat(seen.await(60, TimeUnit.SECONDS)).isTrue();
      journal.append(Map.of("step", 3));
      journal.append(Map.of("step", 4));
    }

    assertThat(exitCode.get(60, TimeUnit.SECONDS)).isZero();
    Cli.Result result =
        new Cli.Result(
            0, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    assertThat(sequences(result)).containsExactly(2L, 3L, 4L);
    assertThat(result.err()).isEqualTo("cairn: no process writes to it any more: last=4\n");
  }

  @Test
  void catOfADamagedJournalPrintsTheRestAndSaysWhatIsMissing() throws IOException {
    write(3);
    damage(FIRST_FRAME + FRAME_HEADER + 2);

    Cli.Result result = cli.run("journal", "cat", directory);

    assertThat(sequences(result)).containsExactly(2L, 3L);
    assertThat(result.err()).contains("checksum mismatch").contains("offset=" + FIRST_FRAME);
  }

  @Test
  void entriesMissingInTheMiddleAreALossWithExitCodeOne() throws IOException {
    write(3);
    damage(frameOfSecond() + FRAME_HEADER + 2);

    Cli.Result cat = cli.run("journal", "cat", directory);
    Cli.Result verify = cli.run("journal", "verify", directory);

    assertThat(sequences(cat)).containsExactly(1L, 3L);
    assertThat(cat.err()).contains("sequence numbers are missing: from=2, to=2");
    assertThat(cat.exitCode()).isEqualTo(1);
    assertThat(verify.exitCode()).isEqualTo(1);
    assertThat(verify.out())
        .startsWith(directory + ": 2 findings\n  2 entries, 1 to 3\n")
        .contains("\nnote  ", "\nloss  sequence numbers are missing: from=2, to=2");
    JsonNode json = cli.run("journal", "verify", directory, "--json").json();
    assertThat(json.get("sound").booleanValue()).isFalse();
    assertThat(json.get("findings")).hasSize(2);
    assertThat(json.at("/findings/1/loss").booleanValue()).isTrue();
  }

  /** Small entries take one frame each, of the header and one more unit. */
  private long frameOfSecond() {
    return FIRST_FRAME + 2 * FRAME_HEADER;
  }

  @Test
  void verifyOfASoundJournalShowsEverySegment() throws IOException {
    write(3);
    write(2);

    Cli.Result result = cli.run("journal", "verify", directory);
    JsonNode json = cli.run("journal", "verify", directory, "--json").json();

    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .startsWith(directory + ": sound\n  5 entries, 1 to 5\n")
        .containsPattern("journal-000001 +1 +3 +3 ")
        .containsPattern("journal-000002 +4 +5 +2 ");
    assertThat(json.get("schema").intValue()).isEqualTo(1);
    assertThat(json.get("sound").booleanValue()).isTrue();
    assertThat(json.get("live").booleanValue()).isFalse();
    assertThat(json.get("segments")).hasSize(2);
    assertThat(json.at("/segments/1/firstSequence").longValue()).isEqualTo(4);
    assertThat(json.at("/segments/1/lastSequence").longValue()).isEqualTo(5);
    assertThat(json.get("findings")).isEmpty();
  }

  @Test
  void verifyOfNothingThatProvesItselfIsUnreadable() throws IOException {
    Files.createDirectory(directory);
    Files.write(directory.resolve("journal-000001"), "not a journal\n".repeat(1000).getBytes());

    Cli.Result result = cli.run("journal", "verify", directory);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.out()).contains("no entries");
  }

  @Test
  void statShowsNumbersWriterAndHowFarConsumersAre() throws IOException {
    try (Journal journal = open()) {
      for (int step = 1; step <= 5; step++) {
        journal.append(Map.of("step", step));
      }
      try (JournalConsumer consumer = journal.consumer("mailer")) {
        Entry entry = consumer.next(Duration.ofSeconds(60));
        consumer.acknowledge(entry.sequence());
      }

      assertThat(cli.run("journal", "stat", directory).out())
          .containsPattern("writer +a process has it open\n")
          .containsPattern("entries +5 entries, 1 to 5\n")
          .containsPattern("consumer +mailer: acknowledged 1, 4 behind\n");
    }
    JsonNode json = cli.run("journal", "stat", directory, "--json").json();
    assertThat(json.get("live").booleanValue()).isFalse();
    assertThat(json.get("entries").longValue()).isEqualTo(5);
    assertThat(json.get("firstSequence").longValue()).isEqualTo(1);
    assertThat(json.get("lastSequence").longValue()).isEqualTo(5);
    assertThat(json.get("segments").intValue()).isEqualTo(1);
    assertThat(json.get("staged").longValue()).isZero();
    assertThat(json.at("/consumers/0/name").textValue()).isEqualTo("mailer");
    assertThat(json.at("/consumers/0/lag").longValue()).isEqualTo(4);
    assertThat(Instant.parse(json.get("newestEntry").textValue()))
        .isAfterOrEqualTo(Instant.parse(json.get("oldestFile").textValue()).minusSeconds(60));
  }

  @Test
  void nothingInAnEntryReachesTheTerminalAsAControl() throws IOException {
    try (Journal journal = open()) {
      journal.append(Map.of("evil\u001b[2J", "\u009b\u007f\u0007"));
      journal.append("\u001b[2J\u009b\u007f".getBytes(StandardCharsets.UTF_8));
    }

    for (String command : List.of("cat", "stat", "verify")) {
      String out = cli.run("journal", command, directory).out();
      assertThat(out).isNotEmpty();
      assertThat(out.chars().filter(c -> Character.isISOControl(c) && c != '\n')).isEmpty();
    }
  }

  @Test
  void aReaderThatGoesAwayEndsItQuietly() throws IOException {
    write(3);
    OutputStream gone =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("Broken pipe");
          }
        };
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    String[] words = {"journal", "cat", directory.toString()};

    assertThat(Main.run(words, gone, err, cli.surroundings())).isZero();
    assertThat(err.toString(StandardCharsets.UTF_8)).isEmpty();
  }

  @Test
  void aRunsOwnJournalIsSaidToBeOneWithHowMuchIsInIt() {
    Path run;
    try (Recorder recorder =
        Recorder.builder("shop").directory(temp).durability(Durability.power()).open()) {
      recorder.breadcrumb(Level.INFO, "db", "SELECT orders");
      assertThat(recorder.awaitDurable(Duration.ofSeconds(60))).isTrue();
      run = recorder.directory();
    }

    Cli.Result cat = cli.run("journal", "cat", run);
    assertThat(cat.exitCode()).isZero();
    assertThat(cat.out()).isEmpty();
    assertThat(cat.err())
        .matches(
            "cairn: that is a run's own journal, which has no entries: records=[1-9]\\d* \\(see:"
                + " cairn report\\)\n");
    for (String command : List.of("stat", "verify")) {
      Cli.Result result = cli.run("journal", command, run);
      assertThat(result.exitCode()).as(result.err()).isZero();
      assertThat(result.out()).contains("no entries", "a run's own journal: ");
      assertThat(cli.run("journal", command, run, "--json").json().get("runFrames").longValue())
          .isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cat", "verify", "stat"})
  void aDirectoryWithoutAJournalIsNamedWithExitCodeThree(String command) throws IOException {
    Path file = Files.createFile(temp.resolve("file"));
    Path empty = Files.createDirectory(temp.resolve("empty"));
    Path run = Files.createDirectory(temp.resolve("run"));
    Files.createFile(run.resolve("box"));

    assertUnreadable(command, temp.resolve("missing"), "no such directory: dir=");
    assertUnreadable(command, file, "not a directory: dir=");
    assertUnreadable(command, empty, "no journal: dir=");
    assertUnreadable(command, run, "no journal: dir=");
    assertThat(cli.run("journal", command, run).err()).contains("see: cairn report");
  }

  private void assertUnreadable(String command, Path path, String message) {
    Cli.Result result = cli.run("journal", command, path);

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err()).startsWith("cairn: " + message + path).hasLineCount(1);
    assertThat(result.out()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"cat", "verify", "stat"})
  void everyCommandsHelpHasExitCodesAndExamples(String command) {
    Cli.Result result = cli.run("journal", command, "--help");

    assertThat(result.exitCode()).isZero();
    assertThat(result.out())
        .startsWith("Usage: cairn journal " + command)
        .contains("Exit codes: 0 ", "Examples:\n  cairn journal " + command);
    assertThat(result.out().lines()).allMatch(line -> line.length() <= 100);
    assertThat(cli.run("help", "journal", command)).isEqualTo(result);
    assertThat(cli.run("journal").out()).contains("\n  " + command + " ");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "verfy | unknown command: command=verfy (did you mean verify? see: cairn journal --help)",
        "cat | missing argument: argument=DIR (see: cairn journal cat --help)",
        "cat . --from 0 | value is too small: option=--from, value=0, limit=1 (give a larger one)",
        "cat . --from x | invalid value: option=--from, value=x (expected a whole number; see:"
            + " cairn journal cat --help)",
        "cat . --since soon | invalid value: option=--since, value=soon (give a time such as"
            + " 2026-11-30T14:03:07Z, or an age such as 10m or 12h)",
        "verify a b | unexpected argument: argument=b (see: cairn journal verify --help)",
      })
  void aWrongCommandLineIsOneLineOnStderrAndExitCodeTwo(String line, String message) {
    List<Object> words = new ArrayList<>(List.of("journal"));
    words.addAll(List.of(line.strip().split(" ")));

    Cli.Result result = cli.run(words.toArray());

    assertThat(result.err()).isEqualTo("cairn: " + message.strip() + "\n");
    assertThat(result.exitCode()).isEqualTo(2);
  }
}
