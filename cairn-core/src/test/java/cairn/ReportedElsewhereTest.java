package cairn;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import cairn.format.RecordLayout;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.report.Runs;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What users of other recorders reported about values, with the outcome that is right here. */
class ReportedElsewhereTest {
  @TempDir Path root;
  private Recorder recorder;

  @BeforeEach
  void open() {
    recorder = Recorder.builder("orders").directory(root).open();
  }

  @AfterEach
  void close() {
    recorder.close();
  }

  private Report report() throws IOException {
    return Runs.under(root).list().get(0).report();
  }

  // sentry-dart#3926: one of these in a JSON encoder cost the whole context.
  @Test
  void notANumberAndInfinitiesAreTextsInJsonAndCostNoOtherValue() throws IOException {
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("before", 1);
    values.put("nan", Double.NaN);
    values.put("infinite", Float.NEGATIVE_INFINITY);
    values.put("list", new double[] {0.5, Double.POSITIVE_INFINITY});
    values.put("after", "x");
    recorder.scope().context("numbers", values);

    assertThat(report().toJson().replaceAll("\\s", ""))
        .contains(
            "\"numbers\":{\"before\":1,\"nan\":\"NaN\",\"infinite\":\"-Infinity\","
                + "\"list\":[0.5,\"Infinity\"],\"after\":\"x\"}");
    assertThat(report().counters()).containsEntry("placeholders", 0L);
  }

  // sentry-dart#3668, sentry-java#5361: a large flat object took one level of stack for each token.
  @Test
  void largeFlatObjectsAreRecordedAndReadWithLittleStack() throws Exception {
    Map<String, Object> flat = new LinkedHashMap<>();
    for (int i = 0; i < 900; i++) {
      flat.put("k" + i, i);
    }
    Throwable[] thrown = new Throwable[1];
    Report[] read = new Report[1];
    Thread small =
        new Thread(
            null,
            () -> {
              try {
                recorder.scope().context("flat", flat);
                recorder.breadcrumb(Level.INFO, "c", "m", flat);
                read[0] = report();
                read[0].toJson();
              } catch (Throwable e) {
                thrown[0] = e;
              }
            },
            "small",
            256 * 1024);
    small.start();
    small.join();
    assertThat(thrown[0]).isNull();
    assertThat((Map<?, ?>) read[0].scope().contexts().get("flat")).hasSize(900);
    assertThat(read[0].trail().get(0).data()).hasSize(900).containsEntry("k899", 899L);
  }

  // sentry-java#2301, sentry-java#481, sentry-clj#31: never-ending, or a stack overflow.
  @Test
  void typesOfThePlatformThatContainThemselvesEnd() throws IOException {
    Exception outer = new IllegalStateException("outer");
    Exception inner = new IOException("inner", outer);
    outer.initCause(inner);
    outer.addSuppressed(inner);
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("locale", Locale.GERMANY);
    values.put("path", Path.of("a", "b"));
    values.put("class", Thread.class);
    values.put("loader", getClass().getClassLoader());
    values.put("thread", Thread.currentThread());
    values.put("error", outer);
    values.put("last", 1);
    recorder.breadcrumb(Level.ERROR, "c", "m", values);

    Map<String, Object> data = report().trail().get(0).data();
    assertThat(data)
        .containsEntry("locale", "de-DE")
        .containsEntry("path", "a/b")
        .containsEntry("class", "java.lang.Thread")
        .containsEntry("last", 1L);
    assertThat(data.get("error").toString()).contains("inner", "<cycle>");
  }

  // sentry-unity#1555, sentry-unity#1469, sentry-java#3367: died deep in the JSON writer.
  @Test
  void depthIsBoundedAndNotTheStacks() throws IOException {
    Object deep = "bottom";
    for (int i = 0; i < 10_000_000; i++) {
      deep = new Object[] {deep};
    }
    recorder.scope().extra("deep", deep).extra("other", 1);

    Map<String, Object> extras = report().scope().extras();
    assertThat(extras.get("deep")).hasToString("[".repeat(16) + "…" + "]".repeat(16));
    assertThat(extras).containsEntry("other", 1L);
    assertThat(report().toJson()).contains("…");
  }

  // sentry-java#5736, sentry-java#5737: a callback that logs, whose log line calls the callback.
  @Test
  void valueThatLogsItselfWithoutEndIsAPlaceholderAndCostsNoOther() throws IOException {
    Object logging =
        new Object() {
          @Override
          public String toString() {
            recorder.breadcrumb(Level.INFO, "again", "m", Map.of("value", this));
            return "logged";
          }
        };
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("before", 1);
    values.put("logging", logging);
    values.put("after", 2);
    recorder.breadcrumb(Level.INFO, "outermost", "m", values);
    recorder.breadcrumb(Level.INFO, "later", "m");

    List<Breadcrumb> trail = report().trail();
    Breadcrumb outermost = trail.get(trail.size() - 2);
    assertThat(outermost.category()).isEqualTo("outermost");
    assertThat(outermost.data()).containsEntry("before", 1L).containsEntry("after", 2L);
    assertThat(outermost.data()).containsKey("logging");
    assertThat(trail.get(trail.size() - 1).category()).isEqualTo("later");
    assertThat(report().counters().get("placeholders")).isPositive();
  }

  // sentry-java#139, #151, #660 are its kind too: a value's toString that logs through an appender.
  @Test
  void valueThatLogsOnceIsRecordedAfterWhatItLogged() throws IOException {
    Object logging =
        new Object() {
          @Override
          public String toString() {
            recorder.breadcrumb(Level.INFO, "inner", "from toString", Map.of("k", 1));
            recorder.scope().tag("inner", "set");
            try (OpenSpan span = recorder.begin("inner span")) {
              span.set("k", "v");
            }
            return "logged";
          }
        };
    recorder.breadcrumb(Level.INFO, "outer", "m", Map.of("value", logging));

    assertThat(report().trail()).extracting(Breadcrumb::category).containsExactly("inner", "outer");
    assertThat(report().trail().get(1).data()).isEqualTo(Map.of("value", "logged"));
    assertThat(report().scope().tags()).isEqualTo(Map.of("inner", "set"));
    assertThat(report().openSpans()).isEmpty();
  }

  // sentry-java#4798, sentry-java#1851: millions of breadcrumbs on the heap, one copy per scope.
  @Test
  void breadcrumbsLeaveNothingReachableOnTheHeap() throws Exception {
    List<WeakReference<Object>> references = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      Object value = new Object();
      Map<String, Object> data = new HashMap<>(Map.of("value", value, "i", i));
      recorder.breadcrumb(Level.INFO, "c", "m", data);
      recorder.scope().extra("value", data);
      references.add(new WeakReference<>(value));
      references.add(new WeakReference<>(data));
    }
    int left = references.size();
    for (int i = 0; i < 20 && left > 2; i++) {
      System.gc();
      left = 0;
      for (WeakReference<Object> reference : references) {
        left += reference.refersTo(null) ? 0 : 1;
      }
    }
    // The last two may still be in a register of this frame.
    assertThat(left).isLessThanOrEqualTo(2);
    assertThat(report().trail()).hasSize(1_000);
  }

  // sentry-java#434, sentry-java#2183: NoSuchElementException out of an unsynchronised ring.
  @Test
  void manyThreadsThatAddWhileTheRingLapsNeverThrow() throws Exception {
    Recorder small = Recorder.builder("small").directory(root).trailBytes(64 * 1024).open();
    int threads = 4;
    CountDownLatch start = new CountDownLatch(1);
    List<Throwable> thrown = new ArrayList<>();
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int id = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  start.await();
                  for (int i = 0; i < 5_000; i++) {
                    small.breadcrumb(Level.INFO, "t" + id, "m", Map.of("i", i));
                  }
                } catch (Throwable e) {
                  synchronized (thrown) {
                    thrown.add(e);
                  }
                }
              });
      thread.start();
      all.add(thread);
    }
    start.countDown();
    for (Thread thread : all) {
      thread.join();
    }
    small.close();
    assertThat(thrown).isEmpty();
    Report report =
        Runs.under(root).list().stream()
            .filter(run -> run.id().equals(small.runId()))
            .findFirst()
            .orElseThrow()
            .report();
    if (report.counters().get("lapped")
        == 0) { // else a machine under load left a hole, and says so
      assertThat(report.findings()).isEmpty();
    }
    for (int t = 0; t < threads; t++) {
      String category = "t" + t;
      assertThat(report.trail())
          .filteredOn(crumb -> category.equals(crumb.category()))
          .extracting(crumb -> (Long) crumb.data().get("i"))
          .isSorted();
    }
  }

  // Measured of sentry-java 8.63: a field was unreadable after 4 of 12 kills (a rewrite in place).
  @Test
  void fieldIsTheOldOrTheNewOneAtEveryStoreOfItsUpdate() {
    CrashPoints points = new CrashPoints(16, 64 * 1024);
    Map<String, Object> old = Map.of("v", "old", "filler", "x".repeat(3_000));
    Map<String, Object> now = Map.of("v", "new", "filler", "y".repeat(3_000));
    points.box.setScope(RecordLayout.KIND_CONTEXT, "c", old);
    points.forEachStoreOf(
        () -> points.box.setScope(RecordLayout.KIND_CONTEXT, "c", now),
        image -> assertThat(ReportOfBytes.read(image).scope().contexts().get("c")).isIn(old, now));
  }

  // Measured of sentry-java 8.63: what can't be serialised destroyed the last good value.
  @Test
  void valueThatFailsAltogetherLeavesAPlaceholderAndTheOtherFieldsAlone() throws IOException {
    recorder.scope().tag("region", "eu").context("cart", Map.of("items", 3));
    Map<String, Object> self = new HashMap<>();
    self.put("self", self);
    self.put("items", 4);
    recorder.scope().context("cart", self);
    List<Object> list = new ArrayList<>();
    list.add(list);
    recorder.scope().extra("list", list).extra("nan", Double.NaN);
    Map<String, Object> changing = new LinkedHashMap<>();
    changing.put("a", 1);
    changing.put(
        "b",
        new Object() {
          @Override
          public String toString() {
            changing.put("c" + changing.size(), 1);
            return "b";
          }
        });
    recorder.scope().extra("changing", changing);

    Report report = report();
    assertThat(report.scope().tags()).isEqualTo(Map.of("region", "eu"));
    assertThat(report.scope().contexts())
        .isEqualTo(Map.of("cart", Map.of("self", "<cycle>", "items", 4L)));
    assertThat(report.scope().extras()).containsEntry("list", List.of("<cycle>"));
    assertThat(asMap(report.scope().extras().get("changing")))
        .containsEntry("a", 1L)
        .containsEntry("b", "b")
        .containsEntry("…", true);
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> asMap(Object value) {
    return (Map<String, Object>) value;
  }

  // Measured of sentry-java 8.63: an equal but distinct child was called cyclic; keys that are no
  // texts vanished; java.time worked only by a reflection that failed first.
  @Test
  void equalButDistinctChildrenOtherKeysAndTimesAreWhatTheyAre() throws IOException {
    record Node(String name, Object child) {
      @Override
      public boolean equals(Object other) {
        return other instanceof Node;
      }

      @Override
      public int hashCode() {
        return 1;
      }
    }
    Map<Object, Object> keys = new LinkedHashMap<>();
    keys.put(7, "seven");
    keys.put(Level.WARNING, "warning");
    keys.put(null, "nothing");
    recorder
        .scope()
        .extra("nodes", new Node("outer", new Node("inner", null)))
        .extra("keys", keys)
        .extra("time", Instant.parse("2026-11-30T10:11:12Z"))
        .extra("surrogate", "a\ud83d.");

    Map<String, Object> extras = report().scope().extras();
    assertThat(extras.get("nodes").toString())
        .isEqualTo("{name=outer, child={name=inner, child=null}}");
    assertThat(extras.get("keys"))
        .isEqualTo(Map.of("7", "seven", "WARNING", "warning", "null", "nothing"));
    assertThat(extras).containsEntry("time", "2026-11-30T10:11:12Z");
    assertThat(extras).containsEntry("surrogate", "a?.");
    assertThat(report().counters()).containsEntry("placeholders", 0L);
  }

  // opentelemetry-java#4740: a limit in UTF-16 units that splits surrogate pairs.
  @Test
  void limitIsInBytesAndSplitsNoPairAtAnyPlace() throws IOException {
    for (int before = 0; before < 5; before++) {
      try (OpenSpan span = recorder.begin("span")) {
        span.set("text", "x".repeat(before) + "😀".repeat(100));
        String text = (String) report().openSpans().get(0).attributes().get("text");
        assertThat(text)
            .startsWith("x".repeat(before) + "😀")
            .endsWith("😀…")
            .doesNotContain("?", "�");
        assertThat(text.getBytes(StandardCharsets.UTF_8).length).isBetween(253, 256);
      }
    }
    assertThat(report().counters()).containsEntry("cut", 5L);
  }

  // opentelemetry-java#7897: the same key with two types was there twice.
  @Test
  void keyThatIsSetWithAnotherTypeIsThereOnceWithTheLatestValue() throws IOException {
    OpenSpan span = recorder.begin("span");
    span.set("k", "text").set("k", 1L).set("k", 0.5).set("k", true);
    assertThat(report().openSpans().get(0).attributes()).isEqualTo(Map.of("k", true));
    span.set("k", "text");
    assertThat(report().openSpans().get(0).attributes()).isEqualTo(Map.of("k", "text"));
    recorder.scope().extra("k", 1).extra("k", "text");
    assertThat(report().scope().extras()).isEqualTo(Map.of("k", "text"));
  }

  // Measured of sentry-java 8.63: values were held by reference until they were written.
  @Test
  void laterChangeOfAValueNeverShows() throws IOException {
    List<String> parts = new ArrayList<>(List.of("a"));
    Map<String, Object> user = new HashMap<>(Map.of("id", "1"));
    int[] numbers = {1};
    recorder.scope().fingerprint(parts).user(user).extra("numbers", numbers);
    recorder.breadcrumb(Level.INFO, "c", "m", user);
    parts.add("mutated");
    user.put("id", "mutated");
    Arrays.fill(numbers, 2);

    assertThat(report().scope().fingerprint()).containsExactly("a");
    assertThat(report().scope().user()).isEqualTo(Map.of("id", "1"));
    assertThat(report().scope().extras()).isEqualTo(Map.of("numbers", List.of(1L)));
    assertThat(report().trail().get(0).data()).isEqualTo(Map.of("id", "1"));
  }

  // Measured of sentry-java 8.63: an observer's exception reached the application's setTag.
  @Test
  void noCallThrowsWhateverItIsGiven() {
    Map<String, Object> bad = new HashMap<>();
    bad.put(null, null);
    bad.put("", new Object[] {null});
    assertThatCode(
            () -> {
              recorder.scope().tag(null, null).tag("", "").tag("k".repeat(1_000), "v");
              recorder.scope().user((String) null).user(bad).context(null, bad).extra("", bad);
              recorder.scope().fingerprint(Arrays.asList(null, "")).level(null).trace(null, null);
              recorder.breadcrumb(null, null, null, null);
              recorder.breadcrumb(null, "", "", bad);
              recorder.begin(null).set(null, 1L).set("", (String) null).close();
            })
        .doesNotThrowAnyException();
  }
}
