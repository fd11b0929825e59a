package cairn.sentry;

import cairn.Level;
import cairn.OpenSpans;
import io.sentry.IScope;
import io.sentry.ITransaction;
import io.sentry.PropagationContext;
import io.sentry.protocol.SentryId;
import java.lang.ref.WeakReference;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The isolation scope of one request, as attributes of the request's open span: that of its
 * transaction or, if it has none, one of its own, which is open as long as the scope is in use.
 */
final class RequestMirror extends Mirror {
  /*
   * Of what a fork inherits from the process nothing is recorded: it is in the run's scope. An attribute
   * of a span can't be taken away. Where a field is removed (a user that logs out), the span is begun
   * again in another slot, with the same ids and what is left, and the old one ended: in that order,
   * so that no death finds neither.
   *
   * The lock is held while attributes are kept and stored, never while a value is encoded that has code
   * of the application: all are texts by then.
   */

  private static final int MAX_ATTRIBUTES = 64;
  private static final int MAX_LONES = 512;
  private static final String USER_PREFIX = ReportEvent.PREFIX + "user.";
  private static final String REQUEST_PREFIX = ReportEvent.PREFIX + "request.";

  private final RunMirror run;
  private final OpenTransactions transactions;
  private final OpenSpans spans;
  private final Set<RequestMirror> lones;
  private final WeakReference<IScope> scope;
  private final WeakReference<Thread> owner;
  private final String threadName;
  private volatile @Nullable Map<String, String> ownTags;

  private final ReentrantLock lock = new ReentrantLock();
  // Guarded by lock.
  private final Map<String, String> attributes = new LinkedHashMap<>();
  private @Nullable TransactionWatch watch;
  private long loneId;
  private long loneHandle;
  private long loneSince;
  private String loneName = "";
  private boolean isOver;

  /** Then the request is over with it: what is set later has no span. */
  private boolean hadTransaction;

  /** Of the transaction or of its own span; 0 if it has neither. */
  private volatile long spanId;

  RequestMirror(
      RunMirror run, OpenTransactions transactions, Set<RequestMirror> lones, IScope scope) {
    this.run = run;
    this.lones = lones;
    this.transactions = transactions;
    this.spans = transactions.spans;
    this.scope = new WeakReference<>(scope);
    Thread thread = Thread.currentThread();
    this.owner = new WeakReference<>(thread);
    this.threadName = thread.getName();
  }

  @Nullable IScope scope() {
    return scope.get();
  }

  /** {@return whether nothing can use the scope any more} */
  boolean isGone() {
    Thread thread = owner.get();
    return scope.refersTo(null) || thread == null || !thread.isAlive();
  }

  boolean isOf(Thread thread) {
    return owner.refersTo(thread);
  }

  /** {@return the id of the span that it is in now; 0 if none} */
  long spanId() {
    return spanId;
  }

  void learn(Map<String, String> tags) {
    IScope own = scope.get();
    if (ownTags != tags && own != null && own.getTags().equals(tags)) {
      ownTags = tags;
    }
  }

  @Override
  int layers() {
    return 1;
  }

  @Override
  @Nullable IScope layer(int index) {
    return scope.get();
  }

  @Override
  Map<String, String> tagsOf(int index) {
    Map<String, String> own = ownTags;
    IScope from = scope.get();
    return own != null ? own : from == null ? Map.of() : from.getTags();
  }

  @Override
  @Nullable Object single(int kind) {
    return kind == USER || kind == REQUEST || kind == TRANSACTION ? firstOf(kind) : null;
  }

  @Override
  boolean isKnown(int kind, @Nullable String key, Object value) {
    Object inherited = run.recorded(kind, key);
    // A fork has copies of the user and the request, and the others themselves.
    return inherited == value || value.equals(inherited);
  }

  /** Finds the span that the request is in now. */
  void followTransaction() {
    IScope own = scope.get();
    ITransaction now = own == null ? null : own.getTransaction();
    follow(now == null ? null : transactions.of(now));
  }

  private void follow(@Nullable TransactionWatch now) {
    lock.lock();
    try {
      if (now != watch) {
        watch = now;
        if (now != null) {
          hadTransaction = true;
          attributes.forEach((key, value) -> spans.set(now.handle(), key, value));
          endLone();
        }
      }
      spanId = now == null ? loneId : now.id();
    } finally {
      lock.unlock();
    }
  }

  /** The request is over, or a thread has gone on to another. */
  void end() {
    lock.lock();
    try {
      isOver = true;
      watch = null;
      endLone();
      spanId = 0;
    } finally {
      lock.unlock();
    }
  }

  private void endLone() {
    if (loneId != 0) {
      spans.end(loneHandle, loneId);
      loneId = 0;
      lones.remove(this);
    }
  }

  /** The scope is in use again: after another that was put inside. */
  void revive() {
    lock.lock();
    try {
      if (isOver) {
        isOver = false;
        if (!attributes.isEmpty()) {
          begin();
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void begin() {
    IScope own = scope.get();
    if (watch != null
        || loneId != 0
        || hadTransaction
        || own == null
        || lones.size() >= MAX_LONES) {
      return;
    }
    lones.add(this);
    loneId = SpanIds.random();
    loneSince = System.currentTimeMillis() * 1_000_000;
    loneName = name();
    loneHandle = beginLone(own);
    attributes.forEach((key, value) -> spans.set(loneHandle, key, value));
    spanId = loneId;
  }

  private long beginLone(IScope own) {
    PropagationContext trace = own.getPropagationContext();
    SentryId id = trace == null ? SentryId.EMPTY_ID : trace.getTraceId();
    return spans.begin(loneName, SpanIds.high(id), SpanIds.low(id), loneId, 0, 0, 0, loneSince);
  }

  private String name() {
    String url = attributes.get(REQUEST_PREFIX + "url");
    if (url == null) {
      return "scope of " + threadName;
    }
    String method = attributes.get(REQUEST_PREFIX + "method");
    int path = url.indexOf("://");
    path = path < 0 ? 0 : Math.max(0, url.indexOf('/', path + 3));
    return (method == null ? "" : method + " ") + url.substring(path);
  }

  @Override
  void record(int kind, @Nullable String key, @Nullable Object value) {
    switch (kind) {
      case TAG -> set(ReportEvent.PREFIX + "tag." + key, value);
      case EXTRA -> set(ReportEvent.PREFIX + "extra." + key, value);
      case TRANSACTION -> set(ReportEvent.PREFIX + "transaction", isNamed() ? null : value);
      case USER -> setAll(USER_PREFIX, userFields(value));
      case REQUEST -> setAll(REQUEST_PREFIX, requestFields(value));
      case CONTEXT -> {
        if (key != null && value != null) {
          spans.breadcrumb(
              Level.INFO, ReportEvent.PREFIX + "context", key, Map.of(key, value), spanId);
        }
      }
      default -> {}
    }
  }

  /** {@return whether its span has the name of the transaction} */
  private boolean isNamed() {
    lock.lock();
    try {
      TransactionWatch now = watch;
      if (now != null) {
        now.rename();
      }
      return now != null;
    } finally {
      lock.unlock();
    }
  }

  private static Map<String, String> userFields(@Nullable Object value) {
    Map<String, String> fields = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> user) {
      user.forEach(
          (key, each) -> {
            if (each instanceof Map<?, ?> more) {
              more.forEach((name, one) -> fields.put(name.toString(), String.valueOf(one)));
            } else if (each != null) {
              fields.put(key.toString(), each.toString());
            }
          });
    }
    return fields;
  }

  private static Map<String, String> requestFields(@Nullable Object value) {
    Map<String, String> fields = new LinkedHashMap<>();
    if (value instanceof Map<?, ?> request) {
      for (String name : new String[] {"method", "url", "query_string"}) {
        if (request.get(name) instanceof String text) {
          fields.put(name, text);
        }
      }
    }
    return fields;
  }

  private void set(String name, @Nullable Object value) {
    String text = value == null ? null : value.toString();
    lock.lock();
    try {
      if (text == null) {
        if (attributes.remove(name) != null) {
          beginAgain();
        }
      } else if (attributes.containsKey(name) || attributes.size() < MAX_ATTRIBUTES) {
        attributes.put(name, text);
        store(name, text);
      }
    } finally {
      lock.unlock();
    }
  }

  private void setAll(String prefix, Map<String, String> fields) {
    lock.lock();
    try {
      boolean isLess =
          attributes
              .keySet()
              .removeIf(
                  name ->
                      name.startsWith(prefix)
                          && !fields.containsKey(name.substring(prefix.length())));
      if (isLess) {
        fields.forEach((name, value) -> attributes.put(prefix + name, value));
        beginAgain();
        return;
      }
      fields.forEach(
          (name, value) -> {
            if (!value.equals(attributes.put(prefix + name, value))) {
              store(prefix + name, value);
            }
          });
      if (loneId != 0 && !loneName.equals(name())) {
        loneName = name();
        spans.rename(loneHandle, loneName);
      }
    } finally {
      lock.unlock();
    }
  }

  private void store(String name, String value) {
    TransactionWatch now = watch;
    if (now != null) {
      spans.set(now.handle(), name, value);
    } else if (loneId != 0) {
      spans.set(loneHandle, name, value);
    } else {
      begin();
    }
  }

  private void beginAgain() {
    TransactionWatch now = watch;
    IScope own = scope.get();
    if (now != null) {
      long old = now.beginAgain();
      attributes.forEach((key, value) -> spans.set(now.handle(), key, value));
      spans.end(old, now.id());
    } else if (loneId != 0 && own != null) {
      long old = loneHandle;
      if (attributes.isEmpty()) {
        endLone();
        spanId = 0;
        return;
      }
      loneName = name();
      loneHandle = beginLone(own);
      attributes.forEach((key, value) -> spans.set(loneHandle, key, value));
      spans.end(old, loneId);
    }
  }
}
