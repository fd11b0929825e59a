package cairn.stress;

import cairn.format.BoxLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/** The bytes of a box and where its sections are, read from its own header. */
final class Box {
  final byte[] bytes;
  final ByteBuffer buffer;
  final long nonce;
  final Map<Integer, Section> sections = new LinkedHashMap<>();

  /** One entry of the header. */
  record Section(int tag, int offset, int length, int unit, int count) {
    boolean contains(int at) {
      return at >= offset && at < offset + length;
    }
  }

  Box(byte[] bytes) {
    this.bytes = bytes;
    this.buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    this.nonce = buffer.getLong(BoxLayout.NONCE_OFFSET);
    int count = buffer.getInt(BoxLayout.SECTION_COUNT_OFFSET);
    for (int i = 0; i < count; i++) {
      int entry = BoxLayout.ENTRIES_OFFSET + i * BoxLayout.ENTRY_SIZE;
      Section section =
          new Section(
              buffer.getInt(entry),
              (int) buffer.getLong(entry + BoxLayout.ENTRY_OFFSET_OFFSET),
              (int) buffer.getLong(entry + BoxLayout.ENTRY_LENGTH_OFFSET),
              buffer.getInt(entry + BoxLayout.ENTRY_UNIT_OFFSET),
              buffer.getInt(entry + BoxLayout.ENTRY_COUNT_OFFSET));
      sections.put(section.tag(), section);
    }
  }

  static Box read(Path file) throws IOException {
    return new Box(Files.readAllBytes(file));
  }

  Section section(int tag) {
    return sections.get(tag);
  }

  /** {@return section and offset within it, for messages} */
  String describe(int at) {
    for (Section section : sections.values()) {
      if (section.contains(at)) {
        byte[] tag =
            ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(section.tag()).array();
        return new String(tag, java.nio.charset.StandardCharsets.US_ASCII)
            + "+"
            + (at - section.offset())
            + " (offset "
            + at
            + ")";
      }
    }
    return "offset " + at;
  }

  /** {@return the checksum that starts with this box's nonce} */
  CRC32C checksum() {
    CRC32C crc = new CRC32C();
    update(crc, nonce);
    return crc;
  }

  static void update(CRC32C crc, long word) {
    crc.update(ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, word));
  }
}
