package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.ChildJvm;
import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import cairn.Redaction;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@link Run#scrub} on the directories of dead processes. */
class RunScrubTest {
  private static final List<String> SECRETS =
      List.of(
          "tag-secret",
          "context-secret",
          "data-secret",
          "message-secret",
          "attribute-secret",
          "cleared-user",
          "overwritten-value",
          "closed-span");

  @TempDir Path root;

  /** A run that recorded secrets and was killed. */
  private Run killed() throws Exception {
    Process victim = ChildJvm.start(List.of(), Victim.class, root.toString());
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(victim.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(lines.readLine()).isEqualTo("ready");
    } finally {
      victim.destroyForcibly();
    }
    assertThat(victim.waitFor(30, TimeUnit.SECONDS)).isTrue();
    return Runs.under(root).newestDead().orElseThrow();
  }

  private static List<String> found(Run run) throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files(run)) {
      String text = Files.readString(file, StandardCharsets.ISO_8859_1);
      SECRETS.stream().filter(text::contains).forEach(found::add);
    }
    return found;
  }

  private static List<Path> files(Run run) throws IOException {
    try (Stream<Path> files = Files.list(run.directory())) {
      return files.sorted().toList();
    }
  }

  private static Scrubbed scrub(Run run) throws IOException {
    return run.scrub(Redaction.standard());
  }

  @Test
  void killedRunKeepsNoSecretInAnyOfItsFilesAndTheRestOfItsReport() throws Exception {
    Run run = killed();
    assertThat(found(run)).contains("tag-secret", "data-secret", "closed-span");
    Report before = run.report();
    long length = Files.size(run.directory().resolve("box"));

    Scrubbed preview = run.scrubPreview(Redaction.standard());
    assertThat(found(run)).isNotEmpty();
    Scrubbed scrubbed = scrub(run);

    assertThat(scrubbed).isEqualTo(preview);
    assertThat(scrubbed.changed()).isTrue();
    assertThat(scrubbed.valuesRedacted()).isEqualTo(5);
    assertThat(scrubbed.bytesErased()).isPositive();
    assertThat(found(run)).isEmpty();
    assertThat(files(run))
        .extracting(file -> file.getFileName().toString())
        .containsExactly("box", "hooks", "lock");
    assertThat(run.directory().resolve("box")).hasSize(length);
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(run.directory().resolve("box"))))
        .isEqualTo("rw-------");
    Report after = run.report();
    assertThat(after.verdict().cause()).isEqualTo(before.verdict().cause()).isEqualTo(Cause.KILLED);
    assertThat(after.run()).isEqualTo(before.run());
    assertThat(after.vitals()).isEqualTo(before.vitals());
    assertThat(after.counters()).isEqualTo(before.counters());
    assertThat(after.openSpans()).hasSize(1);
    assertThat(after.openSpans().get(0).attributes()).containsEntry("order.id", 17L);
    assertThat(after.trail()).hasSameSizeAs(before.trail());
    assertThat(after.scope().tags()).containsEntry("region", "us");
    assertThat(scrub(run)).isEqualTo(new Scrubbed(false, 0, 0));
  }

  @Test
  void reportThatWasKeptIsScrubbedToo() throws Exception {
    Run run = killed();
    assertThat(run.deliver(report -> {})).isTrue();
    // As one that was delivered by a recorder without redaction.
    Files.writeString(run.storedReport(), "{\"secret\": \"hunter2\"}");

    scrub(run);

    assertThat(Files.readString(run.storedReport())).isEqualTo(run.report().toJson());
    assertThat(run.deliver(report -> {})).isFalse();
  }

  @Test
  void runThatIsAliveIsRefusedAndUntouched() throws Exception {
    try (Recorder recorder = Recorder.builder("alive").directory(root).open()) {
      recorder.scope().tag("password", "tag-secret");
      Run run = Runs.under(root).list().get(0);

      assertThatIllegalStateException()
          .isThrownBy(() -> scrub(run))
          .withMessageStartingWith("run is alive: dir=");
      assertThatIllegalStateException().isThrownBy(() -> run.scrubPreview(Redaction.standard()));
      assertThat(files(run)).hasSize(3);
    }
  }

  @Test
  void deathAtAnyStepLeavesTheOldBoxOrTheNewOne() throws Exception {
    Run run = killed();
    Path box = run.directory().resolve("box");
    byte[] old = Files.readAllBytes(box);
    for (int step = 1; step <= 5; step++) {
      Files.write(box, old);

      ChildJvm.run(Scrubber.class, root.toString(), String.valueOf(step));

      assertThat(run.report().verdict().cause()).isEqualTo(Cause.KILLED);
      if (step < 4) {
        assertThat(Files.readAllBytes(box)).isEqualTo(old);
        assertThat(run.directory().resolve(BoxReplacement.NAME)).exists();
      } else {
        assertThat(found(run)).isEmpty();
        assertThat(run.directory().resolve(BoxReplacement.NAME)).doesNotExist();
      }
      assertThat(scrub(run).changed()).isEqualTo(step < 4);
      assertThat(found(run)).isEmpty();
      assertThat(files(run)).hasSize(3);
    }
  }

  @Test
  void secondScrubWhileOneIsAtWorkIsRefused() throws Exception {
    Run run = killed();
    byte[] old = Files.readAllBytes(run.directory().resolve("box"));
    try (BoxReplacement other = new BoxReplacement(run.directory(), step -> {})) {
      assertThat(other).isNotNull();
      assertThatThrownBy(() -> scrub(run))
          .isInstanceOf(IOException.class)
          .hasMessageStartingWith("another scrub is at work: file=");
      String output = ChildJvm.run(Scrubber.class, root.toString(), "0");
      assertThat(output).contains("another scrub is at work");
      assertThat(Files.readAllBytes(run.directory().resolve("box"))).isEqualTo(old);
    }
    assertThat(scrub(run).changed()).isTrue();
  }

  @Test
  void symbolicLinksAreNotFollowed() throws Exception {
    Run run = killed();
    Path directory = run.directory();
    Path target = Files.writeString(root.resolve("target"), "untouched");
    Path temporary = Files.createSymbolicLink(directory.resolve(BoxReplacement.NAME), target);
    assertThatThrownBy(() -> scrub(run)).isInstanceOf(IOException.class);
    assertThat(target).hasContent("untouched");
    Files.delete(temporary);

    Path box = directory.resolve("box");
    Path elsewhere = Files.move(box, root.resolve("elsewhere"));
    byte[] old = Files.readAllBytes(elsewhere);
    Files.createSymbolicLink(box, elsewhere);
    assertThatThrownBy(() -> scrub(run)).hasMessageStartingWith("no box in this run");
    assertThat(Files.readAllBytes(elsewhere)).isEqualTo(old);
    assertThat(directory.resolve(BoxReplacement.NAME)).doesNotExist();
    Files.delete(box);
    Files.move(elsewhere, box);

    Path moved = Files.move(directory, root.resolve("moved"));
    Files.createSymbolicLink(directory, moved);
    assertThatThrownBy(() -> scrub(run)).hasMessageStartingWith("not a directory of its own");
  }

  /** Records secrets as an application without rules does, and waits to be killed. */
  static final class Victim {
    public static void main(String[] args) throws IOException {
      Recorder recorder =
          Recorder.builder("victim").directory(Path.of(args[0])).redaction(Redaction.none()).open();
      recorder.scope().user("cleared-user").clear();
      recorder.scope().tag("region", "overwritten-value").tag("region", "us");
      recorder.scope().tag("api.token", "tag-secret");
      recorder.scope().context("db", Map.of("password", "context-secret", "host", "db-1"));
      OpenSpan closed = recorder.begin("closed-span");
      OpenSpan span = recorder.begin("POST /orders");
      closed.close();
      span.set("order.id", 17L);
      span.set("client_secret", "attribute-secret");
      recorder.breadcrumb(
          Level.INFO, "http", "GET /?access_token=message-secret", Map.of("cookie", "data-secret"));
      System.out.println("ready");
      System.in.read();
    }
  }

  /** Scrubs the dead run and halts after a step; 0 for never. */
  static final class Scrubber {
    public static void main(String[] args) throws IOException {
      int last = Integer.parseInt(args[1]);
      Runs.under(Path.of(args[0]))
          .newestDead()
          .orElseThrow()
          .scrub(
              Redaction.standard(),
              new LocalHost(),
              step -> {
                if (step == last) {
                  Runtime.getRuntime().halt(0);
                }
              });
    }
  }
}
