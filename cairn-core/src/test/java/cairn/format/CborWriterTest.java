package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CborWriterTest {
  private final CborWriter out = new CborWriter(new byte[70_000], new KeyCache());

  // RFC 8949, appendix A.
  @ParameterizedTest
  @CsvSource({
    "0, 00",
    "1, 01",
    "10, 0a",
    "23, 17",
    "24, 1818",
    "25, 1819",
    "100, 1864",
    "255, 18ff",
    "256, 190100",
    "1000, 1903e8",
    "65535, 19ffff",
    "65536, 1a00010000",
    "1000000, 1a000f4240",
    "4294967295, 1affffffff",
    "4294967296, 1b0000000100000000",
    "1000000000000, 1b000000e8d4a51000",
    "9223372036854775807, 1b7fffffffffffffff",
    "-1, 20",
    "-10, 29",
    "-24, 37",
    "-25, 3818",
    "-100, 3863",
    "-1000, 3903e7",
    "-9223372036854775808, 3b7fffffffffffffff"
  })
  void integersAreAsInTheStandard(long value, String hex) {
    assertThat(written(w -> w.integer(value))).isEqualTo(hex);
  }

  @Test
  void unsignedTakesAll64Bits() {
    assertThat(written(w -> w.unsigned(-1))).isEqualTo("1bffffffffffffffff");
    assertThat(written(w -> w.unsigned(1L << 63))).isEqualTo("1b8000000000000000");
    assertThat(written(w -> w.unsigned(7))).isEqualTo("07");
  }

  @ParameterizedTest
  @CsvSource({
    "1.1, fb3ff199999999999a",
    "-4.1, fbc010666666666666",
    "1.0e300, fb7e37e43c8800759c",
    "Infinity, fb7ff0000000000000",
    "NaN, fb7ff8000000000000",
    "-Infinity, fbfff0000000000000",
    "-0.0, fb8000000000000000"
  })
  void doublesAreAsInTheStandard(double value, String hex) {
    assertThat(written(w -> w.floating(value))).isEqualTo(hex);
  }

  @ParameterizedTest
  @CsvSource({
    "100000.0, fa47c35000",
    "3.4028234663852886e+38, fa7f7fffff",
    "Infinity, fa7f800000",
    "NaN, fa7fc00000",
    "-Infinity, faff800000"
  })
  void floatsAreAsInTheStandard(float value, String hex) {
    assertThat(written(w -> w.single(value))).isEqualTo(hex);
  }

  @Test
  void simpleValuesAreAsInTheStandard() {
    assertThat(written(w -> w.bool(false))).isEqualTo("f4");
    assertThat(written(w -> w.bool(true))).isEqualTo("f5");
    assertThat(written(CborWriter::nul)).isEqualTo("f6");
  }

  @Test
  void stringsAreAsInTheStandard() {
    assertThat(written(w -> w.bytes(new byte[0], 0, 0))).isEqualTo("40");
    assertThat(written(w -> w.bytes(new byte[] {9, 1, 2, 3, 4, 9}, 1, 4))).isEqualTo("4401020304");
    assertThat(written(w -> w.text(""))).isEqualTo("60");
    assertThat(written(w -> w.text("a"))).isEqualTo("6161");
    assertThat(written(w -> w.text("IETF"))).isEqualTo("6449455446");
    assertThat(written(w -> w.text("\"\\"))).isEqualTo("62225c");
    assertThat(written(w -> w.text("\u00fc"))).isEqualTo("62c3bc");
    assertThat(written(w -> w.text("\u6c34"))).isEqualTo("63e6b0b4");
    assertThat(written(w -> w.text("\ud800\udd51"))).isEqualTo("64f0908591");
  }

  @Test
  void indefiniteContainersAreAsInTheStandard() {
    assertThat(written(w -> w.beginArray() && w.end())).isEqualTo("9fff");
    assertThat(
            written(
                w ->
                    w.beginArray()
                        && w.integer(1)
                        && w.beginArray()
                        && w.integer(2)
                        && w.integer(3)
                        && w.end()
                        && w.end()))
        .isEqualTo("9f019f0203ffff");
    assertThat(
            written(
                w ->
                    w.beginMap()
                        && w.key("a")
                        && w.integer(1)
                        && w.key("b")
                        && w.beginArray()
                        && w.integer(2)
                        && w.integer(3)
                        && w.end()
                        && w.end()))
        .isEqualTo("bf61610161629f0203ffff");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 7, 22, 23, 24, 127, 254, 255, 256, 1023, 1024, 1025, 65_535, 65_536})
  void textOfAnyLengthAndKindReadsBack(int length) {
    for (String last : new String[] {"", "x", "é", "я", "水", "😀"}) {
      for (String fill : new String[] {"a", "ß", "中", "𝄞"}) {
        String text = fill.repeat(length / fill.getBytes(StandardCharsets.UTF_8).length) + last;
        out.reset(0, 70_000);
        assertThat(out.text(text)).isTrue();
        assertThat(CborJudge.read(out)).isEqualTo(text);
        assertThat(headIsShortest()).isTrue();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\ud800", "\udc00", "a\ud800", "\udc00\ud800", "\ud800\ud800\udc00", "é\udfff!"})
  void loneSurrogatesBecomeQuestionMarks(String text) {
    String expected = new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    out.reset(0, 100);
    assertThat(out.text(text)).isTrue();
    assertThat(CborJudge.read(out)).isEqualTo(expected);
  }

  @Test
  void pairThatStraddlesTwoChunksStaysAPair() {
    for (int before = 1020; before < 1028; before++) {
      String text = "a".repeat(before) + "😀" + "b".repeat(1100) + "\ud83d";
      out.reset(0, 70_000);
      assertThat(out.text(text)).isTrue();
      assertThat(CborJudge.read(out)).isEqualTo(text.substring(0, text.length() - 1) + "?");
    }
  }

  @Test
  void cutTextEndsAtACodePointForEveryMaximumAndEveryRoom() {
    for (String text :
        new String[] {"abcdefghij", "aéb水c😀dя", "😀😀😀", "水水水水", "x".repeat(300) + "é"}) {
      int whole = text.getBytes(StandardCharsets.UTF_8).length;
      for (int most = 0; most <= whole + 1; most++) {
        out.reset(0, 1000);
        judgeCut(text, out.textCut(text, most), Math.min(most, whole), whole);
        out.reset(0, most);
        int result = out.textCut(text, Integer.MAX_VALUE);
        judgeCut(text, result, Math.min(CborWriter.contentRoom(most), whole), whole);
      }
    }
  }

  private void judgeCut(String text, int result, int most, int whole) {
    if (most >= whole) {
      assertThat(result).isEqualTo(CborWriter.WHOLE);
      assertThat(CborJudge.read(out)).isEqualTo(text);
    } else if (most < 3) {
      assertThat(result).isEqualTo(CborWriter.NONE);
      assertThat(out.position()).isZero();
    } else {
      assertThat(result).isEqualTo(CborWriter.CUT);
      String read = (String) CborJudge.read(out);
      assertThat(read).endsWith("…");
      String kept = read.substring(0, read.length() - 1);
      assertThat(text).startsWith(kept);
      int size = read.getBytes(StandardCharsets.UTF_8).length;
      // The next code point would not have fitted.
      assertThat(size).isBetween(most - 3, most);
      int next = text.codePointAt(kept.length());
      assertThat(size + Character.toString(next).getBytes(StandardCharsets.UTF_8).length)
          .isGreaterThan(most);
    }
  }

  @Test
  void whatDoesNotFitMovesNothing() {
    byte[] raw = new byte[30];
    assertFitsOnlyFrom(1, w -> w.integer(5));
    assertFitsOnlyFrom(2, w -> w.integer(100));
    assertFitsOnlyFrom(3, w -> w.integer(-1000));
    assertFitsOnlyFrom(5, w -> w.integer(1_000_000));
    assertFitsOnlyFrom(9, w -> w.unsigned(-1));
    assertFitsOnlyFrom(9, w -> w.floating(1.5));
    assertFitsOnlyFrom(5, w -> w.single(1.5f));
    assertFitsOnlyFrom(1, w -> w.bool(true));
    assertFitsOnlyFrom(1, CborWriter::nul);
    assertFitsOnlyFrom(1, CborWriter::beginMap);
    assertFitsOnlyFrom(1, CborWriter::beginArray);
    assertFitsOnlyFrom(1, CborWriter::end);
    assertFitsOnlyFrom(32, w -> w.bytes(raw, 0, 30));
    assertFitsOnlyFrom(30, w -> w.raw(raw, 0, 30));
    assertFitsOnlyFrom(6, w -> w.text("hello"));
    assertFitsOnlyFrom(7, w -> w.text("hellö"));
    assertFitsOnlyFrom(26, w -> w.text("x".repeat(24)));
    assertFitsOnlyFrom(6, w -> w.key("hello"));
    assertFitsOnlyFrom(130, w -> w.key("k".repeat(200)));
  }

  private void assertFitsOnlyFrom(int size, Predicate<CborWriter> write) {
    for (int room = 0; room <= size + 2; room++) {
      out.reset(7, 7 + room);
      assertThat(write.test(out)).isEqualTo(room >= size);
      assertThat(out.position()).isEqualTo(room >= size ? 7 + size : 7);
    }
  }

  @Test
  void keyFromTheCacheIsTheSameBytesAsAnew() {
    String key = "schlüssel";
    String first = written(w -> w.key(key));
    assertThat(written(w -> w.key(key))).isEqualTo(first);
    assertThat(written(w -> w.key(new String(key)))).isEqualTo(first);
    assertThat(written(w -> w.text(key))).isEqualTo(first);
  }

  @Test
  void longKeyIsCutTo128Bytes() {
    String key = "k".repeat(127) + "é";
    out.reset(0, 1000);
    assertThat(out.key(key)).isTrue();
    assertThat(CborJudge.read(out)).isEqualTo("k".repeat(125) + "…");
  }

  @Test
  void rangeOutsideTheArrayIsRefused() {
    assertThatThrownBy(() -> out.reset(0, 70_001))
        .isInstanceOf(IndexOutOfBoundsException.class)
        .hasMessage("no such range: position=0, limit=70001, capacity=70000");
    assertThatThrownBy(() -> out.reset(5, 4)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> out.position(-1)).isInstanceOf(IndexOutOfBoundsException.class);
  }

  private boolean headIsShortest() {
    int second = out.bytes()[0] & 31;
    int length = out.position();
    return second < 24
        || second == 24 && length - 2 >= 24
        || second == 25 && length - 3 >= 256
        || second == 26 && length - 5 >= 65_536;
  }

  private String written(Predicate<CborWriter> write) {
    out.reset(0, 1000);
    assertThat(write.test(out)).isTrue();
    return CborJudge.hex(out.bytes(), 0, out.position());
  }
}
