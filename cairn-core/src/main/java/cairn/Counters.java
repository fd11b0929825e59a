package cairn;

import cairn.format.CounterLayout;
import cairn.storage.Region;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts what was evicted, dropped, cut or replaced, in the box itself.
 *
 * <p>Any thread; lock-free. Survives process death once {@link #add} returns.
 */
final class Counters {
  private final Region region;
  private final int offset;
  private final int unit;
  // Not an AtomicLongArray, whose VarHandle costs a cold JVM two milliseconds.
  private final AtomicLong[] values = new AtomicLong[CounterLayout.NAMES.size()];

  Counters(Region region, int offset, int unit) {
    this.region = region;
    this.offset = offset;
    this.unit = unit;
    for (int i = 0; i < values.length; i++) {
      values[i] = new AtomicLong();
    }
  }

  void increment(int index) {
    add(index, 1);
  }

  void add(int index, long amount) {
    AtomicLong counter = values[index];
    counter.addAndGet(amount);
    long value;
    do {
      // Publish, then look again: whoever stores last has seen the newest value, so an older one
      // never stays. First copy before second copy: see CounterLayout.
      value = counter.get();
      region.putLongRelease(offset + 8 * index, value);
      region.putLongRelease(offset + unit + 8 * index, value);
    } while (counter.get() != value);
  }

  long get(int index) {
    return values[index].get();
  }
}
