package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class KeyCacheTest {
  private final KeyCache cache = new KeyCache();

  @Test
  void onlyTheVerySameStringIsFound() {
    String key = "status";
    cache.add(key, new byte[] {9, 1, 2, 9}, 1, 2, false);
    assertThat(cache.find(key).encoded).containsExactly(1, 2);
    assertThat(cache.find(new String(key))).isNull();
  }

  @Test
  void keysBuiltAnewEachTimeStopBeingRemembered() {
    byte[] encoded = {1};
    List<String> found = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      String key = new String("same");
      cache.add(key, encoded, 0, 1, false);
      if (cache.find(key) != null) {
        found.add(key);
      }
    }
    assertThat(found).hasSizeBetween(2, 100);
  }

  @Test
  void valueIsRememberedOnceTheVerySameOneComesAgainAndAgain() {
    String value = "/orders/{id}";
    int calls = 0;
    while (!cache.isWorthAdding(value)) {
      calls++;
      assertThat(calls).isLessThan(100);
    }
    cache.addValue(value, new byte[] {9, 1, 2, 9}, 1, 2);

    assertThat(calls).isPositive();
    assertThat(cache.findValue(value).encoded).containsExactly(1, 2);
    assertThat(cache.findValue(new String(value))).isNull();
  }

  @Test
  void valuesBuiltAnewEachTimeAreNeverRemembered() {
    for (int i = 0; i < 100_000; i++) {
      assertThat(cache.isWorthAdding(new String("same"))).isFalse();
    }
  }

  @Test
  void longAndEmptyValuesAreNotLookedFor() {
    for (String value : new String[] {"", "x".repeat(32), "x".repeat(10_000_000)}) {
      for (int i = 0; i < 100; i++) {
        assertThat(cache.isWorthAdding(value)).isFalse();
      }
      assertThat(cache.findValue(value)).isNull();
    }
  }

  @Test
  void writersThatShareItWriteRightKeys() throws InterruptedException {
    String[] keys = new String[2000];
    for (int i = 0; i < keys.length; i++) {
      keys[i] = "key " + i;
    }
    List<String> wrong = new ArrayList<>();
    CountDownLatch start = new CountDownLatch(4);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int stride = 2 * t + 1;
      Thread thread =
          new Thread(
              () -> {
                CborWriter out = new CborWriter(new byte[100], cache);
                start.countDown();
                try {
                  start.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                for (int i = 0; i < 40_000; i++) {
                  String key = keys[(int) ((long) i * stride % keys.length)];
                  out.reset(0, 100);
                  boolean written = out.key(key);
                  String read =
                      new String(
                          out.bytes(),
                          1,
                          out.position() - 1,
                          java.nio.charset.StandardCharsets.US_ASCII);
                  if (!written || !read.equals(key)) {
                    synchronized (wrong) {
                      wrong.add(key);
                    }
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(wrong).isEmpty();
  }
}
