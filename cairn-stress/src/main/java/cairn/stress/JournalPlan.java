package cairn.stress;

import cairn.journal.Entry;
import cairn.journal.Journal;
import cairn.journal.WhenFull;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * What a victim appends to its journal. Record {@code q} of thread {@code t} of generation {@code
 * g} is always the same, so the checker needs no copy of it.
 *
 * @param seed of all pseudo-random choices
 * @param generation which of the victims that had this directory, counted from 0
 * @param threads that append
 * @param durability {@code process}, {@code bounded} or {@code power}
 * @param segmentBytes of the journal
 * @param stagingBytes of the journal
 * @param whenFull {@code block}, {@code dropNewest} or {@code dropOldest}
 */
record JournalPlan(
    long seed,
    int generation,
    int threads,
    String durability,
    int segmentBytes,
    int stagingBytes,
    String whenFull) {
  /** Whose record it is. */
  record Author(int generation, int thread, long number) {}

  private static final int AUTHOR_BYTES = 16;
  private static final int MAX_BYTES = 1_500;
  private static final int MAX_CHARS = 200;
  private static final int MAX_BURST = 64;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  static JournalPlan parse(String text) {
    List<String> parts = List.of(text.split(":", -1));
    return new JournalPlan(
        Long.parseLong(parts.get(0)),
        Integer.parseInt(parts.get(1)),
        Integer.parseInt(parts.get(2)),
        parts.get(3),
        Integer.parseInt(parts.get(4)),
        Integer.parseInt(parts.get(5)),
        parts.get(6));
  }

  @Override
  public String toString() {
    return String.join(
        ":",
        Long.toString(seed),
        Integer.toString(generation),
        Integer.toString(threads),
        durability,
        Integer.toString(segmentBytes),
        Integer.toString(stagingBytes),
        whenFull);
  }

  JournalPlan next() {
    return new JournalPlan(
        seed, generation + 1, threads, durability, segmentBytes, stagingBytes, whenFull);
  }

  Journal open(Path directory) throws IOException {
    return Journal.builder(directory)
        .durability(Plan.durability(durability))
        .segmentBytes(segmentBytes)
        .stagingBytes(stagingBytes)
        .whenFull(
            switch (whenFull) {
              case "dropNewest" -> WhenFull.dropNewest();
              case "dropOldest" -> WhenFull.dropOldest();
              default -> WhenFull.block(PATIENCE);
            })
        .open();
  }

  /** Appends record {@code q} of thread {@code t}; one in eight is an event. */
  long append(Journal journal, int t, long q) {
    Author author = new Author(generation, t, q);
    return isEvent(author) ? journal.append(event(author)) : journal.append(bytes(author));
  }

  /** {@return after how many records from this one thread {@code t} rests} */
  int burst(int t, long q) {
    return (int) (bits(new Author(generation, t, ~q)) >>> 40) % MAX_BURST + 1;
  }

  /** {@return whose record that is; null if no plan made it} */
  static Author author(Entry entry) {
    if (entry.isEvent()) {
      if (!(entry.event().get("g") instanceof Long g)
          || !(entry.event().get("t") instanceof Long t)
          || !(entry.event().get("q") instanceof Long q)) {
        return null;
      }
      return new Author((int) (long) g, (int) (long) t, q);
    }
    if (entry.bytes().length < AUTHOR_BYTES) {
      return null;
    }
    ByteBuffer in = ByteBuffer.wrap(entry.bytes());
    return new Author(in.getInt(), in.getInt(), in.getLong());
  }

  /** {@return whether that is that author's record, to the byte} */
  boolean isExact(Entry entry, Author author) {
    return entry.isEvent() == isEvent(author)
        && (entry.isEvent()
            ? entry.event().equals(event(author))
            : Arrays.equals(entry.bytes(), bytes(author)));
  }

  private long bits(Author author) {
    return Plan.bits(
        seed ^ ((long) author.thread() << 56) ^ ((long) author.generation() << 40),
        author.number());
  }

  private boolean isEvent(Author author) {
    return (bits(author) & 7) == 0;
  }

  private Map<String, Object> event(Author author) {
    return Map.of(
        "g",
        (long) author.generation(),
        "t",
        (long) author.thread(),
        "q",
        author.number(),
        "text",
        Texts.of(bits(author) >>> 8, MAX_CHARS));
  }

  private byte[] bytes(Author author) {
    long bits = bits(author);
    boolean isLong = (bits >>> 3 & 7) == 0;
    int length = (int) ((bits >>> 8 & 0xffff) % (isLong ? MAX_BYTES : 2 * AUTHOR_BYTES));
    ByteBuffer out = ByteBuffer.allocate(AUTHOR_BYTES + length + Long.BYTES);
    out.putInt(author.generation()).putInt(author.thread()).putLong(author.number());
    while (out.position() < AUTHOR_BYTES + length) {
      out.putLong(bits += 0x9E3779B97F4A7C15L);
    }
    return Arrays.copyOf(out.array(), AUTHOR_BYTES + length);
  }
}
