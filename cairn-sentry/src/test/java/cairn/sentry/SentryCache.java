package cairn.sentry;

import io.sentry.Breadcrumb;
import io.sentry.Hint;
import io.sentry.ISentryExecutorService;
import io.sentry.Scope;
import io.sentry.SentryEnvelope;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import io.sentry.SentryOptions;
import io.sentry.Session;
import io.sentry.SpanContext;
import io.sentry.SpanId;
import io.sentry.TracesSamplingDecision;
import io.sentry.cache.EnvelopeCache;
import io.sentry.cache.PersistingOptionsObserver;
import io.sentry.cache.PersistingScopeObserver;
import io.sentry.exception.ExceptionMechanismException;
import io.sentry.hints.SessionStartHint;
import io.sentry.protocol.Contexts;
import io.sentry.protocol.Mechanism;
import io.sentry.protocol.Request;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.User;
import io.sentry.util.HintUtils;
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * A cache directory that the SDK itself wrote. Uses no class but the SDK's and the JDK's, so that
 * it can be loaded again beside another version of it.
 */
public final class SentryCache {
  /** Of breadcrumb 0; the next ones come a second later each. */
  static final long FIRST_MILLIS = 1_796_000_000_000L;

  static final String TRACE_ID = "0102030405060708090a0b0c0d0e0f10";
  static final String SPAN_ID = "00000000000000ab";
  static final String REPLAY_ID = "f9eb3da29704412c8463ad3853417c04";

  private SentryCache() {}

  /** Runs each task at once, so that nothing is written later. */
  private static final class AtOnce implements ISentryExecutorService {
    @Override
    public Future<?> submit(Runnable task) {
      task.run();
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public <T> Future<T> submit(Callable<T> task) {
      try {
        return CompletableFuture.completedFuture(task.call());
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }

    @Override
    public Future<?> schedule(Runnable task, long delayMillis) {
      return submit(task);
    }

    @Override
    public void close(long timeoutMillis) {}

    @Override
    public boolean isClosed() {
      return false;
    }

    // Asked for by later versions.
    public void prewarm() {}
  }

  static SentryOptions options(String directory) {
    SentryOptions options = new SentryOptions();
    options.setDsn("http://public@127.0.0.1:1/42");
    options.setCacheDirPath(directory);
    options.setExecutorService(new AtOnce());
    options.setMaxBreadcrumbs(10);
    new File(options.getCacheDirPath()).mkdirs();
    return options;
  }

  static Breadcrumb breadcrumb(int number) {
    Breadcrumb breadcrumb = new Breadcrumb(new Date(FIRST_MILLIS + 1_000L * number));
    breadcrumb.setMessage("message " + number);
    breadcrumb.setCategory("db");
    breadcrumb.setType("query");
    breadcrumb.setLevel(SentryLevel.INFO);
    breadcrumb.setData("rows", number);
    return breadcrumb;
  }

  /** {@return the directory of its DSN} All twelve fields, the options, no envelope. */
  public static String writeScope(String directory) {
    SentryOptions options = options(directory);
    PersistingOptionsObserver persisted = new PersistingOptionsObserver(options);
    persisted.setRelease("shop@1.2.3+7");
    persisted.setDist("7");
    persisted.setEnvironment("prod");
    persisted.setSdkVersion(options.getSdkVersion());
    persisted.setProguardUuid("e4f2d3c1-0000-4000-8000-000000000001");
    persisted.setReplayErrorSampleRate(0.5);
    Map<String, String> optionTags = new LinkedHashMap<>();
    optionTags.put("region", "us");
    optionTags.put("host", "a");
    persisted.setTags(optionTags);

    PersistingScopeObserver scope = new PersistingScopeObserver(options);
    User user = new User();
    user.setId("42");
    user.setEmail("a@example.org");
    user.setData(new HashMap<>(Map.of("plan", "gold")));
    scope.setUser(user);
    scope.setTags(Map.of("region", "eu"));
    scope.setExtras(Map.of("note", "é \"quoted\"\n"));
    Contexts contexts = new Contexts();
    contexts.put("cart", Map.of("items", 3, "sum", 1.5));
    scope.setContexts(contexts);
    Request request = new Request();
    request.setUrl("http://shop/pay");
    request.setMethod("POST");
    scope.setRequest(request);
    scope.setLevel(SentryLevel.WARNING);
    scope.setFingerprint(List.of("a", "b"));
    scope.setTransaction("POST /pay");
    scope.setReplayId(new SentryId(REPLAY_ID));
    scope.setTrace(
        new SpanContext(
            new SentryId(TRACE_ID),
            new SpanId(SPAN_ID),
            "http.server",
            null,
            new TracesSamplingDecision(true)),
        new Scope(options));
    try {
      // Since 8.63.
      PersistingScopeObserver.class
          .getMethod("setEnvironment", String.class)
          .invoke(scope, "canary");
    } catch (ReflectiveOperationException e) {
      // The options say it.
    }
    for (int i = 0; i < 12; i++) {
      scope.addBreadcrumb(breadcrumb(i));
    }
    return options.getCacheDirPath();
  }

  /** Puts an envelope with an event beside it that a handled or an uncaught exception caused. */
  public static String writeEvent(String directory, long atMillis, boolean isHandled)
      throws IOException {
    SentryOptions options = options(directory);
    SentryEvent event = new SentryEvent(new Date(atMillis));
    SentryException exception = new SentryException();
    exception.setType("IllegalStateException");
    exception.setModule("java.lang");
    exception.setValue(isHandled ? "odd" : "boom");
    Mechanism mechanism = new Mechanism();
    mechanism.setHandled(isHandled);
    exception.setMechanism(mechanism);
    event.setExceptions(new ArrayList<>(List.of(exception)));
    event.setLevel(SentryLevel.FATAL);
    event.setServerName("web-1");
    event.setRelease("other@2.0");
    event.setEnvironment("test");
    event.setTag("from", "event");
    User user = new User();
    user.setId("7");
    event.setUser(user);
    event.setBreadcrumbs(new ArrayList<>(List.of(breadcrumb(0), breadcrumb(1))));
    if (!isHandled) {
      event.setThrowable(
          new ExceptionMechanismException(
              mechanism, new Exception("boom"), Thread.currentThread()));
    }
    SentryEnvelope envelope =
        SentryEnvelope.from(options.getSerializer(), event, options.getSdkVersion());
    EnvelopeCache.create(options).store(envelope, new Hint());
    return options.getCacheDirPath();
  }

  /** Begins a session, which stays open. */
  public static String writeSession(String directory) throws IOException {
    SentryOptions options = options(directory);
    Session session = new Session("device", new User(), "prod", "shop@1.2.3+7");
    SentryEnvelope envelope =
        SentryEnvelope.from(options.getSerializer(), session, options.getSdkVersion());
    EnvelopeCache.create(options)
        .store(envelope, HintUtils.createWithTypeCheckHint(new SessionStartHint()));
    return options.getCacheDirPath();
  }
}
