package cairn.format;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32C;

/**
 * Puts the scope together from a box and the frames of a journal; see {@link BoxRebuild}.
 *
 * <p>One thread; writes into the image only.
 */
final class ScopeRebuild {
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] image;
  private final BoxReader box;
  private final BoxReader.Section log;
  private final BoxReader.Section head;
  private final long unit;
  private final CRC32C crc = new CRC32C();

  /** Records that hold or remove a value, by position. */
  private final TreeMap<Long, byte[]> records = new TreeMap<>();

  /**
   * By generation: which units of its half are known. Those that the journal calls erased are: it
   * has what came in their place. Those that the box calls erased are not.
   */
  private final Map<Long, BitSet> known = new HashMap<>();

  /** By generation: how many bytes its rewrite took. */
  private final TreeMap<Long, Long> rewritten = new TreeMap<>();

  private long headGeneration;

  private record Field(long kind, String key) {}

  ScopeRebuild(byte[] image, BoxReader box, BoxReader.Section log, BoxReader.Section head) {
    this.image = image;
    this.box = box;
    this.log = log;
    this.head = head;
    this.unit = log.unit();
  }

  /**
   * Writes the scope anew, unless the box alone holds all of it.
   *
   * @param heads copies of the scope's head from the journal
   * @param payloads of frames with records
   * @return how many fields were written, or -1 if the box is left as it is
   */
  int put(List<byte[]> heads, List<byte[]> payloads, List<String> problems) {
    takeBox();
    boolean boxIsWhole = !rewritten.isEmpty() && isWhole(rewritten.lastKey());
    long boxGeneration = rewritten.isEmpty() ? 0 : rewritten.lastKey();
    Set<Long> own = Set.copyOf(records.keySet());
    payloads.forEach(this::takePayload);
    heads.forEach(this::takeHead);
    boolean adds =
        !own.containsAll(records.tailMap(boxGeneration * unit).keySet())
            || (!rewritten.isEmpty() && rewritten.lastKey() > boxGeneration);
    if ((boxIsWhole && !adds) || (payloads.isEmpty() && heads.isEmpty())) {
      return -1;
    }
    long base = 0;
    for (long generation : rewritten.descendingKeySet()) {
      if (isWhole(generation)) {
        base = generation;
        break;
      }
    }
    if (base == 0 && !records.isEmpty()) {
      problems.add("no generation of the scope is whole: removed fields may show again");
    }
    return write(base, problems);
  }

  /** {@return whether all that the rewrite of that generation left in its half is known} */
  private boolean isWhole(long generation) {
    int units = (int) (rewritten.getOrDefault(generation, 0L) / RecordLayout.ALIGNMENT);
    return known.getOrDefault(generation, new BitSet()).nextClearBit(0) >= units;
  }

  // What there is

  private void takeBox() {
    byte[] payload = box.copy(BoxLayout.SCOPE_HEAD);
    if (payload != null && payload.length >= 16) {
      headGeneration = box.generation(head);
      noteHead((long) LONG.get(payload, 0), (long) LONG.get(payload, 8));
    }
    for (int at = 0; at <= log.available() - RecordLayout.HEADER_SIZE; ) {
      long position = (long) LONG.get(image, log.offset() + at);
      long generation = position / unit;
      if (position > 0 && box.isScopeRecord(log, generation, at)) {
        int from = log.offset() + at;
        int length = (int) INT.get(image, from + RecordLayout.LENGTH_OFFSET);
        if (!isErased(image, from)) {
          take(position, Arrays.copyOfRange(image, from, from + length), length);
        } // else a later generation had what was here: this one is no longer whole
        at += RecordLayout.aligned(length);
      } else {
        at += RecordLayout.ALIGNMENT;
      }
    }
  }

  private void takeHead(byte[] copy) {
    headGeneration = Math.max(headGeneration, (long) LONG.get(copy, CopyLayout.GENERATION_OFFSET));
    if (copy.length >= CopyLayout.PAYLOAD_OFFSET + 16) {
      noteHead(
          (long) LONG.get(copy, CopyLayout.PAYLOAD_OFFSET),
          (long) LONG.get(copy, CopyLayout.PAYLOAD_OFFSET + 8));
    }
  }

  private void noteHead(long generation, long length) {
    if (generation > 0 && generation < Long.MAX_VALUE / unit - 2 && length >= 0 && length <= unit) {
      rewritten.put(generation, length);
    }
  }

  private void takePayload(byte[] payload) {
    for (int at = 0; at <= payload.length - RecordLayout.HEADER_SIZE; ) {
      int length = (int) INT.get(payload, at + RecordLayout.LENGTH_OFFSET);
      boolean erased = isErased(payload, at);
      int stored = erased ? RecordLayout.HEADER_SIZE : length;
      if (length < RecordLayout.HEADER_SIZE || length > unit || stored > payload.length - at) {
        return;
      }
      byte[] record = Arrays.copyOfRange(payload, at, at + stored);
      long position = (long) LONG.get(record, RecordLayout.POSITION_OFFSET);
      if (position >= unit
          && position < Long.MAX_VALUE - 2 * unit
          && position % RecordLayout.ALIGNMENT == 0
          && position % unit + length <= unit
          && seal(record) == (int) INT.get(record, RecordLayout.CRC_OFFSET)) {
        take(position, record, length);
      }
      at += RecordLayout.aligned(stored);
    }
  }

  private static boolean isErased(byte[] bytes, int at) {
    return (short) SHORT.get(bytes, at + RecordLayout.TYPE_OFFSET) == RecordLayout.TYPE_ERASED;
  }

  private void take(long position, byte[] record, int length) {
    int first = (int) (position % unit) / RecordLayout.ALIGNMENT;
    known
        .computeIfAbsent(position / unit, generation -> new BitSet())
        .set(first, first + RecordLayout.aligned(length) / RecordLayout.ALIGNMENT);
    if (!isErased(record, 0)) {
      records.put(position, record);
    }
  }

  /** {@return the checksum that this record must have} */
  private int seal(byte[] record) {
    byte[] zeroed = record.clone();
    INT.set(zeroed, RecordLayout.CRC_OFFSET, 0);
    crc.reset();
    crc.update(box.nonce());
    crc.update(zeroed, 0, zeroed.length);
    return (int) crc.getValue();
  }

  // What comes of it

  private int write(long base, List<String> problems) {
    Map<Field, byte[]> fields = new LinkedHashMap<>();
    for (byte[] record : records.tailMap(base * unit).values()) {
      CborSlice payload = CborSlice.of(record, RecordLayout.HEADER_SIZE, record.length);
      if (payload == null) {
        continue;
      }
      Map<String, CborSlice> map = payload.entries();
      Field field = field(map);
      // The last record of a field is where it stands in the order, as in a rewrite.
      fields.remove(field);
      if (map.containsKey(String.valueOf(RecordLayout.FIELD_VALUE))) {
        fields.put(field, record);
      }
    }
    long newest = rewritten.isEmpty() ? 0 : rewritten.lastKey();
    newest = Math.max(newest, records.isEmpty() ? 0 : records.lastKey() / unit);
    long generation = newest + 1;
    Arrays.fill(image, log.offset(), log.offset() + log.length(), (byte) 0);
    int from = log.offset() + (int) (generation % 2 * unit);
    int end = 0;
    int count = 0;
    for (byte[] record : fields.values()) {
      int size = RecordLayout.aligned(record.length);
      if (end + size > unit) {
        problems.add("scope is larger than its half: fields=" + fields.size() + ", kept=" + count);
        break;
      }
      LONG.set(record, RecordLayout.POSITION_OFFSET, generation * unit + end);
      INT.set(record, RecordLayout.CRC_OFFSET, seal(record));
      System.arraycopy(record, 0, image, from + end, record.length);
      end += size;
      count++;
    }
    putHead(generation, end);
    return count;
  }

  private void putHead(long generation, int length) {
    byte[] copy = new byte[CopyLayout.PAYLOAD_OFFSET + 16];
    LONG.set(copy, CopyLayout.GENERATION_OFFSET, headGeneration + 1);
    INT.set(copy, CopyLayout.LENGTH_OFFSET, 16);
    LONG.set(copy, CopyLayout.PAYLOAD_OFFSET, generation);
    LONG.set(copy, CopyLayout.PAYLOAD_OFFSET + 8, (long) length);
    INT.set(copy, CopyLayout.CRC_OFFSET, seal(copy));
    for (int i = 0; i < head.count(); i++) {
      System.arraycopy(copy, 0, image, head.offset() + i * head.unit(), copy.length);
    }
  }

  private static Field field(Map<String, CborSlice> map) {
    CborSlice kind = map.get(String.valueOf(RecordLayout.FIELD_KIND));
    CborSlice key = map.get(String.valueOf(RecordLayout.FIELD_KEY));
    String name = key == null ? null : key.text();
    return new Field(kind == null ? 0 : kind.integer().orElse(0), name == null ? "" : name);
  }
}
