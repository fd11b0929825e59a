package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.BoxRebuild;
import cairn.format.FrameLayout;
import cairn.format.RecordLayout;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.ReportOfRun;
import cairn.report.ScopeSnapshot;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What a persistence that batches and coalesces must hold to: the behaviours that the tests of
 * Sentry's scope persistence name, in Cairn's terms, and those of group commit.
 *
 * <p>The journal is in memory and its forces are held back, so that what arrives during one is
 * known. Every report is made without the box.
 */
class CommitterConformanceTest {
  private static final long LONG = 30_000_000_000L;
  private static final Durability HOURS = Durability.bounded(1_000, Duration.ofHours(1));

  private final MemoryBox memory = new MemoryBox(16, 64 * 1024);
  private final Box box = memory.box;
  private final GatedStorage storage = new GatedStorage();
  private Committer committer;

  /** Starts, and waits for the first checkpoint. */
  private void start(Durability durability) {
    committer = new Committer(box, storage, List.of(), durability, 1_000_000, Long.MAX_VALUE / 2);
    committer.start();
    assertThat(committer.await(LONG)).isTrue();
  }

  @AfterEach
  void stop() {
    storage.open();
    committer.stop(10_000);
  }

  private Report report() {
    return ReportOfRun.read(null, storage);
  }

  private void crumb(String message) {
    box.breadcrumb(Level.INFO, "c", message, null);
    committer.arrived();
  }

  private void tag(String key, Object value) {
    box.setScope(RecordLayout.KIND_TAG, key, value);
    committer.arrived();
  }

  private void clear() {
    box.clearScope();
    committer.arrived();
  }

  private List<String> messages() {
    return report().trail().stream().map(Breadcrumb::message).toList();
  }

  /** Records while the force of another record is held back. */
  private void during(Runnable action) throws InterruptedException {
    storage.shut();
    crumb("first");
    storage.awaitForce();
    action.run();
    storage.open();
    assertThat(committer.await(LONG)).isTrue();
  }

  private int framesWith(String text) {
    int count = 0;
    for (BoxRebuild.Frame frame : ReportOfRun.frames(storage)) {
      if (new String(frame.payload(), StandardCharsets.ISO_8859_1).contains(text)) {
        count++;
      }
    }
    return count;
  }

  /** Waits until the thread sleeps without an end. */
  private void awaitIdle() throws InterruptedException {
    for (int i = 0; i < 3_000; i++) {
      if (committer.threadState() == Thread.State.WAITING) {
        return;
      }
      Thread.onSpinWait();
      Thread.yield();
      if (i > 100) {
        Thread.currentThread().join(1); // a pause: this thread doesn't end
      }
    }
    throw new AssertionError("the committer doesn't park: state=" + committer.threadState());
  }

  // Batching

  @Test
  void writeIsDeferredUntilTheWindowIsFull() throws Exception {
    start(Durability.bounded(3, Duration.ofHours(1)));
    int before = storage.forces.get();
    storage.shut();
    crumb("1");
    crumb("2");
    assertThat(storage.forces.get()).isEqualTo(before);
    crumb("3");
    storage.awaitForce();
    storage.open();

    assertThat(committer.await(LONG)).isTrue();
    assertThat(storage.forces.get()).isEqualTo(before + 1);
    assertThat(messages()).containsExactly("1", "2", "3");
  }

  @Test
  void oneRecordIsForcedWhenItHasWaitedForTheDelay() throws Exception {
    start(Durability.bounded(1_000, Duration.ofMillis(5)));
    storage.shut();
    crumb("alone");
    storage.awaitForce();
    storage.open();

    assertThat(committer.await(LONG)).isTrue();
    assertThat(messages()).containsExactly("alone");
  }

  @Test
  void awaitingAsksForTheForceBeforeTheWindowIsFull() {
    start(HOURS);
    crumb("wanted");

    assertThat(committer.await(LONG)).isTrue();
    assertThat(messages()).containsExactly("wanted");
  }

  @Test
  void ofValuesThatWereOverwrittenBeforeTheBatchOnlyTheLastIsWritten() throws Exception {
    start(Durability.power());
    during(
        () -> {
          tag("field", "value-A");
          tag("field", "value-B");
          tag("field", "value-C");
        });

    assertThat(report().scope().tags()).isEqualTo(Map.of("field", "value-C"));
    assertThat(framesWith("value-A")).isZero();
    assertThat(framesWith("value-B")).isZero();
    assertThat(framesWith("value-C")).isEqualTo(1);
  }

  @Test
  void breadcrumbsThatArriveDuringAForceAreOneBatchInOrder() throws Exception {
    start(Durability.power());
    int before = storage.forces.get();
    during(
        () -> {
          for (int i = 0; i < 100; i++) {
            crumb("n" + i);
          }
        });

    List<String> messages = messages();
    assertThat(storage.forces.get()).isEqualTo(before + 2);
    assertThat(messages).hasSize(101).startsWith("first", "n0", "n1").endsWith("n98", "n99");
  }

  @Test
  void whatArrivesDuringAForceIsNotDurableWithIt() throws Exception {
    start(Durability.power());
    storage.shut();
    crumb("first");
    storage.awaitForce();
    crumb("during it");
    storage.release();
    storage.awaitForce(); // the first has ended, the next is held back
    assertThat(committer.await(0)).isFalse();
    assertThat(messages()).containsExactly("first");
    storage.open();

    assertThat(committer.await(LONG)).isTrue();
    assertThat(messages()).containsExactly("first", "during it");
  }

  @Test
  void afterAddClearAddOnlyTheLastIsThere() throws Exception {
    start(Durability.power());
    during(
        () -> {
          tag("before", "x");
          clear();
          tag("after", "y");
        });

    assertThat(report().scope().tags()).isEqualTo(Map.of("after", "y"));
    assertThat(framesWith("before")).isZero();
  }

  @Test
  void clearAndAddThatArriveDuringAForceOfThatFieldSurvive() throws Exception {
    start(Durability.power());
    tag("in flight", "1");
    storage.shut();
    crumb("first");
    storage.awaitForce();
    clear();
    tag("after", "2");
    storage.open();

    assertThat(committer.await(LONG)).isTrue();
    assertThat(report().scope().tags()).isEqualTo(Map.of("after", "2"));
  }

  @Test
  void setAndRemoveKeepTheirOrder() throws Exception {
    start(Durability.power());
    tag("kept", "old");
    tag("gone", "old");
    assertThat(committer.await(LONG)).isTrue();
    during(
        () -> {
          tag("gone", "new");
          tag("gone", null);
          tag("kept", null);
          tag("kept", "new");
        });

    assertThat(report().scope().tags()).isEqualTo(Map.of("kept", "new"));
  }

  @Test
  void pendingRecordsSurviveAStartOver() throws Exception {
    start(Durability.power());
    tag("field", "1");
    crumb("early");
    assertThat(committer.await(LONG)).isTrue();
    storage.forcesToFail.set(1);
    during(
        () -> {
          tag("pending", "2");
          crumb("pending");
        });

    assertThat(messages()).containsExactly("early", "first", "pending");
    assertThat(report().scope().tags()).isEqualTo(Map.of("field", "1", "pending", "2"));
  }

  @Test
  void spanThatBeganAndEndedBetweenTwoBatchesIsNotWritten() throws Exception {
    start(Durability.power());
    long open = box.spans.begin("open before");
    committer.arrived();
    assertThat(committer.await(LONG)).isTrue();
    during(
        () -> {
          box.spans.close(box.spans.begin("short"));
          box.spans.close(open);
          box.spans.begin("open now");
          committer.arrived();
        });

    assertThat(framesWith("short")).isZero();
    assertThat(report().openSpans()).extracting(span -> span.name()).containsExactly("open now");
  }

  @Test
  void callersNeverWaitForTheDisk() throws Exception {
    start(Durability.power());
    storage.shut();
    crumb("first");
    storage.awaitForce();
    for (int i = 0; i < 10_000; i++) { // laps the ring; the force is held back all the time
      crumb("n" + i);
      tag("field", i);
    }
    storage.open();

    assertThat(committer.await(LONG)).isTrue();
    assertThat(report().scope().tags()).isEqualTo(Map.of("field", 9_999L));
    assertThat(messages()).endsWith("n9998", "n9999");
    assertThat(report().counters().get("notCommittedBytes")).isPositive();
  }

  @Test
  void idleCommitterParksWithoutATimeAndForcesNothing() throws Exception {
    start(Durability.power());
    crumb("last");
    assertThat(committer.await(LONG)).isTrue();
    awaitIdle();

    int before = storage.forces.get();
    assertThat(committer.await(LONG)).isTrue(); // nothing new: no force either
    awaitIdle();
    assertThat(storage.forces.get()).isEqualTo(before);
  }

  // Scope fields

  static Stream<Arguments> fields() {
    Function<ScopeSnapshot, Object> user = ScopeSnapshot::user;
    Function<ScopeSnapshot, Object> tags = ScopeSnapshot::tags;
    Function<ScopeSnapshot, Object> contexts = ScopeSnapshot::contexts;
    Function<ScopeSnapshot, Object> extras = ScopeSnapshot::extras;
    Function<ScopeSnapshot, Object> level = ScopeSnapshot::level;
    Function<ScopeSnapshot, Object> transaction = ScopeSnapshot::transaction;
    Function<ScopeSnapshot, Object> fingerprint = ScopeSnapshot::fingerprint;
    Function<ScopeSnapshot, Object> trace = ScopeSnapshot::trace;
    return Stream.of(
        Arguments.of(RecordLayout.KIND_USER, null, Map.of("id", "42"), user, Map.of("id", "42")),
        Arguments.of(RecordLayout.KIND_TAG, "k", "v", tags, Map.of("k", "v")),
        Arguments.of(
            RecordLayout.KIND_CONTEXT, "k", Map.of("a", 1), contexts, Map.of("k", Map.of("a", 1L))),
        Arguments.of(
            RecordLayout.KIND_EXTRA, "k", List.of(1, 2), extras, Map.of("k", List.of(1L, 2L))),
        Arguments.of(RecordLayout.KIND_LEVEL, null, "WARNING", level, Level.WARNING),
        Arguments.of(RecordLayout.KIND_TRANSACTION, null, "t", transaction, "t"),
        Arguments.of(RecordLayout.KIND_FINGERPRINT, null, List.of("a"), fingerprint, List.of("a")),
        Arguments.of(
            RecordLayout.KIND_TRACE, null, Map.of("traceId", "1"), trace, Map.of("traceId", "1")));
  }

  @ParameterizedTest
  @MethodSource("fields")
  void fieldThatWasSetIsReadBackAndOneThatWasRemovedIsNot(
      int kind, String key, Object value, Function<ScopeSnapshot, Object> field, Object shown) {
    start(Durability.power());
    Object empty = field.apply(report().scope());
    box.setScope(kind, key, value);
    committer.arrived();
    assertThat(committer.await(LONG)).isTrue();
    assertThat(field.apply(report().scope())).isEqualTo(shown);

    box.setScope(kind, key, null);
    committer.arrived();
    assertThat(committer.await(LONG)).isTrue();
    assertThat(field.apply(report().scope())).isEqualTo(empty);
  }

  // What a disk does

  @Test
  void afterAnErrorTheSegmentIsGivenUpAndAllIsWrittenAgain() {
    start(Durability.power());
    tag("field", "1");
    crumb("before");
    assertThat(committer.await(LONG)).isTrue();
    int made = storage.created.get();
    storage.forcesToFail.set(1);
    crumb("after");

    assertThat(committer.await(LONG)).isTrue();
    assertThat(storage.created.get()).isGreaterThan(made);
    assertThat(messages()).containsExactly("before", "after");
    assertThat(report().counters()).containsEntry("forceErrors", 1L);
    assertThat(committer.failure()).isNull();
    // Frames of the whole run, in what came after the error alone.
    assertThat(ReportOfRun.frames(storage).get(0).type()).isEqualTo(FrameLayout.TYPE_BEGIN);
  }

  @Test
  void nothingIsDurableWhileTheDiskIsFullAndTheReportSaysSo() {
    start(Durability.power());
    storage.full = true;
    storage.forcesToFail.set(1);
    crumb("lost to power loss");

    assertThat(committer.await(LONG)).isFalse();
    assertThat(committer.failure())
        .isEqualTo("process since 2023-11-14T22:13:20Z: No space left on device");
    assertThat(memory.report().run().durability())
        .isEqualTo(
            "process, in force: process since 2023-11-14T22:13:20Z: No space left on device");

    storage.full = false;
    do { // it is tried again after a millisecond here
      Thread.onSpinWait();
    } while (committer.failure() != null);
    assertThat(committer.await(LONG)).isTrue();
    assertThat(messages()).containsExactly("lost to power loss");
    assertThat(report().run().durability()).contains("power since ", "No space left on device");
  }

  @Test
  void committerThatDiesIsStartedAgainOnceAndLosesNothing() throws Exception {
    start(Durability.power());
    storage.broken = true;
    storage.forcesToFail.set(1);
    crumb("when it died");
    assertThat(committer.await(LONG)).isFalse();
    storage.broken = false;
    awaitDeath();
    crumb("while it was dead");
    committer.check();

    assertThat(committer.await(LONG)).isTrue();
    assertThat(messages()).containsExactly("when it died", "while it was dead");
    assertThat(report().counters()).containsEntry("committerRestarts", 1L);

    storage.broken = true;
    storage.forcesToFail.set(1);
    crumb("again");
    assertThat(committer.await(LONG)).isFalse();
    awaitDeath();
    committer.check();
    committer.check();
    assertThat(committer.failure()).endsWith(": broken");
    assertThat(memory.report().counters()).containsEntry("committerRestarts", 1L);
  }

  private void awaitDeath() {
    while (committer.threadState() != Thread.State.TERMINATED) {
      Thread.onSpinWait();
    }
  }

  @Test
  void committerThatCannotStartIsNoticed() {
    storage.full = true;
    committer = new Committer(box, storage, List.of(), Durability.power());
    committer.start();

    assertThat(committer.await(LONG)).isFalse();
    assertThat(committer.failure()).contains("No space left on device");
  }
}
