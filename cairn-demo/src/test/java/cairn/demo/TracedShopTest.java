package cairn.demo;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** The spans that a measured shop makes, seen by an exporter. */
@Timeout(60)
class TracedShopTest {
  private static final InMemorySpanExporter spans = InMemorySpanExporter.create();
  private static final SdkTracerProvider provider =
      SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(spans)).build();

  @TempDir static Path directory;
  private static Recorder recorder;
  private static ConfigurableApplicationContext shop;

  @Configuration(proxyBeanMethods = false)
  static class Watched {
    @Bean
    @Primary
    Tracer watchedTracer() {
      return provider.get("watched");
    }
  }

  @BeforeAll
  static void start() {
    recorder = Recorder.builder("cairn-demo").directory(directory).open();
    SpringApplication application = new SpringApplication(Shop.class, Watched.class);
    application.addInitializers(
        context -> context.getBeanFactory().registerSingleton("recorder", recorder));
    shop =
        application.run(
            "--shop.tracer=noop",
            "--shop.customers=20",
            "--spring.datasource.url=jdbc:h2:mem:traced;DB_CLOSE_DELAY=-1;LAZY_QUERY_EXECUTION=1");
  }

  @AfterAll
  static void stop() {
    shop.close();
    recorder.close();
  }

  @BeforeEach
  void forget() {
    spans.reset();
  }

  @Test
  void requestIsAServerSpanAndEachStatementAClientSpanBelowIt() throws Exception {
    send("GET", "/products/7", "");

    List<SpanData> ended = ended(2);
    SpanData statement = ended.get(0);
    SpanData request = ended.get(1);
    assertThat(request.getName()).isEqualTo("GET /products/{id}");
    assertThat(request.getKind()).isEqualTo(SpanKind.SERVER);
    assertThat(request.getParentSpanContext().isValid()).isFalse();
    assertThat(request.getAttributes().get(AttributeKey.stringKey("url.path")))
        .isEqualTo("/products/7");
    assertThat(request.getAttributes().get(AttributeKey.longKey("http.response.status_code")))
        .isEqualTo(200);
    assertThat(statement.getName()).isEqualTo("SELECT");
    assertThat(statement.getKind()).isEqualTo(SpanKind.CLIENT);
    assertThat(statement.getParentSpanId()).isEqualTo(request.getSpanId());
    assertThat(statement.getAttributes().get(AttributeKey.stringKey("db.query.text")))
        .startsWith("SELECT id, name");
  }

  @Test
  void statementThatFailsHasItsException() throws Exception {
    // No such customer: the foreign key refuses it.
    send("POST", "/cart", "{\"productId\":7,\"quantity\":1}");

    List<SpanData> ended = ended(3);
    SpanData insert = ended.get(1);
    assertThat(insert.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(insert.getEvents()).hasSize(1);
    assertThat(ended.get(2).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    assertThat(ended.get(2).getAttributes().get(AttributeKey.stringKey("error.type")))
        .isEqualTo("500");
  }

  private void send(String method, String path, String body) throws Exception {
    String port = Objects.requireNonNull(shop.getEnvironment().getProperty("local.server.port"));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .header("X-Request-Id", "traced-" + path)
            .header("X-User", "99999")
            .header("Content-Type", "application/json")
            .method(method, BodyPublishers.ofString(body))
            .build();
    HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
  }

  /** The client has its answer before the span of its request ends. */
  private static List<SpanData> ended(int count) {
    while (spans.getFinishedSpanItems().size() < count) {
      Thread.onSpinWait();
    }
    return spans.getFinishedSpanItems();
  }
}
