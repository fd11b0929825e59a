package cairn.format;

/**
 * One slot of the table of open spans.
 *
 * <pre>
 *   0           8
 *   | stateWord | entry | entry | ...    stateWord = generation * 256 + 1 while open
 *                                                    the complement of that once closed
 *                                                    0 if never used
 *   entry, 8-byte aligned:
 *   0        4        8
 *   | length | crc32c | payload, length bytes ...  the first 8 bytes are one store: the commit
 * </pre>
 *
 * The first entry, at {@link #FIRST_ENTRY_OFFSET}, is the begin record: a CBOR map with the {@code
 * BEGIN_} keys. It and the state word make the span visible; the state word is stored last. Every
 * later entry is one attribute: a CBOR text key followed by a CBOR value; the last entry of a key
 * wins. The checksum covers, 8 bytes each and little-endian, the run's nonce, the open state word
 * and the entry's offset within the section; then the length as 8 bytes; then the payload. A reader
 * tries every 8-byte step behind the begin record, since a claimed entry may never have been
 * filled.
 */
public final class SpanLayout {
  public static final int STATE_OFFSET = 0;
  public static final int FIRST_ENTRY_OFFSET = 8;
  public static final int ENTRY_HEADER_SIZE = 8;
  public static final int ENTRY_ALIGNMENT = 8;

  public static final long OPEN = 1;
  public static final int GENERATION_SHIFT = 8;

  public static final int BEGIN_NAME = 0;

  /** CBOR unsigned integer of 64 bits. */
  public static final int BEGIN_SPAN_ID = 1;

  /** As {@link #BEGIN_SPAN_ID}; absent for a root. */
  public static final int BEGIN_PARENT_SPAN_ID = 2;

  /** CBOR byte string of 16 bytes; absent if unknown. */
  public static final int BEGIN_TRACE_ID = 3;

  /** {@code System.nanoTime()} of the writer. */
  public static final int BEGIN_NANOS = 4;

  public static final int BEGIN_THREAD = 5;

  private SpanLayout() {}
}
