package cairn.sentry;

import cairn.report.Report;
import io.sentry.SentryEvent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * A project of Sentry that dead runs are sent to, without the application and without sentry-java's
 * transport. One thread. docs/SENTRY-SEND.md says what each reply means.
 *
 * <p>Sends each event once, but for one that is too large: that is trimmed harder and sent once
 * more. Whoever calls tries again, and knows from {@link SentryReply} when. While Sentry wants
 * nothing, nothing is sent. Redirects are not followed. Neither the key nor the secret of the DSN
 * is in a message.
 */
public final class SentryEndpoint {
  /** What this sender is called at Sentry. */
  static final String CLIENT = "cairn/" + Version.TEXT;

  /** When Sentry says that an event is too large; what its user documentation has as a limit. */
  static final int SMALL_BYTES = 200_000;

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
  private static final int ANSWER_BYTES = 16 * 1024;
  private static final int TEXT_LENGTH = 300;
  private static final Pattern DETAIL = Pattern.compile("\"detail\"\\s*:\\s*\"([^\"]*)\"");
  private static final Pattern ID = Pattern.compile("\"id\"\\s*:");

  private final Dsn dsn;
  private final Duration timeout;
  private final Clock clock;
  private final HttpClient client;
  private final RateLimits limits;

  private SentryEndpoint(Builder builder) throws IOException {
    dsn = builder.dsn;
    timeout = builder.timeout;
    clock = builder.clock;
    limits = new RateLimits(clock);
    HttpClient.Builder client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(timeout.compareTo(CONNECT_TIMEOUT) < 0 ? timeout : CONNECT_TIMEOUT)
            .followRedirects(HttpClient.Redirect.NEVER);
    InetSocketAddress proxy = builder.proxy;
    if (proxy != null) {
      client.proxy(ProxySelector.of(proxy));
    }
    Path certificates = builder.certificates;
    if (certificates != null) {
      client.sslContext(trusting(certificates));
    }
    this.client = client.build();
  }

  /**
   * {@return a builder for the endpoint of that DSN}
   *
   * @throws IllegalArgumentException if it is none; the message says why, and nothing of it
   */
  public static Builder builder(String dsn) {
    return new Builder(Dsn.of(Objects.requireNonNull(dsn, "dsn")));
  }

  /** Makes an endpoint. One thread. */
  public static final class Builder {
    private final Dsn dsn;
    private Duration timeout = Duration.ofSeconds(30);
    private Clock clock = Clock.systemUTC();
    private @Nullable InetSocketAddress proxy;
    private @Nullable Path certificates;

    private Builder(Dsn dsn) {
      this.dsn = dsn;
    }

    /**
     * How long one sending may take, 30 s unless set.
     *
     * @return this
     */
    public Builder timeout(Duration timeout) {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException(
            "value is too small: timeout=" + timeout + " (give more than nothing)");
      }
      this.timeout = timeout;
      return this;
    }

    /**
     * An HTTP proxy to go through. Unless set, what {@code https.proxyHost} and its like say.
     *
     * @return this
     */
    public Builder proxy(String host, int port) {
      this.proxy = InetSocketAddress.createUnresolved(Objects.requireNonNull(host, "host"), port);
      return this;
    }

    /**
     * A file with certificates in PEM to trust besides those that the JVM trusts.
     *
     * @return this
     */
    public Builder certificates(Path file) {
      this.certificates = Objects.requireNonNull(file, "file");
      return this;
    }

    /**
     * What tells the time, the system's clock unless set.
     *
     * @return this
     */
    public Builder clock(Clock clock) {
      this.clock = Objects.requireNonNull(clock, "clock");
      return this;
    }

    /**
     * {@return the endpoint} Sends nothing yet.
     *
     * @throws IOException if the certificates are not readable
     */
    public SentryEndpoint build() throws IOException {
      return new SentryEndpoint(this);
    }
  }

  private static SSLContext trusting(Path file) throws IOException {
    try {
      KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
      store.load(null, null);
      Collection<? extends Certificate> own =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(Files.readAllBytes(file)));
      if (own.isEmpty()) {
        throw new IOException(
            "no certificate: file=" + file + " (give a file with certificates in PEM)");
      }
      int number = 0;
      for (Certificate certificate : own) {
        store.setCertificateEntry("own-" + number++, certificate);
      }
      for (TrustManager manager : managers(null)) {
        if (manager instanceof X509TrustManager known) {
          for (X509Certificate certificate : known.getAcceptedIssuers()) {
            store.setCertificateEntry("known-" + number++, certificate);
          }
        }
      }
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers(store), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IOException(
          "certificates not readable: file="
              + file
              + ", error="
              + e.getMessage()
              + " (give a file with certificates in PEM)",
          e);
    }
  }

  private static TrustManager[] managers(@Nullable KeyStore store) throws GeneralSecurityException {
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory.getTrustManagers();
  }

  /** {@return host and project, for messages} */
  public String name() {
    return dsn.name();
  }

  /**
   * {@return the envelope as it would be sent now, not compressed}
   *
   * @throws IllegalArgumentException if the run lives or ended in order: that is no event
   */
  public byte[] envelope(Report report) {
    return envelope(report, ReportEvent.MAX_BYTES);
  }

  private byte[] envelope(Report report, int maxBytes) {
    SentryEvent event = ReportEvent.of(report, maxBytes);
    if (event == null) {
      throw new IllegalArgumentException(
          "run is no event: run="
              + report.run().id()
              + ", cause="
              + report.verdict().cause()
              + " (send a run that died)");
    }
    return Envelope.of(event, clock.instant());
  }

  /**
   * Sends the event of that run.
   *
   * @return what became of it, whatever happened
   * @throws IllegalArgumentException if the run lives or ended in order: that is no event
   * @throws InterruptedIOException if the thread was interrupted; it stays so
   */
  public SentryReply send(Report report) throws InterruptedIOException {
    SentryReply reply = sendOnce(report, ReportEvent.MAX_BYTES);
    return reply.status() == 413 ? sendOnce(report, SMALL_BYTES) : reply;
  }

  private SentryReply sendOnce(Report report, int maxBytes) throws InterruptedIOException {
    byte[] envelope = envelope(report, maxBytes);
    Instant limited = limits.until(RateLimits.ERROR);
    if (limited != null) {
      return new SentryReply(
          SentryReply.Outcome.LIMITED, 0, limited, "to=" + name() + ", until=" + limited);
    }
    HttpRequest request =
        HttpRequest.newBuilder(dsn.envelopes())
            .header("Content-Type", "application/x-sentry-envelope")
            .header("Content-Encoding", "gzip")
            .header("Accept", "application/json")
            .header("User-Agent", CLIENT)
            .header("X-Sentry-Auth", dsn.auth(CLIENT))
            .POST(HttpRequest.BodyPublishers.ofByteArray(Envelope.gzip(envelope)))
            .build();
    Answer answer = new Answer();
    String error = exchange(request, answer);
    HttpResponse.ResponseInfo info = answer.info;
    return info == null
        ? new SentryReply(SentryReply.Outcome.FAILED, 0, null, "to=" + name() + ", error=" + error)
        : reply(info.statusCode(), info.headers(), answer.text());
  }

  /** What came back. A status counts as soon as it is there, also if the rest never comes. */
  private static final class Answer implements HttpResponse.BodyHandler<Void> {
    volatile HttpResponse.@Nullable ResponseInfo info;
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();

    @Override
    public HttpResponse.BodySubscriber<Void> apply(HttpResponse.ResponseInfo info) {
      this.info = info;
      return HttpResponse.BodySubscribers.ofByteArrayConsumer(part -> part.ifPresent(this::add));
    }

    private synchronized void add(byte[] part) {
      body.write(part, 0, Math.min(part.length, ANSWER_BYTES - body.size()));
    }

    synchronized String text() {
      return body.toString(StandardCharsets.UTF_8);
    }
  }

  /** {@return why there is no reply, or not all of one; null if all is well} */
  private @Nullable String exchange(HttpRequest request, Answer answer)
      throws InterruptedIOException {
    CompletableFuture<HttpResponse<Void>> response = client.sendAsync(request, answer);
    try {
      response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return null;
    } catch (TimeoutException e) {
      response.cancel(true);
      return "no reply within " + timeout.toMillis() + " ms";
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof Error severe && !(cause instanceof LinkageError)) {
        throw severe;
      }
      return describe(cause == null ? e : cause);
    } catch (InterruptedException e) {
      response.cancel(true);
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted: to=" + name());
    }
  }

  private static String describe(Throwable failure) {
    String message = failure.getMessage();
    return failure.getClass().getSimpleName() + (message == null ? "" : " " + cut(message));
  }

  private SentryReply reply(int status, HttpHeaders headers, String body) {
    limits.take(headers.allValues("X-Sentry-Rate-Limits"));
    String retryAfter = headers.firstValue("Retry-After").orElse(null);
    if (status == 429 && limits.until(RateLimits.ERROR) == null) {
      limits.takeBare(retryAfter);
    }
    String error = headers.firstValue("X-Sentry-Error").orElse("");
    Matcher detail = DETAIL.matcher(body);
    if (error.isEmpty() && detail.find()) {
      error = String.valueOf(detail.group(1));
    }
    String text =
        "to=" + name() + ", status=" + status + (error.isEmpty() ? "" : ", error=" + cut(error));
    if (status / 100 == 2) {
      return new SentryReply(SentryReply.Outcome.DELIVERED, status, null, text);
    }
    if (status == 429) {
      Instant until = limits.until(RateLimits.ERROR);
      return new SentryReply(
          SentryReply.Outcome.LIMITED,
          status,
          until == null ? clock.instant() : until,
          text + ", until=" + (until == null ? clock.instant() : until));
    }
    if (status / 100 == 5 || status == 408) {
      Duration wait =
          retryAfter == null ? null : RateLimits.retryAfter(retryAfter, clock.instant());
      return new SentryReply(
          SentryReply.Outcome.FAILED,
          status,
          wait == null ? null : clock.instant().plus(wait),
          text);
    }
    return new SentryReply(
        isOfSentry(headers, body) || status == 413
            ? SentryReply.Outcome.REFUSED
            : SentryReply.Outcome.BLOCKED,
        status,
        null,
        text);
  }

  /** {@return whether Sentry wrote that: its replies are JSON, or have headers of its own} */
  private static boolean isOfSentry(HttpHeaders headers, String body) {
    String text = body.strip();
    return headers.firstValue("X-Sentry-Error").isPresent()
        || headers.firstValue("X-Sentry-Rate-Limits").isPresent()
        || (text.startsWith("{") && (DETAIL.matcher(text).find() || ID.matcher(text).find()));
  }

  private static String cut(String text) {
    return text.length() <= TEXT_LENGTH ? text : text.substring(0, TEXT_LENGTH) + "…";
  }
}
