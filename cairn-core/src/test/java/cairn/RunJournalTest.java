package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.BoxRebuild;
import cairn.format.FrameLayout;
import cairn.format.RecordLayout;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.ReportOfRun;
import cairn.storage.Region;
import cairn.storage.Storage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RunJournalTest {
  private static final int TRAIL_BYTES = 64 * 1024;

  private final GatedStorage storage = new GatedStorage();

  private RunJournal journal(MemoryBox memory) {
    return new RunJournal(memory.box, storage, List.of(), null);
  }

  private static void crumb(MemoryBox memory, String message) {
    memory.box.breadcrumb(Level.INFO, "c", message, null);
  }

  private static void tag(MemoryBox memory, String key, String value) {
    memory.box.setScope(RecordLayout.KIND_TAG, key, value);
  }

  private static List<String> messages(Report report) {
    return report.trail().stream().map(Breadcrumb::message).toList();
  }

  /** All bytes of all files, as text of one byte a character. */
  private String allBytes() throws IOException {
    StringBuilder all = new StringBuilder();
    for (String name : storage.list()) {
      try (Storage.Input input = storage.read(name)) {
        byte[] bytes = new byte[(int) input.size()];
        input.read(0, bytes, 0, bytes.length);
        all.append(new String(bytes, StandardCharsets.ISO_8859_1));
      }
    }
    return all.toString();
  }

  private long totalBytes() throws IOException {
    long total = 0;
    for (String name : storage.list()) {
      try (Storage.Input input = storage.read(name)) {
        total += input.size();
      }
    }
    return total;
  }

  // How much it keeps

  @Test
  void segmentsGoWhenALapHasOverwrittenTheirBreadcrumbs() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    long most = 0;
    for (int i = 0; i < 3_000; i++) {
      crumb(memory, "number " + i + " " + "x".repeat(500));
      journal.pass(false);
      most = Math.max(most, totalBytes());
    }

    // The ring, and around it the segment that still holds its begin and the one in work.
    assertThat(most).isLessThanOrEqualTo(4 * 256 * 1024);
    assertThat(storage.list()).doesNotContain("journal-000001");
    Report report = ReportOfRun.read(null, storage);
    assertThat(messages(report)).isEqualTo(messages(memory.report())).hasSizeGreaterThan(100);
  }

  @Test
  void segmentsThatAreKeptForAFewBreadcrumbsEachAreRewritten() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    String text = "y".repeat(8_000);
    long most = 0;
    for (int i = 0; i < 2_000; i++) {
      if (i % 20 == 0) {
        crumb(memory, "number " + i);
      }
      memory.box.setScope(RecordLayout.KIND_EXTRA, "k" + i % 3, i + text);
      journal.pass(false);
      most = Math.max(most, totalBytes());
    }

    assertThat(most).isLessThan(3L * 1024 * 1024 + TRAIL_BYTES);
    Report report = ReportOfRun.read(null, storage);
    assertThat(messages(report)).hasSize(100);
    assertThat(report.scope().extras()).isEqualTo(memory.report().scope().extras());
  }

  @Test
  void everySegmentHoldsACheckpoint() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    tag(memory, "kept", "for ever");
    long open = memory.box.spans.begin("open");
    for (int i = 0; i < 2_000; i++) {
      crumb(memory, "number " + i + " " + "x".repeat(500));
      journal.pass(false);
    }
    memory.box.spans.set(open, "late", SpanTable.INTEGER, 1, "");
    journal.pass(false);

    assertThat(storage.list()).doesNotContain("journal-000001"); // where they were begun
    Report report = ReportOfRun.read(null, storage);
    assertThat(report.scope().tags()).isEqualTo(Map.of("kept", "for ever"));
    assertThat(report.openSpans()).extracting(span -> span.name()).containsExactly("open");
    assertThat(report.openSpans().get(0).attributes()).isEqualTo(Map.of("late", 1L));
  }

  // What the box says otherwise

  @Test
  void valueThatTheBoxErasedAndWhoseSuccessorItLostIsTakenFromTheJournal() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    Box box = memory.box;
    RunJournal journal = journal(memory);
    tag(memory, "k", "what was forced");
    journal.pass(false); // generation 1
    tag(memory, "other", "1");
    tag(memory, "other", "2");
    box.scope.eraseStale(); // generation 2: begins with a copy of k
    byte[] image = memory.image();
    tag(memory, "k", "the newest");
    box.scope.eraseStale(); // generation 3, and that copy is erased
    byte[] later = memory.image();

    // The head is still that of generation 2, its half is as it is now, and "the newest" is torn.
    System.arraycopy(later, box.plan.scopeLog, image, box.plan.scopeLog, box.plan.scopeHalf);
    String half =
        new String(image, box.plan.scopeLog, box.plan.scopeHalf, StandardCharsets.ISO_8859_1);
    image[box.plan.scopeLog + half.indexOf("the newest")] ^= 1;
    assertThat(half).doesNotContain("what was forced");

    assertThat(ReportOfRun.read(image, storage).scope().tags())
        .containsEntry("k", "what was forced");
  }

  // What was cleared

  @Test
  void clearedValuesAndKeysLeaveEveryFileOfTheJournal() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    tag(memory, "the-key", "the-value");
    tag(memory, "the-key", "a-newer-value");
    crumb(memory, "kept");
    journal.pass(false);
    tag(memory, "other-key", "other-value");
    journal.pass(false);
    assertThat(allBytes()).contains("the-key", "a-newer-value", "other-value");
    assertThat(journal.holdsCleared()).isFalse();

    memory.box.clearScope();
    tag(memory, "after", "kept too");
    assertThat(journal.holdsCleared()).isTrue();
    journal.pass(true);

    assertThat(allBytes())
        .doesNotContain("the-key", "the-value", "a-newer-value", "other-key", "other-value");
    assertThat(journal.holdsCleared()).isFalse();
    Report report = ReportOfRun.read(null, storage);
    assertThat(report.scope().tags()).isEqualTo(Map.of("after", "kept too"));
    assertThat(messages(report)).containsExactly("kept");
  }

  @Test
  void clearingWhatNeverWasInTheJournalRewritesNothing() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    journal.pass(false);
    for (int i = 0; i < 100; i++) {
      tag(memory, "request", "" + i);
      memory.box.clearScope();
      journal.pass(true);
    }

    assertThat(storage.created.get()).isEqualTo(1);
  }

  @Test
  void committerMakesClearedValuesLeaveOncePerInterval() throws Exception {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    long hour = TimeUnit.HOURS.toNanos(1);
    Committer committer =
        new Committer(memory.box, storage, List.of(), Durability.power(), hour, hour);
    committer.start();
    for (String value : List.of("first-value", "second-value")) {
      tag(memory, "k", value);
      committer.arrived();
      assertThat(committer.await(30_000_000_000L)).isTrue();
      memory.box.clearScope();
      committer.arrived();
      assertThat(committer.await(30_000_000_000L)).isTrue();
    }
    assertThat(allBytes()).doesNotContain("first-value").contains("second-value");

    committer.stop(10_000);
    assertThat(allBytes()).doesNotContain("second-value");
  }

  // Callers that stall, laps, several threads

  /** Holds one caller back between claim and commit. */
  private static final class Stalling extends Region {
    final CountDownLatch stalled = new CountDownLatch(1);
    final CountDownLatch goOn = new CountDownLatch(1);
    final AtomicBoolean next = new AtomicBoolean();

    Stalling(ByteBuffer buffer) {
      super(buffer);
    }

    @Override
    public void putLongRelease(int offset, long value) {
      if (next.compareAndSet(true, false)) {
        stalled.countDown();
        try {
          goOn.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
      }
      super.putLongRelease(offset, value);
    }
  }

  @Test
  void recordsBehindAStalledCallerAreForcedAndItsOwnOnceItIsThere() throws Exception {
    checkStalled(List.of("behind it"));
  }

  @Test
  void recordOfAStalledCallerBehindWhichIsNoneIsForcedOnceItIsThere() throws Exception {
    checkStalled(List.of());
  }

  private void checkStalled(List<String> behind) throws Exception {
    List<Stalling> regions = new ArrayList<>();
    MemoryBox memory =
        new MemoryBox(
            16,
            TRAIL_BYTES,
            buffer -> {
              regions.add(new Stalling(buffer));
              return regions.get(0);
            });
    Stalling region = regions.get(0);
    RunJournal journal = journal(memory);
    crumb(memory, "before");
    region.next.set(true);
    Thread caller = new Thread(() -> crumb(memory, "stalled"));
    caller.start();
    region.stalled.await();
    behind.forEach(message -> crumb(memory, message));
    journal.pass(false);
    List<String> expected = new ArrayList<>(List.of("before"));
    expected.addAll(behind);
    assertThat(messages(ReportOfRun.read(null, storage))).isEqualTo(expected);

    region.goOn.countDown();
    caller.join();
    journal.pass(false);
    expected.add(1, "stalled");
    assertThat(messages(ReportOfRun.read(null, storage))).isEqualTo(expected);
    assertThat(memory.report().counters()).containsEntry("notCommittedBytes", 0L);
  }

  @Test
  void whatALapOverwroteBeforeItWasCopiedIsCountedToTheByte() throws IOException {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    journal.pass(false);
    long from = memory.box.trail.tail();
    int laps = 3;
    while (memory.box.trail.tail() - from < laps * TRAIL_BYTES) {
      crumb(memory, "x".repeat(200));
    }
    journal.pass(false);
    Report report = ReportOfRun.read(null, storage);

    assertThat(messages(report)).isEqualTo(messages(memory.report()));
    long copied = 0;
    for (BoxRebuild.Frame frame : ReportOfRun.frames(storage)) {
      copied += frame.type() == FrameLayout.TYPE_TRAIL ? frame.payload().length : 0;
    }
    assertThat(report.counters().get("notCommittedBytes") + copied)
        .isEqualTo(memory.box.trail.tail() - from);
  }

  @Test
  void whatAThreadAwaitedIsInTheJournalWhenItReturns() throws Exception {
    MemoryBox memory = new MemoryBox(64, 1 << 20);
    Committer committer =
        new Committer(memory.box, storage, List.of(), Durability.bounded(7, Duration.ofMillis(3)));
    committer.start();
    int threads = 4;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> results = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int thread = t;
      results.add(
          pool.submit(
              () -> {
                for (int i = 0; i < 40; i++) {
                  String mine = "t" + thread + "-" + i;
                  crumb(memory, mine);
                  committer.arrived();
                  tag(memory, "t" + thread, mine);
                  committer.arrived();
                  assertThat(committer.await(30_000_000_000L)).isTrue();
                  Report report = ReportOfRun.read(null, storage);
                  assertThat(messages(report)).contains(mine);
                  assertThat(report.scope().tags()).containsEntry("t" + thread, mine);
                }
                return null;
              }));
    }
    for (Future<?> result : results) {
      result.get(120, TimeUnit.SECONDS);
    }
    pool.shutdown();
    committer.stop(10_000);
  }

  @Test
  void scopeThatNeverStandsStillIsCopiedWhole() throws Exception {
    MemoryBox memory = new MemoryBox(16, TRAIL_BYTES);
    RunJournal journal = journal(memory);
    tag(memory, "steady", "always there");
    AtomicBoolean done = new AtomicBoolean();
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; !done.get(); i++) {
                tag(memory, "k" + i % 5, "z".repeat(i % 3_000)); // compacts again and again
              }
            });
    writer.start();
    try {
      for (int i = 0; i < 200; i++) {
        journal.pass(false);
        if (i % 20 == 0) {
          Report report = ReportOfRun.read(null, storage);
          assertThat(report.scope().tags()).containsEntry("steady", "always there");
          assertThat(report.findings()).noneMatch(f -> f.where().equals("SSCL"));
        }
      }
    } finally {
      done.set(true);
      writer.join();
    }
    journal.pass(false);
    assertThat(ReportOfRun.read(null, storage).scope().tags())
        .isEqualTo(memory.report().scope().tags());
  }
}
