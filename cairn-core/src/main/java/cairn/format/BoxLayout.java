package cairn.format;

/**
 * The box file: a header, the sections it lists, and a copy of the header at the very end.
 *
 * <pre>
 *   0        8      10     12      16          24       32      36      40
 *   | magic  | major| minor| 0     | fileLength| nonce  | count | 0     | section entries, 32 B each ...
 *   ... 508: crc32c over bytes [0, 508)
 *
 *   entry:   0     4         8        16       24     28
 *            | tag | version | offset | length | unit | count |
 * </pre>
 *
 * All numbers are little-endian. {@code unit} is the size of one slot, copy, half or alignment
 * step, {@code count} how many of them the section holds.
 */
public final class BoxLayout {
  /** The bytes {@code CAIRNBOX}, read as a little-endian long. */
  public static final long MAGIC = 0x584F424E52494143L;

  public static final int MAJOR = 1;
  public static final int MINOR = 5;

  public static final int MAGIC_OFFSET = 0;
  public static final int MAJOR_OFFSET = 8;
  public static final int MINOR_OFFSET = 10;
  public static final int FILE_LENGTH_OFFSET = 16;
  public static final int NONCE_OFFSET = 24;
  public static final int SECTION_COUNT_OFFSET = 32;
  public static final int ENTRIES_OFFSET = 40;
  public static final int HEADER_CRC_OFFSET = 508;
  public static final int HEADER_SIZE = 512;

  /** The header's copy starts this far before the end of the file. */
  public static final int TRAILER_SIZE = 4096;

  /** The first section starts here. */
  public static final int FIRST_SECTION_OFFSET = 4096;

  public static final int ENTRY_SIZE = 32;
  public static final int ENTRY_VERSION_OFFSET = 4;
  public static final int ENTRY_OFFSET_OFFSET = 8;
  public static final int ENTRY_LENGTH_OFFSET = 16;
  public static final int ENTRY_UNIT_OFFSET = 24;
  public static final int ENTRY_COUNT_OFFSET = 28;

  /** Limit of the entries that fit between {@link #ENTRIES_OFFSET} and the checksum. */
  public static final int MAX_SECTIONS = (HEADER_CRC_OFFSET - ENTRIES_OFFSET) / ENTRY_SIZE;

  // Section tags: four ASCII characters, first character in the lowest byte.
  /** Identity: two copies, {@link CopyLayout}; payload is a CBOR map with text keys. */
  public static final int IDENTITY = 0x544E4449; // "IDNT"

  /** Life cycle: two copies, {@link CopyLayout}; payload is a CBOR map with text keys. */
  public static final int LIFE = 0x4546494C; // "LIFE"

  /** Heartbeat: two copies, {@link CopyLayout}; payload is {@code i64 wallMillis, i64 nanos}. */
  public static final int BEAT = 0x54414542; // "BEAT"

  /** The last uncaught exception: two copies, {@link CopyLayout}; payload is a CBOR map. */
  public static final int UNCAUGHT = 0x54474355; // "UCGT"

  /** Counters: two copies of {@link CounterLayout}'s words. */
  public static final int COUNTERS = 0x52544E43; // "CNTR"

  /** One sample a second: a ring of {@link VitalsLayout} slots. */
  public static final int VITALS_SECONDS = 0x53544956; // "VITS"

  /** One sample a minute: a ring of {@link VitalsLayout} slots. */
  public static final int VITALS_MINUTES = 0x4D544956; // "VITM"

  /** Snapshots under memory pressure: two copies, {@link PressureLayout}. Since format 1.3. */
  public static final int PRESSURE = 0x53455250; // "PRES"

  /** The active scope generation: two copies, {@link CopyLayout}; payload is {@code u64, u64}. */
  public static final int SCOPE_HEAD = 0x48435353; // "SSCH"

  /** The two half-logs of scope updates, {@link RecordLayout}. */
  public static final int SCOPE_LOG = 0x4C435353; // "SSCL"

  /** Open spans: {@link SpanLayout} slots. */
  public static final int SPANS = 0x4E415053; // "SPAN"

  /** The trail: a ring of {@link RecordLayout} records. */
  public static final int TRAIL = 0x49415254; // "TRAI"

  private BoxLayout() {}
}
