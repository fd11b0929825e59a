package cairn.sentry;

import cairn.report.Cause;
import io.sentry.hints.AbnormalExit;
import io.sentry.hints.Backfillable;
import io.sentry.hints.DiskFlushNotification;
import io.sentry.hints.NativeCrashExit;
import io.sentry.hints.SubmissionResult;
import io.sentry.protocol.SentryId;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Goes with the event of a dead run through Sentry: keeps the living scope out of it, and learns
 * what becomes of it.
 */
abstract sealed class CaptureHint implements Backfillable, DiskFlushNotification, SubmissionResult {
  private final CountDownLatch flushed = new CountDownLatch(1);
  private final CountDownLatch answered = new CountDownLatch(1);
  private volatile @Nullable SentryId flushable;
  private volatile boolean isSuccess;

  /**
   * {@return a hint for a death of that cause}
   *
   * @param endsSession whether the session that Sentry finds on disk is that run's
   */
  static CaptureHint of(Cause cause, long epochMillis, boolean endsSession) {
    if (!endsSession || cause == Cause.UNCAUGHT) {
      return new Plain(); // Sentry's own handler has ended the session
    }
    return cause == Cause.NATIVE_CRASH ? new Crash(epochMillis) : new Abnormal(epochMillis);
  }

  boolean awaitFlush(long millis) throws InterruptedException {
    return flushed.await(millis, TimeUnit.MILLISECONDS);
  }

  /** {@return whether Sentry has taken it; false if it has not by then} */
  boolean awaitAnswer(long millis) throws InterruptedException {
    return answered.await(millis, TimeUnit.MILLISECONDS) && isSuccess;
  }

  /** Nothing of this process is to be added to it. */
  @Override
  public boolean shouldEnrich() {
    return false;
  }

  @Override
  public void markFlushed() {
    flushed.countDown();
  }

  @Override
  public boolean isFlushable(@Nullable SentryId eventId) {
    SentryId wanted = flushable;
    return wanted == null || wanted.equals(eventId);
  }

  @Override
  public void setFlushable(SentryId eventId) {
    flushable = eventId;
  }

  @Override
  public void setResult(boolean success) {
    isSuccess = success;
    answered.countDown();
  }

  @Override
  public boolean isSuccess() {
    return isSuccess;
  }

  /** Leaves the session as it is. */
  private static final class Plain extends CaptureHint {}

  /** Ends the session as abnormal. */
  private static final class Abnormal extends CaptureHint implements AbnormalExit {
    private final long epochMillis;

    Abnormal(long epochMillis) {
      this.epochMillis = epochMillis;
    }

    @Override
    public String mechanism() {
      return ReportEvent.MECHANISM;
    }

    @Override
    public boolean ignoreCurrentThread() {
      return true;
    }

    @Override
    public Long timestamp() {
      return epochMillis;
    }
  }

  /** Ends the session as crashed. */
  private static final class Crash extends CaptureHint implements NativeCrashExit {
    private final long epochMillis;

    Crash(long epochMillis) {
      this.epochMillis = epochMillis;
    }

    @Override
    public Long timestamp() {
      return epochMillis;
    }
  }
}
