package cairn.stress;

import cairn.journal.Entry;
import cairn.journal.JournalFinding;
import cairn.journal.JournalReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Compares a journal with what the oracles of all victims know that have had its directory.
 *
 * <p>Every append that returned a number is there under that number, to the byte, once; of those in
 * flight at a death, what is there is whole; nothing else is. The records of a thread are in the
 * order of their appends, those of a victim after those of the one before it. What {@code
 * dropNewest} refused is not there; what is missing under {@code dropOldest} is accounted for in
 * the journal.
 *
 * <p>Of a victim that a power cut has hit, the appends after what was durable may be missing.
 */
final class JournalCheck {
  /**
   * One process that has had the directory.
   *
   * @param durable up to which number its appends must be there, if a power cut has hit it
   */
  record Generation(JournalPlan plan, JournalOracle oracle, long durable) {
    /** One all of whose returned appends must be there. */
    Generation(JournalPlan plan, JournalOracle oracle) {
      this(plan, oracle, Long.MAX_VALUE);
    }

    boolean wasCut() {
      return durable != Long.MAX_VALUE;
    }

    /** {@return the same, hit by a power cut} */
    Generation cutAfter(long durable) {
      return new Generation(plan, oracle, durable);
    }
  }

  private final List<Generation> generations;
  private final Tally tally;
  private final long[][] next;
  private long missing;
  private long last;
  private int generation;

  private JournalCheck(List<Generation> generations, Tally tally) {
    this.generations = generations;
    this.tally = tally;
    this.next = new long[generations.size()][];
    for (int g = 0; g < next.length; g++) {
      next[g] = new long[generations.get(g).plan().threads()];
    }
  }

  /** {@return what is wrong with the journal that these have written} */
  static Tally of(List<Generation> generations, Path directory) throws IOException {
    Tally tally = new Tally();
    JournalCheck check = new JournalCheck(generations, tally);
    JournalReader reader = JournalReader.of(directory);
    List<JournalFinding> findings = reader.replay(check::entry);
    check.end(reader, findings);
    return tally;
  }

  private void entry(Entry entry) {
    tally.checked(1);
    JournalPlan.Author author = JournalPlan.author(entry);
    if (author == null || !isStarted(author)) {
      tally.phantom("sequence=" + entry.sequence() + ", author=" + author);
      return;
    }
    Generation of = generations.get(author.generation());
    int t = author.thread();
    long q = author.number();
    if (!of.plan().isExact(entry, author)) {
      tally.torn("sequence=" + entry.sequence() + ", author=" + author);
    }
    if (entry.sequence() <= last || author.generation() < generation) {
      tally.disordered("sequence=" + entry.sequence() + ", last=" + last + ", author=" + author);
    }
    if (entry.sequence() > last + 1) {
      missing += entry.sequence() - last - 1;
      if (!mayDropOldest() && last < generations.get(generation).durable()) {
        tally.lost(entry.sequence() - last - 1, "from=" + (last + 1) + ", author=" + author);
      }
    }
    last = Math.max(last, entry.sequence());
    generation = author.generation();
    long[] expected = next[author.generation()];
    if (q < expected[t]) {
      tally.duplicate("sequence=" + entry.sequence() + ", author=" + author);
      return;
    }
    for (long skipped = expected[t]; skipped < q; skipped++) {
      missing(of, t, skipped);
    }
    expected[t] = q + 1;
    if (of.oracle().hasSequence(t, q)
        && of.oracle().sequence(t, q) != entry.sequence()
        && of.oracle().sequence(t, q) != 0) {
      tally.other(
          "number is not the one that append returned: returned="
              + of.oracle().sequence(t, q)
              + ", sequence="
              + entry.sequence()
              + ", author="
              + author);
    }
  }

  private boolean isStarted(JournalPlan.Author author) {
    return author.generation() >= 0
        && author.generation() < generations.size()
        && author.thread() >= 0
        && author.thread() < next[author.generation()].length
        && author.number() >= 0
        && author.number() < generations.get(author.generation()).oracle().started(author.thread());
  }

  private boolean mayDropOldest() {
    return generations.get(0).plan().whenFull().equals("dropOldest");
  }

  /** An append that is not in the journal, although a later one of its thread may be. */
  private void missing(Generation of, int t, long q) {
    if (of.plan().whenFull().equals("dropOldest") || !of.oracle().hasSequence(t, q)) {
      return; // the missing numbers are counted
    }
    long sequence = of.oracle().sequence(t, q);
    if (sequence > 0
        && sequence <= of.durable()) { // else dropped, or it threw and has a number of its own
      tally.lost(1, "sequence=" + sequence + ", t=" + t + ", q=" + q + ", plan=" + of.plan());
    }
  }

  private void end(JournalReader reader, List<JournalFinding> findings) throws IOException {
    List<JournalFinding> losses = new ArrayList<>(findings);
    losses.removeIf(finding -> !finding.isLoss());
    // After a power cut the numbers tell whether what is missing was durable.
    if (!losses.isEmpty() && generations.stream().noneMatch(Generation::wasCut)) {
      tally.other("losses in the journal: " + losses);
    }
    for (int g = 0; g < next.length; g++) {
      Generation of = generations.get(g);
      for (int t = 0; t < next[g].length; t++) {
        for (long q = next[g][t]; q < of.oracle().returned(t); q++) {
          missing(of, t, q);
        }
      }
    }
    if (mayDropOldest()) {
      if (highestReturned() > last) {
        tally.lost(highestReturned() - last, "newest: last=" + last);
      }
      long evicted = reader.verify().givenUp().getOrDefault("evicted", 0L);
      if (missing > evicted) {
        tally.lost(missing - evicted, "missing=" + missing + ", evicted=" + evicted);
      }
    }
    for (Generation of : generations) {
      if (of.wasCut() && last < of.durable()) {
        tally.lost(of.durable() - last, "durable=" + of.durable() + ", last=" + last);
      }
    }
  }

  private long highestReturned() {
    long highest = 0;
    for (Generation of : generations) {
      for (int t = 0; t < of.plan().threads(); t++) {
        long newest = of.oracle().returned(t) - 1;
        highest = Math.max(highest, newest < 0 ? 0 : of.oracle().sequence(t, newest));
      }
    }
    return highest;
  }
}
