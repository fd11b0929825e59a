package cairn.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * Writes and checks the frames of one journal file: what {@link JournalLayout} says of them.
 *
 * <p>One thread at a time; no allocation.
 */
public final class FrameSeal {
  private final byte[] seed = new byte[16];
  private final ByteBuffer seedWords = ByteBuffer.wrap(seed).order(ByteOrder.LITTLE_ENDIAN);
  private final CRC32C crc = new CRC32C();
  private byte[] bytes = seed;
  private ByteBuffer words = seedWords;

  /** For a file of that nonce. */
  public FrameSeal(long nonce) {
    seedWords.putLong(0, nonce);
  }

  private ByteBuffer words(byte[] in) {
    if (in != bytes) {
      bytes = in;
      words = ByteBuffer.wrap(in).order(ByteOrder.LITTLE_ENDIAN);
    }
    return words;
  }

  /**
   * Writes the header of a frame whose payload stands in place, checksum included.
   *
   * @param in holds the frame from {@code at}
   * @param offset of the frame in the file
   * @param length of header and payload
   */
  public void seal(
      byte[] in, int at, long offset, long sequence, int length, long millis, int type, int flags) {
    ByteBuffer frame = words(in);
    frame.putLong(at + JournalLayout.SEQUENCE_OFFSET, sequence);
    frame.putInt(at + JournalLayout.LENGTH_OFFSET, length);
    frame.putInt(at + JournalLayout.CRC_OFFSET, 0);
    frame.putLong(at + JournalLayout.TIME_OFFSET, millis);
    frame.putShort(at + JournalLayout.TYPE_OFFSET, (short) type);
    frame.putShort(at + JournalLayout.FRAME_FLAGS_OFFSET, (short) flags);
    frame.putInt(at + JournalLayout.FRAME_HEADER_CRC_OFFSET, headerChecksum(in, at, offset));
    frame.putInt(at + JournalLayout.CRC_OFFSET, checksumBehindHeader(in, at, length));
  }

  /** Of a header whose checksum is zero now; {@link #checksumBehindHeader} goes on from here. */
  private int headerChecksum(byte[] in, int at, long offset) {
    seedWords.putLong(8, offset);
    crc.reset();
    crc.update(seed, 0, seed.length);
    crc.update(in, at, JournalLayout.FRAME_HEADER_CRC_OFFSET);
    return (int) crc.getValue();
  }

  private int checksumBehindHeader(byte[] in, int at, int length) {
    int done = JournalLayout.FRAME_HEADER_CRC_OFFSET;
    crc.update(in, at + done, length - done);
    return (int) crc.getValue();
  }

  private int checksum(byte[] in, int at, long offset, int length) {
    headerChecksum(in, at, offset);
    return checksumBehindHeader(in, at, length);
  }

  /**
   * {@return whether a frame's header, which lies within {@code in}, proves itself} Without this
   * check every damaged record that quotes headers would cost a checksum of megabytes for each.
   */
  public boolean isSoundHeader(byte[] in, int at, long offset) {
    ByteBuffer frame = words(in);
    int stored = frame.getInt(at + JournalLayout.CRC_OFFSET);
    frame.putInt(at + JournalLayout.CRC_OFFSET, 0);
    int computed = headerChecksum(in, at, offset);
    frame.putInt(at + JournalLayout.CRC_OFFSET, stored);
    return frame.getInt(at + JournalLayout.FRAME_HEADER_CRC_OFFSET) == computed;
  }

  /** {@return whether the frame of that length, which lies within {@code in}, proves itself} */
  public boolean isSound(byte[] in, int at, long offset, int length) {
    ByteBuffer frame = words(in);
    int stored = frame.getInt(at + JournalLayout.CRC_OFFSET);
    frame.putInt(at + JournalLayout.CRC_OFFSET, 0);
    int computed = checksum(in, at, offset, length);
    frame.putInt(at + JournalLayout.CRC_OFFSET, stored);
    return stored == computed;
  }

  /** {@return what {@link #isSound} compares, for a message} */
  public String mismatch(byte[] in, int at, long offset, int length) {
    ByteBuffer frame = words(in);
    int stored = frame.getInt(at + JournalLayout.CRC_OFFSET);
    frame.putInt(at + JournalLayout.CRC_OFFSET, 0);
    int computed = checksum(in, at, offset, length);
    frame.putInt(at + JournalLayout.CRC_OFFSET, stored);
    return "stored=0x"
        + Integer.toHexString(stored)
        + ", computed=0x"
        + Integer.toHexString(computed);
  }
}
