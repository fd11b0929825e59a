package cairn.sentry;

import static cairn.report.BoxBuilder.START_WALL;
import static org.assertj.core.api.Assertions.assertThat;

import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.report.BoxBuilder;
import cairn.report.ReportOfBytes;
import cairn.report.Verdict;
import io.sentry.JsonObjectReader;
import io.sentry.NoOpLogger;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import io.sentry.protocol.App;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryStackFrame;
import io.sentry.protocol.SentryThread;
import io.sentry.protocol.User;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ReportEventTest {
  private static final byte[] TRACE_ID = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7};

  private static BoxBuilder killed() {
    return BoxBuilder.box().beat(60_000);
  }

  private static SentryEvent event(BoxBuilder box) {
    return Objects.requireNonNull(ReportEvent.of(ReportOfBytes.read(box.bytes())));
  }

  /** What another process makes of what is sent. */
  private static SentryEvent read(SentryEvent event) throws Exception {
    String json = new String(EventJson.bytes(event), StandardCharsets.UTF_8);
    assertThat(json).doesNotContain("\n");
    return new SentryEvent.Deserializer()
        .deserialize(new JsonObjectReader(new StringReader(json)), NoOpLogger.getInstance());
  }

  private static SentryException exception(SentryEvent event) {
    return Objects.requireNonNull(event.getExceptions()).get(0);
  }

  @Test
  void killedRunIsAFatalEventOfCairnsMechanismThatNobodyHandled() throws Exception {
    SentryEvent event = read(event(killed()));

    assertThat(event.getLevel()).isEqualTo(SentryLevel.FATAL);
    assertThat(event.getPlatform()).isEqualTo("java");
    assertThat(event.getTimestamp()).isEqualTo(new Date(START_WALL + 60_000));
    assertThat(event.getServerName()).isEqualTo(BoxBuilder.HOST);
    SentryException exception = exception(event);
    // Which cause it is depends on what this machine remembers of that death.
    Verdict verdict = ReportOfBytes.read(killed().bytes()).verdict();
    assertThat(exception.getType()).isEqualTo(verdict.cause().name());
    assertThat(exception.getValue()).isEqualTo(verdict.headline());
    assertThat(exception.getMechanism())
        .satisfies(
            mechanism -> {
              assertThat(mechanism.getType()).isEqualTo("cairn");
              assertThat(mechanism.isHandled()).isFalse();
              assertThat(mechanism.getData()).containsEntry("cause", verdict.cause().name());
            });
    assertThat(event.isCrashed()).isTrue();
    // The headline has times in it: by that each death was an issue of its own.
    assertThat(event.getFingerprints()).containsExactly("cairn", verdict.cause().name());
  }

  @Test
  void sameReportReadAgainGivesTheSameBytesAndTheSameId() throws Exception {
    byte[] first = EventJson.bytes(event(killed().crumb(1, 2, "c", "m", "k", 1L)));
    byte[] second = EventJson.bytes(event(killed().crumb(1, 2, "c", "m", "k", 1L)));

    assertThat(second).isEqualTo(first);
    assertThat(event(killed()).getEventId())
        .isEqualTo(ReportEvent.id(ReportOfBytes.read(killed().bytes())));
  }

  @Test
  void runThatEndedInOrderIsNoEvent() {
    byte[] box = BoxBuilder.box().beat(1_000).end("CLEAN", "RETURNED", 1_010).bytes();

    assertThat(ReportEvent.of(ReportOfBytes.read(box))).isNull();
  }

  @Test
  void uncaughtExceptionIsTheEventsOwnWithItsThreadMarkedAsCrashed() throws Exception {
    SentryEvent event =
        read(
            event(
                killed()
                    .uncaught(60_000, "http-1", "com.acme.NoStock", "out of 7", "main", true)
                    .end("CLEAN", "UNCAUGHT", 60_010)
                    .span(0, BoxBuilder.begin("POST /orders", 2, 0, "http-1"))));

    SentryException exception = exception(event);
    assertThat(exception.getModule()).isEqualTo("com.acme");
    assertThat(exception.getType()).isEqualTo("NoStock");
    assertThat(exception.getValue()).isEqualTo("out of 7");
    SentryThread thread = Objects.requireNonNull(event.getThreads()).get(0);
    assertThat(thread.getName()).isEqualTo("http-1");
    assertThat(thread.isCrashed()).isTrue();
    assertThat(exception.getThreadId()).isEqualTo(thread.getId());
    assertThat(event.getTransaction()).isEqualTo("POST /orders");
    assertThat(event.getFingerprints()).isNull();
  }

  @Test
  void scopeOfTheDeadRunIsTheEventsScope() throws Exception {
    SentryEvent made =
        event(
            killed()
                .scope(RecordLayout.KIND_USER, null, Map.of("id", 42L, "plan", "gold"))
                .scope(RecordLayout.KIND_TAG, "region", "eu")
                .scope(RecordLayout.KIND_CONTEXT, "cart", Map.of("items", 3L))
                .scope(RecordLayout.KIND_CONTEXT, "app", Map.of("app_name", "shop"))
                .scope(
                    RecordLayout.KIND_CONTEXT,
                    "os",
                    Map.of("name", List.of("not what Sentry calls an os")))
                .scope(RecordLayout.KIND_EXTRA, "nan", Double.NaN)
                .scope(RecordLayout.KIND_TRANSACTION, null, "nightly")
                .scope(RecordLayout.KIND_FINGERPRINT, null, List.of("a", "b"))
                .scope(
                    RecordLayout.KIND_TRACE,
                    null,
                    Map.of(
                        "traceId", "0102030405060708090a0b0c0d0e0f10",
                        "spanId", "0102030405060708"))
                .scope(
                    RecordLayout.KIND_CONTEXT,
                    ReportEvent.OPTIONS_CONTEXT,
                    Map.of(
                        "release", "shop@1.2",
                        "environment", "prod",
                        "dist", "7",
                        "sdk", Map.of("name", "sentry.java", "version", "8.63.0")))
                .scope(
                    RecordLayout.KIND_CONTEXT,
                    ReportEvent.REQUEST_CONTEXT,
                    Map.of("url", "http://shop/orders", "method", "POST"))
                .scope(
                    RecordLayout.KIND_CONTEXT,
                    ReportEvent.REPLAY_CONTEXT,
                    "0102030405060708090a0b0c0d0e0f11"));
    SentryEvent event = read(made);

    User user = Objects.requireNonNull(event.getUser());
    assertThat(user.getId()).isEqualTo("42");
    assertThat(event.getTag("region")).isEqualTo("eu");
    assertThat(event.getTag("cairn.cause")).isNotNull();
    assertThat(event.getContexts().get("os_recorded"))
        .isEqualTo(Map.of("name", List.of("not what Sentry calls an os")));
    assertThat(event.getContexts().get("cart")).isEqualTo(Map.of("items", 3));
    assertThat(event.getContexts().getApp()).extracting(App::getAppName).isEqualTo("shop");
    assertThat(event.getExtra("nan")).isEqualTo("NaN");
    assertThat(event.getTransaction()).isEqualTo("nightly");
    assertThat(event.getFingerprints()).containsExactly("a", "b");
    assertThat(event.getContexts().getTrace())
        .satisfies(
            trace -> {
              assertThat(trace.getTraceId()).hasToString("0102030405060708090a0b0c0d0e0f10");
              assertThat(trace.getSpanId()).hasToString("0102030405060708");
            });
    // Not that of the thread that made it; whoever reads it puts his own there.
    assertThat(made.getContexts().getTrace())
        .satisfies(trace -> assertThat(trace.getData()).isEmpty());
    assertThat(event.getRelease()).isEqualTo("shop@1.2");
    assertThat(event.getEnvironment()).isEqualTo("prod");
    assertThat(event.getDist()).isEqualTo("7");
    assertThat(event.getSdk()).extracting("name").isEqualTo("sentry.java");
    assertThat(event.getRequest()).extracting("url").isEqualTo("http://shop/orders");
    assertThat(event.getContexts().get("replay_id")).isEqualTo("0102030405060708090a0b0c0d0e0f11");
    assertThat(event.getContexts().entrySet())
        .extracting(Map.Entry::getKey)
        .noneMatch(key -> key.startsWith(ReportEvent.PREFIX));
  }

  @Test
  void onlyOpenRequestGivesTheEventItsUserAndOfTwoNoneDoes() throws Exception {
    Map<Object, Object> first = BoxBuilder.begin("POST /a", 2, 0, "http-1");
    first.put(SpanLayout.BEGIN_TRACE_ID, TRACE_ID);
    Map<Object, Object> query = BoxBuilder.begin("SELECT", 3, 1, "http-1");
    query.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 2L);
    query.put(SpanLayout.BEGIN_TRACE_ID, TRACE_ID);
    BoxBuilder one =
        killed()
            .scope(RecordLayout.KIND_USER, null, Map.of("id", "base"))
            .span(0, first, "sentry.user.id", "anna", "sentry.tag.cart", "7", "rows", 3L)
            .span(1, query, "sentry.op", "db");
    SentryEvent event = read(event(one));

    assertThat(event.getUser()).extracting(User::getId).isEqualTo("anna");
    assertThat(event.getTag("cart")).isEqualTo("7");
    assertThat(event.getContexts().getTrace())
        .satisfies(
            trace -> {
              assertThat(trace.getSpanId()).hasToString("0000000000000003");
              assertThat(trace.getOperation()).isEqualTo("db");
              assertThat(trace.getData()).containsEntry("thread.name", "http-1");
            });

    one.span(2, BoxBuilder.begin("POST /b", 4, 2, "http-2"), "sentry.user.id", "bert");
    event = read(event(one));

    assertThat(event.getUser()).extracting(User::getId).isEqualTo("base");
    assertThat(event.getTag("cart")).isNull();
    assertThat(event.getContexts().get("open_spans"))
        .extracting("spans")
        .asInstanceOf(org.assertj.core.api.InstanceOfAssertFactories.list(Map.class))
        .extracting(span -> span.get("user"))
        .containsExactly(Map.of("id", "anna"), null, Map.of("id", "bert"));
    assertThat(exception(event).getValue())
        .contains("3 operations in flight")
        .endsWith(": POST /a");
    assertThat(exception(event).getMechanism().getDescription()).doesNotContain("anna");
    assertThat(event.getContexts().get("cairn"))
        .extracting("headline")
        .isEqualTo(exception(event).getValue());
  }

  /** sentry-java 8.63: its MapObjectReader never ends over the time a device was booted at. */
  @Test
  void deviceWithAnythingAsItsBootTimeIsADevice() throws Exception {
    for (Object value : List.of("2026-12-01T10:00:00.000Z", "never", 7L, Map.of("a", 1L))) {
      SentryEvent event =
          read(
              event(
                  killed()
                      .scope(
                          RecordLayout.KIND_CONTEXT,
                          "device",
                          Map.of("name", "d", "boot_time", value))));

      boolean isTyped = event.getContexts().getDevice() != null;
      assertThat(event.getContexts().containsKey("device_recorded")).isEqualTo(!isTyped);
      assertThat(isTyped).isEqualTo(value instanceof String);
    }
  }

  @Test
  void innermostFrameIsTheLastAsSentryHasIt() {
    assertThat(StackFrames.trace(List.of("a.B.inner(B.java:1)", "a.B.outer(B.java:2)")).getFrames())
        .extracting(SentryStackFrame::getFunction)
        .containsExactly("outer", "inner");
  }

  @Test
  void frameIsTakenApartWhateverLoaderAndModuleItNames() {
    SentryStackFrame plain = StackFrames.frame("app//com.acme.Shop$Cart.add(Shop.java:12)");
    assertThat(plain.getModule()).isEqualTo("com.acme.Shop$Cart");
    assertThat(plain.getFunction()).isEqualTo("add");
    assertThat(plain.getFilename()).isEqualTo("Shop.java");
    assertThat(plain.getLineno()).isEqualTo(12);
    assertThat(plain.isInApp()).isNull();
    SentryStackFrame platform =
        StackFrames.frame("java.base@17.0.15/java.lang.Object.wait(Native Method)");
    assertThat(platform.getModule()).isEqualTo("java.lang.Object");
    assertThat(platform.isNative()).isTrue();
    assertThat(platform.isInApp()).isFalse();
    // The address is another one in each process, and would make an issue of each death.
    SentryStackFrame hidden =
        StackFrames.frame("app//com.acme.Shop$$Lambda/0x00007f01.run(Unknown Source)");
    assertThat(hidden.getModule()).isEqualTo("com.acme.Shop$$Lambda");
    assertThat(StackFrames.frame("?").getFunction()).isEqualTo("?");
    assertThat(StackFrames.frame("").getFunction()).isEmpty();
  }
}
