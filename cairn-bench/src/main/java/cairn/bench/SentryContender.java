package cairn.bench;

import io.sentry.Hint;
import io.sentry.ISpan;
import io.sentry.ITransaction;
import io.sentry.Sentry;
import io.sentry.SentryEnvelope;
import io.sentry.SentryOptions;
import io.sentry.transport.ITransport;
import io.sentry.transport.RateLimiter;
import org.jspecify.annotations.Nullable;

/** sentry-java: a root is a transaction, handed on to a transport that sends nothing. */
final class SentryContender extends SpanContender {
  private static final String OPERATION = "http.server";

  private final boolean sampled;
  private final Nowhere transport = new Nowhere();

  SentryContender(boolean sampled) {
    this.sampled = sampled;
    SentryOptions options = new SentryOptions();
    options.setDsn("http://key@127.0.0.1:9/1");
    // The SDK's own no-op transport is replaced by the one over HTTP.
    options.setTransportFactory((unused, details) -> transport);
    options.setEnableAutoSessionTracking(false);
    options.setTracesSampleRate(sampled ? 1.0 : 0.0);
    Sentry.init(options);
    if (!Sentry.isEnabled()) {
      throw new IllegalStateException("sentry is not enabled");
    }
  }

  private static final class Nowhere implements ITransport {
    /** Not exact when several threads count. */
    private long envelopes;

    @Override
    public void send(SentryEnvelope envelope, Hint hint) {
      envelopes++;
    }

    @Override
    public void flush(long timeoutMillis) {}

    @Override
    public @Nullable RateLimiter getRateLimiter() {
      return null;
    }

    @Override
    public void close(boolean isRestarting) {}

    @Override
    public void close() {}
  }

  private static ITransaction transaction() {
    return Sentry.startTransaction(SpanPayload.ROOT, OPERATION);
  }

  @Override
  Object root(int i) {
    return finished(transaction());
  }

  @Override
  Object child(int i) {
    return cannot("child");
  }

  @Override
  Object fourAttributes(int i) {
    return fourLate(i);
  }

  @Override
  Object fourLate(int i) {
    ITransaction span = transaction();
    span.setData("http.route", SpanPayload.route(i));
    span.setData("http.response.status_code", SpanPayload.status(i));
    span.setData("cache.ratio", SpanPayload.ratio(i));
    span.setData("cache.hit", SpanPayload.hit(i));
    return finished(span);
  }

  @Override
  Object tenAttributes(int i) {
    ITransaction span = transaction();
    span.setData("http.request.method", "GET");
    span.setData("http.route", SpanPayload.route(i));
    span.setData("url.path", SpanPayload.path(i));
    span.setData("url.scheme", "https");
    span.setData("server.address", "shop.example");
    span.setData("server.port", SpanPayload.port(i));
    span.setData("client.address", SpanPayload.client(i));
    span.setData("user_agent.original", "shop-frontend/4.18.2 (linux; x86_64)");
    span.setData("network.protocol.version", "1.1");
    span.setData("http.response.status_code", SpanPayload.status(i));
    return finished(span);
  }

  @Override
  Object list(int i) {
    ITransaction span = transaction();
    span.setData("cart.skus", SpanPayload.skus(i));
    return finished(span);
  }

  @Override
  Object childCurrent(int i) {
    return cannot("child, current");
  }

  @Override
  Object keptBuilder(int i) {
    return cannot("kept builder");
  }

  @Override
  Object exception(int i) {
    ITransaction span = transaction();
    span.setThrowable(SpanPayload.FAILURE);
    return finished(span);
  }

  @Override
  Object trace(Calls.Caller caller) {
    ITransaction root = transaction();
    for (int n = 0; n < CHILDREN; n++) {
      caller.next();
      finished(root.startChild("db.query", SpanPayload.CHILD));
    }
    return finished(root);
  }

  private static ISpan finished(ISpan span) {
    span.finish();
    return span;
  }

  @Override
  void enter() {}

  @Override
  void finish(long spans) {
    Sentry.close();
    if (sampled) {
      Evidence.require(
          transport.envelopes >= spans / (2 * CHILDREN), "envelopes", transport.envelopes, spans);
    }
  }
}
