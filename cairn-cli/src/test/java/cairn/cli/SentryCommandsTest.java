package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.sentry.FakeSentry;
import cairn.sentry.FakeSentry.Received;
import cairn.sentry.FakeSentry.Reply;
import com.fasterxml.jackson.databind.JsonNode;
import io.sentry.SentryEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * {@code cairn export --sentry} and {@code cairn watch --sentry}, on real runs and a fake Sentry.
 */
class SentryCommandsTest {
  @TempDir static Path recorded;
  private static DeadRuns dead;
  private static ChildRun clean;

  @TempDir Path temp;
  private final FakeSentry sentry = new FakeSentry();
  private final HandClock clock = new HandClock();
  private final Deque<Cli.Step> steps = new ArrayDeque<>();
  private int pauses;
  private Path root;
  private Cli cli;

  /** A clock that stands until it is moved. */
  private static final class HandClock extends Clock {
    Instant now = Instant.now();

    @Override
    public ZoneId getZone() {
      return ZoneOffset.UTC;
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return this;
    }

    @Override
    public Instant instant() {
      return now;
    }
  }

  @BeforeAll
  static void record() {
    dead = new DeadRuns(recorded.resolve("dead"));
    clean = ChildRun.start(recorded.resolve("clean"), "job");
    clean.ends("exit", "0");
  }

  @BeforeEach
  void setUp() throws IOException {
    root = Files.createDirectory(temp.resolve("cairn"));
    cli = new Cli(root);
    cli.clock = clock;
    cli.variables.put("CAIRN_DIR", root.toString());
    cli.pause =
        () -> {
          pauses++;
          Cli.Step next = steps.poll();
          if (next != null) {
            next.run();
          }
        };
  }

  @AfterEach
  void close() {
    sentry.close();
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
    return run.directory().resolveSibling("reports").resolve(run.id() + ".sentry");
  }

  private Cli.Result export(Object... more) {
    return run("export", more);
  }

  private Cli.Result run(String command, Object... more) {
    Object[] words = new Object[more.length + 3];
    words[0] = command;
    words[1] = "--sentry";
    words[2] = sentry.dsn();
    System.arraycopy(more, 0, words, 3, more.length);
    Cli.Result result = cli.run(words);
    assertThat(result.out() + result.err()).doesNotContain(FakeSentry.KEY);
    return result;
  }

  // Export

  @Test
  void runThatDiedLastIsOneEventWithItsOpenSpansAndIsMarked() {
    DeadRuns.Dead run = dead.addTo(root, "shop");

    Cli.Result result = export();

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).isEmpty();
    SentryEvent event = sentry.only().event();
    assertThat(result.err())
        .isEqualTo(
            "cairn: exported: run=shop/"
                + run.id()
                + ", cause="
                + event.getTag("cairn.cause")
                + ", event="
                + event.getEventId()
                + ", to="
                + sentry.name()
                + "\n");
    assertThat(event.getTransaction()).isEqualTo("POST /export");
    assertThat(event.getContexts().get("open_spans").toString()).contains("tenant=acme");
    assertThat(mark(run)).content().contains("delivered: ", "to: " + sentry.name());
    assertThat(mark(run)).content().doesNotContain(FakeSentry.KEY);
  }

  @Test
  void allDeadSendsEachDeathOnceAndNoCleanEnd() throws IOException {
    dead.addTo(root, "shop");
    dead.addTo(root, "shop");
    cleanRun();

    Cli.Result first = export("--all-dead", "--clean");
    Cli.Result second = export("--all-dead");

    assertThat(first.exitCode()).isZero();
    assertThat(first.err()).endsWith("cairn: exported 2 of 3 dead, 0 running\n");
    assertThat(second.err()).isEqualTo("cairn: exported 0 of 3 dead, 0 running\n");
    assertThat(sentry.received()).hasSize(2);
  }

  @Test
  void namedRunIsSentWhateverItsMarkAndIsTheSameEventToTheByte() {
    DeadRuns.Dead run = dead.addTo(root, "shop");

    export(run.id());
    clock.now = clock.now.plusSeconds(60);
    export(run.id());

    List<Received> received = sentry.received();
    assertThat(received).hasSize(2);
    assertThat(received.get(1).eventBytes()).isEqualTo(received.get(0).eventBytes());
    assertThat(received.get(1).sentAt()).isAfter(received.get(0).sentAt());
  }

  @Test
  void exportToACollectorIsNoneToSentryAndTheOtherWayRound() {
    dead.addTo(root, "shop");

    cli.run("export", "--otlp-file", temp.resolve("f"), "--all-dead");
    export("--all-dead");

    assertThat(sentry.received()).hasSize(1);
    assertThat(cli.run("export", "--otlp-file", temp.resolve("g"), "--all-dead").err())
        .contains("exported 0 of 1");
  }

  @Test
  void cleanEndThatIsNamedIsNothingToSend() throws IOException {
    cleanRun();

    Cli.Result result = export(clean.id);

    assertThat(result.exitCode()).isZero();
    assertThat(result.err()).startsWith("cairn: nothing to send, it ended in order: run=job/");
    assertThat(sentry.received()).isEmpty();
  }

  @Test
  void dryRunPrintsTheEnvelopeAndMarksNothing() {
    sentry.secret("5ecre7");
    DeadRuns.Dead run = dead.addTo(root, "shop");

    Cli.Result look = export("--dry-run");
    export("--dry-run", "--all-dead");

    assertThat(look.exitCode()).isZero();
    assertThat(look.out() + look.err()).doesNotContain("5ecre7");
    assertThat(sentry.received()).isEmpty();
    assertThat(mark(run)).doesNotExist();
    List<String> lines = look.out().lines().toList();
    assertThat(lines).hasSize(3);
    JsonNode item = Cli.Result.json(lines.get(1));
    assertThat(item.get("type").asText()).isEqualTo("event");
    assertThat(item.get("length").asInt())
        .isEqualTo(lines.get(2).getBytes(StandardCharsets.UTF_8).length);
    export();
    assertThat(new String(sentry.only().envelope(), StandardCharsets.UTF_8))
        .as("the envelope that is sent")
        .isEqualTo(look.out());
  }

  @Test
  void dsnIsTakenFromTheEnvironmentOfSentryOrOfCairn() {
    dead.addTo(root, "shop");
    cli.variables.put("SENTRY_DSN", sentry.dsn());

    assertThat(cli.run("export", "--sentry", "env").exitCode()).isZero();
    cli.variables.remove("SENTRY_DSN");
    cli.properties.setProperty("cairn.sentry", sentry.dsn());
    assertThat(cli.run("export").exitCode()).isZero();
    cli.properties.remove("cairn.sentry");
    cli.variables.put("CAIRN_SENTRY", sentry.dsn());
    assertThat(cli.run("export").exitCode()).isZero();
    assertThat(sentry.received()).hasSize(3);

    cli.run("export", "--otlp-file", "-");
    assertThat(sentry.received()).as("a target on the command line wins").hasSize(3);
    assertThat(cli.run("export", "--sentry", "env").err())
        .isEqualTo("cairn: no DSN: option=--sentry, value=env (set SENTRY_DSN, or give the DSN)\n");
  }

  @Test
  void proxyGetsTheRequest() {
    dead.addTo(root, "shop");
    String dsn = "http://" + FakeSentry.KEY + "@sentry.invalid/" + FakeSentry.PROJECT;

    Cli.Result result = cli.run("export", "--sentry", dsn, "--proxy", "localhost:" + sentry.port());

    assertThat(result.exitCode()).isZero();
    assertThat(sentry.only().headers()).containsEntry("host", "sentry.invalid");
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 403, 413})
  void refusedRunIsKeptAndTriedAgainEverMoreRarelyByAllDead(int status) {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    int requests = status == 413 ? 2 : 1; // it is trimmed and sent once more
    for (int i = 0; i < 3 * requests; i++) {
      sentry.answer(Reply.of(status));
    }

    Cli.Result first = export("--all-dead");
    Cli.Result second = export("--all-dead");

    assertThat(first.exitCode()).isEqualTo(1);
    assertThat(first.err())
        .contains("run not exported: run=shop/" + run.id() + ", error=endpoint refused: to=")
        .contains("status=" + status + ", error=told so, next=");
    assertThat(second.exitCode()).isZero();
    assertThat(second.err())
        .isEqualTo("cairn: exported 0 of 1 dead, 0 running, 1 refused before and kept\n");
    assertThat(sentry.received()).hasSize(requests);
    clock.now = clock.now.plus(Duration.ofMinutes(10));
    export("--all-dead");
    assertThat(sentry.received()).hasSize(2 * requests);
    clock.now = clock.now.plus(Duration.ofMinutes(19));
    export("--all-dead");
    assertThat(sentry.received()).as("the pause has doubled").hasSize(2 * requests);

    assertThat(export(run.id()).exitCode()).as("named, it is sent at once").isEqualTo(1);
    assertThat(sentry.received()).hasSize(3 * requests);
    assertThat(export(run.id()).exitCode()).isZero();
    assertThat(export("--all-dead").err()).doesNotContain("refused");
  }

  /** sentry-java#5360: a proxy answered 403 for days, and every event was deleted. */
  @Test
  void proxyThatBlocksLosesNothingAndIsNotTakenForSentry() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    sentry.answer(Reply.html(403));

    Cli.Result blocked = export("--all-dead");

    assertThat(blocked.err()).contains("something that is not Sentry refused: to=");
    assertThat(mark(run)).content().contains("reply: blocked, ");
    clock.now = clock.now.plus(Duration.ofDays(1));
    assertThat(export("--all-dead").exitCode()).isZero();
    assertThat(sentry.received()).hasSize(2);
  }

  /** sentry-java#4936: a refused envelope was sent again without end. */
  @Test
  void runThatIsAlwaysRefusedIsGivenUpAfterThirtyDays() {
    dead.addTo(root, "shop");
    for (int hours = 0; hours < 40 * 24; hours++) {
      sentry.answer(Reply.of(400));
      export("--all-dead");
      clock.now = clock.now.plus(Duration.ofHours(1));
    }

    assertThat(sentry.received()).hasSizeBetween(30, 45);
  }

  @Test
  void troubleIsTriedFourTimesAndLeavesTheRunUnmarked() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    sentry.answer(Reply.of(500), Reply.cut(), Reply.html(503), Reply.of(502), Reply.of(500));

    Cli.Result result = export();

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err()).contains("error=endpoint has trouble: to=", "status=502");
    assertThat(sentry.received()).hasSize(4);
    assertThat(pauses).isEqualTo(3);
    assertThat(mark(run)).doesNotExist();
    assertThat(export("--all-dead").exitCode()).isZero();
    assertThat(mark(run)).exists();
  }

  @Test
  void endpointThatIsNotThereIsNotTriedForEachOfManyRuns() throws IOException {
    for (int i = 0; i < 5; i++) {
      dead.addTo(root, "shop");
    }
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }

    Cli.Result result =
        cli.run("export", "--sentry", "http://k3y@localhost:" + port + "/1", "--all-dead");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .contains("error=endpoint not reached: to=localhost:" + port + "/1, error=Connect")
        .endsWith("cairn: exported 0 of 5 dead, 0 running, 4 not tried after that\n")
        .doesNotContain("k3y");
    assertThat(pauses).isEqualTo(3);
  }

  @Test
  void shortLimitIsWaitedForAndALongOneEndsTheExport() {
    dead.addTo(root, "shop");
    dead.addTo(root, "shop");
    dead.addTo(root, "shop");
    sentry.answer(
        Reply.of(429).with("Retry-After", "5"),
        Reply.of(200).with("X-Sentry-Rate-Limits", "3600:error:organization"));
    steps.add(() -> clock.now = clock.now.plusSeconds(5));

    Cli.Result result = export("--all-dead");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(pauses).isEqualTo(1);
    assertThat(sentry.received()).hasSize(2);
    assertThat(result.err())
        .contains("error=endpoint wants nothing for now: to=")
        .endsWith("cairn: exported 1 of 3 dead, 0 running, 1 not tried after that\n");
  }

  @Test
  void pruneTakesTheMarkToo() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    export();
    assertThat(mark(run)).exists();

    cli.run("prune", "--keep", "0");

    assertThat(mark(run)).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "export --sentry http://host/1 | invalid DSN: error=no key before the host",
        "export --sentry nonsense | invalid DSN: error=neither http:// nor https://",
        "export --sentry= | invalid DSN: error=neither http:// nor https://",
        "export --sentry http://s3cr3t@h:x/1 | invalid DSN: error=no valid host",
        "export --sentry http://k@h/1 --otlp-file - | options exclude each other:"
            + " option=--otlp-file, option=--sentry (give one)",
        "export --sentry http://k@h/1 --header a=b | option without another: option=--header,"
            + " needs=--otlp-endpoint (give both)",
        "export --sentry http://k@h/1 --proxy nowhere | invalid proxy: option=--proxy,"
            + " value=nowhere (give HOST:PORT)",
        "export --sentry http://k@h/1 --proxy h:0 | invalid proxy: option=--proxy, value=h:0",
        "export --sentry http://k@h/1 --ca /no/such | certificates not usable: option=--ca, error=",
        "export --otlp-file - --proxy h:1 | option without another: option=--proxy,"
            + " needs=--sentry (give both)",
        "export --otlp-file - --dry-run | option without another: option=--dry-run,"
            + " needs=--sentry",
        "export --proxy h:1 | option without another: option=--proxy, needs=--sentry",
        "watch --once --ca f | option without another: option=--ca, needs=--sentry (give both)",
        "watch --once --sentry http://host/1 | invalid DSN: error=no key before the host",
      })
  void wrongUsageIsOneLineThatSaysWhatToDo(String line, String error) {
    Cli.Result result = cli.run((Object[]) line.split(" ", -1));

    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).startsWith("cairn: " + error).hasLineCount(1).doesNotContain("s3cr3t");
  }

  @Test
  void dryRunFromTheEnvironmentIsNoExportToACollector() {
    dead.addTo(root, "shop");
    cli.variables.put("CAIRN_DRY_RUN", "1");

    assertThat(cli.run("export", "--otlp-file", temp.resolve("f")).exitCode()).isEqualTo(2);
    assertThat(temp.resolve("f")).doesNotExist();
    assertThat(export().exitCode()).isZero();
    assertThat(sentry.received()).isEmpty();
  }

  // Watch

  @Test
  void watcherSendsEachDeathItTellsAndNoCleanEnd() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    Path cleanDirectory = cleanRun();

    Cli.Result first = run("watch", "--once");
    Cli.Result second = run("watch", "--once");

    assertThat(first.exitCode()).isZero();
    assertThat(first.out()).hasLineCount(2);
    SentryEvent event = sentry.only().event();
    assertThat(first.err())
        .isEqualTo(
            "cairn: sent: run=shop/"
                + run.id()
                + ", event="
                + event.getEventId()
                + ", to="
                + sentry.name()
                + "\n");
    assertThat(second).isEqualTo(new Cli.Result(0, "", ""));
    assertThat(cleanDirectory.resolveSibling("reports").resolve(clean.id + ".sentry"))
        .content()
        .startsWith("none: ");
    assertThat(export("--all-dead").err()).isEqualTo("cairn: exported 0 of 2 dead, 0 running\n");
  }

  @Test
  void deathThatAnotherWatcherToldIsSentAtTheNextStart() {
    dead.addTo(root, "shop");
    cli.run("watch", "--once");
    assertThat(sentry.received()).isEmpty();

    assertThat(run("watch", "--once").err()).startsWith("cairn: sent: ");
    assertThat(sentry.received()).hasSize(1);
  }

  @Test
  void deathThatCouldNotBeSentIsToldAllTheSameAndSentByTheNext() {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    sentry.answer(Reply.of(503));

    Cli.Result failed = run("watch", "--once");

    assertThat(failed.exitCode()).isEqualTo(1);
    assertThat(failed.out()).contains(run.id());
    assertThat(failed.err()).startsWith("cairn: run not sent yet: run=shop/").hasLineCount(1);
    assertThat(run("watch", "--once").exitCode()).isZero();
    assertThat(sentry.received()).hasSize(2);
  }

  @Test
  void oldDeathIsNotSentAsSentryWouldGiveItAnotherDate() {
    dead.addTo(root, "shop");
    clock.now = clock.now.plus(Duration.ofDays(31));

    assertThat(run("watch", "--once").exitCode()).isZero();
    assertThat(sentry.received()).isEmpty();
  }

  @Test
  void runningWatcherSendsOnAThreadOfItsOwnAndEndsInOrder() throws InterruptedException {
    dead.addTo(root, "shop");
    steps.add(() -> sentry.await(1));
    steps.add(() -> dead.addTo(root, "shop"));
    steps.add(() -> {});
    steps.add(() -> sentry.await(2));
    steps.add(
        () -> {
          throw new InterruptedException("the end");
        });

    Cli.Result result = run("watch");
    Thread.interrupted(); // the last step interrupted this thread, as the command left it

    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).hasLineCount(2);
    assertThat(sentry.received()).hasSize(2);
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("cairn-sentry");
  }

  // Outbox

  private SentryOutbox outbox(ByteArrayOutputStream err) throws IOException {
    return new SentryOutbox(
        new Session(new ByteArrayOutputStream(), err, cli.surroundings()),
        cairn.sentry.SentryEndpoint.builder(sentry.dsn()).clock(clock).build());
  }

  private void tell(SentryOutbox outbox) throws IOException {
    cairn.report.Runs.under(root).forEach(outbox::told);
  }

  @Test
  void failureIsSaidOnceAndTriedAfterPausesThatDoubleUpToFiveMinutes() throws IOException {
    dead.addTo(root, "shop");
    dead.addTo(root, "shop");
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    SentryOutbox outbox = outbox(err);
    tell(outbox);
    Duration pause = Duration.ofSeconds(1);
    for (int failures = 1; failures <= 15; failures++) {
      sentry.answer(Reply.of(500));
      outbox.sendDue();
      outbox.sendDue();
      assertThat(sentry.received()).hasSize(failures);
      clock.now = clock.now.plus(pause).minusMillis(1);
      outbox.sendDue();
      assertThat(sentry.received()).as("before the pause is over").hasSize(failures);
      clock.now = clock.now.plusMillis(1);
      pause = pause.multipliedBy(2);
      pause = pause.compareTo(Duration.ofMinutes(5)) > 0 ? Duration.ofMinutes(5) : pause;
    }

    outbox.sendDue();

    assertThat(sentry.received()).hasSize(17);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .containsOnlyOnce("run not sent yet")
        .hasLineCount(3);
    assertThat(outbox.unsent()).isZero();
  }

  @Test
  void limitHoldsAllRunsAndARefusalOnlyItsOwn() throws IOException {
    DeadRuns.Dead first = dead.addTo(root, "shop");
    dead.addTo(root, "shop");
    dead.addTo(root, "shop");
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    SentryOutbox outbox = outbox(err);
    tell(outbox);
    sentry.answer(Reply.of(400), Reply.of(429).with("Retry-After", "3600"));

    outbox.sendDue();
    assertThat(sentry.received()).hasSize(2);
    clock.now = clock.now.plusSeconds(3_599);
    outbox.sendDue();
    assertThat(sentry.received()).hasSize(2);
    clock.now = clock.now.plusSeconds(1);
    outbox.sendDue();

    assertThat(sentry.received()).as("the refused one is due again too").hasSize(5);
    assertThat(err.toString(StandardCharsets.UTF_8)).contains("endpoint refused: to=");
    try (Stream<Path> marks = Files.list(first.directory().resolveSibling("reports"))) {
      assertThat(marks).hasSize(3);
    }
  }

  @Test
  void deletedRunIsForgotten() throws IOException {
    DeadRuns.Dead run = dead.addTo(root, "shop");
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    SentryOutbox outbox = outbox(err);
    tell(outbox);
    try (Stream<Path> files = Files.walk(run.directory())) {
      files.sorted(java.util.Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
    }

    outbox.sendDue();

    assertThat(err.size()).isZero();
    assertThat(sentry.received()).isEmpty();
    assertThat(outbox.unsent()).isZero();
  }

  // Start

  @Test
  void commandsThatSendNothingLoadNothingOfSentry() throws Exception {
    dead.addTo(root, "shop");
    for (List<String> words :
        List.of(List.of("list"), List.of("why"), List.of("watch", "--once"))) {
      List<String> command = CliProcess.java("-Xlog:class+load", Main.class.getName());
      command.addAll(words);
      command.addAll(List.of("--dir", root.toString()));
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String loaded = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(loaded).contains("cairn.cli.Main").doesNotContain(" io.sentry.");
    }
  }
}
