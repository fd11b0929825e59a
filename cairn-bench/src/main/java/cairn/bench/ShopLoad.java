package cairn.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * A process that puts shops under load, one at a time: clients that each send their next request
 * when they have the last answer. It only reads, so that no shop's database grows with its speed.
 *
 * <p>Reads commands, one a line, and answers each with a line: {@code prepare PORT} makes the
 * orders that will be read, {@code warm CLIENTS ANSWERS MILLIS PORT ...} gets that many answers
 * from each of several shops at once by so many clients of each, but for no longer than that, and
 * {@code load PORT MILLIS SEED} is the load.
 */
public final class ShopLoad {
  private static final int PRODUCTS = 500;
  private static final int PAGES = 25;
  private static final int LINES = 3;
  private static final long MAX_MICROS = TimeUnit.SECONDS.toMicros(60);

  private final int clientCount;

  /** By port. */
  private final Map<Integer, List<String>> orders = new HashMap<>();

  private ShopLoad(int clientCount) {
    this.clientCount = clientCount;
  }

  /** Serves commands until there are no more. Argument: how many clients. */
  public static void main(String[] args) throws IOException, InterruptedException {
    ShopLoad load = new ShopLoad(Integer.parseInt(args[0]));
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split(" ");
      System.out.println(load.answer(words));
      System.out.flush();
    }
  }

  private String answer(String[] words) throws InterruptedException {
    return switch (words[0]) {
      case "prepare" -> prepare(Integer.parseInt(words[1]));
      case "warm" ->
          warm(
              Integer.parseInt(words[1]),
              Long.parseLong(words[2]),
              Long.parseLong(words[3]),
              Arrays.stream(words).skip(4).map(Integer::valueOf).toList());
      case "load" ->
          load(Integer.parseInt(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
      default -> throw new IllegalArgumentException("unknown command: word=" + words[0]);
    };
  }

  private String prepare(int port) {
    List<String> made = new ArrayList<>();
    try (HttpWire wire = new HttpWire(port)) {
      for (int user = 1; user <= clientCount; user++) {
        for (int product = 1; product <= LINES; product++) {
          wire.exchange(
              head("POST /cart", user, 0), "{\"productId\":" + product + ",\"quantity\":1}");
        }
        String order = wire.exchange(head("POST /orders", user, 0), "");
        if (wire.status() != 201) {
          return Child.result("error", "status-" + wire.status());
        }
        made.add(order.replaceFirst("(?s)^\\{\"id\":(\\d+),.*", "$1"));
      }
    } catch (IOException e) {
      return Child.result("error", word(e));
    }
    orders.put(port, made);
    return Child.result("orders", made.size());
  }

  private String warm(int of, long answers, long millis, List<Integer> ports)
      throws InterruptedException {
    List<Client> clients = new ArrayList<>();
    for (int port : ports) {
      clients.addAll(clients(port, millis, 1, answers / of).subList(0, of));
    }
    clients.forEach(client -> client.thread.start());
    long all = 0;
    for (Client client : clients) {
      client.thread.join();
      all += client.answers;
    }
    return Child.result("answers", all);
  }

  private String load(int port, long millis, long seed) throws InterruptedException {
    List<Client> clients = clients(port, millis, seed, Long.MAX_VALUE);
    clients.forEach(client -> client.thread.start());
    Histogram micros = new Histogram(MAX_MICROS, 3);
    long answers = 0;
    long failures = 0;
    String failure = "none";
    for (Client client : clients) {
      client.thread.join();
      micros.add(client.micros);
      answers += client.answers;
      failures += client.failures;
      failure = client.failures > 0 ? client.failure : failure;
    }
    return Child.result(
        "answers", answers,
        "failures", failures,
        "failure", failure,
        "p50", micros.getValueAtPercentile(50),
        "p99", micros.getValueAtPercentile(99));
  }

  private List<Client> clients(int port, long millis, long seed, long answersOfEach) {
    List<Client> clients = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (int i = 1; i <= clientCount; i++) {
      clients.add(new Client(port, i, deadline, seed + i, answersOfEach));
    }
    return clients;
  }

  private static String head(String what, int user, long number) {
    return what
        + " HTTP/1.1\r\nX-Request-Id: c"
        + user
        + "-"
        + number
        + "\r\nX-User: "
        + user
        + "\r\nUser-Agent: bench\r\nAccept: application/json\r\n";
  }

  /** {@return an error as one word, for a line of results} */
  private static String word(Exception e) {
    return (e.getClass().getSimpleName() + ":" + e.getMessage()).replaceAll("[\\s=,]+", "-");
  }

  private final class Client implements Runnable {
    final Thread thread;
    final Histogram micros = new Histogram(MAX_MICROS, 3);
    long answers;
    long failures;
    String failure = "none";

    private final int port;
    private final int user;
    private final long deadline;
    private final long enough;
    private final Random random;

    Client(int port, int user, long deadline, long seed, long enough) {
      this.port = port;
      this.user = user;
      this.deadline = deadline;
      this.enough = enough;
      this.random = new Random(seed);
      this.thread = new Thread(this, "client-" + user);
    }

    @Override
    public void run() {
      try (HttpWire wire = new HttpWire(port)) {
        while (answers < enough) {
          long sent = System.nanoTime();
          wire.exchange(head("GET " + path(), user, answers), "");
          long answered = System.nanoTime();
          if (answered - deadline > 0) {
            return; // Not within the time: whoever is slow gains nothing by it.
          }
          if (wire.status() == 200) {
            answers++;
            micros.recordValue(
                Math.min(MAX_MICROS, TimeUnit.NANOSECONDS.toMicros(answered - sent)));
          } else {
            fail("status-" + wire.status());
          }
        }
      } catch (IOException e) {
        fail(word(e));
      }
    }

    private void fail(String what) {
      failures++;
      failure = what;
    }

    private String path() {
      int dice = random.nextInt(100);
      List<String> made = orders.getOrDefault(port, List.of());
      if (dice < 30 && !made.isEmpty()) {
        return "/orders/" + made.get(random.nextInt(made.size()));
      }
      if (dice < 75) {
        return "/products/" + (1 + random.nextInt(PRODUCTS));
      }
      if (dice < 95) {
        return "/products?page=" + (1 + random.nextInt(PAGES));
      }
      return "/search?q=tent+no.+" + random.nextInt(10);
    }
  }
}
