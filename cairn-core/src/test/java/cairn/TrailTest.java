package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.CounterLayout;
import cairn.report.Breadcrumb;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class TrailTest {
  private static final int RING = 64 * 1024;
  private final MemoryBox memory = new MemoryBox(16, RING);
  private final Box box = memory.box;

  private List<Breadcrumb> trail() {
    return memory.report().trail();
  }

  @Test
  void breadcrumbComesBackWithAllItCarries() {
    long span = box.spans.begin("POST /orders");
    box.breadcrumb(Level.WARNING, "db", "SELECT orders", Map.of("rows", 3));

    Breadcrumb crumb = trail().get(0);
    assertThat(crumb.at()).isEqualTo(Instant.ofEpochMilli(memory.clock.wallMillis()));
    assertThat(crumb.level()).isEqualTo(Level.WARNING);
    assertThat(crumb.category()).isEqualTo("db");
    assertThat(crumb.message()).isEqualTo("SELECT orders");
    assertThat(crumb.data()).isEqualTo(Map.of("rows", 3L));
    assertThat(crumb.thread()).isEqualTo(Thread.currentThread().getName());
    assertThat(crumb.spanId()).isEqualTo(memory.report().openSpans().get(0).spanId());

    box.spans.close(span);
    box.breadcrumb(Level.INFO, "db", "outside", null);
    assertThat(trail().get(1).spanId()).isNull();
  }

  @Test
  void headerOfAnotherRunInPlaceOfThisOnesCostsNothing() {
    box.breadcrumb(Level.INFO, "c", "kept", null);
    byte[] image = memory.image();
    byte[] foreign = new BoxPlan(MemoryBox.NONCE + 1, 16, RING, BoxPlan.SCOPE_BYTES).header();
    System.arraycopy(foreign, 0, image, 0, foreign.length);

    var report = cairn.report.ReportOfBytes.read(image);
    assertThat(report.trail()).extracting(Breadcrumb::message).containsExactly("kept");
    assertThat(report.findings()).singleElement().asString().contains("of another run");
  }

  @Test
  void nothingIsRequiredOfABreadcrumb() {
    box.breadcrumb(null, null, null, null);

    Breadcrumb crumb = trail().get(0);
    assertThat(crumb.level()).isEqualTo(Level.INFO);
    assertThat(crumb.category()).isNull();
    assertThat(crumb.message()).isNull();
    assertThat(crumb.data()).isEmpty();
  }

  @Test
  void laterChangeOfTheDataNeverShows() {
    Map<String, Object> data = new HashMap<>(Map.of("state", "before"));
    box.breadcrumb(Level.INFO, "c", "m", data);
    data.put("state", "after");

    assertThat(trail().get(0).data()).isEqualTo(Map.of("state", "before"));
  }

  @Test
  void renamedThreadIsShownUnderItsNewName() {
    Thread thread = Thread.currentThread();
    String name = thread.getName();
    try {
      thread.setName("first");
      box.breadcrumb(Level.INFO, "c", "m", null);
      thread.setName("second");
      box.breadcrumb(Level.INFO, "c", "m", null);
    } finally {
      thread.setName(name);
    }
    assertThat(trail()).extracting(Breadcrumb::thread).containsExactly("first", "second");
  }

  @Test
  void oldestAreOverwrittenAndTheNewestStayInOrderOverManyLaps() {
    int count = 20_000;
    for (int i = 0; i < count; i++) {
      box.breadcrumb(Level.INFO, "lap", "n" + i, Map.of("x", "y".repeat(i % 200)));
    }

    List<Breadcrumb> trail = trail();
    assertThat(trail.size()).isGreaterThan(RING / 400);
    for (int i = 0; i < trail.size(); i++) {
      assertThat(trail.get(i).message()).isEqualTo("n" + (count - trail.size() + i));
    }
    assertThat(memory.report().findings()).isEmpty();
  }

  @Test
  void hugeBreadcrumbIsCutToTheRecordLimitAndCounted() {
    box.breadcrumb(Level.INFO, "big", "m".repeat(100_000), Map.of("k", "v".repeat(100_000)));

    Breadcrumb crumb = trail().get(0);
    assertThat(crumb.message()).endsWith("…").hasSizeBetween(100, box.trail.maxRecordBytes());
    assertThat(box.counters.get(CounterLayout.CUT)).isPositive();
  }

  @Test
  void wallClockThatStepsBackDoesNotChangeTheOrder() {
    box.breadcrumb(Level.INFO, "c", "first", null);
    memory.clock.wallMillis.addAndGet(-3_600_000);
    box.breadcrumb(Level.INFO, "c", "second", null);

    assertThat(trail()).extracting(Breadcrumb::message).containsExactly("first", "second");
    assertThat(trail().get(1).at()).isBefore(trail().get(0).at());
  }

  @Test
  void valueThatRecordsWhileItIsEncodedDoesNotDisturbTheOuterBreadcrumb() {
    Object nosy =
        new Object() {
          @Override
          public String toString() {
            box.breadcrumb(Level.DEBUG, "inner", "from toString", Map.of("a", 1));
            box.spans.close(box.spans.begin("inner"));
            return "nosy";
          }
        };
    box.breadcrumb(Level.INFO, "outer", "m", Map.of("value", nosy));

    assertThat(trail()).extracting(Breadcrumb::category).containsExactly("inner", "outer");
    assertThat(trail().get(1).data()).isEqualTo(Map.of("value", "nosy"));
  }

  @Test
  void allBreadcrumbsOf64ThreadsAreThereInEachThreadsOrder() throws Exception {
    MemoryBox large = new MemoryBox(16, 4 * 1024 * 1024);
    int threads = 64;
    int each = 200;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch go = new CountDownLatch(1);
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int id = t;
      futures.add(
          pool.submit(
              () -> {
                go.await();
                for (int i = 0; i < each; i++) {
                  large.box.breadcrumb(Level.INFO, "t", "m", Map.of("thread", id, "n", i));
                }
                return null;
              }));
    }
    go.countDown();
    for (Future<?> future : futures) {
      future.get();
    }
    pool.shutdownNow();

    List<Breadcrumb> trail = large.report().trail();
    assertThat(trail).hasSize(threads * each);
    long[] next = new long[threads];
    for (Breadcrumb crumb : trail) {
      int id = ((Long) crumb.data().get("thread")).intValue();
      assertThat(crumb.data()).containsEntry("n", next[id]);
      next[id]++;
    }
  }
}
