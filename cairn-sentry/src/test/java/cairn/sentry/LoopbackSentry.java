package cairn.sentry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.sentry.EnvelopeReader;
import io.sentry.JsonSerializer;
import io.sentry.SentryEnvelope;
import io.sentry.SentryEnvelopeItem;
import io.sentry.SentryEvent;
import io.sentry.SentryItemType;
import io.sentry.SentryOptions;
import io.sentry.Session;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPInputStream;

/** A server for sentry-java's own transport: takes events and sessions, answers as it is told. */
public final class LoopbackSentry implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final JsonSerializer serializer = new JsonSerializer(new SentryOptions());
  private final List<SentryEvent> events = new ArrayList<>();
  private final List<String> eventTexts = new ArrayList<>();
  private final List<Session> sessions = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private int status = 200;

  public LoopbackSentry() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/", this::handle);
    server.start();
  }

  public String dsn() {
    return "http://key@localhost:" + server.getAddress().getPort() + "/42";
  }

  synchronized void answer(int status) {
    this.status = status;
  }

  public synchronized List<SentryEvent> events() {
    if (!problems.isEmpty()) {
      throw new AssertionError(problems);
    }
    return List.copyOf(events);
  }

  /** {@return the events as they arrived, as JSON} */
  public synchronized List<String> eventTexts() {
    return List.copyOf(eventTexts);
  }

  synchronized List<Session> sessions() {
    return List.copyOf(sessions);
  }

  /** Waits until so many events have arrived. */
  public synchronized List<SentryEvent> await(int count) throws InterruptedException {
    awaitAny(() -> events.size() >= count);
    return events();
  }

  synchronized List<Session> awaitSessions(int count) throws InterruptedException {
    awaitAny(() -> sessions.size() >= count);
    return sessions();
  }

  private synchronized void awaitAny(java.util.function.BooleanSupplier there)
      throws InterruptedException {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!there.getAsBoolean() && problems.isEmpty()) {
      long left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
      if (left <= 0) {
        throw new AssertionError(
            "arrived: events=" + events.size() + ", sessions=" + sessions.size());
      }
      wait(left);
    }
  }

  private void handle(HttpExchange exchange) throws IOException {
    int answer;
    byte[] body = exchange.getRequestBody().readAllBytes();
    synchronized (this) {
      answer = status;
      try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(body))) {
        SentryEnvelope envelope = new EnvelopeReader(serializer).read(in);
        for (SentryEnvelopeItem item : envelope.getItems()) {
          if (item.getHeader().getType() == SentryItemType.Event) {
            events.add(item.getEvent(serializer));
            eventTexts.add(new String(item.getData(), StandardCharsets.UTF_8));
          } else if (item.getHeader().getType() == SentryItemType.Session) {
            sessions.add(
                serializer.deserialize(
                    new BufferedReader(
                        new InputStreamReader(
                            new ByteArrayInputStream(item.getData()), StandardCharsets.UTF_8)),
                    Session.class));
          }
        }
      } catch (Exception e) {
        problems.add(e.toString());
      }
      notifyAll();
    }
    byte[] text = "{\"id\":\"0\"}".getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(answer, text.length);
    exchange.getResponseBody().write(text);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
