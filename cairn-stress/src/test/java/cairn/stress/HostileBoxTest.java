package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.BoxLayout;
import cairn.format.CopyLayout;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.report.Report;
import cairn.report.ReportPart;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damage that carries a right checksum: what an enemy would write, or a bug. The report may say
 * anything, but must be there, small and soon.
 */
@Tag("slow")
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileBoxTest {
  private static final int ROUNDS = 400;
  private static final int LONGEST_MILLIS = 10_000;

  @TempDir static Path directory;

  private static RecordedRun recorded;
  private static long soundAllocates;

  private final long seed = System.nanoTime();
  private final Random random = new Random(seed);
  private Box box;
  private DamagedBox run;

  @BeforeAll
  static void recordARun() throws Exception {
    recorded = RecordedRun.record(21, Files.createDirectory(directory.resolve("a")));
    DamagedBox sound = new DamagedBox(recorded.box());
    render(sound.read());
    sound.takeMostAllocated();
    render(sound.read());
    soundAllocates = sound.takeMostAllocated();
  }

  @BeforeEach
  void copy() {
    System.out.println("seed=" + seed);
    box = new Box(recorded.box().clone());
    run = new DamagedBox(recorded.box());
  }

  @AfterEach
  void nothingTookLongOrMuch() {
    assertThat(run.longestMillis()).isLessThan(LONGEST_MILLIS);
    assertThat(run.takeMostAllocated()).isLessThan(2 * soundAllocates + 4L * recorded.box().length);
  }

  @Test
  void trailRecordsWithAnyPayloadAreRead() throws IOException {
    Box.Section trail = box.section(BoxLayout.TRAIL);
    int read = 0;
    for (int i = 0; i < ROUNDS; i++) {
      int at = trail.offset() + RecordLayout.ALIGNMENT * random.nextInt(trail.count());
      read += tryRecord(at, trail.offset() + trail.length()) ? 1 : 0;
    }
    assertThat(read).isPositive();
  }

  @Test
  void scopeRecordsWithAnyPayloadAreRead() throws IOException {
    Box.Section log = box.section(BoxLayout.SCOPE_LOG);
    int read = 0;
    for (int i = 0; i < 20 * ROUNDS && read < ROUNDS; i++) {
      int at = log.offset() + RecordLayout.ALIGNMENT * random.nextInt(log.length() / 32);
      read += tryRecord(at, log.offset() + log.length()) ? 1 : 0;
    }
    assertThat(read).isPositive();
  }

  @Test
  void recordsOfAnyLengthAreRefused() throws IOException {
    Box.Section trail = box.section(BoxLayout.TRAIL);
    int[] lengths = {-1, 0, 1, 31, 32, 1025, 65_535, 1 << 20, Integer.MAX_VALUE, Integer.MIN_VALUE};
    for (int slot = 0; slot < trail.count(); slot += 7) {
      int at = trail.offset() + slot * RecordLayout.ALIGNMENT;
      int length = lengths[slot % lengths.length];
      box.buffer.putInt(at + RecordLayout.LENGTH_OFFSET, length);
      run.write(at, Arrays.copyOfRange(box.bytes, at, at + 32));
      render(run.read());
    }
  }

  @Test
  void spanEntriesWithAnyPayloadAreRead() throws IOException {
    Box.Section spans = box.section(BoxLayout.SPANS);
    int read = 0;
    for (int i = 0; i < ROUNDS; i++) {
      int slot = spans.offset() + spans.unit() * random.nextInt(spans.count());
      long state = box.buffer.getLong(slot);
      int at = slot + SpanLayout.FIRST_ENTRY_OFFSET;
      int length = box.buffer.getInt(at);
      if (state == 0 || length <= 0 || length > spans.unit() - 16) {
        continue;
      }
      byte[] before = Arrays.copyOfRange(box.bytes, slot, slot + spans.unit());
      // The begin entry gets any payload; or an entry of any length follows it.
      boolean isBegin = random.nextBoolean();
      if (!isBegin) {
        at += 8 + (length + 7 & -8);
        length = random.nextInt(Math.max(1, slot + spans.unit() - at - 8));
      }
      if (at + 8 + length > slot + spans.unit()) {
        continue;
      }
      scramble(at + 8, length);
      box.buffer.putInt(at, length);
      box.buffer.putInt(at + 4, entryChecksum(spans, state, at, length));
      run.write(slot, Arrays.copyOfRange(box.bytes, slot, slot + spans.unit()));
      render(run.read());
      read++;
      System.arraycopy(before, 0, box.bytes, slot, before.length);
      run.mend(slot, spans.unit());
    }
    assertThat(read).isPositive();
  }

  @Test
  void copiesWithAnyPayloadAreRead() throws IOException {
    int[] tags = {
      BoxLayout.IDENTITY,
      BoxLayout.LIFE,
      BoxLayout.BEAT,
      BoxLayout.UNCAUGHT,
      BoxLayout.SCOPE_HEAD,
      BoxLayout.PRESSURE
    };
    for (int i = 0; i < ROUNDS; i++) {
      Box.Section section = box.section(tags[random.nextInt(tags.length)]);
      for (int copy = 0; copy < 2; copy++) {
        int at = section.offset() + copy * section.unit();
        int length = box.buffer.getInt(at + CopyLayout.LENGTH_OFFSET);
        if (length == 0) {
          length = random.nextInt(section.unit() - 16);
          box.buffer.putInt(at + CopyLayout.LENGTH_OFFSET, length);
          box.buffer.putLong(at, 1 + random.nextInt(5));
        }
        scramble(at + CopyLayout.PAYLOAD_OFFSET, length);
        box.buffer.putInt(at + CopyLayout.CRC_OFFSET, 0);
        CRC32C crc = box.checksum();
        crc.update(box.bytes, at, CopyLayout.PAYLOAD_OFFSET + length);
        box.buffer.putInt(at + CopyLayout.CRC_OFFSET, (int) crc.getValue());
      }
      run.write(
          section.offset(),
          Arrays.copyOfRange(box.bytes, section.offset(), section.offset() + section.length()));
      render(run.read());
      System.arraycopy(
          recorded.box(), section.offset(), box.bytes, section.offset(), section.length());
      run.mend(section.offset(), section.length());
    }
  }

  @Test
  void headersWithAnyFieldsAreReadOrRefused() throws IOException {
    int read = 0;
    int refused = 0;
    long[] values = {
      0,
      1,
      -1,
      511,
      4095,
      4096,
      1 << 20,
      Integer.MAX_VALUE,
      Integer.MIN_VALUE,
      Long.MAX_VALUE,
      Long.MIN_VALUE,
      1L << 40
    };
    int entries = box.sections.size() * BoxLayout.ENTRY_SIZE;
    for (int i = 0; i < ROUNDS; i++) {
      byte[] header = Arrays.copyOf(recorded.box(), BoxLayout.HEADER_SIZE);
      ByteBuffer fields = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
      for (int change = random.nextInt(3); change >= 0; change--) {
        int at = 8 * random.nextInt((BoxLayout.ENTRIES_OFFSET + entries) / 8);
        long value = values[random.nextInt(values.length)];
        if (random.nextBoolean()) {
          fields.putLong(at, value);
        } else {
          fields.putInt(at + 4 * random.nextInt(2), (int) value);
        }
      }
      CRC32C crc = new CRC32C();
      crc.update(header, 0, BoxLayout.HEADER_CRC_OFFSET);
      fields.putInt(BoxLayout.HEADER_CRC_OFFSET, (int) crc.getValue());
      run.write(0, header);
      run.write(run.length() - BoxLayout.TRAILER_SIZE, header);
      try {
        render(run.read());
        read++;
      } catch (IOException e) {
        refused++;
      }
    }
    System.out.println("headers read=" + read + " refused=" + refused);
    assertThat(read).isPositive();
    assertThat(refused).isPositive();
  }

  /** Gives the record there, if there is one, another payload and a right checksum. */
  private boolean tryRecord(int at, int end) throws IOException {
    int length = box.buffer.getInt(at + RecordLayout.LENGTH_OFFSET);
    if (length <= RecordLayout.HEADER_SIZE || length > 1024 || at + length > end) {
      return false;
    }
    byte[] before = Arrays.copyOfRange(box.bytes, at, at + length);
    scramble(at + RecordLayout.HEADER_SIZE, length - RecordLayout.HEADER_SIZE);
    if (random.nextInt(4) == 0) {
      box.buffer.putShort(at + RecordLayout.TYPE_OFFSET, (short) random.nextInt(8));
      box.buffer.put(at + RecordLayout.LEVEL_OFFSET, (byte) random.nextInt());
    }
    box.buffer.putInt(at + RecordLayout.CRC_OFFSET, 0);
    CRC32C crc = box.checksum();
    crc.update(box.bytes, at, length);
    box.buffer.putInt(at + RecordLayout.CRC_OFFSET, (int) crc.getValue());
    run.write(at, Arrays.copyOfRange(box.bytes, at, at + length));
    render(run.read());
    System.arraycopy(before, 0, box.bytes, at, length);
    run.mend(at, length);
    return true;
  }

  private void scramble(int at, int length) {
    if (length <= 0) {
      return;
    }
    for (int changes = 1 + random.nextInt(8); changes > 0; changes--) {
      box.bytes[at + random.nextInt(length)] = (byte) random.nextInt();
    }
    if (random.nextInt(8) == 0) {
      // Ever deeper: arrays of one array of one array ...
      Arrays.fill(box.bytes, at, at + length, (byte) 0x81);
    } else if (random.nextInt(8) == 0 && length >= 5) {
      // A text of 4 GiB.
      box.bytes[at] = 0x7a;
      box.buffer.putInt(at + 1, -1);
    }
  }

  private int entryChecksum(Box.Section spans, long state, int at, int length) {
    CRC32C crc = box.checksum();
    Box.update(crc, state & ~0xffL | SpanLayout.OPEN);
    Box.update(crc, at - spans.offset());
    Box.update(crc, length);
    crc.update(box.bytes, at + 8, length);
    return (int) crc.getValue();
  }

  private static void render(Report report) {
    report.toText(ReportPart.values());
    report.toJson();
  }
}
