package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import cairn.report.Run;
import cairn.report.Runs;
import io.sentry.Hint;
import io.sentry.Sentry;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import io.sentry.SentryOptions;
import io.sentry.Session;
import io.sentry.protocol.SentryException;
import io.sentry.util.HintUtils;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real deaths of JVMs with sentry-java, reported at the next start. */
class DeadRunsTest {
  @TempDir Path root;

  private LoopbackSentry server;
  private Path cache;

  @BeforeEach
  void start() {
    server = new LoopbackSentry();
    cache = root.resolve("cache");
  }

  @AfterEach
  void close() {
    Sentry.close();
    server.close();
  }

  private void startHere(Consumer<SentryOptions> configuration) {
    Sentry.init(
        options -> {
          options.setDsn(server.dsn());
          options.setCacheDirPath(cache.toString());
          options.setRelease("shop@2.0.0");
          options.setEnvironment("staging");
          options.addIntegration(new CairnIntegration());
          configuration.accept(options);
        });
  }

  private void startHere() {
    startHere(options -> {});
  }

  private SentryMark markOfTheDead() throws IOException {
    List<Run> runs = Runs.under(cache.resolve("cairn")).list();
    return SentryMark.of(runs.get(runs.size() - 1));
  }

  /** Waits for what is only in a file. */
  private void awaitDelivered() throws IOException {
    SentryMark mark = markOfTheDead();
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!mark.isDelivered()) {
      assertThat(System.nanoTime()).as("not marked").isLessThan(until);
      Thread.onSpinWait();
    }
  }

  @Test
  void killedRunIsOneEventOfTheNextStartWithWhatTheDeadScopeHad() throws Exception {
    SentryChild.run(server.dsn(), cache, "killed");
    startHere();
    Sentry.setTag("region", "of the living");
    Sentry.setTag("living", "1");
    SentryEvent event = server.await(1).get(0);

    assertThat(event.getLevel()).isEqualTo(SentryLevel.FATAL);
    SentryException exception = event.getExceptions().get(0);
    assertThat(exception.getType()).isEqualTo("KILLED");
    assertThat(exception.getMechanism().getType()).isEqualTo("cairn");
    assertThat(exception.getMechanism().isHandled()).isFalse();
    assertThat(event.getRelease()).isEqualTo("shop@1.2.3");
    assertThat(event.getEnvironment()).isEqualTo("prod");
    assertThat(event.getDist()).isEqualTo("7");
    assertThat(event.getServerName()).isNotNull();
    assertThat(event.getPlatform()).isEqualTo("java");
    assertThat(event.getSdk().getName()).isEqualTo("sentry.java");
    assertThat(event.getUser().getId()).isEqualTo("42");
    assertThat(event.getTags()).contains(entry("region", "eu")).doesNotContainKey("living");
    assertThat(event.getBreadcrumbs().get(0).getMessage()).isEqualTo("before the end");
    assertThat(event.getContexts().get("cart").toString()).contains("items").contains("3");
    assertThat(event.getContexts().get("open_spans").toString())
        .contains("POST /orders")
        .contains("SELECT 1");
    assertThat(event.getContexts().getTrace()).isNotNull();
    assertThat(event.getTransaction()).isEqualTo("POST /orders");
    awaitDelivered();

    Sentry.close();
    startHere();
    Sentry.captureMessage("from the third start");
    List<SentryEvent> all = server.await(2);
    assertThat(all).extracting(SentryEvent::getLevel).containsOnlyOnce(SentryLevel.FATAL);
  }

  @Test
  void sessionThatTheDeadRunLeftEndsAsAbnormal() throws Exception {
    SentryChild.run(server.dsn(), cache, "killed");
    int before = server.sessions().size(); // it may have been killed before it could send one
    startHere();
    server.await(1);
    List<Session> sessions = server.awaitSessions(before + 1);
    Session ended = sessions.get(before);
    assertThat(ended.getStatus()).isEqualTo(Session.State.Abnormal);
    assertThat(ended.getAbnormalMechanism()).isEqualTo("cairn");
  }

  @Test
  void runThatEndedInOrderIsNoEvent() throws Exception {
    SentryChild.run(server.dsn(), cache, "in order");
    startHere();
    Sentry.captureMessage("alive");
    assertThat(server.await(1)).extracting(SentryEvent::getLevel).containsOnly(SentryLevel.INFO);
    assertThat(markOfTheDead().isDelivered()).isFalse();
  }

  @Test
  void deathThatCouldNotBeSentWaitsInSentrysCacheAndGoesAtALaterStart() throws Exception {
    SentryChild.run(server.dsn(), cache, "killed");
    LoopbackSentry gone = server;
    String dsn = gone.dsn();
    gone.close();
    startHere(options -> options.setDsn(dsn));
    awaitDelivered();
    assertThat(
            CachedEnvelopes.hasEvent(
                Path.of(Sentry.getCurrentScopes().getOptions().getCacheDirPath()),
                ReportEvent.id(dead().report())))
        .isTrue();
  }

  private Run dead() throws IOException {
    List<Run> runs = Runs.under(cache.resolve("cairn")).list();
    return runs.get(runs.size() - 1);
  }

  @Test
  void deathThatWasRefusedWithoutACacheStaysForTheNextStart() throws Exception {
    String[] home = {"-Dcairn.dir=" + root.resolve("runs")};
    SentryChild.run(server.dsn(), null, "killed", home);
    Path runs = root.resolve("runs");
    System.setProperty("cairn.dir", runs.toString());
    try {
      server.answer(503);
      startHere(options -> options.setCacheDirPath(null));
      server.await(1);
      Sentry.close();
      List<Run> list = Runs.under(runs).list();
      Run dead = list.get(list.size() - 1);
      assertThat(SentryMark.of(dead).isDelivered()).isFalse();

      server.answer(200);
      startHere(options -> options.setCacheDirPath(null));
      List<SentryEvent> events = server.await(2);
      assertThat(events.get(1).getEventId()).isEqualTo(events.get(0).getEventId());
      long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
      while (!SentryMark.of(dead).isDelivered()) {
        assertThat(System.nanoTime()).as("not marked").isLessThan(until);
        Thread.onSpinWait();
      }
    } finally {
      System.clearProperty("cairn.dir");
    }
  }

  @Test
  void beforeSendSeesTheEventAndMayDropIt() throws Exception {
    SentryChild.run(server.dsn(), cache, "killed");
    AtomicReference<SentryEvent> seen = new AtomicReference<>();
    startHere(
        options ->
            options.setBeforeSend(
                (event, hint) -> {
                  seen.set(event);
                  return event.getLevel() == SentryLevel.FATAL ? null : event;
                }));
    boolean isTold = tellsDropsFromFailures();
    if (!isTold) {
      System.out.println("NOT COMPARED: this sentry-java does not tell a drop from a failure");
    }
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (isTold ? markOfTheDead().due("any").isBefore(Instant.MAX) : seen.get() == null) {
      assertThat(System.nanoTime()).as("not marked").isLessThan(until);
      Thread.onSpinWait();
    }
    assertThat(seen.get().getLevel()).isEqualTo(SentryLevel.FATAL);
    assertThat(server.events()).isEmpty();
  }

  /** Where it doesn't, the run stays due, and is dropped again at the next start. */
  private static boolean tellsDropsFromFailures() {
    try {
      return HintUtils.class.getMethod("isCaptureFailed", Hint.class) != null;
    } catch (NoSuchMethodException e) {
      return false;
    }
  }

  @Test
  void uncaughtExceptionHasTheIdUnderWhichSentryReportedItItself() throws Exception {
    SentryChild.run(server.dsn(), cache, "uncaught");
    SentryEvent own = server.await(1).get(0);
    startHere();
    SentryEvent second = server.await(2).get(1);
    assertThat(second.getEventId()).isEqualTo(own.getEventId());
    assertThat(second.getExceptions().get(0).getType()).isEqualTo("IllegalStateException");
  }

  @Test
  void startIsNotHeldUpByAServerThatDoesNotAnswer() throws Exception {
    SentryChild.run(server.dsn(), cache, "killed");
    try (java.net.ServerSocket silent =
        new java.net.ServerSocket(0, 5, java.net.InetAddress.getLoopbackAddress())) {
      long before = System.nanoTime();
      startHere(
          options -> {
            options.setDsn("http://key@localhost:" + silent.getLocalPort() + "/42");
          });
      Sentry.setTag("t", "1");
      assertThat(System.nanoTime() - before).isLessThan(TimeUnit.SECONDS.toNanos(5));
    }
    // When it is on the disk is Sentry's matter: behind an envelope that waits for its answer, for
    // 30 s.
    assertThat(Files.exists(cache)).isTrue();
  }
}
