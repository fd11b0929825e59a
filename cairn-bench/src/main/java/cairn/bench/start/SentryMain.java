package cairn.bench.start;

import io.sentry.NoOpTransportFactory;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import io.sentry.cache.PersistingScopeObserver;

/** Initialises sentry-java and adds a breadcrumb; nothing is sent. */
public final class SentryMain {
  private SentryMain() {}

  /** Arguments: the cache directory, and "persist" to keep the scope there. */
  public static void main(String[] args) {
    SentryOptions options = new SentryOptions();
    options.setDsn("http://key@127.0.0.1:9/1");
    options.setTransportFactory(NoOpTransportFactory.getInstance());
    options.setEnableAutoSessionTracking(false);
    options.setEnableScopePersistence(args.length > 1);
    if (args.length > 1) {
      options.setCacheDirPath(args[0]);
      // On Android the SDK adds it itself; elsewhere nobody does.
      options.addScopeObserver(new PersistingScopeObserver(options));
    }
    Sentry.init(options);
    Sentry.addBreadcrumb("started", "app");
    if (!Sentry.isEnabled()) {
      System.exit(3);
    }
  }
}
