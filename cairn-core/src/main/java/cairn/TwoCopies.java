package cairn;

import cairn.format.CopyLayout;
import cairn.storage.Region;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A value in two copies, of which one is whole at every moment.
 *
 * <p>Any thread; writers exclude each other for the time of a copy. Survives process death once
 * {@link #write} returns.
 */
final class TwoCopies {
  /*
   * Writing:  1 fill the copy that was committed first   2 release-store generation + 1 in it
   *           3 fill the other copy with the same bytes  4 release-store generation + 1 in it
   * Death before 2 leaves the old value current (the other copy is whole), after it the new one.
   * During 1 and 3 a copy has an old generation over new bytes: its checksum refuses it.
   * Both copies are rewritten, so that one damaged byte never brings an old value back.
   */

  private final Region region;
  private final int offset;
  private final int unit;
  private final byte[] image;
  private final ByteBuffer words;
  private final CRC32C crc = new CRC32C();
  private long generation;

  TwoCopies(Region region, int offset, int unit, long nonce) {
    this.region = region;
    this.offset = offset;
    this.unit = unit;
    this.image = new byte[8 + unit];
    this.words = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
    words.putLong(0, nonce);
  }

  int payloadLimit() {
    return unit - CopyLayout.PAYLOAD_OFFSET;
  }

  synchronized void write(byte[] payload, int length) {
    if (length > payloadLimit()) {
      throw new IllegalArgumentException(
          "payload is too long: length=" + length + ", limit=" + payloadLimit());
    }
    System.arraycopy(payload, 0, image, 8 + CopyLayout.PAYLOAD_OFFSET, length);
    commit(length);
  }

  /** Writes one word, without a buffer of the caller's. */
  synchronized void write(long word) {
    words.putLong(8 + CopyLayout.PAYLOAD_OFFSET, word);
    commit(8);
  }

  /** Writes two words, without a buffer of the caller's. */
  synchronized void write(long first, long second) {
    words.putLong(8 + CopyLayout.PAYLOAD_OFFSET, first);
    words.putLong(8 + CopyLayout.PAYLOAD_OFFSET + 8, second);
    commit(16);
  }

  /**
   * Copies the value as one of its copies holds it: generation, length, checksum, payload.
   *
   * @return how many bytes that is; 0 if nothing was written yet
   */
  synchronized int snapshot(byte[] into, int from) {
    if (generation == 0) {
      return 0;
    }
    int size = CopyLayout.PAYLOAD_OFFSET + words.getInt(8 + CopyLayout.LENGTH_OFFSET);
    System.arraycopy(image, 8, into, from, size);
    return size;
  }

  private void commit(int length) {
    long next = generation + 1;
    words.putLong(8 + CopyLayout.GENERATION_OFFSET, next);
    words.putInt(8 + CopyLayout.LENGTH_OFFSET, length);
    words.putInt(8 + CopyLayout.CRC_OFFSET, 0);
    crc.reset();
    crc.update(image, 0, 8 + CopyLayout.PAYLOAD_OFFSET + length);
    words.putInt(8 + CopyLayout.CRC_OFFSET, (int) crc.getValue());
    for (int copy = 0; copy < 2; copy++) {
      int target = offset + copy * unit;
      region.putBytesPlain(
          target + CopyLayout.LENGTH_OFFSET,
          image,
          8 + CopyLayout.LENGTH_OFFSET,
          CopyLayout.PAYLOAD_OFFSET - CopyLayout.LENGTH_OFFSET + length);
      // Release: publishes the copy filled above. Partner: the reader's look at the generation.
      region.putLongRelease(target + CopyLayout.GENERATION_OFFSET, next);
    }
    generation = next;
  }
}
