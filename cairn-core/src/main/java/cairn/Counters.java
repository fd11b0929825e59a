package cairn;

import cairn.format.CounterLayout;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Counts what was evicted, dropped, cut or replaced, in the box itself.
 *
 * <p>Any thread; lock-free. Survives process death once {@link #add} returns.
 */
final class Counters {
  private final Region region;
  private final int offset;
  private final int unit;
  private final AtomicLongArray values = new AtomicLongArray(CounterLayout.NAMES.size());

  Counters(Region region, int offset, int unit) {
    this.region = region;
    this.offset = offset;
    this.unit = unit;
  }

  void increment(int index) {
    add(index, 1);
  }

  void add(int index, long amount) {
    values.addAndGet(index, amount);
    long value;
    do {
      // Publish, then look again: whoever stores last has seen the newest value, so an older one
      // never stays. First copy before second copy: see CounterLayout.
      value = values.get(index);
      region.putLongRelease(offset + 8 * index, value);
      region.putLongRelease(offset + unit + 8 * index, value);
    } while (values.get(index) != value);
  }

  long get(int index) {
    return values.get(index);
  }
}
