package cairn;

import cairn.format.VitalsLayout;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** Memory as a test wants it: limits of 1,000,000 bytes each, and any usage of them in percent. */
final class FakeGauges implements Pressure.Gauges {
  static final long LIMIT = 1_000_000;

  final long[] values = new long[VitalsLayout.COUNT];
  final Map<Long, Long> allocated = new HashMap<>();
  long heapAfterCollection;
  long cgroupInactiveFile;

  /** How often it was asked for what a thread has allocated. */
  int asked;

  FakeGauges() {
    Arrays.fill(values, VitalsLayout.UNKNOWN);
    values[VitalsLayout.HEAP_MAX] = LIMIT;
    values[VitalsLayout.CGROUP_LIMIT] = LIMIT;
    heap(0).cgroup(0);
  }

  /** That share of the heap is in use after a collection; before the next, all of it. */
  FakeGauges heap(int percent) {
    values[VitalsLayout.HEAP_USED] = LIMIT;
    heapAfterCollection = LIMIT / 100 * percent;
    return this;
  }

  FakeGauges cgroup(int percent) {
    values[VitalsLayout.CGROUP_USAGE] = LIMIT / 100 * percent;
    return this;
  }

  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  FakeGauges allocated(Thread thread, long bytes) {
    allocated.put(thread.getId(), bytes);
    return this;
  }

  boolean look(Box box) {
    return box.pressure.look(values, this);
  }

  @Override
  public long heapAfterCollection() {
    return heapAfterCollection;
  }

  @Override
  public long cgroupInactiveFile() {
    return cgroupInactiveFile;
  }

  @Override
  public long allocatedBytes(long threadId) {
    asked++;
    return allocated.getOrDefault(threadId, 0L);
  }
}
