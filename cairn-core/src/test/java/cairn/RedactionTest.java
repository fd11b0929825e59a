package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.format.Forms;
import cairn.format.RecordLayout;
import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import cairn.storage.Region;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** From the call to the bytes of the box and the report. */
class RedactionTest {
  private static final String MARK = "<redacted>";

  /** What must not be found in a box, in any place. */
  private static final String HIDDEN = "hunter2";

  private static final String CARD = "4111111111111111";

  @TempDir Path root;

  @AfterEach
  void clearSettings() {
    System.clearProperty("cairn.redaction");
    System.clearProperty("cairn.redaction.keys");
    System.clearProperty("cairn.mode");
  }

  private static MemoryBox box(Redaction redaction) {
    return new MemoryBox(16, 64 * 1024, Region::new, redaction.secrets, Forms.NONE);
  }

  private static void assertHidden(MemoryBox memory, long redacted) {
    String image = new String(memory.image(), StandardCharsets.ISO_8859_1);
    assertThat(image).doesNotContain(HIDDEN).doesNotContain(CARD);
    Report report = memory.report();
    assertThat(report.counters()).containsEntry("redacted", redacted);
    assertThat(report.toJson()).contains(MARK).doesNotContain(HIDDEN).doesNotContain(CARD);
    assertThat(report.toText()).doesNotContain(HIDDEN).doesNotContain(CARD);
  }

  @Test
  void breadcrumbHidesSecretsInMessageCategoryAndData() {
    MemoryBox memory = box(Redaction.standard());
    memory.box.breadcrumb(
        Level.INFO,
        "token=" + HIDDEN,
        "GET /?password=" + HIDDEN,
        Map.of(
            "password",
            HIDDEN,
            "nested",
            List.of(Map.of("api_key", List.of(HIDDEN))),
            "card",
            Long.parseLong(CARD),
            "note",
            "card " + CARD));
    assertHidden(memory, 6);
    assertThat(memory.report().trail().get(0).message()).isEqualTo("GET /?password=" + MARK);
    assertThat(memory.report().trail().get(0).category()).isEqualTo("token=" + MARK);
    assertThat(memory.report().trail().get(0).data())
        .containsEntry("password", MARK)
        .containsEntry("nested", List.of(Map.of("api_key", MARK)))
        .containsEntry("card", MARK)
        .containsEntry("note", "card " + MARK);
    assertThat(memory.report().toText()).contains("GET /?password=" + MARK);
  }

  @Test
  void scopeHidesSecretsInEveryKindOfField() {
    MemoryBox memory = box(Redaction.standard());
    memory.box.setScope(RecordLayout.KIND_TAG, "password", HIDDEN);
    memory.box.setScope(RecordLayout.KIND_TAG, "url", "http://me:" + HIDDEN + "@host");
    memory.box.setScope(RecordLayout.KIND_CONTEXT, "auth", Map.of("a", HIDDEN));
    memory.box.setScope(RecordLayout.KIND_CONTEXT, "login", Map.of("passwd", HIDDEN));
    memory.box.setScope(RecordLayout.KIND_EXTRA, "card", CARD);
    memory.box.setScope(RecordLayout.KIND_USER, null, Map.of("id", "7", "secret", HIDDEN));
    memory.box.setScope(RecordLayout.KIND_TRANSACTION, null, "job?token=" + HIDDEN);
    memory.box.setScope(RecordLayout.KIND_FINGERPRINT, null, List.of("password=" + HIDDEN));
    assertHidden(memory, 8);
    Report report = memory.report();
    assertThat(report.scope().tags()).containsEntry("password", MARK);
    assertThat(report.scope().tags()).containsEntry("url", "http://" + MARK + "@host");
    assertThat(report.scope().contexts()).containsEntry("auth", MARK);
    assertThat(report.scope().user()).isEqualTo(Map.of("id", "7", "secret", MARK));
  }

  private static void set(MemoryBox memory, long span, String key, String text) {
    memory.box.setAttribute(span, key, SpanTable.TEXT, 0, text);
  }

  @Test
  void spanHidesSecretsInNameAndAttributesAlsoWhereTheyOverflow() {
    MemoryBox memory = box(Redaction.standard());
    long span = memory.box.beginSpan("GET /?token=" + HIDDEN);
    set(memory, span, "password", HIDDEN);
    set(memory, span, "url", "ftp://me:" + HIDDEN + "@host");
    memory.box.setAttribute(span, "number", SpanTable.INTEGER, Long.parseLong(CARD), "");
    memory.box.setAttribute(span, "pwd", SpanTable.INTEGER, 7, "");
    memory.box.setAttribute(span, "cvv", SpanTable.FLOATING, Double.doubleToRawLongBits(1.5), "");
    memory.box.setAttribute(span, "token", SpanTable.BOOLEAN, 1, "");
    assertHidden(memory, 6);
    Map<String, Object> attributes = memory.report().openSpans().get(0).attributes();
    assertThat(attributes)
        .isEqualTo(
            Map.of(
                "password", MARK,
                "url", "ftp://" + MARK + "@host",
                "number", MARK,
                "pwd", MARK,
                "cvv", MARK,
                "token", true));

    for (int i = 0; i < 10; i++) {
      set(memory, span, "filler" + i, "x".repeat(60));
    }
    long before = redacted(memory);
    set(memory, span, "secret", HIDDEN);
    set(memory, span, "late", "password=" + HIDDEN);
    memory.box.setAttribute(span, "late.number", SpanTable.INTEGER, Long.parseLong(CARD), "");
    assertHidden(memory, before + 3);
    assertThat(memory.report().counters().get("attributesOverflowed")).isGreaterThan(2);
    assertThat(memory.report().openSpans().get(0).attributes())
        .containsEntry("secret", MARK)
        .containsEntry("late", "password=" + MARK)
        .containsEntry("late.number", MARK);
  }

  private static long redacted(MemoryBox memory) {
    return memory.report().counters().get("redacted");
  }

  @Test
  void spanWithoutASlotHidesThemToo() {
    MemoryBox memory = box(Redaction.standard());
    for (int i = 0; i < 16; i++) {
      memory.box.beginSpan("filler");
    }
    long span = memory.box.beginSpan("GET /?token=" + HIDDEN + " and more than forty characters");
    set(memory, span, "password", HIDDEN);
    assertHidden(memory, 2);
    assertThat(memory.report().openSpans())
        .extracting(UnfinishedSpan::name)
        .contains("GET /?token=" + MARK + " and more than forty characters");
  }

  @Test
  void messageOfAnUncaughtExceptionHidesThem() {
    MemoryBox memory = box(Redaction.standard().rule((key, text) -> text.replace("Ada", "…")));
    memory.box.life.uncaught(
        Thread.currentThread(), new IllegalStateException("Ada: no password=" + HIDDEN));
    assertHidden(memory, 2);
    assertThat(memory.report().toText()).contains("…: no password=" + MARK);
  }

  @Test
  void noneRecordsEverythingAsItIs() {
    MemoryBox memory = box(Redaction.none());
    memory.box.breadcrumb(Level.INFO, "c", "password=" + HIDDEN, Map.of("password", HIDDEN));
    set(memory, memory.box.beginSpan("x"), "token", CARD);
    Report report = memory.report();
    assertThat(report.trail().get(0).message()).isEqualTo("password=" + HIDDEN);
    assertThat(report.trail().get(0).data()).isEqualTo(Map.of("password", HIDDEN));
    assertThat(report.openSpans().get(0).attributes()).isEqualTo(Map.of("token", CARD));
    assertThat(report.counters()).containsEntry("redacted", 0L);
  }

  @Test
  void keysAndAllowedKeysAreTheApplications() {
    MemoryBox memory =
        box(
            Redaction.standard()
                .keys("iban", "customer id")
                .allow("token_endpoint_token", "cookie"));
    memory.box.breadcrumb(
        Level.INFO,
        "c",
        "m",
        Map.of(
            "customerIban",
            HIDDEN,
            "NEW_CUSTOMER_ID",
            5,
            "tokenEndpointToken",
            "https://example.com",
            "cookie",
            "password=" + HIDDEN));
    assertHidden(memory, 3);
    assertThat(memory.report().trail().get(0).data())
        .isEqualTo(
            Map.of(
                "customerIban",
                MARK,
                "NEW_CUSTOMER_ID",
                MARK,
                "tokenEndpointToken",
                "https://example.com",
                "cookie",
                "password=" + MARK));
  }

  @Test
  void ruleIsAskedForEachTextWithItsNearestKeyAndBeforeTheForms() {
    List<String> asked = Collections.synchronizedList(new ArrayList<>());
    Redaction.Rule rule =
        (key, text) -> {
          asked.add(key + "=" + text);
          return switch (text) {
            case "null" -> null;
            case "throw" -> throw new IllegalStateException("in the rule");
            case "other" -> "token=" + HIDDEN;
            default -> text;
          };
        };
    MemoryBox memory = box(Redaction.standard().rule(rule));
    memory.box.breadcrumb(
        Level.INFO,
        "category",
        "message",
        Map.of("k", List.of("same", "null", "throw", "other", 5)));
    memory.box.setScope(RecordLayout.KIND_TAG, "tag", new StringBuilder("built"));
    long span = memory.box.beginSpan("span");
    set(memory, span, "attribute", "null");
    memory.box.setScope(RecordLayout.KIND_TAG, "password", "not asked");

    assertThat(asked)
        .containsExactly(
            "null=category",
            "null=message",
            "k=same",
            "k=null",
            "k=throw",
            "k=other",
            "tag=built",
            "null=span",
            "attribute=null");
    Report report = memory.report();
    assertThat(report.trail().get(0).data())
        .isEqualTo(Map.of("k", List.of("same", MARK, MARK, "token=" + MARK, 5L)));
    assertThat(report.openSpans().get(0).attributes()).isEqualTo(Map.of("attribute", MARK));
    // null, throw, other and then its form; the attribute; the tag by its key.
    assertHidden(memory, 6);
  }

  @Test
  void laterRuleHearsWhatTheEarlierOneReturned() {
    MemoryBox memory =
        box(
            Redaction.none()
                .rule((key, text) -> text.equals("no") ? null : text + "1")
                .rule((key, text) -> text + "2"));
    memory.box.breadcrumb(Level.INFO, null, "a", Map.of("b", "no"));
    assertThat(memory.report().trail().get(0).message()).isEqualTo("a12");
    assertThat(memory.report().trail().get(0).data()).isEqualTo(Map.of("b", MARK));
  }

  @Test
  void ruleHearsOfALongTextOnlyWhatCanBeRecorded() {
    List<Integer> lengths = new ArrayList<>();
    MemoryBox memory =
        box(
            Redaction.standard()
                .rule(
                    (key, text) -> {
                      lengths.add(text.length());
                      return text;
                    }));
    memory.box.setScope(RecordLayout.KIND_EXTRA, "e", new StringBuilder("x".repeat(100_000)));
    assertThat(lengths).containsExactly(8193);
    assertThat((String) memory.report().scope().extras().get("e")).hasSize(8190).endsWith("x…");
  }

  @Test
  void fatalErrorOfARuleIsThrownByTheCallItBelongsTo() {
    OutOfMemoryError fatal = new OutOfMemoryError("in the rule");
    MemoryBox memory =
        box(
            Redaction.standard()
                .rule(
                    (key, text) -> {
                      if (text.equals("fatal")) {
                        throw fatal;
                      }
                      return text;
                    }));
    long span = memory.box.beginSpan("span");
    assertThatThrownBy(() -> set(memory, span, "a", "fatal")).isSameAs(fatal);
    assertThat(memory.report().openSpans().get(0).attributes()).isEqualTo(Map.of("a", MARK));
    assertThatThrownBy(() -> memory.box.beginSpan("fatal")).isSameAs(fatal);
    assertThat(memory.report().openSpans()).hasSize(1);
    assertThatThrownBy(() -> memory.box.breadcrumb(Level.INFO, "c", "fatal", null)).isSameAs(fatal);
    memory.box.breadcrumb(Level.INFO, "c", "fine", null);
    assertThat(memory.report().trail()).extracting(b -> b.message()).containsExactly(MARK, "fine");
  }

  @Test
  void ruleThatRecordsIsNotInTheWayOfWhatItIsAskedFor() {
    MemoryBox[] memory = new MemoryBox[1];
    memory[0] =
        box(
            Redaction.standard()
                .rule(
                    (key, text) -> {
                      if (!text.startsWith("inner")) {
                        memory[0].box.breadcrumb(Level.INFO, null, "inner " + text, null);
                      }
                      return text;
                    }));
    memory[0].box.breadcrumb(Level.INFO, null, "outer", Map.of("k", "v"));
    assertThat(memory[0].report().trail())
        .extracting(b -> b.message())
        .containsExactly("inner outer", "inner v", "outer");
  }

  private Recorder open() {
    return Recorder.builder("orders").directory(root).open();
  }

  private String recorded() throws IOException {
    try (Recorder recorder = open()) {
      recorder.breadcrumb(Level.INFO, "c", "password=" + HIDDEN, Map.of("iban", HIDDEN));
      return new String(
          Files.readAllBytes(recorder.directory().resolve("box")), StandardCharsets.ISO_8859_1);
    }
  }

  @Test
  void settingsSwitchItOffOrAddKeys() throws IOException {
    assertThat(recorded()).contains("password=" + MARK).contains(HIDDEN);
    System.setProperty("cairn.redaction.keys", " iban, ,pin");
    assertThat(recorded()).doesNotContain(HIDDEN);
    assertThat(Recorder.builder("orders"))
        .asString()
        .contains("redaction=Redaction{standard, keys=[iban], keys=[pin]}");
    System.setProperty("cairn.redaction", "None");
    assertThat(recorded())
        .contains("password=" + HIDDEN)
        .doesNotContain("iban" + "\u0067" + HIDDEN);
    System.clearProperty("cairn.redaction.keys");
    // 67: a text of 7 bytes.
    assertThat(recorded()).contains("password=" + HIDDEN).contains("iban" + "\u0067" + HIDDEN);
    System.setProperty("cairn.redaction", "STANDARD");
    assertThat(recorded()).contains("password=" + MARK);
  }

  @Test
  void wrongSettingRecordsNothingAndSaysWhy() throws IOException {
    System.setProperty("cairn.redaction", "some");
    try (Recorder recorder = open()) {
      assertThat(recorder.mode())
          .isEqualTo(
              "disabled: IllegalArgumentException: redaction is unknown: cairn.redaction=some"
                  + " (use standard or none)");
      assertThat(Recorder.builder("orders")).asString().contains("redaction is unknown");
    }
    assertThat(Runs.under(root).list()).isEmpty();
    System.setProperty("cairn.redaction", "standard");
    System.setProperty("cairn.redaction.keys", "--");
    try (Recorder recorder = open()) {
      assertThat(recorder.mode()).contains("key has no letter or digit: key=--");
    }
  }

  @Test
  void builderComesBeforeTheSettings() throws IOException {
    System.setProperty("cairn.redaction", "none");
    try (Recorder recorder =
        Recorder.builder("orders").directory(root).redaction(Redaction.standard()).open()) {
      recorder.breadcrumb(Level.INFO, "c", "password=" + HIDDEN, null);
    }
    assertThat(Runs.under(root).list().get(0).report().trail().get(0).message())
        .isEqualTo("password=" + MARK);
  }

  @Test
  void misuseThrowsAtOnce() {
    assertThatIllegalArgumentException().isThrownBy(() -> Redaction.standard().keys("a", "_"));
    assertThatIllegalArgumentException().isThrownBy(() -> Redaction.standard().allow(""));
    assertThatNullPointerException().isThrownBy(() -> Redaction.standard().keys((String) null));
    assertThatNullPointerException().isThrownBy(() -> Redaction.standard().rule(null));
    assertThat(Redaction.standard().keys("iban").allow("a", "b"))
        .hasToString("Redaction{standard, keys=[iban], allow=[a, b]}");
    assertThat(Redaction.none()).hasToString("Redaction{none}");
  }
}
