package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.ChildJvm;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.SequenceInputStream;
import java.io.StringReader;
import java.lang.management.ManagementFactory;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CborToJsonTest {
  private static final ObjectMapper JACKSON =
      new ObjectMapper().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final Gson GSON = new Gson();

  private static final Pattern HUGE_NUMBER = Pattern.compile("[0-9]{20}");

  /** One of each kind, and some that are only nearly what they seem. */
  private static final List<String> SAMPLES =
      List.of(
          "01",
          "1903e8",
          "3bffffffffffffffff",
          "1bffffffffffffffff",
          "fb3ff199999999999a",
          "fa3dcccccd",
          "f93e00",
          "83f4f5f6",
          "82f0f8ff",
          "65c3bc61220a",
          "6ae282acf09f9a9ae280ae",
          "4401020304",
          "5f42010243030405ff",
          "7f657374726561646d696e67ff",
          "7f62e28261acff",
          "8301820203820405",
          "9f018202039f0405ffff",
          "a26161016162820203",
          "bf61610161629f0203ffff",
          "bf007f6161ff01bf6162f6ff02a0ff",
          "c249010000000000000000",
          "c35f420100420000ff",
          "c48221196ab3",
          "c49f21c2420102ff",
          "c4d90100820103",
          "d90100c2d901014105",
          "c48201c48201",
          "c4830102c3",
          "c1a16161c2616a",
          "a182010203",
          "a1a1610161026162",
          "bf9f01ff02f503c2410a04fb7ff800000000000005c4822101f0ff",
          "a17f6161616261ff80",
          "a14101a15f4102ff02",
          "a1c1c16161c1c102",
          "a2fb3ff8000000000000015f41004100ff41");

  private static byte[] hex(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  /** What was written, and where the input is damaged. */
  private record Result(String json, CborToJson.@Nullable Damage damage, long offset) {}

  private static Result ofArray(byte[] cbor) throws IOException {
    // A range within an array, and a target that has to grow.
    byte[] more = new byte[cbor.length + 20];
    Arrays.fill(more, (byte) 0xff);
    System.arraycopy(cbor, 0, more, 7, cbor.length);
    JsonWriter json = new JsonWriter(new byte[0]);
    CborToJson converter = new CborToJson(json);
    CborToJson.Damage damage = converter.write(more, 7, 7 + cbor.length);
    if (damage != null) {
      damage = new CborToJson.Damage(damage.offset() - 7, damage.what());
    }
    return new Result(
        utf8(Arrays.copyOf(json.bytes(), json.size())), damage, converter.offset() - 7);
  }

  private static String utf8(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    assertThat(text.getBytes(StandardCharsets.UTF_8)).as("valid UTF-8").isEqualTo(bytes);
    return text;
  }

  private final ByteArrayOutputStream lines = new ByteArrayOutputStream();
  private final JsonWriter lineWriter = new JsonWriter(lines);
  private final CborToJson lineConverter = new CborToJson(lineWriter);

  /** With one converter for all streams of a test. */
  private Result ofStream(InputStream cbor) throws IOException {
    lines.reset();
    CborToJson.Damage damage = lineConverter.writeLines(cbor);
    lineWriter.flush();
    return new Result(utf8(lines.toByteArray()), damage, lineConverter.offset());
  }

  /** Gives one byte at a time. */
  private static final class Drops extends ByteArrayInputStream {
    Drops(byte[] bytes) {
      super(bytes);
    }

    @Override
    public synchronized int read(byte[] b, int off, int len) {
      return super.read(b, off, Math.min(len, 1));
    }
  }

  private static JsonNode legal(String json, String what) {
    try {
      JsonReader reader = new JsonReader(new StringReader(json));
      // Its strict reader takes a number for one with a leading zero once its prefix is a multiple
      // of 2^64.
      boolean isHuge = HUGE_NUMBER.matcher(json).find();
      reader.setStrictness(isHuge ? Strictness.LENIENT : Strictness.STRICT);
      JsonElement element = GSON.getAdapter(JsonElement.class).read(reader);
      assertThat(element).isNotNull();
      assertThat(reader.peek()).isEqualTo(JsonToken.END_DOCUMENT);
      return JACKSON.readTree(json);
    } catch (IOException | RuntimeException e) {
      throw new AssertionError(what + ": " + json, e);
    }
  }

  /**
   * Whatever these bytes are: legal JSON, the same by all ways, damage as the pull parser sees it.
   */
  private Result check(byte[] cbor) throws IOException {
    String what = HexFormat.of().formatHex(cbor);
    Result result = ofArray(cbor);
    JsonNode tree = legal(result.json, what);
    CborReader reader = new CborReader(cbor, 0, cbor.length);
    String damage = null;
    try {
      reader.skip();
    } catch (CborReader.Malformed e) {
      damage = e.getMessage();
    }
    String found = result.damage == null ? null : result.damage.toString();
    if (found != null && found.startsWith("chunk of another kind")) {
      // The other looks at a chunk's length before it looks at its kind.
      damage = damage.replace("string is longer than what is left", "chunk of another kind");
    }
    assertThat(found).as(what).isEqualTo(damage);
    byte[] first = cbor;
    if (damage == null) {
      assertThat(result.offset).as(what).isEqualTo(reader.offset());
      CborSlice slice = CborSlice.at(cbor, 0, cbor.length);
      assertThat(tree).as(what).isEqualTo(JACKSON.readTree(ObviousJson.of(slice.value())));
      first = Arrays.copyOf(cbor, reader.offset());
    }
    if (cbor.length > 0) {
      assertThat(ofStream(new Drops(first)))
          .as(what)
          .isEqualTo(new Result(result.json + "\n", result.damage, result.offset));
    }
    return result;
  }

  @Test
  void everyPrefixOfASampleIsLegalJsonAndNamedAsDamage() throws IOException {
    for (String sample : SAMPLES) {
      byte[] cbor = hex(sample);
      check(cbor);
      for (int length = 0; length < cbor.length; length++) {
        Result result = check(Arrays.copyOf(cbor, length));
        assertThat(result.damage).as("%s, %d bytes", sample, length).isNotNull();
        assertThat(result.json).contains("…");
      }
    }
  }

  @Test
  void everyDamagedByteOfASampleStillGivesLegalJson() throws IOException {
    for (String sample : SAMPLES) {
      byte[] cbor = hex(sample);
      for (int i = 0; i < cbor.length; i++) {
        for (int change = 1; change < 256; change++) {
          byte[] damaged = cbor.clone();
          damaged[i] ^= (byte) change;
          check(damaged);
        }
      }
    }
  }

  @Test
  void randomBytesGiveLegalJson() throws IOException {
    Random random = new Random(11);
    for (int i = 0; i < 20_000; i++) {
      byte[] cbor = new byte[1 + random.nextInt(40)];
      random.nextBytes(cbor);
      // Containers and tags are what can be wrong in most ways.
      for (int j = 0; j < cbor.length; j++) {
        if (random.nextInt(3) == 0) {
          cbor[j] = (byte) (0x80 + random.nextInt(0x60));
        }
      }
      check(cbor);
    }
  }

  @Test
  void randomValuesBecomeTheJsonOfTheirValue() throws IOException {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      CborWriter out = new CborWriter(new byte[1 << 18], new KeyCache());
      item(out, random, 0);
      byte[] cbor = Arrays.copyOf(out.bytes(), out.position());
      Result result = check(cbor);
      assertThat(result.damage).as("seed %d", seed).isNull();
      check(Arrays.copyOf(cbor, random.nextInt(cbor.length)));
    }
  }

  private static void item(CborWriter out, Random random, int depth) {
    switch (random.nextInt(depth < 5 ? 14 : 10)) {
      case 0 -> out.integer(random.nextLong() >> random.nextInt(64));
      case 1 -> out.unsigned(random.nextLong());
      case 2 -> out.floating(Double.longBitsToDouble(random.nextLong()));
      case 3 -> out.floating(random.nextInt(100_000) / 100.0);
      case 4 -> out.single(random.nextFloat());
      case 5 -> out.bool(random.nextBoolean());
      case 6 -> out.nul();
      case 7 -> {
        byte[] bytes = new byte[random.nextInt(70)];
        random.nextBytes(bytes);
        out.bytes(bytes, 0, bytes.length);
      }
      case 8, 9 -> out.text(text(random));
      case 10, 11 -> {
        out.beginArray();
        for (int i = random.nextInt(6); i > 0; i--) {
          item(out, random, depth + 1);
        }
        out.end();
      }
      default -> {
        out.beginMap();
        for (int i = random.nextInt(6); i > 0; i--) {
          out.text(i + text(random));
          item(out, random, depth + 1);
        }
        out.end();
      }
    }
  }

  private static String text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(random.nextInt(8) == 0 ? 400 : 20); i > 0; i--) {
      text.appendCodePoint(
          switch (random.nextInt(40)) {
            case 0 -> random.nextInt(0x20);
            case 1 -> random.nextInt(0x800);
            case 2 -> 0x4e00 + random.nextInt(0x100);
            case 3 -> 0x2000 + random.nextInt(0x70);
            case 4 -> 0x1f600 + random.nextInt(0x40);
            case 5 -> "\"\\/\u007f".charAt(random.nextInt(4));
            default -> 'a' + random.nextInt(26);
          });
    }
    return text.toString();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\0',
      value = {
        "|\"…\"",
        "8201|[1,\"…\"]",
        "9f01|[1,\"…\"]",
        "9f|[\"…\"]",
        "a16161|{\"a\":\"…\",\"…\":true}",
        "bf616101|{\"a\":1,\"…\":true}",
        "bf616101ffff|{\"a\":1}",
        "a1616181a16162|{\"a\":[{\"b\":\"…\",\"…\":true},\"…\"],\"…\":true}",
        "656162|\"ab…\"",
        "6461e282|\"a…\"",
        "a1656162|{\"ab…\":\"…\",\"…\":true}",
        "4401020304|\"AQIDBA==\"",
        "44010203|\"AQID…\"",
        "4401|\"AQ==…\"",
        "7f6161|\"a…\"",
        "c1c1|\"…\"",
        "c249010000|\"AQAA…\"",
        "c482|[\"…\"]",
        "a18201|{\"(array)\":\"…\",\"…\":true}",
        "81ff|[\"…\"]",
        "a161611c|{\"a\":\"…\",\"…\":true}",
      })
  void whatIsCutSaysSo(@Nullable String hex, String expected) throws IOException {
    assertThat(ofArray(hex(hex == null ? "" : hex)).json).isEqualTo(expected);
  }

  @Test
  void nestingBeyondTheLimitIsDamage() throws IOException {
    for (String open : List.of("81", "a100", "c1", "9f", "bf00", "a181")) {
      int levels = 64 / (open.equals("a181") ? 2 : 1);
      String close = open.startsWith("9f") || open.startsWith("bf") ? "ff" : "";
      String value = open.equals("a181") ? "" : "00" + close.repeat(64);
      if (!value.isEmpty()) {
        assertThat(check(hex(open.repeat(levels) + value)).damage).isNull();
      }
      Result beyond = check(hex(open.repeat(levels + 1) + "00"));
      assertThat(beyond.damage).isNotNull();
      assertThat(beyond.damage.what()).contains("limit=64");
      check(hex(open.repeat(10_000)));
    }
  }

  @Test
  void tagsOfAKeyCountAsNesting() throws IOException {
    assertThat(check(hex("a1" + "c1".repeat(63) + "616100")).damage).isNull();
    assertThat(check(hex("a1" + "c1".repeat(64) + "616100")).damage).isNotNull();
    assertThat(check(hex("a1" + "c1".repeat(10_000) + "616100")).damage.offset()).isEqualTo(64);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "9b7fffffffffffffff00",
        "9bffffffffffffffff00",
        "bb7fffffffffffffff6161",
        "bbffffffffffffffff616101",
        "7b7fffffffffffffff6161",
        "7bffffffffffffffff6161",
        "5b7fffffffffffffff00",
        "5bffffffffffffffff00",
        "5affffffff00",
        "a1bb7fffffffffffffff0101",
        "a15b7fffffffffffffff0101",
        "c25b7fffffffffffffff0101",
        "c49b7fffffffffffffff0101"
      })
  void lengthThatLiesIsDamage(String hex) throws IOException {
    assertThat(check(hex(hex)).damage).isNotNull();
  }

  @Test
  void itemsOfAStreamBecomeLines() throws IOException {
    Result result = ofStream(new ByteArrayInputStream(hex("01a16161026161f6")));
    assertThat(result).isEqualTo(new Result("1\n{\"a\":2}\n\"a\"\nnull\n", null, 8));
    assertThat(ofStream(InputStream.nullInputStream())).isEqualTo(new Result("", null, 0));
  }

  @Test
  void damageEndsAStreamAfterTheLinesBeforeIt() throws IOException {
    Result result = ofStream(new ByteArrayInputStream(hex("01" + "8202" + "1c" + "03")));
    assertThat(result.json).isEqualTo("1\n[2,\"…\"]\n");
    assertThat(result.damage).hasToString("reserved length: offset=3");
  }

  @Test
  void converterIsAsNewAfterDamage() throws IOException {
    JsonWriter json = new JsonWriter(new byte[64]);
    CborToJson converter = new CborToJson(json);
    for (String sample : SAMPLES) {
      byte[] cbor = hex(sample);
      for (int length = 0; length <= cbor.length; length++) {
        json.reset();
        converter.write(cbor, 0, length);
        json.reset();
        assertThat(converter.write(hex("a16161820102"), 0, 6)).isNull();
        assertThat(new String(json.bytes(), 0, json.size(), StandardCharsets.UTF_8))
            .isEqualTo("{\"a\":[1,2]}");
      }
    }
  }

  @Test
  void textIsTheSameWhereverTheWindowEnds() throws IOException {
    String odd = "aé漢😀\u202e\"\n";
    for (int shift = 0; shift < 12; shift++) {
      String text = "x".repeat(65_536 - 20 + shift) + odd.repeat(20_000);
      CborWriter out = new CborWriter(new byte[1 << 20], new KeyCache());
      out.text(text);
      byte[] cbor = Arrays.copyOf(out.bytes(), out.position());
      Result result = ofStream(new ByteArrayInputStream(cbor));
      assertThat(JACKSON.readTree(result.json).textValue()).isEqualTo(text);
      assertThat(ofArray(cbor).json + "\n").isEqualTo(result.json);
    }
  }

  @Test
  void textOfEscapesIsTheSameWhereverTheBufferEnds() throws IOException {
    for (int shift = 0; shift < 600; shift++) {
      List<String> texts = List.of("x".repeat(shift), "\u0001".repeat(60), "\u202e".repeat(9));
      CborWriter out = new CborWriter(new byte[1_000], new KeyCache());
      out.beginArray();
      texts.forEach(out::text);
      out.end();
      JsonWriter json = new JsonWriter(new byte[512]);
      new CborToJson(json).write(out.bytes(), 0, out.position());
      String written = new String(json.bytes(), 0, json.size(), StandardCharsets.UTF_8);
      assertThat(JACKSON.readTree(written)).isEqualTo(JACKSON.valueToTree(texts));
    }
  }

  @Test
  void invalidTextIsTheSameWhereverTheWindowEnds() throws IOException {
    Random random = new Random(5);
    byte[] bytes = new byte[200_000];
    byte[] hard = hex("80bfc0c1c2dfe0e1edeff0f4f5f8feff9fa0908f41");
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = hard[random.nextInt(hard.length)];
      }
      byte[] cbor = new byte[5 + bytes.length];
      cbor[0] = 0x7a;
      cbor[2] = (byte) (bytes.length >> 16);
      cbor[3] = (byte) (bytes.length >> 8);
      cbor[4] = (byte) bytes.length;
      System.arraycopy(bytes, 0, cbor, 5, bytes.length);
      String expected = new String(bytes, StandardCharsets.UTF_8);
      String json = ofStream(new ByteArrayInputStream(cbor)).json;
      assertThat(JACKSON.readTree(json).textValue()).isEqualTo(expected);
      assertThat(ofArray(cbor).json + "\n").isEqualTo(json);
    }
  }

  @Test
  void nothingHostileIsWrittenUnescaped() throws IOException {
    StringBuilder all = new StringBuilder();
    for (int codePoint = 0; codePoint < 0x11000; codePoint++) {
      if (codePoint < 0xd800 || codePoint > 0xdfff) {
        all.append("plain text").appendCodePoint(codePoint);
      }
    }
    all.appendCodePoint(0xe0041);
    CborWriter out = new CborWriter(new byte[1 << 21], new KeyCache());
    out.text(all.toString());
    String json = ofArray(Arrays.copyOf(out.bytes(), out.position())).json;
    assertThat(json.codePoints().filter(CborToJsonTest::isHostile)).isEmpty();
    assertThat(JACKSON.readTree(json).textValue()).isEqualTo(all.toString());
  }

  /** By the definition, without the table. */
  private static boolean isHostile(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          true;
      default -> false;
    };
  }

  @Test
  void tableOfHostileCharactersIsTheDefinition() {
    for (int codePoint = 0; codePoint <= Character.MAX_CODE_POINT; codePoint++) {
      if (Hostile.is(codePoint) != isHostile(codePoint)) {
        throw new AssertionError(Integer.toHexString(codePoint));
      }
    }
  }

  @Test
  void numberThatIsTooLongStaysABytestringOrAnArray() throws IOException {
    byte[] magnitude = new byte[401];
    Arrays.fill(magnitude, (byte) 1);
    String bytes = "590191" + HexFormat.of().formatHex(magnitude);
    assertThat(legal(check(hex("c2" + bytes)).json, "401 bytes").isTextual()).isTrue();
    assertThat(check(hex("c48201c2" + bytes)).json).startsWith("[1,\"");
    String number = "590190" + HexFormat.of().formatHex(magnitude, 0, 400);
    String digits = new BigInteger(1, Arrays.copyOf(magnitude, 400)).toString();
    assertThat(check(hex("c2" + number)).json).isEqualTo(digits);
    assertThat(check(hex("a1c2" + number + "00")).json).isEqualTo("{\"" + digits + "\":0}");
  }

  @Test
  void sourceWithNeitherBytesNorAnEndIsRefused() {
    InputStream nothing =
        new InputStream() {
          @Override
          public int read() {
            return -1;
          }

          @Override
          public int read(byte[] b, int off, int len) {
            return 0;
          }
        };
    assertThatThrownBy(() -> ofStream(nothing)).isInstanceOf(IOException.class);
  }

  @Test
  void rangeThatIsNoneIsRefused() {
    CborToJson converter = new CborToJson(new JsonWriter(new byte[10]));
    assertThatThrownBy(() -> converter.write(new byte[2], 1, 3))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessageContaining("limit=3");
  }

  @Test
  void hugeStreamTakesConstantMemory() throws IOException {
    String output = ChildJvm.run(List.of("-Xmx32m", "-XX:+UseSerialGC"), HugeStream.class);
    assertThat(output).contains("damage=null").contains("exit=0");
    // Each plain byte is itself; of a byte string, four for three.
    long text = HugeStream.SIZE;
    long base64 = (HugeStream.SIZE + 2) / 3 * 4;
    assertThat(output)
        .contains("bytes=" + (text + base64 + "{\"text\":\"\",\"bytes\":\"\"}\n".length()));
    String allocated =
        output.substring(output.indexOf("allocated=") + 10).lines().findFirst().orElse("");
    assertThat(Long.parseLong(allocated)).isLessThan(1 << 20);
  }

  /** A text and a byte string of 100 MiB each. */
  static final class HugeStream {
    static final long SIZE = 100L << 20;

    @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
    public static void main(String[] args) throws IOException {
      InputStream source =
          new SequenceInputStream(
              new SequenceInputStream(
                  new ByteArrayInputStream(hex("a264746578747a06400000")), new Filler()),
              new SequenceInputStream(
                  new ByteArrayInputStream(hex("6562797465735a06400000")), new Filler()));
      CountingStream out = new CountingStream();
      JsonWriter json = new JsonWriter(out);
      CborToJson converter = new CborToJson(json);
      com.sun.management.ThreadMXBean threads =
          (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
      long id = Thread.currentThread().getId();
      long before = threads.getThreadAllocatedBytes(id);
      CborToJson.Damage damage = converter.writeLines(source);
      json.flush();
      System.out.println("allocated=" + (threads.getThreadAllocatedBytes(id) - before));
      System.out.println("damage=" + damage);
      System.out.println("bytes=" + out.count);
    }

    private static final class Filler extends InputStream {
      private long left = SIZE;

      @Override
      public int read() {
        return left-- > 0 ? 'x' : -1;
      }

      @Override
      public int read(byte[] b, int off, int len) {
        if (left == 0) {
          return -1;
        }
        int count = (int) Math.min(left, len);
        Arrays.fill(b, off, off + count, (byte) 'x');
        left -= count;
        return count;
      }
    }

    private static final class CountingStream extends OutputStream {
      private long count;

      @Override
      public void write(int b) {
        count++;
      }

      @Override
      public void write(byte[] b, int off, int len) {
        count += len;
      }
    }
  }

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void warmConverterAllocatesNothing() throws IOException {
    Map<String, Object> value = new LinkedHashMap<>();
    value.put("text", "ünï \"quoted\" \u0000\u001b\u202e \ud83d\ude00 漢字");
    value.put("long", Long.MIN_VALUE);
    value.put("double", List.of(1.5, 0.1, 1e-7, 1e300, 0.1f, Double.NaN));
    value.put("rest", Arrays.asList(null, true, false, new byte[] {1, 2, 3, 4}));
    value.put("map", Map.of("a", Map.of("b", List.of(List.of()))));
    CborWriter out = new CborWriter(new byte[10_000], new KeyCache());
    new ValueEncoder(out, new EncodeLimits(10_000, 1_000, 16, 1_000, 1_000, 10)).value(value);
    byte[] cbor = Arrays.copyOf(out.bytes(), out.position());
    JsonWriter json = new JsonWriter(new byte[1024]);
    CborToJson converter = new CborToJson(json);
    byte[] before = json.bytes();

    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    long bytes;
    do {
      long start = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 2_000; i++) {
        json.reset();
        converter.write(cbor, 0, cbor.length);
      }
      bytes = THREADS.getCurrentThreadAllocatedBytes() - start;
    } while (bytes > 0 && System.nanoTime() < deadline);

    assertThat(bytes).as("bytes in 2,000 calls").isZero();
    assertThat(json.bytes()).isSameAs(before);
  }
}
