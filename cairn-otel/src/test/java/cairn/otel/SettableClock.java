package cairn.otel;

import io.opentelemetry.sdk.common.Clock;

/** A clock whose wall time and monotonic time are set one without the other. */
final class SettableClock implements Clock {
  private long epochNanos = 1_800_000_000_123_456_789L;
  private long nanos = -5_000_000_000L;

  /** Lets time pass. */
  void advance(long byNanos) {
    epochNanos += byNanos;
    nanos += byNanos;
  }

  /** Sets the wall clock, as an administrator does: the monotonic one knows nothing of it. */
  void jump(long byNanos) {
    epochNanos += byNanos;
  }

  @Override
  public long now() {
    return epochNanos;
  }

  @Override
  public long nanoTime() {
    return nanos;
  }
}
