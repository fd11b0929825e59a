package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunsTest {
  private static final String FIRST = "20261130-120000-000-1-00000001";
  private static final String SECOND = "20261130-130000-000-1-00000002";

  @TempDir Path root;

  private void write(String id) {
    BoxBuilder.write(root, id, BoxBuilder.box().bytes());
  }

  @Test
  void runsAreListedNewestFirst() throws IOException {
    write(FIRST);
    write(SECOND);
    Files.createDirectories(root.resolve("another").resolve(BoxBuilder.RUN_ID));
    Runs runs = Runs.under(root);
    assertThat(runs).extracting(Run::id).containsExactly(BoxBuilder.RUN_ID, SECOND, FIRST);
    assertThat(runs.list().get(0).app()).isEqualTo("another");
    assertThat(runs.list().get(1).directory()).isEqualTo(root.resolve("orders").resolve(SECOND));
  }

  @Test
  void whatIsNoRunIsPassedOver() throws IOException {
    write(FIRST);
    Path app = root.resolve("orders");
    Files.createDirectories(app.resolve(".new-" + SECOND));
    Files.createDirectories(app.resolve("reports"));
    Files.createDirectories(app.resolve("reports").resolve(SECOND));
    Files.createDirectories(app.resolve("lost+found"));
    Files.createFile(app.resolve("20261130-130000-000-1-00000003"));
    Files.createFile(root.resolve("notes.txt"));
    Files.createSymbolicLink(app.resolve(SECOND), app.resolve(FIRST));
    Files.createSymbolicLink(root.resolve("linked"), app);
    assertThat(Runs.under(root)).extracting(Run::id).containsExactly(FIRST);
  }

  @Test
  void anApplicationMayBeCalledReports() throws IOException {
    BoxBuilder.write(root.resolve("x"), FIRST, BoxBuilder.box().bytes());
    Files.move(root.resolve("x").resolve("orders"), root.resolve("reports"));
    assertThat(Runs.under(root)).extracting(Run::app).containsExactly("reports");
  }

  @Test
  void aRunIsFoundByIdOrAnUnambiguousPart() throws IOException {
    write(FIRST);
    write(SECOND);
    Runs runs = Runs.under(root);
    assertThat(runs.find(FIRST)).map(Run::id).contains(FIRST);
    assertThat(runs.find("00000002")).map(Run::id).contains(SECOND);
    assertThat(runs.find("20261130-12")).map(Run::id).contains(FIRST);
    assertThat(runs.find("20261130")).isEmpty();
    assertThat(runs.find("nothing")).isEmpty();
    assertThat(runs.find("")).isEmpty();
  }

  @Test
  void theNewestDeadRunIsTheNewestWhoseLockIsFree() throws IOException {
    assertThat(Runs.under(root).newestDead()).isEmpty();
    write(FIRST);
    write(SECOND);
    assertThat(Runs.under(root).newestDead()).map(Run::id).contains(SECOND);
  }

  @Test
  void aMissingRootIsSaid() throws IOException {
    assertThatThrownBy(() -> Runs.under(root.resolve("none")))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("root does not exist: root=");
    Path file = Files.createFile(root.resolve("file"));
    assertThatThrownBy(() -> Runs.under(file))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("root is not a directory: root=");
  }

  @Test
  void aRunWithoutAReadableBoxThrowsForTheReportOnly() throws IOException {
    write(FIRST);
    Path box = root.resolve("orders").resolve(FIRST).resolve("box");
    Run run = Runs.under(root).list().get(0);
    Files.write(box, new byte[0]);
    assertThatThrownBy(run::report)
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("not a cairn box: file=" + box);
    assertThat(run.isRunning()).isFalse();
    Files.delete(box);
    assertThatThrownBy(run::report).hasMessage("no box in this run: file=" + box);
    Files.createSymbolicLink(box, Path.of("/dev/zero"));
    assertThatThrownBy(run::report).hasMessage("no box in this run: file=" + box);
    assertThat(run.isRunning()).isFalse();
  }

  @Test
  void aBoxOfMoreThan256MebibytesIsRefused() throws IOException {
    write(FIRST);
    Path box = root.resolve("orders").resolve(FIRST).resolve("box");
    try (RandomAccessFile file = new RandomAccessFile(box.toFile(), "rw")) {
      file.setLength((256L << 20) + 1); // sparse
    }
    assertThatThrownBy(() -> Runs.under(root).list().get(0).report())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("box is too large: file=" + box + ", length=268435457");
  }

  @Test
  void readingChangesNothing() throws IOException {
    write(FIRST);
    Path directory = root.resolve("orders").resolve(FIRST);
    byte[] before = Files.readAllBytes(directory.resolve("box"));
    Report report = Runs.under(root).list().get(0).report();
    report.toText();
    report.toJson();
    assertThat(Files.readAllBytes(directory.resolve("box"))).isEqualTo(before);
    try (var files = Files.list(directory)) {
      assertThat(files).hasSize(2);
    }
  }

  @Test
  void aRunInADirectoryOfAnotherNameIsAFinding() throws IOException {
    write(FIRST);
    Report report = Runs.under(root).list().get(0).report();
    assertThat(report.run().id()).isEqualTo(BoxBuilder.RUN_ID);
    assertThat(report.findings())
        .extracting(Finding::text)
        .contains(
            "run id is not the directory's: recorded="
                + BoxBuilder.RUN_ID
                + ", directory="
                + FIRST);
  }
}
