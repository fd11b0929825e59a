package cairn;

import static java.nio.file.StandardCopyOption.REPLACE_EXISTING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.format.BoxScrubber;
import cairn.format.Secrets;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Finding;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs under bounded and power durability on a real disk, read back as after power loss. */
class RecorderDurabilityTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path root;
  @TempDir Path afterwards;
  private final List<Recorder> opened = new ArrayList<>();
  private int losses;

  private Recorder open(Durability durability) {
    Recorder recorder = Recorder.builder("orders").directory(root).durability(durability).open();
    opened.add(recorder);
    return recorder;
  }

  @AfterEach
  void closeAll() {
    opened.forEach(Recorder::close);
  }

  /** The run as power loss may leave it: what was forced, and the box as it was at some time. */
  private Path afterPowerLoss(Recorder recorder, byte[] box) throws IOException {
    Path directory = recorder.directory();
    Path copyRoot = afterwards.resolve("loss" + ++losses);
    Path copy = copyRoot.resolve("orders").resolve(String.valueOf(directory.getFileName()));
    Files.createDirectories(copy);
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        if (String.valueOf(file.getFileName()).startsWith("journal-")) {
          Files.copy(file, copy.resolve(file.getFileName()));
        }
      }
    }
    Files.createFile(copy.resolve("lock")); // and nobody holds it
    if (box != null) {
      Files.write(copy.resolve("box"), box);
    }
    return copyRoot;
  }

  private static Report report(Path root) throws IOException {
    return Runs.under(root).list().get(0).report();
  }

  private static byte[] box(Recorder recorder) throws IOException {
    return Files.readAllBytes(recorder.directory().resolve("box"));
  }

  @Test
  void reportIsWholeWhenPowerLossTookTheBox() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();

    assertWhole(report(afterPowerLoss(recorder, null)));
  }

  @Test
  void reportIsWholeWhenPowerLossLeftTheBoxAsItWasAtTheStart() throws IOException {
    Recorder recorder = open(Durability.power());
    byte[] old = box(recorder);
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();

    assertWhole(report(afterPowerLoss(recorder, old)));
  }

  @Test
  void reportIsWholeWhenPowerLossScrambledTheBox() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();
    byte[] scrambled = box(recorder);
    for (int at = 0; at < scrambled.length; at += 1024) {
      java.util.Arrays.fill(scrambled, at, at + 512, (byte) 0x5a);
    }

    assertWhole(report(afterPowerLoss(recorder, scrambled)));
  }

  private static void record(Recorder recorder) {
    recorder.scope().user("42").tag("region", "us").tag("region", "eu").tag("gone", "x");
    recorder.scope().tag("gone", null).context("cart", Map.of("items", 3));
    recorder.breadcrumb(Level.INFO, "db", "SELECT orders", Map.of("rows", 3));
    recorder.breadcrumb(Level.WARNING, "db", "slow", null);
    OpenSpan outer = recorder.begin("POST /orders");
    outer.set("order.id", 17L);
    recorder.begin("ended").close();
    recorder.begin("SELECT orders").set("table", "orders");
  }

  private static void assertWhole(Report report) {
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("SELECT orders", "slow");
    assertThat(report.trail().get(0).data()).isEqualTo(Map.of("rows", 3L));
    assertThat(report.scope().user()).isEqualTo(Map.of("id", "42"));
    assertThat(report.scope().tags()).isEqualTo(Map.of("region", "eu"));
    assertThat(report.scope().contexts()).isEqualTo(Map.of("cart", Map.of("items", 3L)));
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactly("POST /orders", "SELECT orders");
    assertThat(report.openSpans().get(0).attributes()).isEqualTo(Map.of("order.id", 17L));
    assertThat(report.openSpans().get(1).attributes()).isEqualTo(Map.of("table", "orders"));
    assertThat(report.run().app()).isEqualTo("orders");
    assertThat(report.run().durability()).isEqualTo("power");
    assertThat(report.run().pid()).isEqualTo(ProcessHandle.current().pid());
    assertThat(report.findings())
        .extracting(Finding::text)
        .anyMatch(text -> text.startsWith("taken from the journal"));
  }

  // The end

  @Test
  void orderlyEndIsForcedBeforeCloseReturns() throws IOException {
    Recorder recorder = open(Durability.bounded(1_000_000, Duration.ofHours(1)));
    record(recorder);
    recorder.close();

    Report report = report(afterPowerLoss(recorder, null));
    assertThat(report.verdict().cause()).isEqualTo(Cause.RETURNED);
    assertThat(report.trail()).hasSize(2);
    assertThat(recorder.awaitDurable(LONG)).isTrue(); // nothing came after it
  }

  @Test
  void orderlyEndOfTheProcessIsForcedBeforeItIsGone() throws IOException {
    ChildJvm.run(List.of(), Exits.class, root.toString());
    Path run = Runs.under(root).list().get(0).directory();
    Files.delete(run.resolve("box"));

    Report report = report(root);
    assertThat(report.verdict().cause()).isEqualTo(Cause.EXIT);
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("last words");
  }

  /** Records one thing and exits. */
  static final class Exits {
    public static void main(String[] args) {
      Recorder.builder("exits")
          .directory(Path.of(args[0]))
          .durability(Durability.bounded(1_000_000, Duration.ofHours(1)))
          .open()
          .breadcrumb(Level.INFO, "c", "last words");
      System.exit(3);
    }
  }

  @Test
  void directoriesUpToOneThatWasThereAreForcedWithTheFirstBatch() throws IOException {
    Path there = root.toRealPath();
    try (RunDirectory made =
        RunDirectory.create(
            there.resolve("a").resolve("b"), "orders", "20260101-000000-000-1-00000000", f -> {})) {
      assertThat(made.parents())
          .containsExactly(
              there.resolve("a/b/orders"), there.resolve("a/b"), there.resolve("a"), there);
    }
    try (RunDirectory second =
        RunDirectory.create(there, "orders", "20260101-000000-000-2-00000000", f -> {})) {
      assertThat(second.parents()).containsExactly(there.resolve("orders"), there);
    }
  }

  @Test
  void copyModeForcesTheSame() throws IOException {
    System.setProperty("cairn.mode", "copy");
    try {
      Recorder recorder = open(Durability.power());
      assertThat(recorder.mode()).isEqualTo("copy");
      record(recorder);
      assertThat(recorder.awaitDurable(LONG)).isTrue();

      assertWhole(report(afterPowerLoss(recorder, null)));
    } finally {
      System.clearProperty("cairn.mode");
    }
  }

  // Both are there

  @Test
  void boxThatIsWholeIsShownAsIfThereWereNoJournal() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);
    recorder.close();

    Report report = report(root);
    assertThat(report.findings()).isEmpty();
    assertThat(report.trail()).hasSize(2);
    assertThat(report.counters().get("forces")).isPositive();
  }

  @Test
  void eachOfTwoDamagedCopiesGivesWhatTheOtherLacks() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);
    assertThat(recorder.awaitDurable(LONG)).isTrue();
    Path loss = afterPowerLoss(recorder, box(recorder));
    // The journal knows nothing of this, and the box has lost all that begins with SELECT.
    recorder.breadcrumb(Level.INFO, "db", "after the last force", null);
    byte[] newest = box(recorder);
    byte[] word = "SELECT".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    for (int at = 0; at + word.length < newest.length; at++) {
      if (java.util.Arrays.equals(newest, at, at + word.length, word, 0, word.length)) {
        newest[at] = '?';
      }
    }
    Files.write(Runs.under(loss).list().get(0).directory().resolve("box"), newest);

    Report report = report(loss);
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("SELECT orders", "slow", "after the last force");
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactly("POST /orders", "SELECT orders");
  }

  @Test
  void journalOfAnotherRunIsNotUsed() throws IOException {
    Recorder first = open(Durability.power());
    first.breadcrumb(Level.INFO, "c", "of the first");
    first.close();
    Recorder second = open(Durability.power());
    second.breadcrumb(Level.INFO, "c", "of the second");
    second.close();
    Path loss = afterPowerLoss(first, box(second));

    Report report = report(loss);
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("of the second");
    assertThat(report.findings())
        .extracting(Finding::text)
        .contains("journal is of another run and not used");
  }

  @Test
  void runWhoseJournalHoldsNothingIsRefusedWithoutABox() throws IOException {
    Recorder recorder = open(Durability.power());
    assertThat(recorder.awaitDurable(LONG)).isTrue();
    Path loss = afterPowerLoss(recorder, null);
    Path segment = Runs.under(loss).list().get(0).directory().resolve("journal-000001");
    Files.write(segment, new byte[(int) Files.size(segment)]);

    assertThatThrownBy(() -> report(loss))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no box in this run")
        .hasMessageContaining("of its journal: no header is sound");
  }

  @Test
  void livingRunIsReadFromItsBoxAlone() throws IOException {
    Recorder recorder = open(Durability.power());
    record(recorder);

    assertThat(report(root).verdict().cause()).isEqualTo(Cause.RUNNING);
    assertThat(report(root).findings()).isEmpty();
  }

  // Scrub

  private static boolean anyFileHolds(Path directory, String text) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        String bytes = Files.readString(file, java.nio.charset.StandardCharsets.ISO_8859_1);
        if (bytes.contains(text)) {
          return true;
        }
      }
    }
    return false;
  }

  /** A dead run whose box is older than its journal, recorded without redaction. */
  private Run unredacted() throws IOException {
    ChildJvm.run(List.of(), Unredacted.class, root.toString());
    Run run = Runs.under(root).list().get(0);
    Files.move(root.resolve("old-box"), run.directory().resolve("box"), REPLACE_EXISTING);
    return run;
  }

  /** Keeps its box as it is at the start, records what nobody may see, and dies. */
  static final class Unredacted {
    public static void main(String[] args) throws IOException {
      Recorder recorder =
          Recorder.builder("orders")
              .directory(Path.of(args[0]))
              .durability(Durability.power())
              .redaction(Redaction.none())
              .open();
      recorder.scope().tag("early", "overwritten").tag("early", "there");
      Files.copy(recorder.directory().resolve("box"), Path.of(args[0], "old-box"));
      recorder.scope().tag("password", "hunter2").tag("region", "old-region");
      System.out.println(recorder.awaitDurable(LONG));
      recorder.scope().tag("region", "eu");
      recorder.breadcrumb(Level.INFO, "login", "ok", Map.of("api_key", "k-4711"));
      System.out.println(recorder.awaitDurable(LONG));
      Runtime.getRuntime().halt(9);
    }
  }

  @Test
  void scrubFoldsTheJournalIntoTheBoxAndLeavesNoSecretInTheDirectory() throws IOException {
    Run run = unredacted();
    assertThat(anyFileHolds(run.directory(), "hunter2")).isTrue();
    assertThat(run.scrubPreview(Redaction.standard()).changed()).isTrue();

    assertThat(run.scrub(Redaction.standard()).changed()).isTrue();

    for (String secret : List.of("hunter2", "k-4711", "old-region")) {
      assertThat(anyFileHolds(run.directory(), secret)).as(secret).isFalse();
    }
    assertThat(run.directory().toFile().list()).containsExactlyInAnyOrder("box", "hooks", "lock");
    Report report = run.report();
    assertThat(report.scope().tags()).containsEntry("region", "eu").containsKey("password");
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("ok");
    assertThat(run.scrub(Redaction.standard()).changed()).isFalse();
  }

  @Test
  void journalBesideABoxThatWasScrubbedWithoutItIsNotUsed() throws IOException {
    Run run = unredacted();
    Path box = run.directory().resolve("box");
    BoxScrubber.Result scrubbed =
        BoxScrubber.scrub(Files.readAllBytes(box), "box", Secrets.STANDARD, 1);
    assertThat(scrubbed.changed()).isTrue();
    Files.write(box, scrubbed.image()); // as a version does that knows of no journal

    assertThat(run.report().toJson()).contains("early").doesNotContain("hunter2", "k-4711");
    run.scrub(Redaction.standard());
    assertThat(anyFileHolds(run.directory(), "hunter2")).isFalse();
  }

  @Test
  void scrubThatEndsBeforeTheJournalIsGoneIsTakenUpByTheNext() throws IOException {
    Run run = unredacted();
    Path directory = run.directory();
    Map<String, byte[]> segments = new HashMap<>();
    for (String name : directory.toFile().list()) {
      if (name.startsWith("journal-")) {
        segments.put(name, Files.readAllBytes(directory.resolve(name)));
      }
    }
    run.scrub(Redaction.standard());
    for (Map.Entry<String, byte[]> segment : segments.entrySet()) {
      Files.write(directory.resolve(segment.getKey()), segment.getValue());
    }

    assertThat(run.report().toJson()).doesNotContain("hunter2").doesNotContain("k-4711");
    assertThat(run.scrub(Redaction.standard()).changed()).isTrue();
    assertThat(directory.toFile().list()).containsExactlyInAnyOrder("box", "hooks", "lock");
    assertThat(anyFileHolds(directory, "hunter2")).isFalse();
  }
}
