package cairn.sentry;

import cairn.OpenSpans;
import cairn.sentry.Mirror.Look;
import io.sentry.Breadcrumb;
import io.sentry.EventProcessor;
import io.sentry.Hint;
import io.sentry.IScope;
import io.sentry.IScopes;
import io.sentry.ITransaction;
import io.sentry.ScopeObserverAdapter;
import io.sentry.Sentry;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import io.sentry.SentryOptions;
import io.sentry.SpanContext;
import io.sentry.UncaughtExceptionHandlerIntegration;
import io.sentry.protocol.Contexts;
import io.sentry.protocol.Request;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.User;
import io.sentry.util.HintUtils;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Records each change of a scope of Sentry's at the call.
 *
 * <p>Any thread; never throws, never waits, no system call. What a returned call has changed
 * survives process death.
 */
final class CairnScopeObserver extends ScopeObserverAdapter {
  /*
   * Sentry does not say whose change it was: all scopes tell one observer. Looked at are the scopes of
   * the process (RunMirror) and the isolation scope of the calling thread if it is another
   * (RequestMirror); each records what differs from what it recorded last. A scope that is merely put
   * above them for a block (withScope) is looked at by neither: what it changes is of one event.
   *
   * Sentry announces a tag twice: the key, then the map. The key is kept for the map, which says
   * whose it is; if the map never came, the look once a second would find it.
   *
   * While a call is being recorded, the code of a value may call Sentry again (a toString that logs):
   * such a call is dropped, or it would never end.
   */

  // Of what is kept for a thread; JDK types only, or it would tie the thread to our class loader.
  private static final int INSIDE = 0;
  private static final int TAG_KEY = 1;
  private static final int EXTRA_KEY = 2;
  private static final int CRUMB = 3;
  private static final int KEPT = 4;

  private static final String DEFAULT_TYPE = "default";

  /** Category of the breadcrumb that says that those before it were cleared. */
  static final String CLEARED = ReportEvent.PREFIX + "cleared";

  /** Context that says under which id Sentry itself has reported the end of the run. */
  static final String CRASH_CONTEXT = ReportEvent.PREFIX + "crash";

  private final cairn.Scope runScope;
  private final OpenSpans spans;
  private final SentryOptions options;
  private final RunMirror run;
  private final RequestScopes requests;
  private final OpenTransactions transactions;
  private final Faults faults;

  @SuppressWarnings("ThreadLocalUsage") // one per start of Sentry: what it keeps is of no other
  private final ThreadLocal<@Nullable Object[]> calls = new ThreadLocal<>();

  private volatile boolean isClosed;

  CairnScopeObserver(
      cairn.Recorder recorder,
      SentryOptions options,
      RunMirror run,
      RequestScopes requests,
      OpenTransactions transactions,
      Faults faults) {
    this.runScope = recorder.scope();
    this.spans = recorder.openSpans();
    this.options = options;
    this.run = run;
    this.requests = requests;
    this.transactions = transactions;
    this.faults = faults;
  }

  /** Records nothing any more. */
  void close() {
    isClosed = true;
  }

  // Calls

  private @Nullable Object[] call() {
    @Nullable Object[] call = calls.get();
    if (call == null) {
      call = new @Nullable Object[KEPT];
      calls.set(call);
    }
    return call;
  }

  /** {@return whether the call is to be recorded; then {@link #leave} must follow} */
  private boolean enter(@Nullable Object[] call) {
    if (isClosed || call[INSIDE] != null || !options.isEnableScopePersistence()) {
      return false;
    }
    call[INSIDE] = true;
    return true;
  }

  private static void leave(@Nullable Object[] call) {
    call[INSIDE] = null;
  }

  private void changed(String name, int kind) {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      IScopes scopes = Sentry.getCurrentScopes();
      boolean isRequest = isRequest(scopes);
      run.look(kind, isRequest ? Look.PASSING : Look.ANNOUNCED);
      if (isRequest) {
        request(scopes).look(kind, Look.ANNOUNCED);
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note(name, e);
    } finally {
      leave(call);
    }
  }

  private boolean isRequest(IScopes scopes) {
    return scopes.getIsolationScope() != run.isolation();
  }

  private RequestMirror request(IScopes scopes) {
    RequestMirror request = requests.of(scopes);
    request.followTransaction();
    return request;
  }

  @Override
  public void setUser(@Nullable User user) {
    changed("setUser", Mirror.USER);
  }

  @Override
  public void setRequest(@Nullable Request request) {
    changed("setRequest", Mirror.REQUEST);
  }

  @Override
  public void setLevel(@Nullable SentryLevel level) {
    changed("setLevel", Mirror.LEVEL);
  }

  @Override
  public void setFingerprint(Collection<String> fingerprint) {
    changed("setFingerprint", Mirror.FINGERPRINT);
  }

  @Override
  public void setTransaction(@Nullable String transaction) {
    changed("setTransaction", Mirror.TRANSACTION);
  }

  // Since a later sentry-java; an older one never calls it.
  @Override
  public void setEnvironment(@Nullable String environment) {
    changed("setEnvironment", Mirror.ENVIRONMENT);
  }

  @Override
  public void setReplayId(SentryId replayId) {
    changed("setReplayId", Mirror.REPLAY);
  }

  // Tags and extras

  @Override
  public void setTag(String key, String value) {
    keep(TAG_KEY, key);
  }

  @Override
  public void removeTag(String key) {
    keep(TAG_KEY, key);
  }

  @Override
  public void setExtra(String key, String value) {
    keep(EXTRA_KEY, key);
  }

  @Override
  public void removeExtra(String key) {
    keep(EXTRA_KEY, key);
  }

  private void keep(int which, @Nullable String key) {
    @Nullable Object[] call = call();
    if (call[INSIDE] == null) {
      call[which] = key;
    }
  }

  private static @Nullable String take(@Nullable Object[] call, int which) {
    Object key = call[which];
    call[which] = null;
    return (String) key;
  }

  @Override
  public void setTags(Map<String, String> tags) {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      String key = take(call, TAG_KEY);
      IScopes scopes = Sentry.getCurrentScopes();
      if (isRequest(scopes)) {
        RequestMirror request = request(scopes);
        request.learn(tags);
        request.lookAtTag(key, Look.ANNOUNCED);
      } else {
        run.learn(tags);
      }
      run.lookAtTag(key, Look.ANNOUNCED);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("setTags", e);
    } finally {
      leave(call);
    }
  }

  @Override
  public void setExtras(Map<String, Object> extras) {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      String key = take(call, EXTRA_KEY);
      IScopes scopes = Sentry.getCurrentScopes();
      if (isRequest(scopes)) {
        request(scopes).lookAtExtra(key, Look.ANNOUNCED);
      }
      run.lookAtExtra(key, Look.ANNOUNCED);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("setExtras", e);
    } finally {
      leave(call);
    }
  }

  @Override
  public void setContexts(Contexts contexts) {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      IScopes scopes = Sentry.getCurrentScopes();
      boolean isRequest = isRequest(scopes);
      run.lookAtContexts(isRequest ? Look.PASSING : Look.ANNOUNCED);
      if (isRequest) {
        request(scopes).lookAtContexts(Look.ANNOUNCED);
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("setContexts", e);
    } finally {
      leave(call);
    }
  }

  // Trace

  @Override
  public void setTrace(@Nullable SpanContext trace, IScope scope) {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      if (run.indexOf(scope) >= 0) {
        ITransaction transaction = scope.getTransaction();
        if (transaction != null) {
          transactions.of(transaction);
        }
        run.lookAtAll(Look.PASSING);
      } else {
        RequestMirror request = requests.find(scope);
        if (request != null) {
          request.followTransaction();
          request.lookAtAll(Look.PASSING);
        }
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("setTrace", e);
    } finally {
      leave(call);
    }
  }

  // Breadcrumbs

  @Override
  public void addBreadcrumb(Breadcrumb breadcrumb) {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      spans.breadcrumb(
          RunMirror.level(breadcrumb.getLevel()),
          breadcrumb.getCategory(),
          breadcrumb.getMessage(),
          data(breadcrumb),
          spanId());
      call[CRUMB] = true;
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("addBreadcrumb", e);
    } finally {
      leave(call);
    }
  }

  private static @Nullable Map<String, ?> data(Breadcrumb breadcrumb) {
    Map<String, Object> data = breadcrumb.getData();
    String type = breadcrumb.getType();
    String origin = breadcrumb.getOrigin();
    boolean isTyped = type != null && !type.equals(DEFAULT_TYPE);
    if (data.isEmpty() && !isTyped && origin == null) {
      return null;
    }
    if (!isTyped && origin == null && SentryForms.of(data) == data) {
      return data;
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    data.forEach((key, value) -> all.put(key, SentryForms.of(value)));
    if (isTyped) {
      all.put(ReportEvent.PREFIX + "type", type);
    }
    if (origin != null) {
      all.put(ReportEvent.PREFIX + "origin", origin);
    }
    return all;
  }

  @Override
  public void setBreadcrumbs(Collection<Breadcrumb> breadcrumbs) {
    @Nullable Object[] call = call();
    if (call[CRUMB] != null) {
      call[CRUMB] = null; // the other half of addBreadcrumb
      return;
    }
    if (!enter(call)) {
      return;
    }
    try {
      if (breadcrumbs.isEmpty()) {
        String scope = isRequest(Sentry.getCurrentScopes()) ? "thread" : "run";
        spans.breadcrumb(
            cairn.Level.DEBUG, CLEARED, "breadcrumbs cleared", Map.of("scope", scope), spanId());
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("setBreadcrumbs", e);
    } finally {
      leave(call);
    }
  }

  /** {@return the id of the span that the calling thread's request is in; 0 if none} */
  private long spanId() {
    IScopes scopes = Sentry.getCurrentScopes();
    IScope isolation = scopes.getIsolationScope();
    ITransaction transaction = isolation.getTransaction();
    if (transaction == null) {
      transaction = scopes.getScope().getTransaction();
    }
    if (transaction != null && !transaction.isNoOp() && !transaction.isFinished()) {
      return SpanIds.of(transaction.getSpanContext().getSpanId());
    }
    if (isolation == run.isolation()) {
      return 0;
    }
    RequestMirror request = requests.find(isolation);
    return request == null ? 0 : request.spanId();
  }

  // What is not announced

  /** Finds what changed in silence. One thread at a time; never throws. */
  void catchUp() {
    @Nullable Object[] call = call();
    if (!enter(call)) {
      return;
    }
    try {
      transactions.catchUp();
      run.verify();
      run.lookAtAll(Look.DEEP);
      requests.catchUp();
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      faults.note("catchUp", e);
    } finally {
      leave(call);
    }
  }

  /** {@return what looks at the scopes before each event} */
  EventProcessor beforeEvents() {
    return new BeforeEvents();
  }

  private final class BeforeEvents implements EventProcessor {
    @Override
    public SentryEvent process(SentryEvent event, Hint hint) {
      @Nullable Object[] call = call();
      if (enter(call)) {
        try {
          IScopes scopes = Sentry.getCurrentScopes();
          run.lookAtAll(Look.DEEP);
          RequestMirror request = requests.find(scopes.getIsolationScope());
          if (request != null) {
            request.followTransaction();
            request.lookAtAll(Look.DEEP);
          }
          SentryId id = event.getEventId();
          if (id != null
              && HintUtils.hasType(
                  hint, UncaughtExceptionHandlerIntegration.UncaughtExceptionHint.class)) {
            runScope.context(CRASH_CONTEXT, Map.of("event_id", id.toString()));
          }
        } catch (RuntimeException | LinkageError | StackOverflowError e) {
          faults.note("process", e);
        } finally {
          leave(call);
        }
      }
      return event;
    }
  }
}
