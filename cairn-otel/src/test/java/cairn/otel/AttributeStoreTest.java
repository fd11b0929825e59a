package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Stores, the pool they come from, keys and values. */
class AttributeStoreTest {
  private static final int NO_LIMIT = Integer.MAX_VALUE;

  @Test
  void storeHoldsWhatAMapHoldsWhateverTheSizeAndTheLimit() {
    for (int round = 0; round < 200; round++) {
      Random random = new Random(round);
      int names = 1 + random.nextInt(round < 100 ? 12 : 300);
      int limit = random.nextBoolean() ? NO_LIMIT : random.nextInt(names + 1);
      AttributeStore store = new AttributeStore();
      Map<AttributeKey<?>, Object> model = new LinkedHashMap<>();
      Map<String, AttributeKey<?>> keys = new HashMap<>();
      int total = 0;
      for (int i = 0; i < 2 * names; i++) {
        String name = "name " + random.nextInt(names);
        boolean known = keys.containsKey(name);
        total += known ? 0 : 1;
        boolean put;
        AttributeKey<?> key;
        Object value;
        switch (random.nextInt(3)) {
          case 0 -> {
            AttributeKey<Long> of = AttributeKey.longKey(name);
            long number = random.nextLong();
            put = store.putLong(limit, of, name, number);
            key = of;
            value = number;
          }
          case 1 -> {
            AttributeKey<Double> of = AttributeKey.doubleKey(name);
            double number = random.nextDouble();
            put = store.putDouble(limit, of, name, number);
            key = of;
            value = number;
          }
          default -> {
            AttributeKey<String> of = AttributeKey.stringKey(name);
            put = store.put(limit, of, name, "text " + i);
            key = of;
            value = "text " + i;
          }
        }
        assertThat(put).as("seed " + round).isEqualTo(known || keys.size() < limit);
        if (put) {
          AttributeKey<?> before = keys.put(name, key);
          if (before != null) {
            model.remove(before);
          }
          model.put(key, value);
        }
      }

      assertThat(store.freeze().asMap()).as("seed " + round).isEqualTo(model);
      assertThat(store.size()).isEqualTo(model.size());
      assertThat(store.total()).isEqualTo(total);
      keys.forEach((name, key) -> assertThat(store.valueOf(name)).isEqualTo(model.get(key)));
      keys.forEach((name, key) -> assertThat(store.keyOf(name)).isSameAs(key));
      assertThat(store.keyOf("not there")).isNull();

      AttributeStore copy = new AttributeStore();
      copy.putAll(NO_LIMIT, store);
      assertThat(copy.freeze()).isEqualTo(store.freeze());
      assertThat(copy.total()).isEqualTo(store.total());
      store.clear();
      assertThat(store.freeze().isEmpty()).isTrue();
      assertThat(store.total()).isZero();
      assertThat(store.keyOf("name 0")).isNull();
    }
  }

  @Test
  void frozenAttributesAreEqualToOthersOfTheSameContentAndKeepTheOrder() {
    AttributeStore store = new AttributeStore();
    AttributeKey<String> text = AttributeKey.stringKey("text");
    AttributeKey<Long> number = AttributeKey.longKey("number");
    boolean unused = store.put(NO_LIMIT, text, "text", "a") & store.putLong(9, number, "number", 1);
    FrozenAttributes frozen = store.freeze();
    Attributes same = Attributes.of(number, 1L, text, "a");

    assertThat(frozen).isEqualTo(same).hasSameHashCodeAs(same.asMap());
    assertThat(frozen).isNotEqualTo(Attributes.of(number, 2L, text, "a"));
    assertThat(frozen.asMap().keySet()).containsExactly(text, number);
    assertThat(frozen.get(AttributeKey.longKey("text"))).isNull();
    assertThat(frozen.toBuilder().put("more", true).build().size()).isEqualTo(3);
    assertThat(frozen.sorted()).isEqualTo(same);
  }

  @Test
  void poolGivesEachStoreToOneAndKeepsNoMoreThanItHasPlacesFor() {
    StorePool pool = new StorePool();
    List<AttributeStore> taken = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      taken.add(pool.acquire());
    }
    assertThat(taken).doesNotHaveDuplicates();
    taken.forEach(pool::release);
    assertThat(pool.count()).isBetween(16, 32);
    assertThat(pool.acquire()).isIn(taken);
  }

  @Test
  void keyIsRememberedByNameAndTypeAndRightWhereNothingIsRemembered() {
    KeyCache cache = new KeyCache(64);
    assertThat(cache.text("name")).isSameAs(cache.text(new String("name")));
    assertThat((Object) cache.integer("name")).isEqualTo(AttributeKey.longKey("name"));
    assertThat((Object) cache.floating("name")).isEqualTo(AttributeKey.doubleKey("name"));
    assertThat((Object) cache.bool("name")).isEqualTo(AttributeKey.booleanKey("name"));
    assertThat(cache.text("name")).isEqualTo(AttributeKey.stringKey("name"));
    assertThat(cache.text(null)).isNull();
    assertThat(cache.text("")).isNull();
    for (int i = 0; i < 1_000; i++) {
      assertThat(cache.text("name " + i)).isEqualTo(AttributeKey.stringKey("name " + i));
    }
    assertThat(new KeyCache(0).text("name")).isEqualTo(AttributeKey.stringKey("name"));
  }

  @Test
  void idsAreNeverZeroAndNoTwoAlike() {
    Ids ids = new Ids();
    List<Long> seen = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      long state = ids.next();
      seen.add(ids.spanId(state));
      seen.add(ids.traceLow(state));
      assertThat(ids.traceHigh(state)).isNotEqualTo(ids.traceLow(state));
    }
    assertThat(seen).doesNotContain(0L).doesNotHaveDuplicates();
    assertThat(new Ids().spanId(0)).isNotEqualTo(ids.spanId(0));
  }

  @Test
  void hexIsWhatItWasAndNothingElseIsHex() {
    long high = 0x0123456789abcdefL;
    long low = 0xfedcba9876543210L;
    assertThat(Hex.of(high, low)).isEqualTo("0123456789abcdeffedcba9876543210");
    assertThat(Hex.parse(Hex.of(low), 0)).isEqualTo(low);
    assertThat(Hex.isHex("0123456789abcdef", 16)).isTrue();
    for (String not : Arrays.asList(null, "", "0123456789ABCDEF", "0123456789abcdeg", "0123")) {
      assertThat(Hex.isHex(not, 16)).as(String.valueOf(not)).isFalse();
    }
  }

  @Test
  void valuesAreCutWhereverTheyLieAndOutOfReachOfTheirCaller() {
    List<Value<?>> inner = new ArrayList<>(List.of(Value.of("abcdef"), Value.of(7)));
    Value<?> array = Value.of(inner);
    Value<?> kept = (Value<?>) Values.keep(array, 3);
    Value<?> whole = (Value<?>) Values.keep(array, Integer.MAX_VALUE);
    inner.set(0, Value.of("changed"));

    assertThat(kept).isEqualTo(Value.of(Value.of("abc"), Value.of(7)));
    assertThat(whole).isEqualTo(Value.of(Value.of("abcdef"), Value.of(7)));
    assertThat(Values.keep(Value.of(KeyValue.of("k", Value.of("abcdef"))), 2))
        .isEqualTo(Value.of(KeyValue.of("k", Value.of("ab"))));
    assertThat(Values.keep(Value.of(new byte[] {1, 2, 3}), 2))
        .isEqualTo(Value.of(new byte[] {1, 2}));
    assertThat(Values.keep("abc", 0)).isEqualTo("");
    List<String> withNull = Arrays.asList("abcdef", null);
    assertThat(Values.keep(withNull, 3)).isEqualTo(Arrays.asList("abc", null));
  }

  @Test
  void snapshotsOfLimitsAreAskedForOnceForEachSetOfThem() {
    int[] calls = new int[1];
    io.opentelemetry.sdk.trace.SpanLimits one =
        io.opentelemetry.sdk.trace.SpanLimits.builder().setMaxNumberOfAttributes(1).build();
    CairnOpenTelemetry otel =
        CairnOpenTelemetry.builder(Spans.disabled())
            .spanLimits(
                () -> {
                  calls[0]++;
                  if (calls[0] == 3) {
                    throw new IllegalStateException("limits");
                  }
                  return one;
                })
            .build();

    Limits first = otel.tracing().limits();
    assertThat(otel.tracing().limits()).isSameAs(first);
    assertThat(otel.tracing().limits()).isSameAs(first);
    assertThat(first.attributes()).isEqualTo(1);
    assertThat(otel.tracing().faults.count()).isEqualTo(1);
  }
}
