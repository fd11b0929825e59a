package cairn;

import cairn.format.CounterLayout;
import cairn.format.EncodeLimits;
import cairn.format.Forms;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * A few scratches for any number of threads.
 *
 * <p>Any thread; never waits: when every scratch that a thread tries is in use, it gets a new one,
 * counted in {@code scratchAllocated}.
 */
final class ScratchPool {
  /*
   * Not a ThreadLocal: a scratch per thread would cost every virtual thread 32 KiB, would tie the
   * application's pool threads to our class loader, and would have to be guarded against re-entrant
   * use (a toString that logs). One compare-and-set gives all three: a nested call, or a
   * thread that is unmounted inside user code, merely finds its scratch in use and takes the next.
   */

  private static final int PROBES = 4;

  private final Scratch[] scratches;
  private final int mask;
  private final long nonce;
  private final int maxRecordBytes;
  private final KeyCache keys;
  private final EncodeLimits limits;
  private final Forms forms;
  private final Counters counters;

  ScratchPool(
      long nonce,
      int maxRecordBytes,
      EncodeLimits limits,
      Secrets secrets,
      Forms forms,
      Counters counters) {
    int processors = Runtime.getRuntime().availableProcessors();
    int size = Math.max(8, Math.min(64, Integer.highestOneBit(2 * processors - 1) << 1));
    this.scratches = new Scratch[size];
    this.mask = size - 1;
    this.nonce = nonce;
    this.maxRecordBytes = maxRecordBytes;
    this.limits = limits;
    this.keys = new KeyCache(secrets);
    this.forms = forms;
    this.counters = counters;
    scratches[0] = create(true);
  }

  KeyCache keys() {
    return keys;
  }

  private Scratch create(boolean pooled) {
    return new Scratch(nonce, maxRecordBytes, keys, limits, forms, pooled);
  }

  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  Scratch acquire() {
    int start = (int) Thread.currentThread().getId() & mask;
    Scratch scratch = scratches[start];
    if (scratch != null && scratch.compareAndSet(0, 1)) {
      return scratch;
    }
    return acquireOther(start);
  }

  private Scratch acquireOther(int start) {
    for (int i = 0; i < PROBES; i++) {
      int index = (start + i) & mask;
      // A racy read: null, or a scratch whose final fields are safely published.
      @Nullable Scratch scratch = scratches[index];
      if (scratch == null) {
        Scratch created = create(true);
        created.set(1);
        // Release: whoever reads the reference sees the owned flag. Two threads may both create
        // one;
        // the one that is overwritten goes with its owner.
        VarHandle.releaseFence();
        scratches[index] = created;
        return created;
      }
      if (scratch.compareAndSet(0, 1)) {
        return scratch;
      }
    }
    counters.increment(CounterLayout.SCRATCH_ALLOCATED);
    return create(false);
  }

  void release(Scratch scratch) {
    if (scratch.pooled) {
      // Release: the next owner's compare-and-set sees what this one left in the scratch.
      scratch.setRelease(0);
    }
  }
}
