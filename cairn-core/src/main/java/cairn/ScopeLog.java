package cairn;

import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.storage.Region;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32C;

/**
 * The scope's fields, latest value wins, in two half-logs.
 *
 * <p>Any thread; one short lock, held for a checksum and a copy, now and then for a compaction of
 * at most half a half-log; never across the application's code. No system call and no allocation.
 * Survives process death once {@link #update} returns.
 */
final class ScopeLog {
  /*
   * An update appends one record to the active half. When that half is full, or holds for a minute
   * what is no longer true, the scope moves to the other half under the next generation:
   *
   * 1 copy the latest record of each live field to the other half
   * 2 zero what that half held behind them
   * 3 name the new generation in the head: the commit
   * 4 erase in the half left behind every record of a value that was overwritten or removed
   *
   * Process death before 3: the old half is active and whole. After 3 the new one is. Nothing that a
   * reader takes is touched on either side of it.
   *
   * Power loss keeps any mix of the sectors. If the head is kept and 1 is not, or not all of it, a
   * reader falls back to the old half: so 4 leaves there what 1 copied, and it leaves the records
   * that say "removed", which have a key and no value; without them a value whose erasure was lost
   * would come back. If the head is lost and 4 kept, the old half must still be whole to the
   * reader, who cannot tell zeros from a sector that was never written: so what is erased becomes
   * records of their own that say so, each within one sector.
   *
   * So after the compaction that follows a removal or an overwrite, the old value is nowhere: 4
   * erased its record, and 1 and 2 wrote over the copy that an earlier compaction left. Clearing is
   * the same with nothing to copy and everything to erase, keys included.
   *
   * The live fields never take more than half a half (an update that would exceed it is refused and
   * counted, the old value stays), so a compaction always frees at least as much as it keeps.
   *
   * The index finds a field's latest record by the encoded bytes of its kind and key, which are the
   * record's own prefix; nothing of it is in the box.
   */

  private static final int EMPTY = 0;
  private static final int REMOVED = -1;
  private static final int HASH_SEED = 17;

  /** Of {@link #published}: how many bits the end takes. */
  static final int END_BITS = 24;

  /** An old value is erased after so many seconds at the latest. */
  static final int MAX_STALE_BEATS = 60;

  private static final byte[] ZEROS = new byte[4096];

  private final Region region;
  private final int offset;
  private final int half;
  private final TwoCopies head;
  private final Counters counters;
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * Generation and end of the active half, for the committer, which doesn't take the lock: below
   * the end the half is final until the generation changes.
   */
  private final AtomicLong published = new AtomicLong();

  private final AtomicLong clears = new AtomicLong();

  // All below: guarded by lock.
  private Index index;
  private Index spare;
  private final byte[] image;
  private final ByteBuffer words;
  private final CRC32C crc = new CRC32C();
  private long generation = 1;
  private int end;
  private int liveBytes;

  /** Bytes of the other half that may hold anything but zeros. */
  private int otherEnd;

  /** Beats since a value was overwritten or removed, counting from 1; 0 if none was. */
  private int staleBeats;

  /** Where each live field's latest record lies in the active half. */
  private static final class Index {
    final int[] hashes;
    final int[] prefixLengths;

    /** Offset within the half, plus 1; {@link #EMPTY} or {@link #REMOVED}. */
    final int[] offsets;

    /** By record offset / alignment: the entry it was appended for, plus 1. */
    final int[] entries;

    Index(int half) {
      // A record takes at least 64 bytes, so at most half of this is ever in use.
      int capacity = half / RecordLayout.ALIGNMENT;
      hashes = new int[capacity];
      prefixLengths = new int[capacity];
      offsets = new int[capacity];
      entries = new int[capacity];
    }

    void clear() {
      Arrays.fill(offsets, EMPTY);
      Arrays.fill(entries, 0);
    }

    /** Finds a place for a field that has none. */
    int insert(int hash, int prefix) {
      int mask = offsets.length - 1;
      int i = hash & mask;
      while (offsets[i] > 0) {
        i = (i + 1) & mask;
      }
      hashes[i] = hash;
      prefixLengths[i] = prefix;
      return i;
    }

    void put(int entry, int at) {
      offsets[entry] = at + 1;
      entries[at / RecordLayout.ALIGNMENT] = entry + 1;
    }
  }

  /**
   * @param half bytes of a half-log, a power of two
   */
  ScopeLog(Region region, int offset, int half, long nonce, TwoCopies head, Counters counters) {
    this.region = region;
    this.offset = offset;
    this.half = half;
    this.head = head;
    this.counters = counters;
    this.index = new Index(half);
    this.spare = new Index(half);
    this.image = new byte[8 + maxRecordBytes()];
    this.words = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
    words.putLong(0, nonce);
  }

  /** Makes the first generation the active one. */
  void start() {
    publishGeneration();
  }

  /** {@return the longest record that an update may be} */
  int maxRecordBytes() {
    return half / 4;
  }

  /**
   * Sets or removes a field.
   *
   * @param scratch holds the payload
   * @param length of the record
   * @param prefix bytes of the payload that name the field: its map head, kind and key
   * @param removes whether the payload has no value
   */
  void update(Scratch scratch, int length, int prefix, boolean removes, long wallMillis) {
    if (length > maxRecordBytes()) {
      counters.increment(CounterLayout.SCOPE_DROPPED);
      return;
    }
    int hash = hash(scratch.bytes, prefix);
    int size = RecordLayout.aligned(length);
    lock.lock();
    try {
      int entry = find(hash, scratch.bytes, prefix);
      int old = entry < 0 ? 0 : recordBytes(entry);
      if (removes) {
        if (entry >= 0) {
          append(scratch, length, wallMillis);
          index.offsets[find(hash, scratch.bytes, prefix)] = REMOVED;
          liveBytes -= old;
          noteStale();
        }
        return;
      }
      if (liveBytes - old + size > half / 2) {
        counters.increment(CounterLayout.SCOPE_DROPPED);
        return;
      }
      long before = generation;
      int at = append(scratch, length, wallMillis);
      if (generation != before) {
        entry = find(hash, scratch.bytes, prefix); // the compaction has moved it
      }
      index.put(entry < 0 ? index.insert(hash, prefix) : entry, at);
      liveBytes += size - old;
      if (old > 0) {
        noteStale();
      }
    } finally {
      lock.unlock();
    }
  }

  /** After the append, which may have compacted: the old value is in the box still. */
  private void noteStale() {
    if (staleBeats == 0) {
      staleBeats = 1;
    }
  }

  /**
   * Removes all fields and erases them: an empty generation. Not a record that says so: one damaged
   * byte in it would bring every field back.
   */
  void clear() {
    lock.lock();
    try {
      int from = base(generation);
      int stop = end;
      index.clear();
      liveBytes = 0;
      generation++;
      end = 0;
      publishGeneration();
      erase(from, 0, stop);
      left(stop);
      clears.incrementAndGet();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Compacts if the active half is three quarters full, or if an old value has been in the box for
   * {@link #MAX_STALE_BEATS} of these calls; the housekeeper's work, once a second.
   */
  void compactEarly() {
    if (lock.tryLock()) {
      try {
        boolean isStale = staleBeats > 0 && ++staleBeats > MAX_STALE_BEATS;
        if (isStale || end > half - half / 4) {
          compact();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** Compacts if an old value is in the box; at the end of a run. */
  void eraseStale() {
    if (lock.tryLock()) {
      try {
        if (staleBeats > 0) {
          compact();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /** Appends the record and returns its offset within the half. */
  private int append(Scratch scratch, int length, long wallMillis) {
    int size = RecordLayout.aligned(length);
    if (end + size > half) {
      compact();
    }
    int at = end;
    long position = generation * half + at;
    scratch.seal(position, length, RecordLayout.TYPE_SCOPE_FIELD, 0, wallMillis);
    store(scratch.bytes, base(generation) + at, length, position);
    end += size;
    publish();
    return at;
  }

  /** Stores a sealed record whose image starts at {@link Scratch#RECORD}. */
  private void store(byte[] source, int target, int length, long position) {
    region.putBytesPlain(
        target + RecordLayout.LENGTH_OFFSET,
        source,
        Scratch.RECORD + RecordLayout.LENGTH_OFFSET,
        length - RecordLayout.LENGTH_OFFSET);
    // Release: publishes the record. Partner: a reader's look at the position.
    region.putLongRelease(target + RecordLayout.POSITION_OFFSET, position);
  }

  private int base(long ofGeneration) {
    return offset + (int) (ofGeneration & 1) * half;
  }

  private int recordBytes(int entry) {
    int at = base(generation) + index.offsets[entry] - 1;
    return RecordLayout.aligned(region.getIntPlain(at + RecordLayout.LENGTH_OFFSET));
  }

  /** Moves the live fields to the other half, in order, and erases what is dead in this one. */
  private void compact() {
    int from = base(generation);
    int stop = end;
    Index live = index;
    Index next = spare;
    next.clear();
    generation++;
    end = 0;
    for (int at = 0, length; at < stop; at += RecordLayout.aligned(length)) {
      length = region.getIntPlain(from + at + RecordLayout.LENGTH_OFFSET);
      int entry = live.entries[at / RecordLayout.ALIGNMENT] - 1;
      if (entry >= 0 && live.offsets[entry] == at + 1) {
        next.put(next.insert(live.hashes[entry], live.prefixLengths[entry]), end);
        copy(from + at, length);
      }
    }
    index = next;
    spare = live;
    publishGeneration();
    eraseDead(live, from, stop);
    left(stop);
  }

  private void copy(int source, int length) {
    int size = RecordLayout.aligned(length);
    region.getBytesPlain(source, image, Scratch.RECORD, length);
    Arrays.fill(image, Scratch.RECORD + length, Scratch.RECORD + size, (byte) 0);
    long position = generation * half + end;
    seal(position, length, length);
    store(image, base(generation) + end, size, position);
    end += size;
  }

  /** Seals the image; {@code checked} bytes of it are under the checksum. */
  private void seal(long position, int length, int checked) {
    words.putLong(Scratch.RECORD + RecordLayout.POSITION_OFFSET, position);
    words.putInt(Scratch.RECORD + RecordLayout.LENGTH_OFFSET, length);
    words.putInt(Scratch.RECORD + RecordLayout.CRC_OFFSET, 0);
    crc.reset();
    crc.update(image, 0, Scratch.RECORD + checked);
    words.putInt(Scratch.RECORD + RecordLayout.CRC_OFFSET, (int) crc.getValue());
  }

  /**
   * Zeros the rest of the new half and names its generation: the records of the generation are
   * stored, the head's own release stores publish them. It also says how many bytes they take:
   * after power loss the head may be on disk and they not.
   */
  private void publishGeneration() {
    int target = base(generation);
    zero(target + end, target + otherEnd);
    head.write(generation, end);
    publish();
  }

  private void publish() {
    // Release, and a fence behind it: the records are stored before it, and what is erased in the
    // half left behind after it. Partner: the committer's looks before and after it copies.
    published.setRelease(generation << END_BITS | end);
    VarHandle.releaseFence();
  }

  // For the committer

  /** {@return the active generation, and below {@link #END_BITS} the end of its half} */
  long published() {
    return published.get();
  }

  /** {@return how often the scope was cleared} */
  long clears() {
    return clears.get();
  }

  /** {@return bytes of a half} */
  int half() {
    return half;
  }

  /**
   * Copies a part of that generation's half. What was copied is what was published, if {@link
   * #published} still names the generation afterwards.
   */
  void read(long ofGeneration, int from, byte[] into, int to, int length) {
    region.getBytesPlain(base(ofGeneration) + from, into, to, length);
    VarHandle.acquireFence();
  }

  /** Runs an action while the scope stands still; for the committer, if it never does otherwise. */
  void whileLocked(Runnable action) {
    lock.lock();
    try {
      action.run();
    } finally {
      lock.unlock();
    }
  }

  /** Erases what is neither live in {@code index} nor a removal: those have no entry. */
  private void eraseDead(Index index, int from, int stop) {
    int deadFrom = -1;
    for (int at = 0, length; at < stop; at += RecordLayout.aligned(length)) {
      length = region.getIntPlain(from + at + RecordLayout.LENGTH_OFFSET);
      int entry = index.entries[at / RecordLayout.ALIGNMENT] - 1;
      boolean isDead = entry >= 0 && index.offsets[entry] != at + 1;
      if (isDead && deadFrom < 0) {
        deadFrom = at;
      } else if (!isDead && deadFrom >= 0) {
        erase(from, deadFrom, at);
        deadFrom = -1;
      }
    }
    if (deadFrom >= 0) {
      erase(from, deadFrom, stop);
    }
  }

  /**
   * Stores erased records over a part of the half at {@code from}, which the head names no more.
   */
  private void erase(int from, int start, int stop) {
    Arrays.fill(image, Scratch.RECORD, Scratch.RECORD + RecordLayout.HEADER_SIZE, (byte) 0);
    for (int at = start, next; at < stop; at = next) {
      next = Math.min(stop, (at | RecordLayout.SECTOR - 1) + 1);
      zero(from + at + RecordLayout.HEADER_SIZE, from + next);
      // Still the image's type: RecordLayout.TYPE_ERASED is zero.
      long position = (generation - 1) * half + at;
      seal(position, next - at, RecordLayout.HEADER_SIZE);
      store(image, from + at, RecordLayout.HEADER_SIZE, position);
    }
  }

  private void zero(int from, int to) {
    for (int at = from; at < to; at += ZEROS.length) {
      region.putBytesPlain(at, ZEROS, 0, Math.min(ZEROS.length, to - at));
    }
  }

  /** Notes that the half left behind holds at most {@code stop} bytes, and no old value. */
  private void left(int stop) {
    otherEnd = stop;
    staleBeats = 0;
    counters.increment(CounterLayout.COMPACTIONS);
  }

  /** The entry of the field whose name the scratch's payload starts with, or -1. */
  private int find(int hash, byte[] bytes, int prefix) {
    int[] offsets = index.offsets;
    int mask = offsets.length - 1;
    for (int i = hash & mask; offsets[i] != EMPTY; i = (i + 1) & mask) {
      if (offsets[i] != REMOVED
          && index.hashes[i] == hash
          && index.prefixLengths[i] == prefix
          && samePrefix(base(generation) + offsets[i] - 1, bytes, prefix)) {
        return i;
      }
    }
    return -1;
  }

  private boolean samePrefix(int record, byte[] bytes, int prefix) {
    // Byte by byte: a bulk copy and Arrays.equals took 80 ns more a tag, and no less when cold.
    int payload = record + RecordLayout.HEADER_SIZE;
    for (int i = 0; i < prefix; i++) {
      if (region.getBytePlain(payload + i) != bytes[Scratch.PAYLOAD + i]) {
        return false;
      }
    }
    return true;
  }

  private static int hash(byte[] bytes, int prefix) {
    int hash = HASH_SEED;
    for (int i = Scratch.PAYLOAD; i < Scratch.PAYLOAD + prefix; i++) {
      hash = hash * 31 + bytes[i];
    }
    return hash ^ hash >>> 15;
  }
}
