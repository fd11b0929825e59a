package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Level;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo shop under the real OpenTelemetry Java agent, with no change of its code, killed. */
class AgentKillTest {
  private static final int PAYMENTS = 4;

  @TempDir Path directory;

  @Test
  void reportHasTheRequestsThatTheAgentSawInFlightAndTheLog() throws Exception {
    Report report =
        killedInTheMiddleOfPayments(
            "-Dotel.service.name=shop",
            "-Dotel.resource.attributes=deployment.environment.name=agent");
    if (report != null) {
      assertThat(report.run().app()).isEqualTo("shop");
      assertThat(report.run().environment()).isEqualTo("agent");
      assertThat(report.toJson()).contains("\"thread\":\"http-nio-127.0.0.1-");
    }
  }

  @Test
  void processorsThatAConfigurationFileNamesDoTheSame() throws Exception {
    Path file = directory.resolve("otel.yaml");
    Files.writeString(
        file,
        """
        file_format: "1.0"
        resource:
          attributes:
            - name: service.name
              value: shop
        propagator:
          composite:
            - tracecontext:
        tracer_provider:
          processors:
            - cairn:
                app: from-file
                attributes: [default, "server.port:long"]
        logger_provider:
          processors:
            - cairn:
        """);
    Report report = killedInTheMiddleOfPayments("-Dotel.config.file=" + file);
    if (report != null) {
      assertThat(report.run().app()).isEqualTo("from-file");
    }
  }

  /** {@return the report of the run, checked for what both ways have to show; null if not run} */
  private Report killedInTheMiddleOfPayments(String... options) throws Exception {
    Path root = directory.resolve("root");
    Optional<ShopProcess> started = ShopProcess.startUnderAgent(directory, root, options);
    if (started.isEmpty()) {
      return null;
    }
    List<CompletableFuture<?>> payments = new ArrayList<>();
    String order;
    try (ShopProcess shop = started.get()) {
      for (int i = 1; i <= 20; i++) {
        shop.get("/products/" + i);
      }
      order = shop.order(7);
      for (int i = 0; i < PAYMENTS; i++) {
        payments.add(shop.pay(order, 7, "00-" + traceId(i) + "-" + spanId(i) + "-01"));
      }
      awaitNames(root, shop);
      shop.kill();
    }
    for (CompletableFuture<?> payment : payments) {
      assertThat(payment.handle((answer, error) -> error).get(20, TimeUnit.SECONDS)).isNotNull();
    }

    List<Run> runs = Runs.under(root).list();
    assertThat(runs).as("agent and application have one run").hasSize(1);
    Report report = runs.get(0).report();
    for (int i = 0; i < PAYMENTS; i++) {
      UnfinishedSpan span = ofTrace(report, traceId(i));
      assertThat(span.name()).isEqualTo("POST /payments");
      assertThat(span.kind()).isEqualTo("SERVER");
      assertThat(span.parentSpanId()).isEqualTo(spanId(i));
      assertThat(span.thread()).startsWith("http-nio-127.0.0.1-");
      assertThat(span.attributes())
          .containsEntry("http.request.method", "POST")
          .containsEntry("url.path", "/payments")
          .containsKey("server.port");
    }
    assertThat(servers(report)).as("requests that were answered").hasSize(PAYMENTS);
    assertThat(report.openSpans())
        .as("the application's own recorder is in the same report")
        .anyMatch(span -> span.name().equals("charge card"));
    Breadcrumb placed =
        report.trail().stream()
            .filter(crumb -> "cairn.demo.Orders".equals(crumb.category()))
            .filter(
                crumb -> String.valueOf(crumb.message()).startsWith("order " + order + " placed"))
            .findFirst()
            .orElseThrow();
    assertThat(placed.level()).isEqualTo(Level.INFO);
    assertThat(placed.spanId()).matches("[0-9a-f]{16}");
    assertThat(report.findings()).isEmpty();
    return report;
  }

  private static String traceId(int payment) {
    return String.format(Locale.ROOT, "0af7651916cd43dd8448eb211c80%04x", payment + 1);
  }

  private static String spanId(int payment) {
    return String.format(Locale.ROOT, "b7ad6b716920%04x", payment + 1);
  }

  private static List<UnfinishedSpan> servers(Report report) {
    return report.openSpans().stream().filter(span -> "SERVER".equals(span.kind())).toList();
  }

  private static UnfinishedSpan ofTrace(Report report, String traceId) {
    return servers(report).stream()
        .filter(span -> traceId.equals(span.traceId()))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no span of that trace: " + report.openSpans()));
  }

  /** Until the live report has the routes, which the agent sets after the start. */
  private static void awaitNames(Path root, ShopProcess shop) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (servers(Runs.under(root).list().get(0).report()).stream()
            .filter(span -> span.name().equals("POST /payments"))
            .filter(span -> span.attributes().containsKey("server.port"))
            .count()
        < PAYMENTS) {
      assertThat(System.nanoTime()).as(shop.log()).isLessThan(deadline);
      LockSupport.parkNanos(20_000_000);
    }
  }
}
