package cairn.sentry;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads the ring of JSON objects that sentry-java keeps breadcrumbs in, a descendant of Tape's
 * QueueFile, as a reader that trusts none of its numbers.
 *
 * <p>Never throws. Memory is at most a few times the file's; time too, but for a search, which is
 * given up at {@link #SEARCH_BUDGET} times the file's size.
 */
final class QueueFileReader {
  /*
   *   versioned   u32 0x80000001 | u64 length | u32 count | u64 first | u64 last          32 bytes
   *   legacy      u32 length     | u32 count  | u32 first | u32 last                      16 bytes
   *   element     u32 length     | payload; both may be split at the end of the ring
   *
   * big-endian; positions are offsets in the file. The header is written last and commits an add or a
   * remove; what is removed is zeroed afterwards. There is no checksum. But each payload is a JSON
   * object, which says itself where it ends: so a wrong length neither hides the object nor the next
   * one. `walk` goes from element to element as the header says, `search` looks for the next one that
   * proves itself (a length, and an object of just that length) where the walk has lost its way.
   *
   * The ring is laid out straight, from the first element on, so that nothing wraps: `ring` is at
   * most the file. Where the file is cut, the bytes behind the cut are not there; `gap` is the place.
   * `last` may be wrong as well as `count`. An element that both include is taken, damaged or not; one
   * that only one of them includes is taken if it is sound.
   *
   * A writer that dies between an add and its commit leaves an element behind the last one: taken if
   * it is not older than that. One that dies between a remove and the zeroing leaves an older one.
   */
  static final int VERSIONED = 0x8000_0001;
  static final int VERSIONED_HEADER = 32;
  static final int LEGACY_HEADER = 16;

  private static final int ELEMENT_HEADER = 4;
  private static final VarHandle INTEGER =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  /** How many times the file's size a search may read. */
  static final int SEARCH_BUDGET = 16;

  /** Something that would be a breadcrumb, and where it begins in the file. */
  record Element(int offset, Map<String, @Nullable Object> object) {
    @Nullable Instant time() {
      return SentryTime.of(object.get("timestamp"));
    }
  }

  private record Header(int size, long length, int count, long first, long last) {
    boolean isPlausible() {
      return length > size
          && count >= 0
          && count <= (length - size) / ELEMENT_HEADER
          && (isEmpty() || (first >= size && first < length && last >= size && last < length));
    }

    boolean isEmpty() {
      return count == 0 && first == 0 && last == 0;
    }
  }

  private final byte[] file;
  private final String name;
  private final CacheFolder findings;
  private final List<Element> elements = new ArrayList<>();

  private byte[] ring = {};

  /** Where in {@link #ring} the end of the physical file lies; its length if nowhere within. */
  private int gap;

  /** Where the ring begins in the file, and where its second part does. */
  private int firstPart;

  private boolean isCut;

  private int secondPart;
  private int firstPartSize;
  private long budget;

  private QueueFileReader(byte[] file, String name, CacheFolder findings) {
    this.file = file;
    this.name = name;
    this.findings = findings;
    this.budget = (long) SEARCH_BUDGET * file.length;
  }

  /** {@return the objects, oldest first; what is wrong is noted} */
  static List<Element> read(byte[] file, String name, CacheFolder findings) {
    QueueFileReader reader = new QueueFileReader(file, name, findings);
    reader.read();
    return reader.elements;
  }

  private void read() {
    if (file.length == 0) {
      findings.info(name, "file is empty: it was made and not written to");
      return;
    }
    int least = file.length >= Integer.BYTES && integer(0) < 0 ? VERSIONED_HEADER : LEGACY_HEADER;
    if (file.length < least) {
      findings.warning(
          name, "file is shorter than its header: size=" + file.length + ", least=" + least);
      return;
    }
    Header header = header();
    if (header == null) {
      layOut(least, file.length, least);
      int found = searchAll(0, Integer.MAX_VALUE);
      findings.warning(
          name,
          "header is damaged"
              + (isZero() ? ": all zeros" : "")
              + ": offset=0, elements found by a search="
              + found);
      return;
    }
    if (header.length > file.length) {
      findings.warning(
          name,
          "file is truncated: size=" + file.length + ", length in its header=" + header.length);
    } else if (header.length < file.length) {
      findings.info(
          name,
          "bytes behind the ring: offset="
              + header.length
              + ", size="
              + file.length
              + " (a ring that was about to grow)");
    }
    if (!header.isEmpty()) {
      layOut(header.size, (int) Math.min(header.length, file.length), header.first);
      walk(header);
    }
  }

  private boolean isZero() {
    for (int i = 0; i < LEGACY_HEADER; i++) {
      if (file[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** {@return the header, of the form that makes sense; null if neither does} */
  private @Nullable Header header() {
    int word = integer(0);
    Header versioned =
        file.length < VERSIONED_HEADER
            ? null
            : new Header(VERSIONED_HEADER, number(4), integer(12), number(16), number(24));
    Header legacy = new Header(LEGACY_HEADER, word, integer(4), integer(8), integer(12));
    if (word == VERSIONED) {
      return versioned != null && versioned.isPlausible() ? versioned : null;
    }
    if (word >= 0 && legacy.isPlausible() && (legacy.isEmpty() || provesItself(legacy))) {
      return legacy;
    }
    if (versioned != null && versioned.isPlausible()) {
      findings.warning(
          name,
          String.format(
              "magic is unknown: offset=0, found=0x%08x, expected=0x%08x", word, VERSIONED));
      return versioned;
    }
    return word >= 0 && legacy.isPlausible() ? legacy : null;
  }

  /** {@return whether the first element begins like one, if that lies within the file} */
  private boolean provesItself(Header header) {
    long payload = header.first + ELEMENT_HEADER;
    payload = payload < header.length ? payload : header.size + payload - header.length;
    return payload < file.length && file[(int) payload] == '{';
  }

  private void layOut(int begin, int end, long first) {
    int from = (int) Math.min(first, end); // behind the cut: nothing of the first part is there
    firstPart = from;
    firstPartSize = end - from;
    secondPart = begin;
    ring = new byte[end - begin];
    System.arraycopy(file, from, ring, 0, firstPartSize);
    System.arraycopy(file, begin, ring, firstPartSize, ring.length - firstPartSize);
    gap = ring.length;
  }

  /** {@return where a place of the ring is in the file} */
  private int offset(int place) {
    return place < firstPartSize ? firstPart + place : secondPart + place - firstPartSize;
  }

  private void walk(Header header) {
    isCut = header.length > file.length;
    if (isCut) {
      gap = firstPartSize;
    }
    // Beyond the cut nothing is there, and what wrapped comes right behind it.
    long lastPlace = header.last - header.first;
    if (lastPlace < 0) {
      lastPlace = header.last - header.size + firstPartSize;
    } else if (lastPlace >= firstPartSize) {
      lastPlace = firstPartSize;
    }
    int place = 0;
    int seen = 0;
    boolean lost = isCut;
    boolean hitLast = false;
    boolean isFirstRight = true;
    while (place < ring.length && (seen < header.count || place <= lastPlace)) {
      boolean agreed = seen < header.count && place <= lastPlace;
      if (!agreed && lost && hitLast) {
        break; // the count includes those that were passed over
      }
      int next = element(place, agreed);
      if (next < 0) {
        if (!agreed) {
          break;
        }
        lost = true;
        isFirstRight &= place > 0;
        next = search(place + 1, (int) Math.min(ring.length, lastPlace + 1));
        findings.warning(
            name,
            "element is damaged: offset="
                + offset(place)
                + (next < 0 ? ", none behind it" : ", the next one found at=" + offset(next)));
        if (next < 0) {
          break;
        }
        place = next;
        continue;
      }
      hitLast |= place == lastPlace;
      seen++;
      place = next;
    }
    if (!lost && (seen != header.count || !hitLast)) {
      lost = true;
      isFirstRight = false; // or the count is wrong
      findings.warning(
          name,
          "header disagrees with the elements: count="
              + header.count
              + ", last="
              + header.last
              + ", found="
              + elements.size());
    }
    if (!lost) {
      uncommitted(place);
    } else if (elements.size() < header.count && (!isFirstRight || isCut)) {
      // Older ones lie behind the end, or one lies across the first position.
      int more = searchAll(place, header.count - elements.size());
      layOut(header.size, header.size + ring.length, header.size);
      more += searchAll(0, header.count - elements.size());
      if (more > 0) {
        findings.warning(name, "elements found by a search elsewhere in the ring: count=" + more);
      }
    }
  }

  /**
   * Takes the element at a place.
   *
   * @param agreed whether it is part of the queue for certain, so that what is left of it counts
   * @return where the next one is; -1 if there is none here that says where it ends
   */
  private int element(int place, boolean agreed) {
    int payload = place + ELEMENT_HEADER;
    if (payload >= ring.length || (place < gap && payload > gap)) {
      return -1;
    }
    long length = integerOfRing(place);
    int limit = place < gap ? gap : ring.length;
    boolean isLengthPossible = length > 0 && length <= limit - payload;
    if (ring[payload] == '{') {
      SalvagedJson json = SalvagedJson.prefix(ring, payload, limit);
      if (json.isWhole()) {
        if (json.end() - payload != length) {
          if (!agreed) {
            return -1;
          }
          findings.warning(
              name,
              "element length is wrong, the element is whole: offset="
                  + offset(place)
                  + ", length="
                  + length
                  + ", found="
                  + (json.end() - payload));
        }
        add(place, json);
        return json.end();
      }
    }
    if (agreed && place < gap && isCut && length > gap - payload) {
      return cut(place, payload);
    }
    int next = isLengthPossible ? payload + (int) length : -1;
    if (!agreed || next < 0 || !mayBeElement(next)) {
      return -1;
    }
    SalvagedJson json = SalvagedJson.prefix(ring, payload, next);
    findings.warning(
        name,
        "element is damaged: offset="
            + offset(place)
            + ", length="
            + length
            + (json.damage() == null
                ? ""
                : ", " + json.damage() + " at offset=" + offset(json.damageOffset()))
            + (add(place, json) ? " (what is before is kept)" : ""));
    return next;
  }

  private int cut(int place, int payload) {
    boolean kept = add(place, SalvagedJson.prefix(ring, payload, gap));
    findings.warning(
        name,
        "element is cut by the end of the file: offset="
            + offset(place)
            + (kept ? " (what is before is kept)" : ""));
    return gap;
  }

  /** {@return whether an element, or the end of all, can be at a place} */
  private boolean mayBeElement(int place) {
    return place + ELEMENT_HEADER >= ring.length
        || ring[place + ELEMENT_HEADER] == '{'
        || integerOfRing(place) == 0;
  }

  private boolean add(int place, SalvagedJson json) {
    Map<String, @Nullable Object> object = json.object();
    if (object != null && !object.isEmpty()) {
      elements.add(new Element(offset(place), object));
      return true;
    }
    return false;
  }

  /** {@return the first place from {@code from} on with an element that proves itself; else -1} */
  private int search(int from, int to) {
    for (int place = from; place < to; place++) {
      if (isSound(place)) {
        return place;
      }
    }
    return -1;
  }

  private boolean isSound(int place) {
    int payload = place + ELEMENT_HEADER;
    if (payload >= ring.length || ring[payload] != '{') {
      return false;
    }
    long length = integerOfRing(place);
    int limit = place < gap ? gap : ring.length;
    if (length <= 1 || length > limit - payload || ring[payload + (int) length - 1] != '}') {
      return false;
    }
    if (budget <= 0) {
      return false;
    }
    SalvagedJson json = SalvagedJson.prefix(ring, payload, payload + (int) length);
    budget -= json.end() - payload;
    if (budget <= 0) {
      findings.warning(name, "search given up: offset=" + offset(place));
    }
    return json.isWhole() && json.end() == payload + length;
  }

  /**
   * Takes all elements from a place on that prove themselves, in the order of their times.
   *
   * @return how many
   */
  private int searchAll(int from, int most) {
    Set<Integer> known = new HashSet<>();
    elements.forEach(element -> known.add(element.offset));
    int found = 0;
    int place = search(from, ring.length);
    while (place >= 0 && found < most) {
      int next = place + ELEMENT_HEADER + (int) integerOfRing(place);
      if (known.add(offset(place)) && element(place, true) > 0) {
        found++;
      }
      place = search(next, ring.length);
    }
    if (found > 0) {
      Comparator<Element> byTime =
          Comparator.comparing(Element::time, Comparator.nullsFirst(Comparator.naturalOrder()));
      elements.sort(byTime);
    }
    return found;
  }

  /** Takes an element that was written behind the last one and not committed. */
  private void uncommitted(int place) {
    if (elements.isEmpty() || place >= ring.length || !isSound(place)) {
      return;
    }
    Instant last = elements.get(elements.size() - 1).time();
    int before = elements.size();
    if (element(place, false) < 0 || elements.size() == before) {
      return;
    }
    Instant time = elements.get(before).time();
    if (time == null || last == null || time.isBefore(last)) {
      elements.remove(before); // was removed, and not yet zeroed
      return;
    }
    findings.info(
        name, "element was written and not committed, it is kept: offset=" + offset(place));
  }

  private int integer(int offset) {
    return (int) INTEGER.get(file, offset);
  }

  private long number(int offset) {
    return (long) LONG.get(file, offset);
  }

  /** {@return the length that an element at a place says it has; -1 if it is cut} */
  private long integerOfRing(int place) {
    return place + ELEMENT_HEADER > ring.length ? -1 : (int) INTEGER.get(ring, place);
  }

  /** {@return whether it is a trail of before queue files: an array of breadcrumbs} */
  static boolean isList(byte[] file) {
    String begin = new String(file, 0, Math.min(file.length, 16), StandardCharsets.ISO_8859_1);
    return begin.stripLeading().startsWith("[");
  }
}
