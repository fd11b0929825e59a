package cairn;

import cairn.format.CborWriter;
import cairn.format.CounterLayout;
import cairn.format.KeyCache;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.storage.Region;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The table of open spans.
 *
 * <p>Any thread; lock-free. No system call; no allocation once a slot has been used before.
 * Survives process death once a call returns.
 */
final class SpanTable {
  /*
   * A slot is free, filling, open, or open and busy; its owner word says which, with a generation
   * that grows at every begin. A handle names slot and generation, so whatever comes late (a second
   * close, a set after close, a handle kept by mistake) finds another generation and does nothing.
   *
   * Begin:  1 CAS free -> busy, generation + 1      2 fill the begin entry
   *         3 release-store the slot's state word   4 owner word: open
   * Set:    1 CAS open -> busy   2 fill the entry   3 store its first word   4 CAS busy -> open
   * Close:  1 CAS open -> busy   2 release-store the state word: free   3 owner word: free
   * Death before begin 3 leaves a free slot, before set 3 the span without that attribute, before
   * close 2 an open span.
   *
   * Busy keeps a set on one thread from writing into the slot after a close on another has given it
   * away. Who finds a slot busy does not wait: close leaves the mark END and the setter closes in
   * its step 4; another set goes to the trail.
   *
   * Rejected: reusing OpenSpan objects per slot. A handle in a fresh, tiny object is removed by
   * escape analysis in hot code and is safe where it isn't.
   */

  private static final long BUSY = 2;
  private static final long END = 4;
  private static final long FLAGS = (1L << SpanLayout.GENERATION_SHIFT) - 1;
  private static final int SLOT_BITS = 16;
  private static final long SLOT_MASK = (1L << SLOT_BITS) - 1;
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;
  private static final int MAX_NAME_BYTES = 160;
  private static final int MAX_VALUE_BYTES = 256;
  private static final int MAX_STACK = 64;

  /** Nonce, state word, offset, length: what an entry's checksum covers before its payload. */
  private static final int SEAL_SIZE = 32;

  /** No span, or one that the table has no slot for. */
  static final long NONE = 0;

  private final Region region;
  private final int offset;
  private final int slotSize;

  /** A slot's object is made when it is first taken, and stays. */
  private final @Nullable Slot[] slots;

  private final long nonce;
  private final Counters counters;
  private final Trail trail;
  private final ScratchPool scratches;
  private final Clock clock;

  // JDK types only: a value of ours would tie the application's pool threads to our class loader.
  // Element 0 is the number of handles behind it.
  @SuppressWarnings(
      "ThreadLocalUsage") // one per run: a thread's spans in one say nothing of another
  private final ThreadLocal<long[]> stacks = new ThreadLocal<>();

  // Opaque would do; a thread that has opened a span sees its own store, and that is what counts.
  private boolean everOpened;
  private final AtomicLong overflowIds = new AtomicLong();

  SpanTable(
      Region region,
      int offset,
      int slotSize,
      int count,
      long nonce,
      Counters counters,
      Trail trail,
      ScratchPool scratches,
      Clock clock) {
    this.region = region;
    this.offset = offset;
    this.slotSize = slotSize;
    this.slots = new @Nullable Slot[count];
    this.nonce = nonce;
    this.counters = counters;
    this.trail = trail;
    this.scratches = scratches;
    this.clock = clock;
  }

  /** The owner word, and what only the owner of the busy mark touches. */
  private static final class Slot extends AtomicLong {
    private static final long serialVersionUID = 1;
    transient @Nullable Entry entry;
    long traceHigh;
    long traceLow;
    int used;

    // Of the span that the slot's state word in the box names: stored before it. Partner: look.
    long nanos;
    long threadId;
  }

  /** Where one entry is put together: what seeds its checksum, then its payload. */
  private static final class Entry {
    final byte[] bytes;
    final ByteBuffer words;
    final CborWriter writer;
    final CRC32C crc = new CRC32C();
    final ThreadName threadName = new ThreadName();

    Entry(int slotSize, long nonce, KeyCache keys) {
      bytes = new byte[SEAL_SIZE + slotSize];
      words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      writer = new CborWriter(bytes, keys);
      words.putLong(0, nonce);
    }
  }

  // ---- begin

  /**
   * Begins a span on this thread, below the one that is open on it.
   *
   * @return its handle: positive, or negative for a span that found no slot and went to the trail
   */
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  long begin(@Nullable String name) {
    long parent = current();
    int mask = slots.length - 1;
    long thread = Thread.currentThread().getId();
    int start = (int) (thread * 16) & mask;
    for (int i = 0; i < slots.length; i++) {
      int index = (start + i) & mask;
      Slot slot = slots[index];
      if (slot == null) {
        slot = make(index);
      }
      long word = slot.get();
      if ((word & FLAGS) != 0) {
        continue;
      }
      long generation = (word >>> SpanLayout.GENERATION_SHIFT) + 1;
      long open = generation << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
      if (slot.compareAndSet(word, open | BUSY)) {
        slot.threadId = thread;
        fill(slot, index, open, name, parent);
        long handle = generation << SLOT_BITS | index;
        push(handle);
        return handle;
      }
    }
    return overflow(name, parent);
  }

  private Slot make(int index) {
    synchronized (slots) {
      Slot slot = slots[index];
      if (slot == null) {
        slot = new Slot();
        // Plain: a reader that sees the reference early sees a free slot of generation 0, which is
        // what it is.
        slots[index] = slot;
      }
      return slot;
    }
  }

  /** The slot of a handle: it was made before the handle was. */
  private Slot slot(long handle) {
    Slot slot = slots[(int) (handle & SLOT_MASK)];
    if (slot == null) {
      throw new AssertionError("no such span: handle=" + handle);
    }
    return slot;
  }

  private void fill(Slot slot, int index, long open, @Nullable String name, long parent) {
    Entry entry = slot.entry;
    if (entry == null) {
      entry = new Entry(slotSize, nonce, scratches.keys());
      slot.entry = entry;
    }
    long id = spanId(open >>> SpanLayout.GENERATION_SHIFT << SLOT_BITS | index);
    CborWriter out = entry.writer;
    out.reset(SEAL_SIZE, SEAL_SIZE + slotSize - SpanLayout.FIRST_ENTRY_OFFSET - 8 - 1);
    out.beginMap();
    out.unsigned(SpanLayout.BEGIN_NAME);
    name(out, name);
    out.unsigned(SpanLayout.BEGIN_SPAN_ID);
    out.unsigned(id);
    if (parent == NONE) {
      slot.traceHigh = mix(id ^ nonce);
      slot.traceLow = mix(id + GOLDEN);
    } else {
      Slot above = slot(parent);
      slot.traceHigh = above.traceHigh;
      slot.traceLow = above.traceLow;
      out.unsigned(SpanLayout.BEGIN_PARENT_SPAN_ID);
      out.unsigned(spanId(parent));
    }
    // The seal's last 16 bytes are free until it is filled: the trace id passes through them.
    entry.words.putLong(16, Long.reverseBytes(slot.traceHigh));
    entry.words.putLong(24, Long.reverseBytes(slot.traceLow));
    out.unsigned(SpanLayout.BEGIN_TRACE_ID);
    out.bytes(entry.bytes, 16, 16);
    out.unsigned(SpanLayout.BEGIN_NANOS);
    slot.nanos = clock.nanos();
    out.integer(slot.nanos);
    out.unsigned(SpanLayout.BEGIN_THREAD);
    entry.threadName.write(out);
    out.limit(out.limit() + 1);
    out.end();
    slot.used = SpanLayout.FIRST_ENTRY_OFFSET;
    commit(slot, entry, index, open);
    // Release: publishes the begin entry. Partner: a reader's look at the state word.
    region.putLongRelease(offset + index * slotSize + SpanLayout.STATE_OFFSET, open);
    // Release: whoever gets the handle sees the fields above. Partner: the CAS of set and close.
    slot.setRelease(open);
    everOpened = true;
  }

  private void name(CborWriter out, @Nullable String name) {
    out.redactions(0);
    if (name == null) {
      out.text("");
    } else if (name.length() <= 40) {
      out.key(name);
    } else {
      out.textCut(name, MAX_NAME_BYTES);
    }
    if (out.redactions() != 0) {
      counters.add(CounterLayout.REDACTED, out.redactions());
    }
  }

  /** Writes the entry's payload behind what the slot holds; the caller owns the busy mark. */
  private void commit(Slot slot, Entry entry, int index, long open) {
    int length = entry.writer.position() - SEAL_SIZE;
    int at = index * slotSize + slot.used;
    entry.words.putLong(8, open);
    entry.words.putLong(16, at);
    entry.words.putLong(24, length);
    entry.crc.reset();
    entry.crc.update(entry.bytes, 0, SEAL_SIZE + length);
    long head = length | entry.crc.getValue() << 32;
    region.putBytesPlain(
        offset + at + SpanLayout.ENTRY_HEADER_SIZE, entry.bytes, SEAL_SIZE, length);
    // Release: publishes the payload. Partner: a reader's look at the entry's first word.
    region.putLongRelease(offset + at, head);
    slot.used += SpanLayout.ENTRY_HEADER_SIZE + ((length + 7) & -8);
  }

  // ---- set

  /** Sets a text. */
  static final int TEXT = 0;

  /** Sets an integer: the bits as they are. */
  static final int INTEGER = 1;

  /** Sets a float: the bits of {@link Double#doubleToRawLongBits}. */
  static final int FLOATING = 2;

  /** Sets a boolean: not 0 is true. */
  static final int BOOLEAN = 3;

  /** Stands for any of them under a secret key. */
  private static final int SECRET = 4;

  /**
   * Sets an attribute; a closed handle does nothing.
   *
   * @param kind of the value
   * @param bits the value, unless it is a text
   * @param text the value, if it is one
   */
  void set(long handle, String key, int kind, long bits, String text) {
    // All in one method on purpose: it is larger than what HotSpot inlines (325 bytecodes), so
    // OpenSpan's methods stay small, are inlined into their callers, and the OpenSpan dissolves.
    // Split up, this was inlined there instead, and each span cost 24 bytes. AllocationTest sees
    // it.
    if (handle < 0) {
      overflowed(handle, key, kind, bits, text);
      return;
    }
    int index = (int) (handle & SLOT_MASK);
    Slot slot = slot(handle);
    long open = handle >>> SLOT_BITS << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
    if (!slot.compareAndSet(open, open | BUSY)) {
      if (isOpen(handle)) {
        overflowed(handle, key, kind, bits, text); // another thread is in the slot
      }
      return;
    }
    Entry entry = slot.entry;
    if (entry == null) {
      throw new AssertionError(); // begin created it
    }
    int used = slot.used;
    CborWriter out = entry.writer;
    out.reset(SEAL_SIZE, SEAL_SIZE + Math.max(0, slotSize - used - SpanLayout.ENTRY_HEADER_SIZE));
    out.redactions(0);
    int named = out.keyCut(key);
    boolean fits = named >= 0;
    if (fits && (named & CborWriter.SECRET) != 0 && kind != BOOLEAN) {
      fits = out.redacted();
    } else if (fits) {
      switch (kind) {
        case TEXT -> {
          int start = out.position();
          int outcome = out.textCut(text, MAX_VALUE_BYTES);
          if (outcome == CborWriter.CUT) {
            // Cut by the end of the slot and not by the limit: the trail has more room.
            fits = out.position() - start >= MAX_VALUE_BYTES - 8;
            if (fits) {
              counters.increment(CounterLayout.CUT);
            }
          } else {
            fits = outcome == CborWriter.WHOLE;
          }
        }
        case INTEGER -> fits = out.number(bits);
        case FLOATING -> fits = out.number(Double.longBitsToDouble(bits));
        default -> fits = out.bool(bits != 0);
      }
    }
    if (fits) {
      int length = out.position() - SEAL_SIZE;
      int at = index * slotSize + used;
      ByteBuffer words = entry.words;
      words.putLong(8, open);
      words.putLong(16, at);
      words.putLong(24, length);
      CRC32C crc = entry.crc;
      crc.reset();
      crc.update(entry.bytes, 0, SEAL_SIZE + length);
      region.putBytesPlain(
          offset + at + SpanLayout.ENTRY_HEADER_SIZE, entry.bytes, SEAL_SIZE, length);
      // Release: publishes the payload. Partner: a reader's look at the entry's first word.
      region.putLongRelease(offset + at, length | crc.getValue() << 32);
      if (out.redactions() != 0) {
        counters.add(CounterLayout.REDACTED, out.redactions());
      }
      slot.used = used + SpanLayout.ENTRY_HEADER_SIZE + ((length + 7) & -8);
    }
    if (!slot.compareAndSet(open | BUSY, open)) {
      free(slot, index, open); // END was left by a close on another thread
    }
    if (!fits) {
      overflowed(handle, key, kind, bits, text);
    }
  }

  private void overflowed(long handle, String key, int kind, long bits, String text) {
    counters.increment(CounterLayout.ATTRIBUTES_OVERFLOWED);
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(RecordLayout.SET_SPAN_ID);
      out.unsigned(spanId(handle));
      if (handle >= 0) {
        out.unsigned(RecordLayout.SET_USED);
        // Racy only if another thread is setting too, and then either order is right.
        out.unsigned(slot(handle).used);
      }
      out.redactions(0);
      out.unsigned(RecordLayout.SET_KEY);
      int named = out.keyCut(key);
      boolean secret = named > 0 && (named & CborWriter.SECRET) != 0 && kind != BOOLEAN;
      out.unsigned(RecordLayout.SET_VALUE);
      switch (secret ? SECRET : kind) {
        case SECRET -> out.redacted();
        case TEXT -> {
          if (out.textCut(text, MAX_VALUE_BYTES) == CborWriter.CUT) {
            counters.increment(CounterLayout.CUT);
          }
        }
        case INTEGER -> out.number(bits);
        case FLOATING -> out.number(Double.longBitsToDouble(bits));
        default -> out.bool(bits != 0);
      }
      if (out.redactions() != 0) {
        counters.add(CounterLayout.REDACTED, out.redactions());
        out.redactions(0);
      }
      trail.append(scratch, scratch.finish(), RecordLayout.TYPE_SPAN_SET, 0, clock.wallMillis());
    } finally {
      scratches.release(scratch);
    }
  }

  // ---- close

  /** Ends the span; a closed handle does nothing. */
  void close(long handle) {
    if (handle < 0) {
      closeOverflow(handle);
      return;
    }
    int index = (int) (handle & SLOT_MASK);
    Slot slot = slot(handle);
    long open = handle >>> SLOT_BITS << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
    while (!slot.compareAndSet(open, open | BUSY)) {
      long word = slot.get();
      if ((word & ~(BUSY | END)) != open || (word & END) != 0) {
        return;
      }
      if ((word & BUSY) != 0 && slot.compareAndSet(open | BUSY, open | BUSY | END)) {
        pop(handle);
        return; // the setter on the other thread closes
      }
    }
    free(slot, index, open);
    pop(handle);
  }

  private void free(Slot slot, int index, long open) {
    // Release: the span is over in the box before its slot can be taken again.
    region.putLongRelease(offset + index * slotSize + SpanLayout.STATE_OFFSET, ~open);
    slot.setRelease(open & ~SpanLayout.OPEN);
  }

  // ---- spans without a slot

  /** Begins a span in the trail. Its handle is its id, which is negative. */
  private long overflow(@Nullable String name, long parent) {
    counters.increment(CounterLayout.SPANS_OVERFLOWED);
    long id = mix(nonce ^ overflowIds.incrementAndGet() * GOLDEN) | Long.MIN_VALUE;
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(SpanLayout.BEGIN_NAME);
      name(out, name);
      out.redactions(0);
      out.unsigned(SpanLayout.BEGIN_SPAN_ID);
      out.unsigned(id);
      if (parent != NONE) {
        out.unsigned(SpanLayout.BEGIN_PARENT_SPAN_ID);
        out.unsigned(spanId(parent));
      }
      out.unsigned(SpanLayout.BEGIN_NANOS);
      out.integer(clock.nanos());
      out.unsigned(SpanLayout.BEGIN_THREAD);
      scratch.threadName.write(out);
      trail.append(scratch, scratch.finish(), RecordLayout.TYPE_SPAN_BEGIN, 0, clock.wallMillis());
    } finally {
      scratches.release(scratch);
    }
    return id;
  }

  private void closeOverflow(long spanId) {
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(RecordLayout.SET_SPAN_ID);
      out.unsigned(spanId);
      trail.append(scratch, scratch.finish(), RecordLayout.TYPE_SPAN_END, 0, clock.wallMillis());
    } finally {
      scratches.release(scratch);
    }
  }

  // ---- the thread's own spans

  /** {@return the innermost span that this thread began and that is open, or {@link #NONE}} */
  long current() {
    if (!everOpened) {
      return NONE;
    }
    long[] stack = stacks.get();
    if (stack == null) {
      return NONE;
    }
    int count = (int) stack[0];
    while (count > 0 && !isOpen(stack[count])) {
      count--; // closed on another thread, or out of order
    }
    stack[0] = count;
    return count == 0 ? NONE : stack[count];
  }

  /** {@return the id of the span that has or had that handle} */
  long spanId(long handle) {
    return handle < 0 ? handle : mix(nonce + handle * GOLDEN);
  }

  boolean isOpen(long handle) {
    long open = handle >>> SLOT_BITS << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
    long word = slot(handle).get();
    return (word & ~BUSY) == open;
  }

  private void push(long handle) {
    long[] stack = stacks.get();
    if (stack == null) {
      stack = new long[8];
      stacks.set(stack);
    }
    int count = (int) stack[0] + 1;
    if (count == stack.length) {
      if (count > MAX_STACK) {
        return; // deeper spans are recorded, but as children of an outer one
      }
      stack = Arrays.copyOf(stack, stack.length * 2);
      stacks.set(stack);
    }
    stack[count] = handle;
    stack[0] = count;
  }

  private void pop(long handle) {
    long[] stack = stacks.get();
    if (stack != null && stack[0] > 0 && stack[(int) stack[0]] == handle) {
      stack[0]--;
    }
  }

  /** {@return how many spans are open; looks at every slot} */
  int openCount() {
    int count = 0;
    for (@Nullable Slot slot : slots) {
      if (slot != null && (slot.get() & SpanLayout.OPEN) != 0) {
        count++;
      }
    }
    return count;
  }

  // ---- for Cairn's own thread

  /** What Cairn's own thread sees of one open span; used again and again. */
  static final class Sight {
    int index;

    /** The slot's state word, which no other span of the run ever has. */
    long state;

    long nanos;
    long threadId;
  }

  /** {@return whether a span is open in that slot; then {@code into} is that one} */
  boolean look(int index, Sight into) {
    Slot slot = slots[index];
    if (slot == null) {
      return false;
    }
    long state = state(index);
    if (state <= 0) {
      return false;
    }
    into.index = index;
    into.state = state;
    into.nanos = slot.nanos;
    into.threadId = slot.threadId;
    // The next span's fields are stored after the store that ends this one: see state.
    VarHandle.acquireFence();
    return state(index) == state;
  }

  /**
   * Copies the begin entry's payload, a map as {@link SpanLayout} has it.
   *
   * @param into of at least the size of a slot
   * @return its length, or 0 if that span has ended meanwhile
   */
  int beginEntry(int index, long state, byte[] into) {
    int at = offset + index * slotSize + SpanLayout.FIRST_ENTRY_OFFSET;
    int length =
        Math.min(
            region.getIntPlain(at),
            slotSize - SpanLayout.FIRST_ENTRY_OFFSET - SpanLayout.ENTRY_HEADER_SIZE);
    if (length <= 0) {
      return 0;
    }
    region.getBytesPlain(at + SpanLayout.ENTRY_HEADER_SIZE, into, 0, length);
    VarHandle.acquireFence();
    return state(index) == state ? length : 0;
  }

  /** {@return the id of the span with that state word in that slot} */
  long spanId(int index, long state) {
    return spanId(state >>> SpanLayout.GENERATION_SHIFT << SLOT_BITS | index);
  }

  // ---- for the committer

  int slotCount() {
    return slots.length;
  }

  int slotSize() {
    return slotSize;
  }

  /**
   * {@return whether a span was ever in that slot} Sees those that began before something that
   * happened before this call.
   */
  boolean wasUsed(int index) {
    return slots[index] != null;
  }

  /** {@return the state word of a slot, as {@link SpanLayout} has it} */
  long state(int index) {
    long word = region.getLongPlain(offset + index * slotSize + SpanLayout.STATE_OFFSET);
    // Acquire: the begin entry and `used`. Partner: the release store of the state word.
    VarHandle.acquireFence();
    return word;
  }

  /**
   * {@return how many bytes of an open slot are in use} At least what {@link #state} published;
   * also what a set that returned has added.
   */
  int used(int index) {
    Slot slot = slots[index];
    if (slot == null) {
      return SpanLayout.FIRST_ENTRY_OFFSET;
    }
    slot.getAcquire(); // Partner: the CAS at the end of set.
    return slot.used;
  }

  /**
   * Copies the first bytes of a slot. They are of the span that {@link #state} names afterwards.
   */
  void read(int index, byte[] into, int to, int length) {
    region.getBytesPlain(offset + index * slotSize, into, to, length);
    VarHandle.acquireFence();
  }

  // Stafford's variant 13 of the 64-bit finaliser of MurmurHash3, as in java.util.SplittableRandom:
  // a bijection, so ids of one run differ as long as their inputs do. 0 is no id in OpenTelemetry.
  private static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return z == 0 ? 1 : z;
  }
}
