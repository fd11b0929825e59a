package cairn;

import cairn.format.CounterLayout;
import cairn.storage.Storage;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Makes what was recorded survive power loss: the thread {@code cairn-committer}, which writes what
 * is new into the run's journal and forces it, one batch at a time.
 *
 * <p>Only for {@link Durability#bounded} and {@link Durability#power}. A caller pays one increment,
 * and a wake-up if the thread sleeps.
 */
final class Committer implements Runnable {
  /*
   * Group commit without a timer. A pass reads `arrived` first, then the box: so it holds at least
   * what those calls have stored, and once it is forced, `durable` is what it read. Whatever arrives
   * meanwhile is for the next pass, which begins at once under power, and under bounded when
   * maxEvents are waiting or the oldest of them for maxDelay. Nothing new for maxDelay: parked,
   * without an end.
   *
   * No lost wake-up. Callers: 1 store into the box   2 increment arrived   3 read wakeAt.
   * Here: 4 set wakeAt   5 read arrived, and don't park if it got there   6 park. Both 2 and 4 are
   * full fences, so of 3 and 5 at least one sees the other's store. Who takes wakeAt away unparks;
   * the others don't.
   *
   * Errors. The first one of a write or force gives the segment up (SegmentLog); the pass is made
   * once more, from the beginning, in a new segment. If that fails as well, the run goes on under
   * process durability, says so in the box and to whoever waits, and tries again after RETRY_NANOS when there is
   * something to write. A thread that died is started again once, by the housekeeper.
   */

  private static final long ASLEEP_NEVER = Long.MAX_VALUE;
  private static final long RETRY_NANOS = 10_000_000_000L;

  /** Cleared values leave the journal at once, but not more often than this: it costs a ring. */
  private static final long ERASE_NANOS = 10_000_000_000L;

  private final Box box;
  private final Storage storage;
  private final List<Path> parents;
  private final Durability durability;
  private final long maxDelayNanos;
  private final long retryNanos;
  private final long eraseNanos;

  private final AtomicLong arrived = new AtomicLong();

  /** Callers that bring `arrived` here wake the thread up. */
  private final AtomicLong wakeAt = new AtomicLong(ASLEEP_NEVER);

  /** What somebody waits for; then there is no waiting for more to arrive. */
  private final AtomicLong wanted = new AtomicLong(-1);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition progress = lock.newCondition();

  /** What is forced: everything before this many arrivals. Written under the lock. */
  private volatile long durable = -1;

  /** Why power loss would take more than was asked for; null while all is well. */
  private volatile @Nullable String failure;

  private volatile boolean stopped;
  private volatile boolean ending;

  /** Whoever stopped it has gone on: the run's directory may be somebody else's to change. */
  private volatile boolean abandoned;

  private volatile @Nullable Throwable died;
  private volatile Thread thread;
  private int restarts;

  // The thread's own.
  private @Nullable RunJournal journal;
  private long seen = -1;
  private long passStarted;
  private long failedAt;
  private long erasedAt;
  private String failedSince = "";

  /** As {@link RunJournal} has them. */
  Committer(Box box, Storage storage, List<Path> parents, Durability durability) {
    this(box, storage, parents, durability, RETRY_NANOS, ERASE_NANOS);
  }

  /**
   * @param retryNanos how long after a failure it is tried again
   * @param eraseNanos at most once in this time cleared values are made to leave the journal
   */
  Committer(
      Box box,
      Storage storage,
      List<Path> parents,
      Durability durability,
      long retryNanos,
      long eraseNanos) {
    this.retryNanos = retryNanos;
    this.eraseNanos = eraseNanos;
    this.box = box;
    this.storage = storage;
    this.parents = parents;
    this.durability = durability;
    this.maxDelayNanos = Durability.nanos(durability.maxDelay());
    this.thread = newThread();
  }

  private Thread newThread() {
    Thread made = new Thread(null, this, "cairn-committer", 0, false);
    made.setDaemon(true);
    // The application's class loader must not live as long as we do.
    made.setContextClassLoader(null);
    return made;
  }

  void start() {
    erasedAt = System.nanoTime() - eraseNanos;
    try {
      thread.start();
    } catch (Throwable e) { // no memory for a thread
      died = e;
    }
  }

  // Callers

  /** Says that something was stored into the box; after it was. */
  void arrived() {
    if (arrived.incrementAndGet() >= wakeAt.get()) {
      wake();
    }
  }

  private void wake() {
    if (wakeAt.getAndSet(ASLEEP_NEVER) != ASLEEP_NEVER) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Waits until everything that happened before this call is forced.
   *
   * @return false if the time is over, the thread is interrupted, or forcing fails
   */
  boolean await(long nanos) {
    long target = arrived.get();
    if (durable >= target) {
      return true;
    }
    long before;
    do {
      before = wanted.get();
    } while (before < target && !wanted.compareAndSet(before, target));
    wake();
    long left = nanos;
    lock.lock();
    try {
      while (durable < target) {
        if (left <= 0 || isHopeless()) {
          return false;
        }
        left = progress.awaitNanos(left);
      }
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean isHopeless() {
    return failure != null || died != null || !thread.isAlive();
  }

  /** {@return why the durability that was asked for is not in force, or null if it is} */
  @Nullable String failure() {
    return failure;
  }

  /** The run is about to end: what was cleared must leave the journal with the next pass. */
  void ending() {
    ending = true;
  }

  Thread.State threadState() {
    return thread.getState();
  }

  // The housekeeper's

  /** Starts the thread again if it died; once. */
  void check() {
    Throwable cause = died;
    if (cause == null || stopped) {
      return;
    }
    if (restarts > 0) {
      if (failure == null) {
        fail(cause);
      }
      return;
    }
    restarts++;
    died = null;
    box.counters.increment(CounterLayout.COMMITTER_RESTARTS);
    Log.warnOnce("committer ended in an exception and is started again", cause);
    thread = newThread();
    start();
  }

  /** Makes a last pass and ends the thread; waits at most that long. */
  void stop(long millis) {
    stopped = true;
    wakeAt.set(ASLEEP_NEVER);
    LockSupport.unpark(thread);
    try {
      thread.join(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    abandoned = true;
  }

  // The thread

  @Override
  public void run() {
    try (RunJournal opened = new RunJournal(box, storage, parents, journal)) {
      journal = opened;
      seen = -1; // so that there is a first pass, which makes the first segment
      while (!stopped) {
        pass(opened, false);
        await(opened);
      }
      if (!abandoned) {
        pass(opened, true);
      }
    } catch (Throwable e) {
      died = e;
      signal();
    }
  }

  /** Waits until a pass is due. */
  private void await(RunJournal opened) {
    if (failure != null) {
      for (long left = retryNanos; !stopped && left > 0; ) {
        park(ASLEEP_NEVER, left);
        left = failedAt + retryNanos - System.nanoTime();
      }
      return;
    }
    // What came during the pass may be as old as that. And where records keep coming, one wake-up
    // a batch is enough: so the first wait is as if one had come just now.
    if (awaitBatch(opened, arrived.get() != seen ? passStarted : System.nanoTime())) {
      return;
    }
    while (!isDue(seen + 1)) {
      long eraseIn = eraseIn(opened);
      if (eraseIn <= 0) {
        return;
      }
      park(seen + 1, eraseIn);
    }
    awaitBatch(opened, System.nanoTime());
  }

  /**
   * Waits for a batch whose oldest record came at that time.
   *
   * @return false if the time is over and nothing has come
   */
  private boolean awaitBatch(RunJournal opened, long oldest) {
    long enough = seen + durability.maxEvents();
    while (!isDue(enough)) {
      long left = Math.min(oldest + maxDelayNanos - System.nanoTime(), eraseIn(opened));
      if (left <= 0) {
        return arrived.get() != seen || eraseIn(opened) <= 0;
      }
      park(enough, left);
    }
    return true;
  }

  private long eraseIn(RunJournal opened) {
    return opened.holdsCleared() ? erasedAt + eraseNanos - System.nanoTime() : Long.MAX_VALUE;
  }

  /** {@return whether that many have arrived, or somebody waits for those that have} */
  private boolean isDue(long arrivals) {
    return stopped || arrived.get() >= arrivals || wanted.get() > seen;
  }

  private void park(long wake, long nanos) {
    wakeAt.set(wake);
    if (wake == ASLEEP_NEVER ? !stopped : !isDue(wake)) {
      if (nanos == Long.MAX_VALUE) {
        LockSupport.park(this);
      } else {
        LockSupport.parkNanos(this, nanos);
      }
    }
    wakeAt.set(ASLEEP_NEVER);
    Thread.interrupted(); // would make every park return at once
  }

  private void pass(RunJournal opened, boolean last) {
    passStarted = System.nanoTime();
    long now = arrived.get();
    boolean erase =
        opened.holdsCleared() && (last || ending || passStarted - erasedAt >= eraseNanos);
    try {
      write(opened, erase);
      recovered();
      if (erase) {
        erasedAt = passStarted;
      }
      lock.lock();
      try {
        durable = now;
        progress.signalAll();
      } finally {
        lock.unlock();
      }
    } catch (IOException e) {
      fail(e);
    }
    seen = now;
  }

  private void write(RunJournal opened, boolean erase) throws IOException {
    box.beat();
    try {
      opened.pass(erase);
    } catch (IOException e) {
      box.counters.increment(CounterLayout.FORCE_ERRORS);
      opened.pass(erase);
    }
  }

  // What is in force

  private void fail(Throwable cause) {
    failedAt = System.nanoTime();
    if (failure == null) {
      String reason = cause.getMessage() == null ? cause.getClass().getName() : cause.getMessage();
      String text = "process since " + now() + ": " + reason;
      failure = text;
      failedSince = text;
      box.life.inForce(text);
      Log.warnOnce(
          "durability is not in force: asked for=" + durability + ", in force=" + text, cause);
    }
    signal();
  }

  private void recovered() {
    if (failure != null) {
      box.life.inForce(durability + " since " + now() + ", before: " + failedSince);
      arrived.incrementAndGet(); // that it recovered is for the next pass
      failure = null;
    }
  }

  private String now() {
    return Instant.ofEpochMilli(box.clock.wallMillis()).truncatedTo(ChronoUnit.SECONDS).toString();
  }

  private void signal() {
    lock.lock();
    try {
      progress.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
