package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SalvagedJsonTest {
  private static SalvagedJson read(String json) {
    return SalvagedJson.of(json.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void everyKindOfValueIsRead() {
    SalvagedJson json =
        read(
            """
             { "text": "a\\"\\\\\\/\\b\\f\\n\\r\\té€😀\\u00e9\\ud83d\\ude00", "whole": -12, "zero": 0,
               "large": 123456789012345678901234567890, "long": 9223372036854775807,
               "decimal": 1.5, "power": -2.5e-3, "yes": true, "no": false, "none": null,
               "list": [ ], "object": { }, "nested": [ [ 1 , 2 ] , { "a" : [ ] } ] }
            """);

    assertThat(json.damage()).isNull();
    assertThat(json.isWhole()).isTrue();
    Map<String, Object> object = json.object();
    assertThat(object)
        .containsEntry("text", "a\"\\/\b\f\n\r\té€😀é😀")
        .containsEntry("whole", -12L)
        .containsEntry("zero", 0L)
        .containsEntry("large", new BigInteger("123456789012345678901234567890"))
        .containsEntry("long", Long.MAX_VALUE)
        .containsEntry("decimal", 1.5)
        .containsEntry("power", -2.5e-3)
        .containsEntry("yes", true)
        .containsEntry("no", false)
        .containsEntry("none", null)
        .containsEntry("list", List.of())
        .containsEntry("object", Map.of())
        .containsEntry("nested", List.of(List.of(1L, 2L), Map.of("a", List.of())));
    assertThat(object.keySet()).startsWith("text", "whole").endsWith("object", "nested");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"a\"", "1", "-1.5", "true", "null", "[]", "{}", " [1] ", "\"\""})
  void aValueAloneIsWhole(String text) {
    assertThat(read(text).isWhole()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`` | there is no value | 0",
        "` ` | there is no value | 1",
        "{ | value is cut | 1",
        "{\"a\" | value is cut | 4",
        "{\"a\": | value is cut | 5",
        "{\"a\":1 | value is cut | 5",
        "{\"a\":1, | value is cut | 7",
        "{\"a\":tr | value is cut | 5",
        "{\"a\":\"b | text is cut | 5",
        "{\"a\":\"b\\ | text is cut | 8",
        "{\"a\":\"b\\u00 | text is cut | 11",
        "{\"a\":\"b\\u00x0\"} | unexpected byte 0x78 | 11",
        "{\"a\":\"b\\x\"} | unexpected byte 0x78 | 8",
        "{a:1} | unexpected byte 0x61 | 1",
        "{\"a\" 1} | unexpected byte 0x31 | 5",
        "[1 2] | unexpected byte 0x32 | 3",
        "[1,] | unexpected byte 0x5d | 3",
        "{\"a\":1,} | unexpected byte 0x7d | 7",
        "[1} | unexpected byte 0x7d | 2",
        "[NaN] | unexpected byte 0x4e | 1",
        "[1e] | unexpected byte 0x31 | 1",
        "[-] | unexpected byte 0x2d | 1",
        "[1] x | bytes behind the value | 4",
        "[1][2] | bytes behind the value | 3",
      })
  void damageHasAKindAndAnOffset(String text, String damage, int offset) {
    SalvagedJson json = read(text);

    assertThat(json.damage()).isEqualTo(damage);
    assertThat(json.damageOffset()).isEqualTo(offset);
    assertThat(json.isWhole()).isFalse();
  }

  @Test
  void aBareControlCharacterIsDamage() {
    assertThat(read("[\"a\u0000b\"]").damage()).isEqualTo("unexpected byte 0x00");
  }

  @Test
  void whatIsCutKeepsTheValuesThatWereComplete() {
    String text = "{\"a\":1,\"b\":{\"c\":[true,\"two\",3],\"d\":null},\"e\":12}";
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);

    assertThat(SalvagedJson.of(Arrays.copyOf(bytes, text.indexOf("wo"))).value())
        .isEqualTo(Map.of("a", 1L, "b", Map.of("c", List.of(true))));
    // Of 12 only 1: the number may have been longer, so there is none.
    assertThat(SalvagedJson.of(Arrays.copyOf(bytes, text.indexOf("2}"))).object())
        .containsOnlyKeys("a", "b");
  }

  @Test
  void everyPrefixGivesAPartOfTheWhole() {
    byte[] bytes =
        "{\"a\":1,\"b\":[1,2,{\"x\":\"y\"}],\"c\":\"d\",\"e\":false}"
            .getBytes(StandardCharsets.UTF_8);
    Map<String, Object> whole = SalvagedJson.of(bytes).object();
    assertThat(whole).hasSize(4);

    for (int size = 0; size < bytes.length; size++) {
      SalvagedJson json = SalvagedJson.of(Arrays.copyOf(bytes, size));
      assertThat(json.damage()).isNotNull();
      Map<String, Object> part = json.object();
      if (part != null) {
        part.forEach(
            (key, value) -> {
              if (!(value instanceof List<?> list)) {
                assertThat(whole).containsEntry(key, value);
              } else {
                assertThat(((List<?>) whole.get(key)).size()).isGreaterThanOrEqualTo(list.size());
              }
            });
      }
    }
  }

  /** sentry-dart's issue 3668: a large flat object overflowed the stack of its decoder. */
  @Test
  void aLargeFlatObjectNeedsNoStack() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < 100_000; i++) {
      text.append(i == 0 ? "" : ",").append("\"k").append(i).append("\":").append(i);
    }

    SalvagedJson json = read(text.append('}').toString());

    assertThat(json.isWhole()).isTrue();
    assertThat(json.object()).hasSize(100_000);
  }

  @Test
  void whatIsTooDeepIsPassedOverAndTheRestIsRead() {
    String deep = "[".repeat(100_000) + "\"]\"" + "]".repeat(100_000);

    SalvagedJson json = read("{\"deep\":" + deep + ",\"after\":1}");

    assertThat(json.isWhole()).isTrue();
    assertThat(json.object()).containsEntry("after", 1L);
    assertThat(json.object().get("deep").toString()).contains("…").hasSizeLessThan(200);
  }

  @Test
  void whatIsTooDeepAndCutIsDamage() {
    assertThat(read("[".repeat(100_000)).damage()).isEqualTo("value is cut");
  }

  @Test
  void moreValuesThanTheLimitAreDamageAndTheFirstAreKept() {
    SalvagedJson json = read("[" + "1,".repeat(300_000) + "1]");

    assertThat(json.damage()).isEqualTo("more values than limit=250000");
    assertThat((List<?>) json.value()).hasSize(249_999);
  }

  @Test
  void aNumberThatIsTooLongIsDamage() {
    assertThat(read("[" + "1".repeat(500) + "]").damage())
        .isEqualTo("number is longer than limit=400");
  }

  @Test
  void memoryIsInProportionToTheBytes() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    List<String> hostile =
        List.of(
            "[".repeat(1_000_000),
            "{\"a\":".repeat(100_000),
            "[" + "{},".repeat(200_000),
            "[" + "[],".repeat(200_000),
            "\"" + "\\n".repeat(500_000));
    for (String text : hostile) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      long before = threads.getCurrentThreadAllocatedBytes();
      SalvagedJson.of(bytes);
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertThat(allocated).as(text.substring(0, 6)).isLessThan(64L * bytes.length);
    }
  }
}
