package cairn.stress;

import cairn.Level;
import cairn.Recorder;
import cairn.report.Breadcrumb;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The breadcrumbs of a plan: number {@code q} of thread {@code t} is always the same. */
final class CrumbLoad {
  private static final int STREAM = 1;
  private static final List<Level> LEVELS = List.of(Level.values());

  private CrumbLoad() {}

  /**
   * Records breadcrumb {@code q} of thread {@code t}.
   *
   * @param nanos when the call began; kept in the breadcrumb, the one thing that is not derived
   */
  static void record(Recorder recorder, Plan plan, int t, long q, long nanos) {
    long bits = plan.bits(t, STREAM, q);
    recorder.breadcrumb(
        LEVELS.get(level(bits)),
        category(bits),
        message(plan, bits, t, q),
        data(bits, t, q, nanos));
  }

  /** {@return the number of the thread that recorded it, or -1 if it was not recorded by a plan} */
  static int thread(Breadcrumb crumb) {
    return crumb.data().get("t") instanceof Long t && t >= 0 && t < 4096 ? (int) (long) t : -1;
  }

  /** {@return its number within its thread, or -1} */
  static long number(Breadcrumb crumb) {
    return crumb.data().get("q") instanceof Long q ? q : -1;
  }

  /** {@return when its call began, or -1} */
  static long nanos(Breadcrumb crumb) {
    return crumb.data().get("n") instanceof String n ? Long.parseLong(n, 36) : -1;
  }

  /** {@return breadcrumb {@code q} of thread {@code t}, as a report must show it} */
  static Breadcrumb expected(Plan plan, int t, long q, long nanos, long position, Instant at) {
    long bits = plan.bits(t, STREAM, q);
    return new Breadcrumb(
        position,
        at,
        LEVELS.get(level(bits)),
        category(bits),
        message(plan, bits, t, q),
        data(bits, t, q, nanos),
        Victim.threadName(t),
        null);
  }

  /**
   * {@return whether this is breadcrumb {@code q} of thread {@code t}, whole and unchanged}
   *
   * <p>Its position, its time and its span are its own.
   */
  static boolean isExact(Plan plan, int t, long q, Breadcrumb crumb) {
    Breadcrumb expected = expected(plan, t, q, nanos(crumb), crumb.position(), crumb.at());
    return expected.level() == crumb.level()
        && Objects.equals(expected.category(), crumb.category())
        && Objects.equals(expected.message(), crumb.message())
        && expected.data().equals(crumb.data())
        && Objects.equals(expected.thread(), crumb.thread());
  }

  private static int level(long bits) {
    return (int) (bits >>> 60) % LEVELS.size();
  }

  private static String category(long bits) {
    return (bits >>> 40 & 1) == 0 ? "db" : "http.client";
  }

  private static String message(Plan plan, long bits, int t, long q) {
    int room = (plan.maxRecordBytes() - 256) / Texts.MAX_BYTES_PER_CHAR;
    boolean isLong = (bits >>> 41 & 3) == 0;
    return "t" + t + " q" + q + " " + Texts.of(bits, Math.min(isLong ? Texts.MAX_CHARS : 40, room));
  }

  private static Map<String, Object> data(long bits, int t, long q, long nanos) {
    Map<String, Object> data = new LinkedHashMap<>(8);
    data.put("t", (long) t);
    data.put("q", q);
    // Not as a number: on a machine that is up for 8.3 hours it has 14 digits and looks like a
    // card's,
    // of which one in ten has the right check digit and would be redacted.
    data.put("n", Long.toString(nanos, 36));
    if ((bits >>> 43 & 3) == 0) {
      data.put("rows", List.of(q, "x", (bits >>> 44 & 1) == 0));
    }
    return data;
  }
}
