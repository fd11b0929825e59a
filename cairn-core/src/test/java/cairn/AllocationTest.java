package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bytes that a record call allocates on its thread once the JIT has compiled it. */
class AllocationTest {
  private static final int CALLS = 20_000;
  // Compilation is in the background: after each round without success there is more of it done.
  private static final int ROUNDS = 200;

  @TempDir Path root;
  private Recorder recorder;

  @BeforeEach
  void open() {
    recorder = Recorder.builder("allocation").directory(root).open();
    assertThat(recorder.mode()).isEqualTo("mapped");
  }

  @AfterEach
  void close() {
    recorder.close();
  }

  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  private static long bytesPerRound(Runnable call) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least > 0; round++) {
      long before = threads.getThreadAllocatedBytes(id);
      for (int i = 0; i < CALLS; i++) {
        call.run();
      }
      least = Math.min(least, threads.getThreadAllocatedBytes(id) - before);
    }
    return least;
  }

  @Test
  void breadcrumbAllocatesNothing() {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("sql", "SELECT id FROM orders WHERE customer = ?");
    data.put("rows", 3);
    data.put("millis", 12.5);
    data.put("cached", true);
    data.put("id", 123_456_789_012L);

    assertThat(bytesPerRound(() -> recorder.breadcrumb(Level.INFO, "db", "SELECT orders", data)))
        .isZero();
  }

  @Test
  void breadcrumbWithAnImmutableMapAndANonAsciiTextAllocatesNothing() {
    Map<String, Object> data = Map.of("name", "Käse für Łódź \uD83E\uDDC0", "n", 1);

    assertThat(bytesPerRound(() -> recorder.breadcrumb(Level.INFO, "shop", "größer", data)))
        .isZero();
  }

  @Test
  void breadcrumbWithinASpanAllocatesNothing() {
    Map<String, Object> data = new HashMap<>(Map.of("rows", 3));
    try (OpenSpan span = recorder.begin("outer")) {
      assertThat(span.spanId()).hasSize(16);
      assertThat(bytesPerRound(() -> recorder.breadcrumb(Level.INFO, "db", "SELECT", data)))
          .isZero();
    }
  }

  @Test
  void tagAllocatesNothingAlsoThroughCompactions() {
    String[] values = {"eu", "us", "ap"};
    int[] next = {0};

    assertThat(bytesPerRound(() -> recorder.scope().tag("region", values[next[0]++ % 3]))).isZero();
  }

  @Test
  void contextAllocatesNothing() {
    Map<String, Object> cart = new HashMap<>(Map.of("items", 3, "currency", "EUR"));

    assertThat(bytesPerRound(() -> recorder.scope().context("cart", cart))).isZero();
  }

  @Test
  void spanWithAttributesAllocatesNothing() {
    assertThat(
            bytesPerRound(
                () -> {
                  OpenSpan span = recorder.begin("POST /orders");
                  span.set("order.id", 17L);
                  span.set("user", "customer-42");
                  span.set("total", 12.5);
                  span.set("express", true);
                  span.close();
                }))
        .isZero();
  }

  @Test
  void spanInATryAllocatesAtMostItsOwnTwoFields() {
    // HotSpot 17 doesn't inline the close in an exception handler that never ran, so the span
    // escapes into it: 24 bytes. Later versions (25 was tried) prune the handler: nothing.
    assertThat(
            bytesPerRound(
                () -> {
                  try (OpenSpan span = recorder.begin("POST /orders")) {
                    span.set("order.id", 17L);
                  }
                }))
        .isLessThanOrEqualTo(24L * CALLS);
  }
}
