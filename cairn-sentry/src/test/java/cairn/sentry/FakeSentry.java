package cairn.sentry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.sentry.EnvelopeReader;
import io.sentry.JsonSerializer;
import io.sentry.SentryEnvelope;
import io.sentry.SentryEnvelopeItem;
import io.sentry.SentryEvent;
import io.sentry.SentryOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;
import javax.net.ssl.SSLContext;

/**
 * A Sentry on loopback that believes nothing: it checks every header, reads each envelope as
 * sentry-java does, and answers as it is told.
 */
public final class FakeSentry implements AutoCloseable {
  public static final String KEY = "0123456789abcdef0123456789abcdef";
  public static final String PROJECT = "42";

  /**
   * What it answers.
   *
   * @param status -1: none, it cuts the connection
   * @param cutBody whether it cuts the connection behind the headers
   * @param hold it waits for that before it answers
   */
  public record Reply(
      int status, Map<String, String> headers, String body, boolean cutBody, CountDownLatch hold) {
    private static final CountDownLatch NOT_HELD = new CountDownLatch(0);

    public static Reply of(int status) {
      return new Reply(
          status,
          Map.of("Content-Type", "application/json"),
          status / 100 == 2 ? "{\"id\":\"0\"}" : "{\"detail\":\"told so\",\"causes\":[]}",
          false,
          NOT_HELD);
    }

    /** What something that is not Sentry answers. */
    public static Reply html(int status) {
      return new Reply(
          status,
          Map.of("Content-Type", "text/html"),
          "<html>Blocked by policy</html>",
          false,
          NOT_HELD);
    }

    /** No answer, only a closed connection. */
    public static Reply cut() {
      return new Reply(-1, Map.of(), "", false, NOT_HELD);
    }

    public Reply with(String name, String value) {
      Map<String, String> more = new LinkedHashMap<>(headers);
      more.put(name, value);
      return new Reply(status, more, body, cutBody, hold);
    }

    /** The headers arrive, the body never does. */
    public Reply withCutBody() {
      return new Reply(status, headers, body, true, hold);
    }

    public Reply heldUntil(CountDownLatch latch) {
      return new Reply(status, headers, body, cutBody, latch);
    }
  }

  /** An envelope that arrived and is in order. */
  public record Received(
      Map<String, String> headers, byte[] envelope, Instant sentAt, SentryEvent event) {
    /** {@return the event as bytes, without the two lines before it} */
    public byte[] eventBytes() {
      int line = 0;
      int at = 0;
      while (line < 2) {
        line += envelope[at++] == '\n' ? 1 : 0;
      }
      return Arrays.copyOfRange(envelope, at, envelope.length - 1);
    }
  }

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Deque<Reply> replies = new ArrayDeque<>();
  private final List<Received> received = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private String path = "/api/" + PROJECT + "/envelope/";
  private String secret = "";
  private boolean isHttps;

  public FakeSentry() {
    this(null);
  }

  public FakeSentry(SSLContext https) {
    try {
      InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
      if (https == null) {
        server = HttpServer.create(any, 0);
      } else {
        HttpsServer secure = HttpsServer.create(any, 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(https));
        server = secure;
        isHttps = true;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  public int port() {
    return server.getAddress().getPort();
  }

  public String dsn() {
    String key = secret.isEmpty() ? KEY : KEY + ":" + secret;
    String above = path.substring(0, path.indexOf("/api/"));
    return (isHttps ? "https://" : "http://")
        + key
        + "@localhost:"
        + port()
        + above
        + "/"
        + PROJECT;
  }

  /** {@return what the endpoint is called in messages} */
  public String name() {
    return "localhost:" + port() + path.substring(0, path.indexOf("/api/")) + "/" + PROJECT;
  }

  /** Has a secret from now on, and wants it. */
  public FakeSentry secret(String secret) {
    this.secret = secret;
    return this;
  }

  /** Is below that path from now on. */
  public FakeSentry below(String above) {
    this.path = above + "/api/" + PROJECT + "/envelope/";
    return this;
  }

  /** Answers so, one after the other, then with 200. */
  public synchronized FakeSentry answer(Reply... next) {
    replies.addAll(List.of(next));
    return this;
  }

  /**
   * {@return what arrived until now}
   *
   * @throws AssertionError if any of it was not as it has to be
   */
  public synchronized List<Received> received() {
    if (!problems.isEmpty()) {
      throw new AssertionError("sent to Sentry, and wrong: " + problems);
    }
    return List.copyOf(received);
  }

  /** {@return the one envelope that arrived} */
  public Received only() {
    List<Received> all = received();
    if (all.size() != 1) {
      throw new AssertionError("arrived: " + all.size());
    }
    return all.get(0);
  }

  /** Waits until so many have arrived. */
  public synchronized List<Received> await(int count) throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (received.size() < count && problems.isEmpty()) {
      long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
      if (left <= 0) {
        throw new AssertionError("arrived: " + received.size() + ", expected: " + count);
      }
      wait(left);
    }
    return received();
  }

  private void handle(HttpExchange exchange) throws IOException {
    Reply reply;
    byte[] body = exchange.getRequestBody().readAllBytes();
    synchronized (this) {
      try {
        received.add(check(exchange, body));
      } catch (Exception | AssertionError e) {
        problems.add(e.toString());
      }
      reply = replies.isEmpty() ? Reply.of(200) : replies.removeFirst();
      notifyAll();
    }
    try {
      if (!reply.hold().await(60, TimeUnit.SECONDS)) {
        throw new IOException("held too long");
      }
    } catch (InterruptedException e) {
      exchange.close();
      return;
    }
    if (reply.status() < 0) {
      exchange.close();
      return;
    }
    byte[] text = reply.body().getBytes(StandardCharsets.UTF_8);
    reply.headers().forEach((name, value) -> exchange.getResponseHeaders().add(name, value));
    exchange.sendResponseHeaders(reply.status(), text.length + (reply.cutBody() ? 100 : 0));
    exchange.getResponseBody().write(text);
    if (reply.cutBody()) {
      exchange.getResponseBody().flush();
    }
    exchange.close();
  }

  private Received check(HttpExchange exchange, byte[] body) throws Exception {
    Map<String, String> headers = new LinkedHashMap<>();
    exchange
        .getRequestHeaders()
        .forEach(
            (name, values) -> {
              equal(name, 1, values.size());
              headers.put(name.toLowerCase(java.util.Locale.ROOT), values.get(0));
            });
    equal("method", "POST", exchange.getRequestMethod());
    equal("path", path, exchange.getRequestURI().getPath());
    equal("query", null, exchange.getRequestURI().getQuery());
    equal("content-type", "application/x-sentry-envelope", headers.get("content-type"));
    equal("content-encoding", "gzip", headers.get("content-encoding"));
    equal("accept", "application/json", headers.get("accept"));
    equal("content-length", String.valueOf(body.length), headers.get("content-length"));
    equal("user-agent", "cairn/" + Version.TEXT, headers.get("user-agent"));
    equal(
        "x-sentry-auth",
        "Sentry sentry_version=7,sentry_client=cairn/"
            + Version.TEXT
            + ",sentry_key="
            + KEY
            + (secret.isEmpty() ? "" : ",sentry_secret=" + secret),
        headers.get("x-sentry-auth"));
    byte[] envelope;
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(body))) {
      envelope = in.readAllBytes();
    }
    return read(headers, envelope);
  }

  /** Reads an envelope as sentry-java does. */
  static Received read(Map<String, String> headers, byte[] envelope) throws Exception {
    String text = new String(envelope, StandardCharsets.UTF_8);
    if (!secretFree(text)) {
      throw new AssertionError("the envelope has the key");
    }
    equal("sent_at", 1, text.split("\"sent_at\"", -1).length - 1);
    JsonSerializer serializer = new JsonSerializer(new SentryOptions());
    SentryEnvelope read = new EnvelopeReader(serializer).read(new ByteArrayInputStream(envelope));
    if (read == null) {
      throw new AssertionError("not an envelope");
    }
    List<SentryEnvelopeItem> items = new ArrayList<>();
    read.getItems().forEach(items::add);
    equal("items", 1, items.size());
    SentryEvent event = Objects.requireNonNull(items.get(0).getEvent(serializer), "event");
    equal("event id", read.getHeader().getEventId(), event.getEventId());
    equal("sdk", read.getHeader().getSdkVersion(), event.getSdk());
    if (items.get(0).getData().length > ReportEvent.MAX_BYTES) {
      throw new AssertionError("larger than Sentry takes: " + items.get(0).getData().length);
    }
    return new Received(
        headers,
        envelope,
        Objects.requireNonNull(read.getHeader().getSentAt(), "sent_at").toInstant(),
        event);
  }

  private static boolean secretFree(String text) {
    return !text.contains(KEY);
  }

  private static void equal(String what, Object expected, Object actual) {
    if (!Objects.equals(expected, actual)) {
      throw new AssertionError(what + ": expected " + expected + ", was " + actual);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
