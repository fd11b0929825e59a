package cairn.format;

/**
 * Snapshots that were taken when memory got tight: one value in two copies, {@link CopyLayout}.
 *
 * <p>The payload is a CBOR map. Its keys are {@code limit * LEVELS + level}; its values are maps
 * with the keys below: the latest snapshot of that limit and level. Absent: never reached. A reader
 * skips keys that it doesn't know, in the map and in its values.
 */
public final class PressureLayout {
  /** The limit is the largest heap. */
  public static final int HEAP = 0;

  /** The limit is that of the process's cgroup. */
  public static final int CGROUP = 1;

  /** How many limits there are. */
  public static final int LIMITS = 2;

  /** How many levels a limit has. */
  public static final int LEVELS = 3;

  /** {@link #HEAP} or {@link #CGROUP}. */
  public static final int LIMIT = 0;

  /** Of the limit, in percent: what usage had reached. */
  public static final int PERCENT = 1;

  /** Bytes in use. */
  public static final int USED = 2;

  /** Bytes of the limit. */
  public static final int LIMIT_BYTES = 3;

  /** When it was taken, wall clock. */
  public static final int WALL_MILLIS = 4;

  /** When it was taken, {@code System.nanoTime()} of the writer. */
  public static final int NANOS = 5;

  /** How many spans were open. */
  public static final int OPEN_SPANS = 6;

  /**
   * An array of maps with the {@code SPAN_} keys: the oldest, then those of the other threads that
   * allocated most.
   */
  public static final int SPANS = 7;

  /** The name, cut at {@link #MAX_NAME_BYTES}. */
  public static final int SPAN_NAME = 0;

  /** As {@link SpanLayout#BEGIN_SPAN_ID}. */
  public static final int SPAN_ID = 1;

  /** As {@link SpanLayout#BEGIN_NANOS}. */
  public static final int SPAN_NANOS = 2;

  /** Name of the thread that began it, cut at {@link #MAX_THREAD_BYTES}. */
  public static final int SPAN_THREAD = 3;

  /** Bytes that this thread had allocated in {@link #SPAN_ALLOCATED_NANOS}; absent if unknown. */
  public static final int SPAN_ALLOCATED = 4;

  /** How long, up to the snapshot, those bytes were counted. */
  public static final int SPAN_ALLOCATED_NANOS = 5;

  public static final int MAX_NAME_BYTES = 60;
  public static final int MAX_THREAD_BYTES = 40;

  private static final int[] PERCENTS = {75, 85, 95};

  private PressureLayout() {}

  /** {@return the share of the limit at which that level begins, in percent} */
  public static int percent(int level) {
    return PERCENTS[level];
  }
}
