package cairn.report;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was going on when memory had become tight: the latest of its limit and level.
 *
 * @param limit which limit usage came near
 * @param percent of the limit that usage had reached: 75, 85 or 95
 * @param usedBytes of the heap, what the last collections had left; of the cgroup, without the file
 *     pages that the kernel takes back first
 * @param limitBytes the limit
 * @param at wall-clock time; null if unknown
 * @param openSpans how many spans were open; -1 if unknown
 * @param spans the oldest of them and those whose threads had allocated most, oldest first
 */
public record PressureSnapshot(
    Limit limit,
    int percent,
    long usedBytes,
    long limitBytes,
    @Nullable Instant at,
    long openSpans,
    List<Span> spans) {
  /** A limit of memory. */
  public enum Limit {
    /** The largest heap. */
    HEAP,
    /** That of the process's cgroup. */
    CGROUP
  }

  /**
   * A span that was open.
   *
   * @param name operation name; a long one is cut
   * @param spanId 16 hex digits
   * @param thread name of the thread that began it; null if unknown
   * @param ageMillis from its begin to the snapshot; -1 if unknown
   * @param allocatedBytes that this thread had allocated in {@code allocatedMillis}, whatever has
   *     become of them since; -1 if unknown
   * @param allocatedMillis how long, up to the snapshot, those were counted: at most some 20 s; -1
   *     if unknown
   */
  public record Span(
      String name,
      String spanId,
      @Nullable String thread,
      long ageMillis,
      long allocatedBytes,
      long allocatedMillis) {}
}
