package cairn.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.ChildJvm;
import cairn.Durability;
import cairn.format.JournalLayout;
import cairn.storage.ModelDisk;
import cairn.storage.ModelDisk.Fault;
import cairn.storage.ModelDisk.Operation;
import cairn.storage.SegmentName;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What went wrong in other journals and queue files, each done to this one. The comment over a test
 * names the reports; docs/FAULTS.md is the table.
 */
class JournalFaultsTest {
  private static final String FIRST = SegmentName.of(1);
  private static final String SECOND = SegmentName.of(2);
  private static final String POSITION = JournalLayout.POSITION_PREFIX + "c";
  private static final int FRAMES = JournalLayout.FRAMES_OFFSET;
  private static final Duration NOW = Duration.ZERO;

  @TempDir Path directory;

  private List<JournalFinding> findings = List.of();

  // ---- a journal on a model disk

  private static Journal.Builder builder(Durability durability) {
    Journal.Builder builder =
        Journal.builder(Path.of("model"))
            .durability(durability)
            .segmentBytes(16 * 1024)
            .stagingBytes(16 * 1024);
    builder.manual = true;
    return builder;
  }

  private static Journal open(ModelDisk disk) {
    return open(disk, Durability.power());
  }

  private static Journal open(ModelDisk disk, Durability durability) {
    try {
      return builder(durability).open(disk, new ModelStaging(disk), null);
    } catch (IOException e) {
      throw new AssertionError("does not open: files=" + disk.contents().keySet(), e);
    }
  }

  private static void append(Journal journal, String... texts) {
    for (String text : texts) {
      journal.append(text.getBytes(UTF_8));
    }
  }

  /** A closed journal of two segments: one, two, three in the first, four, five in the second. */
  private static ModelDisk twoSegments() {
    ModelDisk disk = new ModelDisk();
    try (Journal journal = open(disk)) {
      append(journal, "one", "two", "three");
    }
    try (Journal journal = open(disk)) {
      append(journal, "four", "five");
    }
    return disk;
  }

  private static ModelDisk copy(ModelDisk disk) {
    return disk.afterProcessDeath();
  }

  private static ModelDisk without(ModelDisk disk, String... names) {
    ModelDisk rest = new ModelDisk();
    disk.contents()
        .forEach(
            (name, bytes) -> {
              if (!List.of(names).contains(name)) {
                rest.put(name, bytes);
              }
            });
    return rest;
  }

  /** The entries as {@code number=text}; {@link #findings} is what was not sound. */
  private List<String> read(ModelDisk disk) {
    List<String> entries = new ArrayList<>();
    try {
      findings =
          new JournalReader(disk, () -> false)
              .replay(
                  entry -> entries.add(entry.sequence() + "=" + new String(entry.bytes(), UTF_8)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return entries;
  }

  /** The next process opens it, appends, and closes; what is there then. */
  private List<String> goOn(ModelDisk disk, String... texts) {
    try (Journal journal = open(disk)) {
      append(journal, texts);
    }
    return read(disk);
  }

  private static ByteBuffer words(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static long allocatedBytes() {
    return ((com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean())
        .getThreadAllocatedBytes(Thread.currentThread().getId());
  }

  // ---- lengths and places that can't be

  /** square/tape#173, segmentio/analytics-android#321: the length in the file was believed. */
  @Test
  void garbageLengthIsRefusedBeforeAnythingIsAllocated() {
    for (int length : new int[] {0x69696969, -5, Integer.MAX_VALUE, Integer.MIN_VALUE, 0, 31}) {
      ModelDisk disk = twoSegments();
      byte[] bytes = disk.bytes(FIRST);
      words(bytes).putInt(FRAMES + 64 + JournalLayout.LENGTH_OFFSET, length);
      disk.put(FIRST, bytes);

      long before = allocatedBytes();
      List<String> entries = read(disk);
      long allocated = allocatedBytes() - before;

      assertThat(entries)
          .as("length=%s", length)
          .containsExactly("1=one", "3=three", "4=four", "5=five");
      assertThat(findings).anyMatch(JournalFinding::isLoss);
      assertThat(allocated).as("length=%s", length).isLessThan(1 << 20);
      assertThat(goOn(disk, "six")).endsWith("5=five", "6=six");
    }
  }

  /**
   * segmentio/analytics-android#586, flipkart-incubator/batchman#152: an offset beyond the file.
   */
  @Test
  void placesBeyondTheFileAreNoReasonToThrow() throws IOException {
    ModelDisk disk = twoSegments();
    byte[] bytes = disk.bytes(SECOND);
    for (int header : new int[] {0, bytes.length - JournalLayout.HEADER_SIZE}) {
      words(bytes).putLong(header + JournalLayout.FILE_LENGTH_OFFSET, 1L << 40);
      byte[] sealed = Arrays.copyOfRange(bytes, header, header + JournalLayout.HEADER_SIZE);
      words(bytes)
          .putInt(header + JournalLayout.HEADER_CRC_OFFSET, JournalLayout.headerCrc(sealed));
    }
    disk.put(SECOND, bytes);

    assertThat(read(disk)).containsExactly("1=one", "2=two", "3=three", "4=four", "5=five");
    assertThat(findings)
        .noneMatch(JournalFinding::isLoss)
        .anySatisfy(finding -> assertThat(finding.toString()).contains("truncated", SECOND));

    try (Position position = Position.open(disk, "c")) {
      position.write(1L << 40);
    }
    try (Journal journal = open(disk)) {
      assertThat(journal.awaitDurable(6, NOW)).isFalse();
    }
    try (Journal journal = open(disk);
        JournalConsumer consumer = new JournalConsumer(disk, "c", () -> true, null)) {
      assertThat(consumer.next(NOW)).isNull();
      assertThat(journal.append("next".getBytes(UTF_8))).isEqualTo((1L << 40) + 1);
      assertThat(consumer.next(NOW)).extracting(Entry::sequence).isEqualTo((1L << 40) + 1);
    }
    // Opened again and again, it is said once and makes no further segment.
    int segments = SegmentName.numbers(disk).size();
    open(disk).close();
    open(disk).close();
    assertThat(SegmentName.numbers(disk)).hasSize(segments);
    assertThat(new JournalReader(disk, () -> false).verify().givenUp())
        .containsEntry("lost", (1L << 40) - 5);
  }

  /** square/tape#51, agrona#22: a header across the end of the file, no room for one. */
  @Test
  void headersNeverLieAcrossSectorsAndRecordsFillASegmentToItsEnd() throws IOException {
    for (int length = 0; length < 700; length += 7) {
      ModelDisk disk = new ModelDisk();
      int count = 80;
      try (Journal journal = open(disk)) {
        byte[] record = new byte[length];
        Arrays.fill(record, (byte) 'x');
        for (int i = 0; i < count; i++) {
          journal.append(record);
        }
      }
      assertThat(read(disk)).as("length=%s", length).hasSize(count);
      assertThat(findings).isEmpty();
      for (long number : SegmentName.numbers(disk)) {
        byte[] bytes = disk.bytes(SegmentName.of(number));
        int frame = JournalLayout.aligned(JournalLayout.FRAME_HEADER_SIZE + length);
        int fitting = (bytes.length - FRAMES - JournalLayout.HEADER_SIZE) / frame;
        int last = FRAMES + (fitting - 1) * frame;
        boolean isFull = number < SegmentName.numbers(disk).size();
        if (isFull) {
          assertThat(words(bytes).getLong(last)).as("length=%s", length).isPositive();
        }
        assertThat(last / 512).isEqualTo((last + JournalLayout.FRAME_HEADER_SIZE - 1) / 512);
      }
    }
  }

  // ---- files that are empty, zero, cut off or missing

  /** square/tape#125, #153, #199; logstash#7809, #7538: empty files, as a reboot leaves them. */
  @Test
  void emptyFilesAreFindingsAndTheJournalGoesOn() {
    for (String name : List.of(FIRST, SECOND, JournalLayout.STAGING_NAME, POSITION)) {
      ModelDisk disk = twoSegments().put(name, new byte[0]);

      List<String> entries = read(disk);
      assertThat(entries).as(name).hasSize(name.equals(FIRST) ? 2 : name.equals(SECOND) ? 3 : 5);
      assertThat(goOn(disk, "new").get(entries.size())).as(name).endsWith("=new");
    }
    ModelDisk only = new ModelDisk().put(FIRST, new byte[0]);
    assertThat(goOn(only, "new")).containsExactly("1=new");
    assertThat(findings).singleElement().asString().contains("file is empty", FIRST);
  }

  /** square/tape#135, #43: an all-zero file could not be opened, or was extended for ever. */
  @Test
  void allZeroFilesAreFindingsAndTheJournalGoesOn() {
    for (String name : List.of(FIRST, SECOND, JournalLayout.STAGING_NAME, POSITION)) {
      ModelDisk disk = twoSegments().put(name, new byte[16 * 1024]);

      List<String> entries = read(disk);
      assertThat(entries).as(name).hasSize(name.equals(FIRST) ? 2 : name.equals(SECOND) ? 3 : 5);
      assertThat(findings.isEmpty()).as(name).isEqualTo(name.equals(POSITION));
      assertThat(goOn(disk, "new").get(entries.size())).as(name).endsWith("=new");
    }
  }

  /** agrona#340, agrona's ErrorLogReader: short files and partial records made readers crash. */
  @Test
  void everyTruncationOfEveryFileIsReadAsFarAsItGoes() throws IOException {
    ModelDisk whole = new ModelDisk();
    Journal living = open(whole, Durability.process());
    append(living, "one", "two", "three");
    living.force(NOW);
    try (Position position = Position.open(whole, "c")) {
      position.write(2);
    }
    append(living, "four");
    List<String> all = read(whole);
    assertThat(all).containsExactly("1=one", "2=two", "3=three", "4=four");

    for (String name : List.of(FIRST, JournalLayout.STAGING_NAME, POSITION)) {
      byte[] bytes = whole.bytes(name);
      for (int length = 0; length < bytes.length; length += length < FRAMES + 400 ? 13 : 509) {
        ModelDisk cut = copy(whole).put(name, Arrays.copyOf(bytes, length));
        List<String> entries = read(cut);
        assertThat(all).as("%s, length=%s", name, length).containsAll(entries);
        try (Journal journal = open(cut)) {
          append(journal, "more");
          assertThat(new JournalConsumer(cut, "c", () -> true, null).acknowledged()).isIn(0L, 2L);
        }
        List<String> then = read(cut);
        assertThat(then).as("%s, length=%s", name, length).containsAll(entries);
        assertThat(then.get(then.size() - 1)).endsWith("=more");
      }
    }
  }

  /** logstash#8839, #9220, #16389: without its checkpoint a page was lost or replayed. */
  @Test
  void eachSegmentIsReadableWithoutAnyOtherFile() throws IOException {
    ModelDisk disk = twoSegments();
    try (Position position = Position.open(disk, "c")) {
      position.write(2);
    }

    assertThat(read(without(disk, SECOND, POSITION))).containsExactly("1=one", "2=two", "3=three");
    assertThat(read(without(disk, FIRST, POSITION))).containsExactly("4=four", "5=five");
    assertThat(goOn(without(disk, FIRST), "six")).containsExactly("4=four", "5=five", "6=six");
    try (JournalConsumer consumer =
        new JournalConsumer(without(disk, POSITION), "c", () -> false, null)) {
      assertThat(consumer.acknowledged()).isZero();
      assertThat(consumer.next(NOW)).extracting(Entry::sequence).isEqualTo(1L);
    }
    try (JournalConsumer consumer = new JournalConsumer(disk, "c", () -> false, null)) {
      assertThat(consumer.next(NOW)).extracting(Entry::sequence).isEqualTo(3L);
    }
  }

  /**
   * Chronicle-Queue#696, Chronicle-Wire#179: killed while writing the header: never ready again.
   */
  @Test
  void fileThatWasBeingMadeIsNotReadAndIsRemoved() throws IOException {
    List<String> unfinished =
        List.of(".new-" + SegmentName.of(3), ".new-staging", ".new-" + POSITION);
    ModelDisk disk = twoSegments();
    for (String name : unfinished) {
      disk.put(name, Arrays.copyOf(disk.bytes(SECOND), 5000));
    }

    assertThat(read(disk)).hasSize(5);
    assertThat(findings).isEmpty();
    assertThat(goOn(disk, "six")).endsWith("5=five", "6=six");
    assertThat(disk.list()).noneMatch(name -> name.startsWith(".new-"));
  }

  /** Tape, reproduced: the header was on the disk and the data was not: five empty elements. */
  @Test
  void headerWithoutItsDataIsNotAnEmptyRecord() {
    ModelDisk disk = twoSegments();
    byte[] bytes = disk.bytes(FIRST);
    Arrays.fill(bytes, FRAMES, bytes.length - JournalLayout.HEADER_SIZE, (byte) 0);
    disk.put(FIRST, bytes);

    assertThat(read(disk)).containsExactly("4=four", "5=five");
    assertThat(findings)
        .singleElement()
        .matches(JournalFinding::isLoss)
        .asString()
        .contains("from=1, to=3");
    assertThat(goOn(disk, "six")).containsExactly("4=four", "5=five", "6=six");

    ModelDisk frameHeadersOnly = twoSegments();
    byte[] cleared = frameHeadersOnly.bytes(FIRST);
    for (int at = FRAMES; at < FRAMES + 3 * 64; at += 64) {
      Arrays.fill(cleared, at + JournalLayout.FRAME_HEADER_SIZE, at + 64, (byte) 0);
    }
    assertThat(read(frameHeadersOnly.put(FIRST, cleared))).containsExactly("4=four", "5=five");
  }

  // ---- damage

  /** Tencent/MMKV#259, #719, #892: one checksum over the file, one bad byte discarded it all. */
  @Test
  void oneDamagedByteCostsOneRecordAtMost() {
    ModelDisk sound = twoSegments();
    List<String> all = read(sound);
    byte[] bytes = sound.bytes(FIRST);
    for (int at = 0; at < bytes.length; at += at < FRAMES + 200 ? 3 : 61) {
      byte[] damaged = bytes.clone();
      damaged[at] ^= 0x10;
      List<String> entries = read(copy(sound).put(FIRST, damaged));
      assertThat(entries.size()).as("at=%s", at).isGreaterThanOrEqualTo(all.size() - 1);
      assertThat(all).as("at=%s", at).containsAll(entries);
    }
  }

  /**
   * ArcadeData/arcadedb#4508, mysticeti#219: recovery stopped, or panicked, at the first bad one.
   */
  @Test
  void recoveryGoesOnBehindADamagedRecord() {
    ModelDisk disk = twoSegments();
    byte[] bytes = disk.bytes(FIRST);
    bytes[FRAMES + JournalLayout.FRAME_HEADER_SIZE] ^= 1;
    disk.put(FIRST, bytes);

    assertThat(goOn(disk, "six")).containsExactly("2=two", "3=three", "4=four", "5=five", "6=six");
    assertThat(findings)
        .filteredOn(JournalFinding::isLoss)
        .singleElement()
        .asString()
        .contains("from=1, to=1");
  }

  /**
   * pmcfadin/cqlite#1418, amelielabs/amelie#17: appended behind a torn tail and never read again.
   */
  @Test
  void whatIsAppendedAfterATornTailIsFound() {
    ModelDisk disk = new ModelDisk();
    try (Journal journal = open(disk)) {
      append(journal, "one", "x".repeat(2000));
    }
    byte[] bytes = disk.bytes(FIRST);
    Arrays.fill(bytes, FRAMES + 64 + 512, FRAMES + 64 + 1500, (byte) 0);
    disk.put(FIRST, bytes);

    List<String> entries = goOn(disk, "after");

    assertThat(entries).hasSize(2).startsWith("1=one");
    assertThat(entries.get(1)).endsWith("=after");
    assertThat(goOn(disk, "again")).hasSize(3).startsWith(entries.get(0), entries.get(1));
  }

  /** systemd#43507: "corrupted or uncleanly shut down", and no word of why. */
  @Test
  void everyFindingNamesTheFileThePlaceAndTheCheckThatFailed() {
    byte[] sound = twoSegments().bytes(FIRST);
    TreeMap<String, byte[]> damages = new TreeMap<>();
    damages.put("checksum mismatch", flipped(sound, FRAMES + 33));
    damages.put(
        "length is out of bounds", flipped(sound, FRAMES + JournalLayout.LENGTH_OFFSET + 3));
    damages.put("foreign", flipped(flipped(sound, 0), sound.length - JournalLayout.HEADER_SIZE));
    damages.put("truncated", Arrays.copyOf(sound, sound.length - 600));
    damages.put("file is from a newer version", newer(sound));
    damages.forEach(
        (check, bytes) -> {
          read(twoSegments().put(FIRST, bytes));
          assertThat(findings)
              .as(check)
              .anySatisfy(
                  finding -> {
                    assertThat(finding.file()).isEqualTo(FIRST);
                    assertThat(finding.toString()).contains(check, "offset=");
                  });
        });
  }

  private static byte[] flipped(byte[] bytes, int at) {
    byte[] flipped = bytes.clone();
    flipped[at] ^= 0x40;
    return flipped;
  }

  private static byte[] newer(byte[] bytes) {
    byte[] newer = bytes.clone();
    for (int at : new int[] {0, newer.length - JournalLayout.HEADER_SIZE}) {
      words(newer).putShort(at + JournalLayout.MAJOR_OFFSET, (short) 9);
      byte[] header = Arrays.copyOfRange(newer, at, at + JournalLayout.HEADER_SIZE);
      words(newer).putInt(at + JournalLayout.HEADER_CRC_OFFSET, JournalLayout.headerCrc(header));
    }
    return newer;
  }

  // ---- the order of writes and forces

  /** google/leveldb#196, spacejam/sled#1229, logstash#7162: the directory was never forced. */
  @Test
  void newSegmentsNameIsForcedBeforeARecordInItCounts() {
    ModelDisk disk = new ModelDisk();
    try (Journal journal = open(disk)) {
      append(journal, "one");
      List<String> trace = disk.trace();
      int renamed = trace.indexOf("rename .new-" + FIRST + " to " + FIRST);
      int filled = trace.subList(0, renamed).lastIndexOf("force .new-" + FIRST);
      int named = renamed + trace.subList(renamed, trace.size()).indexOf("force directory");
      assertThat(filled).isPositive();
      assertThat(named).isEqualTo(renamed + 1);
      assertThat(trace.get(trace.size() - 1)).startsWith("write forced .new-" + FIRST);
      disk.crashImages(
          200, new Random(1), image -> assertThat(read(image)).containsExactly("1=one"));
    }
  }

  /** etcd-io/etcd#14370: a single node acknowledged before its entry was durable. */
  @Test
  void appendUnderPowerReturnsOnlyWhenNoPowerLossTakesTheRecord() {
    ModelDisk disk = new ModelDisk();
    try (Journal journal = open(disk)) {
      for (int i = 1; i <= 40; i++) {
        assertThat(journal.append(("record " + i + " ".repeat(i * 31)).getBytes(UTF_8)))
            .isEqualTo(i);
        assertThat(journal.durableSequence()).isEqualTo(i);
        int count = i;
        disk.crashImages(20, new Random(i), image -> assertThat(read(image)).hasSize(count));
      }
    }
  }

  /**
   * neondatabase/neon#8140, wiredtiger#4072, acid-state#175: a failed fsync was retried, or
   * ignored.
   */
  @Test
  void afterAFailedForceTheFileIsLeftAndNothingInItIsCalledDurable() {
    for (Durability durability : List.of(Durability.power(), Durability.process())) {
      ModelDisk disk = new ModelDisk();
      try (Journal journal = open(disk, durability)) {
        append(journal, "one");
        journal.force(NOW);
        disk.fail(Fault.FORCE_DROPS, EnumSet.of(Operation.FORCE, Operation.WRITE_FORCED), 1);
        append(journal, "two");
        assertThat(journal.force(NOW)).isTrue();
        assertThat(disk.faultsHit()).isEqualTo(1);

        List<String> trace = disk.trace();
        int failed = 0;
        while (!trace.get(failed).endsWith("FORCE_DROPS")) {
          failed++;
        }
        assertThat(trace.subList(failed + 1, trace.size()))
            .noneMatch(call -> call.startsWith("write") && call.contains(FIRST))
            .noneMatch(call -> call.startsWith("force .new-" + FIRST));
        assertThat(journal.counters()).containsEntry("forceErrors", 1L);
        assertThat(journal.lastError()).contains("error");
        disk.crashImages(
            300, new Random(1), image -> assertThat(read(image)).containsExactly("1=one", "2=two"));
      }
    }
  }

  /** The same across two processes: the next one's force succeeds and writes nothing. */
  @Test
  void whatADeadProcessFailedToForceIsWrittenAgainByTheNextOne() {
    ModelDisk disk = new ModelDisk();
    Journal first = open(disk, Durability.process());
    append(first, "one");
    disk.fail(Fault.FORCE_DROPS, EnumSet.of(Operation.FORCE, Operation.WRITE_FORCED), 2);
    ModelDisk[] dead = new ModelDisk[1];
    disk.onStep(
        () -> {
          List<String> trace = disk.trace();
          boolean isBehindFault = !trace.get(trace.size() - 1).endsWith("FORCE_DROPS");
          if (disk.faultsHit() == 1 && isBehindFault && dead[0] == null) {
            dead[0] = disk.afterProcessDeath();
          }
        });
    first.force(NOW);
    assertThat(dead[0]).isNotNull();

    Journal next = open(dead[0]);

    assertThat(next.durableSequence()).isEqualTo(1);
    dead[0].crashImages(
        300, new Random(1), image -> assertThat(read(image)).containsExactly("1=one"));
  }

  /**
   * Power loss may keep the later record of a segment that was given up, and not the earlier one.
   */
  @Test
  void recordThatAnErrorMadeComeAgainIsNotPassedOver() throws IOException {
    ModelDisk disk = new ModelDisk();
    Journal journal = builder(Durability.process()).open(disk, new ModelStaging(disk, false), null);
    append(journal, "a".repeat(600), "b".repeat(600), "c".repeat(600));
    disk.fail(Fault.IO_ERROR, EnumSet.of(Operation.FORCE), 1);
    assertThat(journal.force(NOW)).isTrue();
    assertThat(disk.faultsHit()).isEqualTo(1);

    disk.crashImages(
        500,
        new Random(1),
        image -> {
          assertThat(read(image)).hasSize(3);
          try (JournalFollower follower = new JournalFollower(image, 1, () -> false)) {
            for (long expected = 1; expected <= 3; expected++) {
              assertThat(follower.poll(NOW)).extracting(Entry::sequence).isEqualTo(expected);
            }
          } catch (IOException e) {
            throw new AssertionError(e);
          }
        });
  }

  /** Chronicle-Queue#1282, #605; Chronicle-Bytes#149; mapdb#442: a full disk killed the JVM. */
  @Test
  void fullDiskIsReportedAndNothingIsLostOnceThereIsRoom() {
    EnumSet<Operation> allocating =
        EnumSet.of(Operation.CREATE, Operation.WRITE, Operation.WRITE_FORCED);
    for (int nth = 1; nth <= 8; nth++) {
      ModelDisk disk = new ModelDisk();
      Journal journal = open(disk);
      append(journal, "one");
      disk.failFrom(Fault.NO_SPACE, allocating, nth);
      List<String> expected = new ArrayList<>(List.of("1=one"));
      int refused = 0;
      for (int i = 2; i < 12; i++) {
        String text = "record " + i + "x".repeat(1500);
        expected.add(i + "=" + text);
        try {
          append(journal, text);
        } catch (UncheckedIOException e) {
          refused++;
          assertThat(e)
              .hasMessageContaining("not durable")
              .hasRootCauseMessage(journal.lastError());
          assertThat(journal.lastError()).contains("No space left");
          break;
        }
      }
      assertThat(refused).as("nth=%s", nth).isEqualTo(1);
      assertThat(read(disk)).isEqualTo(expected);

      disk.heal();
      journal.close();

      assertThat(read(disk)).as("nth=%s", nth).isEqualTo(expected);
      assertThat(findings).noneMatch(JournalFinding::isLoss);
      disk.crashImages(50, new Random(nth), image -> assertThat(read(image)).isEqualTo(expected));
    }
  }

  /** The same under process(): records wait in the staging, then are refused and counted. */
  @Test
  void fullDiskUnderProcessRefusesWhatTheStagingHasNoRoomFor() {
    ModelDisk disk = new ModelDisk();
    Journal journal = open(disk, Durability.process());
    disk.failFrom(Fault.NO_SPACE, EnumSet.of(Operation.CREATE), 1);
    int accepted = 0;
    while (journal.append(new byte[1000]) != Journal.DROPPED) {
      accepted++;
      assertThat(accepted).isLessThan(100);
    }
    assertThat(accepted).isGreaterThan(5);
    assertThat(journal.counters()).containsEntry("dropped", 1L);
    assertThat(read(copy(disk))).hasSize(accepted);

    disk.heal();
    journal.close();
    try (Journal next = open(disk)) {
      assertThat(next.append(new byte[1])).isEqualTo(accepted + 1);
    }
    assertThat(read(disk)).hasSize(accepted + 1);
  }

  /** Found here: without a mapped staging a number was returned though the write had failed. */
  @Test
  void appendThatCouldNotBeWrittenSaysSoWhereTheStagingIsNotMapped() throws IOException {
    ModelDisk disk = new ModelDisk();
    Journal journal = builder(Durability.process()).open(disk, new ModelStaging(disk, false), null);
    append(journal, "one");
    disk.failFrom(Fault.NO_SPACE, Fault.NO_SPACE.operations(), 1);
    assertThatThrownBy(() -> append(journal, "two"))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("not written: sequence=2");
    assertThat(read(copy(disk))).containsExactly("1=one");

    disk.heal();
    journal.close();
    assertThat(read(disk)).containsExactly("1=one", "2=two");
  }

  // ---- threads, locks, processes

  /**
   * h2database#227, #1076, #1300; mapdb#235; TuplDB#90; bitcoinj#459: an interrupt closed the file.
   */
  @Test
  void interruptedThreadClosesNothingForTheOthers() throws Exception {
    for (Durability durability : List.of(Durability.power(), Durability.process())) {
      Path each = directory.resolve(durability.name());
      try (Journal journal = Journal.builder(each).durability(durability).open();
          JournalConsumer consumer = journal.consumer("c")) {
        Thread.currentThread().interrupt();
        try {
          for (long i = 1; i <= 20; i++) {
            assertThat(journal.append("interrupted".getBytes(UTF_8))).isEqualTo(i);
          }
          assertThat(journal.replay(entry -> {})).isEmpty();
        } finally {
          assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(journal.force(Duration.ofSeconds(20))).isTrue();
        assertThat(consumer.next(Duration.ofSeconds(20))).isNotNull();
        Thread.currentThread().interrupt();
        consumer.acknowledge(1);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(journal.append("and on".getBytes(UTF_8))).isEqualTo(21);
        assertThat(journal.force(Duration.ofSeconds(20))).isTrue();
        assertThat(journal.counters()).containsEntry("forceErrors", 0L);
      }
      assertThat(JournalReader.of(each).last(30)).hasSize(21);
    }
  }

  /**
   * In a JVM of its own: opens the journal, or says why not; told to stay, waits for its input to
   * end.
   */
  public static final class Opener {
    public static void main(String[] args) throws IOException {
      try (Journal journal = Journal.builder(Path.of(args[0])).open()) {
        System.out.println("opened " + journal.append("child".getBytes(UTF_8)));
        while (args.length > 1 && System.in.read() >= 0) {
          // until the parent is gone
        }
      } catch (JournalLockedException e) {
        System.out.println("refused " + e.getMessage());
      }
    }
  }

  /**
   * facebook/rocksdb#1780, brunoczim/fslock#6, iceoryx2#1718: any close of the file freed the lock.
   */
  @Test
  void readersInTheSameProcessDoNotFreeTheLock() throws IOException {
    try (Journal journal = Journal.builder(directory).durability(Durability.power()).open()) {
      journal.append("mine".getBytes(UTF_8));
      JournalReader reader = JournalReader.of(directory);
      assertThat(reader.isLive()).isTrue();
      assertThat(reader.verify().isLive()).isTrue();
      assertThat(reader.last(1)).hasSize(1);
      reader.consumer("c").close();
      reader.follow(1).close();
      assertThatThrownBy(() -> Journal.builder(directory).open())
          .isInstanceOf(JournalLockedException.class)
          .hasMessageContaining("this process");

      assertThat(ChildJvm.run(Opener.class, directory.toString()))
          .contains("refused", "ownerPid=" + ProcessHandle.current().pid());
    }
    assertThat(ChildJvm.run(Opener.class, directory.toString())).contains("opened 2");
  }

  /** Chronicle-Queue#629, #455, #1180; stellar-core#652; paseo#5128: a pid decided who owns it. */
  @Test
  void pidInAFileNeitherOpensNorKeepsTheLock() throws IOException {
    Files.writeString(directory.resolve("owner"), "ownerPid=1, ownerHost=here\n");
    Files.createFile(directory.resolve("lock"));
    try (Journal journal = Journal.builder(directory).open()) {
      assertThat(journal.append("pid 1 lives and owns nothing".getBytes(UTF_8))).isEqualTo(1);
    }

    Process child = ChildJvm.start(List.of(), Opener.class, directory.toString(), "stay");
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(child.getInputStream(), UTF_8))) {
      assertThat(lines.readLine()).isEqualTo("opened 2");
      for (String owner : List.of("", "ownerPid=999999999, ownerHost=here\n", "nonsense\u0000")) {
        Files.writeString(directory.resolve("owner"), owner);
        assertThatThrownBy(() -> Journal.builder(directory).open())
            .isInstanceOf(JournalLockedException.class)
            .hasMessageContaining("journal is in use");
      }
      Files.delete(directory.resolve("owner"));
      assertThatThrownBy(() -> Journal.builder(directory).open())
          .isInstanceOf(JournalLockedException.class);
    } finally {
      child.destroyForcibly();
    }
    child.onExit().join();
    try (Journal journal = Journal.builder(directory).open()) {
      assertThat(journal.lastSequence()).isEqualTo(2);
    }
  }

  /** Chronicle-Queue#470, #580; systemd#24320, #12042: a file cut under a reader killed it. */
  @Test
  void segmentThatIsCutUnderAReaderEndsItAndIsSaid() throws IOException {
    try (Journal journal = Journal.builder(directory).durability(Durability.power()).open()) {
      for (int i = 0; i < 100; i++) {
        journal.append(("record " + i).getBytes(UTF_8));
      }
      try (JournalFollower follower = journal.follow(1)) {
        assertThat(follower.poll(NOW)).isNotNull();
        try (FileChannel file =
            FileChannel.open(directory.resolve(FIRST), StandardOpenOption.WRITE)) {
          file.truncate(FRAMES + 640);
        }
        int left = 0;
        while (follower.poll(NOW) != null) {
          left++;
        }
        assertThat(left).isLessThan(100);
      }
      assertThat(JournalReader.of(directory).verify().findings())
          .anyMatch(finding -> finding.toString().contains("truncated"));
    }
  }
}
