package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Level;
import cairn.format.CounterLayout;
import cairn.format.Hostile;
import cairn.format.PressureLayout;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.format.VitalsLayout;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  private static final long GIB = 1L << 30;

  private final FakeHost host = new FakeHost();

  @TempDir Path root;

  private Report report(BoxBuilder box) throws IOException {
    return box.writeTo(root).report(host);
  }

  private static Instant at(long millis) {
    return Instant.ofEpochMilli(BoxBuilder.START_WALL + millis);
  }

  @Test
  void everythingInAHandMadeBoxComesBack() throws IOException {
    Map<Object, Object> child = BoxBuilder.begin("SELECT orders", 3, 59_000, "http-1");
    child.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 2L);
    child.put(SpanLayout.BEGIN_TRACE_ID, new byte[16]);
    Report report =
        report(
            BoxBuilder.box()
                .beat(60_000)
                .second(60_000, VitalsLayout.HEAP_USED, 5, VitalsLayout.THREADS, 7)
                .counter(CounterLayout.CUT, 3)
                .scope(RecordLayout.KIND_USER, null, Map.of("id", "42"))
                .scope(RecordLayout.KIND_TAG, "region", "us")
                .scope(RecordLayout.KIND_TAG, "region", "eu")
                .scope(RecordLayout.KIND_CONTEXT, "cart", Map.of("items", 3L))
                .scope(RecordLayout.KIND_EXTRA, "note", "x")
                .scope(RecordLayout.KIND_LEVEL, null, "WARNING")
                .scope(RecordLayout.KIND_TRANSACTION, null, "POST /orders")
                .scope(RecordLayout.KIND_FINGERPRINT, null, List.of("a", "b"))
                .scope(RecordLayout.KIND_TRACE, null, Map.of("traceId", "t"))
                .span(5, child, "rows", 3L, "rows", 4L)
                .span(1, BoxBuilder.begin("POST /export", 2, 19_000, "http-1"), "tenant", "acme")
                .crumb(59_500, 1, "db", "SELECT orders", "rows", 3L)
                .crumb(59_900, 3, "web", "slow"));

    assertThat(report.findings()).isEmpty();
    assertThat(report.run().id()).isEqualTo(BoxBuilder.RUN_ID);
    assertThat(report.run().pid()).isEqualTo(4711);
    assertThat(report.run().startedAt()).isEqualTo(at(0));
    assertThat(report.run().lastSeenAt()).isEqualTo(at(60_000));
    assertThat(report.run().more()).containsEntry("cairn", "0.1.0");
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactly("POST /export", "SELECT orders");
    UnfinishedSpan oldest = report.openSpans().get(0);
    assertThat(oldest.ageMillis()).isEqualTo(41_000);
    assertThat(oldest.startedAt()).isEqualTo(at(19_000));
    assertThat(oldest.attributes()).containsOnly(Map.entry("tenant", "acme"));
    UnfinishedSpan newest = report.openSpans().get(1);
    assertThat(newest.spanId()).isEqualTo("0000000000000003");
    assertThat(newest.parentSpanId()).isEqualTo("0000000000000002");
    assertThat(newest.traceId()).isEqualTo("0".repeat(32));
    assertThat(newest.attributes()).containsOnly(Map.entry("rows", 4L));
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("SELECT orders", "slow");
    assertThat(report.trail().get(1).level()).isEqualTo(Level.ERROR);
    assertThat(report.trail().get(0).data()).containsOnly(Map.entry("rows", 3L));
    assertThat(report.trail().get(0).at()).isEqualTo(at(59_500));
    assertThat(report.scope())
        .isEqualTo(
            new ScopeSnapshot(
                Map.of("id", "42"),
                Map.of("region", "eu"),
                Map.of("cart", Map.of("items", 3L)),
                Map.of("note", "x"),
                Level.WARNING,
                "POST /orders",
                List.of("a", "b"),
                Map.of("traceId", "t")));
    assertThat(report.vitals()).hasSize(1);
    assertThat(report.vitals().get(0).value("heapUsed")).hasValue(5);
    assertThat(report.vitals().get(0).value("rss")).isEmpty();
    assertThat(report.counters()).containsEntry("cut", 3L).containsEntry("dropped", 0L);
    assertThat(report.verdict().headline())
        .isEqualTo(
            "Killed (SIGKILL or Runtime.halt, possible) at 14:01:00.000 UTC or later;"
                + " 2 operations in flight, oldest 41 s: POST /export {tenant=acme}");
  }

  @Test
  void uncaughtExceptionComesBackAsItWasNoted() throws IOException {
    assertThat(report(BoxBuilder.box().beat(60_000)).uncaught()).isNull();
    Report report =
        report(
            BoxBuilder.box().beat(60_000).uncaught(59_000, "main", "com.acme.NoStock", "out of 7"));
    assertThat(report.uncaught())
        .isEqualTo(
            new UncaughtException(
                "com.acme.NoStock",
                "out of 7",
                "main",
                List.of("com.acme.Orders.load(Orders.java:12)"),
                at(59_000)));
  }

  // Clocks

  @Test
  void agesAreTakenFromTheNewestSignOfLife() throws IOException {
    Report report =
        report(
            BoxBuilder.box()
                .beat(50_000)
                .second(60_000, VitalsLayout.THREADS, 1)
                .span(0, BoxBuilder.begin("old", 1, 20_000, "t"))
                .span(1, BoxBuilder.begin("after the last beat", 2, 60_400, "t")));
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::ageMillis)
        .containsExactly(40_400L, 0L);
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::startedAt)
        .containsExactly(at(20_000), at(60_400));
    assertThat(report.run().lastSeenAt()).isEqualTo(at(60_400));
  }

  @Test
  void theNewestBreadcrumbIsASignOfLifeAndOlderOnesAfterAClockStepAreNot() throws IOException {
    BoxBuilder box = BoxBuilder.box().beat(60_000).crumb(60_700, 1, "a", "b");
    assertThat(report(box).run().lastSeenAt()).isEqualTo(at(60_700));
    box =
        BoxBuilder.box()
            .beat(60_000)
            .crumb(3_660_000, 1, "a", "before")
            .crumb(60_100, 1, "a", "after");
    assertThat(report(box).run().lastSeenAt()).isEqualTo(at(60_100));
  }

  @Test
  void aClockThatIsOffTheCalendarIsUnknown() throws IOException {
    BoxBuilder box = BoxBuilder.box().crumb(Long.MAX_VALUE / 2, 1, "a", "b");
    Report report = report(box);
    assertThat(report.trail().get(0).at()).isEqualTo(Instant.EPOCH);
    assertThat(new ObjectMapper().readTree(report.toJson()).at("/trail/0").has("at")).isFalse();
    assertThat(report.toText()).contains("Trail (newest 1 of 1)");
  }

  // JSON

  private static final String HOSTILE = "\u001b[31m\u0007\u202e\u2028\u200b\"\\\r\n\u0085\u007f";

  /** {@return a box in which every text is hostile, and every kind of value is there} */
  private static BoxBuilder hostile() {
    byte[] invalid = BoxBuilder.cbor(BoxBuilder.map(0, "c", 1, "xx"));
    invalid[invalid.length - 1] = (byte) 0xff;
    return BoxBuilder.box()
        .identity("app", HOSTILE)
        .identity("host", HOSTILE)
        .identity("extra", List.of(HOSTILE))
        .beat(60_000)
        .uncaught(59_000, HOSTILE, HOSTILE, HOSTILE)
        .scope(RecordLayout.KIND_USER, null, BoxBuilder.map(HOSTILE, HOSTILE))
        .scope(RecordLayout.KIND_TAG, HOSTILE, HOSTILE)
        .scope(RecordLayout.KIND_TRANSACTION, null, HOSTILE)
        .scope(RecordLayout.KIND_FINGERPRINT, null, List.of(HOSTILE))
        .scope(99, HOSTILE, HOSTILE)
        .span(0, BoxBuilder.begin(HOSTILE, -1L >>> 1, 1, HOSTILE), HOSTILE, HOSTILE)
        .trailRecord(RecordLayout.TYPE_BREADCRUMB, 200, 59_000, invalid)
        .trailRecord(
            RecordLayout.TYPE_BREADCRUMB,
            1,
            59_000,
            BoxBuilder.cbor(BoxBuilder.map(0, 1L, 1, true)))
        .crumb(
            59_500,
            2,
            HOSTILE,
            HOSTILE,
            "nan",
            Double.NaN,
            "infinite",
            Double.NEGATIVE_INFINITY,
            "bytes",
            new byte[] {1, 2, 3},
            "big",
            new BigInteger("-99999999999999999999"),
            "decimal",
            new BigDecimal("12.340"),
            "null",
            null,
            HOSTILE,
            BoxBuilder.map(1L, HOSTILE));
  }

  @Test
  void jsonIsWellFormedAndHoldsTheValuesOfTheAccessors() throws IOException {
    Report report = report(hostile());
    JsonNode json =
        new ObjectMapper()
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .readTree(report.toJson());
    assertThat(report.toJson().codePoints().filter(Hostile::is)).isEmpty();
    assertThat(json.get("schema").asInt()).isEqualTo(1);
    assertThat(json.at("/run/app").textValue()).isEqualTo(HOSTILE);
    assertThat(json.at("/run/more/extra/0").textValue()).isEqualTo(HOSTILE);
    assertThat(json.at("/scope/tags").get(HOSTILE).textValue()).isEqualTo(HOSTILE);
    assertThat(json.at("/openSpans/0/name").textValue()).isEqualTo(HOSTILE);
    assertThat(json.at("/openSpans/0/spanId").textValue()).isEqualTo("7fffffffffffffff");
    assertThat(json.at("/trail/0/message").textValue()).isEqualTo("x\ufffd");
    assertThat(json.at("/trail/0/level").textValue()).isEqualTo("fatal");
    assertThat(json.at("/trail/1").has("category")).as("a category that is no text").isFalse();
    JsonNode data = json.at("/trail/2/data");
    assertThat(data.get("nan").textValue()).isEqualTo("NaN");
    assertThat(data.get("infinite").textValue()).isEqualTo("-Infinity");
    assertThat(data.get("bytes").textValue()).isEqualTo("AQID");
    assertThat(data.get("big").bigIntegerValue()).isEqualTo("-99999999999999999999");
    assertThat(data.get("decimal").decimalValue()).isEqualByComparingTo("12.34");
    assertThat(data.get("null").isNull()).isTrue();
    assertThat(data.get(HOSTILE).get("1").textValue()).isEqualTo(HOSTILE);
    Map<String, Object> decoded = report.trail().get(2).data();
    assertThat(decoded)
        .containsEntry("decimal", new BigDecimal("12.340"))
        .containsEntry("null", null);
    assertThat(decoded.get(HOSTILE)).isEqualTo(Map.of("1", HOSTILE));
  }

  @Test
  void jsonAsBytesAndAsTextAreTheSame() throws IOException {
    Report report = report(hostile());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    report.writeJson(out);
    assertThat(out.toString(StandardCharsets.UTF_8)).isEqualTo(report.toJson());
  }

  // Text

  @Test
  void hostileTextStaysOnItsLineAndIsShownEscaped() throws IOException {
    String text = report(hostile()).toText();
    assertThat(text.codePoints().filter(c -> c != '\n' && Hostile.is(c))).isEmpty();
    assertThat(text)
        .contains("\\u{1b}[31m\\u{7}\\u{202e}\\u{2028}\\u{200b}\"\\\\u{d}\\u{a}\\u{85}\\u{7f}");
    assertThat(text.lines().filter(line -> line.contains("14:00:59.500"))).hasSize(1);
  }

  @Test
  void thePartsComeInTheirOrderAndOnlyTheOnesAskedFor() throws IOException {
    Report report = report(BoxBuilder.box().beat(60_000).crumb(59_000, 1, "db", "hello"));
    assertThat(report.toText(ReportPart.TRAIL, ReportPart.HEADLINE))
        .isEqualTo(
            """
            Killed (SIGKILL or Runtime.halt, possible) at 14:01:00.000 UTC or later; nothing was in flight

            Trail (newest 1 of 1), times in UTC, the last line is the newest
              14:00:59.000 info    db hello [http-1]
            """);
    assertThat(report.toText().lines().filter(line -> line.matches("[A-Z][a-z ]+.*")))
        .extracting(line -> line.split("[ ,(]")[0])
        .containsExactly(
            "Killed",
            "Open",
            "Why",
            "What",
            "How",
            "Trail",
            "Vitals",
            "Scope",
            "Run",
            "Counters",
            "Findings");
  }

  @Test
  void ordinaryContentKeepsToAHundredColumns() throws IOException {
    BoxBuilder box =
        BoxBuilder.box()
            .beat(60_000)
            .counter(CounterLayout.CUT, 12)
            .span(
                0,
                BoxBuilder.begin("POST /export", 1, 19_000, "http-nio-8080-exec-1"),
                "tenant",
                "acme");
    for (int i = 0; i < 60; i++) {
      box.second(
          i * 1000L,
          VitalsLayout.HEAP_USED,
          (100L + i) << 20,
          VitalsLayout.HEAP_MAX,
          GIB,
          VitalsLayout.THREADS,
          20,
          VitalsLayout.CPU_MILLIS,
          i * 300L);
      box.crumb(i * 1000L, 1, "db", "SELECT orders", "rows", (long) i);
    }
    String text = report(box).toText();
    assertThat(text.lines().filter(line -> line.length() > 100)).isEmpty();
    assertThat(text)
        .contains("heap    ▁▁▁▁")
        .contains("█  min 100 MiB  max 159 MiB  last 159 MiB of 1.0 GiB")
        .contains("min 30 %  max 30 %  last 30 %")
        .contains("rss     unknown")
        .contains("41 s       POST /export  [http-nio-8080-exec-1]")
        .contains("newest 20 of 60")
        .contains("cut                  12")
        .doesNotContain("lapped");
  }

  @Test
  void aLongValueIsCutVisiblyWithItsLength() throws IOException {
    String text =
        report(
                BoxBuilder.box()
                    .crumb(1, 1, "a", "m".repeat(1234), "k", "v".repeat(300), "last", 1L))
            .toText(ReportPart.TRAIL);
    assertThat(text)
        .contains("m".repeat(160) + "… (1,234 characters)")
        .contains("k=" + "v".repeat(60) + "… (300 characters), last=1}");
  }

  @Test
  void durationsAndSizesAreSaidAsAPersonWould() {
    assertThat(
            List.of(0L, 999L, 1_000L, 9_999L, 41_000L, 119_000L, 125_000L, 7_380_000L, 97_200_000L))
        .extracting(Names::duration)
        .containsExactly(
            "0 ms",
            "999 ms",
            "1.0 s",
            "9.9 s",
            "41 s",
            "119 s",
            "2 min 5 s",
            "2 h 3 min",
            "1 d 3 h");
    assertThat(List.of(0L, 1023L, 1024L, 10L << 20, Long.MAX_VALUE))
        .extracting(Names::bytes)
        .containsExactly("0 B", "1023 B", "1.0 KiB", "10 MiB", "8192 PiB");
  }

  // The documentation

  /** {@return the box of the example in docs/REPORT.md} */
  private static BoxBuilder documented() {
    Map<Object, Object> begin = BoxBuilder.begin("POST /export", 2, 19_000, "http-1");
    begin.put(
        SpanLayout.BEGIN_TRACE_ID,
        new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    begin.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 1L);
    BoxBuilder box =
        BoxBuilder.box()
            .beat(60_000)
            .second(
                59_900,
                VitalsLayout.HEAP_USED,
                734_003_200,
                VitalsLayout.HEAP_COMMITTED,
                805_306_368,
                VitalsLayout.HEAP_MAX,
                GIB,
                VitalsLayout.RSS,
                1_020_054_732,
                VitalsLayout.GC_COUNT,
                41,
                VitalsLayout.GC_MILLIS,
                812,
                VitalsLayout.THREADS,
                57,
                VitalsLayout.OPEN_FILES,
                112,
                VitalsLayout.CPU_MILLIS,
                48_210,
                VitalsLayout.CGROUP_USAGE,
                1_060_000_000,
                VitalsLayout.CGROUP_LIMIT,
                GIB,
                VitalsLayout.CGROUP_OOM_KILLS,
                0,
                VitalsLayout.NODE_OOM_KILLS,
                5,
                VitalsLayout.OPEN_SPANS,
                1,
                VitalsLayout.MAX_FILES,
                20_000)
            .counter(CounterLayout.CUT, 2)
            .pressure(
                59_300,
                PressureLayout.CGROUP,
                1_030_000_000,
                GIB,
                BoxBuilder.pressed("POST /export", 2, 19_000, "http-1", 412_000_000, 11_200))
            .scope(RecordLayout.KIND_USER, null, BoxBuilder.map("id", "42"))
            .scope(RecordLayout.KIND_TAG, "region", "eu")
            .scope(RecordLayout.KIND_CONTEXT, "cart", BoxBuilder.map("items", 3L))
            .scope(RecordLayout.KIND_TRANSACTION, null, "POST /export")
            .span(0, begin, "tenant", "acme")
            .crumb(59_400, 1, "db", "SELECT orders", "rows", 900_000L);
    return box.skipTrail(64).crumb(59_900, 2, "heap", "almost full");
  }

  @Test
  void theDocumentedExampleIsRealOutput() throws IOException {
    host.nodeOomKills = OptionalLong.of(6);
    host.now = Instant.ofEpochMilli(BoxBuilder.START_WALL + 90_000);
    Report report = report(documented());
    Path docs = Path.of("..", "docs", "REPORT.md");
    String page = Files.readString(docs, StandardCharsets.UTF_8);
    String json = page.substring(page.indexOf("```json") + 7);
    json = json.substring(0, json.indexOf("```"));
    ObjectMapper mapper = new ObjectMapper();
    assertThat(mapper.readTree(report.toJson()).toPrettyString())
        .isEqualTo(mapper.readTree(json).toPrettyString());
    String text = page.substring(page.indexOf("```text\n") + 8);
    assertThat(text.substring(0, text.indexOf("```"))).isEqualTo(report.toText());
  }

  @Test
  void everyCauseConfidenceAndNameIsDocumented() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "REPORT.md"), StandardCharsets.UTF_8);
    for (Cause cause : Cause.values()) {
      assertThat(page).contains("`" + cause + "`");
    }
    for (Confidence confidence : Confidence.values()) {
      assertThat(page).contains("`" + confidence.name().toLowerCase(Locale.ROOT) + "`");
    }
    for (String name : Salvage.vitalNames().keySet()) {
      assertThat(page).contains("`" + name + "`");
    }
    for (String name : CounterLayout.NAMES) {
      assertThat(page).contains("`" + name + "`");
    }
  }
}
