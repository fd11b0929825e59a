package cairn.storage;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.FrameSeal;
import cairn.format.JournalLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Damaged segments: each bad byte costs the record it is in, and is said. */
class SegmentScanTest {
  private static final int SEGMENT = 16 * 1024;
  private static final String NAME = SegmentName.of(1);
  private static final int FIRST = JournalLayout.FRAMES_OFFSET;

  private final List<String> problems = new ArrayList<>();

  private static ModelDisk written(int segmentBytes, byte[]... records) {
    ModelDisk disk = new ModelDisk();
    SegmentLog log =
        new SegmentLog(
            disk, JournalLayout.KIND_JOURNAL, List.of(), 0, segmentBytes, segmentBytes, () -> 1);
    try {
      long sequence = 0;
      for (byte[] record : records) {
        log.add(++sequence, 1, JournalLayout.TYPE_BYTES, 0, record, 0, record.length, true);
      }
      log.commit(true);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return disk;
  }

  private static ModelDisk of(String... records) {
    return written(
        SEGMENT, Arrays.stream(records).map(text -> text.getBytes(UTF_8)).toArray(byte[][]::new));
  }

  private List<String> read(ModelDisk disk) {
    problems.clear();
    List<String> found = new ArrayList<>();
    try (SegmentScan scan =
        SegmentScan.open(
            disk, NAME, true, (file, offset, text) -> problems.add(offset + ": " + text))) {
      while (scan.next()) {
        found.add(scan.sequence() + "=" + new String(scan.payload(), UTF_8));
      }
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return found;
  }

  private static ModelDisk withBytes(byte[] bytes) {
    return new ModelDisk().put(NAME, bytes);
  }

  @Test
  void eachDamagedByteCostsAtMostTheRecordItIsIn() {
    byte[] sound = of("one", "two", "three").bytes(NAME);
    List<String> all = List.of("1=one", "2=two", "3=three");
    int end = FIRST + 3 * 64;
    for (int at = 0; at < sound.length; at++) {
      if (at == JournalLayout.HEADER_SIZE) {
        at = FIRST;
      }
      if (at == end) {
        at = SEGMENT - JournalLayout.HEADER_SIZE;
      }
      for (int bit : new int[] {0, 3, 7}) {
        byte[] damaged = sound.clone();
        damaged[at] ^= (byte) (1 << bit);
        List<String> found = read(withBytes(damaged));
        boolean padding = at >= FIRST && at < end && found.equals(all);
        if (at < FIRST || at >= end) {
          assertThat(found).as("at=%s", at).isEqualTo(all);
        } else if (!padding) {
          List<String> expected = new ArrayList<>(all);
          expected.remove((at - FIRST) / 64);
          assertThat(found).as("at=%s", at).isEqualTo(expected);
        }
        if (!padding) {
          assertThat(problems).as("at=%s", at).hasSize(1);
        }
      }
    }
  }

  @Test
  void everyLengthOfTheFileIsReadAsFarAsItGoes() {
    byte[] sound = of("one", "two", "three").bytes(NAME);
    for (int length = 0; length < sound.length; length += length < FIRST + 300 ? 1 : 97) {
      List<String> found = read(withBytes(Arrays.copyOf(sound, length)));
      int whole = length < JournalLayout.HEADER_SIZE ? 0 : Math.max(0, length - FIRST + 29) / 64;
      assertThat(found.size()).as("length=%s", length).isBetween(Math.min(3, whole) - 1, whole);
      assertThat(problems).as("length=%s", length).isNotEmpty();
    }
  }

  @Test
  void sectorsThatAreLostSwappedOrDoubledShowNothingThatWasNotWritten() {
    String[] records = new String[12];
    for (int i = 0; i < records.length; i++) {
      records[i] = ("record " + i + " ").repeat(30 + i);
    }
    byte[] sound = of(records).bytes(NAME);
    List<String> all = read(withBytes(sound));
    assertThat(all).hasSize(12);
    int sectors = sound.length / 512;
    for (int to = 0; to < sectors; to++) {
      for (int from = -1; from < sectors; from++) {
        byte[] damaged = sound.clone();
        if (from < 0) {
          Arrays.fill(damaged, to * 512, to * 512 + 512, (byte) 0);
        } else {
          System.arraycopy(sound, from * 512, damaged, to * 512, 512);
        }
        assertThat(all).as("%s to %s", from, to).containsAll(read(withBytes(damaged)));
      }
    }
  }

  @Test
  void aRecordAtAnotherPlaceProvesNothing() {
    byte[] sound = of("one", "two", "three", "four").bytes(NAME);
    for (int from = 0; from < 4; from++) {
      for (int to = 0; to < 5; to++) {
        byte[] moved = sound.clone();
        System.arraycopy(sound, FIRST + from * 64, moved, FIRST + to * 64, 64);
        List<String> expected = new ArrayList<>(List.of("1=one", "2=two", "3=three", "4=four"));
        if (to != from && to < 4) {
          expected.remove(to);
        }
        assertThat(read(withBytes(moved))).as("%s to %s", from, to).isEqualTo(expected);
      }
    }
  }

  @Test
  void aSegmentOfAnotherJournalIsNotTakenForThisOnesContinuation() {
    byte[] one = of("one", "two").bytes(NAME);
    byte[] other = of("ONE", "TWO", "THREE").bytes(NAME);
    byte[] mixed = one.clone();
    System.arraycopy(other, FIRST + 128, mixed, FIRST + 128, 64);

    assertThat(read(withBytes(mixed))).containsExactly("1=one", "2=two");
    assertThat(problems).singleElement().asString().contains("checksum mismatch");
  }

  /**
   * Whoever can read the nonce can put a sound frame into a payload; it can't be an older number.
   */
  @Test
  void aFrameQuotedInADamagedRecordDoesNotBringAnEarlierNumberBack() throws IOException {
    ModelDisk disk = new ModelDisk();
    SegmentLog log =
        new SegmentLog(disk, JournalLayout.KIND_JOURNAL, List.of(), 0, SEGMENT, SEGMENT, () -> 1);
    byte[] one = "one".getBytes(UTF_8);
    log.add(1, 1, JournalLayout.TYPE_BYTES, 0, one, 0, one.length, true);
    log.add(2, 1, JournalLayout.TYPE_BYTES, 0, one, 0, one.length, true);
    log.commit(true);
    long nonce =
        ByteBuffer.wrap(disk.bytes(NAME))
            .order(ByteOrder.LITTLE_ENDIAN)
            .getLong(JournalLayout.NONCE_OFFSET);
    byte[] quoting = new byte[64];
    System.arraycopy("forged".getBytes(UTF_8), 0, quoting, 32, 6);
    int outer = FIRST + 2 * 64;
    new FrameSeal(nonce).seal(quoting, 0, outer + 32, 1, 38, 1, JournalLayout.TYPE_BYTES, 0);
    log.add(3, 1, JournalLayout.TYPE_BYTES, 0, quoting, 0, quoting.length, true);
    log.commit(true);
    byte[] bytes = disk.bytes(NAME);
    bytes[outer + JournalLayout.CRC_OFFSET] ^= 1;

    assertThat(read(withBytes(bytes))).containsExactly("1=one", "2=one");
    assertThat(problems).singleElement().asString().contains("checksum mismatch");
  }

  @Test
  void aDamagedRecordFullOfHeadersIsPassedOverInBoundedTime() {
    byte[] hostile = new byte[1 << 20];
    ByteBuffer words = ByteBuffer.wrap(hostile).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = 0; at + 32 <= hostile.length; at += 32) {
      words.putLong(at, 1000).putInt(at + 8, 2 << 20);
    }
    ModelDisk disk = written(4 << 20, hostile, "after".getBytes(UTF_8));
    byte[] bytes = disk.bytes(NAME);
    bytes[FIRST + 12] ^= 1;

    long start = System.nanoTime();
    List<String> found = read(withBytes(bytes));
    Duration took = Duration.ofNanos(System.nanoTime() - start);

    System.out.println("passed over 1 MiB of headers in " + took);
    assertThat(found).containsExactly("2=after");
    assertThat(took).isLessThan(Duration.ofSeconds(5));
  }
}
