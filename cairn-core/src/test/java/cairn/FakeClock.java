package cairn;

import java.util.concurrent.atomic.AtomicLong;

/** Two clocks that a test sets; nanos grow by one at each look, so that order shows. */
final class FakeClock implements Clock {
  final AtomicLong wallMillis = new AtomicLong(1_700_000_000_000L);
  final AtomicLong nanos = new AtomicLong(1_000_000_000_000L);

  @Override
  public long wallMillis() {
    return wallMillis.get();
  }

  @Override
  public long nanos() {
    return nanos.getAndIncrement();
  }

  void advanceMillis(long millis) {
    wallMillis.addAndGet(millis);
    nanos.addAndGet(millis * 1_000_000);
  }
}
