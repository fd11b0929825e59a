package cairn;

import cairn.format.CborWriter;
import cairn.format.EncodeLimits;
import cairn.format.Forms;
import cairn.format.KeyCache;
import cairn.format.RecordLayout;
import cairn.format.ValueEncoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32C;

/**
 * Where one record is put together before it is claimed: the run's nonce, then the record's image.
 * Owned by one caller between {@link ScratchPool#acquire} and {@link ScratchPool#release}; the
 * superclass's value is the owned flag.
 */
final class Scratch extends AtomicInteger {
  private static final long serialVersionUID = 1;

  /** The record's image starts here, behind the nonce that seeds its checksum. */
  static final int RECORD = 8;

  static final int PAYLOAD = RECORD + RecordLayout.HEADER_SIZE;

  final transient byte[] bytes;
  final transient ByteBuffer words;
  final transient CborWriter writer;
  final transient ValueEncoder encoder;
  final transient CRC32C crc = new CRC32C();
  final boolean pooled;

  /** Whether the key that was written last says that its value is secret. */
  transient boolean secret;

  final transient ThreadName threadName = new ThreadName();

  Scratch(
      long nonce,
      int maxRecordBytes,
      KeyCache keys,
      EncodeLimits limits,
      Forms forms,
      boolean pooled) {
    this.bytes = new byte[RECORD + maxRecordBytes];
    this.words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    this.writer = new CborWriter(bytes, keys);
    this.encoder = new ValueEncoder(writer, limits, forms);
    this.pooled = pooled;
    words.putLong(0, nonce);
  }

  /** Starts a payload; one byte is kept back for the end of its map. */
  void start(int maxRecordBytes) {
    writer.reset(PAYLOAD, Math.min(bytes.length, RECORD + maxRecordBytes) - 1);
  }

  /** Ends the payload's map and returns the record's length. */
  int finish() {
    writer.limit(writer.limit() + 1);
    writer.end();
    return writer.position() - RECORD;
  }

  /**
   * Fills the header of a record of {@code length} bytes and seals it with its checksum.
   *
   * @param position what the caller has claimed
   */
  void seal(long position, int length, int type, int level, long wallMillis) {
    words.putLong(RECORD + RecordLayout.POSITION_OFFSET, position);
    words.putInt(RECORD + RecordLayout.LENGTH_OFFSET, length);
    words.putInt(RECORD + RecordLayout.CRC_OFFSET, 0);
    words.putLong(RECORD + RecordLayout.TIME_OFFSET, wallMillis);
    words.putInt(RECORD + RecordLayout.TYPE_OFFSET, type | level << 16);
    words.putInt(RECORD + RecordLayout.AUX_OFFSET, 0);
    crc.reset();
    crc.update(bytes, 0, RECORD + length);
    words.putInt(RECORD + RecordLayout.CRC_OFFSET, (int) crc.getValue());
  }
}
