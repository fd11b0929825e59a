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
import java.util.function.LongSupplier;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * The table of open spans.
 *
 * <p>Any thread; lock-free. No system call; no allocation once a slot has been used before.
 * Survives process death once a call returns.
 */
final class SpanTable implements SpanIndex.Slots {
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
   * Two kinds of span. One begun by name alone has its id from its handle and its parent from the
   * thread's stack. One with ids of its own (a tracer's) is in the index too, so that `find` has its
   * handle again.
   *
   * A span takes the slot that its thread gave back last, or the one behind what it took last: what
   * it is going to write is then in the processor's cache. (Placed by its id, so that no index was
   * needed, a span cost 60 ns more.) Where other spans have taken the slots near there, it is looked
   * for one from a place that its id, or its thread, chose.
   *
   * What changes all the time (count of events, thread) would fill the slot if each change took an
   * entry of its own: it has two areas, written by turns, so that death in the middle of one leaves
   * the other.
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
  private static final int MAX_DESCRIPTION_BYTES = 128;
  private static final int MAX_STACK = 64;
  private static final int MAX_THREAD_BYTES = 32;

  /** How many slots are tried from the thread's hint on. */
  private static final int NEAR = 8;

  /** Threads share hints: a power of two, and a line of the processor's cache for each. */
  private static final int HINTS = 64;

  private static final int HINT_STRIDE = 16;

  /** An entry of the count of events: key, head and 4 bytes at most. */
  private static final int EVENTS_AREA = SpanLayout.ENTRY_HEADER_SIZE + 8;

  /** An entry of the thread: key, head, number, and the name with its head. */
  private static final int THREAD_AREA = SpanLayout.ENTRY_HEADER_SIZE + MAX_THREAD_BYTES + 16;

  /** No id, or no parent: 0 is no id in OpenTelemetry. */
  private static final long NO_ID = 0;

  /** Of a span that was begun by name alone. */
  private static final int UNKNOWN = -1;

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

  /** Where a thread looks for a free slot first. Racy: a wrong one costs steps. */
  private final int[] hints = new int[HINTS * HINT_STRIDE];

  private final SpanIndex index;
  private volatile @Nullable LongSupplier outside;
  // Opaque would do: as for everOpened.
  private boolean hasOverflowed;
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
    this.index = new SpanIndex(count, this);
    for (int i = 0; i < HINTS; i++) {
      hints[i * HINT_STRIDE] = i * HINT_STRIDE & count - 1;
    }
  }

  /** The owner word, and what only the owner of the busy mark touches. */
  private static final class Slot extends AtomicLong {
    private static final long serialVersionUID = 1;
    transient @Nullable Entry entry;
    long traceHigh;
    long traceLow;
    int used;

    /** Offset of the entry with the latest name; 0 if that is the first one. */
    int nameAt;

    // Offsets of the first of two areas, and what the newer one holds; 0 if there are none.
    int eventsAt;
    int events;

    /** Bytes that attributes leave free, for the count of events of a tracer's span. */
    int reserved;

    int hopsAt;
    int hops;

    // Of the span that the slot's state word in the box names: stored before it. Partner: look.
    long nanos;
    long threadId;
    long beginThreadId;

    /** 0 once it has ended, so that nobody who finds the slot by it takes the next for it. */
    long spanId;

    /** Whether it is on the stack of the thread that began it. */
    boolean byName;
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
  long begin(@Nullable String name) {
    return begin(true, name, 0, 0, NO_ID, NO_ID, UNKNOWN, UNKNOWN, 0, clock.nanos(), null);
  }

  /**
   * Begins a span that has ids of its own; it is not what later spans of this thread are below.
   *
   * @param kind as {@link SpanLayout#BEGIN_KIND}
   * @param epochNanos when it says that it began, or 0
   * @param startNanos now, of the clock's; 0 if the caller has not looked at it
   * @return as {@link #begin(String)}
   */
  long begin(
      @Nullable String name,
      long traceHigh,
      long traceLow,
      long id,
      long parentId,
      int kind,
      int traceFlags,
      long epochNanos,
      long startNanos,
      OpenSpans.@Nullable Attributes attributes) {
    return begin(
        false,
        name,
        traceHigh,
        traceLow,
        id,
        parentId,
        kind,
        traceFlags & 0xff,
        epochNanos,
        startNanos == 0 ? clock.nanos() : startNanos,
        attributes);
  }

  /**
   * Begins a span.
   *
   * @param byName whether it has no ids of its own
   */
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  private long begin(
      boolean byName,
      @Nullable String name,
      long traceHigh,
      long traceLow,
      long id,
      long parentId,
      int kind,
      int traceFlags,
      long epochNanos,
      long nanos,
      OpenSpans.@Nullable Attributes attributes) {
    // In one method on purpose, as set: inlined into Recorder.begin, that would be too large to be
    // inlined itself, and each OpenSpan would cost 24 bytes.
    long parent = byName ? currentOrOutside() : NONE;
    long thread = Thread.currentThread().getId();
    int mask = slots.length - 1;
    int hint = hint(thread);
    int start = hints[hint];
    for (int i = -NEAR; i < slots.length; i++) {
      if (i == 0) {
        start = byName ? (int) (thread * HINT_STRIDE) : (int) (id ^ (id >>> 32));
      }
      int index = start + (i < 0 ? i + NEAR : i) & mask;
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
      if (!slot.compareAndSet(word, open | BUSY)) {
        continue;
      }
      long handle = generation << SLOT_BITS | index;
      hints[hint] = index + 1;
      slot.threadId = thread;
      slot.beginThreadId = thread;
      slot.byName = byName;
      slot.nanos = nanos;
      if (byName) {
        long own = mix(nonce + handle * GOLDEN);
        long ownParent = NO_ID;
        if (parent == NONE) {
          slot.traceHigh = mix(own ^ nonce);
          slot.traceLow = mix(own + GOLDEN);
        } else {
          Slot above = slot(parent);
          ownParent = above.spanId;
          slot.traceHigh = above.traceHigh;
          slot.traceLow = above.traceLow;
        }
        fill(slot, index, open, name, own, ownParent, kind, traceFlags, epochNanos, nanos, null);
        push(handle);
        return handle;
      }
      slot.traceHigh = traceHigh;
      slot.traceLow = traceLow;
      slot.spanId = id;
      this.index.put(id, index);
      int written =
          fill(
              slot,
              index,
              open,
              name,
              id,
              parentId,
              kind,
              traceFlags,
              epochNanos,
              nanos,
              attributes);
      setFrom(handle, attributes, written);
      return handle;
    }
    if (byName) {
      return overflow(name, parent, nanos);
    }
    long handle =
        overflow(name, id, traceHigh, traceLow, parentId, kind, traceFlags, epochNanos, nanos);
    setFrom(handle, attributes, 0);
    return handle;
  }

  /** {@return which slot a handle that is positive is of} */
  static int index(long handle) {
    return (int) (handle & SLOT_MASK);
  }

  private static long openWord(long handle) {
    return handle >>> SLOT_BITS << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
  }

  private static int hint(long thread) {
    return ((int) thread & HINTS - 1) * HINT_STRIDE;
  }

  /** Sets what found no room in the begin entry. */
  private void setFrom(long handle, OpenSpans.@Nullable Attributes attributes, int from) {
    if (attributes == null) {
      return;
    }
    for (int i = from; i < attributes.count(); i++) {
      int kind = attributes.kind(i);
      if (kind != OpenSpans.Attributes.OTHER) {
        boolean isText = kind == TEXT;
        String text = isText ? attributes.text(i) : "";
        set(handle, attributes.name(i), kind, isText ? 0 : attributes.bits(i), text);
      }
    }
  }

  /** {@return the handle of the open span with that id of its own, or {@link #NONE}} */
  long find(long id) {
    int found = index.find(id);
    if (found < 0) {
      return NONE;
    }
    Slot slot = slot(found);
    long word = slot.get();
    // Again: the first look may have been at the span before this generation.
    return (word & SpanLayout.OPEN) != 0 && slot.spanId == id
        ? word >>> SpanLayout.GENERATION_SHIFT << SLOT_BITS | found
        : NONE;
  }

  @Override
  public long idIn(int index) {
    Slot slot = slots[index];
    return slot == null || (slot.get() & SpanLayout.OPEN) == 0 ? NO_ID : slot.spanId;
  }

  @Override
  public int count() {
    return slots.length;
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

  /** Returns how many of the attributes are in the entry. */
  // In one method on purpose, as set.
  private int fill(
      Slot slot,
      int index,
      long open,
      @Nullable String name,
      long id,
      long parentId,
      int kind,
      int traceFlags,
      long epochNanos,
      long nanos,
      OpenSpans.@Nullable Attributes attributes) {
    Entry entry = entry(slot);
    CborWriter out = entry.writer;
    out.reset(SEAL_SIZE, SEAL_SIZE + slotSize - SpanLayout.FIRST_ENTRY_OFFSET - 8 - 1);
    out.beginMap();
    out.unsigned(SpanLayout.BEGIN_NAME);
    name(out, name);
    long high = slot.traceHigh;
    ids(out, true, high, slot.traceLow, id, parentId, nanos, kind, traceFlags, epochNanos);
    out.unsigned(SpanLayout.BEGIN_THREAD);
    entry.threadName.write(out);
    int written = 0;
    int limit = out.limit();
    if (attributes != null) {
      // As long as there is room. Left: the end of this map, and the room for the count of events.
      out.limit(limit - 1 - 2 * EVENTS_AREA);
      int count = attributes.count();
      int from = out.position();
      if (count > 0 && out.unsigned(SpanLayout.BEGIN_ATTRIBUTES) && out.beginMap()) {
        out.redactions(0);
        boolean fits = true;
        while (fits && written < count) {
          int valueKind = attributes.kind(written);
          int mark = out.position();
          fits =
              valueKind == OpenSpans.Attributes.OTHER
                  || attribute(out, attributes, written, valueKind);
          if (fits) {
            written++;
          } else {
            out.position(mark);
          }
        }
        out.limit(limit);
        out.end();
        if (out.redactions() != 0) {
          counters.add(CounterLayout.REDACTED, out.redactions());
        }
      } else {
        out.position(from);
      }
    }
    out.limit(limit + 1);
    out.end();
    slot.spanId = id;
    slot.nameAt = 0;
    slot.eventsAt = 0;
    slot.events = 0;
    slot.reserved = kind == UNKNOWN ? 0 : 2 * EVENTS_AREA;
    slot.hopsAt = 0;
    slot.hops = 0;
    slot.used = SpanLayout.FIRST_ENTRY_OFFSET;
    commit(slot, entry, index, open);
    // Release: publishes the begin entry. Partner: a reader's look at the state word.
    region.putLongRelease(offset + index * slotSize + SpanLayout.STATE_OFFSET, open);
    // Release: whoever gets the handle sees the fields above. Partner: the CAS of set and close.
    slot.setRelease(open);
    return written;
  }

  private boolean attribute(CborWriter out, OpenSpans.Attributes attributes, int i, int kind) {
    int before = out.redactions();
    int named = out.keyCut(attributes.name(i));
    boolean fits = named >= 0;
    if (fits && (named & CborWriter.SECRET) != 0 && kind != BOOLEAN) {
      fits = out.redacted();
    } else if (fits) {
      switch (kind) {
        case TEXT -> fits = value(out, attributes.text(i));
        case INTEGER -> fits = out.number(attributes.bits(i));
        case FLOATING -> fits = out.number(Double.longBitsToDouble(attributes.bits(i)));
        default -> fits = out.bool(attributes.bits(i) != 0);
      }
    }
    if (!fits) {
      out.redactions(before); // it is going to be written, and counted, elsewhere
    }
    return fits;
  }

  private Entry entry(Slot slot) {
    Entry entry = slot.entry;
    if (entry == null) {
      entry = new Entry(slotSize, nonce, scratches.keys());
      slot.entry = entry;
    }
    return entry;
  }

  /** Writes what is a number of a begin entry. */
  private static void ids(
      CborWriter out,
      boolean hasTrace,
      long traceHigh,
      long traceLow,
      long id,
      long parentId,
      long nanos,
      int kind,
      int traceFlags,
      long epochNanos) {
    out.unsignedField(SpanLayout.BEGIN_SPAN_ID, id);
    if (parentId != NO_ID) {
      out.unsignedField(SpanLayout.BEGIN_PARENT_SPAN_ID, parentId);
    }
    if (hasTrace) {
      out.wordsField(SpanLayout.BEGIN_TRACE_ID, traceHigh, traceLow);
    }
    out.longField(SpanLayout.BEGIN_NANOS, nanos);
    if (kind != UNKNOWN) {
      out.unsigned(SpanLayout.BEGIN_KIND);
      out.unsigned(kind);
      out.unsigned(SpanLayout.BEGIN_TRACE_FLAGS);
      out.unsigned(traceFlags);
    }
    if (epochNanos != 0) {
      out.longField(SpanLayout.BEGIN_EPOCH_NANOS, epochNanos);
    }
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
    commit(entry, index * slotSize + slot.used, length, open);
    slot.used += SpanLayout.ENTRY_HEADER_SIZE + ((length + 7) & -8);
  }

  private void commit(Entry entry, int at, int length, long open) {
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

  /** A value in CBOR; the bits are its length. */
  private static final int ENCODED = 5;

  private static final byte[] NO_BYTES = {};

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
    int room = slotSize - slot.reserved - used - SpanLayout.ENTRY_HEADER_SIZE;
    out.reset(SEAL_SIZE, SEAL_SIZE + Math.max(0, room));
    out.redactions(0);
    int named = out.keyCut(key);
    boolean fits = named >= 0;
    if (fits && (named & CborWriter.SECRET) != 0 && kind != BOOLEAN) {
      fits = out.redacted();
    } else if (fits) {
      switch (kind) {
        case TEXT -> {
          int start = out.position();
          int outcome = out.valueCut(text, MAX_VALUE_BYTES);
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
    overflowed(handle, key, kind, bits, text, NO_BYTES, 0);
  }

  private void overflowed(
      long handle, String key, int kind, long bits, String text, byte[] encoded, int from) {
    long id = handle < 0 ? handle : slot(handle).spanId;
    if (handle > 0 && !isOpen(handle)) {
      return; // closed on another thread meanwhile, and the id may be the next span's
    }
    counters.increment(CounterLayout.ATTRIBUTES_OVERFLOWED);
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(RecordLayout.SET_SPAN_ID);
      out.unsigned(id);
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
        case ENCODED -> out.raw(encoded, from, (int) bits);
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

  /**
   * Sets an attribute to a value that is encoded already; a closed handle does nothing.
   *
   * @param value holds {@code length} bytes of it from {@code from} on
   */
  void setEncoded(long handle, String key, byte[] value, int from, int length) {
    if (handle > 0) {
      int index = (int) (handle & SLOT_MASK);
      Slot slot = slot(handle);
      long open = openWord(handle);
      if (slot.compareAndSet(open, open | BUSY)) {
        Entry entry = entry(slot);
        CborWriter out = room(entry, slot.used + slot.reserved);
        int named = out.keyCut(key);
        boolean fits = named >= 0 && out.raw(value, from, length);
        if (fits) {
          commit(slot, entry, index, open);
        }
        leave(slot, index, open);
        if (fits) {
          return;
        }
      } else if (!isOpen(handle)) {
        return;
      }
    }
    overflowed(handle, key, ENCODED, length, "", value, from);
  }

  private CborWriter room(Entry entry, int used) {
    CborWriter out = entry.writer;
    out.reset(SEAL_SIZE, SEAL_SIZE + Math.max(0, slotSize - used - SpanLayout.ENTRY_HEADER_SIZE));
    out.redactions(0);
    return out;
  }

  /** Gives the busy mark up. */
  private void leave(Slot slot, int index, long open) {
    if (!slot.compareAndSet(open | BUSY, open)) {
      free(slot, index, open); // END was left by a close on another thread
    }
  }

  // ---- what else becomes known of a span

  /** Notes another name. */
  void rename(long handle, String name) {
    Slot slot = enter(handle);
    boolean fits = false;
    if (slot != null) {
      Entry entry = entry(slot);
      int at = slot.used;
      CborWriter out = room(entry, at + slot.reserved);
      fits = out.unsigned(SpanLayout.NOTE_NAME) && cut(out, name, MAX_NAME_BYTES);
      note(slot, handle, fits, at);
    }
    if (!fits) {
      noteOverflowed(handle, SpanLayout.NOTE_NAME, 0, name);
    }
  }

  /** Notes when the span says that it began; a slot without room, or none, keeps what it has. */
  void started(long handle, long epochNanos) {
    Slot slot = enterOrCount(handle);
    if (slot != null) {
      CborWriter out = room(entry(slot), slot.used + slot.reserved);
      boolean fits = out.longField(SpanLayout.NOTE_START, epochNanos);
      if (!fits) {
        counters.increment(CounterLayout.CUT);
      }
      note(slot, handle, fits, slot.nameAt);
    }
  }

  /** Notes the status. */
  void status(long handle, int code, @Nullable String description) {
    Slot slot = enter(handle);
    boolean fits = false;
    if (slot != null) {
      Entry entry = entry(slot);
      CborWriter out = room(entry, slot.used + slot.reserved);
      fits = out.unsigned(SpanLayout.NOTE_STATUS) && status(out, code, description);
      note(slot, handle, fits, slot.nameAt);
    }
    if (!fits) {
      noteOverflowed(handle, SpanLayout.NOTE_STATUS, code, description);
    }
  }

  private boolean status(CborWriter out, int code, @Nullable String description) {
    boolean fits = out.beginArray() && out.unsigned(code);
    if (fits && description != null && !description.isEmpty()) {
      out.limit(out.limit() - 1); // for the array's end
      fits = cut(out, description, MAX_DESCRIPTION_BYTES);
      out.limit(out.limit() + 1);
    }
    return fits && out.end();
  }

  /** {@return whether all of a text was written, but for what is too long anywhere} */
  private boolean cut(CborWriter out, String text, int maxBytes) {
    int start = out.position();
    return isWhole(out, start, out.textCut(text, maxBytes), maxBytes);
  }

  /** As {@link #cut}, of the value of an attribute. */
  private boolean value(CborWriter out, String text) {
    int start = out.position();
    return isWhole(out, start, out.valueCut(text, MAX_VALUE_BYTES), MAX_VALUE_BYTES);
  }

  private boolean isWhole(CborWriter out, int start, int outcome, int maxBytes) {
    boolean fits = outcome == CborWriter.WHOLE || out.position() - start >= maxBytes - 8;
    if (fits && outcome == CborWriter.CUT) {
      counters.increment(CounterLayout.CUT);
    }
    return fits;
  }

  /** Stores what the slot's entry holds, says where the name is then, and gives the slot up. */
  private void note(Slot slot, long handle, boolean fits, int nameAt) {
    int index = (int) (handle & SLOT_MASK);
    long open = openWord(handle);
    Entry entry = entry(slot);
    if (fits) {
      commit(slot, entry, index, open);
      // Release: whoever looks there finds the entry. Partner: the fence in nameEntry.
      VarHandle.releaseFence();
      slot.nameAt = nameAt;
      if (entry.writer.redactions() != 0) {
        counters.add(CounterLayout.REDACTED, entry.writer.redactions());
      }
    }
    leave(slot, index, open);
  }

  /** Puts a note into the trail: the slot is full or in use, or there is none. */
  private void noteOverflowed(long handle, int note, int code, @Nullable String text) {
    long id = handle < 0 ? handle : slot(handle).spanId;
    if (handle > 0 && !isOpen(handle)) {
      return; // closed, and the id may be the next span's
    }
    counters.increment(CounterLayout.ATTRIBUTES_OVERFLOWED);
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(RecordLayout.SET_SPAN_ID);
      out.unsigned(id);
      if (handle > 0) {
        out.unsigned(RecordLayout.SET_USED);
        out.unsigned(slot(handle).used);
      }
      out.redactions(0);
      out.unsigned(RecordLayout.SET_NOTE);
      out.unsigned(note);
      out.unsigned(RecordLayout.SET_VALUE);
      if (note == SpanLayout.NOTE_STATUS) {
        boolean unused = status(out, code, text);
      } else {
        boolean unused = cut(out, text == null ? "" : text, MAX_NAME_BYTES);
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

  /** Counts an event. */
  void event(long handle) {
    Slot slot = enterOrCount(handle);
    if (slot == null) {
      return;
    }
    int index = (int) (handle & SLOT_MASK);
    long open = openWord(handle);
    if (slot.eventsAt == 0) {
      slot.reserved = 0;
      slot.eventsAt = area(slot, EVENTS_AREA);
    }
    if (slot.eventsAt > 0 && slot.events < Integer.MAX_VALUE) {
      slot.events++;
      Entry entry = entry(slot);
      CborWriter out = room(entry, 0);
      out.unsigned(SpanLayout.NOTE_EVENTS);
      out.unsigned(slot.events);
      int at = index * slotSize + slot.eventsAt + (slot.events & 1) * EVENTS_AREA;
      commit(entry, at, out.position() - SEAL_SIZE, open);
    }
    leave(slot, index, open);
  }

  /**
   * Notes that this thread works on the span now.
   *
   * @return whether another did before
   */
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  boolean bind(long handle) {
    if (handle <= 0) {
      return false;
    }
    Thread thread = Thread.currentThread();
    // Racy: of another span at worst, and then the handle is closed.
    return slot(handle).threadId != thread.getId() && hop(handle, thread.getId(), thread.getName());
  }

  /** Notes that this thread has done with the span: then the one that began it counts. */
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  void unbind(long handle) {
    if (handle <= 0) {
      return;
    }
    Slot slot = slot(handle);
    long begun = slot.beginThreadId;
    // Racy, as in bind. A thread that has taken the span over meanwhile keeps it.
    if (slot.threadId == Thread.currentThread().getId() && slot.threadId != begun) {
      boolean unused = hop(handle, begun, "");
    }
  }

  private boolean hop(long handle, long threadId, String name) {
    Slot slot = enterOrCount(handle);
    if (slot == null) {
      return false;
    }
    int index = (int) (handle & SLOT_MASK);
    long open = openWord(handle);
    slot.threadId = threadId;
    if (slot.hopsAt == 0) {
      slot.hopsAt = area(slot, THREAD_AREA);
    }
    if (slot.hopsAt > 0) {
      slot.hops++;
      Entry entry = entry(slot);
      CborWriter out = room(entry, 0);
      out.unsigned(SpanLayout.NOTE_THREAD);
      out.beginArray();
      out.unsigned(slot.hops);
      out.textCut(name, MAX_THREAD_BYTES);
      out.end();
      int at = index * slotSize + slot.hopsAt + (slot.hops & 1) * THREAD_AREA;
      commit(entry, at, out.position() - SEAL_SIZE, open);
    }
    leave(slot, index, open);
    return true;
  }

  /**
   * {@return where two areas of that size lie that the slot gives away, or -1 if it has no room}
   */
  private int area(Slot slot, int size) {
    if (slot.used + slot.reserved + 2 * size > slotSize) {
      counters.increment(CounterLayout.CUT);
      return -1;
    }
    int at = slot.used;
    slot.used += 2 * size;
    return at;
  }

  /** Makes the slot of an open span busy; null if that can't be. */
  private @Nullable Slot enter(long handle) {
    if (handle <= 0) {
      return null;
    }
    Slot slot = slot(handle);
    long open = openWord(handle);
    return slot.compareAndSet(open, open | BUSY) ? slot : null;
  }

  /** As {@link #enter}; counts what another thread in the slot, or none, prevents. */
  private @Nullable Slot enterOrCount(long handle) {
    Slot slot = enter(handle);
    if (slot == null && (handle < 0 || isOpen(handle))) {
      counters.increment(CounterLayout.CUT);
    }
    return slot;
  }

  // ---- close

  /** Ends the span; a closed handle does nothing. */
  @SuppressWarnings("deprecation") // Thread.threadId() is newer than 17
  void close(long handle) {
    if (handle < 0) {
      closeOverflow(handle);
      return;
    }
    int index = (int) (handle & SLOT_MASK);
    Slot slot = slot(handle);
    long open = handle >>> SLOT_BITS << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
    boolean byName = slot.byName; // of this span, or it has ended and what follows sees that
    while (!slot.compareAndSet(open, open | BUSY)) {
      long word = slot.get();
      if ((word & ~(BUSY | END)) != open || (word & END) != 0) {
        return;
      }
      if ((word & BUSY) != 0 && slot.compareAndSet(open | BUSY, open | BUSY | END)) {
        if (byName) {
          pop(handle);
        }
        return; // the setter on the other thread closes
      }
    }
    free(slot, index, open);
    hints[hint(Thread.currentThread().getId())] = index;
    if (byName) {
      pop(handle);
    }
  }

  private void free(Slot slot, int index, long open) {
    // Release: the span is over in the box before its slot can be taken again.
    region.putLongRelease(offset + index * slotSize + SpanLayout.STATE_OFFSET, ~open);
    slot.spanId = NO_ID;
    slot.setRelease(open & ~SpanLayout.OPEN);
  }

  // ---- spans without a slot

  /** Begins a span in the trail. Its handle is its id, which is negative. */
  private long overflow(@Nullable String name, long parent, long nanos) {
    long id = mix(nonce ^ overflowIds.incrementAndGet() * GOLDEN) | SpanLayout.OVERFLOWED;
    long parentId = parent == NONE ? NO_ID : slot(parent).spanId;
    return overflow(name, id, 0, 0, parentId, UNKNOWN, UNKNOWN, 0, nanos);
  }

  private long overflow(
      @Nullable String name,
      long id,
      long traceHigh,
      long traceLow,
      long parentId,
      int kind,
      int traceFlags,
      long epochNanos,
      long nanos) {
    counters.increment(CounterLayout.SPANS_OVERFLOWED);
    hasOverflowed = true;
    Scratch scratch = scratches.acquire();
    try {
      scratch.start(trail.maxRecordBytes());
      CborWriter out = scratch.writer;
      out.beginMap();
      out.unsigned(SpanLayout.BEGIN_NAME);
      name(out, name);
      out.redactions(0);
      boolean hasTrace = (traceHigh | traceLow) != 0;
      ids(out, hasTrace, traceHigh, traceLow, id, parentId, nanos, kind, traceFlags, epochNanos);
      out.unsigned(SpanLayout.BEGIN_THREAD);
      scratch.threadName.write(out);
      trail.append(scratch, scratch.finish(), RecordLayout.TYPE_SPAN_BEGIN, 0, clock.wallMillis());
    } finally {
      scratches.release(scratch);
    }
    return id | SpanLayout.OVERFLOWED;
  }

  /** Ends a span with an id of its own for which there is no handle: it may be in the trail. */
  void closeById(long id) {
    if (hasOverflowed) {
      closeOverflow(id | SpanLayout.OVERFLOWED);
    }
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

  /** Says how to learn the id of a span of its own that this thread works on, 0 for none. */
  void outside(@Nullable LongSupplier spanId) {
    outside = spanId;
  }

  /** {@return the span that this thread works on, of both kinds the one begun last, or NONE} */
  private long currentOrOutside() {
    long own = current();
    LongSupplier asked = outside;
    if (asked == null) {
      return own;
    }
    long id = asked.getAsLong();
    long other = id == NO_ID ? NONE : find(id);
    if (other == NONE) {
      return own;
    }
    return own == NONE || slot(other).nanos - slot(own).nanos >= 0 ? other : own;
  }

  /** {@return the id of the span that this thread works on, or 0} */
  long currentId() {
    long own = current();
    LongSupplier asked = outside;
    long id = asked == null ? NO_ID : asked.getAsLong();
    if (own == NONE) {
      return id;
    }
    long other = id == NO_ID ? NONE : find(id);
    return other == NONE || slot(other).nanos - slot(own).nanos < 0 ? spanId(own) : id;
  }

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

  /** {@return the id of the span that has or had that handle, begun by name alone} */
  long spanId(long handle) {
    return handle < 0 ? handle : mix(nonce + handle * GOLDEN);
  }

  boolean isOpen(long handle) {
    long open = handle >>> SLOT_BITS << SpanLayout.GENERATION_SHIFT | SpanLayout.OPEN;
    long word = slot(handle).get();
    return (word & ~BUSY) == open;
  }

  private void push(long handle) {
    everOpened = true;
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
    long spanId;
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
    into.spanId = slot.spanId;
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

  /**
   * Copies the payload of the entry with the latest name: {@link SpanLayout#NOTE_NAME}, then a
   * text.
   *
   * @return its length, or 0 if that is in the begin entry, or the span has ended meanwhile
   */
  int nameEntry(int index, long state, byte[] into, int to) {
    Slot slot = slots[index];
    int entry = slot == null ? 0 : slot.nameAt;
    // Acquire: the entry. Partner: the fence in note.
    VarHandle.acquireFence();
    if (entry == 0) {
      return 0;
    }
    int at = index * slotSize + entry;
    long head = region.getLongPlain(offset + at);
    // Acquire: the payload. Partner: the release store of the entry's first word.
    VarHandle.acquireFence();
    int length = (int) head;
    if (length <= 0 || length > Math.min(into.length - to, slotSize - entry - 8)) {
      return 0;
    }
    region.getBytesPlain(offset + at + SpanLayout.ENTRY_HEADER_SIZE, into, to, length);
    VarHandle.acquireFence();
    return state(index) == state && region.getLongPlain(offset + at) == head ? length : 0;
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
