package cairn.journal;

import cairn.Durability;
import cairn.Redaction;
import cairn.format.JournalLayout;
import cairn.format.Secrets;
import cairn.storage.DirectoryLock;
import cairn.storage.DiskStorage;
import cairn.storage.PrivateFiles;
import cairn.storage.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * An append-only journal in a directory of its own.
 *
 * <p>Any thread, virtual ones included; an interrupt fails nothing and closes nothing. What a
 * returned {@link #append} survives is the {@link Durability} that it was opened with:
 *
 * <table>
 * <caption>What a returned append survives</caption>
 * <tr><th></th><th>process death</th><th>power loss</th></tr>
 * <tr><td>{@code process()}</td><td>yes</td><td>until the next force: about the last 35 s may go</td></tr>
 * <tr><td>{@code bounded(n, d)}</td><td>yes</td><td>all but the last n records or the last d,
 *     whichever is more, and what arrived during the force in flight</td></tr>
 * <tr><td>{@code power()}</td><td>yes</td><td>yes</td></tr>
 * </table>
 *
 * <p>One journal writes to a directory at a time; {@link JournalReader} reads it from anywhere.
 * Numbers are contiguous; what is missing is named in the journal itself, with the reason.
 *
 * <pre>{@code
 * try (Journal journal = Journal.builder(Path.of("jobs")).durability(Durability.power()).open()) {
 *   journal.replay(entry -> done.add(entry.event().get("step")));
 *   ...
 *   journal.append(Map.of("step", "export", "rows", 17)); // on the disk when it returns
 * }
 * }</pre>
 */
public final class Journal implements AutoCloseable {
  /** What {@link #append} returns for a record that was dropped. */
  public static final long DROPPED = -1;

  private final GroupCommit commit;
  private final JournalReader reader;
  private final Storage storage;
  private final Secrets secrets;
  private final @Nullable DirectoryLock lock;
  private final ConcurrentLinkedQueue<EventEncoder> encoders = new ConcurrentLinkedQueue<>();
  private final LongAdder cuts = new LongAdder();
  private final LongAdder placeholders = new LongAdder();
  private final LongAdder redactions = new LongAdder();

  Journal(Storage storage, GroupCommit commit, Secrets secrets, @Nullable DirectoryLock lock) {
    this.storage = storage;
    this.commit = commit;
    this.secrets = secrets;
    this.lock = lock;
    this.reader = new JournalReader(storage, () -> !commit.isClosed());
  }

  /**
   * Begins to describe a journal.
   *
   * @param directory the journal's own; made if it is missing
   */
  public static Builder builder(Path directory) {
    return new Builder(directory);
  }

  /**
   * Appends a record. As {@link #append(byte[], int, int)} with all bytes.
   *
   * @return its number, or {@link #DROPPED}
   */
  public long append(byte[] bytes) {
    return append(bytes, 0, bytes.length);
  }

  /**
   * Appends a record.
   *
   * <p>Under {@code process} and {@code bounded} it costs a checksum, a copy and a short lock, and
   * now and then a system call that wakes the committer; under {@code power} it waits for a force,
   * which it shares with all that wait at that time. Where the staging is full it does what {@link
   * WhenFull} says. The bytes are copied: the caller may change them afterwards.
   *
   * @return its number, or {@link #DROPPED} if there was no room and it was not recorded
   * @throws IllegalArgumentException if it is longer than {@link #maxRecordBytes()}
   * @throws IllegalStateException if the journal is closed
   * @throws UncheckedIOException under {@code power}, if it could not be forced, nor in a new
   *     segment; where {@link #mode()} is {@code written}, under any durability, if it could not be
   *     written. It has its number and stays staged: it is tried again every second, survives
   *     process death meanwhile if {@link #mode()} is {@code mapped}, and {@link #awaitDurable}
   *     tells when it is on the disk
   */
  public long append(byte[] bytes, int from, int length) {
    Objects.checkFromIndexSize(from, length, bytes.length);
    requireLength(length);
    return commit.append(JournalLayout.TYPE_BYTES, bytes, from, length);
  }

  /**
   * Appends an event: a map that is encoded at the call as a breadcrumb's data is, to CBOR, with
   * secrets redacted, and cut where it exceeds 64 KiB a text, 10,000 elements a list, 50,000
   * values, 16 levels or {@link #maxRecordBytes()}; marked and counted. Otherwise as {@link
   * #append(byte[], int, int)}.
   */
  public long append(Map<String, ?> event) {
    Objects.requireNonNull(event, "event");
    byte[] encoded = encode(event);
    return commit.append(JournalLayout.TYPE_EVENT, encoded, 0, encoded.length);
  }

  /** A copy: an append may wait long, and the encoder has room for the longest record. */
  private byte[] encode(Map<String, ?> event) {
    EventEncoder encoder = encoders.poll();
    if (encoder == null) {
      encoder = new EventEncoder(maxRecordBytes(), secrets);
    }
    try {
      byte[] encoded = Arrays.copyOf(encoder.bytes(), encoder.encode(event));
      cuts.add(encoder.cuts);
      placeholders.add(encoder.placeholders);
      redactions.add(encoder.redactions);
      return encoded;
    } finally {
      encoders.offer(encoder);
    }
  }

  private void requireLength(int length) {
    if (length > maxRecordBytes()) {
      throw new IllegalArgumentException(
          "record is too long: length="
              + length
              + ", limit="
              + maxRecordBytes()
              + " (give the journal a larger staging: stagingBytes)");
    }
  }

  /** {@return the longest record: a quarter of the staging, less what frames it} */
  public int maxRecordBytes() {
    return commit.maxRecordBytes();
  }

  /**
   * Waits until a record survives power loss, forcing it if need be.
   *
   * @return whether it does; false if the time ran out, the thread was interrupted (it stays so) or
   *     the record is lost
   */
  public boolean awaitDurable(long sequence, Duration timeout) {
    Objects.requireNonNull(timeout, "timeout");
    if (sequence > lastSequence()) {
      throw new IllegalArgumentException(
          "no such record yet: sequence=" + sequence + ", last=" + lastSequence());
    }
    return commit.awaitDurable(sequence, timeout);
  }

  /** As {@link #awaitDurable} for all that was appended before; true if there is nothing. */
  public boolean force(Duration timeout) {
    return awaitDurable(lastSequence(), timeout);
  }

  /** {@return the number of the newest record; 0 if there never was one} */
  public long lastSequence() {
    return commit.lastSequence();
  }

  /**
   * {@return the number up to which all records survive power loss, but for those that {@link
   * #counters} calls lost or evicted}
   */
  public long durableSequence() {
    return commit.durableSequence();
  }

  /**
   * Hands over all entries, of earlier processes too, oldest first; appends meanwhile may or may
   * not be among them. As {@link JournalReader#replay(EntryHandler)}.
   */
  public List<JournalFinding> replay(EntryHandler handler) throws IOException {
    return reader.replay(handler);
  }

  /** As {@link #replay(EntryHandler)}, from that number on. */
  public List<JournalFinding> replay(long fromSequence, EntryHandler handler) throws IOException {
    return reader.replay(fromSequence, handler);
  }

  /** As {@link #replay(EntryHandler)}, from that time on. */
  public List<JournalFinding> replay(Instant from, EntryHandler handler) throws IOException {
    return reader.replay(from, handler);
  }

  /** {@return the newest entries, oldest first} */
  public List<Entry> last(int count) throws IOException {
    return reader.last(count);
  }

  /** {@return a follower; see {@link JournalReader#follow}} */
  public JournalFollower follow(long fromSequence) {
    return reader.follow(fromSequence);
  }

  /** {@return a consumer; see {@link JournalReader#consumer}} */
  public JournalConsumer consumer(String name) throws IOException {
    return reader.consumer(name);
  }

  /**
   * {@return {@code mapped}, or {@code written} where the file system can't map the staging file:
   * then each append under {@code process} and {@code bounded} writes to its segment before it
   * returns}
   */
  public String mode() {
    return commit.mode();
  }

  /**
   * {@return what was counted since this journal was opened} {@code appended}, {@code dropped},
   * {@code evicted}, {@code lost}, {@code forces}, {@code writes}, {@code bytesWritten}, {@code
   * forceErrors}, {@code segmentsDeleted}; and of events {@code cut}, {@code placeholders}, {@code
   * redacted}.
   */
  public Map<String, Long> counters() {
    Map<String, Long> all = new LinkedHashMap<>(commit.counters());
    all.put("cut", cuts.sum());
    all.put("placeholders", placeholders.sum());
    all.put("redacted", redactions.sum());
    return all;
  }

  /** {@return the error of the last write or force, if it failed; else null} */
  public @Nullable String lastError() {
    return commit.lastError();
  }

  /**
   * Forces what waits, and gives the directory up. Appends that overlap may be refused.
   *
   * @throws UncheckedIOException if that could not be forced; the staging file then stays, and the
   *     next opener takes it up
   */
  @Override
  public void close() {
    try (lock) {
      commit.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String toString() {
    return "Journal["
        + storage
        + ", durable="
        + durableSequence()
        + ", last="
        + lastSequence()
        + "]";
  }

  /** Describes a journal. Not for several threads. */
  public static final class Builder {
    private static final int MIN_SEGMENT_BYTES = 16 * 1024;
    private static final int MAX_SEGMENT_BYTES = 1 << 30;
    private static final int MIN_STAGING_BYTES = 16 * 1024;
    private static final int MAX_STAGING_BYTES = 256 << 20;

    private final Path directory;
    Durability durability = Durability.process();
    int segmentBytes = 4 << 20;
    int stagingBytes = 1 << 20;
    WhenFull whenFull = WhenFull.block(Duration.ofSeconds(10));
    long retainBytes = Long.MAX_VALUE;
    Duration retainAge = Duration.ofMillis(Long.MAX_VALUE);
    boolean deleteAcknowledged;
    private Redaction redaction = Redaction.standard();

    /** For tests: the wall clock, and no committer thread. */
    java.util.function.LongSupplier clock = System::currentTimeMillis;

    boolean manual;

    Builder(Path directory) {
      this.directory = Objects.requireNonNull(directory, "directory");
    }

    /** Sets what a returned append survives. Default: {@link Durability#process()}. */
    public Builder durability(Durability value) {
      durability = Objects.requireNonNull(value, "durability");
      return this;
    }

    /**
     * Sets the size of a segment file: what retention deletes at a time. Default: 4 MiB. The first
     * of a process has 256 KiB, each next is twice as large up to this.
     *
     * @param value 16 KiB to 1 GiB
     */
    public Builder segmentBytes(int value) {
      segmentBytes = within("segmentBytes", value, MIN_SEGMENT_BYTES, MAX_SEGMENT_BYTES);
      return this;
    }

    /**
     * Sets how many bytes of records may wait for the disk. Default: 1 MiB. A record is at most a
     * quarter of it.
     *
     * @param value 16 KiB to 256 MiB
     */
    public Builder stagingBytes(int value) {
      stagingBytes = within("stagingBytes", value, MIN_STAGING_BYTES, MAX_STAGING_BYTES);
      return this;
    }

    private static int within(String name, int value, int min, int max) {
      if (value < min || value > max) {
        throw new IllegalArgumentException(
            name + " is out of range: " + name + "=" + value + ", limit=" + min + ".." + max);
      }
      return value;
    }

    /** Sets what append does when the staging is full. Default: it blocks for up to 10 s. */
    public Builder whenFull(WhenFull value) {
      whenFull = Objects.requireNonNull(value, "whenFull");
      return this;
    }

    /**
     * Deletes the oldest segments when all together take more than that; acknowledged or not. The
     * newest stays. Default: nothing is deleted.
     *
     * @param value 1 or more
     */
    public Builder retainBytes(long value) {
      if (value < 1) {
        throw new IllegalArgumentException(
            "retainBytes is too small: retainBytes=" + value + ", limit=1");
      }
      retainBytes = value;
      return this;
    }

    /**
     * Deletes segments whose newest record is older than that, when a new segment begins and at
     * open; acknowledged or not. Default: nothing is deleted.
     *
     * @param value positive
     */
    public Builder retainAge(Duration value) {
      Objects.requireNonNull(value, "retainAge");
      if (value.isNegative() || value.isZero()) {
        throw new IllegalArgumentException("retainAge is not positive: retainAge=" + value);
      }
      retainAge = value;
      return this;
    }

    /**
     * Deletes segments that every consumer has acknowledged in full, when a new segment begins and
     * at open. As long as there is no consumer, nothing. Default: off.
     */
    public Builder deleteAcknowledged() {
      deleteAcknowledged = true;
      return this;
    }

    /**
     * Sets what is redacted in events. Default: {@link Redaction#standard()}. Bytes stay as they
     * are.
     */
    public Builder redaction(Redaction value) {
      redaction = Objects.requireNonNull(value, "redaction");
      return this;
    }

    /**
     * Opens the journal and takes up what an earlier process left in the staging file. Reads the
     * newest segments.
     *
     * @throws JournalLockedException if another writes to the directory; names the owner
     * @throws IOException if the directory can't be made, read or written
     */
    public Journal open() throws IOException {
      requireRoomForRecords();
      PrivateFiles.createDirectories(directory, PrivateFiles.isPosix(directory));
      JournalRecovery.requireJournal(new DiskStorage(directory));
      DirectoryLock lock;
      try {
        lock = DirectoryLock.take(directory, "lock", "journal");
      } catch (DirectoryLock.HeldException e) {
        throw new JournalLockedException(e);
      }
      boolean done = false;
      try {
        Storage storage = new DiskStorage(directory.toRealPath());
        Journal journal = open(storage, new StagingMemory.OfDirectory(directory), lock);
        done = true;
        return journal;
      } finally {
        if (!done) {
          lock.close();
        }
      }
    }

    private void requireRoomForRecords() {
      if (segmentBytes < stagingBytes / 4 + 8192) {
        throw new IllegalArgumentException(
            "a record of a quarter of the staging does not fit into a segment: segmentBytes="
                + segmentBytes
                + ", stagingBytes="
                + stagingBytes);
      }
    }

    /** For tests: any storage and staging, and a committer that may be run by hand. */
    Journal open(Storage storage, StagingMemory memory, @Nullable DirectoryLock lock)
        throws IOException {
      requireRoomForRecords();
      GroupCommit commit = new GroupCommit(this, storage, memory);
      commit.start();
      return new Journal(storage, commit, Secrets.of(redaction), lock);
    }

    @Override
    public String toString() {
      return "Journal.Builder[dir="
          + directory
          + ", durability="
          + durability
          + ", segmentBytes="
          + segmentBytes
          + ", stagingBytes="
          + stagingBytes
          + ", whenFull="
          + whenFull
          + ", retainBytes="
          + (retainBytes == Long.MAX_VALUE ? "unlimited" : retainBytes)
          + ", retainAge="
          + (retainAge.toMillis() == Long.MAX_VALUE ? "unlimited" : retainAge)
          + ", deleteAcknowledged="
          + deleteAcknowledged
          + ", redaction="
          + redaction
          + "]";
    }
  }
}
