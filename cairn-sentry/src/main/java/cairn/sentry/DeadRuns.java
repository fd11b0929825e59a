package cairn.sentry;

import cairn.Recorder;
import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.Witness;
import io.sentry.Hint;
import io.sentry.IScopes;
import io.sentry.SendCachedEnvelopeFireAndForgetIntegration;
import io.sentry.SendFireAndForgetEnvelopeSender;
import io.sentry.SentryEvent;
import io.sentry.SentryOptions;
import io.sentry.protocol.SentryId;
import io.sentry.util.HintUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Reports the runs of the application that died, each once, when Sentry starts. */
final class DeadRuns implements Runnable {
  /*
   * The newest dead run first, on Sentry's own executor: what Sentry does there afterwards is to end the
   * session that the dead process left, as ended in order, unless an envelope that says otherwise has
   * been stored before. The others, and all waiting for answers, on a thread of our own.
   *
   * At least once. A run is marked when its event is in Sentry's cache on disk or was answered. Who dies
   * before leaves it to the next start, and two processes that start at a time may both report it: the
   * event has the same id each time, and Sentry keeps one.
   *
   * An uncaught exception Sentry has reported itself, if it came so far. Its event's id is in the box
   * then, and ours takes it: again Sentry keeps the one that comes first.
   *
   * The mark is Sentry's own, not `Run.deliver`, which is for one receiver: a watcher may deliver the
   * same death elsewhere.
   */

  private static final Duration MAX_AGE = Duration.ofDays(30);
  private static final int MAX_EVENTS = 10;
  private static final int MAX_RUNS = 256;
  private static final long DISK_MILLIS = 5_000;
  private static final long ANSWER_MILLIS = 60_000;
  private static final long JOIN_MILLIS = 1_000;
  private static final long START_MILLIS = 30_000;

  private final IScopes scopes;
  private final SentryOptions options;
  private final Recorder recorder;
  private final String to;
  private final Thread thread = new Thread(this, "cairn-sentry-dead-runs");
  private volatile boolean isClosed;
  private volatile @Nullable Future<@Nullable Capture> first;

  DeadRuns(IScopes scopes, SentryOptions options, Recorder recorder) {
    this.scopes = scopes;
    this.options = options;
    this.recorder = recorder;
    this.to = endpoint(options);
    thread.setDaemon(true);
  }

  private static String endpoint(SentryOptions options) {
    try {
      return Dsn.of(String.valueOf(options.getDsn())).name();
    } catch (IllegalArgumentException e) {
      return "sentry";
    }
  }

  void start() {
    try {
      first = options.getExecutorService().submit(this::captureNewest);
    } catch (RejectedExecutionException e) {
      first = null;
    }
    thread.start();
  }

  void close() {
    isClosed = true;
    thread.interrupt();
    if (Thread.currentThread() != thread) {
      try {
        thread.join(JOIN_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public void run() {
    try {
      List<Capture> captures = new ArrayList<>();
      Capture newest = newest();
      if (newest != null) {
        captures.add(newest);
        settle(newest);
      }
      List<Run> due = due();
      for (Run run : due.subList(0, Math.min(due.size(), MAX_EVENTS))) {
        Capture capture = isClosed ? null : capture(run, false);
        if (capture != null) {
          captures.add(capture);
          settle(capture);
        }
      }
      for (Capture capture : captures) {
        capture.hint().awaitAnswer(ANSWER_MILLIS); // else it would be sent from the cache as well
      }
      if (!isClosed) {
        sendCached();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt(); // closed: what is not marked waits for the next start
    } catch (IOException | RuntimeException | LinkageError e) {
      if (!isClosed) {
        Faults.warn("dead runs are not reported to Sentry: error=" + e, e);
      }
    }
  }

  private @Nullable Capture newest() throws InterruptedException {
    Future<@Nullable Capture> future = first;
    try {
      return future == null ? null : future.get(START_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException | java.util.concurrent.CancellationException e) {
      return null; // it is among the due ones still
    }
  }

  private @Nullable Capture captureNewest() throws IOException, InterruptedException {
    try {
      List<Run> due = due();
      if (due.isEmpty() || isClosed) {
        return null;
      }
      Capture capture = capture(due.get(0), true);
      if (capture != null && options.getCacheDirPath() != null) {
        capture.hint().awaitFlush(DISK_MILLIS);
      }
      return capture;
    } catch (IOException | RuntimeException | LinkageError e) {
      Faults.warn("the last run is not reported to Sentry: error=" + e, e);
      return null;
    }
  }

  /** {@return the dead runs of the application that Sentry should get, newest first} */
  private List<Run> due() throws IOException {
    List<Run> due = new ArrayList<>();
    Path own = recorder.directory();
    Path app = own == null ? null : own.toAbsolutePath().getParent();
    Path root = app == null ? null : app.getParent();
    if (own == null || app == null || root == null) {
      return due;
    }
    String id = String.valueOf(own.getFileName());
    String name = String.valueOf(app.getFileName());
    int looked = 0;
    for (Run run : Runs.under(root)) {
      if (!run.app().equals(name) || run.id().compareTo(id) >= 0 || ++looked > MAX_RUNS) {
        continue;
      }
      if (!SentryMark.of(run).due(to).isAfter(Instant.now())
          && !run.isRunning()
          && !isElsewhere(run)) {
        due.add(run);
      }
    }
    return due;
  }

  private static boolean isElsewhere(Run run) {
    try {
      return run.isElsewhere();
    } catch (IOException e) {
      return true; // nothing readable
    }
  }

  /** An event that was handed to Sentry. */
  private record Capture(Run run, SentryId id, CaptureHint hint) {}

  /** {@return it; null if there is nothing to wait for} */
  private @Nullable Capture capture(Run run, boolean isNewest) throws IOException {
    try {
      run.witness(Witness.by("sentry"));
    } catch (IOException | IllegalStateException e) {
      // The report does without.
    }
    Report report = run.report();
    SentryEvent event = ReportEvent.of(report);
    if (event == null || isTooOld(event)) {
      if (report.verdict().cause() != Cause.RUNNING) {
        SentryMark.of(run).notNeeded(Instant.now());
      }
      return null;
    }
    SentryId known = reportedBySentry(report);
    if (known != null) {
      event.setEventId(known);
    }
    CaptureHint hint =
        CaptureHint.of(
            report.verdict().cause(), event.getTimestamp().toInstant().toEpochMilli(), isNewest);
    Hint wrapped = HintUtils.createWithTypeCheckHint(hint);
    SentryId captured = scopes.captureEvent(event, wrapped);
    if (captured.equals(SentryId.EMPTY_ID)) {
      if (isDropped(wrapped) && scopes.isEnabled() && !isClosed) {
        Faults.tell(
            "Sentry's settings drop the report of a dead run (beforeSend, sampleRate, ignored"
                + " errors): run="
                + run.id());
        SentryMark.of(run).notNeeded(Instant.now());
      }
      return null;
    }
    return new Capture(run, captured, hint);
  }

  /** {@return whether Sentry's settings would drop it again} An older sentry-java does not tell. */
  private static boolean isDropped(Hint hint) {
    try {
      return !HintUtils.isCaptureFailed(hint);
    } catch (NoSuchMethodError e) {
      return false;
    }
  }

  private static boolean isTooOld(SentryEvent event) {
    return event.getTimestamp().toInstant().isBefore(Instant.now().minus(MAX_AGE));
  }

  private static @Nullable SentryId reportedBySentry(Report report) {
    Object crash = report.scope().contexts().get(CairnScopeObserver.CRASH_CONTEXT);
    if (report.verdict().cause() != Cause.UNCAUGHT
        || !(crash instanceof Map<?, ?> map)
        || !(map.get("event_id") instanceof String id)) {
      return null;
    }
    try {
      return new SentryId(id);
    } catch (IllegalArgumentException e) {
      return null;
    }
  }

  /** Waits until the event is safe, and marks the run. */
  private void settle(Capture capture) throws IOException, InterruptedException {
    CaptureHint hint = capture.hint();
    String cache = options.getCacheDirPath();
    boolean isSafe =
        (cache != null
                && hint.awaitFlush(DISK_MILLIS)
                && CachedEnvelopes.hasEvent(Path.of(cache), capture.id()))
            || hint.awaitAnswer(ANSWER_MILLIS);
    if (isSafe) {
      SentryMark.of(capture.run()).delivered(Instant.now(), to);
      Faults.tell(
          "death of an earlier run is reported to Sentry: run="
              + capture.run().id()
              + ", event="
              + capture.id());
    } else {
      Faults.warn(
          "death of an earlier run is not yet reported to Sentry: run="
              + capture.run().id()
              + " (it is tried again at the next start)",
          null);
    }
  }

  /**
   * Sends what is in Sentry's cache on disk. Off Android nothing else does, so an event that could
   * not be sent at once would stay there.
   */
  private void sendCached() {
    if (options.getCacheDirPath() == null
        || options.getIntegrations().stream()
            .anyMatch(SendCachedEnvelopeFireAndForgetIntegration.class::isInstance)) {
      return;
    }
    new SendCachedEnvelopeFireAndForgetIntegration(
            new SendFireAndForgetEnvelopeSender(options::getCacheDirPath))
        .register(scopes, options);
  }
}
