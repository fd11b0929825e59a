package cairn.format;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * Takes from the bytes of a box what proves itself, and names the rest.
 *
 * <p>One thread. The bytes are a copy of the file, whole or cut, of a dead run or a live one; they
 * are never written to. Nothing here throws on damage once the box is open. Each length is checked
 * before it is used; time and memory are proportional to the bytes.
 */
public final class BoxReader {
  /*
   * Why hostile bytes cannot make this slow or large. Records of a ring are looked for at every
   * multiple of 32, and each may claim to be long: the bytes checksummed are counted, and the search
   * stops at CHECKSUM_BUDGET times the ring. A ring that a writer made costs at most about twice its
   * size, since only what lies in its own place is checksummed at all. Accepted records may not
   * overlap in the stream, so what they hold is bounded by the ring too.
   */
  private static final VarHandle SHORT =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INT =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long CHECKSUM_BUDGET = 64;
  private static final int SECTION_VERSION = 1;
  private static final int MAX_SINGLE_PROBLEMS = 8;
  private static final byte[] ZERO = new byte[4];
  private static final List<Integer> KNOWN =
      List.of(
          BoxLayout.IDENTITY,
          BoxLayout.LIFE,
          BoxLayout.BEAT,
          BoxLayout.UNCAUGHT,
          BoxLayout.PRESSURE,
          BoxLayout.COUNTERS,
          BoxLayout.VITALS_SECONDS,
          BoxLayout.VITALS_MINUTES,
          BoxLayout.SCOPE_HEAD,
          BoxLayout.SCOPE_LOG,
          BoxLayout.SPANS,
          BoxLayout.TRAIL);

  /** Takes what is not sound. */
  @FunctionalInterface
  public interface Problems {
    /**
     * Takes one problem.
     *
     * @param loss whether something is missing because of it
     * @param where section and offset
     * @param text what was found
     */
    void add(boolean loss, String where, String text);
  }

  /** A section's place. {@code available} is what of it lies within the bytes. */
  record Section(String name, int offset, int length, int available, int unit, int count) {}

  /**
   * Where a record lies that proved itself: its position, its offset in the section, its length.
   */
  record Place(long position, int slot, int length) {}

  private final byte[] bytes;
  private final byte[] nonce = new byte[8];
  private final boolean live;
  private final Problems problems;
  private final Map<Integer, Section> sections = new HashMap<>();
  private final CRC32C crc = new CRC32C();
  private boolean isShort;
  private int minor;
  private int header;

  private BoxReader(byte[] bytes, boolean live, Problems problems) {
    this.bytes = bytes;
    this.live = live;
    this.problems = problems;
  }

  /**
   * Opens a box.
   *
   * @param file how messages name it
   * @param live whether it is being written: what is torn is then no problem
   * @throws IOException if it is no box, neither header is readable, or the version is unsupported
   */
  public static BoxReader open(byte[] bytes, String file, boolean live, Problems problems)
      throws IOException {
    BoxReader reader = new BoxReader(bytes, live, problems);
    reader.readHeader(file);
    return reader;
  }

  // Header

  private void readHeader(String file) throws IOException {
    if (!isHeader(0)) {
      header = trailer();
      if (header < 0) {
        throw unreadable(file);
      }
      problems.add(
          false,
          "header",
          "copy at offset 0 is damaged; the copy at offset " + header + " is used");
    }
    int other = header == 0 ? trailer() : -1;
    if (other > 0 && isOfAnotherRun(header, other)) {
      problems.add(
          false,
          "header",
          "copy at offset 0 is of another run; the copy at offset " + other + " is used");
      header = other;
    }
    checkVersion(file, header);
    minor = Short.toUnsignedInt((short) SHORT.get(bytes, header + BoxLayout.MINOR_OFFSET));
    long fileLength = longAt(header + BoxLayout.FILE_LENGTH_OFFSET);
    System.arraycopy(bytes, header + BoxLayout.NONCE_OFFSET, nonce, 0, nonce.length);
    isShort = bytes.length < fileLength;
    if (isShort) {
      problems.add(
          true,
          "box",
          "file is truncated: length=" + bytes.length + ", expected=" + fileLength + " bytes");
    } else if (header == 0) {
      checkTrailer(fileLength);
    }
    if (bytes.length > fileLength) {
      problems.add(
          false,
          "box",
          (bytes.length - fileLength) + " foreign bytes behind the end: offset=" + fileLength);
    }
    readSections(header);
  }

  // For whoever makes a box of a box

  /** {@return the offset of the header that is used} */
  int header() {
    return header;
  }

  byte[] nonce() {
    return nonce;
  }

  @Nullable Section section(int tag) {
    return sections.get(tag);
  }

  /** {@return the highest generation of a valid copy, or 0} */
  long generation(Section section) {
    long best = 0;
    for (int i = 0; i < section.count && (i + 1) * section.unit <= section.available; i++) {
      int at = section.offset + i * section.unit;
      if (isCopy(section, at) && (best == 0 || longAt(at) > best)) {
        best = longAt(at);
      }
    }
    return best;
  }

  /** {@return whether only {@code other}'s nonce is the one that the identity was sealed with} */
  private boolean isOfAnotherRun(int header, int other) {
    return longAt(header + BoxLayout.NONCE_OFFSET) != longAt(other + BoxLayout.NONCE_OFFSET)
        && !sealsIdentity(header)
        && sealsIdentity(other);
  }

  private boolean sealsIdentity(int header) {
    System.arraycopy(bytes, header + BoxLayout.NONCE_OFFSET, nonce, 0, nonce.length);
    int count = Math.min(BoxLayout.MAX_SECTIONS, intAt(header + BoxLayout.SECTION_COUNT_OFFSET));
    for (int i = 0; i < count; i++) {
      int entry = header + BoxLayout.ENTRIES_OFFSET + i * BoxLayout.ENTRY_SIZE;
      long offset = longAt(entry + BoxLayout.ENTRY_OFFSET_OFFSET);
      int unit = intAt(entry + BoxLayout.ENTRY_UNIT_OFFSET);
      if (intAt(entry) == BoxLayout.IDENTITY
          && unit >= CopyLayout.PAYLOAD_OFFSET
          && unit <= bytes.length / 2
          && offset >= 0
          && offset <= bytes.length - 2L * unit) {
        Section identity = new Section("IDNT", (int) offset, 2 * unit, 2 * unit, unit, 2);
        return isCopy(identity, (int) offset) || isCopy(identity, (int) offset + unit);
      }
    }
    return false;
  }

  private void checkTrailer(long fileLength) {
    long at = fileLength - BoxLayout.TRAILER_SIZE;
    boolean same =
        at >= 0
            && at <= bytes.length - BoxLayout.HEADER_SIZE
            && Arrays.equals(
                bytes, 0, BoxLayout.HEADER_SIZE, bytes, (int) at, (int) at + BoxLayout.HEADER_SIZE);
    if (!same) {
      problems.add(
          false, "header", "copy at offset " + at + " is damaged; the copy at offset 0 is used");
    }
  }

  private boolean isHeader(int offset) {
    if (offset < 0 || offset > bytes.length - BoxLayout.HEADER_SIZE) {
      return false;
    }
    return longAt(offset) == BoxLayout.MAGIC
        && headerCrc(offset) == intAt(offset + BoxLayout.HEADER_CRC_OFFSET);
  }

  private int headerCrc(int offset) {
    crc.reset();
    crc.update(bytes, offset, BoxLayout.HEADER_CRC_OFFSET);
    return (int) crc.getValue();
  }

  /** {@return the offset of a header that says it is the copy at the end, or -1} */
  private int trailer() {
    int last = bytes.length - BoxLayout.HEADER_SIZE;
    for (int offset = last - last % BoxLayout.HEADER_SIZE;
        offset > 0;
        offset -= BoxLayout.HEADER_SIZE) {
      if (longAt(offset) == BoxLayout.MAGIC
          && longAt(offset + BoxLayout.FILE_LENGTH_OFFSET) == (long) offset + BoxLayout.TRAILER_SIZE
          && isHeader(offset)) {
        return offset;
      }
    }
    return -1;
  }

  /** That a version is not this reader's: the bytes may be sound, and are not to be touched. */
  static final class OtherVersion extends IOException {
    private static final long serialVersionUID = 1;

    OtherVersion(String message) {
      super(message);
    }
  }

  private IOException unreadable(String file) {
    if (bytes.length < BoxLayout.HEADER_SIZE) {
      return new IOException(
          "not a cairn box: file="
              + file
              + ", length="
              + bytes.length
              + ", limit="
              + BoxLayout.HEADER_SIZE
              + " (the header does not fit)");
    }
    if (longAt(0) != BoxLayout.MAGIC) {
      return new IOException("not a cairn box: file=" + file + ", magic=" + hex(longAt(0)));
    }
    int major = Short.toUnsignedInt((short) SHORT.get(bytes, BoxLayout.MAJOR_OFFSET));
    int end = bytes.length - BoxLayout.TRAILER_SIZE;
    if (major > BoxLayout.MAJOR
        && end > 0
        && longAt(end) == BoxLayout.MAGIC
        && SHORT.get(bytes, end + BoxLayout.MAJOR_OFFSET)
            == SHORT.get(bytes, BoxLayout.MAJOR_OFFSET)) {
      return newer(file, 0); // its header is of another form, and both copies agree
    }
    return new IOException(
        "box header is damaged in both copies: file="
            + file
            + ", offset=0, stored="
            + hex(intAt(BoxLayout.HEADER_CRC_OFFSET))
            + ", computed="
            + hex(headerCrc(0)));
  }

  private void checkVersion(String file, int header) throws IOException {
    int major = Short.toUnsignedInt((short) SHORT.get(bytes, header + BoxLayout.MAJOR_OFFSET));
    if (major > BoxLayout.MAJOR) {
      throw newer(file, header);
    }
    if (major < BoxLayout.MAJOR) {
      throw new OtherVersion(
          "box is from an older version: file="
              + version(header)
              + ", reader="
              + BoxLayout.MAJOR
              + "."
              + BoxLayout.MINOR
              + " (use an older cairn): "
              + file);
    }
  }

  private OtherVersion newer(String file, int header) {
    return new OtherVersion(
        "file is from a newer version: file="
            + version(header)
            + ", reader="
            + BoxLayout.MAJOR
            + "."
            + BoxLayout.MINOR
            + " (use a newer cairn): "
            + file);
  }

  private String version(int header) {
    return Short.toUnsignedInt((short) SHORT.get(bytes, header + BoxLayout.MAJOR_OFFSET))
        + "."
        + Short.toUnsignedInt((short) SHORT.get(bytes, header + BoxLayout.MINOR_OFFSET));
  }

  private void readSections(int header) {
    int count = intAt(header + BoxLayout.SECTION_COUNT_OFFSET);
    if (count < 0 || count > BoxLayout.MAX_SECTIONS) {
      problems.add(
          true,
          "header",
          "section count is out of range: count=" + count + ", limit=" + BoxLayout.MAX_SECTIONS);
      count = Math.max(0, Math.min(count, BoxLayout.MAX_SECTIONS));
    }
    for (int i = 0; i < count; i++) {
      readSection(header + BoxLayout.ENTRIES_OFFSET + i * BoxLayout.ENTRY_SIZE);
    }
  }

  private void readSection(int entry) {
    int tag = intAt(entry);
    int version = intAt(entry + BoxLayout.ENTRY_VERSION_OFFSET);
    long offset = longAt(entry + BoxLayout.ENTRY_OFFSET_OFFSET);
    long length = longAt(entry + BoxLayout.ENTRY_LENGTH_OFFSET);
    int unit = intAt(entry + BoxLayout.ENTRY_UNIT_OFFSET);
    int count = intAt(entry + BoxLayout.ENTRY_COUNT_OFFSET);
    String name = name(tag);
    if (!KNOWN.contains(tag) || version != SECTION_VERSION) {
      problems.add(
          false,
          name,
          "section is unknown to this version and skipped: version="
              + version
              + ", length="
              + length);
      return;
    }
    boolean sound =
        offset >= BoxLayout.HEADER_SIZE
            && length >= 0
            && offset <= Integer.MAX_VALUE
            && length <= Integer.MAX_VALUE - offset
            && unit > 0
            && unit % 8 == 0
            && count > 0
            && (long) unit * count <= length
            && offset % 8 == 0;
    if (!sound || sections.containsKey(tag)) {
      problems.add(
          true,
          name,
          "section entry is invalid: offset="
              + offset
              + ", length="
              + length
              + ", unit="
              + unit
              + ", count="
              + count);
      return;
    }
    int size = unit * count;
    int available = (int) Math.max(0, Math.min(size, bytes.length - offset));
    sections.put(tag, new Section(name, (int) offset, size, available, unit, count));
  }

  private static String name(int tag) {
    byte[] letters = {(byte) tag, (byte) (tag >> 8), (byte) (tag >> 16), (byte) (tag >> 24)};
    for (byte letter : letters) {
      if (letter <= ' ' || letter >= 0x7f) {
        return hex(tag);
      }
    }
    return new String(letters, StandardCharsets.US_ASCII);
  }

  // Two copies

  /** {@return the payload of the newest valid copy, or null if there is none} */
  public byte @Nullable [] copy(int tag) {
    Section section = sections.get(tag);
    if (section == null) {
      return null;
    }
    int best = -1;
    long bestGeneration = 0;
    int damaged = 0;
    int damagedAt = 0;
    for (int i = 0; i < section.count; i++) {
      int at = section.offset + i * section.unit;
      if ((i + 1) * section.unit > section.available) {
        continue; // behind the end of a truncated file
      }
      if (!isCopy(section, at)) {
        if (longAt(at) != 0 || longAt(at + CopyLayout.LENGTH_OFFSET) != 0) {
          damaged++;
          damagedAt = at;
        }
      } else if (best < 0 || longAt(at) > bestGeneration) {
        best = at;
        bestGeneration = longAt(at);
      }
    }
    if (damaged > 0 && best < 0) {
      problems.add(true, section.name, "no copy is sound: offset=" + section.offset);
    } else if (damaged > 0 && !live) {
      problems.add(
          false,
          section.name,
          "a copy is damaged, or torn at death; the other is used: offset=" + damagedAt);
    }
    if (best < 0) {
      return null;
    }
    int from = best + CopyLayout.PAYLOAD_OFFSET;
    return Arrays.copyOfRange(bytes, from, from + intAt(best + CopyLayout.LENGTH_OFFSET));
  }

  boolean isCopy(Section section, int at) {
    int length = intAt(at + CopyLayout.LENGTH_OFFSET);
    return longAt(at) != 0
        && length >= 0
        && length <= section.unit - CopyLayout.PAYLOAD_OFFSET
        && checksum(at, CopyLayout.PAYLOAD_OFFSET + length, CopyLayout.CRC_OFFSET)
            == intAt(at + CopyLayout.CRC_OFFSET);
  }

  /** {@return the map that a section in two copies holds; null if there is none} */
  public @Nullable CborSlice map(int tag) {
    byte[] payload = copy(tag);
    if (payload == null) {
      return null;
    }
    CborSlice slice = CborSlice.of(payload, 0, payload.length);
    if (slice == null || !slice.isMap()) {
      problems.add(true, name(tag), "payload is not a CBOR map: length=" + payload.length);
      return null;
    }
    return slice;
  }

  /** {@return the words of a section in two copies; null if there is none or it is too short} */
  public long @Nullable [] words(int tag, int count) {
    byte[] payload = copy(tag);
    if (payload == null) {
      return null;
    }
    if (payload.length < 8 * count) {
      problems.add(true, name(tag), "payload is too short: length=" + payload.length);
      return null;
    }
    long[] words = new long[count];
    for (int i = 0; i < count; i++) {
      words[i] = (long) LONG.get(payload, 8 * i);
    }
    return words;
  }

  /** {@return the counters by index of {@link CounterLayout}; null if there are none} */
  public long @Nullable [] counters() {
    Section section = sections.get(BoxLayout.COUNTERS);
    int count = CounterLayout.count(minor);
    if (section == null || section.unit < 8 * count || section.available < section.unit) {
      return null;
    }
    long[] counters = new long[count];
    boolean two = section.count > 1 && section.available >= 2 * section.unit;
    for (int i = 0; i < count; i++) {
      long first = longAt(section.offset + 8 * i);
      long second = two ? longAt(section.offset + section.unit + 8 * i) : first;
      counters[i] = Math.min(first, second);
      if (first != second && !live) {
        problems.add(
            false,
            section.name,
            "copies of a counter differ, the smaller is shown: name="
                + CounterLayout.NAMES.get(i)
                + ", first="
                + first
                + ", second="
                + second);
      }
    }
    return counters;
  }

  // Vitals

  /** {@return the values of each sound sample, oldest first; absent ones are unknown} */
  public List<long[]> vitals(int tag) {
    Section section = sections.get(tag);
    if (section == null || section.unit < VitalsLayout.VALUES_OFFSET) {
      return List.of();
    }
    int slots = section.available / section.unit;
    boolean[] sound = new boolean[slots];
    long newest = 0;
    for (int i = 0; i < slots; i++) {
      sound[i] = isSample(section, i);
      if (sound[i]) {
        newest = Math.max(newest, longAt(section.offset + i * section.unit));
      }
    }
    List<long[]> samples = new ArrayList<>();
    int torn = 0;
    int tornAt = 0;
    for (long sequence = Math.max(1, newest - section.count + 1); sequence <= newest; sequence++) {
      int i = (int) ((sequence - 1) % section.count);
      if (i >= slots) {
        continue;
      }
      int at = section.offset + i * section.unit;
      if (sound[i] && longAt(at) == sequence) {
        samples.add(sample(at));
      } else {
        torn++;
        tornAt = at;
      }
    }
    if (torn > 0 && !live) {
      problems.add(
          true, section.name, "samples are torn or damaged: count=" + torn + ", offset=" + tornAt);
    }
    return samples;
  }

  boolean isSample(Section section, int i) {
    int at = section.offset + i * section.unit;
    long sequence = longAt(at);
    int length = intAt(at + VitalsLayout.LENGTH_OFFSET);
    return sequence >= 1
        && sequence < Long.MAX_VALUE - section.count
        && (sequence - 1) % section.count == i
        && length >= VitalsLayout.VALUES_OFFSET
        && length <= section.unit
        && checksum(at, length, VitalsLayout.CRC_OFFSET) == intAt(at + VitalsLayout.CRC_OFFSET);
  }

  private long[] sample(int at) {
    int present = (intAt(at + VitalsLayout.LENGTH_OFFSET) - VitalsLayout.VALUES_OFFSET) / 8;
    long[] values = new long[VitalsLayout.COUNT];
    for (int i = 0; i < values.length; i++) {
      values[i] =
          i < present ? longAt(at + VitalsLayout.VALUES_OFFSET + 8 * i) : VitalsLayout.UNKNOWN;
    }
    return values;
  }

  // Trail

  /** {@return the records of the last lap in order of position} */
  public List<BoxRecord> trail() {
    Section ring = sections.get(BoxLayout.TRAIL);
    List<BoxRecord> records = new ArrayList<>();
    for (Place place : trailPlaces()) {
      BoxRecord record = ring == null ? null : trailRecord(ring, place);
      if (record != null) {
        records.add(record);
      }
    }
    return records;
  }

  /** {@return whether the trail has begun to overwrite its oldest records} */
  public boolean trailHasLapped() {
    Section ring = sections.get(BoxLayout.TRAIL);
    // The first lap begins at the ring's length.
    return ring != null
        && trailPlaces().stream().anyMatch(place -> place.position() >= 2L * ring.length);
  }

  /** {@return where the records of the last lap lie, erased ones too, in order of position} */
  List<Place> trailPlaces() {
    Section ring = sections.get(BoxLayout.TRAIL);
    if (ring == null || ring.length % RecordLayout.ALIGNMENT != 0) {
      return List.of();
    }
    List<Place> places = new ArrayList<>();
    long budget = CHECKSUM_BUDGET * Math.max(ring.length, 1 << 20);
    for (int slot = 0;
        slot <= ring.available - RecordLayout.HEADER_SIZE && budget > 0;
        slot += RecordLayout.ALIGNMENT) {
      long position = longAt(ring.offset + slot);
      int length = intAt(ring.offset + slot + RecordLayout.LENGTH_OFFSET);
      if (isPlace(ring, position, slot) && isWithin(ring, slot, length)) {
        budget -= length;
        if (trailChecksum(ring, slot, length) == storedCrc(ring, slot)) {
          places.add(new Place(position, slot, length));
        }
      }
    }
    if (budget <= 0) {
      problems.add(true, ring.name, "search given up: too many bytes claim to be records");
    }
    places.sort(Comparator.comparingLong(Place::position));
    return lastLap(ring, places);
  }

  private List<Place> lastLap(Section ring, List<Place> places) {
    if (places.isEmpty()) {
      tornRecords(ring, new BitSet(), ring.length, Long.MAX_VALUE / 2);
      return List.of();
    }
    // Records don't overlap, so the highest position also has the highest end.
    Place last = places.get(places.size() - 1);
    long newest = last.position + RecordLayout.aligned(last.length);
    long oldest = Math.max(ring.length, newest - ring.length);
    List<Place> accepted = new ArrayList<>();
    BitSet covered = new BitSet(ring.length / RecordLayout.ALIGNMENT);
    long end = newest > 2L * ring.length ? -1 : oldest;
    int gaps = 0;
    long gapBytes = 0;
    for (Place place : places) {
      if (place.position < oldest || place.position < end) {
        continue; // an older lap; or it overlaps one that proved itself, so it is made up
      }
      if (end >= 0 && place.position > end) {
        gaps++;
        gapBytes += place.position - end;
      }
      end = place.position + RecordLayout.aligned(place.length);
      for (int i = 0; i < RecordLayout.aligned(place.length); i += RecordLayout.ALIGNMENT) {
        covered.set((place.slot + i) % ring.length / RecordLayout.ALIGNMENT);
      }
      accepted.add(place);
    }
    boolean torn = tornRecords(ring, covered, oldest, newest);
    if (gaps > 0 && !torn && !live && !isShort) {
      problems.add(
          true,
          ring.name,
          "bytes between sound records hold none (claimed and not committed at death, or damaged):"
              + " gaps="
              + gaps
              + ", bytes="
              + gapBytes);
    }
    return accepted;
  }

  private static boolean isPlace(Section ring, long position, int slot) {
    return position >= ring.length
        && position < Long.MAX_VALUE / 2
        && position % ring.length == slot;
  }

  private static boolean isWithin(Section ring, int slot, int length) {
    if (length < RecordLayout.HEADER_SIZE || length > ring.length) {
      return false;
    }
    // In a truncated file the end of the ring is missing: what reaches or wraps past it is cut.
    return slot + (long) length <= ring.available || ring.available == ring.length;
  }

  private int storedCrc(Section ring, int slot) {
    return intAt(ring.offset + slot + RecordLayout.CRC_OFFSET);
  }

  private int trailChecksum(Section ring, int slot, int length) {
    int from = ring.offset + slot;
    if (isErased(from)) {
      return checksum(from, RecordLayout.HEADER_SIZE, RecordLayout.CRC_OFFSET);
    }
    int straight = Math.min(length, ring.length - slot);
    startChecksum(from, RecordLayout.CRC_OFFSET);
    crc.update(bytes, from + RecordLayout.CRC_OFFSET + 4, straight - RecordLayout.CRC_OFFSET - 4);
    crc.update(bytes, ring.offset, length - straight);
    return (int) crc.getValue();
  }

  /** {@return the record, or null if it is erased or holds no well-formed CBOR} */
  @Nullable BoxRecord trailRecord(Section ring, Place place) {
    int from = ring.offset + place.slot;
    if (isErased(from)) {
      return null;
    }
    int straight = Math.min(place.length, ring.length - place.slot);
    if (straight == place.length) {
      return record(ring, bytes, from, place.length);
    }
    byte[] joined = new byte[place.length];
    System.arraycopy(bytes, from, joined, 0, straight);
    System.arraycopy(bytes, ring.offset, joined, straight, place.length - straight);
    return record(ring, joined, 0, place.length);
  }

  private @Nullable BoxRecord record(Section section, byte[] from, int offset, int length) {
    long position = (long) LONG.get(from, offset);
    CborSlice payload = CborSlice.of(from, offset + RecordLayout.HEADER_SIZE, offset + length);
    if (payload == null) {
      problems.add(
          true,
          section.name,
          "record holds no well-formed CBOR: position=" + position + ", length=" + length);
      return null;
    }
    return new BoxRecord(
        position,
        (long) LONG.get(from, offset + RecordLayout.TIME_OFFSET),
        Short.toUnsignedInt((short) SHORT.get(from, offset + RecordLayout.TYPE_OFFSET)),
        Byte.toUnsignedInt(from[offset + RecordLayout.LEVEL_OFFSET]),
        payload);
  }

  /** {@return whether any slot claims the last lap and proves nothing} Each is named. */
  private boolean tornRecords(Section ring, BitSet covered, long oldest, long newest) {
    if (live) {
      return false;
    }
    int torn = 0;
    for (int slot = 0;
        slot <= ring.available - RecordLayout.HEADER_SIZE;
        slot += RecordLayout.ALIGNMENT) {
      long position = longAt(ring.offset + slot);
      if (!covered.get(slot / RecordLayout.ALIGNMENT)
          && isPlace(ring, position, slot)
          && position >= oldest
          && position < newest) {
        int length = intAt(ring.offset + slot + RecordLayout.LENGTH_OFFSET);
        if (isShort && length >= 0 && slot + (long) length > ring.available) {
          continue; // cut with the file, which was said already
        }
        if (++torn <= MAX_SINGLE_PROBLEMS) {
          tornRecord(ring, slot, position, length);
        }
      }
    }
    if (torn > MAX_SINGLE_PROBLEMS) {
      problems.add(true, ring.name, "more torn records: count=" + (torn - MAX_SINGLE_PROBLEMS));
    }
    return torn > 0;
  }

  private void tornRecord(Section ring, int slot, long position, int length) {
    problems.add(
        true,
        ring.name,
        "record is torn or damaged: position="
            + position
            + ", offset="
            + (ring.offset + slot)
            + ", length="
            + length
            + ", stored="
            + hex(storedCrc(ring, slot))
            + (isWithin(ring, slot, length)
                ? ", computed=" + hex(trailChecksum(ring, slot, length))
                : ", limit=" + ring.length));
  }

  // Scope

  /** {@return the records of the active generation, in order} */
  public List<BoxRecord> scope() {
    Section log = sections.get(BoxLayout.SCOPE_LOG);
    List<BoxRecord> records = new ArrayList<>();
    for (Place place : scopePlaces()) {
      BoxRecord record = log == null ? null : scopeRecord(log, place);
      if (record != null) {
        records.add(record);
      }
    }
    return records;
  }

  /** {@return where the records of the active generation lie, erased ones too, in order} */
  List<Place> scopePlaces() {
    Section log = sections.get(BoxLayout.SCOPE_LOG);
    if (log == null || log.count != 2) {
      return List.of();
    }
    byte[] head = copy(BoxLayout.SCOPE_HEAD);
    long newest = Math.max(newestGeneration(log, 0), newestGeneration(log, 1));
    if (head == null || head.length < 8) {
      // The older generation is whole, the newer may be a rewrite that never ended.
      List<Place> places = joined(log, newest);
      for (Place place : places) {
        if (!isErased(log.offset + place.slot)) {
          problems.add(
              true,
              log.name,
              "active generation is unknown, both halves are joined: removed fields may show"
                  + " again");
          break;
        }
      }
      return places;
    }
    long generation = (long) LONG.get(head, 0);
    long rewritten = head.length >= 16 ? (long) LONG.get(head, 8) : 0;
    // Two generations on, the half that the head names holds another one.
    boolean isOvertaken = newest > 1 && newest - 2 >= generation;
    if (!isOvertaken && isWhole(log, generation, rewritten)) {
      List<Place> places = new ArrayList<>();
      generation(log, generation, places);
      return places;
    }
    // Power loss kept the head and not all that it names, or the reverse; or the box was being
    // written while it was read. The half before is still there, and what of the new one proves
    // itself comes on top.
    if (!live) {
      problems.add(
          true,
          log.name,
          isOvertaken
              ? "active generation is gone, newer ones are shown: generation="
                  + generation
                  + ", newest="
                  + newest
              : "active generation is incomplete, the one before is shown below it: generation="
                  + generation);
    }
    return joined(log, Math.max(generation, newest));
  }

  /** {@return a generation and, below it, the one before} */
  private List<Place> joined(Section log, long newest) {
    List<Place> places = new ArrayList<>();
    if (newest > 1) {
      generation(log, newest - 1, places);
    }
    if (newest > 0) {
      generation(log, newest, places);
    }
    return places;
  }

  /** {@return the record, or null if it is erased or holds no well-formed CBOR} */
  @Nullable BoxRecord scopeRecord(Section log, Place place) {
    int at = log.offset + place.slot;
    return isErased(at) ? null : record(log, bytes, at, place.length);
  }

  /** {@return whether the records that a rewrite left in its half follow each other to its end} */
  private boolean isWhole(Section log, long generation, long length) {
    if (generation <= 1 || length < 0 || length > log.unit) {
      return true; // nothing before it, or nothing to be judged
    }
    int from = (int) (generation % 2) * log.unit;
    int at = from;
    while (at < from + length) {
      if (at > log.available - RecordLayout.HEADER_SIZE || !isScopeRecord(log, generation, at)) {
        return false;
      }
      at += RecordLayout.aligned(intAt(log.offset + at + RecordLayout.LENGTH_OFFSET));
    }
    return true;
  }

  /** {@return the highest generation of which a record proves itself in that half, or 0} */
  private long newestGeneration(Section log, int half) {
    int from = half * log.unit;
    int end = Math.min(from + log.unit, log.available);
    long newest = 0;
    for (int at = from; at <= end - RecordLayout.HEADER_SIZE; ) {
      long generation = (longAt(log.offset + at) - (at - from)) / log.unit;
      if (generation > 0 && isScopeRecord(log, generation, at)) {
        newest = Math.max(newest, generation);
        at += RecordLayout.aligned(intAt(log.offset + at + RecordLayout.LENGTH_OFFSET));
      } else {
        at += RecordLayout.ALIGNMENT;
      }
    }
    return newest;
  }

  private void generation(Section log, long generation, List<Place> places) {
    if (generation < 1 || generation > Long.MAX_VALUE / log.unit - 1) {
      problems.add(true, log.name, "no such generation: generation=" + generation);
      return;
    }
    int from = (int) (generation % 2) * log.unit;
    int end = Math.min(from + log.unit, log.available);
    int torn = 0;
    for (int at = from; at <= end - RecordLayout.HEADER_SIZE; ) {
      if (isScopeRecord(log, generation, at)) {
        int length = intAt(log.offset + at + RecordLayout.LENGTH_OFFSET);
        places.add(new Place(longAt(log.offset + at), at, length));
        at += RecordLayout.aligned(length);
      } else {
        if (isScopePlace(log, generation, at) && !live && ++torn <= MAX_SINGLE_PROBLEMS) {
          problems.add(true, log.name, "record is torn or damaged: offset=" + (log.offset + at));
        }
        at += RecordLayout.ALIGNMENT;
      }
    }
  }

  private boolean isScopePlace(Section log, long generation, int at) {
    return longAt(log.offset + at) == generation * log.unit + at % log.unit;
  }

  boolean isScopeRecord(Section log, long generation, int at) {
    int length = intAt(log.offset + at + RecordLayout.LENGTH_OFFSET);
    return isScopePlace(log, generation, at)
        && generation % 2 == at / log.unit
        && length >= RecordLayout.HEADER_SIZE
        && length <= log.unit - at % log.unit
        && length <= log.available - at
        && checksum(
                log.offset + at,
                isErased(log.offset + at) ? RecordLayout.HEADER_SIZE : length,
                RecordLayout.CRC_OFFSET)
            == intAt(log.offset + at + RecordLayout.CRC_OFFSET);
  }

  /** {@return whether the record there, which proves itself, says that it is erased} */
  boolean isErased(int offset) {
    return (short) SHORT.get(bytes, offset + RecordLayout.TYPE_OFFSET) == RecordLayout.TYPE_ERASED;
  }

  // Open spans

  /**
   * {@return whether all of a section is there: then nothing found in it means that there is none}
   */
  public boolean hasAllOf(int tag) {
    Section section = sections.get(tag);
    return section != null && section.available == section.length;
  }

  /** {@return the open slots that prove themselves, in order of slot} */
  public List<BoxSpan> spans() {
    Section table = sections.get(BoxLayout.SPANS);
    if (table == null || table.unit <= SpanLayout.FIRST_ENTRY_OFFSET) {
      return List.of();
    }
    List<BoxSpan> spans = new ArrayList<>();
    int torn = 0;
    for (int slot = 0; slot < table.available / table.unit; slot++) {
      int from = slot * table.unit;
      long state = longAt(table.offset + from);
      if (state == 0 || isOpenWord(~state)) {
        continue; // never used, or closed
      }
      BoxSpan span = isOpenWord(state) ? span(table, from, state) : null;
      if (span != null) {
        spans.add(span);
      } else if (!live && ++torn <= MAX_SINGLE_PROBLEMS) {
        problems.add(
            true,
            table.name,
            "open span is torn or damaged: slot=" + slot + ", offset=" + (table.offset + from));
      }
    }
    if (torn > MAX_SINGLE_PROBLEMS) {
      problems.add(true, table.name, "more torn spans: count=" + (torn - MAX_SINGLE_PROBLEMS));
    }
    return spans;
  }

  static boolean isOpenWord(long state) {
    return state > 0 && (state & 0xff) == SpanLayout.OPEN;
  }

  /** {@return whether the slot at {@code from} is open and its first entry proves itself} */
  boolean beginsSpan(Section table, int from) {
    long state = longAt(table.offset + from);
    int at = from + SpanLayout.FIRST_ENTRY_OFFSET;
    return isOpenWord(state) && entryLength(table, state, at, from + table.unit) >= 0;
  }

  private @Nullable BoxSpan span(Section table, int from, long state) {
    int at = from + SpanLayout.FIRST_ENTRY_OFFSET;
    int end = from + table.unit;
    int length = entryLength(table, state, at, end);
    if (length < 0) {
      return null;
    }
    int payload = table.offset + at + SpanLayout.ENTRY_HEADER_SIZE;
    CborSlice begin = CborSlice.of(bytes, payload, payload + length);
    if (begin == null || !begin.isMap()) {
      return null;
    }
    List<BoxSpan.Attribute> attributes = new ArrayList<>();
    List<BoxSpan.Note> notes = new ArrayList<>();
    at = nextEntry(at, length);
    while (at <= end - SpanLayout.ENTRY_HEADER_SIZE) {
      length = entryLength(table, state, at, end);
      if (length < 0) {
        at += SpanLayout.ENTRY_ALIGNMENT;
        continue;
      }
      entry(table.offset + at + SpanLayout.ENTRY_HEADER_SIZE, length, at - from, attributes, notes);
      at = nextEntry(at, length);
    }
    return new BoxSpan(from, begin, attributes, notes);
  }

  private void entry(
      int payload,
      int length,
      int offset,
      List<BoxSpan.Attribute> attributes,
      List<BoxSpan.Note> notes) {
    CborSlice key = CborSlice.at(bytes, payload, payload + length);
    if (key == null) {
      return;
    }
    String name = key.text();
    CborSlice value = CborSlice.of(bytes, key.end(), payload + length);
    if (value == null) {
      return;
    }
    if (name != null) {
      attributes.add(new BoxSpan.Attribute(offset, name, value));
    } else if (key.unsigned().isPresent()) {
      notes.add(new BoxSpan.Note(offset, key.unsigned().getAsLong(), value));
    }
  }

  static int nextEntry(int at, int length) {
    int next = at + SpanLayout.ENTRY_HEADER_SIZE + length;
    return (next + SpanLayout.ENTRY_ALIGNMENT - 1) & -SpanLayout.ENTRY_ALIGNMENT;
  }

  /** {@return the length of the entry at {@code at}, or -1 if it proves nothing} */
  int entryLength(Section table, long state, int at, int end) {
    int length = intAt(table.offset + at);
    if (length <= 0 || length > end - at - SpanLayout.ENTRY_HEADER_SIZE) {
      return -1;
    }
    int payload = table.offset + at + SpanLayout.ENTRY_HEADER_SIZE;
    return entryChecksum(bytes, state, at, payload, length) == intAt(table.offset + at + 4)
        ? length
        : -1;
  }

  /**
   * {@return the checksum of an entry at {@code at} of the section, whose payload is in {@code in}}
   */
  int entryChecksum(byte[] in, long state, int at, int payload, int length) {
    byte[] seed = new byte[24];
    LONG.set(seed, 0, state);
    LONG.set(seed, 8, (long) at);
    LONG.set(seed, 16, (long) length);
    crc.reset();
    crc.update(nonce, 0, nonce.length);
    crc.update(seed, 0, seed.length);
    crc.update(in, payload, length);
    return (int) crc.getValue();
  }

  // Bytes

  private void startChecksum(int offset, int crcOffset) {
    crc.reset();
    crc.update(nonce, 0, nonce.length);
    crc.update(bytes, offset, crcOffset);
    crc.update(ZERO, 0, ZERO.length);
  }

  private int checksum(int offset, int length, int crcOffset) {
    startChecksum(offset, crcOffset);
    crc.update(bytes, offset + crcOffset + 4, length - crcOffset - 4);
    return (int) crc.getValue();
  }

  private int intAt(int offset) {
    return (int) INT.get(bytes, offset);
  }

  private long longAt(int offset) {
    return (long) LONG.get(bytes, offset);
  }

  private static String hex(long value) {
    return "0x" + Long.toHexString(value);
  }

  private static String hex(int value) {
    return "0x" + Integer.toHexString(value);
  }
}
