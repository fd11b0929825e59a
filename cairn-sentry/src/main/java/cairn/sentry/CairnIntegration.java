package cairn.sentry;

import cairn.Recorder;
import io.sentry.IScopes;
import io.sentry.ISpanFactory;
import io.sentry.Integration;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import java.io.Closeable;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Puts Cairn's box under sentry-java: what the scope holds survives any death of the process, and a
 * run that died is reported to Sentry at the next start.
 *
 * <pre>{@code
 * Sentry.init(options -> {
 *   options.setDsn(dsn);
 *   options.addIntegration(new CairnIntegration());
 * });
 * }</pre>
 *
 * <p>A Spring bean of this type is enough for Sentry's Spring Boot starter. Works with sentry-java
 * 8.52 to 8.63. Nothing here throws into the application, waits on its threads, or logs through
 * anything but {@code System.Logger}.
 */
public final class CairnIntegration implements Integration, Closeable {
  private final @Nullable Recorder given;
  private final ReentrantLock lock = new ReentrantLock();

  /** Guarded by lock; null before Sentry is started and after it is closed. */
  private @Nullable Started started;

  /** What one start of Sentry has, until its close. */
  private record Started(
      Recorder recorder,
      boolean isOwn,
      SentryOptions options,
      CairnScopeObserver observer,
      RequestScopes requests,
      WatchingSpanFactory factory,
      CatchUp catchUp,
      DeadRuns deadRuns) {
    void close() {
      observer.close();
      factory.close();
      ISpanFactory now = options.getSpanFactory();
      if (now instanceof WatchingSpanFactory watching && watching == factory) {
        options.setSpanFactory(factory.factory());
      }
      catchUp.close();
      deadRuns.close();
      requests.close();
      if (isOwn) {
        recorder.close();
      }
    }
  }

  /**
   * Records through a recorder of its own, opened when Sentry starts and closed with it: in {@code
   * <cacheDirPath>/cairn}, if Sentry has a cache directory and {@code cairn.dir} is not set; with
   * Sentry's release and environment; named by {@code cairn.app}, else by the release's part before
   * {@code @}, else {@code cairn}.
   */
  public CairnIntegration() {
    given = null;
  }

  /**
   * Records through a recorder of the application's, which stays open when Sentry is closed.
   *
   * @param recorder as {@code Recorder.open} gave it
   */
  public CairnIntegration(Recorder recorder) {
    given = java.util.Objects.requireNonNull(recorder, "recorder");
  }

  @Override
  public void register(IScopes scopes, SentryOptions options) {
    lock.lock();
    try {
      if (started != null) {
        started.close(); // Sentry was started again
      }
      started = start(scopes, options);
    } catch (RuntimeException | LinkageError e) {
      Faults.warn("Sentry's scope is not recorded: error=" + e, e);
    } finally {
      lock.unlock();
    }
  }

  private @Nullable Started start(IScopes scopes, SentryOptions options) {
    Recorder recorder = given == null ? OptionsRecorder.open(options) : given;
    if (!recorder.isEnabled()) {
      Faults.warn("Sentry's scope is not recorded: recorder=" + recorder.mode(), null);
      return null;
    }
    Faults faults = new Faults();
    OpenTransactions transactions = new OpenTransactions(recorder.openSpans(), faults);
    // Not those of `scopes`, which stands for whichever are current.
    IScopes current = Sentry.getCurrentScopes();
    RunMirror run =
        new RunMirror(
            recorder, current.getScope(), current.getIsolationScope(), current.getGlobalScope());
    RequestScopes requests = new RequestScopes(run, transactions);
    CairnScopeObserver observer =
        new CairnScopeObserver(recorder, options, run, requests, transactions, faults);
    WatchingSpanFactory factory = new WatchingSpanFactory(options.getSpanFactory(), transactions);
    run.options(OptionsRecorder.options(options));
    observer.catchUp();
    options.addScopeObserver(observer);
    options.addEventProcessor(observer.beforeEvents());
    options.setSpanFactory(factory);
    DeadRuns deadRuns = new DeadRuns(scopes, options, recorder);
    deadRuns.start();
    CatchUp catchUp = new CatchUp(options, run, observer);
    catchUp.start();
    return new Started(
        recorder, given == null, options, observer, requests, factory, catchUp, deadRuns);
  }

  /**
   * Called by Sentry when it is closed: records nothing any more and, if the recorder is its own,
   * ends the run in order. A second call does nothing.
   */
  @Override
  public void close() {
    lock.lock();
    try {
      if (started != null) {
        started.close();
        started = null;
      }
    } finally {
      lock.unlock();
    }
  }

  /** For tests: does at once what is done once a second. */
  void catchUp() {
    lock.lock();
    try {
      if (started != null) {
        started.catchUp().once();
      }
    } finally {
      lock.unlock();
    }
  }
}
