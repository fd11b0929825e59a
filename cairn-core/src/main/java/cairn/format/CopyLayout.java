package cairn.format;

/**
 * A value kept in two copies, so that a reader always finds one whole copy.
 *
 * <pre>
 *   0            8        12       16
 *   | generation | length | crc32c | payload ...
 * </pre>
 *
 * The checksum covers the run's nonce (8 bytes, little-endian), then the copy's first {@code 16 +
 * length} bytes with the checksum field taken as zero. Generation 0 is never valid. A writer
 * rewrites the older copy first, then the other with the same content; the commit of a copy is the
 * release store of its generation. A reader takes the valid copy with the highest generation.
 */
public final class CopyLayout {
  public static final int GENERATION_OFFSET = 0;
  public static final int LENGTH_OFFSET = 8;
  public static final int CRC_OFFSET = 12;
  public static final int PAYLOAD_OFFSET = 16;

  private CopyLayout() {}
}
