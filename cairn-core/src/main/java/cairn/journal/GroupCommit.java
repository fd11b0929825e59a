package cairn.journal;

import cairn.Durability;
import cairn.format.JournalLayout;
import cairn.storage.Region;
import cairn.storage.SegmentLog;
import cairn.storage.SegmentName;
import cairn.storage.SegmentScan;
import cairn.storage.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Takes records from any number of threads and commits them together: one write and one force for
 * all that came while the last one was at work.
 */
final class GroupCommit {
  /*
   * An append stores its record into the active half of the staging, under the lock `stage`, and has
   * its number. A pass, of which there is one at a time (lock `committing`), then
   *   1 flips the halves   2 writes what the other half holds to the segment, forced if the durability
   *   says so   3 frees that half, publishes `durable`, wakes who waits for it.
   * So what arrives during a force is the next batch, and no timer is needed for that.
   *
   * Who runs a pass. The committer thread; and under power() the appending thread itself, if nobody
   * is at it: handing a single record to another thread and back costs two wake-ups, a fifth of a
   * force. Files are RandomAccessFiles, so an interrupt of that thread does no harm; a virtual thread, which would
   * hold its carrier, leaves it to the committer. A thread that ends its pass and finds records
   * staged meanwhile wakes the committer: those who staged them saw the lock taken and wait.
   *
   * Lock order: committing, then stage. `stage` is never held during I/O.
   *
   *   field                written                read
   *   last                 stage                  anywhere: volatile
   *   durable, written     committing and stage   anywhere: volatile
   *   staging, waiters     stage (drain: committing)
   *   log, drained         committing
   *   parked               atomic: the committer publishes that it is about to wait, then looks once
   *                        more; an append publishes its record, then looks whether it waits
   *
   * Errors. The log gives a segment up at its first error. The pass is then repeated once, into a new
   * segment: all that is not durable is still in the staging, or, where it was written without
   * force, read back from the segment that was given up, as far as it proves itself. If that fails as well, the half
   * stays, who waits under power() is told, and the next try is a second later.
   */

  /** Under process(): a record gets from the staging into a segment after so long. */
  private static final long WRITE_NANOS = 100_000_000;

  private static final long RETRY_NANOS = 1_000_000_000;
  private static final int FIRST_SEGMENT_BYTES = 256 * 1024;
  private static final int REWRITE_CHUNK = 256 * 1024;
  private static final int MAX_LOST_RANGES = 1024;
  private static final long JOIN_MILLIS = 2_000;
  private static final long IDLE = Long.MAX_VALUE;

  private static final int RUNNING = 0;
  private static final int TIMED = 1;
  private static final int UNTIMED = 2;

  private static final SecureRandom RANDOM = new SecureRandom();
  private static final @Nullable Class<?> VIRTUAL = virtualThreads();

  private final Storage storage;
  private final StagingMemory memory;
  private final WhenFull whenFull;
  private final long retainBytes;
  private final long retainMillis;
  private final boolean deleteAcknowledged;
  private final boolean isPower;
  private final boolean isBounded;
  private final int maxEvents;
  private final long maxDelayNanos;
  private final boolean isMapped;
  private final int maxRecordBytes;
  private final java.util.function.LongSupplier clock;
  private final @Nullable Thread thread;

  private final ReentrantLock stage = new ReentrantLock();
  private final Condition space = stage.newCondition();
  private final Staging staging;
  private final List<long[]> lostRanges = new ArrayList<>();
  private @Nullable Waiter waiters;
  private long oldestNanos;
  private long droppedCount;
  private long evictedCount;
  private boolean closed;
  private volatile long last;

  private final ReentrantLock committing = new ReentrantLock();
  private final SegmentLog log;
  private final byte[] drained;
  private final ByteBuffer drainedWords;
  private long gapIds = RANDOM.nextLong();
  private List<Gap> gaps = List.of();
  private long namedDropped;
  private long newestSegment;
  private long lostCount;
  private long deletedSegments;
  private long errors;
  private long retryAt;
  private volatile boolean failing;
  private volatile long written;
  private volatile long durable;
  private volatile long forceRequested;
  private volatile @Nullable String lastError;
  private volatile Map<String, Long> counted = Map.of();
  private final long openedAt;

  private final AtomicInteger parked = new AtomicInteger(RUNNING);
  private volatile boolean stopped;

  /** A thread that waits until a number is durable. */
  private static final class Waiter {
    static final int WAITING = 0;
    static final int DONE = 1;
    static final int FAILED = 2;

    final Thread thread = Thread.currentThread();
    final long sequence;
    final boolean failsFast;
    volatile int state = WAITING;
    @Nullable Waiter next;

    Waiter(long sequence, boolean failsFast) {
      this.sequence = sequence;
      this.failsFast = failsFast;
    }
  }

  GroupCommit(Journal.Builder builder, Storage storage, StagingMemory memory) throws IOException {
    this.storage = storage;
    this.memory = memory;
    whenFull = builder.whenFull;
    retainBytes = builder.retainBytes;
    retainMillis = builder.retainAge.toMillis();
    deleteAcknowledged = builder.deleteAcknowledged;
    clock = builder.clock;
    Durability durability = builder.durability;
    isPower = durability.equals(Durability.power());
    isBounded = !isPower && !durability.equals(Durability.process());
    maxEvents = durability.maxEvents();
    maxDelayNanos = nanos(durability.maxDelay());
    int half = (builder.stagingBytes / 2 + 4095) & -4096;
    maxRecordBytes = half / 2 - JournalLayout.FRAME_HEADER_SIZE;

    SegmentName.deleteUnfinished(storage);
    JournalRecovery found = new JournalRecovery(storage);
    for (JournalRecovery.Unforced segment : found.unforced) {
      makeDurable(segment);
    }
    log =
        new SegmentLog(
            storage,
            JournalLayout.KIND_JOURNAL,
            found.segments,
            found.lastWritten,
            FIRST_SEGMENT_BYTES,
            builder.segmentBytes,
            clock);
    takeUp(found);
    last = found.last;
    openedAt = last;
    written = last;
    durable = last;

    long nonce = RANDOM.nextLong();
    int size = Staging.fileBytes(half);
    byte[] header =
        JournalLayout.header(
            JournalLayout.KIND_STAGING, nonce, 0, last + 1, size, clock.getAsLong(), 0);
    Region region = memory.create(header, size);
    isMapped = region != null;
    staging =
        new Staging(region != null ? region : new Region(ByteBuffer.allocate(size)), half, nonce);
    drained = new byte[half];
    drainedWords = ByteBuffer.wrap(drained).order(ByteOrder.LITTLE_ENDIAN);
    expire();
    count();
    thread = builder.manual ? null : new Thread(null, this::run, "cairn-committer", 0, false);
    if (thread != null) {
      thread.setDaemon(true);
      // The application's class loader must not live as long as we do.
      thread.setContextClassLoader(null);
    }
  }

  /**
   * Makes durable what a dead process wrote. Written again in place, not only forced: after a force
   * that failed, the kernel takes the pages for clean, and the next force writes nothing. The bytes
   * are the same, so that death in between changes none.
   */
  private void makeDurable(JournalRecovery.Unforced segment) throws IOException {
    byte[] chunk = new byte[REWRITE_CHUNK];
    try (Storage.Input input = storage.read(segment.name());
        Storage.Output output = storage.open(segment.name())) {
      for (long at = 0; at < segment.end(); ) {
        int length = (int) Math.min(chunk.length, segment.end() - at);
        int read = input.read(at, chunk, 0, length);
        if (read <= 0) {
          break;
        }
        output.write(at, chunk, 0, read);
        at += read;
      }
      output.force();
    }
  }

  private static long nanos(Duration duration) {
    try {
      return duration.toNanos();
    } catch (ArithmeticException e) {
      return Long.MAX_VALUE / 4;
    }
  }

  private static @Nullable Class<?> virtualThreads() {
    try {
      return Class.forName("java.lang.BaseVirtualThread");
    } catch (ClassNotFoundException e) {
      return null; // older than 21
    }
  }

  /** Puts what only the staging file of a dead process has into a segment, forced. */
  private void takeUp(JournalRecovery found) throws IOException {
    long previous = found.lastWritten;
    if (found.dropped > 0) {
      addGap(new Gap(nextGapId(), found.dropped, 0, 0, Gap.DROPPED), previous, true);
    }
    if (found.evicted.count() > 0) {
      Staging.Evicted evicted = found.evicted;
      addGap(
          new Gap(nextGapId(), evicted.count(), evicted.from(), evicted.to(), Gap.EVICTED),
          previous,
          true);
    }
    for (JournalCursor.Frame frame : found.staged) {
      log.add(
          frame.sequence(),
          frame.millis(),
          frame.type(),
          0,
          frame.payload(),
          0,
          frame.payload().length,
          true);
      previous = frame.sequence();
    }
    previous = Math.max(previous, found.evicted.to());
    if (found.last > previous) {
      // A consumer has seen and acknowledged numbers that power loss took: they are not used again.
      addGap(
          new Gap(nextGapId(), found.last - previous, previous + 1, found.last, Gap.LOST),
          previous,
          true);
      lose(previous + 1, found.last);
    }
    log.commit(true);
  }

  private long nextGapId() {
    return gapIds++ & Long.MAX_VALUE;
  }

  private void addGap(Gap gap, long sequence, boolean force) throws IOException {
    byte[] payload = gap.encode();
    log.add(
        sequence, clock.getAsLong(), JournalLayout.TYPE_GAP, 0, payload, 0, payload.length, force);
  }

  void start() {
    if (thread != null) {
      thread.start();
    }
  }

  int maxRecordBytes() {
    return maxRecordBytes;
  }

  long lastSequence() {
    return last;
  }

  long durableSequence() {
    return durable;
  }

  boolean isClosed() {
    return stopped;
  }

  String mode() {
    return isMapped ? "mapped" : "written";
  }

  @Nullable String lastError() {
    return lastError;
  }

  // ---- append

  long append(int type, byte[] bytes, int from, int length) {
    Waiter waiter = null;
    boolean wake;
    long sequence;
    stage.lock();
    try {
      requireOpen();
      if (!staging.fits(length) && !makeRoom(length)) {
        staging.drop();
        droppedCount++;
        return Journal.DROPPED;
      }
      if (staging.records() == 0) {
        oldestNanos = System.nanoTime();
      }
      sequence = last + 1;
      staging.put(sequence, clock.getAsLong(), type, bytes, from, length);
      last = sequence;
      if (isPower) {
        waiter = new Waiter(sequence, true);
        waiter.next = waiters;
        waiters = waiter;
      }
      wake = isDue();
    } finally {
      stage.unlock();
    }
    if (waiter != null) {
      return commit(waiter);
    }
    if (!isMapped) {
      writeThrough(sequence);
    }
    int state = parked.get();
    if (state == UNTIMED || (wake && state == TIMED)) {
      wakeCommitter();
    }
    return sequence;
  }

  private void requireOpen() {
    if (closed) {
      throw new IllegalStateException("journal is closed: dir=" + storage);
    }
  }

  /** Whether the committer need not wait any longer; the stage lock is held. */
  private boolean isDue() {
    return staging.activeBytes() >= staging.halfBytes() / 2
        || (isBounded && staging.records() >= maxEvents);
  }

  /** Does what the policy says about a full staging; whether there is room now. */
  private boolean makeRoom(int length) {
    wakeCommitter();
    return switch (whenFull.policy) {
      case DROP_NEWEST -> false;
      case DROP_OLDEST -> {
        Staging.Evicted evicted =
            staging.evict(JournalLayout.aligned(JournalLayout.FRAME_HEADER_SIZE + length));
        if (evicted.count() > 0) {
          evictedCount += evicted.count();
          lose(evicted.from(), evicted.to());
        }
        yield staging.fits(length);
      }
      case BLOCK -> awaitRoom(length);
    };
  }

  private boolean awaitRoom(int length) {
    long left = whenFull.waitNanos;
    boolean interrupted = false;
    while (!staging.fits(length) && left > 0) {
      if (thread == null) {
        return false; // nobody else would make room
      }
      try {
        left = space.awaitNanos(left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
      requireOpen();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return staging.fits(length);
  }

  /** Notes that these numbers will never be durable; the stage lock is held. */
  private void lose(long from, long to) {
    if (lostRanges.size() == MAX_LOST_RANGES) {
      lostRanges.remove(0);
    }
    lostRanges.add(new long[] {from, to});
    for (Waiter waiter = waiters; waiter != null; waiter = waiter.next) {
      if (waiter.sequence >= from && waiter.sequence <= to) {
        waiter.state = Waiter.FAILED;
        LockSupport.unpark(waiter.thread);
      }
    }
  }

  private boolean isLost(long sequence) {
    stage.lock();
    try {
      for (long[] range : lostRanges) {
        if (sequence >= range[0] && sequence <= range[1]) {
          return true;
        }
      }
      return false;
    } finally {
      stage.unlock();
    }
  }

  /** Commits a record that is staged, alone or with others, or waits for who does. */
  private long commit(Waiter waiter) {
    boolean isVirtual = VIRTUAL != null && VIRTUAL.isInstance(waiter.thread);
    if (!isVirtual && committing.tryLock()) {
      try {
        if (waiter.state == Waiter.WAITING) {
          pass(true);
        }
      } finally {
        committing.unlock();
        if (last > written) {
          wakeCommitter();
        }
      }
    } else if (parked.get() != RUNNING) {
      wakeCommitter();
    }
    boolean interrupted = false;
    while (waiter.state == Waiter.WAITING) {
      LockSupport.park(this);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (waiter.state == Waiter.DONE) {
      return waiter.sequence;
    }
    if (isLost(waiter.sequence)) {
      return Journal.DROPPED;
    }
    throw refused("record is not durable", waiter.sequence);
  }

  /** Brings records to the kernel where the staging is not a mapped file. */
  private void writeThrough(long sequence) {
    committing.lock();
    try {
      if (written < sequence) {
        pass(false);
      }
      if (written < sequence) {
        throw refused("record is not written", sequence);
      }
    } finally {
      committing.unlock();
    }
  }

  private UncheckedIOException refused(String what, long sequence) {
    return new UncheckedIOException(
        what + ": sequence=" + sequence + ", dir=" + storage + ", error=" + lastError,
        new IOException(lastError));
  }

  boolean awaitDurable(long sequence, Duration timeout) {
    if (durable >= sequence) {
      return !isLost(sequence);
    }
    long start = System.nanoTime();
    long limit = nanos(timeout);
    Waiter waiter = new Waiter(sequence, false);
    stage.lock();
    try {
      forceRequested = Math.max(forceRequested, sequence);
      waiter.next = waiters;
      waiters = waiter;
      if (durable >= sequence) {
        waiter.state = Waiter.DONE;
      }
    } finally {
      stage.unlock();
    }
    if (thread == null) {
      runOnce(true);
    } else {
      wakeCommitter();
    }
    while (waiter.state == Waiter.WAITING) {
      long left = limit - (System.nanoTime() - start);
      if (left <= 0 || Thread.currentThread().isInterrupted()) {
        break;
      }
      LockSupport.parkNanos(this, left);
    }
    forget(waiter);
    return durable >= sequence && !isLost(sequence);
  }

  private void forget(Waiter waiter) {
    stage.lock();
    try {
      Waiter kept = null;
      for (Waiter next = waiters; next != null; ) {
        Waiter after = next.next;
        if (next != waiter) {
          next.next = kept;
          kept = next;
        }
        next = after;
      }
      waiters = kept;
    } finally {
      stage.unlock();
    }
  }

  // ---- the committer

  private void wakeCommitter() {
    if (parked.getAndSet(RUNNING) != RUNNING && thread != null) {
      LockSupport.unpark(thread);
    }
  }

  private void run() {
    while (!stopped) {
      try {
        long wait = untilNext();
        if (wait > 0) {
          parked.set(wait == IDLE ? UNTIMED : TIMED);
          // Once more: who staged a record before the line above has seen nobody waiting.
          wait = stopped ? 0 : untilNext();
          if (wait == IDLE) {
            LockSupport.park(this);
          } else if (wait > 0) {
            LockSupport.parkNanos(this, wait);
          }
          parked.set(RUNNING);
        } else {
          runOnce(isPower || isBounded || forceRequested > durable);
        }
      } catch (Throwable e) {
        note(e);
        LockSupport.parkNanos(this, RETRY_NANOS); // whatever it was, the next pass comes
      }
    }
  }

  /** Keeps what went wrong for {@link #lastError}; without memory, that there was none. */
  private void note(Throwable e) {
    try {
      // A FileSystemException's message may be a path and no more.
      boolean isBare = e.getMessage() == null || e instanceof FileSystemException;
      lastError = isBare ? e.toString() : String.valueOf(e.getMessage());
    } catch (Throwable again) {
      lastError = "an error, and no memory to say which";
    }
  }

  /** One pass on this thread. */
  void runOnce(boolean force) {
    committing.lock();
    try {
      pass(force);
    } finally {
      committing.unlock();
    }
  }

  /** {@return nanoseconds until a pass is due; 0 for now, IDLE for not before something happens} */
  private long untilNext() {
    stage.lock();
    try {
      long now = System.nanoTime();
      if (failing) {
        return Math.max(0, retryAt - now);
      }
      boolean isWanted = forceRequested > durable && durable < last;
      if (staging.isDraining() || isWanted || isDue()) {
        return 0;
      }
      if (isBounded && !isMapped && last - durable >= maxEvents) {
        return 0;
      }
      if (staging.records() == 0) {
        // Where the staging isn't mapped, records are written already and wait for their force.
        return isBounded && durable < last ? Math.max(0, oldestNanos + maxDelayNanos - now) : IDLE;
      }
      if (isPower) {
        return 0;
      }
      return Math.max(0, oldestNanos + (isBounded ? maxDelayNanos : WRITE_NANOS) - now);
    } finally {
      stage.unlock();
    }
  }

  // ---- a pass; the committing lock is held

  private void pass(boolean force) {
    long now = System.nanoTime();
    if (failing && now - retryAt < 0) {
      tellWaiters(true);
      return;
    }
    boolean has;
    long target;
    stage.lock();
    try {
      if (!staging.isDraining()) {
        gaps = gapsOfHalf(); // first: it may find no memory, and nothing has changed then
        namedDropped = staging.dropped();
        staging.flip();
      }
      has = staging.isDraining();
      target = has ? staging.drainingLast() : written;
    } finally {
      stage.unlock();
    }
    if (!has && gaps.isEmpty() && !(force && durable < written)) {
      return;
    }
    int length = has ? staging.drain(drained) : 0;
    if (!writeTwice(length, force)) {
      return;
    }
    stage.lock();
    try {
      staging.release(namedDropped);
      gaps = List.of();
      written = Math.max(written, target);
      durable = Math.max(durable, Math.min(log.durableSequence(), written));
      space.signalAll();
    } finally {
      stage.unlock();
    }
    tellWaiters(false);
    try {
      expireIfNew();
      count();
    } catch (OutOfMemoryError e) {
      note(e); // what was appended is committed; counters are late
    }
  }

  /** {@return what is to be said of the half that takes records, before it is written} */
  private List<Gap> gapsOfHalf() {
    if (staging.unlogged() == 0 && staging.evicted().count() == 0) {
      return List.of();
    }
    List<Gap> made = new ArrayList<>();
    if (staging.unlogged() > 0) {
      made.add(new Gap(nextGapId(), staging.unlogged(), 0, 0, Gap.DROPPED));
    }
    Staging.Evicted evicted = staging.evicted();
    if (evicted.count() > 0) {
      made.add(new Gap(nextGapId(), evicted.count(), evicted.from(), evicted.to(), Gap.EVICTED));
    }
    return made;
  }

  /** Writes the batch, and if that fails once more into a new segment; whether it is written. */
  private boolean writeTwice(int length, boolean force) {
    for (int attempt = 0; attempt < 2; attempt++) {
      try {
        write(length, force);
        failing = false;
        return true;
      } catch (IOException | RuntimeException | Error e) {
        log.abandon(); // before anything that needs memory
        errors++;
        note(e);
      }
    }
    failing = true;
    retryAt = System.nanoTime() + RETRY_NANOS;
    tellWaiters(true);
    count();
    return false;
  }

  private void write(int length, boolean force) throws IOException {
    long previous = readBack(force);
    for (Gap gap : gaps) {
      addGap(gap, previous, force);
    }
    for (int at = 0; at < length; ) {
      int frame = drainedWords.getInt(at + JournalLayout.LENGTH_OFFSET);
      long sequence = drainedWords.getLong(at + JournalLayout.SEQUENCE_OFFSET);
      if (sequence > previous) {
        log.add(
            sequence,
            drainedWords.getLong(at + JournalLayout.TIME_OFFSET),
            drainedWords.getShort(at + JournalLayout.TYPE_OFFSET),
            0,
            drained,
            at + JournalLayout.FRAME_HEADER_SIZE,
            frame - JournalLayout.FRAME_HEADER_SIZE,
            force);
        previous = sequence;
      }
      at += JournalLayout.aligned(frame);
    }
    log.commit(force);
  }

  /**
   * Adds again what was written without force to a segment that was given up since, and says what
   * of it is lost.
   *
   * @return the highest number that was added
   */
  private long readBack(boolean force) throws IOException {
    long previous = log.addedSequence();
    if (previous >= written) {
      return previous;
    }
    List<JournalCursor.Frame> frames = new ArrayList<>();
    for (SegmentLog.Segment segment : log.segments()) {
      if (segment.lastSequence() > previous) {
        readFrames(segment, previous, frames);
      }
    }
    for (JournalCursor.Frame frame : frames) {
      boolean isGap = frame.type() == JournalLayout.TYPE_GAP;
      if (!isGap && frame.sequence() <= previous) {
        continue;
      }
      if (!isGap && frame.sequence() > previous + 1) {
        addLost(previous + 1, frame.sequence() - 1, previous, force);
      }
      log.add(
          isGap ? previous : frame.sequence(),
          frame.millis(),
          frame.type(),
          0,
          frame.payload(),
          0,
          frame.payload().length,
          force);
      previous = Math.max(previous, frame.sequence());
    }
    if (previous < written) {
      addLost(previous + 1, written, previous, force);
      previous = written;
    }
    return previous;
  }

  private void readFrames(SegmentLog.Segment segment, long above, List<JournalCursor.Frame> into) {
    try (SegmentScan scan =
        SegmentScan.open(
            storage, SegmentName.of(segment.number()), true, (file, offset, text) -> {})) {
      while (scan.hasHeader() && scan.next()) {
        if (scan.sequence() > above) {
          into.add(
              new JournalCursor.Frame(scan.sequence(), scan.millis(), scan.type(), scan.payload()));
        }
      }
    } catch (IOException e) {
      lastError = "segment can't be read back: " + e.getMessage(); // what it held is lost, then
    }
  }

  /** Says in the journal which numbers are lost; those that were given up on purpose are not. */
  private void addLost(long from, long to, long previous, boolean force) throws IOException {
    List<long[]> lost = new ArrayList<>();
    stage.lock();
    try {
      long at = from;
      while (at <= to) {
        long[] known = knownRange(at);
        if (known != null) {
          at = known[1] + 1;
          continue;
        }
        long end = to;
        for (long[] range : lostRanges) {
          if (range[0] > at) {
            end = Math.min(end, range[0] - 1);
          }
        }
        lost.add(new long[] {at, end});
        at = end + 1;
      }
      for (long[] range : lost) {
        lose(range[0], range[1]);
      }
    } finally {
      stage.unlock();
    }
    for (long[] range : lost) {
      lostCount += range[1] - range[0] + 1;
      addGap(
          new Gap(nextGapId(), range[1] - range[0] + 1, range[0], range[1], Gap.LOST),
          previous,
          force);
    }
  }

  private long @Nullable [] knownRange(long sequence) {
    for (long[] range : lostRanges) {
      if (sequence >= range[0] && sequence <= range[1]) {
        return range;
      }
    }
    return null;
  }

  /**
   * Wakes those whose number is durable; after a failure also those that don't wait for the next
   * try.
   */
  private void tellWaiters(boolean failed) {
    Waiter told = null;
    stage.lock();
    try {
      Waiter kept = null;
      for (Waiter waiter = waiters; waiter != null; ) {
        Waiter after = waiter.next;
        if (waiter.state == Waiter.FAILED) {
          waiter.next = null; // told already
        } else if (waiter.sequence <= durable) {
          waiter.next = told;
          told = waiter;
          waiter.state = Waiter.DONE;
        } else if (failed && waiter.failsFast) {
          waiter.next = told;
          told = waiter;
          waiter.state = Waiter.FAILED;
        } else {
          waiter.next = kept;
          kept = waiter;
        }
        waiter = after;
      }
      waiters = kept;
    } finally {
      stage.unlock();
    }
    Thread self = Thread.currentThread();
    for (Waiter waiter = told; waiter != null; waiter = waiter.next) {
      if (waiter.thread != self) {
        LockSupport.unpark(waiter.thread);
      }
    }
  }

  // ---- retention

  private void expireIfNew() {
    long newest = log.newestSegment();
    if (newest != newestSegment) {
      newestSegment = newest;
      expire();
    }
  }

  private void expire() {
    try {
      long acknowledged = deleteAcknowledged ? acknowledgedByAll() : 0;
      long oldest = clock.getAsLong() - retainMillis;
      int before = log.segments().size();
      log.expire(
          (segment, totalBytes) ->
              totalBytes > retainBytes
                  || segment.newestMillis() < oldest
                  || (segment.lastSequence() <= acknowledged && acknowledged > 0));
      deletedSegments += before - log.segments().size();
    } catch (IOException e) {
      lastError = "old segments were not deleted: " + e.getMessage();
    }
  }

  private long acknowledgedByAll() throws IOException {
    long lowest = Long.MAX_VALUE;
    for (long acknowledged : JournalReader.consumers(storage).values()) {
      lowest = Math.min(lowest, acknowledged);
    }
    return lowest == Long.MAX_VALUE ? 0 : lowest;
  }

  // ---- counters and end

  private void count() {
    Map<String, Long> now = new LinkedHashMap<>();
    now.put("lost", lostCount);
    now.put("forces", log.forces());
    now.put("writes", log.writes());
    now.put("bytesWritten", log.bytesWritten());
    now.put("forceErrors", errors);
    now.put("segmentsDeleted", deletedSegments);
    counted = now;
  }

  Map<String, Long> counters() {
    Map<String, Long> all = new LinkedHashMap<>();
    stage.lock();
    try {
      all.put("appended", last - openedAt);
      all.put("dropped", droppedCount);
      all.put("evicted", evictedCount);
    } finally {
      stage.unlock();
    }
    all.putAll(counted);
    return all;
  }

  /** Forces what waits and stops. */
  void close() {
    stage.lock();
    try {
      if (closed) {
        return;
      }
      closed = true;
      space.signalAll();
    } finally {
      stage.unlock();
    }
    stopped = true;
    joinCommitter();
    boolean isWhole;
    committing.lock();
    try {
      retryAt = System.nanoTime();
      pass(true);
      retryAt = System.nanoTime();
      pass(true); // a half that an earlier pass left, then the other
      isWhole = durable >= last && !failing;
      log.close();
      if (isWhole) {
        memory.delete();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      committing.unlock();
    }
    if (!isWhole) {
      throw new UncheckedIOException(
          "not all records are durable: durable="
              + durable
              + ", last="
              + last
              + ", dir="
              + storage
              + ", error="
              + lastError,
          new IOException(lastError));
    }
  }

  private void joinCommitter() {
    if (thread == null) {
      return;
    }
    boolean interrupted = false;
    LockSupport.unpark(thread);
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(JOIN_MILLIS);
    while (thread.isAlive() && System.nanoTime() - end < 0) {
      try {
        thread.join(JOIN_MILLIS / 10);
        LockSupport.unpark(thread);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
