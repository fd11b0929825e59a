package cairn.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * A journal's files: segments and the staging file, which hold the same frames.
 *
 * <pre>
 *   segment   0         4,096                              fileLength - 512
 *             | header  | frame | frame | ... zeros        | header again |
 *
 *   header    0       8       10      12     16      24       32              40           48         56      60
 *             | magic | major | minor | kind | nonce | number | firstSequence | fileLength | created | flags | 0 ... | crc32c at 508 |
 *
 *   frame     0          8        12       16           24     26      28  32
 *             | sequence | length | crc32c | wallMillis | type | flags | header's crc32c | payload ...
 * </pre>
 *
 * {@code length} counts frame header and payload; the next frame starts at the next multiple of
 * {@link #ALIGNMENT}. A frame's checksum covers the file's nonce, the frame's offset in the file
 * (both 8 bytes, little-endian), then its {@code length} bytes with the checksum taken as zero. So
 * a frame of another file or from another place proves nothing. A frame header's own checksum
 * covers the same, of the header's first 28 bytes only. A file header's checksum covers its bytes
 * before the checksum.
 */
public final class JournalLayout {
  /** {@code CAIRNJNL} as it stands in the file. */
  public static final long MAGIC = magic("CAIRNJNL");

  public static final int MAJOR = 1;
  public static final int MINOR = 0;

  public static final int MAGIC_OFFSET = 0;
  public static final int MAJOR_OFFSET = 8;
  public static final int MINOR_OFFSET = 10;
  public static final int KIND_OFFSET = 12;
  public static final int NONCE_OFFSET = 16;
  public static final int NUMBER_OFFSET = 24;
  public static final int FIRST_SEQUENCE_OFFSET = 32;
  public static final int FILE_LENGTH_OFFSET = 40;
  public static final int CREATED_OFFSET = 48;
  public static final int FLAGS_OFFSET = 56;
  public static final int HEADER_CRC_OFFSET = 508;

  /** Bytes of a header, and of what power loss keeps or loses in one piece. */
  public static final int HEADER_SIZE = 512;

  /** Where frames begin. */
  public static final int FRAMES_OFFSET = 4096;

  /** Kind of file: a journal's segment, a run's, or a journal's staging file. */
  public static final int KIND_JOURNAL = 1;

  public static final int KIND_RUN = 2;
  public static final int KIND_STAGING = 3;

  /** Header flag: the segment before it may hold frames that this one repeats. */
  public static final int AFTER_ERROR = 1;

  /** Staging: records refused because it was full, this process's total; a word of 8 bytes. */
  public static final int STAGING_DROPPED_OFFSET = 1024;

  /** Staging: how many of those a gap in a segment names. */
  public static final int STAGING_LOGGED_OFFSET = 1032;

  /** Staging: first and last number taken out for newer records, which no gap names yet. */
  public static final int STAGING_EVICTED_FROM_OFFSET = 1040;

  public static final int STAGING_EVICTED_TO_OFFSET = 1048;

  /** Staging: how many those are; stored behind the two above, zero for none. */
  public static final int STAGING_EVICTED_COUNT_OFFSET = 1056;

  public static final int SEQUENCE_OFFSET = 0;
  public static final int LENGTH_OFFSET = 8;
  public static final int CRC_OFFSET = 12;
  public static final int TIME_OFFSET = 16;
  public static final int TYPE_OFFSET = 24;
  public static final int FRAME_FLAGS_OFFSET = 26;
  public static final int FRAME_HEADER_CRC_OFFSET = 28;
  public static final int FRAME_HEADER_SIZE = 32;
  public static final int ALIGNMENT = 32;

  /** An entry: bytes of the application's. */
  public static final int TYPE_BYTES = 1;

  /** An entry: one CBOR map. */
  public static final int TYPE_EVENT = 2;

  /**
   * What is not there and why: a CBOR map with the {@code GAP_} keys. It takes no sequence number
   * of its own and bears that of the frame before it.
   */
  public static final int TYPE_GAP = 3;

  /** Types from here on are a run's. */
  public static final int FIRST_RUN_TYPE = 16;

  /** How many records were given up. */
  public static final int GAP_COUNT = 0;

  /** First and last sequence number that is missing for it; absent if they never got one. */
  public static final int GAP_FROM = 1;

  public static final int GAP_TO = 2;

  /** A text: {@code dropped}, {@code evicted} or {@code lost}. */
  public static final int GAP_REASON = 3;

  /** Tells a gap from every other: a frame may come twice after an I/O error. */
  public static final int GAP_ID = 4;

  /** The file that holds what is not in a segment yet. */
  public static final String STAGING_NAME = "staging";

  /** Before a consumer's name: the file of its position. */
  public static final String POSITION_PREFIX = "position-";

  /** {@return {@code length} rounded up to the next multiple of {@link #ALIGNMENT}} */
  public static int aligned(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** {@return a header of {@link #HEADER_SIZE} bytes} */
  public static byte[] header(
      int kind,
      long nonce,
      long number,
      long firstSequence,
      long fileLength,
      long created,
      int flags) {
    ByteBuffer header = ByteBuffer.allocate(HEADER_SIZE).order(ByteOrder.LITTLE_ENDIAN);
    header
        .putLong(MAGIC_OFFSET, MAGIC)
        .putShort(MAJOR_OFFSET, (short) MAJOR)
        .putShort(MINOR_OFFSET, (short) MINOR)
        .putInt(KIND_OFFSET, kind)
        .putLong(NONCE_OFFSET, nonce)
        .putLong(NUMBER_OFFSET, number)
        .putLong(FIRST_SEQUENCE_OFFSET, firstSequence)
        .putLong(FILE_LENGTH_OFFSET, fileLength)
        .putLong(CREATED_OFFSET, created)
        .putInt(FLAGS_OFFSET, flags)
        .putInt(HEADER_CRC_OFFSET, headerCrc(header.array()));
    return header.array();
  }

  /** {@return the checksum that such a header must have} */
  public static int headerCrc(byte[] header) {
    CRC32C crc = new CRC32C();
    crc.update(header, 0, HEADER_CRC_OFFSET);
    return (int) crc.getValue();
  }

  private static long magic(String text) {
    long magic = 0;
    for (int i = text.length() - 1; i >= 0; i--) {
      magic = magic << 8 | text.charAt(i);
    }
    return magic;
  }

  private JournalLayout() {}
}
