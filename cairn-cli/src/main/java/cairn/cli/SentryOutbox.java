package cairn.cli;

import cairn.report.Report;
import cairn.report.Run;
import cairn.report.RunIdentity;
import cairn.sentry.ReportEvent;
import cairn.sentry.SentryEndpoint;
import cairn.sentry.SentryMark;
import cairn.sentry.SentryReply;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The deaths that {@code cairn watch} has told and Sentry has not got yet. Any thread; sends on one
 * of its own, once that is started.
 */
final class SentryOutbox implements Watcher.Told, AutoCloseable {
  /*
   * The watcher tells a death at once and never waits for Sentry. What Sentry has is known from the
   * mark beside the run alone: a watcher that is killed finds at its next start which runs lack one.
   *
   * After a failure or a limit nothing is sent for a while, not only not that run: it would fail as
   * well. A run that was refused waits alone; its mark says until when.
   *
   * What died longer ago than Sentry keeps its date is not sent: it would look like a new death.
   */

  private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(5);

  /** How old a death may be. */
  private static final Duration MAX_AGE = Duration.ofDays(30);

  /** Without anything to do; a clock that was set doesn't keep it for longer either. */
  private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);

  private record Waiting(Run run, Instant due) {}

  private final Session session;
  private final SentryEndpoint endpoint;
  private final Clock clock;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Guarded by the lock.
  private List<Waiting> waiting = new ArrayList<>();
  private boolean isClosed;

  // Of the sending thread.
  private Instant pausedUntil = Instant.EPOCH;
  private Duration nextPause = FIRST_PAUSE;
  private boolean saidTrouble;

  private @Nullable Thread thread;

  SentryOutbox(Session session, SentryEndpoint endpoint) {
    this.session = session;
    this.endpoint = endpoint;
    this.clock = session.surroundings.clock();
  }

  /** Takes a death that was told, now or before; one look at its mark. */
  @Override
  public void told(Run run) {
    Instant due = SentryMark.of(run).due(endpoint.name());
    if (!due.equals(Instant.MAX)) {
      add(new Waiting(run, due));
    }
  }

  private void add(Waiting entry) {
    lock.lock();
    try {
      waiting.add(entry);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** {@return how many runs wait to be sent, those that were refused left out} */
  int unsent() {
    Instant now = clock.instant();
    lock.lock();
    try {
      return (int) waiting.stream().filter(each -> !each.due().isAfter(now)).count();
    } finally {
      lock.unlock();
    }
  }

  /** Sends on a thread of its own from now on. */
  void start() {
    Thread sender = new Thread(this::work, "cairn-sentry");
    sender.setDaemon(true);
    thread = sender;
    sender.start();
  }

  private void work() {
    try {
      while (await()) {
        sendDue();
      }
    } catch (InterruptedIOException | InterruptedException e) {
      Thread.currentThread().interrupt(); // closed
    }
  }

  /** Waits until something may be due; false once closed. */
  private boolean await() throws InterruptedException {
    lock.lock();
    try {
      while (!isClosed) {
        long millis = Duration.between(clock.instant(), nextDue()).toMillis();
        if (millis <= 0) {
          return true;
        }
        changed.await(Math.min(millis, LONGEST_WAIT.toMillis()), TimeUnit.MILLISECONDS);
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  private Instant nextDue() {
    Instant next = clock.instant().plus(LONGEST_WAIT);
    for (Waiting each : waiting) {
      Instant due = each.due().isAfter(pausedUntil) ? each.due() : pausedUntil;
      next = due.isBefore(next) ? due : next;
    }
    return next;
  }

  /** Sends what is due, the oldest first, until Sentry wants no more. */
  void sendDue() throws InterruptedIOException {
    for (Waiting each = takeDue(); each != null; each = takeDue()) {
      boolean isDone;
      try {
        isDone = send(each.run());
      } catch (RuntimeException | OutOfMemoryError e) {
        // It must not hide the others.
        sayLost(each.run(), String.valueOf(e));
        isDone = true;
      }
      if (!isDone) {
        add(each);
      }
    }
  }

  private @Nullable Waiting takeDue() {
    Instant now = clock.instant();
    if (pausedUntil.isAfter(now)) {
      return null;
    }
    lock.lock();
    try {
      for (int i = 0; i < waiting.size() && !isClosed; i++) {
        if (!waiting.get(i).due().isAfter(now)) {
          return waiting.remove(i);
        }
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** {@return false if it is to be sent again after the pause} */
  private boolean send(Run run) throws InterruptedIOException {
    SentryMark mark = SentryMark.of(run);
    Report report;
    SentryReply reply;
    try {
      if (mark.isDelivered() || run.isElsewhere() || run.isRunning()) {
        return true;
      }
      report = run.report();
      if (report.endedWell()) {
        mark.notNeeded(clock.instant());
        return true;
      }
      if (isOld(report.run())) {
        return true;
      }
      reply = endpoint.send(report);
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      if (Files.isDirectory(run.directory())) {
        sayLost(run, RunSource.describe(e));
      }
      return true;
    }
    return switch (reply.outcome()) {
      case DELIVERED -> {
        delivered(run, mark, report);
        yield true;
      }
      case REFUSED, BLOCKED -> {
        refused(run, mark, reply);
        yield true;
      }
      case LIMITED, FAILED -> {
        pause(run, reply);
        yield false;
      }
    };
  }

  private boolean isOld(RunIdentity identity) {
    Instant last = identity.lastSeenAt() == null ? identity.startedAt() : identity.lastSeenAt();
    return last != null && last.isBefore(clock.instant().minus(MAX_AGE));
  }

  private void delivered(Run run, SentryMark mark, Report report) {
    pausedUntil = Instant.EPOCH;
    nextPause = FIRST_PAUSE;
    saidTrouble = false;
    session.err.println(
        Escape.line(
            "cairn: sent: run="
                + name(run)
                + ", event="
                + ReportEvent.id(report)
                + ", to="
                + endpoint.name()));
    try {
      mark.delivered(clock.instant(), endpoint.name());
    } catch (IOException e) {
      session.error(
          "sending not marked: run="
              + name(run)
              + ", error="
              + RunSource.describe(e)
              + " (it is sent again at the next start, as the same event; give write access)");
    }
  }

  private void refused(Run run, SentryMark mark, SentryReply reply) {
    String next;
    try {
      Instant due = mark.refused(clock.instant(), reply, endpoint.name());
      next = SentryTarget.next(due);
      if (!due.equals(Instant.MAX)) {
        add(new Waiting(run, due));
      }
    } catch (IOException e) {
      next = "at the next start, mark=" + RunSource.describe(e);
    }
    session.error(
        "run not sent: run="
            + name(run)
            + ", error="
            + SentryTarget.refusal(reply)
            + ", next="
            + next
            + " (it is kept; cairn export --sentry sends it at once)");
  }

  private void pause(Run run, SentryReply reply) {
    Instant now = clock.instant();
    Instant own = now.plus(nextPause);
    Instant asked = reply.again();
    pausedUntil = asked == null || asked.isBefore(own) ? own : asked;
    Duration longer = nextPause.multipliedBy(2);
    nextPause = longer.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : longer;
    if (!saidTrouble) {
      saidTrouble = true;
      session.error(
          "run not sent yet: run="
              + name(run)
              + ", "
              + reply.text()
              + " (it is tried again until it is sent, and not said again)");
    }
  }

  private void sayLost(Run run, String error) {
    session.error(
        "run is not readable: run="
            + name(run)
            + ", error="
            + error
            + " (it is not sent before the next start; see: cairn why)");
  }

  private static String name(Run run) {
    return run.app() + "/" + run.id();
  }

  /** Ends the thread, with the sending that is under way if that doesn't take long. */
  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    Thread sender = thread;
    if (sender == null) {
      return;
    }
    boolean wasInterrupted = Thread.interrupted(); // whoever wants the end gets it in order
    try {
      sender.join(CLOSE_WITHIN.toMillis());
    } catch (InterruptedException e) {
      wasInterrupted = true;
    }
    sender.interrupt();
    if (wasInterrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
