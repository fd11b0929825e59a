package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ScopeLogTest {
  private final MemoryBox memory = new MemoryBox(16, 64 * 1024);
  private final Box box = memory.box;

  private Map<String, Object> tags() {
    return memory.report().scope().tags();
  }

  private void tag(String key, String value) {
    box.setScope(RecordLayout.KIND_TAG, key, value);
  }

  @Test
  void latestValueOfAFieldWins() {
    tag("region", "eu");
    tag("region", "us");
    tag("zone", "1");

    assertThat(tags()).isEqualTo(Map.of("region", "us", "zone", "1"));
  }

  @Test
  void nullRemovesAFieldAndItCanBeSetAgain() {
    tag("region", "eu");
    tag("zone", "1");
    tag("region", null);
    assertThat(tags()).isEqualTo(Map.of("zone", "1"));

    tag("region", "ap");
    assertThat(tags()).isEqualTo(Map.of("zone", "1", "region", "ap"));
  }

  @Test
  void removingWhatIsNotThereStoresNothing() {
    byte[] before = memory.image();
    tag("region", null);

    assertThat(memory.image()).isEqualTo(before);
  }

  @Test
  void clearRemovesEveryFieldAndLaterOnesStay() {
    tag("region", "eu");
    box.setScope(RecordLayout.KIND_USER, null, Map.of("id", "42"));
    box.clearScope();
    tag("zone", "2");

    assertThat(tags()).isEqualTo(Map.of("zone", "2"));
    assertThat(memory.report().scope().user()).isEmpty();
  }

  @Test
  void sameKeyInDifferentKindsAreDifferentFields() {
    tag("a", "tag");
    box.setScope(RecordLayout.KIND_CONTEXT, "a", "context");
    box.setScope(RecordLayout.KIND_EXTRA, "a", 7L);

    assertThat(tags()).isEqualTo(Map.of("a", "tag"));
    assertThat(memory.report().scope().contexts()).isEqualTo(Map.of("a", "context"));
    assertThat(memory.report().scope().extras()).isEqualTo(Map.of("a", 7L));
  }

  @Test
  void everyKindOfFieldComesBack() {
    box.setScope(RecordLayout.KIND_LEVEL, null, "ERROR");
    box.setScope(RecordLayout.KIND_TRANSACTION, null, "nightly");
    box.setScope(RecordLayout.KIND_FINGERPRINT, null, List.of("a", "b"));
    box.setScope(RecordLayout.KIND_TRACE, null, Map.of("traceId", "00ff"));

    var scope = memory.report().scope();
    assertThat(scope.level()).isEqualTo(Level.ERROR);
    assertThat(scope.transaction()).isEqualTo("nightly");
    assertThat(scope.fingerprint()).containsExactly("a", "b");
    assertThat(scope.trace()).isEqualTo(Map.of("traceId", "00ff"));
  }

  @Test
  void fieldsSurviveAnyNumberOfCompactions() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<String, Object> expected = new HashMap<>();
    for (int i = 0; i < 20_000; i++) {
      String key = "key" + random.nextInt(60);
      int what = random.nextInt(100);
      if (what == 0) {
        box.clearScope();
        expected.clear();
      } else if (what < 15) {
        tag(key, null);
        expected.remove(key);
      } else {
        String value = "v" + i + "x".repeat(random.nextInt(100));
        tag(key, value);
        expected.put(key, value);
      }
      if (i % 1_000 == 0) {
        assertThat(tags()).as("seed=%d, step=%d", seed, i).isEqualTo(expected);
      }
    }
    assertThat(tags()).as("seed=%d", seed).isEqualTo(expected);
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isGreaterThan(100);
    assertThat(box.counters.get(CounterLayout.SCOPE_DROPPED)).isZero();
  }

  @Test
  void updateBeyondTheBoundIsRefusedAndCountedAndTheOldValueStays() {
    String large = "x".repeat(8_000);
    for (int i = 0; i < 10; i++) {
      tag("large" + i, large);
    }
    tag("small", "still fits in");
    int kept = tags().size();
    assertThat(kept).isBetween(3, 6);
    long refused = box.counters.get(CounterLayout.SCOPE_DROPPED);
    assertThat(refused).isEqualTo(10 - (kept - 1));

    tag("small", large);
    assertThat(tags()).containsEntry("small", "still fits in");
    assertThat(box.counters.get(CounterLayout.SCOPE_DROPPED)).isEqualTo(refused + 1);
    assertThat(memory.report().counters()).containsEntry("scopeDropped", refused + 1);
  }

  @Test
  void valueWhoseCodeThrowsBecomesAPlaceholderAndIsCounted() {
    box.setScope(
        RecordLayout.KIND_CONTEXT,
        "bad",
        new Object() {
          @Override
          public String toString() {
            throw new IllegalStateException("no");
          }
        });

    assertThat(memory.report().scope().contexts().get("bad"))
        .asString()
        .contains("threw", "IllegalStateException");
    assertThat(box.counters.get(CounterLayout.PLACEHOLDERS)).isEqualTo(1);
  }

  @Test
  void manyDifferentKeysSetAndRemovedLeaveNothingBehind() {
    for (int i = 0; i < 10_000; i++) {
      tag("k" + i, "v");
      tag("k" + i, null);
    }
    tag("last", "one");

    assertThat(tags()).isEqualTo(Map.of("last", "one"));
  }
}
