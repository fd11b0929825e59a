package cairn.cli;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * Speaks with the demo as the shop does, without a shop behind it; starts in a tenth of a second.
 */
class DemoStandInShop {
  private final Recorder recorder = Recorder.builder("cairn-demo").open();
  private final OutputStream witness;

  DemoStandInShop() throws IOException {
    witness = new FileOutputStream(System.getProperty("shop.witness-file"), true);
  }

  /** Keeps every rule. */
  static final class Honest {
    public static void main(String[] args) throws IOException {
      new DemoStandInShop().serve();
    }
  }

  /** Forgets the breadcrumbs of its answers. */
  static final class Forgetful {
    public static void main(String[] args) throws IOException {
      new DemoStandInShop() {
        @Override
        void breadcrumb(String name, String id) {}
      }.serve();
    }
  }

  /** Ends the span of its slow request before it works. */
  static final class Hasty {
    public static void main(String[] args) throws IOException {
      new DemoStandInShop() {
        @Override
        void workForLong(OpenSpan span) throws InterruptedException {
          span.close();
          super.workForLong(span);
        }
      }.serve();
    }
  }

  /** Ends before it is ready. */
  static final class Stillborn {
    public static void main(String[] args) {
      System.out.println("no luck today");
      System.exit(3);
    }
  }

  /** Ends under load, by itself. */
  static final class Mortal {
    public static void main(String[] args) throws IOException {
      new DemoStandInShop() {
        @Override
        void breadcrumb(String name, String id) {
          Runtime.getRuntime().halt(4);
        }
      }.serve();
    }
  }

  void serve() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", this::handle);
    server.start();
    recorder.breadcrumb(Level.INFO, "shop", "listening");
    Path ready = Path.of(System.getProperty("shop.ready-file"));
    Path unfinished = Path.of(ready + ".new");
    Files.writeString(
        unfinished,
        "port=%d\nrun=%s\nmode=%s\n"
            .formatted(server.getAddress().getPort(), recorder.runId(), recorder.mode()));
    Files.move(unfinished, ready, StandardCopyOption.ATOMIC_MOVE);
    ProcessHandle.current()
        .parent()
        .ifPresent(parent -> parent.onExit().thenRun(() -> Runtime.getRuntime().halt(1)));
  }

  private void handle(HttpExchange exchange) throws IOException {
    String id = exchange.getRequestHeaders().getFirst("X-Request-Id");
    String path = exchange.getRequestURI().getPath().replaceFirst("/\\d+$", "/{id}");
    String name = exchange.getRequestMethod() + " " + path;
    write("A " + id);
    try (OpenSpan span = recorder.begin(name)) {
      span.set("request.id", id);
      span.set("user", exchange.getRequestHeaders().getFirst("X-User"));
      write("B " + id);
      exchange.getRequestBody().readAllBytes();
      if (id.endsWith("-2")) {
        workForLong(span);
      }
      breadcrumb(name, id);
      answer(exchange);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    write("E " + id);
  }

  void breadcrumb(String name, String id) {
    recorder.breadcrumb(Level.INFO, "http", name + " -> 200", Map.of("request.id", id));
  }

  /** Longer than any test: the kill comes first. */
  void workForLong(OpenSpan span) throws InterruptedException {
    Thread.sleep(60_000);
  }

  private static void answer(HttpExchange exchange) throws IOException {
    byte[] body = "{\"id\":1,\"stand\":\"in\"}".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(200, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private void write(String line) throws IOException {
    witness.write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }
}
