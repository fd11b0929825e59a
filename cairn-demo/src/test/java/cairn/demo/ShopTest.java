package cairn.demo;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.context.ConfigurableApplicationContext;

/** The started shop over HTTP, and what it leaves in the box. */
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
  void exportCountsEveryCustomerTimesEveryFifthProduct() {
    assertThat(post("/export", "e-1", "2", "").body()).contains("\"rows\":2000,");
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
