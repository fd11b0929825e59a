package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import cairn.format.BoxLayout;
import cairn.format.CborSlice;
import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.format.VitalsLayout;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DamageTest {
  private final FakeHost host = new FakeHost();

  /** A small box with something in every section, its trail in the second lap. */
  private static BoxBuilder full() {
    BoxBuilder box =
        BoxBuilder.small()
            .identity("workingDirectory", null)
            .beat(60_000)
            .uncaught(50_000, "main", "java.lang.IllegalStateException", "no")
            .counter(CounterLayout.CUT, 3)
            .counter(CounterLayout.DROPPED, 300)
            .pressure(
                45_000, 0, 97, 100, BoxBuilder.pressed("POST /orders", 1, 30_000, "t", 9, 5_000))
            .scope(RecordLayout.KIND_USER, null, Map.of("id", "42"))
            .scope(RecordLayout.KIND_TAG, "region", "eu")
            .scope(RecordLayout.KIND_TAG, "zone", "b")
            .span(
                0, BoxBuilder.begin("POST /orders", 1, 30_000, "http-1"), "tenant", "acme", "n", 1L)
            .span(1, BoxBuilder.begin("GET /ended", 2, 31_000, "http-1"), "a", "b")
            .endSpan(1)
            .span(2, BoxBuilder.begin("GET /orders", 3, 40_000, "http-2"));
    for (int i = 0; i < 6; i++) {
      box.second(54_000 + 1000 * i, VitalsLayout.HEAP_USED, 1000 + i, VitalsLayout.THREADS, 9);
    }
    box.sample(BoxLayout.VITALS_MINUTES, 10_000, VitalsLayout.HEAP_USED, 1);
    for (int i = 0; i < 22; i++) {
      box.crumb(40_000 + 100 * i, 1, "db", "message " + i);
    }
    return box;
  }

  private static Salvage salvage(byte[] bytes) throws IOException {
    return new Salvage(bytes, "box", false);
  }

  /** {@return everything that can be lost, by a name that says what it is} */
  private static Map<String, String> content(Salvage salvage) {
    Map<String, String> content = new LinkedHashMap<>();
    for (Salvage.Crumb crumb : salvage.trail) {
      content.put(
          "trail " + crumb.position(), crumb.wallMillis() + text(crumb.message()) + crumb.level());
    }
    for (Salvage.Span span : salvage.spans) {
      content.put(
          "span " + span.id(),
          span.name() + span.nanos() + span.thread() + Salvage.decode(span.attributes()));
    }
    if (salvage.scope(RecordLayout.KIND_USER) != null) {
      content.put("user", text(salvage.scope(RecordLayout.KIND_USER)));
    }
    salvage
        .scopeByKey(RecordLayout.KIND_TAG)
        .forEach((key, value) -> content.put("tag " + key, text(value)));
    for (long[] sample : salvage.vitals) {
      content.put("sample " + sample[VitalsLayout.NANOS], Arrays.toString(sample));
    }
    content.put("identity", Salvage.decode(salvage.identity).toString());
    content.put("life", Salvage.decode(salvage.life).toString());
    content.put("uncaught", Salvage.decode(salvage.uncaught).toString());
    content.put("beat", String.valueOf(salvage.beat));
    content.put("pressure", salvage.pressure.toString());
    salvage.counters.forEach((name, value) -> content.put("counter " + name, value.toString()));
    return content;
  }

  private static String text(CborSlice slice) {
    return slice == null ? "" : String.valueOf(slice.value());
  }

  /** {@return the next offset to try: every one, but few of the padding behind the headers} */
  private static int next(int offset, int length) {
    boolean padding =
        (offset > BoxLayout.HEADER_SIZE && offset < BoxLayout.FIRST_SECTION_OFFSET - 512)
            || (offset > length - BoxLayout.TRAILER_SIZE + BoxLayout.HEADER_SIZE
                && offset < length - 512);
    return offset + (padding ? 256 : 1);
  }

  private static List<String> differences(Map<String, String> whole, Map<String, String> damaged) {
    List<String> names = new ArrayList<>();
    whole.forEach(
        (name, value) -> {
          if (!Objects.equals(damaged.get(name), value)) {
            names.add(name);
          }
        });
    damaged.keySet().stream().filter(name -> !whole.containsKey(name)).forEach(names::add);
    return names;
  }

  private void render(Salvage salvage) throws IOException {
    Report report = new Judge(salvage, Liveness.DEAD, host).report("id", "app");
    report.writeJson(new ByteArrayOutputStream());
    assertThat(report.toText()).isNotEmpty();
  }

  @Test
  void aSoundBoxInItsSecondLapHasNoFindings() throws IOException {
    Salvage salvage = salvage(full().bytes());
    assertThat(salvage.findings).isEmpty();
    assertThat(salvage.trail).hasSizeGreaterThan(5).hasSizeLessThan(22);
    assertThat(salvage.trail.get(salvage.trail.size() - 1).message().text())
        .isEqualTo("message 21");
    assertThat(salvage.spans).hasSize(2);
    assertThat(salvage.vitals).hasSize(5);
  }

  @Test
  void oneDamagedByteCostsAtMostOneRecordFieldOrSlotAndAddsNothing() throws IOException {
    byte[] bytes = full().bytes();
    Map<String, String> whole = content(salvage(bytes));
    int costly = 0;
    for (int mask : new int[] {0x01, 0xff}) {
      for (int i = 0; i < bytes.length; i = next(i, bytes.length)) {
        bytes[i] ^= (byte) mask;
        Salvage salvage = salvage(bytes);
        Map<String, String> damaged = content(salvage);
        List<String> lost = differences(whole, damaged);
        if (lost.size() > 1) {
          fail("byte " + i + " ^ " + mask + " costs " + lost);
        }
        // A span may lose an attribute, and of two counters the smaller is shown; else what is lost
        // is replaced by nothing.
        for (String name : lost) {
          if (damaged.containsKey(name)
              && !name.startsWith("span ")
              && !name.startsWith("counter ")
              && !whole(name)) {
            fail("byte " + i + " ^ " + mask + " makes " + name + " " + damaged.get(name));
          }
        }
        costly += lost.size();
        if (i % 97 == 0) {
          render(salvage);
        }
        bytes[i] ^= (byte) mask;
      }
    }
    assertThat(costly).isGreaterThan(1000);
  }

  @Test
  void everyTruncatedLengthIsReadOrRefused() throws IOException {
    byte[] bytes = full().bytes();
    Map<String, String> whole = content(salvage(bytes));
    for (int length = 0; length < bytes.length; length = next(length, bytes.length)) {
      byte[] cut = Arrays.copyOf(bytes, length);
      if (length < BoxLayout.HEADER_SIZE) {
        assertThatThrownBy(() -> salvage(cut))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("not a cairn box: file=box, length=" + cut.length);
        continue;
      }
      Salvage salvage = salvage(cut);
      Finding first = salvage.findings.get(0);
      if (!first.text().startsWith("file is truncated: length=" + length)) {
        fail("cut at " + length + " is not said: " + first);
      }
      content(salvage)
          .forEach(
              (name, value) -> {
                if (!value.equals(whole.get(name)) && !whole(name)) {
                  fail("cut at " + cut.length + " adds " + name + " = " + value);
                }
              });
      if (length % 97 == 0) {
        render(salvage);
      }
    }
  }

  /** {@return whether that is empty, and not absent, when it is lost} */
  private static boolean whole(String name) {
    return List.of("identity", "life", "uncaught", "beat", "pressure").contains(name);
  }

  @Test
  void overwrittenBlocksNeverThrowAndAddNothing() throws IOException {
    byte[] bytes = full().bytes();
    Map<String, String> whole = content(salvage(bytes));
    Random random = new Random(20_261_130);
    for (int block : new int[] {64, 512}) {
      for (int from = 0; from + block <= bytes.length; from += block) {
        byte[] damaged = bytes.clone();
        byte[] noise = new byte[block];
        if (from / block % 2 == 0) {
          random.nextBytes(noise);
        }
        System.arraycopy(noise, 0, damaged, from, block);
        Salvage salvage = salvage(damaged);
        render(salvage);
        content(salvage)
            .forEach(
                (name, value) -> {
                  if (name.startsWith("trail ") || name.startsWith("sample ")) {
                    assertThat(whole).containsEntry(name, value);
                  }
                });
      }
    }
  }

  @Test
  void noiseBehindASoundHeaderIsAnEmptyReport() throws IOException {
    byte[] bytes = full().bytes();
    for (long seed = 0; seed < 50; seed++) {
      byte[] noise = new byte[bytes.length];
      new Random(seed).nextBytes(noise);
      System.arraycopy(bytes, 0, noise, 0, BoxLayout.HEADER_SIZE);
      Salvage salvage = salvage(noise);
      assertThat(salvage.trail).as("seed %s", seed).isEmpty();
      assertThat(salvage.spans).isEmpty();
      assertThat(salvage.identity).isEmpty();
      render(salvage);
    }
  }

  @Test
  void bytesOfAnotherRunProveNothing() throws IOException {
    Salvage salvage = salvage(full().headerShort(BoxLayout.NONCE_OFFSET, 1).bytes());
    assertThat(salvage.trail).isEmpty();
    assertThat(salvage.spans).isEmpty();
    assertThat(salvage.vitals).isEmpty();
    assertThat(salvage.identity).isEmpty();
    assertThat(salvage.beat).isNull();
    assertThat(salvage.scopeByKey(RecordLayout.KIND_TAG)).isEmpty();
  }

  @Test
  void aDamagedHeaderIsTakenFromTheEndOfTheFile() throws IOException {
    byte[] bytes = full().bytes();
    bytes[BoxLayout.NONCE_OFFSET] ^= 1;
    Salvage salvage = salvage(bytes);
    assertThat(content(salvage)).isEqualTo(content(salvage(full().bytes())));
    assertThat(salvage.findings)
        .extracting(Finding::text)
        .containsExactly(
            "copy at offset 0 is damaged; the copy at offset "
                + (bytes.length - BoxLayout.TRAILER_SIZE)
                + " is used");
  }

  @Test
  void aDamagedHeaderIsFoundBeforeForeignBytesToo() throws IOException {
    byte[] bytes = full().bytes();
    byte[] longer = Arrays.copyOf(bytes, bytes.length + 1000);
    longer[0] = 0;
    Salvage salvage = salvage(longer);
    assertThat(salvage.trail).isNotEmpty();
    assertThat(salvage.findings)
        .extracting(Finding::text)
        .contains("1000 foreign bytes behind the end: offset=" + bytes.length);
  }

  @Test
  void bothHeadersDamagedIsRefusedWithWhatWasFound() {
    byte[] bytes = full().bytes();
    bytes[100] ^= 1;
    bytes[bytes.length - BoxLayout.TRAILER_SIZE + 100] ^= 1;
    assertThatThrownBy(() -> salvage(bytes))
        .isInstanceOf(IOException.class)
        .hasMessageContaining(
            "box header is damaged in both copies: file=box, offset=0, stored=0x");
    assertThatThrownBy(() -> salvage(new byte[8192]))
        .isInstanceOf(IOException.class)
        .hasMessage("not a cairn box: file=box, magic=0x0");
  }

  @Test
  void aNewerMajorVersionIsRefusedAndANewerMinorIsRead() throws IOException {
    byte[] newer = full().headerShort(BoxLayout.MAJOR_OFFSET, 2).bytes();
    assertThatThrownBy(() -> salvage(newer))
        .isInstanceOf(IOException.class)
        .hasMessage("file is from a newer version: file=2.5, reader=1.5 (use a newer cairn): box");
    byte[] minor = full().headerShort(BoxLayout.MINOR_OFFSET, 7).bytes();
    assertThat(salvage(minor).trail).isNotEmpty();
    // A newer major may keep its checksum elsewhere; both copies agree on the version.
    byte[] foreign = newer.clone();
    foreign[300] ^= 1;
    foreign[newer.length - BoxLayout.TRAILER_SIZE + 300] ^= 1;
    assertThatThrownBy(() -> salvage(foreign)).hasMessageContaining("file=2.5, reader=1.5");
  }

  @Test
  void sectionsOfANewerWriterAreSkippedWithAFinding() throws IOException {
    int entry = BoxLayout.ENTRIES_OFFSET + 10 * BoxLayout.ENTRY_SIZE; // the trail's
    Salvage tag = salvage(full().headerInt(entry, 0x5A5A5A5A).bytes());
    assertThat(tag.trail).isEmpty();
    assertThat(tag.spans).hasSize(2);
    assertThat(tag.findings)
        .containsExactly(
            new Finding(
                Finding.Severity.INFO,
                "ZZZZ",
                "section is unknown to this version and skipped: version=1, length=1024"));
    Salvage version = salvage(full().headerInt(entry + BoxLayout.ENTRY_VERSION_OFFSET, 2).bytes());
    assertThat(version.trail).isEmpty();
    assertThat(version.findings).extracting(Finding::where).containsExactly("TRAI");
  }

  @Test
  void invalidSectionEntriesAreFindings() throws IOException {
    int entry = BoxLayout.ENTRIES_OFFSET + 10 * BoxLayout.ENTRY_SIZE;
    int[][] changes = {
      {BoxLayout.ENTRY_UNIT_OFFSET, 0},
      {BoxLayout.ENTRY_UNIT_OFFSET, -32},
      {BoxLayout.ENTRY_COUNT_OFFSET, Integer.MAX_VALUE},
      {BoxLayout.ENTRY_OFFSET_OFFSET + 4, Integer.MAX_VALUE},
      {BoxLayout.ENTRY_LENGTH_OFFSET + 4, -1},
    };
    for (int[] change : changes) {
      Salvage salvage = salvage(full().headerInt(entry + change[0], change[1]).bytes());
      assertThat(salvage.trail).isEmpty();
      assertThat(salvage.findings)
          .extracting(Finding::text)
          .singleElement()
          .asString()
          .startsWith("section entry is invalid: ");
    }
    Salvage many = salvage(full().headerInt(BoxLayout.SECTION_COUNT_OFFSET, -1).bytes());
    assertThat(many.findings.get(0).text()).startsWith("section count is out of range");
  }

  @Test
  void aTornRecordOfTheLastLapIsAFindingAndTheOthersAreKept() throws IOException {
    BoxBuilder box = BoxBuilder.box().crumb(1, 1, "a", "one");
    int torn = box.nextTrailOffset();
    byte[] bytes = box.crumb(2, 1, "a", "two").crumb(3, 1, "a", "three").bytes();
    bytes[torn + 40] ^= 1;
    Salvage salvage = salvage(bytes);
    assertThat(salvage.trail)
        .extracting(crumb -> crumb.message().text())
        .containsExactly("one", "three");
    assertThat(salvage.findings)
        .singleElement()
        .satisfies(
            finding -> {
              assertThat(finding.severity()).isEqualTo(Finding.Severity.WARNING);
              assertThat(finding.where()).isEqualTo("TRAI");
              assertThat(finding.text())
                  .startsWith("record is torn or damaged: position=")
                  .contains("offset=" + torn)
                  .contains("computed=0x");
            });
    assertThat(new Salvage(bytes, "box", true).findings).as("of a live box").isEmpty();
  }

  @Test
  void aClaimThatWasNeverCommittedIsAGap() throws IOException {
    Salvage salvage =
        salvage(
            BoxBuilder.box()
                .crumb(1, 1, "a", "one")
                .skipTrail(200)
                .crumb(3, 1, "a", "three")
                .bytes());
    assertThat(salvage.trail).hasSize(2);
    assertThat(salvage.findings)
        .singleElement()
        .satisfies(finding -> assertThat(finding.text()).endsWith("gaps=1, bytes=224"));
  }

  @Test
  void leftoversOfOlderLapsAreNoFindings() throws IOException {
    BoxBuilder box = BoxBuilder.box();
    for (int i = 0; i < 5000; i++) {
      box.crumb(i, 1, "db", "message " + "x".repeat(i % 200));
    }
    Salvage salvage = salvage(box.bytes());
    assertThat(salvage.findings).isEmpty();
    assertThat(salvage.trail.get(salvage.trail.size() - 1).wallMillis())
        .isEqualTo(BoxBuilder.START_WALL + 4999);
    for (int i = 1; i < salvage.trail.size(); i++) {
      assertThat(salvage.trail.get(i).wallMillis())
          .isEqualTo(salvage.trail.get(i - 1).wallMillis() + 1);
    }
  }

  @Test
  void aWholeRecordOfAnOlderLapUnderAClaimThatWasNeverWrittenIsRefused() throws IOException {
    BoxBuilder box = BoxBuilder.box();
    for (int i = 0; i < 5000; i++) {
      box.crumb(i, 1, "db", "message");
    }
    Salvage salvage = salvage(box.skipTrail(1000).crumb(5000, 1, "db", "last").bytes());
    List<Salvage.Crumb> trail = salvage.trail;
    assertThat(trail.get(trail.size() - 1).wallMillis()).isEqualTo(BoxBuilder.START_WALL + 5000);
    long newest = trail.get(trail.size() - 1).position();
    assertThat(trail.get(0).position()).isGreaterThan(newest - box.part(BoxLayout.TRAIL).length());
    assertThat(salvage.findings).hasSize(1);
  }

  @Test
  void countersThatDifferShowTheSmallerWithAFinding() throws IOException {
    BoxBuilder box = BoxBuilder.box().counter(CounterLayout.DROPPED, 8);
    byte[] bytes = box.bytes();
    BoxBuilder.Part part = box.part(BoxLayout.COUNTERS);
    bytes[part.offset() + 8 * CounterLayout.DROPPED] = 9; // death between the two stores
    Salvage salvage = salvage(bytes);
    assertThat(salvage.counters).containsEntry("dropped", 8L);
    assertThat(salvage.findings)
        .extracting(Finding::text)
        .containsExactly(
            "copies of a counter differ, the smaller is shown: name=dropped, first=9, second=8");
  }

  @Test
  void theHigherOfTwoSoundCopiesWins() throws IOException {
    byte[] bytes =
        BoxBuilder.box()
            .copy(BoxLayout.LIFE, 0, 3, BoxBuilder.cbor(Map.of("state", "CLEAN")))
            .copy(BoxLayout.LIFE, 1, 2, BoxBuilder.cbor(Map.of("state", "OPEN")))
            .bytes();
    Salvage salvage = salvage(bytes);
    assertThat(Salvage.text(salvage.life, "state")).isEqualTo("CLEAN");
    assertThat(salvage.findings).as("death between the copies is no damage").isEmpty();
  }

  @Test
  void theScopeIsThatOfTheActiveGeneration() throws IOException {
    BoxBuilder box =
        BoxBuilder.box()
            .scope(RecordLayout.KIND_TAG, "a", "1")
            .scope(RecordLayout.KIND_TAG, "b", "1")
            .scope(RecordLayout.KIND_TAG, "a", null)
            .scopeGeneration(2, false)
            .scope(RecordLayout.KIND_TAG, "half", "written");
    assertThat(salvage(box.bytes()).scopeByKey(RecordLayout.KIND_TAG).keySet())
        .containsExactly("b");
    box.scopeGeneration(2, true);
    assertThat(salvage(box.bytes()).scopeByKey(RecordLayout.KIND_TAG).keySet())
        .containsExactly("half");
  }

  @Test
  void aClearedScopeIsAnEmptyGeneration() throws IOException {
    BoxBuilder box =
        BoxBuilder.box().scope(RecordLayout.KIND_TAG, "a", "1").scopeGeneration(2, true);
    assertThat(salvage(box.bytes()).scopeByKey(RecordLayout.KIND_TAG)).isEmpty();
    box.scope(RecordLayout.KIND_TAG, "b", "2");
    assertThat(salvage(box.bytes()).scopeByKey(RecordLayout.KIND_TAG).keySet())
        .containsExactly("b");
  }

  @Test
  void withoutTheScopeHeadBothHalvesAreJoinedWithAFinding() throws IOException {
    BoxBuilder box =
        BoxBuilder.box()
            .scope(RecordLayout.KIND_TAG, "a", "1")
            .scopeGeneration(2, true)
            .scope(RecordLayout.KIND_TAG, "b", "2");
    byte[] bytes = box.bytes();
    BoxBuilder.Part head = box.part(BoxLayout.SCOPE_HEAD);
    bytes[head.offset() + 16] ^= 1;
    bytes[head.offset() + head.unit() + 16] ^= 1;
    Salvage salvage = salvage(bytes);
    assertThat(salvage.scopeByKey(RecordLayout.KIND_TAG).keySet()).containsExactly("a", "b");
    assertThat(salvage.findings).extracting(Finding::where).containsExactly("SSCH", "SSCL");
  }

  @Test
  void aClaimedAttributeThatWasNeverFilledHidesNoOther() throws IOException {
    BoxBuilder box = BoxBuilder.box().span(0, BoxBuilder.begin("a", 1, 0, "t"), "one", 1L);
    ByteArrayOutputStream late = new ByteArrayOutputStream();
    late.writeBytes(BoxBuilder.cbor("two"));
    late.writeBytes(BoxBuilder.cbor(2L));
    Salvage salvage = salvage(box.skipSpanEntry(0, 40).spanEntry(0, late.toByteArray()).bytes());
    assertThat(salvage.spans.get(0).attributes().keySet()).containsExactly("one", "two");
    assertThat(salvage.findings).isEmpty();
  }

  @Test
  void spansThatOverflowedIntoTheTrailAreJoined() throws IOException {
    Salvage salvage =
        salvage(
            BoxBuilder.box()
                .span(0, BoxBuilder.begin("in the table", 1, 2_000, "t"), "k", "old")
                .trailRecord(
                    RecordLayout.TYPE_SPAN_BEGIN,
                    0,
                    1,
                    BoxBuilder.cbor(BoxBuilder.begin("over", -1L >>> 1, 1_000, "t")))
                .trailRecord(
                    RecordLayout.TYPE_SPAN_BEGIN,
                    0,
                    1,
                    BoxBuilder.cbor(BoxBuilder.begin("ended", 3, 1_000, "t")))
                .trailRecord(
                    RecordLayout.TYPE_SPAN_SET,
                    0,
                    2,
                    BoxBuilder.cbor(BoxBuilder.map(0, 1L, 1, "k", 2, "new")))
                .trailRecord(
                    RecordLayout.TYPE_SPAN_SET,
                    0,
                    2,
                    BoxBuilder.cbor(BoxBuilder.map(0, -1L >>> 1, 1, "x", 2, 5L)))
                .trailRecord(
                    RecordLayout.TYPE_SPAN_END, 0, 3, BoxBuilder.cbor(BoxBuilder.map(0, 3L)))
                .trailRecord(99, 0, 3, BoxBuilder.cbor("of a newer writer"))
                .bytes());
    assertThat(salvage.findings).isEmpty();
    assertThat(salvage.spans)
        .extracting(Salvage.Span::name)
        .containsExactly("over", "in the table");
    assertThat(Salvage.decode(salvage.spans.get(0).attributes())).containsEntry("x", 5L);
    assertThat(Salvage.decode(salvage.spans.get(1).attributes())).containsEntry("k", "new");
    assertThat(salvage.trail).isEmpty();
  }

  @Test
  void aTornOpenSpanIsAFinding() throws IOException {
    BoxBuilder box = BoxBuilder.box().span(3, BoxBuilder.begin("a", 1, 0, "t"));
    byte[] bytes = box.bytes();
    BoxBuilder.Part part = box.part(BoxLayout.SPANS);
    bytes[part.offset() + 3 * part.unit() + 20] ^= 1;
    Salvage salvage = salvage(bytes);
    assertThat(salvage.spans).isEmpty();
    assertThat(salvage.findings)
        .extracting(Finding::text)
        .containsExactly(
            "open span is torn or damaged: slot=3, offset=" + (part.offset() + 3 * part.unit()));
  }

  @Test
  void minutesAreShownForWhatIsOlderThanTheSeconds() throws IOException {
    BoxBuilder box = BoxBuilder.box();
    for (int minute = 0; minute < 30; minute++) {
      box.sample(BoxLayout.VITALS_MINUTES, minute * 60_000L, VitalsLayout.THREADS, minute);
    }
    for (int second = 0; second < 1800; second++) {
      box.second(second * 1000L, VitalsLayout.THREADS, 1000 + second);
    }
    Salvage salvage = salvage(box.bytes());
    assertThat(salvage.findings).isEmpty();
    assertThat(salvage.vitals).hasSize(20 + 600);
    for (int i = 1; i < salvage.vitals.size(); i++) {
      assertThat(salvage.vitals.get(i)[0]).isGreaterThan(salvage.vitals.get(i - 1)[0]);
    }
  }

  @Test
  void aRingWhoseSlotsAllClaimToBeLongIsGivenUpInBoundedTime() throws IOException {
    BoxBuilder box = BoxBuilder.box();
    byte[] bytes = box.bytes();
    BoxBuilder.Part ring = box.part(BoxLayout.TRAIL);
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int slot = 0; slot < ring.length(); slot += 32) {
      buffer.putLong(ring.offset() + slot, ring.length() + slot);
      buffer.putInt(ring.offset() + slot + 8, ring.length());
    }
    Salvage salvage = salvage(bytes);
    assertThat(salvage.trail).isEmpty();
    assertThat(salvage.findings)
        .extracting(Finding::text)
        .contains("search given up: too many bytes claim to be records");
  }
}
