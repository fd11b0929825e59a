package cairn.format;

/**
 * A self-locating record, used by the trail and by the scope's half-logs.
 *
 * <pre>
 *   0          8        12       16           24     26      27      28     32
 *   | position | length | crc32c | wallMillis | type | level | flags | aux  | payload ...
 * </pre>
 *
 * {@code position} is the record's own place in the ever-growing stream and its commit word: it is
 * stored last. {@code length} counts header and payload, not the padding to the next multiple of
 * {@link #ALIGNMENT}. The checksum covers the run's nonce (8 bytes, little-endian), then the whole
 * record of {@code length} bytes with the checksum field taken as zero; so a record of another run,
 * lap or place proves nothing.
 *
 * <p>Trail: the byte at position p lies at {@code p % capacity}; a record may wrap at the end of
 * the ring; the first position is {@code capacity}. Scope: half {@code g % 2} holds generation g,
 * its positions run from {@code g * half} to {@code (g + 1) * half}; generations start at 1; a
 * record never leaves its half.
 *
 * <p>An erased record ({@link #TYPE_ERASED}) stands where others were: a header, then zeros. Its
 * checksum covers nonce and header only, and it never crosses a multiple of {@link #SECTOR}, so
 * power loss keeps it or loses it in one piece.
 */
public final class RecordLayout {
  public static final int POSITION_OFFSET = 0;
  public static final int LENGTH_OFFSET = 8;
  public static final int CRC_OFFSET = 12;
  public static final int TIME_OFFSET = 16;
  public static final int TYPE_OFFSET = 24;
  public static final int LEVEL_OFFSET = 26;
  public static final int FLAGS_OFFSET = 27;
  public static final int AUX_OFFSET = 28;
  public static final int HEADER_SIZE = 32;
  public static final int ALIGNMENT = 32;

  /** What power loss keeps or loses in one piece. */
  public static final int SECTOR = 512;

  /** Zeros in place of scope records that were overwritten, removed or cleared. */
  public static final int TYPE_ERASED = 0;

  /** A breadcrumb; payload is a CBOR map with the {@code CRUMB_} keys. */
  public static final int TYPE_BREADCRUMB = 1;

  /** A scope field; payload is a CBOR map with the {@code FIELD_} keys. */
  public static final int TYPE_SCOPE_FIELD = 2;

  /** Begin of a span that found no free slot; payload as {@link SpanLayout}'s begin record. */
  public static final int TYPE_SPAN_BEGIN = 3;

  /** An attribute that found no room; payload is a CBOR map with the {@code SET_} keys. */
  public static final int TYPE_SPAN_SET = 4;

  /** End of a span that had no slot; a CBOR map with {@link #SET_SPAN_ID}. */
  public static final int TYPE_SPAN_END = 5;

  public static final int SET_SPAN_ID = 0;
  public static final int SET_KEY = 1;
  public static final int SET_VALUE = 2;

  /**
   * Bytes of the slot in use at that moment; absent for a span without a slot. An entry of the slot
   * at this offset or behind it was set later, one before it earlier.
   */
  public static final int SET_USED = 3;

  /** A note's number, of {@link SpanLayout}, instead of {@link #SET_KEY}. Since format 1.4. */
  public static final int SET_NOTE = 4;

  // Keys of a breadcrumb's map, in the order they are written; absent where unknown or empty.
  public static final int CRUMB_CATEGORY = 0;
  public static final int CRUMB_MESSAGE = 1;
  public static final int CRUMB_DATA = 2;
  public static final int CRUMB_THREAD = 3;
  public static final int CRUMB_SPAN_ID = 4;

  // Keys of a scope field's map. No FIELD_VALUE: the field was removed.
  public static final int FIELD_KIND = 0;
  public static final int FIELD_KEY = 1;
  public static final int FIELD_VALUE = 2;

  // Kinds of scope field. Only tag, context and extra have a key.
  public static final int KIND_USER = 1;
  public static final int KIND_TAG = 2;
  public static final int KIND_CONTEXT = 3;
  public static final int KIND_EXTRA = 4;
  public static final int KIND_LEVEL = 5;
  public static final int KIND_TRANSACTION = 6;
  public static final int KIND_FINGERPRINT = 7;
  public static final int KIND_TRACE = 8;

  /** {@return {@code length} rounded up to the next multiple of {@link #ALIGNMENT}} */
  public static int aligned(int length) {
    return (length + ALIGNMENT - 1) & -ALIGNMENT;
  }

  private RecordLayout() {}
}
