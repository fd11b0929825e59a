package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.format.RecordLayout;
import cairn.report.BoxBuilder;
import cairn.report.Report;
import cairn.report.ReportOfBytes;
import cairn.sentry.FakeSentry.Received;
import cairn.sentry.FakeSentry.Reply;
import cairn.sentry.SentryReply.Outcome;
import io.sentry.SentryEvent;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SentryEndpointTest {
  private final FakeSentry sentry = new FakeSentry();
  private final RateLimitsTest.HandClock clock = new RateLimitsTest.HandClock();

  @AfterEach
  void close() {
    sentry.close();
  }

  private static Report death() {
    return ReportOfBytes.read(
        BoxBuilder.box()
            .beat(60_000)
            .scope(RecordLayout.KIND_TAG, "region", "eu")
            .crumb(700, 0, "db", "SELECT\n1", "rows", 3L)
            .bytes());
  }

  private SentryEndpoint endpoint() throws IOException {
    return SentryEndpoint.builder(sentry.dsn()).clock(clock).build();
  }

  @ParameterizedTest
  @ValueSource(ints = {200, 201, 202, 204})
  void whatIsAnsweredWith2xxIsDelivered(int status) throws IOException {
    sentry.answer(
        status == 204
            ? new Reply(204, Map.of(), "", false, new CountDownLatch(0))
            : Reply.of(status));

    SentryReply reply = endpoint().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.DELIVERED);
    assertThat(reply.status()).isEqualTo(status);
    Received received = sentry.only();
    assertThat(received.sentAt()).isEqualTo(clock.now);
    assertThat(received.event().getEventId()).isEqualTo(ReportEvent.id(death()));
    assertThat(received.event().getTag("region")).isEqualTo("eu");
    assertThat(received.event().getBreadcrumbs()).hasSize(1);
  }

  @Test
  void sentAgainItIsTheSameEventToTheByteButForWhenItWasSent() throws IOException {
    SentryEndpoint endpoint = endpoint();
    endpoint.send(death());
    clock.now = clock.now.plusSeconds(3_600);
    endpoint().send(death());

    Received first = sentry.received().get(0);
    Received second = sentry.received().get(1);
    assertThat(second.eventBytes()).isEqualTo(first.eventBytes());
    assertThat(second.sentAt()).isEqualTo(first.sentAt().plusSeconds(3_600));
    assertThat(new String(first.eventBytes(), StandardCharsets.UTF_8)).doesNotContain("sent_at");
  }

  @Test
  void pathAndSecretOfTheDsnAreHonouredAndTheSecretIsInNoMessage() throws IOException {
    sentry.below("/relay").secret("5ecre7").answer(Reply.of(400));

    SentryReply reply = endpoint().send(death());

    assertThat(sentry.received()).hasSize(1);
    assertThat(reply + endpoint().name()).contains("/relay/42").doesNotContain("5ecre7");
    assertThat(reply.toString()).doesNotContain(FakeSentry.KEY);
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404, 422})
  void refusalOfSentryIsOneAndSaysWhy(int status) throws IOException {
    sentry.answer(Reply.of(status));

    SentryReply reply = endpoint().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(reply.text()).contains("status=" + status).contains("error=told so");
    assertThat(sentry.received()).hasSize(1);
  }

  /** sentry-java#5360: a proxy answered 403 for days, and every event was deleted. */
  @ParameterizedTest
  @ValueSource(ints = {302, 400, 403, 404, 407})
  void whatAProxyAnswersIsNoRefusalOfSentry(int status) throws IOException {
    sentry.answer(Reply.html(status));

    assertThat(endpoint().send(death()).outcome()).isEqualTo(Outcome.BLOCKED);
  }

  @Test
  void sentryErrorHeaderMakesARefusalSentrysWhateverTheBody() throws IOException {
    sentry.answer(Reply.html(403).with("X-Sentry-Error", "bad key"));

    SentryReply reply = endpoint().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(reply.text()).contains("bad key");
  }

  @Test
  void tooLargeEventIsTrimmedHarderAndSentOnceMore() throws IOException {
    String escaped = "\u0001".repeat(3_600); // six bytes each in JSON
    BoxBuilder box = BoxBuilder.box().beat(60_000);
    for (int i = 0; i < 16; i++) {
      box.crumb(i, 0, "c", i + ":" + escaped);
    }
    Report report = ReportOfBytes.read(box.bytes());
    sentry.answer(Reply.of(413), Reply.of(413), Reply.of(200));

    SentryReply reply = endpoint().send(report);

    assertThat(reply.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(sentry.received()).hasSize(2);
    SentryEvent whole = sentry.received().get(0).event();
    SentryEvent trimmed = sentry.received().get(1).event();
    assertThat(whole.getBreadcrumbs()).hasSize(16);
    assertThat(trimmed.getBreadcrumbs())
        .hasSizeBetween(8, 9)
        .last()
        .satisfies(crumb -> assertThat(crumb.getMessage()).startsWith("15:"));
    assertThat(sentry.received().get(1).eventBytes().length)
        .isLessThanOrEqualTo(SentryEndpoint.SMALL_BYTES);
    assertThat(trimmed.getContexts().get("cairn").toString())
        .contains("breadcrumbs, the oldest: count=");
    assertThat(trimmed.getEventId()).isEqualTo(whole.getEventId());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "none, none, 60",
        "none, 17, 17",
        "none, 'Tue, 01 Dec 2026 10:00:07 GMT', 7",
        "30:error:key, 17, 30",
        "30::key, none, 30",
        "'30:error:key, 40:error:org', none, 40",
        "2.5:error:key, none, 2.5",
        // It was refused all the same: a limit of something else is no answer to when again.
        "30:transaction:key, none, 60",
        "rubbish, 17, 17",
      })
  void limitIsKeptWithoutAskingAgainUntilItIsOver(String limits, String retryAfter, double seconds)
      throws IOException {
    Reply reply = Reply.of(429);
    reply = limits == null ? reply : reply.with("X-Sentry-Rate-Limits", limits);
    reply = retryAfter == null ? reply : reply.with("Retry-After", retryAfter);
    sentry.answer(reply);
    SentryEndpoint endpoint = endpoint();
    Instant until = clock.now.plusMillis((long) (seconds * 1_000));

    assertThat(endpoint.send(death()))
        .satisfies(
            first -> {
              assertThat(first.outcome()).isEqualTo(Outcome.LIMITED);
              assertThat(first.again()).isEqualTo(until);
            });
    clock.now = until.minusMillis(1);
    assertThat(endpoint.send(death()).outcome()).isEqualTo(Outcome.LIMITED);
    assertThat(sentry.received()).hasSize(1);
    clock.now = until;
    assertThat(endpoint.send(death()).outcome()).isEqualTo(Outcome.DELIVERED);
    assertThat(sentry.received()).hasSize(2);
  }

  @Test
  void limitOnADeliveredEventHoldsForTheNext() throws IOException {
    sentry.answer(Reply.of(200).with("X-Sentry-Rate-Limits", "60:error:key"));
    SentryEndpoint endpoint = endpoint();

    assertThat(endpoint.send(death()).outcome()).isEqualTo(Outcome.DELIVERED);
    assertThat(endpoint.send(death()).outcome()).isEqualTo(Outcome.LIMITED);
    assertThat(sentry.received()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(ints = {408, 500, 502, 503, 504})
  void troubleOfSentryIsAFailureToTryAgain(int status) throws IOException {
    sentry.answer(Reply.html(status).with("Retry-After", "9"));

    SentryReply reply = endpoint().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(reply.again()).isEqualTo(clock.now.plusSeconds(9));
  }

  @Test
  void slowSentryIsAFailureWithinTheTimeout() throws IOException {
    CountDownLatch held = new CountDownLatch(1);
    sentry.answer(Reply.of(200).heldUntil(held));

    SentryReply reply =
        SentryEndpoint.builder(sentry.dsn()).timeout(Duration.ofMillis(300)).build().send(death());

    held.countDown();
    assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(reply.text()).contains("no reply within 300 ms");
  }

  @Test
  void cutConnectionIsAFailure() throws IOException {
    sentry.answer(Reply.cut());

    SentryReply reply = endpoint().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(reply.status()).isZero();
  }

  @Test
  void statusCountsThoughTheConnectionIsCutBehindIt() throws IOException {
    sentry.answer(Reply.of(200).withCutBody(), Reply.of(503).withCutBody());

    assertThat(endpoint().send(death()).outcome()).isEqualTo(Outcome.DELIVERED);
    assertThat(endpoint().send(death()).status()).isEqualTo(503);
  }

  @Test
  void nobodyThereIsAFailure() throws IOException {
    int port;
    try (ServerSocket socket = new ServerSocket(0)) {
      port = socket.getLocalPort();
    }

    SentryReply reply =
        SentryEndpoint.builder("http://k3y@localhost:" + port + "/1").build().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.FAILED);
    assertThat(reply.text())
        .startsWith("to=localhost:" + port + "/1, error=ConnectException")
        .doesNotContain("k3y");
  }

  @Test
  void proxyGetsTheRequest() throws IOException {
    String dsn = "http://" + FakeSentry.KEY + "@sentry.invalid/" + FakeSentry.PROJECT;

    SentryReply reply =
        SentryEndpoint.builder(dsn).proxy("localhost", sentry.port()).build().send(death());

    assertThat(reply.outcome()).isEqualTo(Outcome.DELIVERED);
    assertThat(sentry.only().headers()).containsEntry("host", "sentry.invalid");
  }

  @Test
  void ownCertificateIsTrustedWhenGivenAndOnlyThen(@TempDir Path dir) throws Exception {
    Path store = dir.resolve("store.p12");
    keytool(
        "-genkeypair",
        "-keystore",
        store,
        "-alias",
        "s",
        "-keyalg",
        "EC",
        "-dname",
        "CN=localhost",
        "-ext",
        "SAN=dns:localhost",
        "-storepass",
        "changeit",
        "-storetype",
        "PKCS12");
    Path pem = dir.resolve("ca.pem");
    keytool(
        "-exportcert",
        "-rfc",
        "-keystore",
        store,
        "-alias",
        "s",
        "-storepass",
        "changeit",
        "-file",
        pem);
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, "changeit".toCharArray());
    }
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    factory.init(keys, "changeit".toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(factory.getKeyManagers(), null, null);
    try (FakeSentry secure = new FakeSentry(context)) {
      SentryReply without = SentryEndpoint.builder(secure.dsn()).build().send(death());
      SentryReply with =
          SentryEndpoint.builder(secure.dsn()).certificates(pem).build().send(death());

      assertThat(without.outcome()).isEqualTo(Outcome.FAILED);
      assertThat(without.text()).contains("SSLHandshakeException");
      assertThat(with.outcome()).isEqualTo(Outcome.DELIVERED);
      assertThat(secure.received()).hasSize(1);
    }
  }

  private static void keytool(Object... arguments) throws Exception {
    java.util.List<String> command = new java.util.ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    for (Object argument : arguments) {
      command.add(argument.toString());
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
  }

  @Test
  void fileWithoutCertificateIsRefusedByName(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("ca.pem"), "");
    Path rubbish = Files.writeString(dir.resolve("rubbish.pem"), "rubbish");

    assertThatThrownBy(() -> SentryEndpoint.builder(sentry.dsn()).certificates(file).build())
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("no certificate: file=" + file);
    assertThatThrownBy(() -> SentryEndpoint.builder(sentry.dsn()).certificates(rubbish).build())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("file=" + rubbish);
  }

  @Test
  void runThatEndedInOrderIsNotSent() {
    Report clean =
        ReportOfBytes.read(BoxBuilder.box().beat(1).end("CLEAN", "RETURNED", 10).bytes());

    assertThatThrownBy(() -> endpoint().send(clean))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("run=" + BoxBuilder.RUN_ID);
  }

  @Test
  void envelopeToLookAtIsTheOneThatIsSent() throws IOException {
    byte[] look = endpoint().envelope(death());
    endpoint().send(death());

    assertThat(look).isEqualTo(sentry.only().envelope());
  }
}
