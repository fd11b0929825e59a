package cairn.report;

import cairn.Level;
import cairn.format.BoxLayout;
import cairn.format.BoxReader;
import cairn.format.BoxRecord;
import cairn.format.BoxScrubber;
import cairn.format.BoxSpan;
import cairn.format.CborSlice;
import cairn.format.CounterLayout;
import cairn.format.PressureLayout;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.format.VitalsLayout;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a box holds, put together: spans joined, clocks mapped, the scope replayed. Values that the
 * application passed stay CBOR slices. Immutable once made.
 */
final class Salvage {
  /*
   * Clocks. Every sign of life holds both clocks of the writer, read together, so a nanoTime maps to
   * the wall clock through the newest of them (highest nanos: monotonic, so wall-clock steps don't
   * matter). `lastSeen` is the latest of the newest beat, the newest sample, the begins of open spans
   * and the newest breadcrumb, each newest by its own order and not by its time: after a clock step back the values
   * from before it don't count.
   */

  /** A beat comes every second; a process that was stopped for longer counts by its beat. */
  private static final long MAX_MILLIS_AFTER_BEAT = 2_000;

  /** Both clocks of the writer, read together. */
  record Clocks(long wallMillis, long nanos) {}

  /** A breadcrumb, undecoded. */
  record Crumb(
      long position,
      long wallMillis,
      Level level,
      @Nullable CborSlice category,
      @Nullable CborSlice message,
      @Nullable CborSlice data,
      @Nullable CborSlice thread,
      @Nullable String spanId) {}

  /** An open span, its attributes undecoded. {@code kind} and {@code traceFlags} may be -1. */
  record Span(
      String name,
      long id,
      @Nullable String parentSpanId,
      @Nullable String traceId,
      @Nullable String thread,
      OptionalLong nanos,
      OptionalLong epochNanos,
      int kind,
      int traceFlags,
      int status,
      @Nullable String statusDescription,
      int events,
      Map<String, CborSlice> attributes,
      Map<String, Integer> offsets) {
    /** {@return the same with what was noted of it later} */
    Span with(long note, CborSlice value) {
      String text = note == SpanLayout.NOTE_NAME ? value.text() : null;
      boolean isStatus = note == SpanLayout.NOTE_STATUS;
      return new Span(
          text != null ? text : name,
          id,
          parentSpanId,
          traceId,
          thread,
          nanos,
          epochNanos,
          kind,
          traceFlags,
          isStatus ? statusOf(value) : status,
          isStatus ? descriptionOf(value) : statusDescription,
          events,
          attributes,
          offsets);
    }

    private static int statusOf(@Nullable CborSlice note) {
      List<CborSlice> items = note == null ? List.of() : note.items();
      return items.isEmpty() ? 0 : small(items.get(0).unsigned(), 0);
    }

    private static @Nullable String descriptionOf(@Nullable CborSlice note) {
      List<CborSlice> items = note == null ? List.of() : note.items();
      return items.size() < 2 ? null : items.get(1).text();
    }
  }

  record Field(int kind, String key) {}

  final List<Finding> findings = new ArrayList<>();
  final Map<String, CborSlice> identity = new LinkedHashMap<>();
  final Map<String, CborSlice> life;
  final Map<String, CborSlice> uncaught;
  final @Nullable Clocks beat;
  final @Nullable Clocks newestClocks;
  final @Nullable Instant lastSeen;
  final List<long[]> vitals;
  final Map<String, Long> counters;
  final List<Crumb> trail = new ArrayList<>();

  /** By time, the latest last. */
  final List<PressureSnapshot> pressure;

  /** Whether the box could hold such a snapshot, so that none means that memory was never tight. */
  final boolean pressureIsWhole;

  final List<Span> spans;

  /** Whether the tables were all there, and sound, so that no span means that none was open. */
  boolean spansAreWhole;

  /**
   * Whether spans may have been open that are not in {@link #spans}: they had no slot, and a lap of
   * the trail has overwritten that they began.
   */
  boolean spansMayBeMissing;

  /** As {@link #spansAreWhole}, for the trail. */
  boolean trailIsWhole;

  private long begunInTrail;
  private final Map<Field, CborSlice> scope = new LinkedHashMap<>();

  /** Whether it is a box's; else what is not given is unknown. */
  final boolean isOfBox;

  final Set<Integer> knownScope;

  /**
   * Takes what is sound.
   *
   * @throws IOException if the box as a whole is unreadable
   */
  Salvage(byte[] bytes, String file, boolean live) throws IOException {
    isOfBox = true;
    knownScope = Set.of();
    BoxReader box = BoxReader.open(bytes, file, live, this::found);
    identity.putAll(entries(box.map(BoxLayout.IDENTITY)));
    if (identity.isEmpty()) {
      found(true, "IDNT", "identity is missing: id and app are taken from the directory");
    }
    noteScrub();
    life = entries(box.map(BoxLayout.LIFE));
    uncaught = entries(box.map(BoxLayout.UNCAUGHT));
    long[] words = box.words(BoxLayout.BEAT, 2);
    beat = words == null ? null : new Clocks(words[0], words[1]);
    pressure = pressure(box.map(BoxLayout.PRESSURE));
    pressureIsWhole = box.hasAllOf(BoxLayout.PRESSURE);
    vitals = join(box.vitals(BoxLayout.VITALS_MINUTES), box.vitals(BoxLayout.VITALS_SECONDS));
    counters = new LinkedHashMap<>(counters(box.counters()));
    for (BoxRecord record : box.scope()) {
      applyScope(record);
    }
    trailIsWhole = box.hasAllOf(BoxLayout.TRAIL);
    Map<Long, Span> byId = new LinkedHashMap<>();
    int before = findings.size();
    List<BoxSpan> slots = box.spans();
    spansAreWhole =
        box.hasAllOf(BoxLayout.SPANS)
            && findings.subList(before, findings.size()).stream()
                .allMatch(finding -> finding.severity() == Finding.Severity.INFO);
    for (BoxSpan slot : slots) {
      Span span = span(slot.begin(), slot.newestNotes());
      for (BoxSpan.Attribute attribute : slot.attributes()) {
        span.attributes.put(attribute.key(), attribute.value());
        span.offsets.put(attribute.key(), attribute.offset());
      }
      slot.newestNotes()
          .forEach((key, note) -> span.offsets.put(BoxSpan.noteName(key), note.offset()));
      byId.put(span.id, span);
    }
    Map<Long, Span> overflowed = new LinkedHashMap<>();
    for (BoxRecord record : box.trail()) {
      applyTrail(record, byId, overflowed);
    }
    noteMissingSpans(box);
    newestClocks = newestClocks();
    spans = new ArrayList<>(byId.values());
    for (Span span : overflowed.values()) {
      if (!byId.containsKey(span.id)) {
        spans.add(span);
      }
    }
    sortSpans();
    lastSeen = lastSeen();
  }

  /** Takes what an adapter found. */
  Salvage(Report.Builder given) {
    isOfBox = false;
    knownScope = Set.copyOf(given.knownScope);
    identity.putAll(given.identity);
    findings.addAll(given.findings);
    if (given.values.cuts() > 0) {
      found(true, "report", "values were cut: count=" + given.values.cuts());
    }
    life = Map.of();
    uncaught = Map.copyOf(given.uncaught);
    beat = null;
    newestClocks = null;
    lastSeen = given.lastSeen;
    vitals = List.of();
    counters = Map.of();
    if (given.trail != null) {
      trail.addAll(given.trail);
      trailIsWhole = true;
    }
    pressure = List.of();
    pressureIsWhole = false;
    spans = List.of();
    scope.putAll(given.scope);
  }

  private void noteMissingSpans(BoxReader box) {
    long lapped = counters.getOrDefault("spansOverflowed", 0L) - begunInTrail;
    // A scrub erases the begins of spans that have ended, too: hence the look at the laps.
    spansMayBeMissing = lapped > 0 && box.trailHasLapped();
    if (spansMayBeMissing) {
      found(
          false,
          "TRAL",
          "spans that had no slot began in a part of the trail that is overwritten: count="
              + lapped
              + "; those of them that had not ended are missing here (more slots:"
              + " Recorder.Builder.spanSlots)");
    }
  }

  /** Oldest first; those without a start last. */
  private void sortSpans() {
    spans.sort(Comparator.comparingLong(span -> span.nanos.orElse(Long.MAX_VALUE)));
  }

  /**
   * Adds what another recorder of the same process has recorded. How the process lived and ended is
   * this one's to say.
   *
   * @param name how findings name it
   */
  void join(Salvage part, String name) {
    part.identity.forEach(
        (key, value) -> {
          if (key.equals("release") || key.equals("environment")) {
            identity.putIfAbsent(key, value);
          }
        });
    mergeTrail(part.trail);
    trailIsWhole &= part.trailIsWhole;
    spans.addAll(part.spans); // begun by the same clock
    sortSpans();
    spansAreWhole &= part.spansAreWhole;
    spansMayBeMissing |= part.spansMayBeMissing;
    scope.putAll(part.scope); // an application's says more than an agent's
    part.counters.forEach((counter, count) -> counters.merge(counter, count, Long::sum));
    for (Finding finding : part.findings) {
      findings.add(new Finding(finding.severity(), name + ": " + finding.where(), finding.text()));
    }
  }

  /** By time, but each of the two in its own order also where the clock stepped. */
  private void mergeTrail(List<Crumb> others) {
    List<Crumb> own = List.copyOf(trail);
    trail.clear();
    int next = 0;
    for (Crumb crumb : own) {
      while (next < others.size() && others.get(next).wallMillis() < crumb.wallMillis()) {
        trail.add(others.get(next++));
      }
      trail.add(crumb);
    }
    trail.addAll(others.subList(next, others.size()));
  }

  private void found(boolean loss, String where, String text) {
    Finding.Severity severity = loss ? Finding.Severity.WARNING : Finding.Severity.INFO;
    findings.add(new Finding(severity, where, text));
  }

  /** {@return what was asked for, and what was in force where that differs; null if unknown} */
  @Nullable String durability() {
    String asked = text(identity, "durability");
    String inForce = text(life, "inForce");
    return asked == null || inForce == null ? asked : asked + ", in force: " + inForce;
  }

  /** {@return the newest value of a vital sign that is known} */
  OptionalLong lastVital(int index) {
    for (int i = vitals.size() - 1; i >= 0; i--) {
      long value = vitals.get(i)[index];
      if (value != VitalsLayout.UNKNOWN) {
        return OptionalLong.of(value);
      }
    }
    return OptionalLong.empty();
  }

  private void noteScrub() {
    OptionalLong at = integer(identity, BoxScrubber.SCRUBBED);
    if (at.isPresent()) {
      Instant time = Names.instant(at.getAsLong());
      long losses = integer(identity, BoxScrubber.SCRUBBED_LOSSES).orElse(0);
      found(
          losses > 0,
          "box",
          "box was scrubbed: at="
              + (time == null ? "unknown" : Names.rfc3339(time))
              + (losses > 0
                  ? ", findings before=" + losses + " (what was damaged is erased)"
                  : ""));
    }
  }

  private static Map<String, CborSlice> entries(@Nullable CborSlice map) {
    return map == null ? Map.of() : map.entries();
  }

  private Map<String, Long> counters(long @Nullable [] values) {
    Map<String, Long> counters = new LinkedHashMap<>();
    if (values != null) {
      for (int i = 0; i < values.length; i++) {
        if (values[i] >= 0) {
          counters.put(CounterLayout.NAMES.get(i), values[i]);
        } else {
          found(true, "CNTR", "counter is damaged: name=" + CounterLayout.NAMES.get(i));
        }
      }
    }
    return Collections.unmodifiableMap(counters);
  }

  /** {@return the seconds, and before them the minutes that are older than all of them} */
  private static List<long[]> join(List<long[]> minutes, List<long[]> seconds) {
    List<long[]> joined = new ArrayList<>();
    for (long[] sample : minutes) {
      if (seconds.isEmpty() || sample[VitalsLayout.NANOS] < seconds.get(0)[VitalsLayout.NANOS]) {
        joined.add(sample);
      }
    }
    joined.addAll(seconds);
    return joined;
  }

  private static List<PressureSnapshot> pressure(@Nullable CborSlice map) {
    record Taken(long nanos, PressureSnapshot snapshot) {}
    List<Taken> taken = new ArrayList<>();
    for (CborSlice slice : entries(map).values()) {
      Map<String, CborSlice> fields = slice.entries();
      PressureSnapshot snapshot = snapshot(fields);
      if (snapshot != null) {
        taken.add(new Taken(number(fields, PressureLayout.NANOS, 0), snapshot));
      }
    }
    taken.sort(Comparator.comparingLong(Taken::nanos));
    return taken.stream().map(Taken::snapshot).toList();
  }

  /** {@return the snapshot, or null if it is of a limit that this version doesn't know} */
  private static @Nullable PressureSnapshot snapshot(Map<String, CborSlice> fields) {
    long limit = number(fields, PressureLayout.LIMIT, -1);
    long percent = number(fields, PressureLayout.PERCENT, -1);
    if (limit < 0 || limit >= PressureLayout.LIMITS || percent < 0 || percent > 100) {
      return null;
    }
    long nanos = number(fields, PressureLayout.NANOS, VitalsLayout.UNKNOWN);
    record Begun(long nanos, PressureSnapshot.Span span) {}
    List<Begun> spans = new ArrayList<>();
    CborSlice array = fields.get(String.valueOf(PressureLayout.SPANS));
    for (CborSlice item : array == null ? List.<CborSlice>of() : array.items()) {
      Map<String, CborSlice> span = item.entries();
      String name = text(span, PressureLayout.SPAN_NAME);
      long begun = number(span, PressureLayout.SPAN_NANOS, VitalsLayout.UNKNOWN);
      long over = number(span, PressureLayout.SPAN_ALLOCATED_NANOS, -1);
      boolean hasAge = nanos != VitalsLayout.UNKNOWN && begun != VitalsLayout.UNKNOWN;
      spans.add(
          new Begun(
              begun,
              new PressureSnapshot.Span(
                  name == null ? "(unnamed)" : name,
                  Names.hex(unsigned(span, PressureLayout.SPAN_ID).orElse(0)),
                  text(span, PressureLayout.SPAN_THREAD),
                  hasAge ? Math.max(0, (nanos - begun) / 1_000_000) : -1,
                  number(span, PressureLayout.SPAN_ALLOCATED, -1),
                  over < 0 ? -1 : over / 1_000_000)));
    }
    spans.sort(Comparator.comparingLong(Begun::nanos));
    return new PressureSnapshot(
        limit == PressureLayout.HEAP ? PressureSnapshot.Limit.HEAP : PressureSnapshot.Limit.CGROUP,
        (int) percent,
        number(fields, PressureLayout.USED, -1),
        number(fields, PressureLayout.LIMIT_BYTES, -1),
        Names.instant(number(fields, PressureLayout.WALL_MILLIS, -1)),
        number(fields, PressureLayout.OPEN_SPANS, -1),
        spans.stream().map(Begun::span).toList());
  }

  private static long number(Map<String, CborSlice> map, int key, long otherwise) {
    CborSlice slice = map.get(String.valueOf(key));
    return slice == null ? otherwise : slice.integer().orElse(otherwise);
  }

  private void applyScope(BoxRecord record) {
    if (record.type() != RecordLayout.TYPE_SCOPE_FIELD) {
      return;
    }
    Map<String, CborSlice> map = record.payload().entries();
    CborSlice kindSlice = map.get(String.valueOf(RecordLayout.FIELD_KIND));
    int kind = kindSlice == null ? 0 : (int) kindSlice.integer().orElse(0);
    CborSlice keySlice = map.get(String.valueOf(RecordLayout.FIELD_KEY));
    String key = keySlice == null ? null : keySlice.text();
    CborSlice value = map.get(String.valueOf(RecordLayout.FIELD_VALUE));
    Field field = new Field(kind, key == null ? "" : key);
    if (value == null) {
      scope.remove(field);
    } else {
      scope.put(field, value);
    }
  }

  private void applyTrail(BoxRecord record, Map<Long, Span> byId, Map<Long, Span> overflowed) {
    switch (record.type()) {
      case RecordLayout.TYPE_BREADCRUMB -> trail.add(crumb(record));
      case RecordLayout.TYPE_SPAN_BEGIN -> {
        begunInTrail++;
        Span span = span(record.payload(), Map.of());
        overflowed.put(span.id | SpanLayout.OVERFLOWED, span);
      }
      case RecordLayout.TYPE_SPAN_SET -> {
        Map<String, CborSlice> map = record.payload().entries();
        OptionalLong id = unsigned(map, 0);
        CborSlice key = map.get(String.valueOf(RecordLayout.SET_KEY));
        CborSlice value = map.get(String.valueOf(RecordLayout.SET_VALUE));
        long used = unsigned(map, RecordLayout.SET_USED).orElse(Long.MAX_VALUE);
        String name = key == null ? null : key.text();
        OptionalLong note = unsigned(map, RecordLayout.SET_NOTE);
        if (id.isEmpty() || (name == null && note.isEmpty()) || value == null) {
          return;
        }
        Map<Long, Span> among = byId;
        long at = id.getAsLong();
        Span span = among.get(at);
        if (span == null) {
          among = overflowed;
          at |= SpanLayout.OVERFLOWED;
          span = among.get(at);
        }
        if (note.isPresent()) {
          // An entry of the slot behind it was noted later, as below.
          if (span != null
              && span.offsets.getOrDefault(BoxSpan.noteName(note.getAsLong()), -1) < used) {
            among.put(at, span.with(note.getAsLong(), value));
          }
          return;
        }
        // An entry of the slot at or behind what was in use then was set after this record.
        if (span != null && span.offsets.getOrDefault(name, -1) < used) {
          span.attributes.put(name, value);
        }
      }
      case RecordLayout.TYPE_SPAN_END -> {
        OptionalLong id = unsigned(record.payload().entries(), 0);
        if (id.isPresent()) {
          overflowed.remove(id.getAsLong() | SpanLayout.OVERFLOWED);
        }
      }
      default -> {} // a type of a newer writer
    }
  }

  private static Crumb crumb(BoxRecord record) {
    Map<String, CborSlice> map = record.payload().entries();
    CborSlice data = map.get(String.valueOf(RecordLayout.CRUMB_DATA));
    OptionalLong span = unsigned(map, RecordLayout.CRUMB_SPAN_ID);
    return new Crumb(
        record.position(),
        record.wallMillis(),
        Names.level(record.level()),
        map.get(String.valueOf(RecordLayout.CRUMB_CATEGORY)),
        map.get(String.valueOf(RecordLayout.CRUMB_MESSAGE)),
        data != null && data.isMap() ? data : null,
        map.get(String.valueOf(RecordLayout.CRUMB_THREAD)),
        span.isPresent() ? Names.hex(span.getAsLong()) : null);
  }

  private static Span span(CborSlice begin, Map<Long, BoxSpan.Note> notes) {
    Map<String, CborSlice> map = begin.entries();
    String name = text(map, SpanLayout.BEGIN_NAME);
    OptionalLong parent = unsigned(map, SpanLayout.BEGIN_PARENT_SPAN_ID);
    CborSlice trace = map.get(String.valueOf(SpanLayout.BEGIN_TRACE_ID));
    byte[] traceId = trace == null ? null : trace.byteString();
    CborSlice nanos = map.get(String.valueOf(SpanLayout.BEGIN_NANOS));
    CborSlice laterStart = note(notes, SpanLayout.NOTE_START);
    CborSlice epochNanos =
        laterStart != null ? laterStart : map.get(String.valueOf(SpanLayout.BEGIN_EPOCH_NANOS));
    CborSlice rename = note(notes, SpanLayout.NOTE_NAME);
    String laterName = rename == null ? null : rename.text();
    CborSlice status = note(notes, SpanLayout.NOTE_STATUS);
    CborSlice events = note(notes, SpanLayout.NOTE_EVENTS);
    CborSlice hop = note(notes, SpanLayout.NOTE_THREAD);
    List<CborSlice> hopItems = hop == null ? List.of() : hop.items();
    String laterThread = hopItems.size() < 2 ? null : hopItems.get(1).text();
    Map<String, CborSlice> attributes = new LinkedHashMap<>();
    Map<String, Integer> offsets = new HashMap<>();
    CborSlice begun = map.get(String.valueOf(SpanLayout.BEGIN_ATTRIBUTES));
    if (begun != null && begun.isMap()) {
      attributes.putAll(begun.entries());
      attributes.keySet().forEach(key -> offsets.put(key, SpanLayout.FIRST_ENTRY_OFFSET));
    }
    return new Span(
        laterName != null ? laterName : name == null ? "(unnamed)" : name,
        unsigned(map, SpanLayout.BEGIN_SPAN_ID).orElse(0),
        parent.isPresent() ? Names.hex(parent.getAsLong()) : null,
        traceId == null || traceId.length != 16 ? null : HexFormat.of().formatHex(traceId),
        laterThread != null && !laterThread.isEmpty()
            ? laterThread
            : text(map, SpanLayout.BEGIN_THREAD),
        nanos == null ? OptionalLong.empty() : nanos.integer(),
        epochNanos == null ? OptionalLong.empty() : epochNanos.integer(),
        small(unsigned(map, SpanLayout.BEGIN_KIND), -1),
        small(unsigned(map, SpanLayout.BEGIN_TRACE_FLAGS), -1),
        Span.statusOf(status),
        Span.descriptionOf(status),
        events == null ? 0 : small(events.unsigned(), 0),
        attributes,
        offsets);
  }

  private static @Nullable CborSlice note(Map<Long, BoxSpan.Note> notes, long key) {
    BoxSpan.Note note = notes.get(key);
    return note == null ? null : note.value();
  }

  private static int small(OptionalLong value, int otherwise) {
    long number = value.orElse(otherwise);
    return number < 0 || number > Integer.MAX_VALUE ? otherwise : (int) number;
  }

  private static OptionalLong unsigned(Map<String, CborSlice> map, int key) {
    CborSlice slice = map.get(String.valueOf(key));
    return slice == null ? OptionalLong.empty() : slice.unsigned();
  }

  private static @Nullable String text(Map<String, CborSlice> map, int key) {
    CborSlice slice = map.get(String.valueOf(key));
    return slice == null ? null : slice.text();
  }

  /** {@return the text of that key, or null} */
  static @Nullable String text(Map<String, CborSlice> map, String key) {
    CborSlice slice = map.get(key);
    return slice == null ? null : slice.text();
  }

  /** {@return the integer of that key, or empty} */
  static OptionalLong integer(Map<String, CborSlice> map, String key) {
    CborSlice slice = map.get(key);
    return slice == null ? OptionalLong.empty() : slice.integer();
  }

  /** {@return both clocks as a map holds them, or null} */
  static @Nullable Clocks clocks(Map<String, CborSlice> map) {
    OptionalLong wall = integer(map, "wallMillis");
    OptionalLong nanos = integer(map, "nanos");
    return wall.isPresent() && nanos.isPresent()
        ? new Clocks(wall.getAsLong(), nanos.getAsLong())
        : null;
  }

  private static @Nullable Clocks clocks(long[] sample) {
    long wall = sample[VitalsLayout.WALL_MILLIS];
    long nanos = sample[VitalsLayout.NANOS];
    return wall == VitalsLayout.UNKNOWN || nanos == VitalsLayout.UNKNOWN
        ? null
        : new Clocks(wall, nanos);
  }

  private @Nullable Clocks newestClocks() {
    Clocks newest = beat;
    Clocks sample = vitals.isEmpty() ? null : clocks(vitals.get(vitals.size() - 1));
    if (newest == null || (sample != null && sample.nanos > newest.nanos)) {
      newest = sample;
    }
    return newest == null ? clocks(identity) : newest;
  }

  private @Nullable Instant lastSeen() {
    Instant last = beat == null ? null : Names.instant(beat.wallMillis);
    if (!vitals.isEmpty()) {
      last = later(last, vitals.get(vitals.size() - 1)[VitalsLayout.WALL_MILLIS]);
    }
    if (!trail.isEmpty()) {
      last = later(last, trail.get(trail.size() - 1).wallMillis);
    }
    for (Span span : spans) {
      Instant begun = begunAt(span);
      last = last == null || (begun != null && begun.isAfter(last)) ? begun : last;
    }
    return last;
  }

  private static @Nullable Instant later(@Nullable Instant last, long wallMillis) {
    Instant other = Names.instant(wallMillis);
    return last == null || (other != null && other.isAfter(last)) ? other : last;
  }

  /** {@return from the begin of {@code span} to the last beat or sample; -1 if unknown} */
  long ageMillis(Span span) {
    if (newestClocks == null || span.nanos.isEmpty()) {
      return -1;
    }
    return Math.max(0, (lastNanos(newestClocks) - span.nanos.getAsLong()) / 1_000_000);
  }

  /**
   * The last sign of life by the monotonic clock. Breadcrumbs hold the wall clock only: one that is
   * newer than the newest beat counts by its distance, unless the wall clock must have stepped in
   * between. The begin of an open span is a sign of life as well.
   */
  private long lastNanos(Clocks clocks) {
    long last = clocks.nanos;
    if (lastSeen != null) {
      long after = lastSeen.toEpochMilli() - clocks.wallMillis;
      if (after > 0 && after <= MAX_MILLIS_AFTER_BEAT) {
        last += after * 1_000_000;
      }
    }
    for (Span span : spans) {
      last = Math.max(last, span.nanos.orElse(last));
    }
    return last;
  }

  /** {@return when {@code span} says that it began, else when it did; null if unknown} */
  @Nullable Instant startedAt(Span span) {
    if (span.epochNanos.isPresent()) {
      long nanos = span.epochNanos.getAsLong();
      return Instant.ofEpochSecond(
          Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L));
    }
    return begunAt(span);
  }

  /** {@return when {@code span} was begun, by the wall clock; null if unknown} */
  private @Nullable Instant begunAt(Span span) {
    if (newestClocks == null || span.nanos.isEmpty()) {
      return null;
    }
    // Not the clamped age: a span may begin after the last beat.
    long age = (newestClocks.nanos - span.nanos.getAsLong()) / 1_000_000;
    return Names.instant(newestClocks.wallMillis - age);
  }

  /** {@return whether no value of that kind means that none was set} */
  boolean isKnown(int kind) {
    return isOfBox || knownScope.contains(kind);
  }

  /** {@return the value of a field without a key, or null} */
  @Nullable CborSlice scope(int kind) {
    return scope.get(new Field(kind, ""));
  }

  /** {@return the values of a kind with keys, in the order they were first set} */
  Map<String, CborSlice> scopeByKey(int kind) {
    Map<String, CborSlice> values = new LinkedHashMap<>();
    scope.forEach(
        (field, value) -> {
          if (field.kind == kind) {
            values.put(field.key, value);
          }
        });
    return values;
  }

  /** {@return the level of the scope, or null} */
  @Nullable Level scopeLevel() {
    CborSlice slice = scope(RecordLayout.KIND_LEVEL);
    Object value = slice == null ? null : slice.value();
    if (value instanceof Long number && number >= 0 && number < Level.values().length) {
      return Names.level((int) (long) number);
    }
    if (value instanceof String name) {
      for (Level level : Level.values()) {
        if (level.name().equals(name.toUpperCase(Locale.ROOT))) {
          return level;
        }
      }
    }
    return null;
  }

  /** {@return decoded values, unmodifiable} */
  static Map<String, @Nullable Object> decode(Map<String, CborSlice> slices) {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    slices.forEach((key, slice) -> values.put(key, slice.value()));
    return Collections.unmodifiableMap(values);
  }

  /** Values of a sample that are shown, by name, in the order of the report. */
  static Map<String, Integer> vitalNames() {
    return VITAL_NAMES;
  }

  private static final Map<String, Integer> VITAL_NAMES = names();

  private static Map<String, Integer> names() {
    Map<String, Integer> names = new LinkedHashMap<>();
    names.put("heapUsed", VitalsLayout.HEAP_USED);
    names.put("heapCommitted", VitalsLayout.HEAP_COMMITTED);
    names.put("heapMax", VitalsLayout.HEAP_MAX);
    names.put("rss", VitalsLayout.RSS);
    names.put("gcCount", VitalsLayout.GC_COUNT);
    names.put("gcMillis", VitalsLayout.GC_MILLIS);
    names.put("threads", VitalsLayout.THREADS);
    names.put("openFiles", VitalsLayout.OPEN_FILES);
    names.put("cpuMillis", VitalsLayout.CPU_MILLIS);
    names.put("cgroupUsage", VitalsLayout.CGROUP_USAGE);
    names.put("cgroupLimit", VitalsLayout.CGROUP_LIMIT);
    names.put("cgroupOomKills", VitalsLayout.CGROUP_OOM_KILLS);
    names.put("nodeOomKills", VitalsLayout.NODE_OOM_KILLS);
    names.put("openSpans", VitalsLayout.OPEN_SPANS);
    names.put("maxFiles", VitalsLayout.MAX_FILES);
    names.put("cgroupProcesses", VitalsLayout.CGROUP_PROCESSES);
    return Collections.unmodifiableMap(names);
  }

  /** {@return the identity under other names than those that the report has fields for} */
  Map<String, CborSlice> moreIdentity() {
    Map<String, CborSlice> more = new TreeMap<>(identity);
    for (String shown :
        List.of(
            "runId",
            "app",
            "release",
            "environment",
            "pid",
            "host",
            "durability",
            BoxScrubber.SCRUBBED,
            BoxScrubber.SCRUBBED_LOSSES)) {
      more.remove(shown);
    }
    return more;
  }
}
