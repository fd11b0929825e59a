package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Test;

class SpanIndexTest {
  private static final int SLOTS = 64;

  private final AtomicLongArray ids = new AtomicLongArray(SLOTS);
  private final SpanIndex index = indexOf(ids);

  private static SpanIndex indexOf(AtomicLongArray ids) {
    return new SpanIndex(
        ids.length(),
        new SpanIndex.Slots() {
          @Override
          public long idIn(int slot) {
            return ids.get(slot);
          }

          @Override
          public int count() {
            return ids.length();
          }
        });
  }

  private void put(long id, int slot) {
    ids.set(slot, id);
    index.put(id, slot);
  }

  @Test
  void spanIsFoundUntilItsSlotHoldsItNoMore() {
    put(77, 5);

    assertThat(index.find(77)).isEqualTo(5);
    assertThat(index.find(78)).isEqualTo(-1);

    ids.set(5, 0);
    assertThat(index.find(77)).isEqualTo(-1);

    put(78, 5);
    assertThat(index.find(77)).isEqualTo(-1);
    assertThat(index.find(78)).isEqualTo(5);
  }

  @Test
  void moreSpansOfOneHashThanABucketHasRoomForAreFoundAllTheSame() {
    for (int slot = 0; slot < SLOTS; slot++) {
      put(1 + (long) slot * SLOTS, slot);
    }

    for (int slot = 0; slot < SLOTS; slot++) {
      assertThat(index.find(1 + (long) slot * SLOTS)).isEqualTo(slot);
    }
    assertThat(index.find(1 + (long) SLOTS * SLOTS)).isEqualTo(-1);
  }

  @Test
  void whatHasEndedMakesRoomSoThatOneHashAfterAnotherNeverFillsItsBucket() {
    for (int i = 0; i < 10_000; i++) {
      put(1 + (long) i * SLOTS, i % 40);
      if (i > 1) {
        ids.set((i - 2) % 40, 0);
      }
      assertThat(index.find(1 + (long) i * SLOTS)).isEqualTo(i % 40);
    }

    // Not put: it would be found only by looking at every slot, which a full bucket asks for.
    ids.set(50, 1 + 10_000L * SLOTS);
    assertThat(index.find(1 + 10_000L * SLOTS)).isEqualTo(-1);
  }

  @Test
  void everyOpenSpanIsFoundInAnyHistory() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      AtomicLongArray slots = new AtomicLongArray(SLOTS);
      SpanIndex any = indexOf(slots);
      Map<Integer, Long> open = new HashMap<>();
      for (int step = 0; step < 400; step++) {
        int slot = random.nextInt(SLOTS);
        if (open.remove(slot) != null) {
          slots.set(slot, 0);
        } else {
          // Few hashes, so that buckets spill.
          long id = 1 + random.nextInt(6) + (long) SLOTS * (1 + random.nextInt(1 << 20));
          if (!open.containsValue(id)) {
            slots.set(slot, id);
            any.put(id, slot);
            open.put(slot, id);
          }
        }
        for (Map.Entry<Integer, Long> span : open.entrySet()) {
          assertThat(any.find(span.getValue())).as("seed=%s", seed).isEqualTo(span.getKey());
        }
      }
    }
  }

  @Test
  void threadsThatPutIntoOneBucketLoseNoneOfEachOthers() throws InterruptedException {
    int threads = 4;
    List<String> lost = new ArrayList<>();
    List<Thread> all = new ArrayList<>();
    CountDownLatch start = new CountDownLatch(threads);
    for (int t = 0; t < threads; t++) {
      int slot = t;
      Thread thread =
          new Thread(
              () -> {
                start.countDown();
                for (long i = 1; i <= 300_000; i++) {
                  // One bucket for all; a thread's slot holds one span after another.
                  long id = 1 + (i * threads + slot) * SLOTS;
                  put(id, slot);
                  if (index.find(id) != slot) {
                    synchronized (lost) {
                      lost.add("slot=" + slot + ", i=" + i);
                    }
                  }
                  ids.set(slot, 0);
                }
              });
      all.add(thread);
      thread.start();
    }
    for (Thread thread : all) {
      thread.join();
    }

    assertThat(lost).isEmpty();
  }
}
