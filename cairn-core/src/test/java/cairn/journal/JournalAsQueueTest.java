package cairn.journal;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.Durability;
import cairn.format.JournalLayout;
import cairn.storage.ModelDisk;
import cairn.storage.ModelDisk.Fault;
import cairn.storage.ModelDisk.Operation;
import cairn.storage.Promises;
import cairn.storage.SegmentName;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A journal and one consumer used as a queue file is: what the test suites of such files check,
 * said in the journal's terms. To add is to append, to peek is to take the next, to remove is to
 * acknowledge.
 */
class JournalAsQueueTest {
  private static final Duration NOW = Duration.ZERO;

  private ModelDisk disk = new ModelDisk();
  private Journal journal;
  private JournalConsumer consumer;

  @BeforeEach
  void openQueue() throws IOException {
    Journal.Builder builder =
        Journal.builder(Path.of("model"))
            .durability(Durability.power())
            .segmentBytes(16 * 1024)
            .stagingBytes(32 * 1024)
            .deleteAcknowledged();
    builder.manual = true;
    journal = builder.open(disk, new ModelStaging(disk), null);
    consumer = openConsumer();
  }

  @AfterEach
  void closeQueue() throws IOException {
    consumer.close();
    journal.close();
  }

  private void reopen() throws IOException {
    closeQueue();
    openQueue();
  }

  /** Another process, after this one died. */
  private void dieAndReopen() throws IOException {
    disk = disk.afterProcessDeath();
    openQueue();
  }

  private JournalConsumer openConsumer() throws IOException {
    return new JournalConsumer(disk, "queue", () -> true, null);
  }

  private static byte[] element(int size) {
    return Promises.payload(size, size);
  }

  private void add(int... sizes) {
    for (int size : sizes) {
      journal.append(element(size));
    }
  }

  /** The sizes of what is not acknowledged, each element checked byte for byte. */
  private List<Integer> waiting() throws IOException {
    List<Integer> sizes = new ArrayList<>();
    try (JournalConsumer reader = openConsumer()) {
      for (Entry entry; (entry = reader.next(NOW)) != null; ) {
        assertThat(entry.bytes()).isEqualTo(element(entry.bytes().length));
        sizes.add(entry.bytes().length);
      }
    }
    return sizes;
  }

  private void remove(int count) throws IOException {
    long last = 0;
    for (int i = 0; i < count; i++) {
      Entry entry = consumer.next(NOW);
      assertThat(entry).isNotNull();
      last = entry.sequence();
    }
    consumer.acknowledge(last);
  }

  @Test
  void oneElementIsThereAfterReopening() throws IOException {
    add(253);
    reopen();
    assertThat(waiting()).containsExactly(253);
    assertThat(consumer.next(NOW).bytes()).isEqualTo(element(253));
  }

  @Test
  void everythingAcknowledgedAndMoreAddedWorksAfterReopening() throws IOException {
    add(10, 20, 30);
    remove(3);
    assertThat(waiting()).isEmpty();
    add(25);
    reopen();
    assertThat(waiting()).containsExactly(25);
  }

  @Test
  void acknowledgedSegmentsAreRemovedAndTheNextElementIsIntact() throws IOException {
    add(7000, 7000, 7000, 42);
    assertThat(JournalModel.segments(disk)).isEqualTo(3);
    remove(1);
    reopen();
    assertThat(disk.list()).doesNotContain(SegmentName.of(1));
    assertThat(waiting()).containsExactly(7000, 7000, 42);
    remove(1);
    reopen();
    assertThat(disk.list()).doesNotContain(SegmentName.of(1), SegmentName.of(2));
    assertThat(waiting()).containsExactly(7000, 42);
    remove(1);
    reopen();
    assertThat(waiting()).containsExactly(42);
  }

  @Test
  void zeroTooSmallAndNegativeLengthsInAHeaderCostThatElementOnly() throws IOException {
    for (int length : new int[] {0, 3, 31, -1, Integer.MIN_VALUE}) {
      disk = new ModelDisk();
      openQueue();
      add(10, 20, 30);
      byte[] bytes = disk.bytes(SegmentName.of(1));
      ByteBuffer.wrap(bytes)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt(JournalLayout.FRAMES_OFFSET + 64 + JournalLayout.LENGTH_OFFSET, length);
      closeQueue();
      disk.put(SegmentName.of(1), bytes);
      openQueue();
      // Until the writer begins its own segment, a reader can't tell damage from what is coming.
      add(40);
      assertThat(waiting()).as("length=%s", length).containsExactly(10, 30, 40);
    }
  }

  @Test
  void oneThenThreeThenSixOfTenAreRemovedAcrossReopening() throws IOException {
    add(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    remove(1);
    assertThat(waiting()).startsWith(2).hasSize(9);
    reopen();
    remove(3);
    assertThat(waiting()).startsWith(5).hasSize(6);
    reopen();
    remove(6);
    assertThat(waiting()).isEmpty();
    reopen();
    assertThat(waiting()).isEmpty();
    assertThat(journal.append(element(11))).isEqualTo(11);
  }

  @Test
  void whatWasNotHandedOverCannotBeAcknowledgedAndZeroIsNothing() throws IOException {
    assertThatThrownBy(() -> consumer.acknowledge(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not handed over");
    add(1, 2);
    consumer.acknowledge(0);
    consumer.acknowledge(-1);
    assertThat(consumer.acknowledged()).isZero();
    remove(1);
    assertThatThrownBy(() -> consumer.acknowledge(2)).isInstanceOf(IllegalArgumentException.class);
    consumer.acknowledge(0);
    assertThat(consumer.acknowledged()).isEqualTo(1);
    assertThat(waiting()).containsExactly(2);
  }

  @Test
  void fiveRoundsOfAllSizesLeaveTheLastFifteenInOrder() throws IOException {
    List<Integer> expected = new ArrayList<>();
    for (int round = 0; round < 5; round++) {
      for (int size = 0; size < 254; size++) {
        add(size);
        expected.add(size);
      }
      remove(round == 4 ? 239 : 254);
      expected.subList(0, round == 4 ? 239 : 254).clear();
      reopen();
    }
    assertThat(waiting()).isEqualTo(expected).hasSize(15);
  }

  @Test
  void addThatFailsLeavesWhatWasThereAndALaterOneWorks() throws IOException {
    EnumSet<Operation> changing = EnumSet.allOf(Operation.class);
    changing.removeIf(operation -> !operation.changes());
    for (int nth = 1; nth < 30; nth++) {
      disk = new ModelDisk();
      openQueue();
      add(200);
      // Longer than a segment has room for: a new one is part of it.
      disk.failFrom(Fault.IO_ERROR, changing, nth);
      int failed = 0;
      for (int size = 6000; size < 6006; size++) {
        try {
          add(size);
        } catch (UncheckedIOException e) {
          failed++;
          break;
        }
      }
      assertThat(failed).isEqualTo(1);
      disk.heal();
      int refused = waitingInAll().get(waitingInAll().size() - 1);
      dieAndReopen();
      add(17);
      assertThat(waiting()).startsWith(200).endsWith(refused, 17);
    }
  }

  /** What any reader finds, the staging file included. */
  private List<Integer> waitingInAll() {
    return JournalModel.read(disk).stream().map(found -> found.bytes().length).toList();
  }

  @Test
  void acknowledgeThatFailsLeavesTheOldPositionAndALaterOneWorks() throws IOException {
    for (Fault fault : List.of(Fault.IO_ERROR, Fault.FORCE_DROPS, Fault.SHORT_WRITE)) {
      disk = new ModelDisk();
      openQueue();
      add(1, 2, 3);
      remove(1);
      consumer.next(NOW);
      disk.fail(fault, EnumSet.of(Operation.WRITE_FORCED), 1);
      assertThatThrownBy(() -> consumer.acknowledge(2)).isInstanceOf(IOException.class);
      assertThat(consumer.acknowledged()).isEqualTo(1);
      assertThat(JournalReader.consumers(disk.afterProcessDeath()).get("queue")).isIn(1L, 2L);
      consumer.acknowledge(2);
      assertThat(consumer.acknowledged()).isEqualTo(2);
      dieAndReopen();
      assertThat(waiting()).containsExactly(3);
    }
  }

  @Test
  void elementThatDoesNotFitIntoTheSegmentIsWholeInTheNext() throws IOException {
    for (int size = 3900; size < 4000; size += 9) {
      disk = new ModelDisk();
      openQueue();
      add(size, size, size, 100, 101);
      reopen();
      assertThat(waiting()).containsExactly(size, size, size, 100, 101);
    }
  }

  @Test
  void iterationGivesAllInOrderAndThenNothing() throws IOException {
    for (int size = 0; size < 10; size++) {
      add(size);
    }
    for (int size = 0; size < 10; size++) {
      assertThat(consumer.next(NOW).bytes()).hasSize(size);
    }
    assertThat(consumer.next(NOW)).isNull();
    add(10);
    assertThat(consumer.next(NOW).bytes()).hasSize(10);
    assertThat(consumer.next(NOW)).isNull();
  }

  @Test
  void appendsAndAcknowledgementsDuringAReplayDisturbNothing() throws IOException {
    add(1, 2, 3);
    List<Integer> seen = new ArrayList<>();
    journal.replay(
        entry -> {
          seen.add(entry.bytes().length);
          if (seen.size() == 1) {
            add(4);
            remove(2);
          }
        });
    assertThat(seen).startsWith(1, 2, 3);
    assertThat(waiting()).containsExactly(3, 4);
  }

  @Test
  void exceptionOfTheHandlerEndsTheReplayAndComesThrough() {
    add(1, 2, 3);
    List<Integer> seen = new ArrayList<>();
    IOException own = new IOException("mine");
    assertThatThrownBy(
            () ->
                journal.replay(
                    entry -> {
                      seen.add(entry.bytes().length);
                      if (seen.size() == 2) {
                        throw own;
                      }
                    }))
        .isSameAs(own);
    assertThat(seen).containsExactly(1, 2);
  }

  @Test
  void lastTwoAreTheLastTwo() throws IOException {
    JournalReader reader = new JournalReader(disk, () -> true);
    assertThat(reader.last(2)).isEmpty();
    add(1, 2, 3, 4, 5);
    assertThat(reader.last(2)).extracting(Entry::sequence).containsExactly(4L, 5L);
    assertThat(reader.last(9)).hasSize(5);
    assertThat(reader.last(0)).isEmpty();
  }

  /** A queue's header and an absurd length inside an element: taken for the file's own once. */
  @Test
  void elementsThatQuoteHeadersAreElements() throws IOException {
    add(10);
    byte[] file = disk.bytes(SegmentName.of(1));
    byte[] quoted = Arrays.copyOfRange(file, JournalLayout.FRAMES_OFFSET - 512, 4500);
    ByteBuffer.wrap(quoted).order(ByteOrder.LITTLE_ENDIAN).putInt(512 + 8, Integer.MAX_VALUE);
    byte[] header = Arrays.copyOf(file, JournalLayout.HEADER_SIZE);
    journal.append(quoted);
    journal.append(header);
    String text = "\u0000\u0000\u0000\u0001 {\"a\":\"\\u0000\"} ";
    journal.append(text.getBytes(UTF_8));
    reopen();

    assertThat(consumer.next(NOW).bytes()).isEqualTo(element(10));
    assertThat(consumer.next(NOW).bytes()).isEqualTo(quoted);
    assertThat(consumer.next(NOW).bytes()).isEqualTo(header);
    assertThat(new String(consumer.next(NOW).bytes(), UTF_8)).isEqualTo(text);
    assertThat(consumer.next(NOW)).isNull();
    consumer.acknowledge(3);
    add(11);
    assertThat(consumer.next(NOW).bytes()).isEqualTo(element(11));
  }
}
