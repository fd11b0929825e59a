package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import cairn.Level;
import cairn.report.Breadcrumb;
import io.sentry.IScope;
import io.sentry.ISpan;
import io.sentry.ScopeType;
import io.sentry.Sentry;
import io.sentry.SentryLevel;
import io.sentry.SpanId;
import io.sentry.protocol.App;
import io.sentry.protocol.Request;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.User;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is recorded of the scopes of the process, announced and not. */
class CairnScopeObserverTest {
  @TempDir Path root;

  private SentryUnderTest sentry;

  @BeforeEach
  void start() {
    sentry = new SentryUnderTest(root);
  }

  @AfterEach
  void close() {
    sentry.close();
  }

  private static void scope(java.util.function.Consumer<IScope> change) {
    Sentry.configureScope(change::accept);
  }

  private static User user(String id) {
    User user = new User();
    user.setId(id);
    user.setEmail(id + "@example.com");
    user.setData(Map.of("plan", "gold"));
    return user;
  }

  @Test
  void eachFieldOfTheScopeIsInTheReportWhenTheCallReturns() {
    Sentry.setUser(user("u1"));
    Sentry.setTag("region", "eu");
    Sentry.setExtra("cart", "3 items");
    Sentry.setLevel(SentryLevel.WARNING);
    Sentry.setFingerprint(List.of("a", "b"));
    Sentry.setTransaction("nightly");
    Request request = new Request();
    request.setMethod("GET");
    request.setUrl("http://localhost/x");
    SentryId replay = new SentryId();
    scope(
        s -> {
          s.setContexts("cart", Map.of("items", 3));
          s.setRequest(request);
          s.setReplayId(replay);
        });

    var found = sentry.report().scope();
    assertThat(found.user()).contains(entry("id", "u1"), entry("email", "u1@example.com"));
    assertThat(found.user().get("data")).isEqualTo(Map.of("plan", "gold"));
    assertThat(found.tags()).containsExactly(entry("region", "eu"));
    assertThat(found.extras()).containsExactly(entry("cart", "3 items"));
    assertThat(found.level()).isEqualTo(Level.WARNING);
    assertThat(found.fingerprint()).containsExactly("a", "b");
    assertThat(found.transaction()).isEqualTo("nightly");
    assertThat(found.contexts()).containsEntry("cart", Map.of("items", 3L));
    assertThat(sentry.context("sentry.request")).containsEntry("method", "GET");
    assertThat(found.contexts()).containsEntry("sentry.replay_id", replay.toString());
  }

  @Test
  void optionsAreInTheReportAndSoIsALaterChangeOfThem() {
    assertThat(sentry.context("sentry.options"))
        .containsEntry("release", "app@1.2.3")
        .containsKey("sdk");
    Sentry.getCurrentScopes().getOptions().setDist("77");
    sentry.catchUp();
    assertThat(sentry.context("sentry.options")).containsEntry("dist", "77");
  }

  @Test
  void removedFieldIsGoneFromTheReport() {
    Sentry.setTag("gone", "1");
    Sentry.setTag("kept", "2");
    Sentry.setExtra("gone", "1");
    Sentry.setUser(user("u1"));
    Sentry.setLevel(SentryLevel.ERROR);
    Sentry.removeTag("gone");
    Sentry.removeExtra("gone");
    Sentry.setUser(null);
    Sentry.setLevel(null);

    var found = sentry.report().scope();
    assertThat(found.tags()).containsExactly(entry("kept", "2"));
    assertThat(found.extras()).isEmpty();
    assertThat(found.user()).isEmpty();
    assertThat(found.level()).isNull();
  }

  @Test
  void whatSentryAnnouncesTwiceIsOneRecord() {
    Sentry.setTag("a-tag", "value-of-the-tag");
    Sentry.setExtra("an-extra", "value-of-the-extra");
    Sentry.addBreadcrumb("text-of-the-breadcrumb");
    scope(s -> s.setContexts("a-context", Map.of("k", "value-of-the-context")));

    assertThat(sentry.occurrences("value-of-the-tag")).isEqualTo(1);
    assertThat(sentry.occurrences("value-of-the-extra")).isEqualTo(1);
    assertThat(sentry.occurrences("text-of-the-breadcrumb")).isEqualTo(1);
    assertThat(sentry.occurrences("value-of-the-context")).isEqualTo(1);
  }

  @Test
  void contextThatHasNotChangedIsNotRecordedWithAnother() {
    Map<String, String> large = new HashMap<>();
    large.put("k", "value-of-the-first");
    scope(s -> s.setContexts("first", large));
    for (int i = 0; i < 10; i++) {
      int value = i;
      scope(s -> s.setContexts("second", Map.of("n", value)));
    }
    // Once more when it is first seen again, to know it from then on.
    assertThat(sentry.occurrences("value-of-the-first")).isLessThanOrEqualTo(2);
    assertThat(sentry.context("second")).containsEntry("n", 9L);
  }

  @Test
  void valueIsCopiedAtTheCallAndALaterChangeOfItShowsWhenItIsSetAgain() {
    User user = user("u1");
    Map<String, Object> cart = new HashMap<>(Map.of("items", 1));
    List<String> fingerprint = new ArrayList<>(List.of("a"));
    Sentry.setUser(user);
    Sentry.setFingerprint(fingerprint);
    scope(s -> s.setContexts("cart", cart));
    user.setId("u2");
    cart.put("items", 2);
    fingerprint.add("mutated");
    assertThat(sentry.report().scope().user()).containsEntry("id", "u1");
    assertThat(sentry.report().scope().fingerprint()).containsExactly("a");
    assertThat(sentry.context("cart")).containsEntry("items", 1L);

    Sentry.setUser(user);
    scope(s -> s.setContexts("cart", cart));
    assertThat(sentry.report().scope().user()).containsEntry("id", "u2");
    assertThat(sentry.context("cart")).containsEntry("items", 2L);
    cart.put("items", 3);
    scope(s -> s.setContexts("cart", cart));
    assertThat(sentry.context("cart")).containsEntry("items", 3L);
  }

  @Test
  void breadcrumbHasItsLevelCategoryDataTypeAndOrigin() {
    io.sentry.Breadcrumb crumb = io.sentry.Breadcrumb.http("http://localhost/x", "GET", 503);
    crumb.setLevel(SentryLevel.ERROR);
    crumb.setOrigin("auto.http");
    Sentry.addBreadcrumb(crumb);
    Breadcrumb found = sentry.report().trail().get(0);
    assertThat(found.level()).isEqualTo(Level.ERROR);
    assertThat(found.category()).isEqualTo("http");
    assertThat(found.data())
        .containsEntry("status_code", 503L)
        .containsEntry("sentry.type", "http")
        .containsEntry("sentry.origin", "auto.http");
  }

  @Test
  void clearedBreadcrumbsAreNotInTheEvent() {
    Sentry.addBreadcrumb("before");
    Sentry.clearBreadcrumbs();
    Sentry.addBreadcrumb("after");
    assertThat(sentry.messages()).containsExactly("before", "breadcrumbs cleared", "after");
    assertThat(sentry.report().trail().get(1).category()).isEqualTo(CairnScopeObserver.CLEARED);
  }

  @Test
  void nothingIsRecordedWhileScopePersistenceIsOff() {
    var options = Sentry.getCurrentScopes().getOptions();
    options.setEnableScopePersistence(false);
    Sentry.setTag("off", "1");
    Sentry.addBreadcrumb("off");
    assertThat(sentry.report().scope().tags()).isEmpty();
    assertThat(sentry.messages()).isEmpty();
    options.setEnableScopePersistence(true);
    Sentry.addBreadcrumb("on");
    assertThat(sentry.messages()).containsExactly("on");
  }

  @Test
  void nothingIsRecordedWithoutRoomForBreadcrumbs() {
    sentry.close();
    sentry = new SentryUnderTest(root.resolve("other"), options -> options.setMaxBreadcrumbs(0));
    Sentry.addBreadcrumb("none");
    assertThat(sentry.messages()).isEmpty();
  }

  // What the observer never hears

  @Test
  void scopeThatIsClearedLeavesNothingAtOnce() {
    Sentry.setUser(user("u1"));
    Sentry.setTag("t", "1");
    Sentry.setExtra("e", "1");
    Sentry.setLevel(SentryLevel.ERROR);
    Sentry.setFingerprint(List.of("f"));
    Request request = new Request();
    request.setUrl("http://localhost/x");
    scope(s -> s.setRequest(request));
    scope(IScope::clear);

    var found = sentry.report().scope();
    assertThat(found.user()).isEmpty();
    assertThat(found.tags()).isEmpty();
    assertThat(found.extras()).isEmpty();
    assertThat(found.level()).isNull();
    assertThat(found.fingerprint()).isEmpty();
    assertThat(found.contexts()).doesNotContainKey("sentry.request");
  }

  @Test
  void removedContextIsGoneAfterASecond() {
    scope(s -> s.setContexts("gone", Map.of("secret", "old")));
    scope(s -> s.removeContexts("gone"));
    sentry.catchUp();
    assertThat(sentry.report().scope().contexts()).doesNotContainKey("gone");
  }

  @Test
  void contextThatIsPutOrChangedInsideIsThereAfterASecond() {
    Map<String, Object> inside = new HashMap<>(Map.of("n", 1));
    scope(s -> s.setContexts("inside", inside));
    sentry.catchUp();
    inside.put("n", 2);
    App app = new App();
    app.setAppName("shop");
    scope(
        s -> {
          s.getContexts().put("put", Map.of("k", "v"));
          s.getContexts().setApp(app);
        });
    sentry.catchUp();
    assertThat(sentry.context("inside")).containsEntry("n", 2L);
    assertThat(sentry.context("put")).containsEntry("k", "v");
    assertThat(sentry.context("app")).containsEntry("app_name", "shop");
    app.setAppName("shop 2");
    sentry.catchUp();
    assertThat(sentry.context("app")).containsEntry("app_name", "shop 2");
  }

  @Test
  void activeSpanIsTheTraceAfterASecond() {
    ISpan span = Sentry.startTransaction("job", "task").startChild("step");
    scope(s -> s.setActiveSpan(span));
    sentry.catchUp();
    assertThat(sentry.report().scope().trace())
        .containsEntry("traceId", span.getSpanContext().getTraceId().toString())
        .containsEntry("spanId", span.getSpanContext().getSpanId().toString());
  }

  @Test
  void attributesAndFeatureFlagsAreThereAfterASecondAndGoneToo() {
    Sentry.setAttribute("tenant", "acme");
    Sentry.addFeatureFlag("new-cart", true);
    sentry.catchUp();
    assertThat(sentry.context("sentry.attributes")).containsEntry("tenant", "acme");
    assertThat(sentry.context("flags").get("values").toString()).contains("new-cart");
    scope(s -> s.removeAttribute("tenant"));
    sentry.catchUp();
    assertThat(sentry.report().scope().contexts()).doesNotContainKey("sentry.attributes");
  }

  @Test
  void changedPropagationContextIsTheTraceAfterASecond() {
    SentryId trace = new SentryId();
    SpanId span = new SpanId();
    scope(
        s ->
            s.withPropagationContext(
                context -> {
                  context.setTraceId(trace);
                  context.setSpanId(span);
                }));
    sentry.catchUp();
    assertThat(sentry.report().scope().trace())
        .isEqualTo(Map.of("traceId", trace.toString(), "spanId", span.toString()));
  }

  @Test
  void userThatIsChangedInsideIsThereAfterASecond() {
    User user = user("u1");
    Sentry.setUser(user);
    user.setId("u2");
    sentry.catchUp();
    assertThat(sentry.report().scope().user()).containsEntry("id", "u2");
  }

  @Test
  void nextEventCatchesUpTheSame() {
    scope(s -> s.getContexts().put("put", Map.of("k", "v")));
    Sentry.captureMessage("event");
    assertThat(sentry.context("put")).containsEntry("k", "v");
  }

  @Test
  void lookThatFindsNothingNewRecordsNothing() {
    Sentry.setUser(user("user-that-stays"));
    Sentry.setTag("t", "tag-that-stays");
    scope(s -> s.setContexts("c", Map.of("k", "context-that-stays")));
    sentry.catchUp();
    int user = sentry.occurrences("user-that-stays");
    int context = sentry.occurrences("context-that-stays");
    for (int i = 0; i < 20; i++) {
      sentry.catchUp();
    }
    assertThat(sentry.occurrences("user-that-stays")).isEqualTo(user);
    assertThat(sentry.occurrences("tag-that-stays")).isEqualTo(1);
    assertThat(sentry.occurrences("context-that-stays")).isEqualTo(context).isLessThanOrEqualTo(2);
  }

  // Whose it is

  @Test
  void globalScopeCountsWhereTheOthersHaveNothing() {
    Sentry.configureScope(
        ScopeType.GLOBAL,
        s -> {
          s.setTag("both", "global");
          s.setTag("only", "global");
        });
    try {
      Sentry.setTag("both", "isolation");
      assertThat(sentry.report().scope().tags())
          .containsOnly(entry("both", "isolation"), entry("only", "global"));
      Sentry.removeTag("both");
      assertThat(sentry.report().scope().tags()).containsEntry("both", "global");
    } finally {
      Sentry.configureScope(
          ScopeType.GLOBAL,
          s -> {
            s.removeTag("both");
            s.removeTag("only");
          });
    }
    assertThat(sentry.report().scope().tags()).isEmpty();
  }

  @Test
  void scopeOfABlockChangesNothingOfTheRun() {
    Sentry.setTag("t", "outside");
    Sentry.setUser(user("u1"));
    Sentry.withScope(
        s -> {
          s.setTag("t", "inside");
          s.setTag("more", "inside");
          s.setUser(user("u2"));
          s.setContexts("c", Map.of("k", "inside"));
          assertThat(sentry.report().scope().tags()).containsExactly(entry("t", "outside"));
        });
    sentry.catchUp();
    assertThat(sentry.report().scope().tags()).containsExactly(entry("t", "outside"));
    assertThat(sentry.report().scope().user()).containsEntry("id", "u1");
    assertThat(sentry.report().scope().contexts()).doesNotContainKey("c");
  }

  @Test
  void closedIntegrationRecordsNothingMore() {
    Sentry.close();
    sentry.integration.close();
    scope(s -> s.setTag("late", "1"));
    assertThat(sentry.report().scope().tags()).isEmpty();
  }
}
