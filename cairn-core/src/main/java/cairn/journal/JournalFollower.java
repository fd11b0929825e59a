package cairn.journal;

import cairn.format.JournalLayout;
import cairn.storage.SegmentGroup;
import cairn.storage.SegmentName;
import cairn.storage.SegmentScan;
import cairn.storage.Storage;
import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows a journal that may be written to meanwhile, across its segments and its writers.
 *
 * <p>One thread at a time; no lock, no notification: looks at the file again every few
 * milliseconds. An entry that retention deleted before it was read is skipped and is a finding.
 */
public final class JournalFollower implements Closeable {
  /*
   * In the segment that may be written to, a place where no frame proves itself is the end for now:
   * the writer may be in the middle of it. Only when a next segment is there, or no writer, can it be damage.
   */
  private static final long POLL_NANOS = 2_000_000;

  private final Storage storage;
  private final BooleanSupplier live;
  private final List<JournalFinding> findings = Collections.synchronizedList(new ArrayList<>());
  private long next;
  private boolean begun;
  private volatile boolean closed;
  private long number;
  private @Nullable SegmentGroup group;

  JournalFollower(Storage storage, long from, BooleanSupplier live) {
    this.storage = storage;
    this.live = live;
    this.next = Math.max(1, from);
    // From 1: wherever the journal begins.
    this.begun = next > 1;
  }

  /** {@return the number that the next entry has at least} */
  public long nextSequence() {
    return next;
  }

  /** {@return what was not sound so far} */
  public List<JournalFinding> findings() {
    synchronized (findings) {
      return List.copyOf(findings);
    }
  }

  /**
   * {@return the next entry, or null if none came in that time}
   *
   * <p>An interrupt ends the wait early and stays set; so does a close by another thread.
   *
   * @param timeout zero to look once
   * @throws IllegalStateException if it is closed
   */
  public @Nullable Entry poll(Duration timeout) throws IOException {
    Objects.requireNonNull(timeout, "timeout");
    long limit;
    try {
      limit = timeout.toNanos();
    } catch (ArithmeticException e) {
      limit = Long.MAX_VALUE;
    }
    if (closed) {
      throw new IllegalStateException("follower is closed: dir=" + storage);
    }
    long start = System.nanoTime();
    while (true) {
      Entry entry = look();
      if (entry != null) {
        return entry;
      }
      long left = limit - (System.nanoTime() - start);
      if (left <= 0 || closed || Thread.currentThread().isInterrupted()) {
        return null;
      }
      LockSupport.parkNanos(this, Math.min(left, POLL_NANOS));
    }
  }

  private @Nullable Entry look() throws IOException {
    while (true) {
      SegmentGroup open = group;
      if (open == null) {
        if (!openNext()) {
          return null;
        }
        continue;
      }
      Entry entry = take(open, false); // nothing but this file is looked at while it has more
      if (entry != null) {
        return entry;
      }
      if (hasLater(open)) {
        open.addRepeating();
      }
      // Asked before reading: then what is there is all that these segments will ever hold.
      boolean isFinished = hasLater(open) || !live.getAsBoolean();
      entry = take(open, isFinished);
      if (entry != null) {
        return entry;
      }
      if (!hasLater(open)) {
        return null;
      }
      if (isFinished) {
        number = open.lastNumber();
        group = null;
        open.close();
      }
    }
  }

  private @Nullable Entry take(SegmentGroup open, boolean isFinished) throws IOException {
    while (open.next(isFinished)) {
      SegmentScan frame = open.frame().scan();
      int type = frame.type();
      boolean isEntry = type == JournalLayout.TYPE_BYTES || type == JournalLayout.TYPE_EVENT;
      if (isEntry && frame.sequence() >= next) {
        if (frame.sequence() > next && begun) {
          findings.add(
              new JournalFinding(
                  SegmentName.of(open.frame().number()),
                  frame.frameOffset(),
                  true,
                  "sequence numbers are missing: from=" + next + ", to=" + (frame.sequence() - 1)));
        }
        begun = true;
        next = frame.sequence() + 1;
        return new Entry(frame.sequence(), frame.millis(), type, frame.payload());
      }
    }
    return null;
  }

  private boolean hasLater(SegmentGroup open) throws IOException {
    List<Long> numbers = SegmentName.numbers(storage);
    return !numbers.isEmpty() && numbers.get(numbers.size() - 1) > open.lastNumber();
  }

  private boolean openNext() throws IOException {
    if (number == 0) {
      number = JournalRecovery.segmentBefore(storage, next);
    }
    SegmentGroup opened =
        SegmentGroup.openAfter(
            storage,
            number,
            segment ->
                (file, offset, text) ->
                    findings.add(new JournalFinding(file, offset, false, text)));
    if (opened == null) {
      return false;
    }
    group = opened;
    number = opened.lastNumber();
    return true;
  }

  @Override
  public void close() throws IOException {
    closed = true;
    SegmentGroup closing = group;
    group = null;
    if (closing != null) {
      closing.close();
    }
  }
}
