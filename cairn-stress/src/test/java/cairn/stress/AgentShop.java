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
 * The demo shop as it is, under the OpenTelemetry Java agent with Cairn's extension. It exports
 * nothing and listens on 127.0.0.1. Its payment gateway takes a minute: a payment is in flight
 * until the shop is killed.
 */
final class AgentShop implements AutoCloseable {
  private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(120);

  private final Process process;
  private final Path log;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String address;

  private AgentShop(Process process, Path directory) throws IOException {
    this.process = process;
    this.log = directory.resolve("shop.log");
    this.address = "http://127.0.0.1:" + port(directory.resolve("ready"));
  }

  /** What `mvn verify` has built when the tests of this module run. */
  private record Jars(Path agent, Path extension, Path shop) {
    static Optional<Jars> built() throws IOException {
      Optional<Path> agent = find(Path.of("target", "agent"), "opentelemetry-javaagent.jar");
      Optional<Path> extension =
          find(Path.of("..", "cairn-otel", "target"), "-agent-extension.jar");
      Optional<Path> shop = find(Path.of("..", "cairn-demo", "target"), "cairn-demo.jar");
      if (agent.isEmpty() || extension.isEmpty() || shop.isEmpty()) {
        System.out.println(
            "NOT RUN, a jar is not built (mvn verify builds all): agent="
                + agent
                + ", extension="
                + extension
                + ", shop="
                + shop);
        return Optional.empty();
      }
      return Optional.of(new Jars(agent.get(), extension.get(), shop.get()));
    }

    private static Optional<Path> find(Path directory, String ending) throws IOException {
      if (!Files.isDirectory(directory)) {
        return Optional.empty();
      }
      try (Stream<Path> files = Files.list(directory)) {
        return files
            .filter(file -> file.toString().endsWith(ending))
            .map(Path::toAbsolutePath)
            .map(Path::normalize)
            .findFirst();
      }
    }
  }

  /**
   * Starts one and waits until it answers.
   *
   * @return nothing, and a line in the output, if what it needs is not built
   */
  static Optional<AgentShop> start(Path directory, Path root, String... options)
      throws IOException {
    Optional<Jars> jars = Jars.built();
    if (jars.isEmpty()) {
      return Optional.empty();
    }
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1",
                "-XX:ErrorFile=" + directory.resolve("hs_err_pid%p.log"),
                "-javaagent:" + jars.get().agent(),
                "-Dotel.javaagent.extensions=" + jars.get().extension(),
                "-Dotel.traces.exporter=none",
                "-Dotel.metrics.exporter=none",
                "-Dotel.logs.exporter=none",
                "-Dcairn.dir=" + root,
                "-Dshop.gateway.min-millis=60000",
                "-Dshop.gateway.max-millis=60000",
                "-Dshop.ready-file=" + directory.resolve("ready"),
                "-Dshop.end-with-parent=true"));
    command.addAll(List.of(options));
    command.addAll(List.of("-jar", jars.get().shop().toString()));
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("shop.log").toFile())
            .start();
    try {
      await(process, directory);
      return Optional.of(new AgentShop(process, directory));
    } catch (IOException | RuntimeException | Error e) {
      process.destroyForcibly();
      throw e;
    }
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

  private HttpRequest.Builder request(String path) {
    return HttpRequest.newBuilder(URI.create(address + path))
        .header("X-User", "7")
        .header("Content-Type", "application/json");
  }

  String get(String path) throws IOException, InterruptedException {
    return http.send(request(path).build(), BodyHandlers.ofString()).body();
  }

  String post(String path, String json) throws IOException, InterruptedException {
    HttpRequest request = request(path).POST(BodyPublishers.ofString(json)).build();
    return http.send(request, BodyHandlers.ofString()).body();
  }

  /** Begins a payment, which is not answered. */
  CompletableFuture<HttpResponse<String>> pay(String order, String traceparent) {
    HttpRequest request =
        request("/payments")
            .header("traceparent", traceparent)
            .POST(BodyPublishers.ofString("{\"orderId\":" + order + "}"))
            .build();
    return http.sendAsync(request, BodyHandlers.ofString());
  }

  String log() throws IOException {
    return Files.readString(log);
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
