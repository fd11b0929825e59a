package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Frames that no recorder wrote, but whose checksums are right: anyone can make them. */
class BoxRebuildTest {
  private static final Path GOLDEN =
      Path.of("src", "test", "resources", "golden", "box1.3-0.1.0-killed.cairn");

  private static byte[] box() throws IOException {
    return Files.readAllBytes(GOLDEN);
  }

  private static BoxRebuild.Frame frame(int type, byte[] payload) {
    return new BoxRebuild.Frame(type, payload);
  }

  private static byte[] part(byte[] bytes, int from, int length) {
    return java.util.Arrays.copyOfRange(bytes, from, from + length);
  }

  /** The frames that would describe that box: its parts, cut out. */
  private static List<BoxRebuild.Frame> framesOf(byte[] box) throws IOException {
    BoxReader reader = BoxReader.open(box, "box", false, (loss, where, text) -> {});
    List<BoxRebuild.Frame> frames = new ArrayList<>();
    frames.add(frame(FrameLayout.TYPE_BEGIN, part(box, 0, BoxLayout.HEADER_SIZE)));
    for (int tag :
        List.of(
            BoxLayout.IDENTITY,
            BoxLayout.LIFE,
            BoxLayout.BEAT,
            BoxLayout.SCOPE_HEAD,
            BoxLayout.PRESSURE)) {
      BoxReader.Section section = reader.section(tag);
      byte[] copy = reader.copy(tag);
      ByteBuffer payload =
          ByteBuffer.allocate(FrameLayout.PREFIX_SIZE + CopyLayout.PAYLOAD_OFFSET + copy.length)
              .order(ByteOrder.LITTLE_ENDIAN);
      payload.putLong(tag);
      payload.put(box, section.offset(), CopyLayout.PAYLOAD_OFFSET + copy.length);
      frames.add(frame(FrameLayout.TYPE_COPY, payload.array()));
    }
    BoxReader.Section counters = reader.section(BoxLayout.COUNTERS);
    frames.add(frame(FrameLayout.TYPE_COUNTERS, part(box, counters.offset(), 128)));
    BoxReader.Section ring = reader.section(BoxLayout.TRAIL);
    for (BoxReader.Place place : reader.trailPlaces()) {
      int size = Math.min(RecordLayout.aligned(place.length()), ring.length() - place.slot());
      frames.add(frame(FrameLayout.TYPE_TRAIL, part(box, ring.offset() + place.slot(), size)));
    }
    BoxReader.Section log = reader.section(BoxLayout.SCOPE_LOG);
    for (BoxReader.Place place : reader.scopePlaces()) {
      frames.add(
          frame(
              FrameLayout.TYPE_SCOPE,
              part(box, log.offset() + place.slot(), RecordLayout.aligned(place.length()))));
    }
    BoxReader.Section table = reader.section(BoxLayout.SPANS);
    for (int slot = 0; slot < table.count(); slot++) {
      ByteBuffer payload =
          ByteBuffer.allocate(FrameLayout.PREFIX_SIZE + table.unit())
              .order(ByteOrder.LITTLE_ENDIAN);
      payload.putLong(slot).put(box, table.offset() + slot * table.unit(), table.unit());
      frames.add(frame(FrameLayout.TYPE_SPAN, payload.array()));
    }
    return frames;
  }

  private static int shown(byte[] box) throws IOException {
    BoxReader reader = BoxReader.open(box, "box", false, (loss, where, text) -> {});
    return reader.trail().size() + reader.scope().size() + reader.spans().size();
  }

  @Test
  void framesOfABoxMakeThatBox() throws IOException {
    List<BoxRebuild.Frame> frames = framesOf(box());
    Collections.shuffle(frames, new Random(1)); // in any order
    byte[] rebuilt = BoxRebuild.rebuild(null, frames, "box").image();
    BoxReader reader = BoxReader.open(rebuilt, "box", false, (loss, where, text) -> {});
    BoxReader original = BoxReader.open(box(), "box", false, (loss, where, text) -> {});

    assertThat(reader.spans()).hasSameSizeAs(original.spans());
    // The record that wraps at the end of the ring was cut out in one piece only.
    assertThat(reader.trail()).hasSizeGreaterThanOrEqualTo(original.trail().size() - 1);
    assertThat(reader.counters()).isEqualTo(original.counters());
    assertThat(reader.copy(BoxLayout.IDENTITY)).isEqualTo(original.copy(BoxLayout.IDENTITY));
  }

  @Test
  void wholeBoxIsLeftAsItIsByteForByte() throws IOException {
    BoxRebuild.Result result = BoxRebuild.rebuild(box(), framesOf(box()), "box");

    assertThat(result.image()).isEqualTo(box());
    assertThat(result.taken()).isEmpty();
    assertThat(result.problems()).isEmpty();
  }

  @Test
  void framesOfAnyBytesNeverThrowAndNeverCostWhatTheBoxHolds() throws IOException {
    long seed = Long.getLong("cairn.rebuild.seed", 20260101L);
    Random random = new Random(seed);
    byte[] box = box();
    int sound = shown(box);
    List<BoxRebuild.Frame> frames = framesOf(box);
    for (int round = 0; round < 400; round++) {
      List<BoxRebuild.Frame> hostile = new ArrayList<>(frames);
      for (int i = 0; i < 40; i++) {
        int at = random.nextInt(hostile.size());
        BoxRebuild.Frame old = hostile.get(at);
        hostile.set(at, frame(type(random, old), damaged(random, old.payload())));
      }
      try {
        BoxRebuild.Result result = BoxRebuild.rebuild(round % 2 == 0 ? box : null, hostile, "box");
        int left = shown(result.image());
        if (round % 2 == 0) {
          assertThat(left).as("seed %s, round %s", seed, round).isGreaterThanOrEqualTo(sound - 1);
        }
      } catch (IOException e) {
        assertThat(round % 2).as("a box is never refused: %s", e).isEqualTo(1);
      }
    }
  }

  private static int type(Random random, BoxRebuild.Frame frame) {
    // Not one of closed slots, which has nothing to prove: the frame's own checksum must do.
    int type = random.nextInt(30);
    return random.nextInt(4) > 0 || type == FrameLayout.TYPE_CLOSED ? frame.type() : type;
  }

  private static byte[] damaged(Random random, byte[] payload) {
    byte[] bytes = java.util.Arrays.copyOf(payload, random.nextInt(payload.length + 40));
    for (int i = 0; i < random.nextInt(8) && bytes.length > 0; i++) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
    }
    if (bytes.length >= 16 && random.nextInt(3) == 0) {
      ByteBuffer.wrap(bytes)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putInt(random.nextInt(bytes.length - 3) & -4, random.nextInt());
    }
    return bytes;
  }

  /** A header whose checksum is right and whose sections lie anywhere. */
  private static byte[] header(byte[] box, int offset, long value) {
    byte[] header = part(box, 0, BoxLayout.HEADER_SIZE);
    ByteBuffer words = ByteBuffer.wrap(header).order(ByteOrder.LITTLE_ENDIAN);
    words.putLong(offset, value);
    CRC32C crc = new CRC32C();
    crc.update(header, 0, BoxLayout.HEADER_CRC_OFFSET);
    words.putInt(BoxLayout.HEADER_CRC_OFFSET, (int) crc.getValue());
    return header;
  }

  @Test
  void sectionsThatLieAnywhereAreNotWrittenTo() throws IOException {
    byte[] box = box();
    long[] values = {0, 1, 7, 4096, box.length - 8, box.length, Integer.MAX_VALUE, -1, 1L << 40};
    for (int entry = 0; entry < 11; entry++) {
      for (int field : new int[] {8, 16, 24}) {
        for (long value : values) {
          List<BoxRebuild.Frame> frames = framesOf(box);
          int at = BoxLayout.ENTRIES_OFFSET + entry * BoxLayout.ENTRY_SIZE + field;
          frames.set(0, frame(FrameLayout.TYPE_BEGIN, header(box, at, value)));
          byte[] image = BoxRebuild.rebuild(null, frames, "box").image();
          assertThat(image).hasSameSizeAs(box);
          shown(image);
        }
      }
    }
  }

  @Test
  void lengthThatAFewBytesOfJournalClaimIsNotBelieved() throws IOException {
    byte[] box = box();
    for (long length : new long[] {0, 4607, 1L << 31, Long.MAX_VALUE, 1L << 30, -1}) {
      byte[] header = header(box, BoxLayout.FILE_LENGTH_OFFSET, length);
      assertThatThrownBy(
              () -> BoxRebuild.rebuild(null, List.of(frame(FrameLayout.TYPE_BEGIN, header)), "box"))
          .as("length %s", length)
          .isInstanceOf(IOException.class)
          .hasMessageContaining("no checkpoint in its journal");
    }
  }

  @Test
  void boxOfANewerVersionIsRefusedWhateverItsJournalSays() throws IOException {
    byte[] box = box();
    byte[] newer = header(box, BoxLayout.MAJOR_OFFSET, 2 | (long) box.length << 32);
    System.arraycopy(newer, 0, box, 0, newer.length);
    System.arraycopy(newer, 0, box, box.length - BoxLayout.TRAILER_SIZE, newer.length);

    assertThatThrownBy(() -> BoxRebuild.rebuild(box, framesOf(box()), "box"))
        .hasMessageContaining("newer version");
  }
}
