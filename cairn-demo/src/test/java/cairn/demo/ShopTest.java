package cairn.demo;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The started shop over HTTP, and what it leaves in the box. */
@Timeout(60)
class ShopTest {
  private static final HttpClient client = HttpClient.newHttpClient();

  @TempDir static Path directory;
  private static Recorder recorder;
  private static ConfigurableApplicationContext shop;
  private static String address;

  @BeforeAll
  static void start() throws IOException {
    recorder = Recorder.builder("cairn-demo").directory(directory).open();
    shop =
        Shop.start(
            recorder,
            "--shop.gateway.min-millis=1",
            "--shop.gateway.max-millis=2",
            "--shop.customers=20",
            "--shop.ready-file=" + directory.resolve("ready"),
            "--shop.witness-file=" + directory.resolve("witness"));
    address = "http://127.0.0.1:" + shop.getEnvironment().getProperty("local.server.port");
  }

  @AfterAll
  static void stop() {
    shop.close();
    recorder.close();
  }

  @Test
  void productsComeInPagesOfTwenty() {
    HttpResponse<String> page = get("/products?page=2", "p-1");

    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.body())
        .contains("\"id\":21,")
        .contains("\"id\":40,")
        .doesNotContain("\"id\":41,");
  }

  @Test
  void searchIgnoresCase() {
    assertThat(get("/search?q=TENT", "s-1").body()).contains("tent no. ");
    assertThat(get("/search?q=zeppelin", "s-2").body()).isEqualTo("[]");
  }

  @Test
  void cartBecomesAnOrderThatIsPaid() {
    post("/cart", "o-1", "1", "{\"productId\":7,\"quantity\":2}");
    post("/cart", "o-2", "1", "{\"productId\":7,\"quantity\":1}");
    HttpResponse<String> order = post("/orders", "o-3", "1", "");
    String id = order.body().replaceAll("\\{\"id\":(\\d+),.*", "$1");

    assertThat(order.statusCode()).isEqualTo(201);
    assertThat(order.body()).contains("\"quantity\":3");
    assertThat(get("/orders/" + id, "o-4").body()).isEqualTo(order.body());
    assertThat(post("/payments", "o-5", "1", "{\"orderId\":" + id + "}").statusCode())
        .isEqualTo(201);
    assertThat(post("/orders", "o-6", "1", "").statusCode()).isEqualTo(409);
  }

  @Test
  void exportCountsEveryCustomerTimesEveryTenthProduct() {
    assertThat(post("/export", "e-1", "2", "").body()).contains("\"rows\":1000,");
  }

  @Test
  void errorsHaveABodyOfTheirOwn() {
    assertThat(get("/products/99999", "x-1").body()).contains("no such product: id=99999");
    assertThat(get("/products/seven", "x-2").statusCode()).isEqualTo(400);
    assertThat(get("/nowhere", "x-3").statusCode()).isEqualTo(404);
    assertThat(post("/search", "x-4", "1", "").statusCode()).isEqualTo(405);
    assertThat(post("/cart", "x-5", "1", "{\"productId\":").statusCode()).isEqualTo(400);
  }

  @Test
  void readyFileNamesPortAndRun() throws IOException {
    assertThat(Files.readAllLines(directory.resolve("ready")))
        .containsExactly(
            address.replace("http://127.0.0.1:", "port="),
            "run=" + recorder.runId(),
            "mode=" + recorder.mode());
  }

  @Test
  void answerLeavesAfterItsBreadcrumbAndBeforeItsSpanEnds() {
    get("/products/7", "l-200");
    get("/products/99999", "l-404");
    get("/nowhere", "l-nowhere");
    post("/search", "l-405", "1", "");
    post("/cart", "l-400", "1", "{");
    post("/cart", "l-500", "99999", "{\"productId\":7,\"quantity\":1}");

    for (String id : List.of("l-200", "l-404", "l-nowhere", "l-405", "l-400", "l-500")) {
      assertThat(LeavingAnswers.whenAnswerLeft.get(id).breadcrumbs()).as(id).isEqualTo(1);
      assertThat(LeavingAnswers.whenAnswerLeft.get(id).span()).as(id).isNotNull();
    }
  }

  @Test
  void spanHasTheRouteAndWhoAskedForWhat() {
    post("/cart", "w-1", "3", "{\"productId\":7,\"quantity\":2}");
    post("/orders", "w-2", "3", "");

    UnfinishedSpan span = LeavingAnswers.whenAnswerLeft.get("w-2").span();
    assertThat(span.name()).isEqualTo("POST /orders");
    assertThat(span.attributes())
        .containsEntry("request.id", "w-2")
        .containsEntry("method", "POST")
        .containsEntry("route", "/orders")
        .containsEntry("user", "3")
        .containsKey("order.id");

    get("/products/12", "w-3");
    get("/no/such/page", "w-4");
    assertThat(LeavingAnswers.whenAnswerLeft.get("w-3").span().name())
        .isEqualTo("GET /products/{id}");
    assertThat(LeavingAnswers.whenAnswerLeft.get("w-4").span().name()).isEqualTo("GET unmatched");
  }

  @Test
  void runHasItsScopeItsStatementsAndItsLog() throws IOException {
    get("/search?q=rope", "r-1");
    post("/export", "r-2", "2", "");

    Report report = Runs.under(directory).find(recorder.runId()).orElseThrow().report();
    assertThat(report.scope().tags()).containsEntry("region", "eu-west");
    assertThat(report.scope().contexts().toString()).contains("customers=20");
    assertThat(report.trail())
        .anyMatch(b -> "db".equals(b.category()) && b.message().contains("LIKE"))
        .anyMatch(b -> "log".equals(b.category()) && b.message().startsWith("export done: 1000"))
        .anyMatch(b -> "http".equals(b.category()) && b.message().equals("GET /search -> 200"))
        .noneMatch(b -> "db".equals(b.category()) && b.message().contains("rope"));
  }

  @Test
  void spanHasEndedWhenTheRequestIsOver() throws IOException {
    get("/products/5", "v-1");

    // The client has its answer before that.
    while (!LeavingAnswers.whenOver.containsKey("v-1")) {
      Thread.onSpinWait();
    }
    assertThat(LeavingAnswers.whenOver.get("v-1").span()).isNull();
    assertThat(Files.readAllLines(directory.resolve("witness")))
        .containsSubsequence("A v-1", "B v-1", "E v-1");
  }

  static HttpResponse<String> get(String path, String id) {
    return send(HttpRequest.newBuilder(URI.create(address + path)).header("X-Request-Id", id));
  }

  static HttpResponse<String> post(String path, String id, String user, String body) {
    return send(
        HttpRequest.newBuilder(URI.create(address + path))
            .header("X-Request-Id", id)
            .header("X-User", user)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body)));
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) {
    try {
      return client.send(request.build(), BodyHandlers.ofString());
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
