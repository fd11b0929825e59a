package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.databind.CBORMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CborReaderTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static byte[] hex(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  private static Object value(String hex) throws CborReader.Malformed {
    byte[] bytes = hex(hex);
    CborReader reader = new CborReader(bytes, 0, bytes.length);
    Object value = reader.value();
    assertThat(reader.atEnd()).isTrue();
    return value;
  }

  private static String json(byte[] cbor) throws IOException {
    CborSlice slice = CborSlice.of(cbor, 0, cbor.length);
    assertThat(slice).isNotNull();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonWriter json = new JsonWriter(out);
    new CborToJson(json).write(slice);
    json.flush();
    return out.toString(StandardCharsets.UTF_8);
  }

  // Appendix A of RFC 8949: the value, and our JSON for it.
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "00|0",
        "17|23",
        "1818|24",
        "1903e8|1000",
        "1b000000e8d4a51000|1000000000000",
        "1bffffffffffffffff|18446744073709551615",
        "c249010000000000000000|18446744073709551616",
        "3bffffffffffffffff|-18446744073709551616",
        "c349010000000000000000|-18446744073709551617",
        "20|-1",
        "3903e7|-1000",
        "f90000|0.0",
        "f98000|-0.0",
        "f93c00|1.0",
        "fb3ff199999999999a|1.1",
        "f93e00|1.5",
        "f97bff|65504.0",
        "fa47c35000|100000.0",
        "fa3dcccccd|0.1",
        "fb7e37e43c8800759c|1.0E300",
        "f90001|5.960464477539063E-8",
        "f9c400|-4.0",
        "f97c00|\"Infinity\"",
        "f97e00|\"NaN\"",
        "fbfff0000000000000|\"-Infinity\"",
        "f4|false",
        "f5|true",
        "f6|null",
        "f7|null",
        "f0|\"simple(16)\"",
        "f8ff|\"simple(255)\"",
        "c074323031332d30332d32315432303a30343a30305a|\"2013-03-21T20:04:00Z\"",
        "c11a514b67b0|1363896240",
        "d82076687474703a2f2f7777772e6578616d706c652e636f6d|\"http://www.example.com\"",
        "4401020304|\"AQIDBA==\"",
        "6161|\"a\"",
        "62225c|\"\\\"\\\\\"",
        "62c3bc|\"ü\"",
        "64f0908591|\"𐅑\"",
        "80|[]",
        "8301820203820405|[1,[2,3],[4,5]]",
        "a201020304|{\"1\":2,\"3\":4}",
        "a26161016162820203|{\"a\":1,\"b\":[2,3]}",
        "5f42010243030405ff|\"AQIDBAU=\"",
        "7f657374726561646d696e67ff|\"streaming\"",
        "9f018202039f0405ffff|[1,[2,3],[4,5]]",
        "bf61610161629f0203ffff|{\"a\":1,\"b\":[2,3]}",
        "c48221196ab3|273.15",
        "c4820301|1E+3",
        "a1820102f5|{\"(array)\":true}",
        "a1f5f4|{\"true\":false}",
        "a1410100|{\"(bytes)\":0}",
      })
  void wellFormedItemsBecomeJson(String hex, String expected) throws Exception {
    assertThat(json(hex(hex))).isEqualTo(expected);
    assertThat(JSON.readTree(expected))
        .as("by way of the value")
        .isEqualTo(JSON.readTree(ObviousJson.of(value(hex))));
  }

  @Test
  void valuesKeepTheirKind() throws Exception {
    assertThat(value("1b7fffffffffffffff")).isEqualTo(Long.MAX_VALUE);
    assertThat(value("1bffffffffffffffff")).isEqualTo(new BigInteger("18446744073709551615"));
    assertThat(value("3b7fffffffffffffff")).isEqualTo(Long.MIN_VALUE);
    assertThat(value("c48221196ab3")).isEqualTo(new BigDecimal("273.15"));
    assertThat(value("fa3dcccccd")).isEqualTo(0.1);
    assertThat(value("4101")).isEqualTo(new byte[] {1});
    assertThat(value("a1616180")).isEqualTo(Map.of("a", List.of()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "18",
        "1900",
        "1a000000",
        "1b00000000000000",
        "1c",
        "1f",
        "3f",
        "df",
        "fc",
        "f818",
        "ff",
        "41",
        "62c3",
        "5b7fffffffffffffff",
        "5bffffffffffffffff",
        "7affffffff00",
        "81",
        "8200",
        "9b7fffffffffffffff00",
        "a1",
        "a100",
        "bf00ff",
        "9f",
        "9f01",
        "bf",
        "5f4100",
        "5f6161ff",
        "7f4161ff",
        "5f5f4100ffff",
        "c2",
        "c2ff",
        "81ff",
        "a1ff",
        "a100ff",
        "d9"
      })
  void malformedItemsAreRefused(String hex) {
    byte[] bytes = hex(hex);
    assertThat(CborSlice.of(bytes, 0, bytes.length)).isNull();
    assertThatThrownBy(() -> new CborReader(bytes, 0, bytes.length).value())
        .isInstanceOf(CborReader.Malformed.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"81", "a100", "c1", "9f"})
  void nestingIsLimited(String open) {
    byte[] at = hex(open.repeat(64) + "00" + (open.equals("9f") ? "ff".repeat(64) : ""));
    assertThat(CborSlice.of(at, 0, at.length)).isNotNull();
    byte[] beyond = hex(open.repeat(65) + "00" + (open.equals("9f") ? "ff".repeat(65) : ""));
    assertThat(CborSlice.of(beyond, 0, beyond.length)).isNull();
    byte[] deep = hex(open.repeat(1_000_000));
    assertThat(CborSlice.of(deep, 0, deep.length)).isNull();
  }

  @Test
  void aRangeIsNeverLeft() {
    byte[] bytes = hex("0062616200");
    assertThat(CborSlice.of(bytes, 1, 3)).isNull();
    assertThat(CborSlice.of(bytes, 1, 4).text()).isEqualTo("ab");
    assertThat(CborSlice.of(bytes, 1, 5)).as("something behind it").isNull();
    assertThat(CborSlice.at(bytes, 1, 5).end()).isEqualTo(4);
    assertThatThrownBy(() -> new CborReader(bytes, 2, 6))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("limit=6");
  }

  @Test
  void aHugeIntegerIsKeptAsBytes() throws Exception {
    byte[] cbor = new byte[3 + 500];
    cbor[0] = (byte) 0xc2;
    cbor[1] = 0x59;
    cbor[2] = 0x01;
    cbor = Arrays.copyOf(cbor, 4 + 500);
    cbor[3] = (byte) 0xf4;
    assertThat(new CborReader(cbor, 0, cbor.length).value()).isInstanceOf(byte[].class);
    assertThat(JSON.readTree(json(cbor)).isTextual()).isTrue();
  }

  @Test
  void anImpossibleExponentIsKeptAsItIs() throws Exception {
    assertThat(json(hex("c4821b7fffffffffffffff01"))).isEqualTo("[9223372036854775807,1]");
  }

  @Test
  void theLastOfEqualKeysCounts() throws Exception {
    assertThat(value("a2616101616102")).isEqualTo(Map.of("a", 2L));
    assertThat(JSON.readTree(json(hex("a2616101616102"))).get("a").asInt()).isEqualTo(2);
  }

  @Test
  void randomBytesAreRefusedOrBecomeJsonThatParses() throws Exception {
    long seed = 42;
    Random random = new Random(seed);
    int wellFormed = 0;
    for (int i = 0; i < 50_000; i++) {
      byte[] bytes = new byte[1 + random.nextInt(24)];
      random.nextBytes(bytes);
      CborSlice slice = CborSlice.at(bytes, 0, bytes.length);
      if (slice == null) {
        continue;
      }
      wellFormed++;
      String json = json(Arrays.copyOf(bytes, slice.end()));
      try {
        JSON.readTree(json);
      } catch (IOException e) {
        fail("seed " + seed + ", " + HexFormat.of().formatHex(bytes) + ": " + json, e);
      }
      slice.value();
      slice.entries();
    }
    assertThat(wellFormed).isGreaterThan(10_000);
  }

  @Test
  void anotherCborWriterIsUnderstood() throws Exception {
    Map<String, Object> map = new LinkedHashMap<>();
    map.put("text", "ünï \u0000\u001b\u202e \ud83d\ude00");
    map.put("long", Long.MIN_VALUE);
    map.put("double", 1.5);
    map.put("big", new BigInteger("123456789012345678901234567890"));
    map.put("list", Arrays.asList(1, null, true, Map.of("x", 0.25)));
    byte[] cbor = new CBORMapper().writeValueAsBytes(map);
    assertThat(JSON.readTree(json(cbor))).isEqualTo(JSON.valueToTree(map));
  }

  @Test
  void anyBytesAsTextAreWhatJavaMakesOfThem() throws Exception {
    Random random = new Random(7);
    for (int i = 0; i < 20_000; i++) {
      byte[] text = new byte[random.nextInt(12)];
      random.nextBytes(text);
      for (int j = 0; j < text.length; j++) {
        if (random.nextInt(3) == 0) {
          text[j] = (byte) new int[] {0xe0, 0xed, 0xf0, 0xf4, 0xc0, 0x80, 0x9f, 0xa0, 0x8f}[j % 9];
        }
      }
      byte[] cbor = new byte[1 + text.length];
      cbor[0] = (byte) (0x60 | text.length);
      System.arraycopy(text, 0, cbor, 1, text.length);
      String expected = new String(text, StandardCharsets.UTF_8);
      assertThat(JSON.readTree(json(cbor)).textValue()).isEqualTo(expected);
      assertThat(CborSlice.of(cbor, 0, cbor.length).text()).isEqualTo(expected);
    }
  }

  @Test
  void nothingHostileReachesJsonUnescaped() throws Exception {
    StringBuilder all = new StringBuilder();
    for (int codePoint = 0; codePoint < 0x11000; codePoint++) {
      if (codePoint < 0xd800 || codePoint > 0xdfff) {
        all.appendCodePoint(codePoint);
      }
    }
    all.appendCodePoint(0xe0041);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonWriter json = new JsonWriter(out);
    json.string(all + "\ud800");
    json.flush();
    String written = out.toString(StandardCharsets.UTF_8);
    assertThat(written.codePoints().filter(Hostile::is)).isEmpty();
    assertThat(JSON.readTree(written).textValue()).isEqualTo(all + "\ufffd");
  }
}
