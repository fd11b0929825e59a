package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Bytes that a record call allocates on its thread once it is compiled. Each call has a JVM of its
 * own, which compiles in the foreground: what other tests made the JIT believe would show
 * otherwise.
 */
class AllocationTest {
  @TempDir Path root;

  @ParameterizedTest
  @CsvSource({
    "breadcrumb, 0",
    "immutable, 0",
    "withinSpan, 0",
    "redacted, 0",
    "tag, 0",
    "context, 0",
    "span, 0",
    "tracerSpan, 0",
    // HotSpot 17 doesn't inline the close in an exception handler that never ran, so the span
    // escapes into it: its two fields. Later versions (25 was tried) prune the handler.
    "spanInTry, 24",
  })
  void callAllocatesNoMoreThan(String call, long limit) throws IOException {
    check("process", call, limit);
  }

  @ParameterizedTest
  @CsvSource({"breadcrumb", "tag", "span"})
  void callAllocatesNothingWhereACommitterIsToBeWoken(String call) throws IOException {
    check("bounded(20, PT0.1S)", call, 0);
  }

  private void check(String durability, String call, long limit) throws IOException {
    String output =
        ChildJvm.run(
            List.of("-Xbatch", "-Dcairn.durability=" + durability),
            Victim.class,
            root.toString(),
            call);

    assertThat(output).contains("exit=0").contains("bytes=");
    String bytes = output.substring(output.indexOf("bytes=") + 6).lines().findFirst().orElse("");
    assertThat(Long.parseLong(bytes)).isLessThanOrEqualTo(limit * Victim.CALLS);
  }

  /** Makes one kind of call again and again and prints the least that a round allocated. */
  static final class Victim {
    static final int CALLS = 20_000;
    private static final int ROUNDS = 10;

    private static Recorder recorder = Recorder.global();
    private static final Map<String, Object> DATA = new LinkedHashMap<>();
    private static final Map<String, Object> IMMUTABLE =
        Map.of("name", "Käse für Łódź \uD83E\uDDC0");
    private static final Map<String, Object> SECRETS = new LinkedHashMap<>();
    private static final Map<String, Object> CART = new HashMap<>();
    private static final List<String> ITEMS = List.of("a", "b");
    private static final String[] REGIONS = {"eu", "us", "ap"};

    public static void main(String[] args) {
      recorder = Recorder.builder("allocation").directory(Path.of(args[0])).open();
      if (!recorder.mode().equals("mapped")) {
        throw new IllegalStateException(recorder.mode());
      }
      DATA.put("sql", "SELECT id FROM orders WHERE customer = ?");
      DATA.put("rows", 3);
      DATA.put("millis", 12.5);
      DATA.put("cached", true);
      DATA.put("id", 123_456_789_012L);
      SECRETS.put("api_key", "k-4711");
      SECRETS.put("url", "https://anna:geheim@shop.example/orders?session=1");
      SECRETS.put("card", 4_111_111_111_111_111L);
      SECRETS.put("session", "a key that begins as a secret one does");
      CART.put("items", 3);
      CART.put("currency", "EUR");
      if (args[1].equals("withinSpan")) {
        recorder.begin("outer");
      }
      System.out.println("bytes=" + leastBytes(args[1]));
    }

    @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
    private static long leastBytes(String call) {
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long id = Thread.currentThread().getId();
      long least = Long.MAX_VALUE;
      for (int round = 0; round < ROUNDS && least > 0; round++) {
        long before = threads.getThreadAllocatedBytes(id);
        switch (call) {
          case "breadcrumb", "withinSpan" -> breadcrumbs(DATA);
          case "redacted" -> breadcrumbs(SECRETS);
          case "immutable" -> breadcrumbs(IMMUTABLE);
          case "tag" -> tags();
          case "context" -> contexts();
          case "span" -> spans();
          case "tracerSpan" -> tracerSpans();
          case "spanInTry" -> spansInTry();
          default -> throw new IllegalArgumentException(call);
        }
        least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
      }
      return least;
    }

    private static void breadcrumbs(Map<String, Object> data) {
      for (int i = 0; i < CALLS; i++) {
        recorder.breadcrumb(Level.INFO, "db", "SELECT orders", data);
      }
    }

    private static void tags() {
      for (int i = 0; i < CALLS; i++) {
        recorder.scope().tag("region", REGIONS[i % 3]);
      }
    }

    private static void contexts() {
      for (int i = 0; i < CALLS; i++) {
        recorder.scope().context("cart", CART);
      }
    }

    private static void spans() {
      for (int i = 0; i < CALLS; i++) {
        OpenSpan span = recorder.begin("POST /orders");
        span.set("order.id", i);
        span.set("user", "customer-42");
        span.set("total", 12.5);
        span.set("express", true);
        span.close();
      }
    }

    private static void tracerSpans() {
      OpenSpans spans = recorder.openSpans();
      for (int i = 1; i <= CALLS; i++) {
        long handle = spans.begin("GET /orders", i, ~i, i * 0x9E3779B97F4A7C15L, i, 1, 1, i);
        spans.set(handle, "order.id", i);
        spans.set(handle, "items", ITEMS);
        spans.rename(handle, "GET /orders/{id}");
        spans.status(handle, 2, "timeout");
        spans.event(handle);
        spans.bind(handle);
        spans.end(spans.find(i * 0x9E3779B97F4A7C15L), i * 0x9E3779B97F4A7C15L);
      }
    }

    private static void spansInTry() {
      for (int i = 0; i < CALLS; i++) {
        try (OpenSpan span = recorder.begin("POST /orders")) {
          span.set("order.id", i);
        }
      }
    }
  }
}
