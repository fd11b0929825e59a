package cairn.stress;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * How far each thread of a {@link JournalVictim} came; outside the journal, as {@link Oracle} is
 * outside the box.
 *
 * <pre>
 *   thread t at t * BLOCK:
 *   0         8          16        24         64
 *   | started | returned | durable | failures | number that append q returned, at q % HISTORY ...
 * </pre>
 */
final class JournalOracle {
  /** So many returned numbers are kept for each thread. */
  static final int HISTORY = 1 << 16;

  private static final int RETURNED_OFFSET = 8;
  private static final int DURABLE_OFFSET = 16;
  private static final int FAILURES_OFFSET = 24;
  private static final int HISTORY_OFFSET = 64;
  private static final int BLOCK = HISTORY_OFFSET + Long.BYTES * HISTORY;

  private final SharedWords words;

  private JournalOracle(SharedWords words) {
    this.words = words;
  }

  static JournalOracle create(Path file, int threads) throws IOException {
    return new JournalOracle(SharedWords.create(file, (long) threads * BLOCK));
  }

  static JournalOracle open(Path file) throws IOException {
    return new JournalOracle(SharedWords.open(file));
  }

  int threads() {
    return words.bytes() / BLOCK;
  }

  /** Announces append {@code q}, just before it is made. */
  void start(int thread, long q) {
    words.putRelease(thread * BLOCK, q + 1);
    // No store of the append may become visible before its announcement.
    VarHandle.storeStoreFence();
  }

  /** Announces that append {@code q} has returned that number. */
  void returned(int thread, long q, long sequence) {
    words.putRelease(historyAt(thread, q), sequence);
    words.putRelease(thread * BLOCK + RETURNED_OFFSET, q + 1);
  }

  /** Announces that the journal calls all up to that number durable. */
  void durable(int thread, long sequence) {
    words.putRelease(thread * BLOCK + DURABLE_OFFSET, sequence);
  }

  /** Counts a call that threw. */
  void fail(int thread) {
    words.putRelease(thread * BLOCK + FAILURES_OFFSET, failures(thread) + 1);
  }

  long started(int thread) {
    return words.getAcquire(thread * BLOCK);
  }

  long returned(int thread) {
    return words.getAcquire(thread * BLOCK + RETURNED_OFFSET);
  }

  long failures(int thread) {
    return words.getAcquire(thread * BLOCK + FAILURES_OFFSET);
  }

  /** {@return the highest number that was called durable} */
  long durable() {
    long highest = 0;
    for (int t = 0; t < threads(); t++) {
      highest = Math.max(highest, words.getAcquire(t * BLOCK + DURABLE_OFFSET));
    }
    return highest;
  }

  /** {@return whether it is known what append {@code q} returned} */
  boolean hasSequence(int thread, long q) {
    return q < returned(thread) && q >= started(thread) - HISTORY;
  }

  /** {@return what append {@code q} returned} */
  long sequence(int thread, long q) {
    return words.getAcquire(historyAt(thread, q));
  }

  private static int historyAt(int thread, long q) {
    return thread * BLOCK + HISTORY_OFFSET + Long.BYTES * (int) (q & (HISTORY - 1));
  }
}
