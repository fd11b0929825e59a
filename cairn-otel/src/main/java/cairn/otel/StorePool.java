package cairn.otel;

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Attribute stores that are free: at most 256 of at most 64 attributes, some 150 KB as a rule.
 *
 * <p>Any thread, virtual ones included: nothing is bound to a thread; wait-free. No allocation
 * while a thread has no more than sixteen spans with attributes open.
 */
final class StorePool {
  // A thread looks into its own group and then into the shared one, where what ends on other
  // threads than it began on comes round. A group is one cache line of references.
  private static final int GROUPS = 16;
  private static final int GROUP_SIZE = 16;

  private final AtomicReferenceArray<@Nullable AttributeStore> slots =
      new AtomicReferenceArray<>(GROUPS * GROUP_SIZE);

  /** {@return an empty store} */
  AttributeStore acquire() {
    int own = ownGroup();
    AttributeStore store = acquire(own);
    if (store == null && own != 0) {
      store = acquire(0);
    }
    return store == null ? new AttributeStore() : store;
  }

  private @Nullable AttributeStore acquire(int group) {
    for (int i = group; i < group + GROUP_SIZE; i++) {
      // Plain: the CAS decides; it also acquires what the release below published.
      AttributeStore store = slots.getPlain(i);
      if (store != null && slots.compareAndSet(i, store, null)) {
        return store;
      }
    }
    return null;
  }

  /** Takes a store back; the caller has dropped every reference to it but this one. */
  void release(AttributeStore store) {
    if (store.isPoolable()) {
      store.clear();
      int own = ownGroup();
      if (!release(own, store) && own != 0) {
        boolean unused = release(0, store); // else there are enough
      }
    }
  }

  private boolean release(int group, AttributeStore store) {
    for (int i = group; i < group + GROUP_SIZE; i++) {
      if (slots.getPlain(i) == null && slots.compareAndSet(i, null, store)) {
        return true;
      }
    }
    return false;
  }

  /** {@return how many are free} */
  int count() {
    int count = 0;
    for (int i = 0; i < slots.length(); i++) {
      count += slots.get(i) == null ? 0 : 1;
    }
    return count;
  }

  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  private static int ownGroup() {
    return ((int) Thread.currentThread().getId() & GROUPS - 1) * GROUP_SIZE;
  }
}
