package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Level;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Reports on runs that have no box. */
class ReportBuilderTest {
  private static final Instant TIME = Instant.parse("2026-12-01T03:36:47.588Z");

  private static Breadcrumb breadcrumb(Instant at, String message, Map<String, Object> data) {
    return new Breadcrumb(7, at, Level.WARNING, "db", message, data, "http-1", "00000000000000ab");
  }

  @Test
  void whatIsNotGivenIsInNeitherTheJsonNorTheAccessors() {
    Report report = Report.builder("id", "app").build();

    assertThat(report.toJson())
        .isEqualTo(
            """
            {"schema":1,"run":{"id":"id","app":"app","more":{}},\
            "verdict":{"cause":"UNKNOWN","confidence":"unknown",\
            "headline":"Nothing says how the run ended","evidence":[],"advice":[]},\
            "scope":{},"findings":[]}""");
    assertThat(report.run().lastSeenAt()).isNull();
    assertThat(report.run().pid()).isEqualTo(-1);
    assertThat(report.trail()).isEmpty();
    assertThat(report.uncaught()).isNull();
    assertThat(report.endedWell()).isFalse();
    assertThat(report.exitStatus()).isEmpty();
  }

  @Test
  void whatIsNotGivenIsUnknownInTheTextAndNotNone() {
    assertThat(Report.builder("id", "app").build().toText())
        .contains(
            "Open spans\n  unknown\n",
            "Trail\n  unknown\n",
            "Vitals\n  unknown\n",
            "Scope\n  unknown\n",
            "Counters\n  unknown\n",
            "Findings\n  none\n");
  }

  @Test
  void whatIsKnownToBeEmptyIsThereAsEmpty() {
    Report report =
        Report.builder("id", "app")
            .trail(List.of())
            .user(Map.of())
            .tags(Map.of())
            .fingerprint(List.of())
            .trace(Map.of())
            .build();

    assertThat(report.toJson())
        .contains(
            "\"trail\":[],\"scope\":{\"user\":{},\"tags\":{},\"fingerprint\":[],\"trace\":{}}");
    assertThat(report.toText()).contains("  none\n", "Scope\n  empty\n");
  }

  @Test
  void everythingGivenIsInTheAccessorsAsItWas() {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("rows", 3L);
    data.put("share", 1.5);
    data.put("big", new BigInteger("123456789012345678901234567890"));
    data.put("decimal", new BigDecimal("1.50"));
    data.put("list", List.of("a", true));
    data.put("none", null);
    UncaughtException exception =
        new UncaughtException("java.lang.Error", "boom", "main", List.of("a.B.c(B.java:1)"), TIME);

    Report report =
        Report.builder("id", "app")
            .release("1.4.2")
            .environment("prod")
            .host("web-1")
            .startedAt(TIME.minusSeconds(60))
            .lastSeenAt(TIME)
            .more("dist", "7")
            .uncaught(exception)
            .trail(
                List.of(breadcrumb(TIME, "one", data), breadcrumb(Instant.EPOCH, "two", Map.of())))
            .user(Map.of("id", "42"))
            .tags(Map.of("region", "eu"))
            .contexts(Map.of("cart", Map.of("items", 3L)))
            .extras(Map.of("e", 1L))
            .level(Level.ERROR)
            .transaction("POST /x")
            .fingerprint(List.of("a", "b"))
            .trace(Map.of("traceId", "0102"))
            .finding(new Finding(Finding.Severity.WARNING, "file", "torn: offset=3"))
            .advice(new Advice(Advice.Kind.LOOK, "there"))
            .build();

    assertThat(report.run())
        .isEqualTo(
            new RunIdentity(
                "id",
                "app",
                "1.4.2",
                "prod",
                -1,
                "web-1",
                TIME.minusSeconds(60),
                TIME,
                null,
                Map.of("dist", "7", "wallMillis", TIME.minusSeconds(60).toEpochMilli())));
    assertThat(report.uncaught()).isEqualTo(exception);
    assertThat(report.trail())
        .containsExactly(breadcrumb(TIME, "one", data), breadcrumb(Instant.EPOCH, "two", Map.of()));
    assertThat(report.scope())
        .isEqualTo(
            new ScopeSnapshot(
                Map.of("id", "42"),
                Map.of("region", "eu"),
                Map.of("cart", Map.of("items", 3L)),
                Map.of("e", 1L),
                Level.ERROR,
                "POST /x",
                List.of("a", "b"),
                Map.of("traceId", "0102")));
    assertThat(report.findings()).extracting(Finding::text).containsExactly("torn: offset=3");
    assertThat(report.advice()).extracting(Advice::text).containsExactly("there");
    // A breadcrumb without a time has none, and not that of 1970.
    assertThat(report.toJson())
        .contains("{\"level\":\"warning\",\"category\":\"db\",\"message\":\"two\"");
    assertThat(report.toText()).contains("  ?            warning db two [http-1]");
  }

  @Test
  void aSecondScopeReplacesTheFirst() {
    Report report =
        Report.builder("id", "app").tags(Map.of("a", "1")).tags(Map.of("b", "2")).build();

    assertThat(report.scope().tags()).isEqualTo(Map.of("b", "2"));
  }

  @Test
  void aVerdictIsMadeSafeToPrint() {
    Verdict verdict =
        new Verdict(
            Cause.UNCAUGHT,
            Confidence.POSSIBLE,
            "died\u001b[2J",
            List.of(new Evidence(Evidence.Kind.FOR, "said\nso")));

    Report report = Report.builder("id", "app").verdict(verdict).build();

    assertThat(report.verdict().headline()).isEqualTo("died\\u{1b}[2J");
    assertThat(report.verdict().evidence())
        .containsExactly(new Evidence(Evidence.Kind.FOR, "said\\u{a}so"));
  }

  @Test
  void aValueThatIsTooDeepIsCutAndAFindingSaysSo() {
    List<Object> deep = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      deep = new ArrayList<>(List.of(deep));
    }

    Report report = Report.builder("id", "app").contexts(Map.of("deep", deep)).build();

    assertThat(report.toJson()).contains("[[[[").contains("…");
    assertThat(report.findings())
        .extracting(Finding::text)
        .containsExactly("values were cut: count=1");
  }

  @Test
  void aLargeValueIsWhole() {
    Map<String, Object> context = new LinkedHashMap<>();
    for (int i = 0; i < 20_000; i++) {
      context.put("key" + i, "é".repeat(100));
    }

    Report report = Report.builder("id", "app").contexts(Map.of("large", context)).build();

    assertThat(report.scope().contexts()).isEqualTo(Map.of("large", context));
    assertThat(report.findings()).isEmpty();
  }
}
