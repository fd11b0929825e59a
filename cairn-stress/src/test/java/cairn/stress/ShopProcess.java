package cairn.stress;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/**
 * The demo shop as it is, to be killed. It listens on 127.0.0.1. Its payment gateway takes a
 * minute: a payment is in flight until the shop is killed.
 */
final class ShopProcess implements AutoCloseable {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private final Process process;
  private final Path log;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String address;

  private ShopProcess(Process process, Path directory) throws IOException {
    this.process = process;
    this.log = directory.resolve("shop.log");
    this.address = "http://127.0.0.1:" + port(directory.resolve("ready"));
  }

  /**
   * Starts one under the OpenTelemetry Java agent with Cairn's extension, which exports nothing,
   * and waits until it answers.
   *
   * @return nothing, and a line in the output, if what it needs is not built
   */
  static Optional<ShopProcess> startUnderAgent(Path directory, Path root, String... options)
      throws IOException {
    Optional<Path> agent = built(Path.of("target", "agent"), "opentelemetry-javaagent.jar");
    Optional<Path> extension = built(Path.of("..", "cairn-otel", "target"), "-agent-extension.jar");
    if (agent.isEmpty() || extension.isEmpty()) {
      return Optional.empty();
    }
    List<String> all =
        new ArrayList<>(
            List.of(
                "-javaagent:" + agent.get(),
                "-Dotel.javaagent.extensions=" + extension.get(),
                "-Dotel.traces.exporter=none",
                "-Dotel.metrics.exporter=none",
                "-Dotel.logs.exporter=none"));
    all.addAll(List.of(options));
    return start(directory, root, all.toArray(String[]::new));
  }

  /**
   * Starts one and waits until it answers.
   *
   * @return nothing, and a line in the output, if it is not built
   */
  static Optional<ShopProcess> start(Path directory, Path root, String... options)
      throws IOException {
    Optional<Path> shop = built(Path.of("..", "cairn-demo", "target"), "cairn-demo.jar");
    if (shop.isEmpty()) {
      return Optional.empty();
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:ErrorFile=" + directory.resolve("hs_err_pid%p.log"),
                "-Dcairn.dir=" + root,
                "-Dshop.gateway.min-millis=60000",
                "-Dshop.gateway.max-millis=60000",
                "-Dshop.ready-file=" + directory.resolve("ready"),
                "-Dshop.end-with-parent=true"));
    command.addAll(List.of(options));
    command.addAll(List.of("-jar", shop.get().toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("shop.log").toFile())
            .start();
    try {
      await(process, directory);
      return Optional.of(new ShopProcess(process, directory));
    } catch (IOException | RuntimeException | Error e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /** {@return a jar that `mvn verify` has built when the tests of this module run} */
  static Optional<Path> built(Path directory, String ending) throws IOException {
    Optional<Path> found = Optional.empty();
    if (Files.isDirectory(directory)) {
      try (Stream<Path> files = Files.list(directory)) {
        found =
            files
                .filter(file -> file.toString().endsWith(ending))
                .map(file -> file.toAbsolutePath().normalize())
                .findFirst();
      }
    }
    if (found.isEmpty()) {
      System.out.println(
          "NOT RUN, a jar is not built (mvn verify builds all): jar=*"
              + ending
              + ", directory="
              + directory);
    }
    return found;
  }

  private static void await(Process process, Path directory) throws IOException {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!Files.exists(directory.resolve("ready"))) {
      if (!process.isAlive() || System.nanoTime() > deadline) {
        throw new IOException(
            "shop does not start: log=" + Files.readString(directory.resolve("shop.log")));
      }
      LockSupport.parkNanos(20_000_000);
    }
  }

  private static String port(Path ready) throws IOException {
    Properties properties = new Properties();
    try (InputStream in = Files.newInputStream(ready)) {
      properties.load(in);
    }
    return properties.getProperty("port");
  }

  private HttpRequest.Builder request(String path, long customer) {
    return HttpRequest.newBuilder(URI.create(address + path))
        .header("X-User", Long.toString(customer))
        .header("Content-Type", "application/json");
  }

  String get(String path) throws IOException, InterruptedException {
    return http.send(request(path, 7).build(), BodyHandlers.ofString()).body();
  }

  /** {@return the number of an order of one product that the customer has placed} */
  String order(long customer) throws IOException, InterruptedException {
    post("/cart", customer, "{\"productId\":1,\"quantity\":2}");
    return post("/orders", customer, "").replaceFirst("(?s)^\\{\"id\":(\\d+),.*", "$1");
  }

  private String post(String path, long customer, String json)
      throws IOException, InterruptedException {
    HttpRequest request = request(path, customer).POST(BodyPublishers.ofString(json)).build();
    return http.send(request, BodyHandlers.ofString()).body();
  }

  /** Begins a payment, which is not answered. */
  CompletableFuture<HttpResponse<String>> pay(String order, long customer, String traceparent) {
    HttpRequest request =
        request("/payments", customer)
            .header("traceparent", traceparent)
            .POST(BodyPublishers.ofString("{\"orderId\":" + order + "}"))
            .build();
    return http.sendAsync(request, BodyHandlers.ofString());
  }

  String log() throws IOException {
    return Files.readString(log);
  }

  long pid() {
    return process.pid();
  }

  /** Ends it in order, with SIGTERM, and waits until it is gone. */
  void end() {
    process.destroy();
    process.onExit().join();
  }

  /** Sends SIGKILL to this very process, and waits until it is gone. */
  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
