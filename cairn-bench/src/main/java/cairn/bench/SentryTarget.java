package cairn.bench;

import io.sentry.Breadcrumb;
import io.sentry.NoOpTransportFactory;
import io.sentry.Sentry;
import io.sentry.SentryLevel;
import io.sentry.SentryOptions;
import io.sentry.cache.PersistingScopeObserver;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** sentry-java, initialised in full, with a transport that sends nothing. */
final class SentryTarget implements Target {

  SentryTarget() {
    init(null);
  }

  /**
   * Initialises the SDK.
   *
   * @param cacheDirectory where the scope is persisted; null keeps it in memory
   */
  static void init(@Nullable Path cacheDirectory) {
    SentryOptions options = new SentryOptions();
    options.setDsn("http://key@127.0.0.1:9/1");
    options.setTransportFactory(NoOpTransportFactory.getInstance());
    options.setEnableAutoSessionTracking(false);
    options.setEnableScopePersistence(cacheDirectory != null);
    if (cacheDirectory != null) {
      options.setCacheDirPath(cacheDirectory.toString());
      // On Android the SDK adds it itself; elsewhere nobody does.
      options.addScopeObserver(new PersistingScopeObserver(options));
    }
    Sentry.init(options);
    if (!Sentry.isEnabled()) {
      throw new IllegalStateException("sentry is not enabled");
    }
  }

  static Breadcrumb breadcrumb(Payload.Event event) {
    Breadcrumb breadcrumb = new Breadcrumb();
    breadcrumb.setLevel(SentryLevel.INFO);
    breadcrumb.setCategory(event.category());
    breadcrumb.setMessage(event.message());
    breadcrumb.setData("url", event.url());
    breadcrumb.setData("status", event.status());
    breadcrumb.setData("millis", event.millis());
    return breadcrumb;
  }

  @Override
  public void record(int index) {
    Sentry.addBreadcrumb(breadcrumb(Payload.SMALL[index]));
  }

  @Override
  public void finish(long calls) {
    AtomicInteger kept = new AtomicInteger();
    Sentry.configureScope(scope -> kept.set(scope.getBreadcrumbs().size()));
    long expected = Math.min(calls, 100);
    Evidence.require(kept.get() == expected, "breadcrumbs kept", kept.get(), expected);
    Sentry.close();
  }
}
