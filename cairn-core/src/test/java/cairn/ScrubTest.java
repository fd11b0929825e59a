package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.format.BoxScrubber;
import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.format.Secrets;
import cairn.report.Breadcrumb;
import cairn.report.Finding;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.UnfinishedSpan;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a box shows, and what it holds, once it was scrubbed. */
class ScrubTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long NOW = 1_800_000_000_000L;

  private final MemoryBox memory = MemoryBox.withoutRedaction(16, 64 * 1024);
  private final Box box = memory.box;

  private static BoxScrubber.Result scrub(byte[] image, Secrets secrets) {
    byte[] before = image.clone();
    try {
      BoxScrubber.Result result = BoxScrubber.scrub(image, "memory", secrets, NOW);
      assertThat(image).isEqualTo(before);
      assertThat(result.image()).hasSameSizeAs(image);
      return result;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private BoxScrubber.Result scrub() {
    return scrub(memory.image(), Secrets.STANDARD);
  }

  private static boolean holds(byte[] image, String text) {
    return new String(image, StandardCharsets.ISO_8859_1)
        .contains(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1));
  }

  private static void assertGone(BoxScrubber.Result result, byte[] before, String... texts) {
    for (String text : texts) {
      assertThat(holds(before, text)).as("before: " + text).isTrue();
      assertThat(holds(result.image(), text)).as("after: " + text).isFalse();
    }
  }

  private static boolean isNote(Finding finding) {
    return finding.text().startsWith("box was scrubbed");
  }

  /** A report but for its verdict, which looks at the clock, and its findings. */
  private static JsonNode facts(byte[] image) {
    try {
      ObjectNode node = (ObjectNode) JSON.readTree(ReportOfBytes.read(image).toJson());
      node.remove(List.of("verdict", "findings"));
      return node;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Finding> findings(byte[] image) {
    return ReportOfBytes.read(image).findings().stream()
        .filter(finding -> !isNote(finding))
        .toList();
  }

  private void attribute(long span, String key, Object value) {
    if (value instanceof String text) {
      box.spans.set(span, key, SpanTable.TEXT, 0, text);
    } else {
      box.spans.set(span, key, SpanTable.INTEGER, (Long) value, "");
    }
  }

  // What stays

  @Test
  void innocentBoxShowsTheSameButForTheNote() {
    byte[] before = GoldenTest.scenario().image();

    BoxScrubber.Result result = scrub(before, Secrets.STANDARD);

    assertThat(result.changed()).isTrue();
    assertThat(result.valuesRedacted()).isZero();
    assertThat(result.bytesErased()).isPositive();
    assertThat(facts(result.image())).isEqualTo(facts(before));
    assertThat(findings(result.image())).isEqualTo(findings(before));
    assertThat(ReportOfBytes.read(result.image()).findings())
        .filteredOn(ScrubTest::isNote)
        .containsExactly(
            new Finding(
                Finding.Severity.INFO, "box", "box was scrubbed: at=2027-01-15T08:00:00.000Z"));
  }

  /** The monotonic clock of a machine that is up for ten hours passes for a card's number. */
  @Test
  void clockThatLooksLikeACardIsKept() {
    memory.clock.nanos.set(36_227_206_271_667L); // a number that card processors give for tests
    memory.box.life.clean();

    assertThat(scrub().valuesRedacted()).isZero();
  }

  @Test
  void everyGoldenBoxShowsTheSame() throws IOException {
    List<Path> golden;
    try (Stream<Path> files = Files.list(Path.of("src", "test", "resources", "golden"))) {
      golden = files.filter(file -> file.toString().endsWith(".cairn")).toList();
    }
    assertThat(golden).isNotEmpty();
    for (Path file : golden) {
      byte[] before = Files.readAllBytes(file);
      byte[] after = scrub(before, Secrets.STANDARD).image();
      assertThat(facts(after)).as(file.toString()).isEqualTo(facts(before));
    }
  }

  @Test
  void scrubbingAgainChangesNothing() {
    fillWithSecrets();
    BoxScrubber.Result first = scrub();
    BoxScrubber.Result second = scrub(first.image(), Secrets.STANDARD);

    assertThat(second.changed()).isFalse();
    assertThat(second.valuesRedacted()).isZero();
    assertThat(second.bytesErased()).isZero();
    assertThat(second.image()).isEqualTo(first.image());
  }

  @Test
  void scrubbingAgainWithMoreKeysRedactsThoseTooAndLeavesOneNote() {
    box.setScope(RecordLayout.KIND_TAG, "iban", "an older value");
    box.setScope(RecordLayout.KIND_TAG, "iban", "DE02120300000000202051");
    assertThat(scrub().changed()).isTrue();
    byte[] first = scrub().image();
    assertThat(holds(first, "DE02120300000000202051")).isTrue();

    BoxScrubber.Result second = scrub(first, Secrets.STANDARD.withKeys(List.of("iban")));

    assertThat(second.valuesRedacted()).isEqualTo(1);
    assertThat(holds(second.image(), "DE02120300000000202051")).isFalse();
    assertThat(ReportOfBytes.read(second.image()).findings())
        .filteredOn(ScrubTest::isNote)
        .hasSize(1);
    // Once in each copy of the identity.
    assertThat(new String(second.image(), StandardCharsets.ISO_8859_1).split("scrubbed", -1))
        .hasSize(3);
  }

  @Test
  void emptyBoxHasNothingToScrub() {
    assertThat(scrub().changed()).isFalse();
    assertThat(scrub().image()).isEqualTo(memory.image());
  }

  // What is redacted

  private void fillWithSecrets() {
    box.setScope(RecordLayout.KIND_TAG, "api_token", "tag-secret");
    box.setScope(RecordLayout.KIND_USER, null, Map.of("id", "42", "password", "user-secret"));
    Map<String, Object> deep = new LinkedHashMap<>();
    deep.put("text", "nested-secret");
    deep.put("number", 123_456_789_012L);
    deep.put("negative", -77L);
    deep.put("small", 7);
    deep.put("float", 0.125);
    deep.put("big", new BigInteger("-123456789012345678901234567890"));
    deep.put("decimal", new BigDecimal("12345.67"));
    deep.put("bytes", new byte[] {'b', 'y', 't', 'e', 's', 'e', 'c'});
    deep.put("flag", true);
    deep.put("list", List.of("listed-secret", 99));
    box.setScope(RecordLayout.KIND_CONTEXT, "login", Map.of("user", "anna", "credentials", deep));
    box.setScope(RecordLayout.KIND_EXTRA, "session_id", "extra-secret");
    box.breadcrumb(
        Level.INFO,
        "http",
        "GET /x?access_token=message-secret&page=2",
        Map.of("Cookie", "id=crumb"));
    box.breadcrumb(
        Level.INFO, "jdbc:x://app:category-pw@db/x", "paid", Map.of("card", 4111111111111111L));
    long span = box.spans.begin("GET https://u:name-secret@host/x");
    attribute(span, "auth.token", "attribute-secret");
    attribute(span, "order.id", 17L);
    for (int i = 1; i < 16; i++) {
      box.spans.begin("filler " + i);
    }
    long overflowed = box.spans.begin("call with password=overflow-name");
    attribute(overflowed, "client_secret", "overflow-secret");
    box.life.uncaught(
        Thread.currentThread(), new IllegalStateException("login failed: password=uncaught-pw"));
  }

  @Test
  void everySecretIsGoneAndEverythingElseIsThere() {
    fillWithSecrets();
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub();

    assertGone(
        result,
        before,
        "tag-secret",
        "user-secret",
        "nested-secret",
        "bytesec",
        "listed-secret",
        "extra-secret",
        "message-secret",
        "id=crumb",
        "category-pw",
        "name-secret",
        "attribute-secret",
        "overflow-name",
        "overflow-secret",
        "uncaught-pw");
    Report report = ReportOfBytes.read(result.image());
    assertThat(report.findings()).allMatch(ScrubTest::isNote);
    assertThat(report.scope().tags()).isEqualTo(Map.of("api_token", "<redacted>"));
    assertThat(report.scope().user()).isEqualTo(Map.of("id", "42", "password", "<redacted>*"));
    Map<?, ?> login = (Map<?, ?>) report.scope().contexts().get("login");
    assertThat(login.get("user")).isEqualTo("anna");
    Map<?, ?> deep = (Map<?, ?>) login.get("credentials");
    assertThat(deep.get("text")).isEqualTo("<redacted>***");
    assertThat(deep.get("number")).isEqualTo(0L);
    assertThat(deep.get("negative")).isEqualTo(0L);
    assertThat(deep.get("small")).isEqualTo(0L);
    assertThat(deep.get("float")).isEqualTo(0.0);
    assertThat(deep.get("big")).hasToString("0");
    assertThat(new BigDecimal(deep.get("decimal").toString())).isEqualByComparingTo("0");
    assertThat(deep.get("bytes")).isEqualTo(new byte[7]);
    assertThat(deep.get("flag")).isEqualTo(true);
    assertThat(deep.get("list")).isEqualTo(List.of("<redacted>***", 0L));
    assertThat(report.trail()).hasSize(2);
    Breadcrumb http = report.trail().get(0);
    assertThat(http.message()).isEqualTo("GET /x?access_token=**************&page=2");
    assertThat(http.data()).isEqualTo(Map.of("Cookie", "********"));
    assertThat(report.trail().get(1).category()).isEqualTo("jdbc:x://***************@db/x");
    assertThat(report.trail().get(1).data()).isEqualTo(Map.of("card", 0L));
    UnfinishedSpan span = report.openSpans().get(0);
    assertThat(span.name()).startsWith("GET https://*").endsWith("@host/x");
    assertThat(span.attributes())
        .isEqualTo(Map.of("auth.token", "<redacted>******", "order.id", 17L));
    assertThat(report.openSpans()).hasSize(17);
    assertThat(report.toText()).contains("login failed: password=***********");
    // 3 fields, 11 of the context (a decimal is two), 4 of breadcrumbs, 4 of spans, the exception
    assertThat(result.valuesRedacted()).isEqualTo(23);
  }

  @Test
  void keysThatTheUserNamesAreSecretToo() {
    box.setScope(RecordLayout.KIND_TAG, "customer.name", "Anna Example");
    box.breadcrumb(Level.INFO, "crm", "found", Map.of("customerName", "Anna Example"));
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub(before, Secrets.NONE.withKeys(List.of("customer name")));

    assertGone(result, before, "Anna Example");
    assertThat(result.valuesRedacted()).isEqualTo(2);
  }

  @Test
  void timeThatLooksLikeACardsNumberStays() {
    long span = box.spans.begin("receive", 1, 2, 3, 0, 1, 1, 0, 0, null);
    box.spans.started(span, 4111111111111111L);
    attribute(span, "auth.token", "attribute-secret");
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub();

    assertGone(result, before, "attribute-secret");
    assertThat(ReportOfBytes.read(result.image()).openSpans().get(0).startedAt())
        .isEqualTo(java.time.Instant.ofEpochSecond(4_111_111, 111_111_111));
  }

  @Test
  void ruleIsAskedForEveryTextAndKeyAndKeepsTheLength() {
    Secrets rules = Secrets.NONE.withRule((key, text) -> text.replace("Müller", "*".repeat(7)));
    box.setScope(RecordLayout.KIND_TAG, "owner", "Frau Müller");
    box.setScope(RecordLayout.KIND_TAG, "of Müller", "yes");
    box.setScope(RecordLayout.KIND_FINGERPRINT, null, List.of("Müller", "b"));
    box.setScope(RecordLayout.KIND_TRANSACTION, null, "/Müller/orders");
    box.breadcrumb(Level.INFO, "Müller", "Müller", Map.of("Müller", List.of("an Müller")));
    long span = box.spans.begin("for Müller");
    attribute(span, "by", "Müller");
    attribute(span, "Müller", 1L);
    box.life.uncaught(Thread.currentThread(), new IllegalStateException("no Müller"));
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub(before, rules);

    assertGone(result, before, "Müller");
    Report report = ReportOfBytes.read(result.image());
    assertThat(report.scope().tags())
        .isEqualTo(Map.of("owner", "Frau *******", "of *******", "yes"));
    assertThat(report.openSpans().get(0).name()).isEqualTo("for *******");
    assertThat(scrub(result.image(), rules).changed()).isFalse();
  }

  @Test
  void ruleThatThrowsOrSaysTooMuchMasksTheWholeText() {
    box.setScope(RecordLayout.KIND_TAG, "throws", "of the first kind");
    box.setScope(RecordLayout.KIND_TAG, "longer", "short");
    box.setScope(RecordLayout.KIND_TAG, "shorter", "a longer text");
    box.setScope(RecordLayout.KIND_TAG, "nothing", "of the second kind");

    byte[] image =
        scrub(
                memory.image(),
                Secrets.NONE.withRule(
                    (key, text) -> {
                      if (text.equals("of the first kind")) {
                        throw new IllegalStateException();
                      }
                      return switch (text) {
                        case "short" -> "much longer than before";
                        case "a longer text" -> "short";
                        case "of the second kind" -> null;
                        default -> text;
                      };
                    }))
            .image();

    assertThat(ReportOfBytes.read(image).scope().tags())
        .isEqualTo(
            Map.of(
                "throws", "<redacted>*******",
                "longer", "*****",
                "shorter", "short********",
                "nothing", "<redacted>********"));
  }

  @Test
  void secretThatACutBeganIsMaskedToTheCut() {
    box.breadcrumb(Level.INFO, "c", "x ".repeat(5_000), null);
    String key = "-----BEGIN PRIVATE KEY-----\n" + "c2VjcmV0".repeat(2_000);
    box.breadcrumb(Level.INFO, "c", key, null);
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub();

    assertGone(result, before, "c2VjcmV0c2Vj");
  }

  // What is erased

  @Test
  void nothingOfATracersSpanThatIsNotShownStaysInTheFile() throws InterruptedException {
    OpenSpans.Attributes given =
        new OpenSpans.Attributes() {
          @Override
          public int count() {
            return 3;
          }

          @Override
          public String name(int index) {
            return "k" + index;
          }

          @Override
          public int kind(int index) {
            return TEXT;
          }

          @Override
          public String text(int index) {
            return "begun-with-" + index;
          }

          @Override
          public long bits(int index) {
            return 0;
          }
        };
    long span = box.spans.begin("first-name", 1, 2, 3, 0, 1, 1, 0, 0, given);
    attribute(span, "k1", "later");
    box.rename(span, "second-name");
    box.rename(span, "last-name");
    box.status(span, 2, "first-reason");
    box.status(span, 2, "last-reason");
    Thread worker = new Thread(() -> box.spans.bind(span), "worker");
    worker.start();
    worker.join();
    long full = box.spans.begin("full", 1, 2, 4, 0, 1, 1, 0, 0, given);
    for (int i = 0; i < 6; i++) {
      attribute(full, "filler" + i, "x".repeat(70));
    }
    attribute(full, "k2", "y".repeat(180));
    for (int i = 3; i <= 16; i++) {
      box.spans.begin("filler " + i);
    }
    long overflowed = box.spans.begin("overflowed-name", 1, 2, 5, 0, 1, 1, 0, 0, null);
    box.rename(overflowed, "overflowed-last");
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub();

    assertGone(result, before, "first-name", "second-name", "first-reason", "overflowed-name");
    // Of the two spans one has k1 anew and the other k2.
    assertThat(new String(result.image(), java.nio.charset.StandardCharsets.ISO_8859_1))
        .containsOnlyOnce("begun-with-1")
        .containsOnlyOnce("begun-with-2")
        .contains("begun-with-0", "last-name", "last-reason", "overflowed-last");
    assertThat(facts(result.image())).isEqualTo(facts(before));
    assertThat(findings(result.image())).isEmpty();
  }

  @Test
  void nothingThatIsNotShownStaysInTheFile() {
    box.setScope(RecordLayout.KIND_TAG, "busy", "overwritten-value");
    box.setScope(RecordLayout.KIND_TAG, "removed-key", "removed-value");
    box.setScope(RecordLayout.KIND_TAG, "busy", "latest");
    box.setScope(RecordLayout.KIND_TAG, "removed-key", null);
    long closed = box.spans.begin("closed-span");
    attribute(closed, "k", "closed-attribute");
    long span = box.spans.begin("open");
    attribute(span, "state", "earlier-value");
    attribute(span, "state", "now");
    long full = box.spans.begin("full");
    attribute(full, "late", "first-in-the-slot");
    for (int i = 0; i < 7; i++) {
      attribute(full, "filler" + i, "x".repeat(70));
    }
    attribute(full, "late", "y".repeat(180) + "then-in-the-trail");
    assertThat(box.counters.get(CounterLayout.ATTRIBUTES_OVERFLOWED)).isEqualTo(1);
    for (int i = 3; i < 16; i++) {
      box.spans.begin("filler " + i);
    }
    long ended = box.spans.begin("ended-overflow");
    attribute(ended, "k", "ended-overflow-attribute");
    box.spans.close(ended);
    long overflowed = box.spans.begin("still open");
    attribute(overflowed, "k", "earlier-overflow");
    attribute(overflowed, "k", "later");
    box.spans.close(closed);
    assertThat(box.counters.get(CounterLayout.SPANS_OVERFLOWED)).isEqualTo(2);
    byte[] before = memory.image();

    BoxScrubber.Result result = scrub();

    assertGone(
        result,
        before,
        "overwritten-value",
        "removed-key",
        "removed-value",
        "closed-span",
        "closed-attribute",
        "earlier-value",
        "first-in-the-slot",
        "ended-overflow",
        "earlier-overflow");
    assertThat(facts(result.image())).isEqualTo(facts(before));
    assertThat(findings(result.image())).isEmpty();
    assertThat(result.bytesErased()).isPositive();
  }

  @Test
  void olderLapsOfTheTrailAreErasedAndTheLastOneIsWhole() {
    for (int i = 0; i < 3_000; i++) {
      box.breadcrumb(Level.INFO, "lap", "number-" + i + "-", Map.of("x", "y".repeat(i % 700)));
    }
    byte[] before = memory.image();

    byte[] after = scrub().image();

    assertThat(facts(after)).isEqualTo(facts(before));
    int shown = ReportOfBytes.read(before).trail().size();
    String text = new String(after, StandardCharsets.ISO_8859_1);
    for (int i = 0; i < 3_000; i++) {
      assertThat(text.contains("number-" + i + "-")).isEqualTo(i >= 3_000 - shown);
    }
  }

  @Test
  void bytesThatNobodyKnowsAreErased() {
    fillWithSecrets();
    byte[] image = memory.image();
    byte[] stray = "stray-bytes".getBytes(StandardCharsets.US_ASCII);
    int put = 0;
    int counters = memory.box.plan.counters;
    for (int at = 0; at + 64 < image.length; at += 64) {
      // Not the counters: any bytes are a number, and are known.
      boolean isFree = at < counters || at >= counters + 2 * BoxPlan.COUNTER_UNIT;
      for (int i = at; i < at + 64; i++) {
        isFree &= image[i] == 0;
      }
      if (isFree) {
        System.arraycopy(stray, 0, image, at + 40, stray.length);
        put++;
      }
    }
    assertThat(put).isGreaterThan(1_000);

    assertThat(holds(scrub(image, Secrets.STANDARD).image(), "stray-bytes")).isFalse();
  }

  // Damage, and boxes that a death left half done

  @Test
  void boxAfterAnyPowerLossShowsTheSameScopeOnceScrubbed() {
    CrashPoints points = new CrashPoints(16, 64 * 1024);
    Box crashed = points.box;
    crashed.setScope(RecordLayout.KIND_TAG, "other", "long before");
    crashed.setScope(RecordLayout.KIND_TAG, "busy", "1");
    crashed.setScope(RecordLayout.KIND_TAG, "busy", "2");
    crashed.scope.eraseStale();
    crashed.setScope(RecordLayout.KIND_TAG, "busy", "3");
    crashed.setScope(RecordLayout.KIND_TAG, "other", null);
    crashed.setScope(RecordLayout.KIND_TAG, "third", "z".repeat(600));

    points.forEachMixOfSectors(
        crashed.scope::eraseStale,
        image -> {
          byte[] after = scrub(image, Secrets.STANDARD).image();
          assertThat(ReportOfBytes.read(after).scope())
              .isEqualTo(ReportOfBytes.read(image).scope());
        });
    assertThat(crashed.counters.get(CounterLayout.COMPACTIONS)).isEqualTo(2);
  }

  @Test
  void damagedBoxIsScrubbedAsFarAsItIsUnderstood() {
    fillWithSecrets();
    byte[] sound = memory.image();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 100; round++) {
      byte[] image = sound.clone();
      for (int i = 0; i < 1 + random.nextInt(40); i++) {
        int at = 4096 + random.nextInt(image.length - 8192);
        image[at] ^= (byte) (1 << random.nextInt(8));
      }
      if (round % 3 == 0) {
        image = Arrays.copyOf(image, 8192 + random.nextInt(image.length - 8192));
      }
      byte[] before = image;
      BoxScrubber.Result result = scrub(before, Secrets.STANDARD);
      assertThat(holds(result.image(), "-secret")).as("seed=%d", seed).isFalse();
      Report was = ReportOfBytes.read(before);
      Report is = ReportOfBytes.read(result.image());
      assertThat(is.trail()).as("seed=%d", seed).hasSameSizeAs(was.trail());
      assertThat(is.openSpans()).as("seed=%d", seed).hasSameSizeAs(was.openSpans());
      assertThat(is.scope().contexts().keySet())
          .as("seed=%d", seed)
          .isEqualTo(was.scope().contexts().keySet());
      assertThat(scrub(result.image(), Secrets.STANDARD).changed()).as("seed=%d", seed).isFalse();
    }
  }

  @Test
  void damageThatIsErasedIsSaidAndStaysSaid() {
    box.breadcrumb(Level.INFO, "c", "first", null);
    box.breadcrumb(Level.INFO, "c", "damaged-one", null);
    box.breadcrumb(Level.INFO, "c", "last", null);
    byte[] image = memory.image();
    image[new String(image, StandardCharsets.ISO_8859_1).indexOf("damaged-one")] ^= 1;

    byte[] once = scrub(image, Secrets.STANDARD).image();
    BoxScrubber.Result again =
        scrub(once, Secrets.STANDARD.withRule((key, text) -> text.replace("first", "*****")));
    assertThat(again.changed()).isTrue();
    byte[] twice = again.image();

    assertThat(holds(once, "amaged-one")).isFalse();
    for (byte[] after : List.of(once, twice)) {
      assertThat(ReportOfBytes.read(after).trail())
          .extracting(Breadcrumb::message)
          .containsExactly(after == once ? "first" : "*****", "last");
      assertThat(ReportOfBytes.read(after).findings())
          .filteredOn(ScrubTest::isNote)
          .extracting(Finding::text)
          .containsExactly(
              "box was scrubbed: at=2027-01-15T08:00:00.000Z, findings before=1 (what was damaged"
                  + " is erased)");
    }
  }

  @Test
  void whatIsNoBoxIsRefused() {
    assertThatThrownBy(() -> BoxScrubber.scrub(new byte[4096], "some/box", Secrets.STANDARD, NOW))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("not a cairn box: file=some/box");
  }
}
