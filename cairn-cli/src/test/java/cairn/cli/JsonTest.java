package cairn.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JsonTest {
  @Test
  void everyKindOfValueIsReadBackByAnotherParser() {
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("null", null);
    value.put("true", true);
    value.put("long", Long.MIN_VALUE);
    value.put("big", BigInteger.TWO.pow(80));
    value.put("decimal", new BigDecimal("1.10"));
    value.put("double", 0.1);
    value.put("nan", Double.NaN);
    value.put("bytes", new byte[] {1, 2, 3});
    value.put("at", Instant.EPOCH);
    value.put("list", Arrays.asList(1L, null, List.of(), Map.of()));
    value.put("key \" \\ \n", "\" \\ / \b \f \n \r \t \u0000 \u001b \u009b \u2028 ü 😀");

    JsonNode json = Cli.Result.json(Json.of(value));

    assertThat(json.get("null").isNull()).isTrue();
    assertThat(json.get("true").booleanValue()).isTrue();
    assertThat(json.get("long").longValue()).isEqualTo(Long.MIN_VALUE);
    assertThat(json.get("big").bigIntegerValue()).isEqualTo(BigInteger.TWO.pow(80));
    assertThat(json.get("decimal").asText()).startsWith("1.1");
    assertThat(json.get("double").doubleValue()).isEqualTo(0.1);
    assertThat(json.get("nan").textValue()).isEqualTo("NaN");
    assertThat(json.get("bytes").textValue()).isEqualTo("AQID");
    assertThat(json.get("at").textValue()).isEqualTo("1970-01-01T00:00:00.000Z");
    assertThat(json.get("list")).hasToString("[1,null,[],{}]");
    assertThat(json.get("key \" \\ \n").textValue())
        .isEqualTo("\" \\ / \b \f \n \r \t \u0000 \u001b \u009b \u2028 ü 😀");
  }

  @Test
  void noByteOfItMovesATerminalsCursor() {
    assertThat(Json.of("\u001b[2J\u009b\u007f\ud800"))
        .isEqualTo("\"\\u001b[2J\\u009b\\u007f\\ud800\"");
  }

  @Test
  void rowsAreAnArrayWithOneRowALine() {
    assertThat(Json.lines(List.of())).isEqualTo("[]");
    assertThat(Json.lines(List.of(Map.of("a", 1), Map.of("b", 2))))
        .isEqualTo("[\n  {\"a\":1},\n  {\"b\":2}\n]");
  }
}
