package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.RecordLayout;
import cairn.format.VitalsLayout;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.ReportOfRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Boxes of every released format are read for ever. A golden file is only ever added, never made
 * anew: {@code -Dcairn.golden.write=true} writes what is missing.
 */
class GoldenTest {
  private static final Path GOLDEN = Path.of("src", "test", "resources", "golden");
  private static final Path NEWEST = GOLDEN.resolve("box1.5-0.1.0-killed.cairn");

  /** A segment of a run's journal; its nonce is random, so no writer writes it again. */
  private static final Path JOURNAL = GOLDEN.resolve("journal1.0-0.1.0-run.segment");

  @BeforeAll
  static void writeWhatIsMissingIfAsked() throws IOException {
    if (Boolean.getBoolean("cairn.golden.write") && !Files.exists(JOURNAL)) {
      GatedStorage storage = new GatedStorage();
      new RunJournal(scenario().box, storage, List.of(), null, 128 * 1024, 128 * 1024).pass(false);
      Files.write(JOURNAL, storage.bytes("journal-000001"));
      Files.writeString(
          JOURNAL.resolveSibling(JOURNAL.getFileName() + ".json"),
          facts(ReportOfRun.read(null, storage)));
    }
    if (Boolean.getBoolean("cairn.golden.write") && !Files.exists(NEWEST)) {
      Files.createDirectories(GOLDEN);
      Files.write(NEWEST, scenario().image());
      Files.writeString(expected(NEWEST), facts(Files.readAllBytes(NEWEST)));
    }
  }

  @Test
  void everyGoldenBoxIsReadAsItWasWhenItWasMade() throws IOException {
    List<Path> boxes;
    try (Stream<Path> files = Files.list(GOLDEN)) {
      boxes = files.filter(f -> f.toString().endsWith(".cairn")).sorted().toList();
    }
    assertThat(boxes).contains(NEWEST);
    for (Path box : boxes) {
      assertThat(facts(Files.readAllBytes(box)))
          .as(box.toString())
          .isEqualTo(Files.readString(expected(box)));
    }
  }

  @Test
  void everyGoldenSegmentMakesTheBoxThatItWasMadeOf() throws IOException {
    List<Path> segments;
    try (Stream<Path> files = Files.list(GOLDEN)) {
      segments = files.filter(f -> f.toString().endsWith(".segment")).sorted().toList();
    }
    assertThat(segments).contains(JOURNAL);
    for (Path segment : segments) {
      GatedStorage storage = new GatedStorage();
      storage.put("journal-000001", Files.readAllBytes(segment));
      assertThat(facts(ReportOfRun.read(null, storage)))
          .as(segment.toString())
          .isEqualTo(Files.readString(segment.resolveSibling(segment.getFileName() + ".json")));
    }
  }

  @Test
  void writerOfThisVersionStillWritesTheNewestGoldenBox() throws IOException {
    assertThat(scenario().image()).isEqualTo(Files.readAllBytes(NEWEST));
  }

  private static Path expected(Path box) {
    return box.resolveSibling(box.getFileName().toString().replace(".cairn", ".json"));
  }

  /** The report without its verdict, which depends on the host that reads. */
  private static String facts(byte[] box) {
    return facts(ReportOfBytes.read(box));
  }

  private static String facts(Report report) {
    String json = report.toJson();
    int from = json.indexOf("\"verdict\":");
    int to = json.indexOf("\"openSpans\":");
    return json.substring(0, from) + json.substring(to) + "\n";
  }

  /** Everything that a box can hold; one thread, a clock that stands still. */
  static MemoryBox scenario() {
    Thread thread = Thread.currentThread();
    String name = thread.getName();
    thread.setName("worker-1");
    try {
      return record(new MemoryBox(16, 64 * 1024));
    } finally {
      thread.setName(name);
    }
  }

  private static MemoryBox record(MemoryBox memory) {
    Box box = memory.box;
    box.setScope(RecordLayout.KIND_TAG, "gone", "before the clear");
    box.clearScope();
    box.setScope(RecordLayout.KIND_USER, null, Map.of("id", "42"));
    box.setScope(RecordLayout.KIND_TAG, "region", "eu");
    box.setScope(RecordLayout.KIND_TAG, "removed", "x");
    box.setScope(RecordLayout.KIND_TAG, "removed", null);
    Map<String, Object> cart = new LinkedHashMap<>();
    cart.put("items", 3);
    cart.put("total", 12.5);
    cart.put("articles", List.of("Käse", "\uD83E\uDDC0"));
    box.setScope(RecordLayout.KIND_CONTEXT, "cart", cart);
    box.setScope(RecordLayout.KIND_EXTRA, "nothing", List.of());
    box.setScope(RecordLayout.KIND_LEVEL, null, "WARNING");
    box.setScope(RecordLayout.KIND_TRANSACTION, null, "checkout");
    box.setScope(RecordLayout.KIND_FINGERPRINT, null, List.of("a", "b"));
    Map<String, Object> trace = new LinkedHashMap<>();
    trace.put("traceId", "0102030405060708090a0b0c0d0e0f10");
    box.setScope(RecordLayout.KIND_TRACE, null, trace);

    long[] sample = new long[VitalsLayout.COUNT];
    for (int i = 0; i < 3; i++) {
      memory.clock.advanceMillis(1_000);
      Arrays.setAll(sample, n -> 1_000 + n);
      sample[VitalsLayout.WALL_MILLIS] = memory.clock.wallMillis();
      sample[VitalsLayout.NANOS] = memory.clock.nanos();
      sample[VitalsLayout.RSS] = VitalsLayout.UNKNOWN;
      box.sample(sample);
    }
    box.breadcrumb(Level.DEBUG, null, "outside of any span", null);
    long outer = box.spans.begin("POST /orders");
    memory.clock.advanceMillis(250);
    long inner = box.spans.begin("SELECT orders");
    box.spans.set(outer, "order.id", SpanTable.INTEGER, 17, "");
    box.spans.set(outer, "user", SpanTable.TEXT, 0, "42");
    box.spans.set(inner, "share", SpanTable.FLOATING, Double.doubleToRawLongBits(0.25), "");
    box.spans.set(inner, "cached", SpanTable.BOOLEAN, 1, "");
    box.breadcrumb(Level.ERROR, "db", "deadlock", Map.of("rows", 3));
    box.spans.close(box.spans.begin("ended"));
    for (int i = 0; i < 13; i++) {
      box.spans.begin("filler " + i);
    }
    long own =
        box.spans.begin("GET", 0x0af7651916cd43ddL, 0x8448eb211c80319cL, 7, 9, 1, 3, 42, 0, null);
    box.setAttribute(own, "ids", List.of(1L, 2L));
    box.rename(own, "GET /orders/{id}");
    box.status(own, 2, "timeout");
    box.spans.event(own);
    box.spans.event(own);
    box.spans.started(own, 41);
    for (int i = 0; i < 400; i++) {
      box.breadcrumb(Level.INFO, "lap", "number " + i, Map.of("text", "x".repeat(i)));
    }
    long overflowed = box.spans.begin("no slot for this one");
    box.spans.begin("nor for this", 1, 2, -7, 7, 2, 1, 0, 0, null);
    box.spans.set(overflowed, "kept", SpanTable.TEXT, 0, "in the trail");
    box.breadcrumb(Level.INFO, "cut", "y".repeat(5_000), null);
    FakeGauges gauges = new FakeGauges();
    gauges.heap(60).look(box);
    gauges.cgroup(80).allocated(Thread.currentThread(), 5_000_000);
    memory.clock.advanceMillis(100);
    gauges.look(box);
    gauges.heap(96);
    memory.clock.advanceMillis(650);
    gauges.look(box);
    box.beat();
    return memory;
  }
}
