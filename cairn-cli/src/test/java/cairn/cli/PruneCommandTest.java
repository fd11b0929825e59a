package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PruneCommandTest {
  private static final int BOX_BYTES = 10_000;
  @TempDir static Path recorded;
  private static ChildRun dead;
  @TempDir Path temp;
  private Path root;
  private Cli cli;

  @BeforeAll
  static void record() {
    dead = ChildRun.start(recorded, "shop").kill();
  }

  @BeforeEach
  void setUp() throws IOException {
    root = Files.createDirectory(temp.resolve("cairn"));
    cli = new Cli(root);
    cli.variables.put("CAIRN_DIR", root.toString());
  }

  /** A dead run whose box does not tell anything, last changed {@code age} ago. */
  private Path run(String app, int number, Duration age) throws IOException {
    String id = String.format(Locale.ROOT, "20260101-000000-%03d-1-0000000a", number);
    Path directory = Files.createDirectories(root.resolve(app).resolve(id));
    Files.createFile(directory.resolve("lock"));
    Path box = Files.write(directory.resolve("box"), new byte[BOX_BYTES]);
    Files.setLastModifiedTime(box, FileTime.from(Instant.now().minus(age)));
    return directory;
  }

  private List<String> left(String app) throws IOException {
    try (Stream<Path> entries = Files.list(root.resolve(app))) {
      return entries.map(path -> path.getFileName().toString().substring(16, 19)).sorted().toList();
    }
  }

  @Test
  void partsOfARunGoWithItUnlessSomethingForeignIsInThem() throws IOException {
    Path whole = run("shop", 1, Duration.ofDays(100));
    Path part = Files.createDirectories(whole.resolve("parts").resolve("20260101-000000-001-1-0b"));
    Files.write(part.resolve("box"), new byte[BOX_BYTES]);
    Path other = run("shop", 2, Duration.ofDays(100));
    Path foreign = Files.createDirectories(other.resolve("parts").resolve("x"));
    Files.write(foreign.resolve("notes.txt"), new byte[1]);

    Cli.Result result = cli.run("prune", "--older-than", "1d");

    assertThat(result.exitCode()).isOne();
    assertThat(whole).doesNotExist();
    assertThat(foreign.resolve("notes.txt")).exists();
    assertThat(other.resolve("box")).exists();
  }

  @Test
  void theNewestTwentyOfEachApplicationAreKept() throws IOException {
    for (int i = 0; i < 23; i++) {
      run("shop", i, Duration.ZERO);
    }
    run("web", 0, Duration.ofDays(100));

    Cli.Result result = cli.run("prune");

    assertThat(result.exitCode()).isZero();
    assertThat(left("shop")).hasSize(20).doesNotContain("000", "001", "002");
    assertThat(left("web")).hasSize(1);
    assertThat(result.out())
        .contains("deleted shop/20260101-000000-000-1-0000000a, 9.8 KiB\n")
        .endsWith("deleted 3, freed 29.3 KiB; kept 21 dead, 0 running\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "box.scrub",
        "journal-000001",
        ".new-journal-000002",
        "hooks",
        "death-watch",
        ".new-death-run-4711-1f",
        "hs_err.log",
        "hsperfdata",
        "note-oom"
      })
  void whatCairnPutThereIsDeletedWithItsRun(String file) throws IOException {
    Files.createFile(run("shop", 0, Duration.ZERO).resolve(file));

    assertThat(cli.run("prune", "--keep", "0").exitCode()).isZero();
    assertThat(left("shop")).isEmpty();
  }

  @Test
  void whatWasKeptOfADeletedRunAmongTheReportsGoesTooAndNothingElseThere() throws IOException {
    Path run = run("shop", 0, Duration.ZERO);
    String kept = run("shop", 1, Duration.ZERO).getFileName() + ".json";
    Path reports = Files.createDirectory(root.resolve("shop/reports"));
    String id = String.valueOf(run.getFileName());
    for (String name : List.of(id + ".json", id + ".adopted", kept, ".lock", "notes.txt")) {
      Files.writeString(reports.resolve(name), "0123456789");
    }

    Cli.Result dry = cli.run("prune", "--keep", "1", "--dry-run");
    assertThat(dry.out()).contains("would free " + Units.size(BOX_BYTES + 20));
    assertThat(reports.resolve(id + ".json")).exists();
    assertThat(cli.run("prune", "--keep", "1").exitCode()).isZero();

    try (Stream<Path> left = Files.list(reports)) {
      assertThat(left.map(path -> path.getFileName().toString()))
          .containsExactlyInAnyOrder(kept, ".lock", "notes.txt");
    }
  }

  @Test
  void keepIsPerApplication() throws IOException {
    for (int i = 0; i < 3; i++) {
      run("shop", i, Duration.ZERO);
      run("web", i, Duration.ZERO);
    }

    cli.run("prune", "--keep", "1", "--app", "shop");

    assertThat(left("shop")).containsExactly("002");
    assertThat(left("web")).hasSize(3);
  }

  @Test
  void olderThanAloneDeletesByAgeWhateverTheNumber() throws IOException {
    run("shop", 0, Duration.ofDays(8));
    run("shop", 1, Duration.ofDays(6));

    cli.run("prune", "--older-than", "7d");

    assertThat(left("shop")).containsExactly("001");
  }

  @Test
  void olderThanWithKeepDeletesOnlyWhatNeitherKeeps() throws IOException {
    run("shop", 0, Duration.ofDays(9));
    run("shop", 1, Duration.ofDays(1));
    run("shop", 2, Duration.ofDays(9));

    cli.run("prune", "--older-than", "7d", "--keep", "1");

    assertThat(left("shop")).containsExactly("001", "002");
  }

  @Test
  void theAgeOfARunIsThatOfItsLastSignOfLifeNotOfItsFile() throws IOException {
    Path directory = Files.createDirectories(root.resolve("shop").resolve(dead.id));
    Files.copy(dead.directory.resolve("lock"), directory.resolve("lock"));
    Path box = Files.copy(dead.directory.resolve("box"), directory.resolve("box"));
    Files.setLastModifiedTime(box, FileTime.from(Instant.EPOCH));

    cli.run("prune", "--older-than", "1d");
    assertThat(directory).exists();
    cli.clock = Clock.offset(Clock.systemUTC(), Duration.ofDays(2));
    cli.run("prune", "--older-than", "1d");
    assertThat(directory).doesNotExist();
  }

  @Test
  void aDryRunSaysTheSameAndDeletesNothing() throws IOException {
    run("shop", 0, Duration.ZERO);

    Cli.Result result = cli.run("prune", "--keep", "0", "--dry-run");

    assertThat(left("shop")).hasSize(1);
    assertThat(result.out())
        .contains("would delete shop/")
        .endsWith("would delete 1, would free 9.8 KiB; kept 0 dead, 0 running\n");
  }

  @Test
  void aLivingRunIsNeverDeletedAndItsSiblingsAre() throws IOException {
    try (ChildRun living = ChildRun.start(root, "shop")) {
      Path old = run("shop", 0, Duration.ofDays(9));
      cli.clock = Clock.offset(Clock.systemUTC(), Duration.ofDays(100));

      Cli.Result result = cli.run("prune", "--keep", "0", "--older-than", "1s");

      assertThat(old).doesNotExist();
      assertThat(living.directory.resolve("box")).exists();
      assertThat(result.out()).endsWith("kept 0 dead, 1 running\n");
    }
  }

  @Test
  void aDirectoryWithAnUnknownFileIsLeftWhole() throws IOException {
    Path directory = run("shop", 0, Duration.ZERO);
    Files.createFile(directory.resolve("journal-000001"));
    Path notes = Files.writeString(directory.resolve("notes.txt"), "mine");

    Cli.Result result = cli.run("prune", "--keep", "0");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("not a recorder's file: file=" + notes).hasLineCount(1);
    assertThat(directory.resolve("box")).exists();
    Files.delete(notes);
    assertThat(cli.run("prune", "--keep", "0").exitCode()).isZero();
    assertThat(directory).doesNotExist();
  }

  @Test
  void symbolicLinksAreNeitherFollowedNorDeleted() throws IOException {
    Path outside = Files.createDirectory(temp.resolve("outside"));
    Path precious = Files.writeString(outside.resolve("box"), "precious");
    Path directory = run("shop", 0, Duration.ZERO);
    Files.createSymbolicLink(directory.resolve("journal-000001"), precious);
    Path link =
        Files.createSymbolicLink(root.resolve("shop/20260101-000000-001-1-0000000a"), outside);
    Files.createSymbolicLink(root.resolve("linked"), outside);

    Cli.Result result = cli.run("prune", "--keep", "0");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(precious).hasContent("precious");
    assertThat(link).isSymbolicLink();
    assertThat(directory.resolve("box")).exists();
  }

  @Test
  void anUnfinishedDirectoryGoesAfterADay() throws IOException {
    Path old = Files.createDirectories(root.resolve("shop/.new-20260101-000000-000-1-0000000a"));
    Files.write(old.resolve("box"), new byte[BOX_BYTES]);
    Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofHours(25))));
    Path fresh = Files.createDirectories(root.resolve("shop/.new-20260101-000000-001-1-0000000a"));

    Cli.Result result = cli.run("prune");

    assertThat(result.exitCode()).isZero();
    assertThat(old).doesNotExist();
    assertThat(fresh).exists();
    assertThat(result.out()).contains("deleted 1, freed 9.8 KiB");
  }

  @Test
  void whatIsNotARunIsLeftAlone() throws IOException {
    Path report = Files.createDirectories(root.resolve("shop/reports")).resolve("r.json");
    Files.writeString(report, "{}");
    Path file = Files.writeString(root.resolve("file"), "mine");

    cli.run("prune", "--keep", "0");

    assertThat(report).exists();
    assertThat(file).exists();
  }
}
