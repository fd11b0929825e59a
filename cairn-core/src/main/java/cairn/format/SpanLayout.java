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
 *
 * <p>An entry whose key is a CBOR unsigned integer is no attribute but something else that is known
 * of the span since it began: one of the {@code NOTE_} keys. Of those the last wins too, except
 * that {@link #NOTE_EVENTS} and {@link #NOTE_THREAD} are overwritten in place, in two areas by
 * turns, and say themselves which is the newer.
 */
public final class SpanLayout {
  public static final int STATE_OFFSET = 0;
  public static final int FIRST_ENTRY_OFFSET = 8;
  public static final int ENTRY_HEADER_SIZE = 8;
  public static final int ENTRY_ALIGNMENT = 8;

  public static final long OPEN = 1;
  public static final int GENERATION_SHIFT = 8;

  /**
   * A span without a slot is named by its id with this bit in the trail's records of type set and
   * end: a writer knows it by a handle that is negative.
   */
  public static final long OVERFLOWED = Long.MIN_VALUE;

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

  /**
   * Role in a trace, as OpenTelemetry numbers it: 0 internal, 1 server, 2 client, 3 producer, 4
   * consumer; absent if the span was begun without one. Since format 1.4, as what follows.
   */
  public static final int BEGIN_KIND = 6;

  /** The trace's flags of W3C Trace Context, 0 to 255; absent as {@link #BEGIN_KIND}. */
  public static final int BEGIN_TRACE_FLAGS = 7;

  /** When the span says that it began, in nanoseconds since 1970; absent if it doesn't. */
  public static final int BEGIN_EPOCH_NANOS = 8;

  /** Attributes that the span began with: a map with text keys; absent if there are none. */
  public static final int BEGIN_ATTRIBUTES = 9;

  /** A later name, as text. */
  public static final int NOTE_NAME = 0;

  /** An array: 0 unset, 1 ok or 2 error; then, for an error, why, as text, if it is known. */
  public static final int NOTE_STATUS = 1;

  /** How many events were added: the greater of two is the newer. */
  public static final int NOTE_EVENTS = 2;

  /**
   * The thread that works on the span now, as an array of a number and a name: of two the one with
   * the greater number is the newer. No name: the thread that began it.
   */
  public static final int NOTE_THREAD = 3;

  /**
   * As {@link #BEGIN_EPOCH_NANOS}, for a span of which that was not known when it began. Since 1.5.
   */
  public static final int NOTE_START = 4;

  private SpanLayout() {}
}
