package cairn;

import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.lang.ref.SoftReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The run before this one: adopted at most once, by the first of several new processes.
 *
 * <p>Any thread. The only place where the recorder reads reports.
 */
final class LastRun {
  /*
   * A report of a full box takes some 10 MB of heap for a moment. For the one line in the log that is
   * taken only if the heap has room for it: an application that lives with a full heap must not be
   * ended, by -XX:+ExitOnOutOfMemoryError or at all, because Cairn looked back. Otherwise the head of
   * the box, 64 KiB, says whether there was an end. And no report is held on to.
   */
  private static final long BOXES_OF_ROOM = 6;

  private static final long ROOM_BYTES = 8L << 20;

  private final Path root;
  private final Path own;
  private boolean asked;
  private @Nullable Run run;
  private SoftReference<Report> report = new SoftReference<>(null);

  /**
   * Looks at nothing yet.
   *
   * @param own the directory of the run that adopts
   */
  LastRun(Path root, Path own) {
    this.root = root;
    this.own = own;
  }

  /** {@return its report; empty if there is none, or it can't be read} */
  synchronized Optional<Report> get() {
    Report known = report.get();
    Run adopted = adopted();
    if (known != null || adopted == null) {
      return Optional.ofNullable(known);
    }
    try {
      known = adopted.report();
      report = new SoftReference<>(known);
      return Optional.of(known);
    } catch (IOException | RuntimeException e) {
      Log.warnOnce("last run cannot be read: dir=" + adopted.directory() + ", reason=" + e, e);
      return Optional.empty();
    }
  }

  private synchronized @Nullable Run adopted() {
    if (!asked) {
      asked = true;
      try {
        run = Runs.under(root).adoptPrevious(own).orElse(null);
      } catch (IOException | RuntimeException e) {
        Log.warnOnce("last run cannot be looked up: dir=" + own.getParent() + ", reason=" + e, e);
      }
    }
    return run;
  }

  /** Says in the log how it ended, if it ended badly. */
  void tell() {
    Run adopted = adopted();
    if (adopted == null) {
      return;
    }
    try {
      String how = hasRoom(adopted) ? headline(adopted.report()) : unread(adopted);
      if (how != null) {
        Log.warn(
            "the last run ended badly, "
                + ago(adopted)
                + ": "
                + how
                + " (see: cairn why "
                + adopted.id()
                + ")");
      }
    } catch (IOException | RuntimeException e) {
      Log.warnOnce("last run cannot be read: dir=" + adopted.directory() + ", reason=" + e, e);
    }
  }

  /** {@return how long ago it was seen last} A time alone would read as one of today. */
  private static String ago(Run run) throws IOException {
    Instant seen = run.identity().lastSeenAt();
    if (seen == null) {
      return "at an unknown time";
    }
    long seconds = Math.max(0, Duration.between(seen, Instant.now()).toSeconds());
    if (seconds < 120) {
      return seconds + " s ago";
    }
    if (seconds < 7_200) {
      return seconds / 60 + " min ago";
    }
    return seconds < 172_800 ? seconds / 3_600 + " h ago" : seconds / 86_400 + " days ago";
  }

  private static @Nullable String headline(Report report) {
    return report.endedWell() ? null : report.verdict().headline();
  }

  private static @Nullable String unread(Run run) throws IOException {
    return run.hasEndMarker() ? null : "there is no end marker";
  }

  /** {@return whether the heap has room for a report, without a word of the garbage in it} */
  private static boolean hasRoom(Run run) throws IOException {
    Path box = run.directory().resolve("box");
    long size = Files.exists(box) ? Files.size(box) : 0;
    Runtime runtime = Runtime.getRuntime();
    long free = runtime.maxMemory() - (runtime.totalMemory() - runtime.freeMemory());
    return free >= BOXES_OF_ROOM * size + ROOM_BYTES;
  }
}
