package cairn.journal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.Durability;
import cairn.storage.DirectoryLock;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalTest {
  private static final Duration SOON = Duration.ofSeconds(20);

  @TempDir Path directory;

  private Journal.Builder builder() {
    return Journal.builder(directory.resolve("journal"));
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String text(Entry entry) {
    return new String(entry.bytes(), StandardCharsets.UTF_8);
  }

  private static List<String> texts(Journal journal) throws IOException {
    List<String> texts = new ArrayList<>();
    assertThat(journal.replay(entry -> texts.add(text(entry)))).isEmpty();
    return texts;
  }

  private static final List<Durability> ALL =
      List.of(
          Durability.process(), Durability.bounded(3, Duration.ofMillis(5)), Durability.power());

  @Test
  void whatWasAppendedIsReplayedInOrderUnderEachDurability() throws Exception {
    for (Durability durability : ALL) {
      Path each = directory.resolve(durability.name());
      try (Journal journal = Journal.builder(each).durability(durability).open()) {
        assertThat(journal.append(bytes("one"))).isEqualTo(1);
        assertThat(journal.append(bytes("xtwox"), 1, 3)).isEqualTo(2);
        assertThat(journal.append(bytes(""))).isEqualTo(3);
        assertThat(texts(journal)).containsExactly("one", "two", "");
        assertThat(journal.force(SOON)).isTrue();
        assertThat(journal.durableSequence()).isEqualTo(3);
      }
      try (Journal journal = Journal.builder(each).durability(durability).open()) {
        assertThat(journal.append(bytes("four"))).isEqualTo(4);
        assertThat(texts(journal)).containsExactly("one", "two", "", "four");
      }
    }
  }

  @Test
  void returnedAppendUnderPowerIsForced() throws Exception {
    try (Journal journal = builder().durability(Durability.power()).open()) {
      for (int i = 1; i <= 10; i++) {
        journal.append(bytes("x"));
        assertThat(journal.durableSequence()).isEqualTo(i);
      }
      assertThat(journal.counters())
          .containsEntry("appended", 10L)
          .containsEntry("forceErrors", 0L);
      assertThat(journal.counters().get("writes")).isEqualTo(10);
    }
  }

  @Test
  void boundedForcesWhenSoManyRecordsWaitWithoutBeingAsked() throws Exception {
    try (Journal journal = builder().durability(Durability.bounded(5, Duration.ofDays(1))).open()) {
      for (int i = 0; i < 5; i++) {
        journal.append(bytes("x"));
      }
      assertThat(new Waiting(SOON).until(() -> journal.durableSequence() >= 5)).isTrue();
    }
  }

  @Test
  void boundedForcesAnIdleTailWhenItsDelayIsOver() throws Exception {
    try (Journal journal =
        builder().durability(Durability.bounded(1000, Duration.ofMillis(20))).open()) {
      journal.append(bytes("x"));
      assertThat(new Waiting(SOON).until(() -> journal.durableSequence() >= 1)).isTrue();
    }
  }

  /** Waits for what another thread does, without a fixed time. */
  private static final class Waiting {
    private final long end;

    Waiting(Duration limit) {
      end = System.nanoTime() + limit.toNanos();
    }

    boolean until(java.util.function.BooleanSupplier condition) {
      while (!condition.getAsBoolean()) {
        if (System.nanoTime() - end > 0) {
          return false;
        }
        Thread.onSpinWait();
      }
      return true;
    }
  }

  @Test
  void manyThreadsGetContiguousNumbersAndEachRecordIsThereOnce() throws Exception {
    for (Durability durability : ALL) {
      Path each = directory.resolve(durability.name());
      Set<String> expected = ConcurrentHashSet.create();
      try (Journal journal =
          Journal.builder(each)
              .durability(durability)
              .segmentBytes(64 * 1024)
              .stagingBytes(65536)
              .open()) {
        inThreads(
            8,
            number -> {
              for (int i = 0; i < 200; i++) {
                String record = number + "-" + i + "-" + "x".repeat(i);
                assertThat(journal.append(bytes(record))).isPositive();
                expected.add(record);
              }
            });
        assertThat(journal.lastSequence()).isEqualTo(1600);
        assertThat(journal.force(SOON)).isTrue();
        List<Entry> entries = new ArrayList<>();
        assertThat(journal.replay(entries::add)).isEmpty();
        assertThat(entries).hasSize(1600);
        for (int i = 0; i < 1600; i++) {
          assertThat(entries.get(i).sequence()).isEqualTo(i + 1);
        }
        Set<String> found = new HashSet<>();
        entries.forEach(entry -> found.add(text(entry)));
        assertThat(found).isEqualTo(expected);
      }
    }
  }

  private static final class ConcurrentHashSet {
    static Set<String> create() {
      return java.util.concurrent.ConcurrentHashMap.newKeySet();
    }
  }

  private interface Work {
    void run(int number) throws Exception;
  }

  private static void inThreads(int count, Work work) throws Exception {
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < count; t++) {
      int number = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  work.run(number);
                } catch (Throwable e) {
                  failures.add(e);
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(failures).isEmpty();
  }

  @Test
  void groupsOfThreadsShareForces() throws Exception {
    try (Journal journal = builder().durability(Durability.power()).open()) {
      inThreads(
          16,
          number -> {
            for (int i = 0; i < 50; i++) {
              journal.append(bytes("record"));
            }
          });
      assertThat(journal.durableSequence()).isEqualTo(800);
      assertThat(journal.counters().get("writes")).isLessThan(800);
    }
  }

  @Test
  void interruptedThreadsAppendAndStayInterrupted() throws Exception {
    for (Durability durability : ALL) {
      Path each = directory.resolve(durability.name());
      try (Journal journal =
          Journal.builder(each)
              .durability(durability)
              .segmentBytes(16 * 1024)
              .stagingBytes(16384)
              .open()) {
        inThreads(
            4,
            number -> {
              for (int i = 0; i < 100; i++) {
                Thread.currentThread().interrupt();
                assertThat(journal.append(bytes("x".repeat(100)))).isPositive();
                assertThat(Thread.interrupted()).isTrue();
              }
            });
        assertThat(journal.force(SOON)).isTrue();
        assertThat(texts(journal)).hasSize(400);
        assertThat(journal.counters()).containsEntry("forceErrors", 0L);
      }
    }
  }

  @Test
  void eventsAreEncodedAndRedactedAndShownAsJson() throws Exception {
    try (Journal journal = builder().open()) {
      journal.append(Map.of("step", "export", "password", "hunter2"));
      journal.append(bytes("plain"));
      journal.append(new byte[] {(byte) 0xFF});
      List<Entry> entries = new ArrayList<>();
      journal.replay(entries::add);
      assertThat(entries.get(0).event()).containsEntry("step", "export");
      assertThat(entries.get(0).toJson())
          .startsWith("{\"sequence\":1,\"time\":\"20")
          .contains("\"event\":{")
          .contains("\"password\":\"<redacted>\"")
          .doesNotContain("hunter2");
      assertThat(journal.counters()).containsEntry("redacted", 1L).containsEntry("cut", 0L);
      journal.append(Map.of("text", "x".repeat(100_000)));
      assertThat(journal.counters()).containsEntry("cut", 1L);
      assertThat(entries.get(1).toJson()).endsWith("\"text\":\"plain\"}");
      assertThat(entries.get(2).toJson()).endsWith("\"base64\":\"/w==\"}");
    }
  }

  @Test
  void readsFromASequenceNumberFromATimeAndTheNewest() throws Exception {
    try (Journal journal = builder().segmentBytes(16 * 1024).stagingBytes(16384).open()) {
      for (int i = 1; i <= 500; i++) {
        journal.append(bytes("record " + i + " ".repeat(100)));
      }
      List<Long> sequences = new ArrayList<>();
      journal.replay(490, entry -> sequences.add(entry.sequence()));
      assertThat(sequences)
          .containsExactly(490L, 491L, 492L, 493L, 494L, 495L, 496L, 497L, 498L, 499L, 500L);
      assertThat(journal.last(3)).extracting(Entry::sequence).containsExactly(498L, 499L, 500L);
      assertThat(journal.last(1000)).hasSize(500);
      sequences.clear();
      journal.replay(Instant.now().plusSeconds(60), entry -> sequences.add(entry.sequence()));
      assertThat(sequences).isEmpty();
    }
  }

  @Test
  void secondJournalOnADirectoryIsRefusedAndNamesTheOwner() throws Exception {
    try (Journal journal = builder().open()) {
      assertThat(journal.append(bytes("x"))).isEqualTo(1);
      assertThatThrownBy(() -> builder().open())
          .isInstanceOf(JournalLockedException.class)
          .hasMessageContaining("journal is in use")
          .hasMessageContaining("ownerPid=" + ProcessHandle.current().pid());
      assertThat(DirectoryLock.isHeld(directory.resolve("journal"))).isTrue();
      assertThat(journal.append(bytes("y"))).isEqualTo(2);
    }
    assertThat(DirectoryLock.isHeld(directory.resolve("journal"))).isFalse();
    builder().open().close();
  }

  @Test
  void damagedByteCostsTheRecordItIsInAndIsReported() throws Exception {
    try (Journal journal = builder().durability(Durability.power()).open()) {
      for (int i = 1; i <= 5; i++) {
        journal.append(bytes("record " + i));
      }
    }
    Path segment = directory.resolve("journal").resolve("journal-000001");
    try (RandomAccessFile file = new RandomAccessFile(segment.toFile(), "rw")) {
      file.seek(4096 + 2 * 64 + 35);
      file.write(0);
    }
    JournalReader reader = JournalReader.of(directory.resolve("journal"));
    List<String> texts = new ArrayList<>();
    List<JournalFinding> findings = reader.replay(entry -> texts.add(text(entry)));
    assertThat(texts).containsExactly("record 1", "record 2", "record 4", "record 5");
    assertThat(findings.toString())
        .contains("checksum mismatch: sequence=3")
        .contains("sequence numbers are missing: from=3, to=3");
    assertThat(reader.verify().isSound()).isFalse();
    assertThat(reader.verify().entries()).isEqualTo(4);
  }

  @Test
  void fullStagingDropsTheNewestAndCountsItInTheJournal() throws Exception {
    Journal.Builder builder = builder().stagingBytes(16384).whenFull(WhenFull.dropNewest());
    builder.manual = true;
    try (Journal journal = builder.open()) {
      long dropped = 0;
      for (int i = 0; i < 500; i++) {
        dropped += journal.append(bytes("x".repeat(100))) == Journal.DROPPED ? 1 : 0;
      }
      assertThat(dropped).isPositive();
      assertThat(journal.counters()).containsEntry("dropped", dropped);
      assertThat(journal.force(SOON)).isTrue();
      assertThat(JournalReader.of(directory.resolve("journal")).verify().givenUp())
          .containsEntry("dropped", dropped);
      assertThat(journal.append(bytes("y"))).isEqualTo(500 - dropped + 1);
    }
  }

  @Test
  void fullStagingDropsTheOldestWithTheirNumbersAndKeepsTheNewest() throws Exception {
    Journal.Builder builder = builder().stagingBytes(16384).whenFull(WhenFull.dropOldest());
    builder.manual = true;
    try (Journal journal = builder.open()) {
      for (int i = 1; i <= 500; i++) {
        assertThat(journal.append(bytes("x".repeat(100) + i))).isEqualTo(i);
      }
      long evicted = journal.counters().get("evicted");
      assertThat(evicted).isPositive();
      assertThat(journal.force(SOON)).isTrue();
      assertThat(journal.awaitDurable(1, Duration.ZERO)).isFalse();
      JournalHealth health = JournalReader.of(directory.resolve("journal")).verify();
      assertThat(health.givenUp()).containsEntry("evicted", evicted);
      assertThat(health.findings()).isEmpty();
      assertThat(health.entries()).isEqualTo(500 - evicted);
      assertThat(health.lastSequence()).isEqualTo(500);
    }
  }

  @Test
  void retentionByBytesKeepsTheNewestSegments() throws Exception {
    try (Journal journal =
        builder()
            .durability(Durability.power())
            .segmentBytes(16 * 1024)
            .stagingBytes(16384)
            .retainBytes(40_000)
            .open()) {
      for (int i = 0; i < 300; i++) {
        journal.append(bytes("x".repeat(500)));
      }
      JournalHealth health = JournalReader.of(directory.resolve("journal")).verify();
      assertThat(health.bytes()).isLessThanOrEqualTo(40_000);
      assertThat(health.lastSequence()).isEqualTo(300);
      assertThat(health.findings()).isEmpty();
      assertThat(journal.counters().get("segmentsDeleted")).isPositive();
    }
  }

  @Test
  void consumerGetsWhatItHasNotAcknowledgedAgain() throws Exception {
    try (Journal journal = builder().durability(Durability.power()).open()) {
      for (int i = 1; i <= 5; i++) {
        journal.append(bytes("record " + i));
      }
      try (JournalConsumer consumer = journal.consumer("mail")) {
        assertThat(text(consumer.next(SOON))).isEqualTo("record 1");
        assertThat(text(consumer.next(SOON))).isEqualTo("record 2");
        consumer.acknowledge(1);
        assertThatThrownBy(() -> consumer.acknowledge(3))
            .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> journal.consumer("mail"))
            .isInstanceOf(JournalLockedException.class);
      }
      try (JournalConsumer consumer = journal.consumer("mail")) {
        assertThat(consumer.acknowledged()).isEqualTo(1);
        assertThat(text(consumer.next(SOON))).isEqualTo("record 2");
      }
    }
  }

  @Test
  void acknowledgedSegmentsAreDeleted() throws Exception {
    try (Journal journal =
        builder()
            .durability(Durability.power())
            .segmentBytes(16 * 1024)
            .stagingBytes(16384)
            .deleteAcknowledged()
            .open()) {
      try (JournalConsumer consumer = journal.consumer("mail")) {
        for (int i = 1; i <= 100; i++) {
          journal.append(bytes("x".repeat(500)));
          consumer.next(SOON);
          consumer.acknowledge(i);
        }
      }
      JournalHealth health = JournalReader.of(directory.resolve("journal")).verify();
      assertThat(health.segments()).hasSizeLessThanOrEqualTo(2);
      assertThat(health.firstSequence()).isGreaterThan(50);
    }
  }

  @Test
  void followerSeesWhatIsAppendedAcrossSegmentsAndWriters() throws Exception {
    CountDownLatch half = new CountDownLatch(1);
    List<Long> seen = new ArrayList<>();
    try (Journal first = builder().segmentBytes(16 * 1024).stagingBytes(16384).open()) {
      for (int i = 0; i < 100; i++) {
        first.append(bytes("x".repeat(300)));
      }
    }
    Thread reader =
        new Thread(
            () -> {
              try (JournalFollower follower =
                  JournalReader.of(directory.resolve("journal")).follow(1)) {
                while (seen.size() < 200) {
                  Entry entry = follower.poll(SOON);
                  if (entry == null) {
                    return;
                  }
                  seen.add(entry.sequence());
                  if (seen.size() == 100) {
                    half.countDown();
                  }
                }
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    reader.start();
    assertThat(half.await(20, java.util.concurrent.TimeUnit.SECONDS)).isTrue();
    try (Journal second = builder().segmentBytes(16 * 1024).stagingBytes(16384).open()) {
      for (int i = 0; i < 100; i++) {
        second.append(bytes("x".repeat(300)));
      }
      second.force(SOON);
      reader.join();
    }
    assertThat(seen).hasSize(200);
    assertThat(seen.get(199)).isEqualTo(200);
  }

  @Test
  void wrongArgumentsAreRefusedAtOnceWithTheirValues() throws Exception {
    assertThatThrownBy(() -> builder().segmentBytes(1)).hasMessageContaining("segmentBytes=1");
    assertThatThrownBy(() -> builder().stagingBytes(1)).hasMessageContaining("stagingBytes=1");
    assertThatThrownBy(() -> builder().segmentBytes(16384).stagingBytes(1 << 20).open())
        .hasMessageContaining("does not fit");
    try (Journal journal = builder().open()) {
      assertThatThrownBy(() -> journal.append(new byte[journal.maxRecordBytes() + 1]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("limit=" + journal.maxRecordBytes());
      assertThat(journal.append(new byte[journal.maxRecordBytes()])).isEqualTo(1);
      assertThatThrownBy(() -> journal.awaitDurable(2, SOON)).hasMessageContaining("sequence=2");
      journal.close();
      assertThatThrownBy(() -> journal.append(new byte[1]))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void filesAreTheirOwnersOnlyAndNothingIsLeftBehind() throws Exception {
    try (Journal journal = builder().open()) {
      journal.append(bytes("x"));
    }
    try (java.util.stream.Stream<Path> files = Files.list(directory.resolve("journal"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("journal-000001", "lock", "owner");
    }
    assertThat(
            java.nio.file.attribute.PosixFilePermissions.toString(
                Files.getPosixFilePermissions(directory.resolve("journal/journal-000001"))))
        .isEqualTo("rw-------");
  }

  /** Five segments, each with some of the records 1 to 100. */
  private Path filled() throws IOException {
    Path journal = directory.resolve("journal");
    try (Journal filled =
        builder()
            .durability(Durability.power())
            .segmentBytes(16 * 1024)
            .stagingBytes(16384)
            .open()) {
      for (int i = 1; i <= 100; i++) {
        filled.append(bytes("record " + i + " ".repeat(500)));
      }
    }
    assertThat(journal.resolve("journal-000005")).exists();
    return journal;
  }

  @Test
  void segmentThatWasCopiedIsAFindingAndTakesNoNumberTwice() throws Exception {
    Path journal = filled();
    Files.copy(journal.resolve("journal-000002"), journal.resolve("journal-000009"));

    assertThat(JournalReader.of(journal).verify().findings().toString())
        .contains("segment was copied or renamed: number=2, name=9");
    try (Journal reopened = builder().durability(Durability.power()).open()) {
      assertThat(reopened.append(bytes("new"))).isEqualTo(101);
      List<String> texts = new ArrayList<>();
      reopened.replay(90, entry -> texts.add(text(entry).strip()));
      assertThat(texts).hasSize(12).endsWith("record 100", "new");
    }
  }

  @Test
  void segmentThatWasRenamedIsAFindingAndTakesNoNumberTwice() throws Exception {
    Path journal = filled();
    Files.move(journal.resolve("journal-000001"), journal.resolve("journal-000009"));

    assertThat(JournalReader.of(journal).verify().isSound()).isFalse();
    try (Journal reopened = builder().durability(Durability.power()).open()) {
      assertThat(reopened.append(bytes("new"))).isEqualTo(101);
      assertThat(text(reopened.last(1).get(0))).isEqualTo("new");
    }
  }

  @Test
  void linkInPlaceOfASegmentIsAFindingAndNotFollowed() throws Exception {
    Path journal = filled();
    Path elsewhere = directory.resolve("elsewhere");
    Files.move(journal.resolve("journal-000003"), elsewhere);
    Files.createSymbolicLink(journal.resolve("journal-000003"), elsewhere);

    List<JournalFinding> findings = JournalReader.of(journal).verify().findings();
    assertThat(findings.toString()).contains("not a regular file").contains("journal-000003");
    assertThat(findings).anyMatch(JournalFinding::isLoss);
    Files.delete(journal.resolve("journal-000005"));
    Files.createDirectory(journal.resolve("journal-000005"));
    assertThatThrownBy(() -> builder().open())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("not a regular file")
        .hasMessageContaining("journal-000005");
    assertThat(DirectoryLock.isHeld(journal)).isFalse();
  }

  @Test
  void consumerIsToldWhatRetentionDeletedBeforeIt() throws Exception {
    try (Journal journal =
        builder()
            .durability(Durability.power())
            .segmentBytes(16 * 1024)
            .stagingBytes(16384)
            .retainBytes(40_000)
            .open()) {
      journal.append(bytes("x"));
      JournalConsumer consumer = journal.consumer("mail");
      assertThat(consumer.next(SOON).sequence()).isEqualTo(1);
      consumer.acknowledge(1);
      consumer.close();
      assertThatThrownBy(() -> consumer.next(Duration.ZERO))
          .isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(() -> consumer.acknowledge(1)).isInstanceOf(IllegalStateException.class);
      for (int i = 0; i < 300; i++) {
        journal.append(bytes("x".repeat(500)));
      }
      try (JournalConsumer later = journal.consumer("mail")) {
        assertThat(later.next(SOON).sequence()).isGreaterThan(100);
        assertThat(later.findings().toString()).contains("sequence numbers are missing: from=2");
      }
      assertThatThrownBy(() -> journal.consumer("a\nb")).hasMessageContaining("name=a?b");
      assertThatThrownBy(() -> journal.consumer("mail.LOCK"))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void runsDirectoryIsRefusedBeforeAnythingIsWrittenIntoIt() throws Exception {
    cairn.Recorder recorder =
        cairn.Recorder.builder("orders").directory(directory).durability(Durability.power()).open();
    assertThat(recorder.awaitDurable(SOON)).isTrue();
    recorder.close();
    Path run = recorder.directory();
    List<String> before = names(run);

    assertThatThrownBy(() -> Journal.builder(run).open()).hasMessageContaining("it is a run's");
    assertThatThrownBy(() -> JournalReader.of(run).consumer("mail"))
        .hasMessageContaining("it is a run's");
    assertThat(names(run)).isEqualTo(before);
  }

  private static List<String> names(Path of) throws IOException {
    try (java.util.stream.Stream<Path> files = Files.list(of)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void manySegmentsAreReadWithoutListingTheDirectoryForEach() throws Exception {
    int[] lists = new int[1];
    Path journal = filled();
    cairn.storage.Storage counting =
        (cairn.storage.Storage)
            watched(
                cairn.storage.Storage.class,
                new cairn.storage.DiskStorage(journal),
                (method, arguments) -> lists[0] += method.equals("list") ? 1 : 0);
    List<Long> sequences = new ArrayList<>();
    new JournalReader(counting, () -> false).replay(entry -> sequences.add(entry.sequence()));
    assertThat(sequences).hasSize(100);
    assertThat(lists[0]).isLessThanOrEqualTo(5);
  }

  /** A storage that asks first. */
  private interface Before {
    void call(String method, Object[] arguments) throws IOException;
  }

  private static Object watched(Class<?> type, Object real, Before before) {
    return java.lang.reflect.Proxy.newProxyInstance(
        JournalTest.class.getClassLoader(),
        new Class<?>[] {type},
        (proxy, method, arguments) -> {
          before.call(method.getName(), arguments == null ? new Object[0] : arguments);
          try {
            Object result = method.invoke(real, arguments);
            return result instanceof cairn.storage.Storage.Output output
                ? watched(cairn.storage.Storage.Output.class, output, before)
                : result;
          } catch (java.lang.reflect.InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  @Test
  void segmentThatIsDeletedUnderAReaderIsPassedOver() throws Exception {
    Path journal = filled();
    cairn.storage.Storage storage =
        (cairn.storage.Storage)
            watched(
                cairn.storage.Storage.class,
                new cairn.storage.DiskStorage(journal),
                (method, arguments) -> {
                  if (method.equals("read") && arguments[0].equals("journal-000005")) {
                    throw new java.nio.file.NoSuchFileException("journal-000005");
                  }
                });
    JournalReader reader = new JournalReader(storage, () -> true);
    List<Long> sequences = new ArrayList<>();

    assertThat(reader.replay(entry -> sequences.add(entry.sequence()))).isEmpty();
    assertThat(reader.lastSequence()).isEqualTo(sequences.get(sequences.size() - 1));
    assertThat(reader.last(1).get(0).sequence()).isEqualTo(reader.lastSequence());
  }

  @Test
  void endOfTheSegmentInWorkIsNoDamageWhileItsWriterLives() throws Exception {
    Path journal = filled();
    String newest = names(journal).stream().filter(n -> n.startsWith("journal-")).toList().get(4);
    try (RandomAccessFile file = new RandomAccessFile(journal.resolve(newest).toFile(), "rw")) {
      file.seek(file.length() - 1024);
      file.write(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 64, 0, 0, 0, 9, 9, 9, 9});
    }
    cairn.storage.Storage storage = new cairn.storage.DiskStorage(journal);

    assertThat(new JournalReader(storage, () -> true).verify().findings()).isEmpty();
    assertThat(new JournalReader(storage, () -> false).verify().findings().toString())
        .contains("not a sound record");
  }

  @Test
  void committerGoesOnAfterErrorsOfTheVirtualMachine() throws Exception {
    java.util.concurrent.atomic.AtomicInteger left =
        new java.util.concurrent.atomic.AtomicInteger(2);
    Path journal = directory.resolve("journal");
    Files.createDirectory(journal);
    cairn.storage.Storage storage =
        (cairn.storage.Storage)
            watched(
                cairn.storage.Storage.class,
                new cairn.storage.DiskStorage(journal),
                (method, arguments) -> {
                  if (method.equals("writeForced") && left.getAndDecrement() > 0) {
                    throw new OutOfMemoryError("as if");
                  }
                });
    try (Journal opened =
        builder()
            .durability(Durability.power())
            .open(storage, new StagingMemory.OfDirectory(journal), null)) {
      assertThatThrownBy(() -> opened.append(bytes("one")))
          .isInstanceOf(java.io.UncheckedIOException.class)
          .hasMessageContaining("as if");
      assertThat(opened.awaitDurable(1, SOON)).isTrue();
      assertThat(opened.append(bytes("two"))).isEqualTo(2);
      assertThat(texts(opened)).containsExactly("one", "two");
    }
  }

  @Test
  void closeEndsTheWaitOfAFollower() throws Exception {
    Path journal = filled();
    JournalFollower follower = JournalReader.of(journal).follow(101);
    CountDownLatch waits = new CountDownLatch(1);
    Thread waiting =
        new Thread(
            () -> {
              waits.countDown();
              try {
                follower.poll(Duration.ofDays(1));
              } catch (IOException | IllegalStateException e) {
                // Closed before it waited.
              }
            });
    waiting.start();
    waits.await();
    follower.close();
    waiting.join(SOON.toMillis());
    assertThat(waiting.isAlive()).isFalse();
  }

  @Test
  void damagedPositionIsAFinding() throws Exception {
    Path journal = filled();
    try (JournalConsumer consumer = JournalReader.of(journal).consumer("mail")) {
      assertThat(JournalReader.of(journal).verify().findings()).isEmpty();
      consumer.acknowledge(consumer.next(SOON).sequence());
    }
    Files.write(journal.resolve("position-mail"), new byte[] {1, 2, 3});

    assertThat(JournalReader.of(journal).verify().findings().toString())
        .contains("position is damaged")
        .contains("position-mail");
  }
}
