package cairn;

import cairn.format.CborWriter;
import cairn.format.KeyCache;
import cairn.format.PressureLayout;
import cairn.format.VitalsLayout;
import org.jspecify.annotations.Nullable;

/**
 * Watches how near memory is to its limits, and keeps a snapshot of the open spans of each time
 * that it came near.
 *
 * <p>One thread at a time, the housekeeper's; no safepoint. Survives process death once {@link
 * #look} returns.
 */
final class Pressure {
  /*
   * Levels. Usage that rises to 75, 85 or 95 % of a limit reaches that level, once; it is left when
   * usage falls 5 % of the limit below it, and can be reached again. Who reaches several at once has
   * one snapshot, of the highest. The latest snapshot of each level is kept: it is the one nearest
   * to the death.
   *
   * What usage is. Of the heap, what the last collections have left (VitalsSources). Of the cgroup,
   * without the file pages that the kernel takes back first (inactive_file), as the kubelet counts a
   * working set: a container that reads files is always at its limit otherwise. Both cost more than
   * the plain numbers, of which they are a part, so they are asked for only where those are high.
   *
   * Rising. A request that runs away fills a heap in a second. So whenever usage is above half of a
   * limit and would reach it within two beats at its present rate, the next look is due in 100 ms, as
   * it is while a level is reached. The plain usage of the heap counts there: it rises so before
   * many a harmless collection, for the price of some looks.
   *
   * Who allocates. A thread of a pool has allocated more than others because it is older. So what
   * counts is what a span's thread has allocated since a reading of 10 to 20 s ago, or since the
   * first look at it. Readings begin when usage is at half of a limit, or rising. A span that nobody had looked
   * at before the snapshot has none: then the snapshot is taken again at the next look, 100 ms
   * later, with those that it has then.
   *
   * Memory. All buffers are made at the first beat that reads all vitals, so a snapshot makes
   * nothing but the small objects that the management classes return; a reading makes one object
   * for each slot that it first meets.
   */

  /** What it asks of the environment, beyond the vitals. */
  interface Gauges {
    /** {@return bytes of the heap that the last collections have left in use} */
    long heapAfterCollection();

    /** {@return bytes of the cgroup's usage that the kernel takes back before it kills; or 0} */
    long cgroupInactiveFile();

    /** {@return bytes that the thread has allocated so far; -1 if unknown, or it has ended} */
    long allocatedBytes(long threadId);
  }

  private static final int HYSTERESIS_PERCENT = 5;
  private static final int READING_PERCENT = 50;
  private static final long READING_NANOS = 10_000_000_000L;

  /** Two beats. */
  private static final double RISING_NANOS = 2e9;

  /** How many spans by age, and how many by allocation. */
  private static final int TOP = 5;

  /** So that all of them fit into the section, together with their keys. */
  private static final int MAX_SNAPSHOT_BYTES = 1344;

  /** Of one span: its texts, their heads, four numbers, six keys, begin and end. */
  private static final int MAX_SPAN_BYTES =
      PressureLayout.MAX_NAME_BYTES + PressureLayout.MAX_THREAD_BYTES + 2 * 2 + 4 * 9 + 6 + 2;

  private static final int KINDS = PressureLayout.LIMITS * PressureLayout.LEVELS;

  private final SpanTable spans;
  private final TwoCopies copies;
  private final Clock clock;

  /** By limit: how many levels are reached. */
  private final int[] reached = new int[PressureLayout.LIMITS];

  /** Usage at the last look, by limit; less than 0 before the first. */
  private final long[] lastUsage = {-1, -1};

  private long lastNanos;
  private boolean rising;

  /** A snapshot that is to be taken again, by limit: its level, or -1. */
  private final int[] unsettled = {-1, -1};

  private final SpanTable.Sight sight = new SpanTable.Sight();
  private @Nullable Buffers buffers;

  Pressure(SpanTable spans, TwoCopies copies, Clock clock) {
    this.spans = spans;
    this.copies = copies;
    this.clock = clock;
  }

  /** What the thread of a slot's span had allocated when. */
  private static final class Reading {
    long threadId;
    long olderBytes;
    long olderNanos;
    long newerBytes;
    long newerNanos;
  }

  /** The highest values first, as far as there is room, and whose they are. */
  private static final class Highest {
    final long[] values = new long[TOP];
    final long[] states = new long[TOP];
    final int[] slots = new int[TOP];
    int count;

    void offer(long value, int slot, long state) {
      int at = count;
      while (at > 0 && values[at - 1] < value) {
        at--;
      }
      if (at == TOP) {
        return;
      }
      count = Math.min(TOP, count + 1);
      for (int i = count - 1; i > at; i--) {
        values[i] = values[i - 1];
        slots[i] = slots[i - 1];
        states[i] = states[i - 1];
      }
      values[at] = value;
      slots[at] = slot;
      states[at] = state;
    }

    boolean contains(int slot, long state) {
      for (int i = 0; i < count; i++) {
        if (slots[i] == slot && states[i] == state) {
          return true;
        }
      }
      return false;
    }
  }

  /** Everything that takes memory. */
  private static final class Buffers {
    final @Nullable Reading[] readings;
    final Highest oldest = new Highest();
    final Highest hungriest = new Highest();
    final SpanNames names;
    final byte[] payload;
    final CborWriter out;
    final byte[][] snapshots = new byte[KINDS][MAX_SNAPSHOT_BYTES];
    final int[] lengths = new int[KINDS];

    Buffers(int slots, int slotSize, int payloadLimit) {
      readings = new @Nullable Reading[slots];
      names = new SpanNames(slotSize);
      payload = new byte[payloadLimit];
      out = new CborWriter(payload, new KeyCache());
    }
  }

  /** Makes and loads what a snapshot needs, while there is memory. Stores nothing. */
  void prepare(Gauges gauges) {
    Buffers made = buffers();
    gauges.heapAfterCollection();
    gauges.cgroupInactiveFile();
    gauges.allocatedBytes(1);
    read(made, gauges);
    encode(made, gauges, 0, 0, 0, 0);
  }

  private Buffers buffers() {
    Buffers made = buffers;
    if (made == null) {
      made = new Buffers(spans.slotCount(), spans.slotSize(), copies.payloadLimit());
      buffers = made;
    }
    return made;
  }

  /**
   * Looks at the usage that {@code values} holds and takes a snapshot if a level is reached.
   *
   * @return whether one was stored
   */
  boolean look(long[] values, Gauges gauges) {
    long heapMax = values[VitalsLayout.HEAP_MAX];
    long cgroupLimit = values[VitalsLayout.CGROUP_LIMIT];
    // A starting application needs its processor itself: see Housekeeper.LIGHT_BEATS.
    int interesting = buffers == null ? PressureLayout.percent(0) : READING_PERCENT;
    long heap = 0;
    if (isAt(values[VitalsLayout.HEAP_USED], heapMax, interesting)) {
      heap = Math.min(values[VitalsLayout.HEAP_USED], gauges.heapAfterCollection());
    }
    long cgroup = 0;
    if (isAt(values[VitalsLayout.CGROUP_USAGE], cgroupLimit, interesting)) {
      cgroup = Math.max(0, values[VitalsLayout.CGROUP_USAGE] - gauges.cgroupInactiveFile());
    }
    long nanos = clock.nanos();
    boolean heapRises = rises(PressureLayout.HEAP, values[VitalsLayout.HEAP_USED], heapMax, nanos);
    rising =
        rises(PressureLayout.CGROUP, values[VitalsLayout.CGROUP_USAGE], cgroupLimit, nanos)
            || heapRises;
    lastNanos = nanos;
    boolean stored = look(PressureLayout.HEAP, heap, heapMax, gauges);
    stored |= look(PressureLayout.CGROUP, cgroup, cgroupLimit, gauges);
    if (isAt(heap, heapMax, interesting)
        || isAt(cgroup, cgroupLimit, interesting)
        || (rising && buffers != null)) {
      read(buffers(), gauges);
    }
    return stored;
  }

  /**
   * {@return whether a look is due more often than once a second: a level is reached, or may be
   * before the next beat}
   */
  boolean isUrgent() {
    return rising || reached[PressureLayout.HEAP] + reached[PressureLayout.CGROUP] > 0;
  }

  /** {@return whether the limit will be reached soon if usage goes on to rise as it did} */
  private boolean rises(int limit, long usage, long limitBytes, long nanos) {
    long before = lastUsage[limit];
    lastUsage[limit] = Math.max(0, usage);
    long growth = usage - before;
    return before >= 0
        && growth > 0
        && isAt(usage, limitBytes, READING_PERCENT)
        && (double) (limitBytes - usage) / growth * (nanos - lastNanos) < RISING_NANOS;
  }

  private static boolean isAt(long used, long limit, int percent) {
    return limit > 0 && used >= limit / 100 * percent;
  }

  private boolean look(int limit, long used, long limitBytes, Gauges gauges) {
    int before = reached[limit];
    int now = before;
    while (now < PressureLayout.LEVELS && isAt(used, limitBytes, PressureLayout.percent(now))) {
      now++;
    }
    while (now > 0
        && !isAt(used, limitBytes, PressureLayout.percent(now - 1) - HYSTERESIS_PERCENT)) {
      now--;
    }
    reached[limit] = now;
    int again = unsettled[limit];
    unsettled[limit] = -1;
    if (now > before) {
      if (!snapshot(limit, now - 1, used, limitBytes, gauges)) {
        unsettled[limit] = now - 1;
      }
      return true;
    }
    if (again >= 0 && again < now) {
      snapshot(limit, again, used, limitBytes, gauges);
      return true;
    }
    return false;
  }

  // Readings

  private void read(Buffers made, Gauges gauges) {
    long nanos = clock.nanos();
    for (int i = 0; i < made.readings.length; i++) {
      if (spans.look(i, sight)) {
        read(made, gauges, i, sight.threadId, nanos);
      }
    }
  }

  private static void read(Buffers made, Gauges gauges, int index, long threadId, long nanos) {
    Reading reading = made.readings[index];
    boolean isNew = reading == null;
    if (reading == null) {
      reading = new Reading();
      made.readings[index] = reading;
    }
    if (isNew || reading.threadId != threadId || nanos - reading.newerNanos > 2 * READING_NANOS) {
      long bytes = gauges.allocatedBytes(threadId);
      reading.threadId = threadId;
      reading.olderBytes = bytes;
      reading.olderNanos = nanos;
      reading.newerBytes = bytes;
      reading.newerNanos = nanos;
    } else if (nanos - reading.newerNanos >= READING_NANOS) {
      reading.olderBytes = reading.newerBytes;
      reading.olderNanos = reading.newerNanos;
      reading.newerBytes = gauges.allocatedBytes(threadId);
      reading.newerNanos = nanos;
    }
  }

  // Snapshots

  /** {@return whether it is known of every span what its thread has allocated, or will never be} */
  private boolean snapshot(int limit, int level, long used, long limitBytes, Gauges gauges) {
    Buffers made = buffers();
    boolean settled = encode(made, gauges, limit, level, used, limitBytes);
    int kind = limit * PressureLayout.LEVELS + level;
    made.lengths[kind] = made.out.position();
    System.arraycopy(made.payload, 0, made.snapshots[kind], 0, made.lengths[kind]);
    CborWriter out = made.out;
    out.reset(0, made.payload.length);
    out.beginMap();
    for (int i = 0; i < KINDS; i++) {
      if (made.lengths[i] > 0) {
        out.unsigned(i);
        out.raw(made.snapshots[i], 0, made.lengths[i]);
      }
    }
    out.end();
    copies.write(made.payload, out.position());
    return settled;
  }

  /** Encodes a snapshot into {@code payload}. */
  private boolean encode(
      Buffers made, Gauges gauges, int limit, int level, long used, long limitBytes) {
    long nanos = clock.nanos();
    made.oldest.count = 0;
    made.hungriest.count = 0;
    int open = 0;
    boolean settled = true;
    for (int i = 0; i < made.readings.length; i++) {
      if (!spans.look(i, sight)) {
        continue;
      }
      open++;
      made.oldest.offer(-sight.nanos, i, sight.state);
      Reading reading = made.readings[i];
      if (reading == null || reading.threadId != sight.threadId) {
        settled = false;
      } else {
        long bytes = allocated(reading, gauges, nanos);
        if (bytes >= 0) {
          made.hungriest.offer(bytes, i, sight.state);
        }
      }
    }
    CborWriter out = made.out;
    // Kept back: the ends of map and array.
    out.reset(0, MAX_SNAPSHOT_BYTES - 2);
    out.beginMap();
    out.unsigned(PressureLayout.LIMIT);
    out.unsigned(limit);
    out.unsigned(PressureLayout.PERCENT);
    out.unsigned(PressureLayout.percent(level));
    out.unsigned(PressureLayout.USED);
    out.integer(used);
    out.unsigned(PressureLayout.LIMIT_BYTES);
    out.integer(limitBytes);
    out.unsigned(PressureLayout.WALL_MILLIS);
    out.integer(clock.wallMillis());
    out.unsigned(PressureLayout.NANOS);
    out.integer(nanos);
    out.unsigned(PressureLayout.OPEN_SPANS);
    out.unsigned(open);
    out.unsigned(PressureLayout.SPANS);
    out.beginArray();
    for (int i = 0; i < made.oldest.count; i++) {
      span(made, made.oldest.slots[i], made.oldest.states[i], gauges, nanos);
    }
    for (int i = 0; i < made.hungriest.count; i++) {
      if (!made.oldest.contains(made.hungriest.slots[i], made.hungriest.states[i])) {
        span(made, made.hungriest.slots[i], made.hungriest.states[i], gauges, nanos);
      }
    }
    out.limit(MAX_SNAPSHOT_BYTES);
    out.end();
    out.end();
    return settled;
  }

  /** Adds a span, if it is still open and there is room. */
  private void span(Buffers made, int slot, long state, Gauges gauges, long now) {
    SpanNames names = made.names;
    CborWriter out = made.out;
    if (!spans.look(slot, sight)
        || sight.state != state
        || !names.read(spans, slot, state)
        || out.limit() - out.position() < MAX_SPAN_BYTES) {
      return;
    }
    out.beginMap();
    out.unsigned(PressureLayout.SPAN_NAME);
    out.utf8Cut(names.bytes, names.from, names.length, PressureLayout.MAX_NAME_BYTES);
    out.unsigned(PressureLayout.SPAN_ID);
    out.unsigned(sight.spanId);
    out.unsigned(PressureLayout.SPAN_NANOS);
    out.integer(sight.nanos);
    if (names.threadLength > 0) {
      out.unsigned(PressureLayout.SPAN_THREAD);
      out.utf8Cut(
          names.bytes, names.threadFrom, names.threadLength, PressureLayout.MAX_THREAD_BYTES);
    }
    Reading reading = made.readings[slot];
    long bytes = allocated(reading, gauges, now);
    if (reading != null && bytes >= 0) {
      out.unsigned(PressureLayout.SPAN_ALLOCATED);
      out.integer(bytes);
      out.unsigned(PressureLayout.SPAN_ALLOCATED_NANOS);
      out.integer(now - reading.olderNanos);
    }
    out.end();
  }

  /** {@return what the thread of the span in sight has allocated since its reading; or -1} */
  private long allocated(@Nullable Reading reading, Gauges gauges, long now) {
    if (reading == null || reading.threadId != sight.threadId || reading.olderNanos >= now) {
      return -1;
    }
    long bytes = gauges.allocatedBytes(sight.threadId);
    return bytes < 0 || reading.olderBytes < 0 ? -1 : bytes - reading.olderBytes;
  }
}
