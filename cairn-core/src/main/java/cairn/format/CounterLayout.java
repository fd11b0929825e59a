package cairn.format;

import java.util.List;

/**
 * Counters of everything that was evicted, dropped, cut or replaced: 64-bit words, kept twice. The
 * first copy is stored before the second, so equal copies are right, and copies that differ mean
 * death in between or damage; a reader then shows the smaller and says so.
 *
 * <p>Word i of copy c lies at {@code c * unit + 8 * i}. Zero means zero.
 */
public final class CounterLayout {
  /** Records that a stalled writer gave up, because the ring had lapped it. */
  public static final int LAPPED = 0;

  /** Breadcrumbs refused: larger than the record limit even when cut. */
  public static final int DROPPED = 1;

  /** Values shortened by a limit. */
  public static final int CUT = 2;

  /** Values replaced by a placeholder, because the application's code threw or never ended. */
  public static final int PLACEHOLDERS = 3;

  /** Scope updates refused, because the scope was full. */
  public static final int SCOPE_DROPPED = 4;

  /** Spans that found no free slot and went to the trail. */
  public static final int SPANS_OVERFLOWED = 5;

  /** Span attributes that found no room in the slot and went to the trail. */
  public static final int ATTRIBUTES_OVERFLOWED = 6;

  /** Heartbeats and samples that ended in an exception. */
  public static final int BEAT_ERRORS = 7;

  /** Writes of copy mode that failed. */
  public static final int COPY_ERRORS = 8;

  /** Scope compactions. */
  public static final int COMPACTIONS = 9;

  /** Encoding scratch buffers allocated because all were in use. */
  public static final int SCRATCH_ALLOCATED = 10;

  /** Values and parts of texts that were not recorded because they are secret. Since format 1.1. */
  public static final int REDACTED = 11;

  /** Batches of the run's journal that were forced. Since format 1.2, as those below. */
  public static final int FORCES = 12;

  /** Writes and forces of the run's journal that failed; its segment was given up. */
  public static final int FORCE_ERRORS = 13;

  /** How often the committer's thread had died and was started again. */
  public static final int COMMITTER_RESTARTS = 14;

  /** Bytes of the trail that a lap overwrote before they were in the run's journal. */
  public static final int NOT_COMMITTED_BYTES = 15;

  /** Termination messages that could not be written. Since format 1.3. */
  public static final int MESSAGE_ERRORS = 16;

  /** Names as the report shows them, by index. */
  public static final List<String> NAMES =
      List.of(
          "lapped",
          "dropped",
          "cut",
          "placeholders",
          "scopeDropped",
          "spansOverflowed",
          "attributesOverflowed",
          "beatErrors",
          "copyErrors",
          "compactions",
          "scratchAllocated",
          "redacted",
          "forces",
          "forceErrors",
          "committerRestarts",
          "notCommittedBytes",
          "messageErrors");

  /** Bytes of one copy. */
  public static final int COPY_SIZE = 256;

  /** {@return how many counters a writer of that minor version of the format knew} */
  public static int count(int minor) {
    return switch (minor) {
      case 0 -> REDACTED;
      case 1 -> FORCES;
      case 2 -> MESSAGE_ERRORS;
      default -> NAMES.size();
    };
  }

  private CounterLayout() {}
}
