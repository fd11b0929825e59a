package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ExportCommandTest {
  @TempDir static Path recorded;
  private static DeadRuns dead;
  private static ChildRun clean;

  @TempDir Path temp;
  private Path root;
  private Cli cli;

  @BeforeAll
  static void record() {
    dead = new DeadRuns(recorded.resolve("dead"));
    clean = ChildRun.start(recorded.resolve("clean"), "job");
    clean.does("crumb", "INFO", "c", "m").ends("exit", "0");
  }

  @BeforeEach
  void setUp() throws IOException {
    root = Files.createDirectory(temp.resolve("cairn"));
    cli = new Cli(root);
    cli.variables.put("CAIRN_DIR", root.toString());
  }

  private Path cleanRun() throws IOException {
    Path directory = Files.createDirectories(root.resolve("job").resolve(clean.id));
    try (Stream<Path> files = Files.list(clean.directory)) {
      for (Path file : files.toList()) {
        Files.copy(file, directory.resolve(file.getFileName()));
      }
    }
    return directory;
  }

  private static Path mark(DeadRuns.Dead run) {
    return run.directory().resolveSibling("reports").resolve(run.id() + ".exported");
  }

  /** {@return the ids of the deaths in lines of JSON} */
  private static List<String> deaths(String lines) {
    List<String> ids = new ArrayList<>();
    for (String line : lines.split("\n", 0)) {
      for (JsonNode record : Cli.Result.json(line).at("/resourceLogs/0/scopeLogs/0/logRecords")) {
        if (record.path("eventName").asText().equals("app.crash")) {
          record
              .get("attributes")
              .forEach(
                  attribute -> {
                    if (attribute.get("key").asText().equals("app.crash.id")) {
                      ids.add(attribute.at("/value/stringValue").asText());
                    }
                  });
        }
      }
    }
    return ids;
  }

  private String recordedId() {
    return dead.recordedId();
  }

  // Files

  @Test
  void runThatDiedLastIsAppendedToAFile() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    Path file = temp.resolve("deaths.jsonl");

    Cli.Result result = cli.run("export", "--otlp-file", file);

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).isEmpty();
    assertThat(result.err())
        .matches(
            "cairn: exported: run=shop/"
                + run.id()
                + ", cause=[A-Z_]+, spans=1, logs=1, to="
                + file
                + "\n");
    String lines = Files.readString(file);
    assertThat(lines.lines()).hasSize(2);
    JsonNode span =
        Cli.Result.json(lines.split("\n", 0)[0]).at("/resourceSpans/0/scopeSpans/0/spans/0");
    assertThat(span.get("name").asText()).isEqualTo("POST /export");
    assertThat(deaths(lines)).containsExactly(recordedId());
    assertThat(mark(run)).content().contains("to: " + file);
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(mark(run))))
        .isEqualTo("rw-------");
  }

  @Test
  void directoryGetsTwoFilesForEachRun() throws IOException {
    dead.addTo(root, "shop");
    Path directory = temp.resolve("spool");

    assertThat(cli.run("export", "--otlp-file", directory + "/").exitCode()).isZero();
    assertThat(cli.run("export", "--otlp-file", directory).exitCode()).as("by its kind").isZero();

    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder(recordedId() + ".traces.jsonl", recordedId() + ".logs.jsonl");
    }
  }

  @Test
  void namedRunOnStdoutIsALookAndSetsNoMark() {
    DeadRuns.Dead run = dead.addTo(root, "shop");

    Cli.Result result = cli.run("export", "--otlp-file", "-", run.id());

    assertThat(result.exitCode()).isZero();
    assertThat(deaths(result.out())).containsExactly(recordedId());
    assertThat(mark(run)).doesNotExist();
  }

  // All

  @Test
  void allDeadExportsEachDeathOnceAndLeavesLivingAndCleanOnesAlone() throws IOException {
    DeadRuns.Dead first = dead.addTo(root, "shop");
    DeadRuns.Dead second = dead.addTo(root, "web");
    cleanRun();
    Path file = temp.resolve("deaths.jsonl");
    try (ChildRun living = ChildRun.start(root, "alive")) {
      living.does("crumb", "INFO", "c", "m");

      Cli.Result result = cli.run("export", "--otlp-file", file, "--all-dead");

      assertThat(result.exitCode()).isZero();
      assertThat(result.err())
          .contains("run=shop/" + first.id(), "run=web/" + second.id())
          .endsWith("cairn: exported 2 of 3 dead, 1 running\n")
          .hasLineCount(3);
      assertThat(deaths(Files.readString(file))).hasSize(2);
      assertThat(cli.run("export", "--otlp-file", file, "--all-dead").err())
          .isEqualTo("cairn: exported 0 of 3 dead, 1 running\n");
      assertThat(cli.run("export", "--otlp-file", "-", "--all-dead", "--clean").out())
          .as("the clean one has breadcrumbs, and no death")
          .startsWith("{\"resourceLogs\"")
          .doesNotContain("app.crash")
          .hasLineCount(1);
      assertThat(cli.run("export", "--otlp-file", "-", "--all-dead", "--clean").out()).isEmpty();
    }
  }

  @Test
  void watcherThatToldTheDeathDoesNotStopTheExportNorTheOtherWayRound() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    assertThat(cli.run("watch", "--once", root).out()).contains(run.id());
    assertThat(run.storedReport()).exists();

    assertThat(deaths(cli.run("export", "--otlp-file", "-", "--all-dead").out())).hasSize(1);
    DeadRuns.Dead other = dead.addTo(root, "shop");
    cli.run("export", "--otlp-file", "-", "--all-dead");

    assertThat(cli.run("watch", "--once", root).out()).contains(other.id());
  }

  @Test
  void secondExportOfANamedRunHasTheSameId() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    cli.run("export", "--otlp-file", "-", "--all-dead");

    assertThat(mark(run)).exists();
    assertThat(deaths(cli.run("export", "--otlp-file", "-", run.id()).out()))
        .containsExactly(recordedId());
  }

  @Test
  void runThatCannotBeReadIsSaidAndTheOthersAreExported() throws IOException {
    DeadRuns.Dead broken = dead.addTo(root, "shop");
    Files.write(broken.directory().resolve("box"), new byte[10_000]);
    dead.addTo(root, "web");

    Cli.Result result = cli.run("export", "--otlp-file", "-", "--all-dead");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(deaths(result.out())).hasSize(1);
    assertThat(result.err())
        .contains("cairn: run not exported: run=shop/" + broken.id() + ", error=not a cairn box");
    assertThat(mark(broken)).doesNotExist();
  }

  @Test
  void pruneTakesTheMarkToo() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    cli.run("export", "--otlp-file", "-", "--all-dead");
    assertThat(mark(run)).exists();

    cli.run("prune", "--keep", "0");

    assertThat(mark(run)).doesNotExist();
  }

  // What can't be

  @Test
  void fileThatCannotBeWrittenLeavesTheRunUnmarked() {
    DeadRuns.Dead run = dead.addTo(root, "shop");

    Cli.Result result = cli.run("export", "--otlp-file", "/dev/full", "--all-dead");

    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.err())
        .startsWith("cairn: run not exported: run=shop/" + run.id() + ", error=No space left");
    assertThat(mark(run)).doesNotExist();
  }

  @Test
  void neitherFileNorDirectoryIsMadeBelowADirectoryThatIsMissing() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    Path missing = temp.resolve("mistyped");

    for (String below : List.of("/out/", "/out.jsonl")) {
      Cli.Result result = cli.run("export", "--otlp-file", missing + below, "--all-dead");

      assertThat(result.exitCode()).isEqualTo(3);
      assertThat(result.err()).startsWith("cairn: run not exported: run=shop/" + run.id());
      assertThat(missing).doesNotExist();
      assertThat(mark(run)).doesNotExist();
    }
  }

  @Test
  void applicationWithoutARunIsSaid() {
    dead.addTo(root, "shop");

    Cli.Result result = cli.run("export", "--otlp-file", "-", "--all-dead", "--app", "shpo");

    assertThat(result.exitCode()).isZero();
    assertThat(result.err())
        .startsWith("cairn: no run of that application: app=shpo (see: cairn list)\n");
  }

  @Test
  void readerThatWentAwayLeavesTheRunUnmarked() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int exitCode =
        Main.run(
            new String[] {"export", "--otlp-file", "-", "--all-dead"},
            new OutputStream() {
              @Override
              public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
              }
            },
            err,
            cli.surroundings());

    assertThat(exitCode).isEqualTo(3);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("run not exported: run=shop/");
    assertThat(mark(run)).doesNotExist();
  }

  @Test
  void livingRunIsRefusedWithExitCodeFour() {
    try (ChildRun living = ChildRun.start(root, "alive")) {
      Cli.Result result = cli.run("export", "--otlp-file", "-", living.id);

      assertThat(result.exitCode()).isEqualTo(4);
      assertThat(result.out()).isEmpty();
      assertThat(result.err())
          .isEqualTo(
              "cairn: run is still running: run=alive/"
                  + living.id
                  + " (export it when it has ended)\n");
    }
  }

  @Test
  void markThatCannotBeMadeIsSaidAndTheRunIsExportedAgain() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    Files.writeString(root.resolve("shop").resolve("reports"), "a file in its place");

    Cli.Result result = cli.run("export", "--otlp-file", "-", "--all-dead");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("cairn: export not marked: run=shop/" + run.id());
    assertThat(deaths(cli.run("export", "--otlp-file", "-", "--all-dead").out()))
        .containsExactly(recordedId());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "export | cairn: missing option: option=--otlp-file, --otlp-endpoint or --sentry (say where"
            + " to; see: cairn export --help)",
        "export --otlp-fil x | cairn: unknown option: option=--otlp-fil (did you mean --otlp-file?"
            + " see: cairn export --help)",
        "export --otlp-file | cairn: no value: option=--otlp-file (see: cairn export --help)",
        "export --otlp-file - --otlp-endpoint http://h | cairn: options exclude each other:"
            + " option=--otlp-file, option=--otlp-endpoint (give one)",
        "export --otlp-file - --all-dead x | cairn: no such run: run=x,",
        "export --otlp-file - --clean | cairn: option without another: option=--clean,"
            + " needs=--all-dead (give both, or name a run)",
        "export --otlp-file - --header a=b | cairn: option without another: option=--header,"
            + " needs=--otlp-endpoint (give both)",
        "export --otlp-endpoint ftp://h | cairn: invalid URL: option=--otlp-endpoint,"
            + " error=neither http:// nor https:// with a host",
        "export --otlp-endpoint http://u:secret@h | cairn: invalid URL: option=--otlp-endpoint,"
            + " error=it has a user",
        "export --otlp-endpoint http://h:4318/v1/logs | cairn: invalid URL: option=--otlp-endpoint,"
            + " error=it names one signal",
        "export --otlp-endpoint http://h --header secret | cairn: invalid header: option=--header,"
            + " name= (give NAME=VALUE)",
        "export --otlp-endpoint http://h --header host=secret | cairn: invalid header:"
            + " option=--header, name=host (give NAME=VALUE)",
      })
  void wrongUsageIsOneLineThatSaysWhatToDo(String line, String error) {
    dead.addTo(root, "shop");

    Cli.Result result = cli.run((Object[]) line.split(" ", 0));

    assertThat(result.exitCode()).isIn(2, 3);
    assertThat(result.err()).startsWith(error).hasLineCount(1).doesNotContain("secret");
    assertThat(result.out()).isEmpty();
  }

  @Test
  void targetOnTheCommandLineWinsOverTheOtherOneFromTheEnvironment() {
    dead.addTo(root, "shop");
    cli.variables.put("CAIRN_OTLP_ENDPOINT", "http://127.0.0.1:1");

    assertThat(cli.run("export", "--otlp-file", "-").out()).contains("app.crash");
  }

  // Endpoint

  /** Answers with these statuses in turn, then with 200. */
  private static final class Receiver implements AutoCloseable {
    final Deque<Integer> statuses = new ArrayDeque<>();
    final List<String> requests = new ArrayList<>();
    final List<String> bodies = new ArrayList<>();
    String answer = "{}";
    String retryAfter;
    private final HttpServer server;

    Receiver() throws IOException {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.createContext(
          "/",
          exchange -> {
            try (exchange) {
              bodies.add(
                  new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
              requests.add(
                  exchange.getRequestMethod()
                      + " "
                      + exchange.getRequestURI()
                      + " "
                      + exchange.getRequestHeaders().getFirst("Content-Type")
                      + " "
                      + exchange.getRequestHeaders().getFirst("X-Key"));
              if (retryAfter != null) {
                exchange.getResponseHeaders().set("Retry-After", retryAfter);
              }
              byte[] bytes = answer.getBytes(StandardCharsets.UTF_8);
              exchange.sendResponseHeaders(
                  statuses.isEmpty() ? 200 : statuses.remove(), bytes.length);
              exchange.getResponseBody().write(bytes);
            }
          });
      server.start();
    }

    String url(String path) {
      return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }

  @Test
  void endpointGetsTracesThenLogsAsJsonWithTheHeaders() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    cli.variables.put("OTEL_EXPORTER_OTLP_HEADERS", "x-key=from%20variable,x-other=1");
    try (Receiver receiver = new Receiver()) {
      Cli.Result result =
          cli.run("export", "--otlp-endpoint", receiver.url("/otlp/"), "--all-dead");

      assertThat(result.exitCode()).isZero();
      assertThat(receiver.requests)
          .containsExactly(
              "POST /otlp/v1/traces application/json from variable",
              "POST /otlp/v1/logs application/json from variable");
      assertThat(deaths(receiver.bodies.get(1))).containsExactly(recordedId());
      assertThat(mark(run)).content().contains("to: " + receiver.url("/otlp/"));
      assertThat(result.err()).doesNotContain("from variable");

      cli.run("export", "--otlp-endpoint", receiver.url(""), run.id(), "--header", "x-key=given");
      assertThat(receiver.requests.get(2)).isEqualTo("POST /v1/traces application/json given");
    }
  }

  @Test
  void endpointThatIsBusyIsTriedAgainAndWaitedForAsItAsks() throws IOException {
    dead.addTo(root, "shop");
    int[] pauses = {0};
    cli.pause = () -> pauses[0]++;
    try (Receiver receiver = new Receiver()) {
      receiver.statuses.addAll(List.of(503, 429, 502));
      receiver.retryAfter = "3600";

      Cli.Result result = cli.run("export", "--otlp-endpoint", receiver.url(""));

      assertThat(result.exitCode()).isZero();
      assertThat(receiver.requests).hasSize(5);
      assertThat(pauses[0]).isEqualTo(3);
    }
  }

  @Test
  void endpointThatStaysBusyOrRefusesLeavesTheRunUnmarked() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    int[] pauses = {0};
    cli.pause = () -> pauses[0]++;
    try (Receiver receiver = new Receiver()) {
      receiver.statuses.addAll(List.of(503, 503, 503, 503));
      Cli.Result busy = cli.run("export", "--otlp-endpoint", receiver.url(""));
      assertThat(busy.exitCode()).isEqualTo(1);
      assertThat(receiver.requests).hasSize(4);
      assertThat(busy.err())
          .isEqualTo(
              "cairn: run not exported: run=shop/"
                  + run.id()
                  + ", error=endpoint refused: url="
                  + receiver.url("/v1/traces")
                  + ", status=503 (nothing is lost: export it again)\n");

      receiver.statuses.addAll(List.of(200, 401));
      Cli.Result refused = cli.run("export", "--otlp-endpoint", receiver.url(""));
      assertThat(refused.exitCode()).isEqualTo(1);
      assertThat(receiver.requests).as("not tried again").hasSize(6);
      assertThat(refused.err()).contains("status=401");
    }
    assertThat(mark(run)).doesNotExist();
    assertThat(pauses[0]).isEqualTo(3);
  }

  @Test
  void endpointThatIsNotThereIsTriedFourTimes() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    int[] pauses = {0};
    cli.pause = () -> pauses[0]++;
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }

    Cli.Result result = cli.run("export", "--otlp-endpoint", "http://127.0.0.1:" + port);

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("error=endpoint not reached: url=").hasLineCount(1);
    assertThat(pauses[0]).isEqualTo(3);
    assertThat(mark(run)).doesNotExist();
  }

  @Test
  void whatTheEndpointRejectsForGoodIsSaidAndNotSentAgain() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    try (Receiver receiver = new Receiver()) {
      receiver.answer = "{\"partialSuccess\": {\"rejectedSpans\": \"1\", \"errorMessage\": \"x\"}}";

      Cli.Result result = cli.run("export", "--otlp-endpoint", receiver.url(""));

      assertThat(result.exitCode()).isZero();
      assertThat(result.err()).contains("endpoint took not all: url=", "rejected=1");
      assertThat(receiver.requests).hasSize(2);
    }
    assertThat(mark(run)).exists();
  }
}
