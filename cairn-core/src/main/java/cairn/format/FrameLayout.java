package cairn.format;

/**
 * The frames of a run's journal: what its box has gained, as the box holds it, so that a reader can
 * put the box together again. What is copied keeps its own checksum and says its own place.
 *
 * <p>The first batch in a segment holds a checkpoint: {@link #TYPE_BEGIN}, then everything that is
 * true then but for the trail. All else are changes. A reader needs no order among the frames:
 * everything in them is ordered by its own position or generation.
 */
public final class FrameLayout {
  /** A checkpoint begins; payload: the box's header, {@link BoxLayout#HEADER_SIZE} bytes. */
  public static final int TYPE_BEGIN = 16;

  /**
   * A value in two copies; payload: {@code u32 tag, u32 0}, then one copy as {@link CopyLayout} has
   * it.
   */
  public static final int TYPE_COPY = 17;

  /** The counters; payload: the words of {@link CounterLayout}. */
  public static final int TYPE_COUNTERS = 18;

  /**
   * Records of the trail; payload: one or more as {@link RecordLayout} has them, each followed by
   * zeros up to the next multiple of {@link RecordLayout#ALIGNMENT}.
   */
  public static final int TYPE_TRAIL = 19;

  /**
   * Records of the scope, in the same form. Where values had been overwritten before they were
   * copied there is an erased record instead.
   */
  public static final int TYPE_SCOPE = 20;

  /**
   * An open slot of the table of open spans; payload: {@code u32 slot, u32 0}, then the used part
   * of the slot as {@link SpanLayout} has it.
   */
  public static final int TYPE_SPAN = 21;

  /**
   * Slots that are closed; payload: for each {@code u32 slot, u32 0} and its state word. Also of
   * spans that began and ended between two batches: a box from between would show them open.
   */
  public static final int TYPE_CLOSED = 22;

  /** What names the tag or the slot. */
  public static final int PREFIX_SIZE = 8;

  private FrameLayout() {}
}
