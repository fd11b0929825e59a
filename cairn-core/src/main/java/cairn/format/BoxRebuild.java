package cairn.format;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Puts a box together from the frames of its run's journal, and from what is left of the box
 * itself.
 *
 * <p>One thread. Nothing here throws on damage; memory is in proportion to the frames and to the
 * box that they describe.
 */
public final class BoxRebuild {
  /*
   * First an image from the frames alone: zeros, the header, and everything put where it says it
   * lay. Then, if there is a box, what the box lacks is put into a copy of it. So a box that is whole
   * stays as it is, byte for byte, and what a reader finds wrong with the result is wrong with both.
   *
   * What is newer: a value in two copies by generation; a record of the trail by its position, which
   * only one record ever has; a slot by the generation in its state word, and within one generation
   * closed is newer than open, and entries add up; a counter by its value. Frames may be missing (the last batch was not
   * forced) and come in any order within a batch.
   *
   * The scope. Positions grow from generation to generation, so of a field the record with the
   * highest position is the newest, wherever it was found. But a field that was removed leaves no
   * record in the next generation: so one is needed that is known to be whole, the newest there is;
   * its records and all later ones are the scope. Unless the box alone says all that, it is written
   * anew, as one generation more.
   */

  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /**
   * A header says how long its box is. That is believed up to this, and beyond it up to so many
   * times the journal's own bytes: 256 KiB of journal may describe the largest box there is.
   */
  private static final long MAX_FREE_BYTES = 64L << 20;

  private static final long MAX_TIMES = 1024;

  private static final byte[] ZERO = new byte[4];
  private static final BoxReader.Problems IGNORED = (loss, where, text) -> {};

  private static final int[] COPIES = {
    BoxLayout.IDENTITY, BoxLayout.LIFE, BoxLayout.UNCAUGHT, BoxLayout.BEAT, BoxLayout.PRESSURE
  };

  /** One frame of a journal. */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  public record Frame(int type, byte[] payload) {}

  /**
   * What came of it.
   *
   * @param image a box
   * @param taken what of it is from the journal, in words
   * @param problems what is wrong with one of them that doesn't show in the image
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on, never compared
  public record Result(byte[] image, List<String> taken, List<String> problems) {}

  private final CRC32C crc = new CRC32C();
  private final byte[] nonce = new byte[8];
  private final List<String> taken = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();

  /** The box, if it can be read; and what is made of it. */
  private @Nullable BoxReader old;

  private byte[] image = {};

  // What the frames say.
  private final Map<Integer, byte[]> copies = new HashMap<>();
  private final List<byte[]> heads = new ArrayList<>();
  private long[] counters = {};
  private final TreeMap<Long, byte[]> trail = new TreeMap<>();
  private final List<byte[]> scope = new ArrayList<>();
  private final Map<Integer, byte[]> slots = new HashMap<>();

  private BoxRebuild() {}

  /**
   * Rebuilds.
   *
   * @param box the bytes of the box, or null if there is none
   * @param frames of all segments, oldest first
   * @param file how messages name the box
   * @throws IOException if there is neither a box nor a journal that one can be made of, or the box
   *     is of another version
   */
  public static Result rebuild(byte @Nullable [] box, List<Frame> frames, String file)
      throws IOException {
    BoxRebuild rebuild = new BoxRebuild();
    if (!rebuild.start(box, frames, file)) {
      if (box == null) {
        throw new IOException("no box in this run, and no checkpoint in its journal: file=" + file);
      }
      return new Result(box, List.of(), rebuild.problems);
    }
    frames.forEach(rebuild::take);
    rebuild.put();
    return new Result(rebuild.image, rebuild.taken, rebuild.problems);
  }

  // Which box it is

  /**
   * Prepares the image: the box, whole in length and with a header. False if the journal is of no
   * use.
   */
  private boolean start(byte @Nullable [] box, List<Frame> frames, String file) throws IOException {
    byte[] header = null;
    long size = 0;
    for (Frame frame : frames) {
      size += frame.payload.length;
      if (frame.type == FrameLayout.TYPE_BEGIN && isHeader(frame.payload)) {
        header = frame.payload;
      }
    }
    old = box == null ? null : open(box, file);
    byte[] own =
        old == null || box == null
            ? null
            : Arrays.copyOfRange(box, old.header(), old.header() + BoxLayout.HEADER_SIZE);
    if (frames.isEmpty() || (old != null && isScrubbed(old))) {
      return false; // a journal beside a scrubbed box is what a scrub that died has left
    }
    boolean isOther = header != null && own != null && !Arrays.equals(header, own);
    if (isOther && old != null && old.copy(BoxLayout.IDENTITY) != null) {
      problems.add("journal is of another run and not used");
      return false;
    }
    header = header == null ? own : header;
    if (header == null || !isPossible(header, size)) {
      return false;
    }
    int length = (int) (long) LONG.get(header, BoxLayout.FILE_LENGTH_OFFSET);
    System.arraycopy(header, BoxLayout.NONCE_OFFSET, nonce, 0, nonce.length);
    if (box == null || isOther) {
      old = null;
      image = new byte[length];
    } else {
      image = Arrays.copyOf(box, Math.max(box.length, length));
    }
    boolean needsHeader = old == null;
    if (needsHeader) {
      System.arraycopy(header, 0, image, 0, BoxLayout.HEADER_SIZE);
      System.arraycopy(header, 0, image, length - BoxLayout.TRAILER_SIZE, BoxLayout.HEADER_SIZE);
    }
    if (box == null) {
      taken.add("everything but the vitals: there is no box");
    } else if (isOther) {
      taken.add("everything but the vitals: the box is of another run");
    } else if (needsHeader) {
      taken.add("the header");
    }
    if (box != null && box.length < length) {
      problems.add("box is truncated: length=" + box.length + ", expected=" + length + " bytes");
    }
    // Over the image, which what is missing is put into: it has room for that.
    old = BoxReader.open(image, file, true, IGNORED);
    return true;
  }

  /** Null if its header is damaged: then that of the journal does. */
  private static @Nullable BoxReader open(byte[] box, String file) throws IOException {
    try {
      return BoxReader.open(box, file, true, IGNORED);
    } catch (BoxReader.OtherVersion e) {
      throw e;
    } catch (IOException e) {
      return null;
    }
  }

  private static boolean isScrubbed(BoxReader box) {
    CborSlice identity = box.map(BoxLayout.IDENTITY);
    return identity != null && identity.entries().containsKey(BoxScrubber.SCRUBBED);
  }

  private boolean isHeader(byte[] header) {
    if (header.length != BoxLayout.HEADER_SIZE
        || (long) LONG.get(header, BoxLayout.MAGIC_OFFSET) != BoxLayout.MAGIC) {
      return false;
    }
    crc.reset();
    crc.update(header, 0, BoxLayout.HEADER_CRC_OFFSET);
    return (int) crc.getValue() == (int) INT.get(header, BoxLayout.HEADER_CRC_OFFSET);
  }

  private boolean isPossible(byte[] header, long journalBytes) {
    long length = (long) LONG.get(header, BoxLayout.FILE_LENGTH_OFFSET);
    boolean isPossible =
        length >= BoxLayout.HEADER_SIZE + BoxLayout.TRAILER_SIZE
            && length <= MAX_FREE_BYTES + MAX_TIMES * journalBytes
            && length <= Integer.MAX_VALUE - 8;
    if (!isPossible) {
      problems.add("journal describes a box of an impossible length: length=" + length);
    }
    return isPossible;
  }

  // What the frames say

  private void take(Frame frame) {
    byte[] payload = frame.payload;
    switch (frame.type) {
      case FrameLayout.TYPE_COPY -> takeCopy(payload);
      case FrameLayout.TYPE_COUNTERS -> takeCounters(payload);
      case FrameLayout.TYPE_TRAIL -> takeTrail(payload);
      case FrameLayout.TYPE_SCOPE -> scope.add(payload);
      case FrameLayout.TYPE_SPAN -> takeSlot(payload, 0, payload.length);
      case FrameLayout.TYPE_CLOSED -> {
        int size = FrameLayout.PREFIX_SIZE + Long.BYTES;
        for (int at = 0; at <= payload.length - size; at += size) {
          takeSlot(payload, at, size);
        }
      }
      default -> {} // the header, or of a newer writer
    }
  }

  private void takeCopy(byte[] payload) {
    if (payload.length < FrameLayout.PREFIX_SIZE + CopyLayout.PAYLOAD_OFFSET) {
      return;
    }
    byte[] copy = Arrays.copyOfRange(payload, FrameLayout.PREFIX_SIZE, payload.length);
    int tag = (int) INT.get(payload, 0);
    long generation = (long) LONG.get(copy, CopyLayout.GENERATION_OFFSET);
    byte[] last = copies.get(tag);
    if (tag == BoxLayout.SCOPE_HEAD && isSealed(copy, copy.length, CopyLayout.CRC_OFFSET)) {
      heads.add(copy);
      return;
    }
    if (isSealed(copy, copy.length, CopyLayout.CRC_OFFSET)
        && generation > 0
        && (int) INT.get(copy, CopyLayout.LENGTH_OFFSET) == copy.length - CopyLayout.PAYLOAD_OFFSET
        && (last == null || generation > (long) LONG.get(last, CopyLayout.GENERATION_OFFSET))) {
      copies.put(tag, copy);
    }
  }

  private void takeCounters(byte[] payload) {
    int count = Math.min(payload.length, CounterLayout.COPY_SIZE) / Long.BYTES;
    counters = Arrays.copyOf(counters, Math.max(count, counters.length));
    for (int i = 0; i < count; i++) {
      counters[i] = Math.max(counters[i], (long) LONG.get(payload, Long.BYTES * i));
    }
  }

  private void takeTrail(byte[] payload) {
    for (int at = 0, length; at <= payload.length - RecordLayout.HEADER_SIZE; ) {
      length = (int) INT.get(payload, at + RecordLayout.LENGTH_OFFSET);
      if (length < RecordLayout.HEADER_SIZE || length > payload.length - at) {
        return;
      }
      byte[] record = Arrays.copyOfRange(payload, at, at + length);
      long position = (long) LONG.get(record, RecordLayout.POSITION_OFFSET);
      if (position > 0 && isSealed(record, length, RecordLayout.CRC_OFFSET)) {
        trail.put(position, record);
      }
      at += RecordLayout.aligned(length);
    }
  }

  private void takeSlot(byte[] payload, int at, int length) {
    if (length < FrameLayout.PREFIX_SIZE + Long.BYTES) {
      return;
    }
    byte[] slot = Arrays.copyOfRange(payload, at + FrameLayout.PREFIX_SIZE, at + length);
    slots.merge(
        (int) INT.get(payload, at), slot, (last, next) -> isOlder(next, last) ? last : next);
  }

  /** {@return whether one state of a slot is older than another} Closed is newer than open. */
  private static boolean isOlder(byte[] slot, byte[] than) {
    long state = stateOf(slot);
    long other = stateOf(than);
    return generation(state) < generation(other)
        || (generation(state) == generation(other) && state > 0 && other < 0);
  }

  private static long stateOf(byte[] slot) {
    return (long) LONG.get(slot, SpanLayout.STATE_OFFSET);
  }

  /** {@return the generation in a state word, open or closed} */
  private static long generation(long state) {
    return (state < 0 ? ~state : state) >>> SpanLayout.GENERATION_SHIFT;
  }

  /** {@return whether the checksum is right, that field taken as zero} */
  private boolean isSealed(byte[] bytes, int length, int crcOffset) {
    crc.reset();
    crc.update(nonce, 0, nonce.length);
    crc.update(bytes, 0, crcOffset);
    crc.update(ZERO, 0, ZERO.length);
    crc.update(bytes, crcOffset + 4, length - crcOffset - 4);
    return (int) crc.getValue() == (int) INT.get(bytes, crcOffset);
  }

  // What the box lacks

  private void put() {
    BoxReader box = old;
    if (box == null) {
      throw new AssertionError(); // start has opened the image
    }
    for (int tag : COPIES) {
      putCopy(box, tag);
    }
    putCounters(box);
    putTrail(box);
    putSlots(box);
    putScope(box);
  }

  /** {@return the section, or null if the header has none that lies within the image} */
  private static BoxReader.@Nullable Section whole(BoxReader box, int tag) {
    BoxReader.Section section = box.section(tag);
    return section == null || section.available() < section.length() ? null : section;
  }

  private void putCopy(BoxReader box, int tag) {
    BoxReader.Section section = whole(box, tag);
    byte[] copy = copies.get(tag);
    if (section == null || copy == null || copy.length > section.unit()) {
      return;
    }
    if ((long) LONG.get(copy, CopyLayout.GENERATION_OFFSET) > box.generation(section)) {
      for (int i = 0; i < section.count(); i++) {
        System.arraycopy(copy, 0, image, section.offset() + i * section.unit(), copy.length);
      }
      taken.add(section.name());
    }
  }

  private void putCounters(BoxReader box) {
    BoxReader.Section section = whole(box, BoxLayout.COUNTERS);
    long[] own = box.counters();
    if (section == null || own == null) {
      return;
    }
    int newer = 0;
    for (int i = 0; i < Math.min(own.length, counters.length); i++) {
      if (counters[i] > own[i]) {
        for (int copy = 0; copy < section.count(); copy++) {
          LONG.set(image, section.offset() + copy * section.unit() + 8 * i, counters[i]);
        }
        newer++;
      }
    }
    if (newer > 0) {
      taken.add("counters: " + newer);
    }
  }

  private void putTrail(BoxReader box) {
    BoxReader.Section ring = whole(box, BoxLayout.TRAIL);
    if (ring == null || trail.isEmpty()) {
      return;
    }
    Set<Long> own = new HashSet<>();
    long newest = trail.lastKey() + RecordLayout.aligned(trail.lastEntry().getValue().length);
    for (BoxReader.Place place : box.trailPlaces()) {
      own.add(place.position());
      newest = Math.max(newest, place.position() + RecordLayout.aligned(place.length()));
    }
    int count = 0;
    for (Map.Entry<Long, byte[]> entry :
        trail.tailMap(Math.max(ring.length(), newest - ring.length())).entrySet()) {
      byte[] record = entry.getValue();
      if (!own.contains(entry.getKey()) && record.length <= ring.length()) {
        int at = (int) (entry.getKey() % ring.length());
        int straight = Math.min(record.length, ring.length() - at);
        System.arraycopy(record, 0, image, ring.offset() + at, straight);
        System.arraycopy(record, straight, image, ring.offset(), record.length - straight);
        count++;
      }
    }
    if (count > 0) {
      taken.add(ring.name() + ": " + count + " records");
    }
  }

  private void putSlots(BoxReader box) {
    BoxReader.Section table = whole(box, BoxLayout.SPANS);
    if (table == null || table.unit() <= SpanLayout.FIRST_ENTRY_OFFSET) {
      return;
    }
    int count = 0;
    for (Map.Entry<Integer, byte[]> entry : slots.entrySet()) {
      byte[] slot = entry.getValue();
      if (entry.getKey() >= 0
          && entry.getKey() < table.count()
          && slot.length <= table.unit()
          && putSlot(box, table, entry.getKey() * table.unit(), slot)) {
        count++;
      }
    }
    if (count > 0) {
      taken.add(table.name() + ": " + count + " slots");
    }
  }

  private void putScope(BoxReader box) {
    BoxReader.Section log = whole(box, BoxLayout.SCOPE_LOG);
    BoxReader.Section head = whole(box, BoxLayout.SCOPE_HEAD);
    if (log != null && head != null && log.count() == 2) {
      int fields = new ScopeRebuild(image, box, log, head).put(heads, scope, problems);
      if (fields >= 0) {
        taken.add(log.name() + ": " + fields + " fields");
      }
    }
  }

  /** {@return whether the first entry of that open slot proves itself at its place} */
  private static boolean begins(BoxReader box, byte[] slot, long state, int from) {
    int at = SpanLayout.FIRST_ENTRY_OFFSET;
    int payload = at + SpanLayout.ENTRY_HEADER_SIZE;
    if (slot.length < payload) {
      return false;
    }
    int length = (int) INT.get(slot, at);
    return length > 0
        && length <= slot.length - payload
        && box.entryChecksum(slot, state, from + at, payload, length)
            == (int) INT.get(slot, at + 4);
  }

  private boolean putSlot(BoxReader box, BoxReader.Section table, int from, byte[] slot) {
    int at = table.offset() + from;
    long state = stateOf(slot);
    if (BoxReader.isOpenWord(state) && !begins(box, slot, state, from)) {
      return false;
    }
    long own = (long) LONG.get(image, at);
    boolean ownIsOpen = BoxReader.isOpenWord(own);
    boolean ownIsSound = ownIsOpen ? box.beginsSpan(table, from) : BoxReader.isOpenWord(~own);
    long ownGeneration = ownIsSound ? generation(own) : 0;
    if (ownIsSound
        && (ownGeneration > generation(state)
            || (ownGeneration == generation(state) && !ownIsOpen))) {
      return false;
    }
    if (!ownIsSound || ownGeneration < generation(state) || !BoxReader.isOpenWord(state)) {
      if (own == 0 && !BoxReader.isOpenWord(state)) {
        return false; // nothing is open, either way
      }
      Arrays.fill(image, at, at + table.unit(), (byte) 0);
      System.arraycopy(slot, 0, image, at, slot.length);
      return true;
    }
    // The same open span: entries that prove themselves here and not there. Between them may be
    // room for an entry that was never filled.
    boolean added = false;
    for (int entry = SpanLayout.FIRST_ENTRY_OFFSET;
        entry <= slot.length - SpanLayout.ENTRY_HEADER_SIZE; ) {
      int length = (int) INT.get(slot, entry);
      int payload = entry + SpanLayout.ENTRY_HEADER_SIZE;
      if (length <= 0
          || length > slot.length - payload
          || box.entryChecksum(slot, state, from + entry, payload, length)
              != (int) INT.get(slot, entry + 4)) {
        entry += SpanLayout.ENTRY_ALIGNMENT;
        continue;
      }
      if (box.entryLength(table, state, from + entry, from + table.unit()) < 0) {
        System.arraycopy(slot, entry, image, at + entry, SpanLayout.ENTRY_HEADER_SIZE + length);
        added = true;
      }
      entry = BoxReader.nextEntry(entry, length);
    }
    return added;
  }
}
