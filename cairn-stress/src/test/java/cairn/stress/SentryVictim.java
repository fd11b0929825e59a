package cairn.stress;

import cairn.sentry.CairnIntegration;
import io.sentry.Breadcrumb;
import io.sentry.ISentryLifecycleToken;
import io.sentry.ITransaction;
import io.sentry.NoOpTransportFactory;
import io.sentry.ScopeType;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import io.sentry.TransactionOptions;
import io.sentry.cache.PersistingScopeObserver;
import io.sentry.protocol.User;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;

/**
 * The process with sentry-java that is killed while it changes its scope. Sentry's observer, which
 * writes files, and Cairn's hear of the same changes.
 *
 * <p>Arguments: what it does, Sentry's cache directory, file of its words. The system property
 * {@code cairn.dir} is the recorder's root.
 */
final class SentryVictim {
  static final String DSN = "http://public@127.0.0.1:1/42";
  static final String CONTEXT = "state";
  static final int LARGE_KEYS = 2_000;

  /** Number of the step that was begun last, and of the last one of which a call had returned. */
  static final int BEGUN = 0;

  static final int CONTEXTS_RETURNED = 8;
  static final int USER_RETURNED = 16;
  static final int BREADCRUMB_RETURNED = 24;
  static final int WORDS_BYTES = 64;

  private static final long STEP_NANOS = 2_000_000;
  private static final int STEPS_BEFORE = 25;

  private SentryVictim() {}

  /** {@return all that a context holds in a step, so that any two steps can be told apart} */
  static String text(long step) {
    return String.format("%010d", step);
  }

  public static void main(String[] args) throws Exception {
    SentryOptions[] given = new SentryOptions[1];
    Sentry.init(
        options -> {
          given[0] = options;
          options.setDsn(DSN);
          options.setCacheDirPath(args[1]);
          options.setRelease("victim@1.0");
          options.setTransportFactory(NoOpTransportFactory.getInstance());
          options.setTracesSampleRate(1.0);
          options.addScopeObserver(new PersistingScopeObserver(options));
          options.addIntegration(new CairnIntegration());
        });
    SharedWords words = SharedWords.open(Path.of(args[2]));
    awaitQuiet(given[0]);
    switch (args[0]) {
      case "tiny" -> change(words, 2, given[0]);
      case "large" -> change(words, LARGE_KEYS, given[0]);
      case "requests" -> requests(given[0]);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  /** Until what the SDK has queued so far is done, and written. */
  private static void awaitQuiet(SentryOptions options)
      throws ExecutionException, InterruptedException {
    for (int i = 0; i < 3; i++) {
      Future<?> last = options.getExecutorService().submit(() -> {});
      last.get();
    }
  }

  private static void change(SharedWords words, int keys, SentryOptions options) throws Exception {
    String[] names = new String[keys];
    for (int i = 0; i < keys; i++) {
      names[i] = "key" + i;
    }
    long next = System.nanoTime();
    for (long step = 1; ; step++) {
      String text = text(step).repeat(10);
      Map<String, Object> state = new HashMap<>(2 * keys);
      for (String name : names) {
        state.put(name, text);
      }
      User user = new User();
      user.setId(text(step));
      Breadcrumb breadcrumb = new Breadcrumb(text(step));
      words.putRelease(BEGUN, step);
      Sentry.configureScope(ScopeType.ISOLATION, scope -> scope.setContexts(CONTEXT, state));
      words.putRelease(CONTEXTS_RETURNED, step);
      Sentry.setUser(user);
      words.putRelease(USER_RETURNED, step);
      Sentry.addBreadcrumb(breadcrumb);
      words.putRelease(BREADCRUMB_RETURNED, step);
      if (step == STEPS_BEFORE) {
        awaitQuiet(options);
        say("ready");
      }
      next = Math.max(next + STEP_NANOS, System.nanoTime());
      LockSupport.parkNanos(next - System.nanoTime());
    }
  }

  /** Two requests at once, each with its user, tag and breadcrumbs; then waits to be killed. */
  private static void requests(SentryOptions options) throws Exception {
    Object[] turn = {"alice"};
    Thread alice = new Thread(() -> request("alice", "bob", turn), "http-1");
    Thread bob = new Thread(() -> request("bob", "alice", turn), "http-2");
    alice.setDaemon(true);
    bob.setDaemon(true);
    alice.start();
    bob.start();
    synchronized (turn) {
      while (!turn[0].equals("done done")) {
        turn.wait();
      }
    }
    awaitQuiet(options);
    say("ready");
    while (System.in.read() >= 0) {}
    Runtime.getRuntime().halt(3);
  }

  /** The steps of both requests alternate, but the last two of the first come last. */
  private static void request(String name, String other, Object[] turn) {
    try (ISentryLifecycleToken token = Sentry.pushIsolationScope()) {
      TransactionOptions bound = new TransactionOptions();
      bound.setBindToScope(true);
      ITransaction transaction = Sentry.startTransaction("GET /" + name, "http.server", bound);
      boolean isFirst = name.equals("alice");
      await(turn, name);
      if (isFirst) {
        user(name);
        pass(turn, other);
        await(turn, name);
        Sentry.setTag("who", name);
        Sentry.addBreadcrumb("of " + name);
        pass(turn, "done " + other);
      } else {
        Sentry.setTag("who", name);
        user(name);
        Sentry.addBreadcrumb("of " + name);
        pass(turn, other);
        await(turn, "done " + name);
        pass(turn, "done done");
      }
      LockSupport.park(transaction);
      while (true) {
        LockSupport.park(token);
      }
    }
  }

  private static void user(String name) {
    User user = new User();
    user.setId(name);
    Sentry.setUser(user);
  }

  private static void await(Object[] turn, String whose) {
    synchronized (turn) {
      try {
        while (!turn[0].equals(whose)) {
          turn.wait();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static void pass(Object[] turn, String whose) {
    synchronized (turn) {
      turn[0] = whose;
      turn.notifyAll();
    }
  }

  private static void say(String line) throws IOException {
    System.out.println(line);
    System.out.flush();
  }
}
