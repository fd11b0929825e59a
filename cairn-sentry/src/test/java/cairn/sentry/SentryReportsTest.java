package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import cairn.Recorder;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import io.sentry.Breadcrumb;
import io.sentry.ITransaction;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import io.sentry.protocol.User;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bug reports of Sentry's scope persistence, and of what it is built on, against this one. */
class SentryReportsTest {
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

  private static void context(String key, Object value) {
    Sentry.configureScope(scope -> scope.setContexts(key, value));
  }

  /** sentry-java 3168: all breadcrumbs were written again with each. */
  @Test
  void breadcrumbIsWrittenOnceHoweverManyThereAre() {
    for (int i = 0; i < 500; i++) {
      Sentry.addBreadcrumb("crumb-" + i + "-end");
    }
    assertThat(sentry.occurrences("crumb-7-end")).isEqualTo(1);
    assertThat(sentry.messages()).hasSize(500);
  }

  /** sentry-java 5714: 107 breadcrumbs and 310 changes of the scope wrote files during start-up. */
  @Test
  void coldStartOfManyChangesWritesNoFileAndLosesNone() throws IOException {
    List<Path> before = files();
    for (int i = 0; i < 310; i++) {
      Sentry.setTag("tag-" + i % 30, "v" + i);
      if (i % 3 == 0) {
        Sentry.addBreadcrumb("crumb " + i);
      }
    }
    assertThat(files()).isEqualTo(before);
    Report report = sentry.report();
    assertThat(report.trail()).hasSize(104);
    assertThat(report.scope().tags()).hasSize(30).containsEntry("tag-9", "v309");
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files.sorted().toList();
    }
  }

  /** sentry-dart 3926, and sentry-java to this day: one NaN cost the whole context. */
  @Test
  void valueThatIsNoNumberCostsNoOther() {
    Map<String, Object> values = new HashMap<>();
    values.put("nan", Double.NaN);
    values.put("infinite", Double.NEGATIVE_INFINITY);
    values.put("good", 1);
    context("mixed", values);
    assertThat(sentry.context("mixed")).containsEntry("good", 1L).containsEntry("nan", Double.NaN);
    assertThat(sentry.report().toJson()).contains("NaN");
  }

  /** Facts of sentry-java: what contains itself, or throws, destroyed the last good value. */
  @Test
  void valueThatContainsItselfOrThrowsCostsNoOther() {
    context("good", Map.of("k", "v"));
    Map<String, Object> cycle = new HashMap<>();
    List<Object> list = new ArrayList<>();
    list.add(list);
    cycle.put("self", cycle);
    cycle.put("list", list);
    cycle.put(
        "throws",
        new Object() {
          @Override
          public String toString() {
            throw new IllegalStateException("no text");
          }
        });
    cycle.put("fine", "yes");
    assertThatCode(() -> context("cycle", cycle)).doesNotThrowAnyException();
    assertThat(sentry.context("cycle")).containsEntry("fine", "yes");
    assertThat(sentry.context("good")).containsEntry("k", "v");
    for (int i = 0; i < 3; i++) {
      sentry.catchUp();
    }
    assertThat(sentry.context("cycle")).containsEntry("fine", "yes");
  }

  /** sentry 109165, sentry-java 3287, 5762: what was set at start-up overwrote the dead run's. */
  @Test
  void runThatStartsTakesNothingFromTheOneBefore() throws IOException {
    User old = new User();
    old.setId("old");
    Sentry.setUser(old);
    Sentry.addBreadcrumb("old");
    try (Recorder next = Recorder.builder("app").directory(root).release("2").open()) {
      next.scope().user("new");
      List<Run> runs = Runs.under(root).list();
      Report before = runs.get(1).report();
      assertThat(before.scope().user()).containsEntry("id", "old");
      assertThat(before.trail()).hasSize(1);
      assertThat(runs.get(0).report().scope().user()).containsEntry("id", "new");
      assertThat(runs.get(0).report().run().release()).isEqualTo("2");
    }
  }

  /** sentry-dart 3668, sentry-java 5361: a large flat object overflowed the stack of its reader. */
  @Test
  void flatContextOfTwoThousandKeysIsThereWhole() {
    Map<String, Object> large = new HashMap<>();
    for (int i = 0; i < 2_000; i++) {
      large.put("key-" + i, "x".repeat(100));
    }
    context("large", large);
    assertThat(sentry.context("large")).isEqualTo(large);
  }

  /** sentry-java 2301, 481: Locale and Path never ended; a path iterates itself. */
  @Test
  void typesOfTheJdkEnd() {
    context("jdk", Map.of("locale", Locale.GERMANY, "path", Path.of("/a/b")));
    context("exception", Map.of("e", deep(50)));
    assertThat(sentry.context("jdk"))
        .containsEntry("locale", "de-DE")
        .containsEntry("path", "/a/b");
  }

  private static Exception deep(int levels) {
    Exception cause = new IllegalStateException("end");
    for (int i = 0; i < levels; i++) {
      cause = new IllegalStateException("level " + i, cause);
    }
    return cause;
  }

  /** sentry-java 5736, 139, 151, 660: a callback that logs came back as a breadcrumb, for ever. */
  @Test
  void valueWhoseTextAddsABreadcrumbEnds() {
    Object logging =
        new Object() {
          @Override
          public String toString() {
            Sentry.addBreadcrumb("from toString");
            Sentry.setTag("from", "toString");
            return "text";
          }
        };
    Breadcrumb crumb = new Breadcrumb("outer");
    crumb.setData("value", logging);
    Sentry.addBreadcrumb(crumb);
    context("logging", Map.of("value", logging));
    assertThat(sentry.messages()).containsExactly("outer");
    assertThat(sentry.context("logging")).containsEntry("value", "text");
    sentry.catchUp();
    assertThat(sentry.report().scope().tags()).containsEntry("from", "toString");
  }

  /** sentry-java 434, 2183: threads that added breadcrumbs broke the ring. */
  @Test
  void breadcrumbsAndTagsOfManyThreadsAreAllThere() throws InterruptedException {
    int threads = 8;
    int each = 200;
    CountDownLatch done = new CountDownLatch(threads);
    var scopes = Sentry.getCurrentScopes();
    for (int t = 0; t < threads; t++) {
      int number = t;
      new Thread(
              () -> {
                try (var token = scopes.makeCurrent()) { // one scope for all of them
                  for (int i = 0; i < each; i++) {
                    Sentry.addBreadcrumb(number + "-" + i);
                    Sentry.setTag("last", number + "-" + i);
                    Sentry.setTag("of-" + number, String.valueOf(i));
                  }
                }
                done.countDown();
              })
          .start();
    }
    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
    Report report = sentry.report();
    assertThat(report.trail()).hasSize(threads * each);
    String[] last = {null};
    Sentry.configureScope(scope -> last[0] = scope.getTags().get("last"));
    assertThat(report.scope().tags()).containsEntry("last", last[0]);
    for (int t = 0; t < threads; t++) {
      assertThat(report.scope().tags()).containsEntry("of-" + t, String.valueOf(each - 1));
    }
  }

  /** sentry-dotnet 1067, 2033: two instances on one directory. */
  @Test
  void twoRecordersOnOneDirectoryDoNotTouchEachOther() throws IOException {
    try (Recorder other = Recorder.builder("app").directory(root).open()) {
      other.scope().tag("who", "other");
      Sentry.setTag("who", "this");
      List<Run> runs = Runs.under(root).list();
      assertThat(runs).hasSize(2);
      assertThat(runs.get(0).report().scope().tags()).containsEntry("who", "other");
      assertThat(runs.get(1).report().scope().tags()).containsEntry("who", "this");
    }
  }

  // Of sentry.md (b)

  /** Bytes that pending breadcrumbs take did not stop at maxBreadcrumbs. */
  @Test
  void trailDoesNotGrowHoweverManyBreadcrumbsThereAre() throws IOException {
    Path box = sentry.recorder.directory().resolve("box");
    long before = Files.size(box);
    for (int i = 0; i < 50_000; i++) {
      Sentry.addBreadcrumb("crumb with a text of some length " + i);
    }
    assertThat(Files.size(box)).isEqualTo(before);
    assertThat(sentry.messages()).endsWith("crumb with a text of some length 49999");
  }

  /** What was set during start-up was deleted when its caches were reset. */
  @Test
  void whatAnotherIntegrationSetsDuringStartUpStays() {
    sentry.close();
    sentry =
        new SentryUnderTest(
            root.resolve("early"),
            options ->
                options.addIntegration(
                    (scopes, o) -> {
                      Sentry.setTag("early", "1");
                      Sentry.addBreadcrumb("early");
                    }));
    assertThat(sentry.report().scope().tags()).containsEntry("early", "1");
    assertThat(sentry.messages()).containsExactly("early");
  }

  /** What was set before was not known to an observer that came later. */
  @Test
  void whatTheScopeHasBeforeTheIntegrationIsRecordedWhenItStarts() {
    sentry.close();
    CairnIntegration late;
    Recorder recorder = Recorder.builder("app").directory(root.resolve("late")).open();
    late = new CairnIntegration(recorder);
    Sentry.init(
        options -> {
          options.setDsn("http://key@localhost:9/42");
          options.setTransportFactory(io.sentry.NoOpTransportFactory.getInstance());
          options.addIntegration((scopes, o) -> Sentry.setTag("before", "1"));
          options.addIntegration(late);
        });
    try {
      Report report = Runs.under(root.resolve("late")).list().get(0).report();
      assertThat(report.scope().tags()).containsEntry("before", "1");
    } catch (IOException e) {
      throw new AssertionError(e);
    } finally {
      Sentry.close();
      recorder.close();
    }
  }

  /** Text that is no UTF-16, and keys that are no text. */
  @Test
  void loneSurrogatesAndKeysThatAreNoTextAreShownAndCostNothing() {
    Map<Object, Object> odd = new HashMap<>();
    odd.put(7, "number");
    odd.put("\ud800", "lone");
    context("odd", odd);
    assertThat(sentry.context("odd")).containsEntry("7", "number").containsValue("lone");
  }

  /** An exception of an observer reached the application's call. */
  @Test
  void nothingThrownInTheRecorderReachesTheApplication() {
    sentry.recorder.close();
    assertThatCode(
            () -> {
              Sentry.setTag("a", "b");
              Sentry.addBreadcrumb("c");
              Sentry.setUser(new User());
              context("k", "v");
              ITransaction transaction = Sentry.startTransaction("t", "op");
              transaction.startChild("c").finish();
              transaction.finish();
              sentry.catchUp();
            })
        .doesNotThrowAnyException();
  }

  /** Old personal data stayed on the disk after the scope was cleared. */
  @Test
  void clearedUserIsNotInTheFileOnceTheScopeWasRewritten() throws IOException {
    User user = new User();
    user.setEmail("secret.person@example.com");
    Sentry.setUser(user);
    Sentry.configureScope(io.sentry.IScope::clear);
    assertThat(sentry.report().scope().user()).isEmpty();
    Path box = sentry.recorder.directory().resolve("box");
    sentry.recorder.close(); // rewrites it, as a minute does
    assertThat(new String(Files.readAllBytes(box), StandardCharsets.ISO_8859_1))
        .doesNotContain("secret.person");
  }

  // Costs

  @Test
  void breadcrumbsAllocateNoMoreThanWithoutTheIntegration() {
    long with = allocated();
    sentry.close();
    Sentry.init(
        options -> {
          options.setDsn("http://key@localhost:9/42");
          options.setTransportFactory(io.sentry.NoOpTransportFactory.getInstance());
        });
    long without = allocated();
    Sentry.close();
    sentry = new SentryUnderTest(root.resolve("again"));
    // What the SDK itself allocates is on both sides, but for its iterator over observers; the rest
    // is what the JIT leaves of it. A copy of the data or of the scope's breadcrumbs is far more.
    assertThat(with - without).as("bytes a breadcrumb").isLessThanOrEqualTo(128);
  }

  private static long allocated() {
    var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    long id = Thread.currentThread().getId();
    int calls = 20_000;
    long best = Long.MAX_VALUE;
    for (int round = 0; round < 5; round++) {
      long before = threads.getThreadAllocatedBytes(id);
      for (int i = 0; i < calls; i++) {
        Breadcrumb crumb = new Breadcrumb("text");
        crumb.setCategory("db");
        Sentry.addBreadcrumb(crumb);
      }
      best = Math.min(best, (threads.getThreadAllocatedBytes(id) - before) / calls);
    }
    return best;
  }

  /**
   * Settings that Sentry can't read from properties are no business of ours, but we follow them.
   */
  /** One DSN of sixteen has a hash that Sentry writes with a digit less. */
  @Test
  void runsAreBesideTheDirectoryOfADsnWhoseHashBeginsWithZero() throws Exception {
    sentry.close();
    String dsn = "";
    for (int project = 1; !sha1(dsn).startsWith("0"); project++) {
      dsn = "http://key@localhost:9/" + project;
    }
    String found = dsn;
    Sentry.init(
        options -> {
          options.setDsn(found);
          options.setTransportFactory(io.sentry.NoOpTransportFactory.getInstance());
          options.setCacheDirPath(root.resolve("cache").toString());
          options.addIntegration(new CairnIntegration());
        });
    assertThat(Runs.under(root.resolve("cache").resolve("cairn")).list()).hasSize(1);
    Sentry.close();
    sentry = new SentryUnderTest(root.resolve("again"));
  }

  private static String sha1(String text) throws java.security.GeneralSecurityException {
    byte[] hash =
        java.security.MessageDigest.getInstance("SHA-1")
            .digest(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    return java.util.HexFormat.of().formatHex(hash);
  }

  @Test
  void recorderOfItsOwnIsInTheCacheDirectoryAndNamedByTheRelease() throws IOException {
    sentry.close();
    SentryOptions[] used = {null};
    Sentry.init(
        options -> {
          options.setDsn("http://key@localhost:9/42");
          options.setTransportFactory(io.sentry.NoOpTransportFactory.getInstance());
          options.setCacheDirPath(root.resolve("cache").toString());
          options.setRelease("com.example.shop@1.2.3");
          options.setEnvironment("prod");
          options.addIntegration(new CairnIntegration());
          used[0] = options;
        });
    Run run = Runs.under(root.resolve("cache").resolve("cairn")).list().get(0);
    assertThat(run.app()).isEqualTo("com.example.shop");
    assertThat(run.identity().release()).isEqualTo("com.example.shop@1.2.3");
    assertThat(run.identity().environment()).isEqualTo("prod");
    assertThat(run.isRunning()).isTrue();
    Sentry.close();
    assertThat(run.isRunning()).isFalse();
    assertThat(run.report().endedWell()).isTrue();
    sentry = new SentryUnderTest(root.resolve("again"));
  }
}
