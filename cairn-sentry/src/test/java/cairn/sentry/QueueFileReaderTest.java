package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Breadcrumb;
import cairn.report.Finding;
import cairn.report.Report;
import io.sentry.cache.tape.QueueFile;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files of sentry-java's own QueueFile, whole and damaged, through the importer. The cases are
 * those that the SDK tests its writer with, and the reports on it and on Tape, where it comes from.
 */
class QueueFileReaderTest {
  private static final Instant FIRST = Instant.parse("2026-12-01T00:00:00Z");

  @TempDir Path temp;
  private Path file;
  private Report report;

  @BeforeEach
  void setUp() throws IOException {
    file = Files.createDirectory(temp.resolve(".scope-cache")).resolve("breadcrumbs.json");
  }

  private static byte[] element(int number) {
    return element(number, "");
  }

  private static byte[] element(int number, String more) {
    String json =
        "{\"timestamp\":\""
            + FIRST.plusSeconds(number)
            + "\",\"message\":\"m"
            + number
            + "\",\"data\":{\"more\":\""
            + more
            + "\"},\"level\":\"info\"}";
    return json.getBytes(StandardCharsets.UTF_8);
  }

  /** Without a force for each write: no power is lost here. */
  private QueueFile.Builder builder() {
    return new QueueFile.Builder(file.toFile()).synchronousWrites(false).size(-1);
  }

  private QueueFile open() throws IOException {
    return builder().zero(true).build();
  }

  private void add(int from, int to) throws IOException {
    try (QueueFile queue = open()) {
      for (int i = from; i < to; i++) {
        queue.add(element(i));
      }
    }
  }

  private void remove(int count) throws IOException {
    try (QueueFile queue = open()) {
      queue.remove(count);
    }
  }

  /** {@return the numbers of the breadcrumbs that are found} */
  private List<Integer> read() throws IOException {
    report = SentryFiles.read(temp).get(0).toReport();
    report.toText();
    report.toJson();
    List<Integer> numbers = new ArrayList<>();
    for (Breadcrumb breadcrumb : report.trail()) {
      String message = String.valueOf(breadcrumb.message());
      numbers.add(message.matches("m\\d+") ? Integer.parseInt(message.substring(1)) : -1);
    }
    return numbers;
  }

  private List<String> findings() {
    return report.findings().stream()
        .filter(finding -> finding.where().endsWith("breadcrumbs.json"))
        .filter(finding -> finding.severity() != Finding.Severity.INFO)
        .map(Finding::text)
        .toList();
  }

  private static List<Integer> range(int from, int to) {
    return IntStream.range(from, to).boxed().toList();
  }

  private byte[] bytes() throws IOException {
    return Files.readAllBytes(file);
  }

  private void patch(int offset, long value, int size) throws IOException {
    byte[] bytes = bytes();
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    if (size == Integer.BYTES) {
      buffer.putInt(offset, (int) value);
    } else {
      buffer.putLong(offset, value);
    }
    Files.write(file, bytes);
  }

  /** {@return where element {@code index} begins in a queue that has not wrapped} */
  private static int offset(int index) {
    return 32 + IntStream.range(0, index).map(i -> 4 + element(i).length).sum();
  }

  // What the writer does

  @Test
  void oneElementIsReadAfterItIsAddedAndClosed() throws IOException {
    add(0, 1);

    assertThat(read()).containsExactly(0);
    assertThat(findings()).isEmpty();
    assertThat(report.trail().get(0).at()).isEqualTo(FIRST);
  }

  @Test
  void elementsAreReadInTheOrderTheyWereAdded() throws IOException {
    add(0, 10);

    assertThat(read()).isEqualTo(range(0, 10));
    assertThat(findings()).isEmpty();
  }

  @Test
  void aClearedQueueIsEmptyAndHoldsNoneOfItsBytes() throws IOException {
    add(0, 3);
    try (QueueFile queue = open()) {
      queue.clear();
    }

    assertThat(read()).isEmpty();
    assertThat(findings()).isEmpty();
    assertThat(new String(bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("m1");
  }

  @Test
  void whatIsAddedAfterAClearIsReadAlone() throws IOException {
    add(0, 3);
    try (QueueFile queue = open()) {
      queue.clear();
    }
    add(7, 9);

    assertThat(read()).containsExactly(7, 8);
    assertThat(findings()).isEmpty();
  }

  @Test
  void whatIsRemovedIsGoneAndTheNextIsIntact() throws IOException {
    add(0, 3);
    remove(1);

    assertThat(read()).containsExactly(1, 2);
    assertThat(findings()).isEmpty();
  }

  @Test
  void removingAllLeavesNoneAndNoneOfTheBytes() throws IOException {
    add(0, 60);
    remove(60);

    assertThat(read()).isEmpty();
    assertThat(findings()).isEmpty();
    assertThat(new String(bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("message");
  }

  @Test
  void oneThreeAndSixOfTenAreRemovedAcrossOpens() throws IOException {
    add(0, 10);
    remove(1);
    assertThat(read()).isEqualTo(range(1, 10));
    remove(3);
    assertThat(read()).isEqualTo(range(4, 10));
    remove(6);
    assertThat(read()).isEmpty();
    assertThat(findings()).isEmpty();
  }

  @Test
  void removingNoneLeavesAll() throws IOException {
    add(0, 2);
    remove(0);

    assertThat(read()).containsExactly(0, 1);
  }

  @Test
  void aLargeElementThatIsRemovedLeavesNothing() throws IOException {
    try (QueueFile queue = open()) {
      queue.add(element(0, "x".repeat(7_000)));
      queue.add(element(1));
      queue.remove();
    }

    assertThat(read()).containsExactly(1);
    assertThat(findings()).isEmpty();
    assertThat(new String(bytes(), StandardCharsets.ISO_8859_1)).doesNotContain("xxx");
  }

  @Test
  void elementsOfEverySizeStayInOrderOverManyRounds() throws IOException {
    try (QueueFile queue = open()) {
      int number = 0;
      for (int round = 0; round < 5; round++) {
        for (int size = 0; size < 254; size++) {
          queue.add(element(number++, "x".repeat(size)));
          if (queue.size() > 15) {
            queue.remove();
          }
        }
      }
    }

    assertThat(read()).isEqualTo(range(5 * 254 - 15, 5 * 254));
    assertThat(findings()).isEmpty();
  }

  @Test
  void aBoundOfTwoKeepsTheLastTwo() throws IOException {
    try (QueueFile queue = builder().zero(true).size(2).build()) {
      for (int i = 0; i < 5; i++) {
        queue.add(element(i));
      }
    }

    assertThat(read()).containsExactly(3, 4);
  }

  @Test
  void withoutZeroingWhatWasRemovedIsNotRead() throws IOException {
    try (QueueFile queue = builder().zero(false).build()) {
      for (int i = 0; i < 10; i++) {
        queue.add(element(i));
      }
      queue.remove(4);
    }

    assertThat(read()).isEqualTo(range(4, 10));
    assertThat(findings()).isEmpty();
  }

  @Test
  void aRingWhoseElementsAreSplitAtItsEndIsReadWhereverTheSplitIs() throws IOException {
    // Sizes such that the end of the ring falls on every byte of an element and of its header.
    for (int size = 0; size < 120; size++) {
      Files.deleteIfExists(file);
      try (QueueFile queue = open()) {
        queue.add(element(0, "x".repeat(1_000 + size)));
        int number = 1;
        while (number < 40) {
          queue.add(element(number++));
          if (number > 15) {
            queue.remove();
          }
        }
      }
      assertThat(Files.size(file)).isEqualTo(4096);
      assertThat(read()).isEqualTo(range(25, 40));
      assertThat(findings()).isEmpty();
    }
  }

  /** Tape's issue 42: data was lost when a full ring grew that did not begin at its first byte. */
  @Test
  void aRingThatGrewAfterItWrappedHasAllElements() throws IOException {
    add(0, 40);
    remove(20);
    add(40, 200);

    assertThat(read()).isEqualTo(range(20, 200));
    assertThat(findings()).isEmpty();
  }

  // Death between two writes

  @Test
  void anElementThatWasWrittenAndNotCommittedIsKept() throws IOException {
    add(0, 3);
    byte[] before = Arrays.copyOf(bytes(), 32);
    add(3, 4);
    byte[] after = bytes();
    System.arraycopy(before, 0, after, 0, 32);
    Files.write(file, after);

    assertThat(read()).isEqualTo(range(0, 4));
    assertThat(findings()).isEmpty();
  }

  @Test
  void anElementThatIsHalfWrittenAndNotCommittedLeavesTheOthers() throws IOException {
    add(0, 3);
    byte[] before = bytes();
    add(3, 4);
    byte[] half = Arrays.copyOf(bytes(), before.length);
    System.arraycopy(before, 0, half, 0, 32);
    Arrays.fill(half, offset(3) + 20, half.length, (byte) 0);
    Files.write(file, half);

    assertThat(read()).isEqualTo(range(0, 3));
    assertThat(findings()).isEmpty();
  }

  @Test
  void aRemoveThatIsCommittedAndNotYetZeroedShowsNothingOfIt() throws IOException {
    add(0, 5);
    byte[] before = bytes();
    remove(2);
    System.arraycopy(bytes(), 0, before, 0, 32);
    Files.write(file, before);

    assertThat(read()).isEqualTo(range(2, 5));
    assertThat(findings()).isEmpty();
  }

  /** The new last element ends right where the one begins that is removed, and not yet zeroed. */
  private byte[] fullRingWithRemoved() throws IOException {
    try (QueueFile queue = open()) {
      int room = 4096 - 32;
      int number = 0;
      while (room >= 2 * (4 + element(100).length)) {
        byte[] element = element(100 + number++);
        queue.add(element);
        room -= 4 + element.length;
      }
      int fill = room - 4 - element(999).length;
      queue.add(element(999, "x".repeat(fill)));
    }
    byte[] before = bytes();
    assertThat(before).hasSize(4096);
    remove(1);
    System.arraycopy(bytes(), 0, before, 0, 32);
    return before;
  }

  @Test
  void aFullRingWhoseOldestIsRemovedAndNotZeroedDoesNotShowItAsNewest() throws IOException {
    Files.write(file, fullRingWithRemoved());

    assertThat(read()).startsWith(101).endsWith(999).doesNotContain(100);
    assertThat(findings()).isEmpty();
  }

  @Test
  void whatIsRemovedAndNotZeroedDoesNotStandInForADamagedElement() throws IOException {
    byte[] bytes = fullRingWithRemoved();
    int third = 32 + 2 * (4 + element(100).length);
    Arrays.fill(bytes, third, third + 30, (byte) 0xff);
    Files.write(file, bytes);

    assertThat(read()).startsWith(101, 103).endsWith(999).doesNotContain(102).isSorted();
  }

  @Test
  void whatOnlyAWrongCountIncludesIsTakenOnlyIfItIsSound() throws IOException {
    add(0, 3);
    byte[] before = Arrays.copyOf(bytes(), 32);
    add(3, 4);
    byte[] after = bytes();
    System.arraycopy(before, 0, after, 0, 32);
    Files.write(file, after);
    patch(12, 5, Integer.BYTES);
    patch(offset(3), element(3).length + 1, Integer.BYTES);

    assertThat(read()).isEqualTo(range(0, 3));
    assertThat(findings()).singleElement().asString().contains("count=5");
  }

  @Test
  void aRingThatIsAboutToGrowIsReadAsItWas() throws IOException {
    add(0, 30);
    byte[] before = bytes();
    assertThat(before).hasSize(4096);
    Files.write(file, Arrays.copyOf(before, 8192));

    assertThat(read()).isEqualTo(range(0, 30));
    assertThat(findings()).isEmpty();
  }

  // Damage: the header

  @Test
  void anEmptyFileHasNoElementsAndIsNoDamage() throws IOException {
    Files.createFile(file);

    assertThat(read()).isEmpty();
    assertThat(findings()).isEmpty();
    assertThat(report.findings()).extracting(Finding::text).anyMatch(t -> t.contains("empty"));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4, 15, 16, 31})
  void aFileThatIsShorterThanItsHeaderIsAFinding(int size) throws IOException {
    add(0, 2);
    Files.write(file, Arrays.copyOf(bytes(), size));

    assertThat(read()).isEmpty();
    assertThat(findings())
        .singleElement()
        .asString()
        .contains("shorter than its header: size=" + size);
  }

  /** Tape's issue 43: doubling a length of zero never ended. */
  @ParameterizedTest
  @ValueSource(ints = {16, 32, 4096, 100_000})
  void aFileOfZerosIsAFindingAndEnds(int size) throws IOException {
    Files.write(file, new byte[size]);

    assertThat(read()).isEmpty();
    assertThat(findings()).singleElement().asString().contains("header is damaged: all zeros");
  }

  @Test
  void elementsAreFoundWhereOnlyTheHeaderIsZero() throws IOException {
    add(0, 5);
    byte[] bytes = bytes();
    Arrays.fill(bytes, 0, 32, (byte) 0);
    Files.write(file, bytes);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).singleElement().asString().contains("elements found by a search=5");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 0, 1, 31, 32, Long.MIN_VALUE, Long.MAX_VALUE})
  void aLengthInTheHeaderThatCannotBeIsAFindingAndTheElementsAreFound(long length)
      throws IOException {
    add(0, 5);
    patch(4, length, Long.BYTES);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).isNotEmpty();
  }

  /** The SDK reads on whatever the magic is. */
  @ParameterizedTest
  @ValueSource(ints = {0x80000002, 0, 0x1234, -1, 0x7fffffff})
  void anUnknownMagicIsAFindingAndTheElementsAreRead(int magic) throws IOException {
    add(0, 5);
    patch(0, magic, Integer.BYTES);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).singleElement().asString().contains("magic is unknown");
  }

  /** The SDK throws NoSuchElementException out of its reader. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 4, 6, 1000})
  void aWrongCountIsAFindingAndAllElementsAreRead(int count) throws IOException {
    add(0, 5);
    patch(12, count, Integer.BYTES);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).singleElement().asString().contains("count=" + count + ", last=");
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, Integer.MIN_VALUE, Integer.MAX_VALUE})
  void aCountThatCannotBeIsAFindingAndAllElementsAreRead(int count) throws IOException {
    add(0, 5);
    patch(12, count, Integer.BYTES);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 33, 100, 4095, 4096, -5, Long.MAX_VALUE})
  void aWrongFirstPositionIsAFindingAndAllElementsAreRead(long first) throws IOException {
    add(0, 5);
    patch(16, first, Long.BYTES);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 33, 100, 4095, 4096, -5, Long.MAX_VALUE})
  void aWrongLastPositionIsAFindingAndAllElementsAreRead(long last) throws IOException {
    add(0, 5);
    patch(24, last, Long.BYTES);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).isNotEmpty();
  }

  // Damage: the elements

  /**
   * The SDK throws NegativeArraySizeException, resets the file or returns nulls; Tape and others
   * allocated gigabytes.
   */
  @ParameterizedTest
  @ValueSource(ints = {-5, 0, 1, 50, 5_000, 0x7fffffff, Integer.MIN_VALUE, 0x20000000})
  void aWrongElementLengthIsAFindingAndCostsNoElement(int length) throws IOException {
    for (int damaged = 0; damaged < 5; damaged++) {
      Files.deleteIfExists(file);
      add(0, 5);
      patch(offset(damaged), length, Integer.BYTES);

      assertThat(read()).isEqualTo(range(0, 5));
      assertThat(findings())
          .singleElement()
          .asString()
          .contains("element length is wrong", "offset=" + offset(damaged) + ", length=" + length);
    }
  }

  @Test
  void aDamagedElementCostsItselfAlone() throws IOException {
    for (int damaged = 0; damaged < 5; damaged++) {
      Files.deleteIfExists(file);
      add(0, 5);
      byte[] bytes = bytes();
      Arrays.fill(bytes, offset(damaged), offset(damaged) + 30, (byte) 0xff);
      Files.write(file, bytes);

      List<Integer> expected = new ArrayList<>(range(0, 5));
      expected.remove(damaged);
      assertThat(read()).isEqualTo(expected);
      assertThat(findings()).isNotEmpty();
    }
  }

  @Test
  void whatIsBeforeTheDamageInAnElementIsKept() throws IOException {
    add(0, 5);
    byte[] bytes = bytes();
    bytes[offset(2) + 4 + element(2).length - 10] = 0;
    Files.write(file, bytes);

    assertThat(read()).isEqualTo(range(0, 5));
    assertThat(findings()).singleElement().asString().contains("offset=" + offset(2), "is kept");
  }

  /** Tape's corrupt sample: a second header lies where an element should, with an absurd length. */
  @Test
  void aHeaderAmongTheElementsIsPassedOver() throws IOException {
    add(0, 5);
    byte[] bytes = Arrays.copyOf(bytes(), 4100);
    System.arraycopy(bytes, 0, bytes, offset(2), 32);
    Files.write(file, bytes);

    assertThat(read()).containsExactly(0, 1, 3, 4);
    assertThat(findings()).isNotEmpty();
  }

  @Test
  void aTruncatedFileHasTheElementsBeforeTheCut() throws IOException {
    add(0, 5);
    byte[] whole = bytes();
    for (int size = 32; size < offset(5); size++) {
      Files.write(file, Arrays.copyOf(whole, size));

      List<Integer> found = read();
      for (int i = 0; i < 5; i++) {
        if (offset(i + 1) <= size) {
          assertThat(found).as("size %d", size).contains(i);
        }
      }
      assertThat(findings()).anyMatch(text -> text.contains("file is truncated"));
    }
  }

  @Test
  void anElementThatTheEndOfTheFileCutsIsKeptAsFarAsItGoes() throws IOException {
    add(0, 40);
    remove(20);
    add(40, 55);
    byte[] whole = bytes();
    int first = ByteBuffer.wrap(whole).getInt(20);
    // The first element of the ring, whose text is complete and whose data is not.
    Files.write(file, Arrays.copyOf(whole, first + 4 + element(20).length - 15));

    assertThat(read()).contains(20);
    assertThat(findings())
        .anyMatch(text -> text.contains("cut by the end of the file: offset=" + first));
    assertThat(report.trail()).noneMatch(crumb -> crumb.message() == null);
  }

  @Test
  void aTruncatedRingThatHadWrappedHasTheElementsOnBothSides() throws IOException {
    add(0, 40);
    remove(20);
    add(40, 55);
    byte[] whole = bytes();
    assertThat(whole).hasSize(4096);
    assertThat(read()).isEqualTo(range(20, 55));

    Files.write(file, Arrays.copyOf(whole, 4_000));

    List<Integer> found = read();
    assertThat(found).contains(20, 30, 50, 54).hasSizeGreaterThanOrEqualTo(33).isSorted();
  }

  /** Power loss: the page with the header reached the disk, that with the elements did not. */
  @Test
  void aCommittedHeaderOverZerosOrGarbageIsAFindingAndEnds() throws IOException {
    for (int filler : new int[] {0, 0xff, '{', '"', 'x'}) {
      Files.deleteIfExists(file);
      add(0, 20);
      byte[] bytes = bytes();
      Arrays.fill(bytes, offset(5), bytes.length, (byte) filler);
      Files.write(file, bytes);

      assertThat(read()).as("filler %d", filler).isEqualTo(range(0, 5));
      assertThat(findings()).isNotEmpty();
    }
  }

  /** Two observers on one directory: the SDK then reads nothing at all. */
  @Test
  void aQueueOfTwoWritersIsReadAsFarAsItGoes() throws IOException {
    try (QueueFile one = open();
        QueueFile other = open()) {
      for (int i = 0; i < 40; i++) {
        one.add(element(2 * i, "y".repeat(i)));
        other.add(element(2 * i + 1));
      }
    }

    assertThat(read()).isNotEmpty();
  }

  @Test
  void elementsThatAreNoJsonAreFindings() throws IOException {
    try (QueueFile queue = open()) {
      queue.add(element(0));
      queue.add(new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
      queue.add("[1,2]".getBytes(StandardCharsets.UTF_8));
      queue.add(element(3));
    }

    assertThat(read()).containsExactly(0, 3);
    assertThat(findings()).hasSizeBetween(1, 2);
  }

  /** A ring that never shrinks, as after a smaller maxBreadcrumbs. */
  @Test
  void aRingFarLargerThanTheBoundIsReadWhole() throws IOException {
    add(0, 5_000);

    assertThat(read()).isEqualTo(range(0, 5_000));
    assertThat(findings()).isEmpty();
  }

  @Test
  void aSearchThatWouldTakeTooLongIsGivenUp() throws IOException {
    // Each byte may begin an element: a length that fits, and an object that reads to the end.
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(new byte[32]);
    String rest = "{\"a\":[" + "1,".repeat(20_000) + "1]x}";
    for (int i = 0; i < 200; i++) {
      int length = 200 * 10 - i * 10 + rest.length();
      out.write(ByteBuffer.allocate(4).putInt(length - 4).array());
      out.write("{\"a\":\"".getBytes(StandardCharsets.UTF_8));
    }
    out.write(rest.getBytes(StandardCharsets.UTF_8));
    Files.write(file, out.toByteArray());

    assertThat(read()).isEmpty();
    assertThat(findings()).isNotEmpty();
  }

  // Other forms

  /** {@return a queue with the header of Tape 1: four fields of four bytes} */
  private static byte[] legacy(int length, int first, int count) {
    ByteBuffer ring = ByteBuffer.allocate(length);
    int at = first;
    int last = first;
    for (int i = 0; i < count; i++) {
      last = at;
      ByteBuffer element = ByteBuffer.allocate(4 + element(i).length);
      element.putInt(element(i).length).put(element(i));
      for (byte b : element.array()) {
        ring.put(at, b);
        at = at + 1 < length ? at + 1 : 16;
      }
    }
    return ring.putInt(0, length).putInt(4, count).putInt(8, first).putInt(12, last).array();
  }

  @Test
  void theLegacyHeaderIsReadWhereverTheRingIsSplit() throws IOException {
    for (int first = 16; first < 4096; first += 7) {
      Files.write(file, legacy(4096, first, 20));

      assertThat(read()).as("first %d", first).isEqualTo(range(0, 20));
      assertThat(findings()).isEmpty();
    }
  }

  @Test
  void anEmptyLegacyQueueIsEmpty() throws IOException {
    byte[] empty = new byte[4096];
    ByteBuffer.wrap(empty).putInt(4096);
    Files.write(file, empty);

    assertThat(read()).isEmpty();
    assertThat(findings()).isEmpty();
  }

  @Test
  void aTruncatedLegacyQueueHasTheElementsBeforeTheCut() throws IOException {
    Files.write(file, Arrays.copyOf(legacy(4096, 16, 20), 1_000));

    assertThat(read()).startsWith(0, 1, 2, 3, 4, 5, 6, 7);
    assertThat(findings()).anyMatch(text -> text.contains("file is truncated"));
  }

  /** Before the queue file the SDK wrote an array; since then it takes one for corrupt. */
  @Test
  void aTrailThatIsAJsonArrayIsRead() throws IOException {
    String list =
        "["
            + new String(element(0), StandardCharsets.UTF_8)
            + ","
            + new String(element(1), StandardCharsets.UTF_8)
            + "]";
    Files.writeString(file, list);
    assertThat(read()).containsExactly(0, 1);
    assertThat(findings()).isEmpty();

    Files.writeString(file, list.substring(0, list.length() - 5));
    assertThat(read()).containsExactly(0, 1);
    assertThat(findings()).singleElement().asString().contains("list is damaged");
  }

  @Test
  void theFileIsTheSameAfterwards() throws IOException {
    add(0, 5);
    patch(12, 1000, Integer.BYTES);
    byte[] before = bytes();
    File asFile = file.toFile();
    long changed = asFile.lastModified();

    read();

    assertThat(bytes()).isEqualTo(before);
    assertThat(asFile.lastModified()).isEqualTo(changed);
  }
}
