package cairn.bench;

import cairn.Durability;
import cairn.Recorder;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Proof that what was timed was recorded: a number about a disabled recorder is worth nothing. */
final class Evidence {
  private static final int TRAIL_BYTES = 2 << 20;

  /** The smallest slot that a breadcrumb of {@link Payload} can take. */
  private static final int LEAST_RECORD_BYTES = 64;

  private Evidence() {}

  /** Opens a recorder under {@code root}; throws unless it records into a mapped file. */
  static Recorder open(Path root) {
    return open(root, Durability.process());
  }

  static Recorder open(Path root, Durability durability) {
    Recorder recorder =
        Recorder.builder("bench")
            .release("1.0")
            .directory(root)
            .trailBytes(TRAIL_BYTES)
            .durability(durability)
            .open();
    if (!recorder.isEnabled() || !recorder.mode().startsWith("mapped")) {
      throw new IllegalStateException(
          "recorder is not mapped: mode=" + recorder.mode() + ", root=" + root);
    }
    return recorder;
  }

  /** {@return the report of the only run under {@code root}} */
  static Report reportOf(Path root) throws IOException {
    List<Run> runs = Runs.under(root).list();
    require(runs.size() == 1, "runs under the root", runs.size(), 1);
    return runs.get(0).report();
  }

  /** Proves that the trail under {@code root} took that many breadcrumbs and lost none. */
  static void requireTrail(Path root, long calls) throws IOException {
    Report report = reportOf(root);
    List<Breadcrumb> trail = report.trail();
    require(trail.size() >= Math.min(calls, 1000), "breadcrumbs in the trail", trail.size(), calls);
    Breadcrumb newest = trail.get(trail.size() - 1);
    // Positions only grow, by at least one slot a record, also over what was evicted since.
    long leastPosition = TRAIL_BYTES + (calls - 1) * LEAST_RECORD_BYTES;
    require(newest.position() >= leastPosition, "position", newest.position(), leastPosition);
    require("http.client".equals(newest.category()), "category", newest.category(), "http.client");
    require(newest.data().containsKey("status"), "data", newest.data(), "status among it");
    requireNoLoss(report);
  }

  static void requireNoLoss(Report report) {
    for (String name : List.of("dropped", "cut", "placeholders", "scopeDropped")) {
      Long count = report.counters().get(name);
      require(count != null && count == 0, name, String.valueOf(count), 0);
    }
  }

  static void requireEqual(Map<String, ?> actual, String key, String expected) {
    require(expected.equals(actual.get(key)), key, String.valueOf(actual.get(key)), expected);
  }

  static void require(boolean holds, String what, Object actual, Object expected) {
    if (!holds) {
      throw new IllegalStateException(
          "benchmark measured nothing real: what="
              + what
              + ", actual="
              + actual
              + ", expected="
              + expected);
    }
  }
}
