package cairn.sentry;

import io.sentry.IScope;
import io.sentry.IScopes;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The isolation scopes of requests that something was recorded of. Any thread. */
final class RequestScopes {
  /*
   * Nothing says that a scope is done with. So a request's own span ends when its scope is collected,
   * when its thread has died, or when its thread comes with another scope that is not inside it.
   */

  private static final int STRIPES = 16;
  private static final int MAX_PARENTS = 64;

  private final RunMirror run;
  private final OpenTransactions transactions;
  private final Stripe[] stripes = new Stripe[STRIPES];
  private final Set<RequestMirror> mirrors = ConcurrentHashMap.newKeySet();

  /** Those with a span of their own. */
  private final Set<RequestMirror> lones = ConcurrentHashMap.newKeySet();

  /** Scopes have no equality but their own, so a weak map finds them by it. */
  private static final class Stripe {
    final ReentrantLock lock = new ReentrantLock();
    final WeakHashMap<IScope, RequestMirror> mirrors = new WeakHashMap<>();
  }

  RequestScopes(RunMirror run, OpenTransactions transactions) {
    this.run = run;
    this.transactions = transactions;
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new Stripe();
    }
  }

  /** {@return the mirror of a scope; null if nothing was recorded of it} */
  @Nullable RequestMirror find(IScope scope) {
    Stripe stripe = stripe(scope);
    stripe.lock.lock();
    try {
      return stripe.mirrors.get(scope);
    } finally {
      stripe.lock.unlock();
    }
  }

  /**
   * {@return the mirror of the current isolation scope}
   *
   * @param scopes the current ones
   */
  RequestMirror of(IScopes scopes) {
    IScope scope = scopes.getIsolationScope();
    RequestMirror known = find(scope);
    if (known != null) {
      known.revive();
      return known;
    }
    endOthers(scopes);
    RequestMirror made = new RequestMirror(run, transactions, lones, scope);
    Stripe stripe = stripe(scope);
    stripe.lock.lock();
    try {
      known = stripe.mirrors.putIfAbsent(scope, made);
    } finally {
      stripe.lock.unlock();
    }
    if (known != null) {
      return known;
    }
    mirrors.add(made);
    return made;
  }

  /** Ends the spans of scopes that this thread had and that the current ones are not inside. */
  private void endOthers(IScopes scopes) {
    Thread thread = Thread.currentThread();
    for (RequestMirror mirror : lones) {
      if (mirror.isOf(thread) && !isAround(mirror.scope(), scopes)) {
        mirror.end();
      }
    }
  }

  private static boolean isAround(@Nullable IScope scope, IScopes scopes) {
    IScopes inner = scopes;
    for (int i = 0; inner != null && i < MAX_PARENTS; i++) {
      if (inner.getIsolationScope() == scope) {
        return true;
      }
      inner = inner.getParentScopes();
    }
    return false;
  }

  /** Finds what changed in silence, and ends what is over. */
  void catchUp() {
    for (RequestMirror mirror : List.copyOf(mirrors)) {
      if (mirror.isGone()) {
        mirror.end();
        mirrors.remove(mirror);
      } else {
        mirror.followTransaction();
        if (mirror.spanId() != 0) {
          mirror.lookAtAll(Mirror.Look.DEEP);
        }
      }
    }
  }

  void close() {
    mirrors.forEach(RequestMirror::end);
    mirrors.clear();
  }

  private Stripe stripe(IScope scope) {
    return stripes[System.identityHashCode(scope) & STRIPES - 1];
  }
}
