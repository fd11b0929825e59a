package cairn;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.report.ReportOfBytes;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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

  private void beat(int times) {
    for (int i = 0; i < times; i++) {
      box.scope.compactEarly();
    }
  }

  /** Whether the text is anywhere in the box. */
  private boolean holds(String text) {
    return new String(memory.image(), StandardCharsets.ISO_8859_1).contains(text);
  }

  /** As {@link #holds}, and whether a part of it is that a torn erasure would leave. */
  private boolean holdsPartOf(String text) {
    for (int at = 0; at + 8 <= text.length(); at++) {
      if (holds(text.substring(at, at + 8))) {
        return true;
      }
    }
    return false;
  }

  private void compact() {
    long compactions = box.counters.get(CounterLayout.COMPACTIONS);
    beat(ScopeLog.MAX_STALE_BEATS);
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(compactions + 1);
  }

  @Test
  void overwrittenValueIsNowhereAfterTheNextCompaction() {
    tag("region", "first-value-of-it-" + "abcdefgh".repeat(100));
    tag("other", "stays");
    tag("region", "second");
    assertThat(holds("first-value-of-it-")).isTrue();

    compact();

    assertThat(holdsPartOf("first-value-of-it-")).isFalse();
    assertThat(holdsPartOf("abcdefgh")).isFalse();
    assertThat(tags()).isEqualTo(Map.of("region", "second", "other", "stays"));
  }

  @Test
  void removedValueIsNowhereAfterTheNextCompaction() {
    tag("ticket", "the-removed-text");
    tag("other", "stays");
    tag("ticket", null);
    assertThat(holds("the-removed-text")).isTrue();

    compact();

    assertThat(holdsPartOf("the-removed-text")).isFalse();
    assertThat(tags()).isEqualTo(Map.of("other", "stays"));
  }

  @Test
  void valueThatACompactionCopiedIsNowhereAfterItsRemovalAndTheNext() {
    tag("busy", "1");
    tag("ticket", "the-removed-text");
    tag("busy", "2");
    compact(); // now in both halves
    tag("ticket", null);

    compact();

    assertThat(holdsPartOf("the-removed-text")).isFalse();
    assertThat(tags()).isEqualTo(Map.of("busy", "2"));
  }

  @Test
  void longValueLeavesNothingBehindAShorterOneInItsPlace() {
    tag("busy", "1");
    tag("busy", "2");
    compact();
    tag("first", "long-removed-text".repeat(60));
    tag("first", "short");
    compact(); // the long one was in the half that this one leaves
    tag("busy", "3");
    compact();

    assertThat(holdsPartOf("long-removed-text")).isFalse();
    assertThat(tags()).isEqualTo(Map.of("busy", "3", "first", "short"));
  }

  @Test
  void copiedRecordLeavesNothingOfAnOlderOneInItsPadding() {
    tag("ticket", "x".repeat(26) + "the-removed-text"); // over where the next one's padding lies
    tag("busy", "1");
    tag("busy", "2");
    compact(); // copies the ticket to the other half
    tag("ticket", null);
    tag("a", "b");
    tag("busy", "3");
    compact(); // copies the two others, not zeroing this half's ticket but by what is written on it
    tag("busy", "4");
    compact();

    assertThat(holdsPartOf("the-removed-text")).isFalse();
  }

  @Test
  void clearedScopeIsNowhereAtOnce() {
    tag("busy", "1");
    tag("ticket-key", "the-removed-text");
    tag("removed-key", "removed-value");
    tag("busy", "2");
    compact(); // now in both halves
    tag("removed-key", null);
    tag("later-key", "later-value".repeat(200));

    box.clearScope();

    for (String text :
        List.of("ticket-key", "the-removed-text", "removed-key", "later-key", "later-value")) {
      assertThat(holdsPartOf(text)).as(text).isFalse();
    }
    assertThat(tags()).isEmpty();
    assertThat(memory.report().findings()).isEmpty();

    tag("zone", "after the clear");
    assertThat(tags()).isEqualTo(Map.of("zone", "after the clear"));
  }

  @Test
  void nothingOfAnyOldValueIsLeftAfterAnyUpdates() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    Map<String, String> live = new HashMap<>();
    List<String> old = new ArrayList<>();
    for (int i = 0; i < 1_500; i++) {
      String key = "key" + random.nextInt(30);
      String value = "value-" + i + "-" + "x".repeat(random.nextInt(300));
      String before = random.nextInt(4) == 0 ? live.remove(key) : live.put(key, value);
      tag(key, live.get(key));
      if (before != null) {
        old.add(before.substring(0, before.lastIndexOf('-') + 1));
      }
      if (i % 100 == 99) {
        box.scope.eraseStale();
        String image = new String(memory.image(), StandardCharsets.ISO_8859_1);
        assertThat(old).as("seed=%d, step=%d", seed, i).noneMatch(image::contains);
      }
    }
    assertThat(tags()).as("seed=%d", seed).isEqualTo(live);
    assertThat(memory.report().findings()).as("seed=%d", seed).isEmpty();
  }

  @Test
  void oldValueIsErasedAMinuteLaterAndNothingIsDoneWhereThereIsNone() {
    tag("region", "eu");
    beat(3 * ScopeLog.MAX_STALE_BEATS);
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isZero();

    tag("region", "us");
    beat(ScopeLog.MAX_STALE_BEATS - 1);
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isZero();
    beat(1);
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(1);
    beat(3 * ScopeLog.MAX_STALE_BEATS);
    assertThat(box.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(1);
  }

  @Test
  void valueThatIsOverwrittenByTheUpdateThatCompactsIsErasedByTheNextCompaction() {
    for (int i = 0; box.counters.get(CounterLayout.COMPACTIONS) == 0; i++) {
      tag("busy", "value-" + i + "-");
      if (box.counters.get(CounterLayout.COMPACTIONS) == 1) {
        assertThat(holds("value-" + (i - 1) + "-")).isTrue(); // it was live when it was copied
        compact();
        assertThat(holds("value-" + (i - 1) + "-")).isFalse();
        assertThat(holds("value-" + i + "-")).isTrue();
        return;
      }
    }
    throw new AssertionError("never compacted");
  }

  @Test
  void boxThatWasReadWhileTheScopeWentOnShowsAScopeThatWas() {
    tag("region", "eu");
    tag("busy", "1");
    tag("busy", "2");
    byte[] head = memory.image();
    compact();
    tag("busy", "3");
    byte[] oneOn = memory.image();
    compact();
    byte[] twoOn = memory.image();

    // The head, then the rest: a reader that reads the file from its beginning.
    for (byte[] rest : List.of(oneOn, twoOn)) {
      int at = box.plan.scopeHead;
      System.arraycopy(head, at, rest, at, 2 * BoxPlan.COPY_UNIT);
      assertThat(ReportOfBytes.read(rest).scope().tags())
          .containsEntry("region", "eu")
          .containsKey("busy");
    }
  }
}
