package cairn.stress;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/**
 * How far each thread of a victim came: a file outside the victim's box, mapped by the victim, read
 * by whoever killed it.
 *
 * <pre>
 *   thread t at t * BLOCK:
 *   0              8               16             64            128            192
 *   | crumbStarted | crumbReturned | crumbDurable | scope, same | spans, same | failures | begin and end of crumb q at q % HISTORY ...
 * </pre>
 *
 * A call is announced in {@code started} before it is made and in {@code returned} after it; each
 * word has one writer. So what was returned must be in the box, and what was not started must not.
 */
public final class Oracle {
  /** The three streams of calls a thread makes. */
  public enum Stream {
    /** Breadcrumbs. */
    CRUMBS(0),
    /** Scope updates. */
    SCOPE(64),
    /** Begins, attributes and ends of spans. */
    SPANS(128);

    private final int offset;

    Stream(int offset) {
      this.offset = offset;
    }
  }

  /** So many begin and end times are kept for each thread. */
  static final int HISTORY = 1 << 16;

  private static final int RETURNED_OFFSET = 8;
  private static final int DURABLE_OFFSET = 16;
  private static final int FAILURES_OFFSET = 192;
  private static final int HISTORY_OFFSET = 256;
  private static final int BLOCK = HISTORY_OFFSET + 16 * HISTORY;
  private final SharedWords words;

  private Oracle(SharedWords words) {
    this.words = words;
  }

  /** Makes the file, all zero. */
  static Oracle create(Path file, int threads) throws IOException {
    return new Oracle(SharedWords.create(file, (long) threads * BLOCK));
  }

  /** Opens the file that {@link #create} made. */
  static Oracle open(Path file) throws IOException {
    return new Oracle(SharedWords.open(file));
  }

  /** Announces call {@code number} of a stream, just before it is made. */
  void start(int thread, Stream stream, long number) {
    words.putRelease(at(thread, stream), number + 1);
    // No store of the call may become visible before its announcement.
    VarHandle.storeStoreFence();
  }

  /** As {@link #start} for a breadcrumb, whose begin time is kept. */
  void startCrumb(int thread, long number, long nanos) {
    words.putRelease(historyAt(thread, number), nanos);
    start(thread, Stream.CRUMBS, number);
  }

  /** As {@link #returned} for a breadcrumb, whose end time is kept. */
  void returnedCrumb(int thread, long number, long nanos) {
    words.putRelease(historyAt(thread, number) + Long.BYTES, nanos);
    returned(thread, Stream.CRUMBS, number);
  }

  /** Announces that the call of that number has returned. */
  void returned(int thread, Stream stream, long number) {
    // Release: every store of the call comes first.
    words.putRelease(at(thread, stream) + RETURNED_OFFSET, number + 1);
  }

  /** Announces that so many calls of the stream were made before a wait that said: durable. */
  void durable(int thread, Stream stream, long calls) {
    words.putRelease(at(thread, stream) + DURABLE_OFFSET, calls);
  }

  /** {@return how many calls of the stream are known to be durable} */
  long durable(int thread, Stream stream) {
    return words.getAcquire(at(thread, stream) + DURABLE_OFFSET);
  }

  /** Counts a call that threw. */
  void fail(int thread) {
    int offset = thread * BLOCK + FAILURES_OFFSET;
    words.putRelease(offset, words.getAcquire(offset) + 1);
  }

  /** {@return how many calls of the stream have been announced} */
  long started(int thread, Stream stream) {
    return words.getAcquire(at(thread, stream));
  }

  /** {@return how many calls of the stream have returned} */
  long returned(int thread, Stream stream) {
    return words.getAcquire(at(thread, stream) + RETURNED_OFFSET);
  }

  /** {@return how many calls threw} */
  long failures(int thread) {
    return words.getAcquire(thread * BLOCK + FAILURES_OFFSET);
  }

  /**
   * {@return when the call for breadcrumb {@code number} began}
   *
   * @param number started, and one of the last {@link #HISTORY}
   */
  long crumbNanos(int thread, long number) {
    return words.getAcquire(historyAt(thread, number));
  }

  /**
   * {@return when the call for breadcrumb {@code number} had returned; the end of time if it has
   * not}
   *
   * @param number as for {@link #crumbNanos}
   */
  long crumbEndNanos(int thread, long number) {
    return number < returned(thread, Stream.CRUMBS)
        ? words.getAcquire(historyAt(thread, number) + Long.BYTES)
        : Long.MAX_VALUE;
  }

  private static int at(int thread, Stream stream) {
    return thread * BLOCK + stream.offset;
  }

  private static int historyAt(int thread, long number) {
    return thread * BLOCK + HISTORY_OFFSET + 16 * (int) (number & (HISTORY - 1));
  }
}
