package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is said about boxes that are not sound. */
class DamagedRunTest {
  @TempDir static Path recorded;
  private static ChildRun run;
  @TempDir Path root;
  private Path directory;
  private Path box;
  private Cli cli;

  @BeforeAll
  static void record() {
    run =
        ChildRun.start(recorded, "shop")
            .does("crumb", "INFO", "db", "the crumb")
            .does("begin", "POST /orders", "order.id", "17")
            .kill();
  }

  @BeforeEach
  void copy() throws IOException {
    directory = Files.createDirectories(root.resolve("shop").resolve(run.id));
    box = directory.resolve("box");
    Files.copy(run.directory.resolve("box"), box);
    Files.copy(run.directory.resolve("lock"), directory.resolve("lock"));
    cli = new Cli(root);
    cli.variables.put("CAIRN_DIR", root.toString());
  }

  @Test
  void aDamagedBoxShowsWhatIsSoundAndWhatIsNot() throws IOException {
    String text = new String(Files.readAllBytes(box), StandardCharsets.ISO_8859_1);
    try (RandomAccessFile file = new RandomAccessFile(box.toFile(), "rw")) {
      for (int at = text.indexOf("runId"); at >= 0; at = text.indexOf("runId", at + 1)) {
        file.seek(at);
        file.write('X');
      }
    }

    Cli.Result result = cli.run("why");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("Killed", "POST /orders", "Findings\n  warning  IDNT");
    assertThat(cli.run("list").out()).contains("KILLED");
  }

  @Test
  void aCutBoxNeverThrows() throws IOException {
    byte[] whole = Files.readAllBytes(box);
    for (int length : new int[] {0, 1, 511, 512, 4096, 100_000, whole.length - 1}) {
      Files.write(box, Arrays.copyOf(whole, length));
      for (String command : new String[] {"list", "why", "report", "tail", "vitals"}) {
        Cli.Result result = cli.run(command);

        assertThat(result.exitCode()).as("%s, %d bytes", command, length).isIn(0, 1, 3);
        assertThat(result.out() + result.err()).isNotEmpty().doesNotContain("Exception", "\tat ");
      }
    }
  }

  @Test
  void aForeignFileInPlaceOfTheBoxIsSaidOnOneLine() throws IOException {
    Files.writeString(box, "[]\u001b[2J".repeat(1000));

    Cli.Result result = cli.run("why");

    assertThat(result.out() + result.err()).doesNotContain("\u001b", "Exception").isNotEmpty();
    assertThat(result.exitCode()).isIn(1, 3);
    assertThat(cli.run("list").exitCode()).isZero();
  }

  @Test
  void aRunWithoutABoxIsListedAndExplainedAsUnreadable() throws IOException {
    Files.delete(box);

    Cli.Result why = cli.run("why");

    assertThat(why.exitCode()).isEqualTo(3);
    assertThat(why.err()).startsWith("cairn: no readable box: run=" + run.id).hasLineCount(1);
    assertThat(cli.run("list").out()).matches("(?s).*" + run.id + " +shop +UNREADABLE\n");
    assertThat(cli.run("list", "--json").json().get(0).get("error").textValue()).contains("box");
  }

  @Test
  void aSymbolicLinkInPlaceOfTheBoxIsNotFollowed() throws IOException {
    Files.createSymbolicLink(box, Files.move(box, root.resolve("elsewhere")));

    assertThat(cli.run("why").exitCode()).isEqualTo(3);
  }
}
