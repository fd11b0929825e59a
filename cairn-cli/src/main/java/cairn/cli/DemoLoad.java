package cairn.cli;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Clients that shop without a pause: each sends its next request when it has the last answer, and
 * remembers all of them. They end by themselves when the shop is gone.
 */
final class DemoLoad {
  private static final int PRODUCTS = 500;

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final String address;
  private final List<Client> clients = new ArrayList<>();
  private final AtomicReference<@Nullable String> failure = new AtomicReference<>();
  private volatile boolean shopMayGo;

  DemoLoad(int port, int clientCount) {
    this.address = "http://127.0.0.1:" + port;
    for (int i = 1; i <= clientCount; i++) {
      clients.add(new Client(i));
    }
  }

  void start() {
    for (Client client : clients) {
      client.thread.start();
    }
  }

  /** {@return answers received so far} */
  int answers() {
    int sum = 0;
    for (Client client : clients) {
      sum += client.answers;
    }
    return sum;
  }

  /** {@return ids of the requests that have waited that long, or longer, for their answer} */
  List<String> waitingFor(Duration atLeast) {
    long now = System.nanoTime();
    List<String> ids = new ArrayList<>();
    for (Client client : clients) {
      DemoRequest waiting = client.waiting;
      if (waiting != null && now - waiting.sentNanos() >= atLeast.toNanos()) {
        ids.add(waiting.id());
      }
    }
    return ids;
  }

  /** {@return what went wrong although the shop was to be there; null if nothing did} */
  @Nullable String failure() {
    return failure.get();
  }

  /** From now on it is no failure that the shop does not answer. */
  void expectDeath() {
    shopMayGo = true;
  }

  /**
   * Waits for the clients, which end when the shop is gone.
   *
   * @return every request that they sent
   */
  List<DemoRequest> await(Duration timeout) throws InterruptedException {
    long deadline = System.nanoTime() + timeout.toNanos();
    List<DemoRequest> requests = new ArrayList<>();
    for (Client client : clients) {
      client.thread.join(Math.max(1, (deadline - System.nanoTime()) / 1_000_000));
      if (client.thread.isAlive()) {
        throw new CliException(
            ExitCode.FOUND,
            "client still waits for a dead shop: client=" + client.thread.getName());
      }
      requests.addAll(client.requests);
    }
    return requests;
  }

  private final class Client implements Runnable {
    final Thread thread;

    /** Of the client's thread; others read it after that has ended. */
    final List<DemoRequest> requests = new ArrayList<>();

    /** Written by the client's thread only. */
    volatile int answers;

    volatile @Nullable DemoRequest waiting;

    private final int number;
    private final Random random;
    private boolean hasCart;
    private String order = "";
    private boolean isPaid;

    Client(int number) {
      this.number = number;
      this.random = new Random();
      this.thread = new Thread(this, "demo-client-" + number);
      thread.setDaemon(true);
    }

    @Override
    public void run() {
      try {
        while (step()) {}
      } catch (InterruptedException e) {
        fail("client was interrupted");
      }
    }

    /** {@return whether there was an answer} */
    private boolean step() throws InterruptedException {
      int dice = random.nextInt(100);
      if (dice < 1) {
        return post("/export", "") != null;
      }
      if (dice < 7 && !order.isEmpty() && !isPaid) {
        isPaid = true;
        return post("/payments", "{\"orderId\":" + order + "}") != null;
      }
      if (dice < 20 && hasCart) {
        return placeOrder();
      }
      if (dice < 40) {
        hasCart = true;
        int product = 1 + random.nextInt(PRODUCTS);
        return post("/cart", "{\"productId\":" + product + ",\"quantity\":1}") != null;
      }
      if (dice < 50 && !order.isEmpty()) {
        return get("/orders/{id}", "/orders/" + order) != null;
      }
      if (dice < 65) {
        return get("/search", "/search?q=tent+no.+" + random.nextInt(10)) != null;
      }
      if (dice < 85) {
        return get("/products/{id}", "/products/" + (1 + random.nextInt(PRODUCTS))) != null;
      }
      return get("/products", "/products?page=" + (1 + random.nextInt(25))) != null;
    }

    private boolean placeOrder() throws InterruptedException {
      String answer = post("/orders", "");
      hasCart = false;
      isPaid = false;
      order = answer == null ? "" : answer.replaceFirst("(?s)^\\{\"id\":(\\d+),.*", "$1");
      return answer != null;
    }

    private @Nullable String get(String route, String path) throws InterruptedException {
      return send("GET " + route, HttpRequest.newBuilder(URI.create(address + path)));
    }

    private @Nullable String post(String path, String json) throws InterruptedException {
      return send(
          "POST " + path,
          HttpRequest.newBuilder(URI.create(address + path))
              .header("Content-Type", "application/json")
              .POST(BodyPublishers.ofString(json)));
    }

    /** {@return the body of the answer; null if there was none} */
    private @Nullable String send(String name, HttpRequest.Builder builder)
        throws InterruptedException {
      String id = "c" + number + "-" + (requests.size() + 1);
      String user = Integer.toString(number);
      HttpRequest message = builder.header("X-Request-Id", id).header("X-User", user).build();
      DemoRequest request = new DemoRequest(id, name, user, System.nanoTime(), 0, 0);
      waiting = request;
      try {
        HttpResponse<String> answer = http.send(message, BodyHandlers.ofString());
        requests.add(request.answered(answer.statusCode()));
        if (answer.statusCode() >= 500) {
          fail("shop failed: request=" + id + ", name=" + name + ", status=" + answer.statusCode());
        }
        answers = requests.size();
        return answer.body();
      } catch (IOException e) {
        requests.add(request);
        if (!shopMayGo) {
          fail("shop did not answer: request=" + id + ", name=" + name + ", error=" + e);
        }
        return null;
      } finally {
        waiting = null;
      }
    }

    private void fail(String what) {
      failure.compareAndSet(null, what);
    }
  }
}
