package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import cairn.sentry.FakeSentry;
import cairn.sentry.LoopbackSentry;
import cairn.sentry.ReportEvent;
import cairn.sentry.SentryMark;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParser;
import io.sentry.Breadcrumb;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The demo shop with sentry-java, killed while it is in use. {@code -Dcairn.stress.show=true}
 * prints the event that arrived.
 */
class SentryShopTest {
  private static final List<Long> CUSTOMERS = List.of(7L, 8L);
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Of the thread that reports dead runs; Linux keeps 15 characters. */
  private static final String REPORTING = "cairn-sentry-de";

  private static final String WATCHING = "cairn-sentry";

  @TempDir Path directory;

  @Test
  void shopKilledUnderLoadIsOneEventFromItsNextStartAndTheSameFromTheCommandLine()
      throws Exception {
    Optional<Path> cli = ShopProcess.built(Path.of("..", "cairn-cli", "target"), "cairn.jar");
    if (cli.isEmpty()) {
      return;
    }
    Path root = directory.resolve("root");
    Path copy = directory.resolve("copy");
    try (LoopbackSentry sentry = new LoopbackSentry();
        FakeSentry toCommand = new FakeSentry()) {
      if (!killUnderLoad(root, sentry)) {
        return;
      }
      assertThat(sentry.events()).as("what a killed process has sent").isEmpty();
      Report dead = onlyRun(root).report();
      copy(root, copy);

      export(cli.get(), copy, toCommand);
      SentryEvent exported = toCommand.only().event();
      check(exported, dead);

      restart(root, sentry, "first");
      SentryEvent event = sentry.await(1).get(0);
      check(event, dead);
      assertThat(event.getEventId()).isEqualTo(exported.getEventId());
      if (Boolean.getBoolean("cairn.stress.show")) {
        System.out.println(
            new GsonBuilder()
                .setPrettyPrinting()
                .disableHtmlEscaping()
                .create()
                .toJson(JsonParser.parseString(sentry.eventTexts().get(0))));
      }

      restart(root, sentry, "second");
      restart(copy, sentry, "where it was exported");
      assertThat(sentry.events()).as("events of one death").hasSize(1);
      export(cli.get(), root, toCommand);
      assertThat(toCommand.received()).as("exports of one death").hasSize(1);
    }
  }

  /** {@return whether there is a shop to kill} */
  private boolean killUnderLoad(Path root, LoopbackSentry sentry) throws Exception {
    Optional<ShopProcess> started = shop(root, sentry, "killed");
    if (started.isEmpty()) {
      return false;
    }
    try (ShopProcess shop = started.get()) {
      for (long customer : CUSTOMERS) {
        shop.pay(shop.order(customer), customer, "none");
      }
      Thread load = new Thread(() -> browse(shop), "load");
      load.start();
      awaitPayments(root, shop);
      shop.kill();
      load.join();
    }
    return true;
  }

  private Optional<ShopProcess> shop(Path root, LoopbackSentry sentry, String name)
      throws IOException {
    return ShopProcess.start(
        Files.createDirectory(directory.resolve(name)),
        root,
        "-Dshop.recorder=false",
        "-Dshop.sentry=" + sentry.dsn());
  }

  /** Until nobody answers any more. */
  private static void browse(ShopProcess shop) {
    try {
      for (int i = 1; ; i++) {
        shop.get("/products/" + (i % 100 + 1));
      }
    } catch (IOException e) {
      // It was killed.
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Until both payments are under way, and there was enough to browse to fill a trail. */
  private static void awaitPayments(Path root, ShopProcess shop) throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    Report report = onlyRun(root).report();
    while (payers(report).size() < CUSTOMERS.size() || report.trail().size() < 200) {
      assertThat(System.nanoTime())
          .as("%s%n%s", report.openSpans(), shop.log())
          .isLessThan(deadline);
      LockSupport.parkNanos(50_000_000);
      report = onlyRun(root).report();
    }
  }

  private static Set<Object> payers(Report report) {
    Set<Object> payers = new HashSet<>();
    for (UnfinishedSpan span : report.openSpans()) {
      if (span.name().equals("POST /payments")) {
        payers.add(span.attributes().get("sentry.user.id"));
      }
    }
    payers.remove(null);
    return payers;
  }

  private static Run onlyRun(Path root) throws IOException {
    List<Run> runs = Runs.under(root).list();
    assertThat(runs).hasSize(1);
    return runs.get(0);
  }

  private static void check(SentryEvent event, Report dead) {
    assertThat(event.getEventId()).isEqualTo(ReportEvent.id(dead));
    assertThat(event.getLevel()).isEqualTo(SentryLevel.FATAL);
    assertThat(event.getRelease()).isEqualTo("cairn-demo@1.4.2");
    assertThat(event.getEnvironment()).isEqualTo("demo");
    assertThat(event.getExceptions())
        .singleElement()
        .satisfies(
            exception -> {
              assertThat(exception.getType()).isEqualTo("KILLED");
              assertThat(exception.getValue()).endsWith(": POST /payments");
              assertThat(exception.getMechanism().getType()).isEqualTo("cairn");
              assertThat(exception.getMechanism().isHandled()).isFalse();
            });
    assertThat(event.getUser()).as("none: two requests were open, at least").isNull();
    assertThat(event.getTags()).containsEntry("cairn.cause", "KILLED").doesNotContainKey("kind");

    List<Breadcrumb> breadcrumbs = Objects.requireNonNull(event.getBreadcrumbs());
    assertThat(breadcrumbs).hasSize(100);
    assertThat(breadcrumbs.get(99).getType()).isEqualTo("http");
    assertThat(String.valueOf(breadcrumbs.get(99).getData("url"))).startsWith("/products/");

    Map<?, ?> open = (Map<?, ?>) event.getContexts().get("open_spans");
    List<Object> payers = new ArrayList<>();
    for (Object each : (List<?>) Objects.requireNonNull(open).get("spans")) {
      Map<?, ?> span = (Map<?, ?>) each;
      if ("POST /payments".equals(span.get("name"))) {
        assertThat(span.get("op")).isEqualTo("http.server");
        assertThat(span.get("tags")).isEqualTo(Map.of("kind", "buying"));
        payers.add(((Map<?, ?>) span.get("user")).get("id"));
      } else {
        assertThat(span.get("name")).isEqualTo("GET /products/{id}");
      }
    }
    assertThat(payers).containsExactlyInAnyOrder("7", "8");
  }

  /** Starts the shop, waits until it has reported what there is, and ends it in order. */
  private void restart(Path root, LoopbackSentry sentry, String name) throws Exception {
    try (ShopProcess shop = shop(root, sentry, name).orElseThrow()) {
      awaitReported(shop);
      shop.end();
    }
    for (Run run : Runs.under(root)) {
      assertThat(run.isRunning()).isFalse();
      assertThat(run.hasEndMarker() || SentryMark.of(run).isDelivered())
          .as("ended in order or is reported: run=%s%n%s", run.id(), Runs.under(root).list())
          .isTrue();
    }
  }

  private static void awaitReported(ShopProcess shop) throws IOException {
    Path threads = Path.of("/proc", Long.toString(shop.pid()), "task");
    if (!Files.isDirectory(threads)) {
      System.out.println("NOT CHECKED, whether the shop has reported all: no " + threads);
      return;
    }
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    Set<String> names = names(threads);
    while (names.contains(REPORTING)) {
      assertThat(System.nanoTime()).as(shop.log()).isLessThan(deadline);
      LockSupport.parkNanos(20_000_000);
      names = names(threads);
    }
    assertThat(names).as("threads of the integration").contains(WATCHING);
  }

  private static Set<String> names(Path threads) throws IOException {
    Set<String> names = new HashSet<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(threads)) {
      for (Path thread : all) {
        try {
          names.add(Files.readString(thread.resolve("comm")).strip());
        } catch (NoSuchFileException e) {
          // It has ended since.
        }
      }
    }
    return names;
  }

  private void export(Path cli, Path root, FakeSentry to) throws Exception {
    Path log = directory.resolve("export.log");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                cli.toString(),
                "export",
                "--sentry",
                to.dsn(),
                "--all-dead",
                "--dir",
                root.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    boolean isOver = process.waitFor(60, TimeUnit.SECONDS);
    process.destroyForcibly();
    assertThat(isOver && process.exitValue() == 0).as(Files.readString(log)).isTrue();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.toList()) {
        Files.copy(path, to.resolve(from.relativize(path)));
      }
    }
  }
}
