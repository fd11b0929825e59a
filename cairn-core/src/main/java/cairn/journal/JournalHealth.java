package cairn.journal;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a journal's files hold and what is wrong with them; at one moment, if a writer lives.
 *
 * @param firstSequence lowest number that is there; 0 if none is
 * @param lastSequence highest number that is there; 0 if none is
 * @param entries how many entries are there
 * @param entryBytes of their contents
 * @param staged how many of them are in the staging file only, which survives process death and not
 *     power loss
 * @param bytes of all segments on disk
 * @param segments oldest first
 * @param givenUp how many records were given up, by reason: {@code dropped}, {@code evicted},
 *     {@code lost}
 * @param consumers the numbers that consumers have acknowledged, by name
 * @param runFrames frames of a run's own journal, which are no entries
 * @param isLive whether a process holds the journal open for writing
 * @param findings what is not sound
 */
public record JournalHealth(
    long firstSequence,
    long lastSequence,
    long entries,
    long entryBytes,
    long staged,
    long bytes,
    List<Segment> segments,
    Map<String, Long> givenUp,
    Map<String, Long> consumers,
    long runFrames,
    boolean isLive,
    List<JournalFinding> findings) {
  /** Keeps unmodifiable copies. */
  public JournalHealth {
    segments = List.copyOf(segments);
    givenUp = Map.copyOf(givenUp);
    consumers = Map.copyOf(consumers);
    findings = List.copyOf(findings);
  }

  /**
   * One segment.
   *
   * @param file its name
   * @param firstSequence lowest number that it may hold
   * @param lastSequence highest number that it holds
   * @param entries how many it holds
   * @param bytes its size
   * @param created when it was made; null if no header is sound
   * @param newest when its newest entry was made; null if no header is sound
   * @param isAfterError whether it was begun because an earlier one could not be written
   */
  public record Segment(
      String file,
      long firstSequence,
      long lastSequence,
      long entries,
      long bytes,
      @Nullable Instant created,
      @Nullable Instant newest,
      boolean isAfterError) {}

  /** {@return whether nothing is damaged or missing that no gap explains} */
  public boolean isSound() {
    return findings.isEmpty();
  }
}
