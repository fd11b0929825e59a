package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import cairn.report.Breadcrumb;
import cairn.report.UnfinishedSpan;
import io.sentry.IScope;
import io.sentry.ISentryLifecycleToken;
import io.sentry.ITransaction;
import io.sentry.Sentry;
import io.sentry.TransactionOptions;
import io.sentry.protocol.Request;
import io.sentry.protocol.User;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Scopes of requests stay apart from each other and from the run's. */
class RequestScopesTest {
  private static final int MAX_COLLECTIONS = 200;

  @TempDir Path root;

  private SentryUnderTest sentry;
  private final CountDownLatch done = new CountDownLatch(1);
  private final List<Thread> threads = new ArrayList<>();

  @BeforeEach
  void start() {
    sentry = new SentryUnderTest(root);
  }

  @AfterEach
  void close() throws InterruptedException {
    done.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    sentry.close();
  }

  private static User user(String id) {
    User user = new User();
    user.setId(id);
    return user;
  }

  private static ITransaction transaction(String name) {
    TransactionOptions options = new TransactionOptions();
    options.setBindToScope(true);
    return Sentry.startTransaction(name, "http.server", options);
  }

  /** Runs it on a thread of its own, which then stays until the test is over. */
  private void request(String thread, Runnable request) throws InterruptedException {
    CountDownLatch ran = new CountDownLatch(1);
    Thread started =
        new Thread(
            () -> {
              try (ISentryLifecycleToken token = Sentry.forkedRootScopes(thread).makeCurrent()) {
                request.run();
                ran.countDown();
                done.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            thread);
    threads.add(started);
    started.start();
    assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
  }

  private void userTagCrumb(String name) {
    Sentry.setUser(user("user-" + name));
    Sentry.setTag("tag", "tag-" + name);
    Sentry.setExtra("extra", "extra-" + name);
    Sentry.addBreadcrumb("crumb-" + name);
  }

  @Test
  void requestsWithTransactionsStayApart() throws InterruptedException {
    Sentry.setTag("region", "eu");
    for (String name : List.of("A", "B")) {
      request(
          "http-" + name,
          () -> {
            transaction("POST /" + name);
            userTagCrumb(name);
          });
    }
    for (String name : List.of("A", "B")) {
      UnfinishedSpan span = sentry.span("POST /" + name);
      assertThat(span.thread()).isEqualTo("http-" + name);
      assertThat(span.attributes())
          .containsOnly(
              entry("sentry.op", "http.server"),
              entry("sentry.user.id", "user-" + name),
              entry("sentry.tag.tag", "tag-" + name),
              entry("sentry.extra.extra", "extra-" + name));
      Breadcrumb crumb =
          sentry.report().trail().stream()
              .filter(c -> c.message().equals("crumb-" + name))
              .findFirst()
              .orElseThrow();
      assertThat(crumb.spanId()).isEqualTo(span.spanId());
    }
    assertThat(sentry.report().scope().tags()).containsExactly(entry("region", "eu"));
    assertThat(sentry.report().scope().user()).isEmpty();
  }

  @Test
  void requestsWithoutTransactionsHaveSpansOfTheirOwn() throws InterruptedException {
    for (String name : List.of("A", "B")) {
      request("http-" + name, () -> userTagCrumb(name));
    }
    for (String name : List.of("A", "B")) {
      assertThat(sentry.span("scope of http-" + name).attributes())
          .containsEntry("sentry.user.id", "user-" + name)
          .containsEntry("sentry.tag.tag", "tag-" + name);
    }
  }

  @Test
  void scopesOfManyConcurrentRequestsAreNeverMixed() throws Exception {
    int count = 8;
    CyclicBarrier together = new CyclicBarrier(count);
    CountDownLatch ran = new CountDownLatch(count);
    for (int i = 0; i < count; i++) {
      String name = "r" + i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  together.await();
                  for (int round = 0; round < 50; round++) {
                    try (ISentryLifecycleToken token =
                        Sentry.forkedRootScopes(name).makeCurrent()) {
                      ITransaction transaction = transaction(name + "-" + round);
                      userTagCrumb(name + "-" + round);
                      if (round < 49) {
                        transaction.finish();
                      } else {
                        ran.countDown();
                        done.await();
                      }
                    }
                  }
                } catch (Exception e) {
                  throw new AssertionError(e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    assertThat(ran.await(60, TimeUnit.SECONDS)).isTrue();
    List<UnfinishedSpan> open = sentry.report().openSpans();
    assertThat(open).hasSize(count);
    for (UnfinishedSpan span : open) {
      assertThat(span.attributes())
          .containsEntry("sentry.user.id", "user-" + span.name())
          .containsEntry("sentry.tag.tag", "tag-" + span.name());
    }
  }

  @Test
  void userWhoLeavesIsNoLongerInTheRequestsSpan() throws InterruptedException {
    request(
        "http-1",
        () -> {
          transaction("POST /a");
          userTagCrumb("A");
          Sentry.setUser(null);
        });
    assertThat(sentry.span("POST /a").attributes())
        .containsEntry("sentry.tag.tag", "tag-A")
        .containsEntry("sentry.op", "http.server")
        .doesNotContainKey("sentry.user.id");
  }

  @Test
  void requestThatIsClearedHasNothingLeft() throws InterruptedException {
    request(
        "http-1",
        () -> {
          userTagCrumb("A");
          Sentry.configureScope(IScope::clear);
        });
    assertThat(sentry.report().openSpans()).isEmpty();
    assertThat(sentry.report().scope().user()).isEmpty();
  }

  @Test
  void fieldsThatWereSetBeforeTheTransactionGoToIt() throws InterruptedException {
    request(
        "http-1",
        () -> {
          userTagCrumb("A");
          transaction("POST /a");
        });
    assertThat(sentry.report().openSpans()).hasSize(1);
    assertThat(sentry.span("POST /a").attributes()).containsEntry("sentry.user.id", "user-A");
  }

  @Test
  void spanOfItsOwnIsNamedByItsRequest() throws InterruptedException {
    Request made = new Request();
    made.setMethod("GET");
    made.setUrl("https://example.com/orders/7");
    request(
        "http-1",
        () -> {
          Sentry.setTag("t", "1");
          Sentry.configureScope(scope -> scope.setRequest(made));
        });
    assertThat(sentry.span("GET /orders/7").attributes())
        .containsEntry("sentry.request.method", "GET")
        .containsEntry("sentry.request.url", "https://example.com/orders/7");
  }

  @Test
  void whatIsInheritedFromTheProcessIsNotRepeated() throws InterruptedException {
    Sentry.setTag("region", "eu");
    Sentry.setUser(user("everybody"));
    request(
        "http-1",
        () -> {
          transaction("POST /a");
          Sentry.setTag("own", "1");
        });
    assertThat(sentry.span("POST /a").attributes())
        .containsOnly(entry("sentry.op", "http.server"), entry("sentry.tag.own", "1"));
  }

  @Test
  void threadThatGoesOnToAnotherRequestEndsTheSpanOfTheFirst() throws InterruptedException {
    request(
        "http-1",
        () -> {
          try (ISentryLifecycleToken token = Sentry.forkedRootScopes("a").makeCurrent()) {
            userTagCrumb("A");
          }
          try (ISentryLifecycleToken token = Sentry.forkedRootScopes("b").makeCurrent()) {
            userTagCrumb("B");
            assertThat(sentry.span("scope of http-1").attributes())
                .containsEntry("sentry.user.id", "user-B");
          }
        });
  }

  @Test
  void scopeAroundAnotherKeepsItsSpan() throws InterruptedException {
    request(
        "http-1",
        () -> {
          userTagCrumb("outer");
          Sentry.withIsolationScope(scope -> userTagCrumb("inner"));
        });
    assertThat(sentry.report().openSpans())
        .extracting(span -> span.attributes().get("sentry.user.id"))
        .contains("user-outer");
  }

  @Test
  void spanOfAThreadThatHasDiedEndsWithinASecond() throws InterruptedException {
    Thread thread = new Thread(() -> userTagCrumb("A"), "short");
    thread.start();
    thread.join();
    sentry.catchUp();
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void spanOfAScopeThatNobodyHasEndsWhenItIsCollected() throws InterruptedException {
    request(
        "http-1",
        () -> {
          try (ISentryLifecycleToken token = Sentry.forkedRootScopes("a").makeCurrent()) {
            userTagCrumb("A");
          }
        });
    assertThat(sentry.report().openSpans()).hasSize(1);
    for (int i = 0; i < MAX_COLLECTIONS && !sentry.report().openSpans().isEmpty(); i++) {
      System.gc();
      sentry.catchUp();
    }
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void contextOfARequestIsInItsTrail() throws InterruptedException {
    request(
        "http-1",
        () -> {
          transaction("POST /a");
          Sentry.configureScope(scope -> scope.setContexts("cart", Map.of("items", 3)));
        });
    Breadcrumb crumb = sentry.report().trail().get(0);
    assertThat(crumb.category()).isEqualTo("sentry.context");
    assertThat(crumb.data()).containsEntry("cart", Map.of("items", 3L));
    assertThat(crumb.spanId()).isEqualTo(sentry.span("POST /a").spanId());
    assertThat(sentry.report().scope().contexts()).doesNotContainKey("cart");
  }
}
