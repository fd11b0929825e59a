package cairn.format;

/**
 * One sample of the vitals: a slot of {@link #SLOT_SIZE} bytes.
 *
 * <pre>
 *   0          8        12       16
 *   | sequence | length | crc32c | i64 values, in the order of the constants below ...
 * </pre>
 *
 * Sequence 1 lies in slot 0, sequence n in slot {@code (n - 1) % count}. {@code length} is {@code
 * 16 + 8 * values}; a newer writer may add values at the end. The checksum covers the run's nonce,
 * then the slot's first {@code length} bytes with the checksum field taken as zero; the release
 * store of the sequence commits. {@link #UNKNOWN} means that a value could not be read.
 */
public final class VitalsLayout {
  public static final int SEQUENCE_OFFSET = 0;
  public static final int LENGTH_OFFSET = 8;
  public static final int CRC_OFFSET = 12;
  public static final int VALUES_OFFSET = 16;
  public static final int SLOT_SIZE = 192;

  public static final long UNKNOWN = Long.MIN_VALUE;

  public static final int WALL_MILLIS = 0;
  public static final int NANOS = 1;
  public static final int HEAP_USED = 2;
  public static final int HEAP_COMMITTED = 3;
  public static final int HEAP_MAX = 4;
  public static final int RSS = 5;
  public static final int GC_COUNT = 6;
  public static final int GC_MILLIS = 7;
  public static final int THREADS = 8;
  public static final int OPEN_FILES = 9;
  public static final int CPU_MILLIS = 10;
  public static final int CGROUP_USAGE = 11;
  public static final int CGROUP_LIMIT = 12;
  public static final int CGROUP_OOM_KILLS = 13;
  public static final int NODE_OOM_KILLS = 14;
  public static final int OPEN_SPANS = 15;
  public static final int MAX_FILES = 16;

  /** Since 1.3. */
  public static final int CGROUP_PROCESSES = 17;

  public static final int COUNT = 18;

  private VitalsLayout() {}
}
