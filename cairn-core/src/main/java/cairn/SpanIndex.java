package cairn;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Which slot a span with an id of its own is in.
 *
 * <p>Any thread; lock-free, allocates nothing. Finds every open span that was put; may be asked for
 * any id.
 */
final class SpanIndex {
  /*
   * A bucket is one word: three lanes of 16 bits, each the number of a slot + 1 or 0, a version, and
   * the mark SPILLED. A lane is never taken out: it is stale once its slot is free or holds a span
   * of another bucket, which is seen when it is looked at, and then it is room for the next.
   *
   * Put:   1 the slot holds the id already   2 choose a lane: this slot's own, an empty, a stale one
   *        3 CAS the bucket with the lane set and the version grown; where none is free, with SPILLED
   * Find:  look at the three slots; only in a bucket that has spilled, at all.
   *
   * The version is what makes 2 safe: a lane that one thread saw stale may be put again by another,
   * with the same number, before the first one's CAS, which then fails. Partner of the CAS in 3: the
   * volatile read in find, behind which the slot's id is seen.
   *
   * There are as many buckets as slots, so that with every slot taken two in a hundred spill.
   */
  private static final int LANES = 3;
  private static final int LANE_BITS = 16;
  private static final long LANE_MASK = (1L << LANE_BITS) - 1;
  private static final long VERSION = 1L << (LANES * LANE_BITS);
  private static final long SPILLED = Long.MIN_VALUE;

  /** What the index is of. */
  interface Slots {
    /** {@return the id of the open span in that slot, or 0} */
    long idIn(int slot);

    int count();
  }

  private final AtomicLongArray buckets;
  private final Slots slots;

  /**
   * @param size how many slots there are
   */
  SpanIndex(int size, Slots slots) {
    this.buckets = new AtomicLongArray(Math.max(1, Integer.highestOneBit(size)));
    this.slots = slots;
  }

  private int bucket(long id) {
    return (int) (id ^ (id >>> 32)) & (buckets.length() - 1);
  }

  /**
   * @param slot holds that id
   */
  void put(long id, int slot) {
    int bucket = bucket(id);
    long lane = slot + 1L;
    while (true) {
      long word = buckets.get(bucket);
      int at = lane > LANE_MASK ? LANES : room(word, lane, bucket);
      int shift = at * LANE_BITS;
      long next = at == LANES ? word | SPILLED : (word & ~(LANE_MASK << shift)) | (lane << shift);
      // The version's carry must not reach the mark.
      next = ((next + VERSION) & ~SPILLED) | (next & SPILLED);
      if (buckets.compareAndSet(bucket, word, next)) {
        return;
      }
    }
  }

  /** {@return the lane for it, or {@link #LANES} if all are in use} */
  private int room(long word, long lane, int bucket) {
    int found = LANES;
    for (int i = 0; i < LANES; i++) {
      long known = (word >>> (i * LANE_BITS)) & LANE_MASK;
      if (known == lane) {
        return i;
      }
      if (found == LANES && (known == 0 || isStale((int) known - 1, bucket))) {
        found = i;
      }
    }
    return found;
  }

  private boolean isStale(int slot, int bucket) {
    long id = slots.idIn(slot);
    return id == 0 || bucket(id) != bucket;
  }

  /** {@return the slot of the open span with that id, or -1} */
  int find(long id) {
    long word = buckets.get(bucket(id));
    for (int i = 0; i < LANES; i++) {
      long known = (word >>> (i * LANE_BITS)) & LANE_MASK;
      if (known != 0 && slots.idIn((int) known - 1) == id) {
        return (int) known - 1;
      }
    }
    if (word < 0) {
      for (int slot = 0; slot < slots.count(); slot++) {
        if (slots.idIn(slot) == id) {
          return slot;
        }
      }
    }
    return -1;
  }
}
