package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.BoxScrubber;
import cairn.format.Forms;
import cairn.format.Secrets;
import cairn.format.VitalsLayout;
import cairn.report.PressureSnapshot;
import cairn.report.PressureSnapshot.Limit;
import cairn.report.PressureSnapshot.Span;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.ReportOfRun;
import cairn.storage.Region;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class PressureTest {
  private final MemoryBox memory = new MemoryBox(16, 64 * 1024);
  private final Box box = memory.box;
  private final FakeGauges gauges = new FakeGauges();

  private List<PressureSnapshot> snapshots() {
    Report report = memory.report();
    assertThat(report.findings()).isEmpty();
    return report.pressure();
  }

  private List<String> levels() {
    return snapshots().stream().map(taken -> taken.limit() + " " + taken.percent()).toList();
  }

  private boolean look() {
    memory.clock.advanceMillis(100);
    return gauges.look(box);
  }

  private boolean heap(int percent) {
    gauges.heap(percent);
    return look();
  }

  private boolean cgroup(int percent) {
    gauges.cgroup(percent);
    return look();
  }

  /** Begins a span on a thread of that name and returns the thread, which has ended then. */
  private Thread begin(String name, String threadName) throws InterruptedException {
    Thread thread = new Thread(() -> box.spans.begin(name), threadName);
    thread.start();
    thread.join();
    return thread;
  }

  // Levels

  @Test
  void whatIsNeverTightHasNoSnapshot() {
    assertThat(heap(74)).isFalse();
    assertThat(cgroup(74)).isFalse();
    assertThat(look()).isFalse();
    assertThat(box.pressure.isUrgent()).isFalse();
    assertThat(snapshots()).isEmpty();
    assertThat(memory.report().toJson()).contains("\"pressure\":[]");
    assertThat(memory.report().toText()).doesNotContain("When memory was tight");
  }

  @Test
  void eachLevelOfEachLimitHasASnapshotOfItsOwn() {
    for (int percent : new int[] {76, 86, 96}) {
      assertThat(heap(percent)).isTrue();
      assertThat(cgroup(percent)).isTrue();
    }

    assertThat(levels())
        .containsExactly("HEAP 75", "CGROUP 75", "HEAP 85", "CGROUP 85", "HEAP 95", "CGROUP 95");
    assertThat(snapshots().get(4).usedBytes()).isEqualTo(960_000);
    assertThat(snapshots().get(4).limitBytes()).isEqualTo(FakeGauges.LIMIT);
    assertThat(snapshots().get(4).at()).isEqualTo(snapshots().get(5).at().minusMillis(100));
  }

  @Test
  void levelsThatAreReachedAtOnceHaveOneSnapshotOfTheHighest() {
    heap(97);

    assertThat(levels()).containsExactly("HEAP 95");
  }

  @Test
  void usageThatStaysOrSwaysAtALevelIsNoNewSnapshot() {
    heap(76);
    for (int percent : new int[] {76, 74, 71, 76, 84}) {
      assertThat(heap(percent)).as("%d", percent).isFalse();
    }
    assertThat(snapshots().get(0).usedBytes()).isEqualTo(760_000);
  }

  @Test
  void levelThatWasLeftAndIsReachedAgainHasTheLatestSnapshot() {
    heap(76);
    heap(69);
    assertThat(box.pressure.isUrgent()).isFalse();
    assertThat(heap(78)).isTrue();

    assertThat(levels()).containsExactly("HEAP 75");
    assertThat(snapshots().get(0).usedBytes()).isEqualTo(780_000);
  }

  @Test
  void fullHeapBeforeACollectionIsNotTight() {
    heap(40); // FakeGauges: all of it in use, and 40 % after a collection
    assertThat(snapshots()).isEmpty();
  }

  @Test
  void filePagesThatTheKernelTakesBackFirstAreNotTight() {
    gauges.cgroupInactiveFile = 500_000;
    cgroup(99);

    assertThat(snapshots()).isEmpty();
    gauges.cgroupInactiveFile = 10_000;
    cgroup(99);
    assertThat(snapshots().get(0).usedBytes()).isEqualTo(980_000);
  }

  @Test
  void usageThatWillReachItsLimitWithinTwoBeatsMakesTheNextLookUrgent() {
    gauges.cgroup(30);
    assertThat(look()).isFalse();
    gauges.cgroup(52);
    memory.clock.advanceMillis(900);
    look(); // 22 % in a second: the limit is more than two seconds away
    assertThat(box.pressure.isUrgent()).isFalse();
    cgroup(60); // 8 % in 100 ms
    assertThat(box.pressure.isUrgent()).isTrue();
    cgroup(60);
    assertThat(box.pressure.isUrgent()).isFalse();
    cgroup(10);
    cgroup(45); // fast, but far from the limit
    assertThat(box.pressure.isUrgent()).isFalse();
    assertThat(snapshots()).isEmpty();
  }

  @Test
  void limitThatIsUnknownIsNeverReached() {
    gauges.values[VitalsLayout.CGROUP_LIMIT] = VitalsLayout.UNKNOWN;
    gauges.values[VitalsLayout.CGROUP_USAGE] = Long.MAX_VALUE;
    assertThat(look()).isFalse();
  }

  // Spans

  @Test
  void snapshotHoldsTheOldestSpansAndThoseWhoseThreadsAllocateMost() throws Exception {
    box.pressure.prepare(gauges);
    for (int i = 0; i < 8; i++) {
      gauges.allocated(begin("old " + i, "pool-" + i), 1_000_000_000 + i);
      memory.clock.advanceMillis(1_000);
    }
    Thread greedy = begin("POST /export", "http-1");
    gauges.allocated(greedy, 1_000);
    heap(60); // the first reading: old threads have allocated much, long ago
    gauges.allocated(greedy, 800_001_000);
    heap(96);

    PressureSnapshot taken = snapshots().get(0);
    assertThat(taken.openSpans()).isEqualTo(9);
    assertThat(taken.spans())
        .extracting(Span::name)
        .containsExactly("old 0", "old 1", "old 2", "old 3", "old 4", "POST /export");
    Span export = taken.spans().get(5);
    assertThat(export.thread()).isEqualTo("http-1");
    assertThat(export.allocatedBytes()).isEqualTo(800_000_000);
    assertThat(export.allocatedMillis()).isEqualTo(100);
    assertThat(export.ageMillis()).isEqualTo(200);
    assertThat(taken.spans().get(0).ageMillis()).isEqualTo(8_200);
    assertThat(taken.spans().get(0).allocatedBytes()).isZero();
    assertThat(export.spanId())
        .isEqualTo(
            memory.report().openSpans().stream()
                .filter(span -> span.name().equals("POST /export"))
                .findFirst()
                .orElseThrow()
                .spanId());
  }

  @Test
  void whatAThreadAllocatedLongAgoDoesNotCount() throws Exception {
    box.pressure.prepare(gauges);
    Thread consumer = begin("consume", "consumer");
    heap(60);
    gauges.allocated(consumer, 5_000_000_000L);
    memory.clock.advanceMillis(10_000);
    heap(60);
    memory.clock.advanceMillis(10_000);
    heap(60);
    gauges.allocated(consumer, 5_000_000_100L);
    heap(76);

    Span span = snapshots().get(0).spans().get(0);
    assertThat(span.allocatedBytes()).isEqualTo(100);
    assertThat(span.allocatedMillis()).isBetween(10_000L, 20_200L);
  }

  @Test
  void slotThatAnotherThreadHasTakenStartsAtItsOwnReading() throws Exception {
    box.pressure.prepare(gauges);
    Thread[] threads = new Thread[2];
    long[] handle = new long[1];
    threads[0] = new Thread(() -> handle[0] = box.spans.begin("first"));
    threads[0].start();
    threads[0].join();
    gauges.allocated(threads[0], 1_000);
    heap(60);
    box.spans.close(handle[0]);
    // Sixteen slots: the first slot that is tried is the same for every thread.
    threads[1] = begin("second", "t");
    gauges.allocated(threads[1], 9_000_000);
    heap(76);
    assertThat(snapshots().get(0).spans())
        .extracting(Span::name, Span::allocatedBytes)
        .containsExactly(org.assertj.core.groups.Tuple.tuple("second", -1L));

    gauges.allocated(threads[1], 9_000_500);
    assertThat(look()).isTrue(); // again, now that there is a reading
    assertThat(snapshots().get(0).spans().get(0).allocatedBytes()).isEqualTo(500);
    assertThat(look()).isFalse();
  }

  @Test
  void snapshotWithoutReadingsIsNotTakenAgainOnceUsageHasFallen() throws Exception {
    begin("span", "t");
    heap(76);
    assertThat(heap(60)).isFalse();
    assertThat(heap(60)).isFalse();
  }

  @Test
  void threadOfWhichNothingIsKnownHasNoNumber() throws Exception {
    box.pressure.prepare(gauges);
    gauges.allocated(begin("virtual", "v"), -1);
    heap(60);
    heap(76);
    assertThat(look()).isFalse();

    assertThat(snapshots().get(0).spans().get(0).allocatedBytes()).isEqualTo(-1);
    assertThat(memory.report().toJson()).contains("\"pressure\"").doesNotContain("allocated");
  }

  @Test
  void nothingIsAskedOfThreadsWhileHalfOfEachLimitIsFree() throws Exception {
    box.pressure.prepare(gauges);
    begin("span", "t");
    gauges.asked = 0;
    for (int i = 0; i < 100; i++) {
      heap(49);
      cgroup(49);
    }
    assertThat(gauges.asked).isZero();
    heap(51);
    assertThat(gauges.asked).isEqualTo(1);
    heap(51);
    assertThat(gauges.asked).isEqualTo(1); // a reading is good for ten seconds
  }

  @Test
  void longNamesAreCutAndAllLevelsFit() throws Exception {
    box.pressure.prepare(gauges);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      threads.add(begin(i + "ä".repeat(200), i + "ö".repeat(200)));
      memory.clock.advanceMillis(1);
    }
    heap(60);
    for (int i = 0; i < 16; i++) {
      gauges.allocated(threads.get(i), Long.MAX_VALUE / 2 + i);
    }
    for (int percent : new int[] {76, 86, 96}) {
      gauges.cgroup(percent);
      heap(percent);
    }
    assertThat(levels()).hasSize(6);
    for (PressureSnapshot taken : snapshots()) {
      assertThat(taken.spans()).hasSizeGreaterThanOrEqualTo(8);
      assertThat(taken.spans()).allMatch(span -> span.name().endsWith("ä…"));
      assertThat(taken.spans()).allMatch(span -> span.thread().endsWith("ö…"));
    }
  }

  // What it survives

  @Test
  void lookThatFindsNoMemoryIsCountedAndTheBeatGoesOn() {
    AtomicInteger nanosCalls = new AtomicInteger(Integer.MIN_VALUE);
    Clock clock =
        new Clock() {
          @Override
          public long wallMillis() {
            return 1_700_000_000_000L;
          }

          @Override
          public long nanos() {
            // Of a beat: its own, that of the sample, then that of the look at memory.
            if (nanosCalls.incrementAndGet() == 3) {
              throw new OutOfMemoryError();
            }
            return 1_000_000_000_000L;
          }
        };
    BoxPlan plan = new BoxPlan(MemoryBox.NONCE, 16, 64 * 1024, BoxPlan.SCOPE_BYTES);
    ByteBuffer bytes = ByteBuffer.allocate(plan.size);
    Box failing =
        new Box(new Region(bytes), plan, MemoryBox.NONCE, clock, Secrets.STANDARD, Forms.NONE);
    failing.start(new byte[] {(byte) 0xa0}, 1);
    Housekeeper housekeeper =
        new Housekeeper(failing, null, null, new ShutdownWatch(failing.life), null, null);
    try (VitalsSources sources = new VitalsSources()) {
      nanosCalls.set(0);
      housekeeper.beat(sources, new long[VitalsLayout.COUNT], false);
    }

    assertThat(nanosCalls.get()).isGreaterThanOrEqualTo(3);
    Report report = ReportOfBytes.read(bytes.array());
    assertThat(report.counters()).containsEntry("beatErrors", 1L);
    assertThat(report.vitals()).hasSize(1);
  }

  @Test
  void snapshotIsTheOldOneOrTheNewOneAfterEachStore() {
    CrashPoints points = new CrashPoints(16, 64 * 1024);
    points.box.spans.begin("span");
    gauges.heap(76).look(points.box);
    Set<List<PressureSnapshot>> seen = new LinkedHashSet<>();
    List<PressureSnapshot> before = points.memory.report().pressure();

    int images =
        points.forEachStoreOf(
            () -> gauges.heap(96).look(points.box),
            image -> seen.add(ReportOfBytes.read(image).pressure()));

    assertThat(images).isGreaterThan(20);
    assertThat(seen).containsExactlyInAnyOrder(before, points.memory.report().pressure());
    assertThat(points.memory.report().pressure()).hasSize(2);
  }

  @Test
  void snapshotIsInTheJournalToo() throws IOException {
    GatedStorage storage = new GatedStorage();
    RunJournal journal = new RunJournal(box, storage, List.of(), null);
    box.spans.begin("span");
    journal.pass(false);
    heap(96);
    journal.pass(false);

    assertThat(ReportOfRun.read(null, storage).pressure()).isEqualTo(snapshots()).hasSize(1);
  }

  @Test
  void scrubbedSnapshotKeepsItsNumbersAndHidesSecrets() throws IOException {
    MemoryBox open = MemoryBox.withoutRedaction(16, 64 * 1024);
    open.box.spans.begin("GET https://anna:geheim@shop.example/?token=abcdefgh123");
    gauges.look(open.box);
    gauges.heap(96).look(open.box);
    PressureSnapshot before = open.report().pressure().get(0);
    assertThat(before.spans().get(0).name()).contains("geheim");

    byte[] scrubbed =
        BoxScrubber.scrub(open.image(), "memory", Secrets.STANDARD, 1_800_000_000_000L).image();
    PressureSnapshot after = ReportOfBytes.read(scrubbed).pressure().get(0);

    assertThat(after.spans().get(0).name()).doesNotContain("geheim").startsWith("GET https://");
    assertThat(after.spans().get(0).spanId()).isEqualTo(before.spans().get(0).spanId());
    assertThat(after.usedBytes()).isEqualTo(before.usedBytes());
    assertThat(after.at()).isEqualTo(before.at());
    assertThat(new String(scrubbed, java.nio.charset.StandardCharsets.ISO_8859_1))
        .doesNotContain("geheim");
  }

  // The report

  @Test
  void reportNamesTheLimitAndTheSpans() throws Exception {
    box.pressure.prepare(gauges);
    Thread thread = begin("POST /export", "http-1");
    heap(60);
    gauges.allocated(thread, 3 << 20);
    heap(96);

    assertThat(memory.report().toText())
        .contains(
            "When memory was tight, times in UTC\n"
                + "  At 95 % of the heap, 22:13:20.200: 938 KiB of 977 KiB; 1 span open\n"
                + "    200 ms   POST /export  [http-1]  allocated 3.0 MiB in 100 ms\n");
    assertThat(memory.report().toJson())
        .contains(
            "\"pressure\":[{\"at\":\"2023-11-14T22:13:20.200Z\",\"limit\":\"heap\",\"percent\":95,"
                + "\"usedBytes\":960000,\"limitBytes\":1000000,\"openSpans\":1,"
                + "\"spans\":[{\"name\":\"POST /export\",\"spanId\":\"")
        .contains("\"allocatedBytes\":3145728,\"allocatedMillis\":100}]}]");
    assertThat(snapshots().get(0).limit()).isEqualTo(Limit.HEAP);
  }
}
