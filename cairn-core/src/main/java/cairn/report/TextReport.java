package cairn.report;

import cairn.Level;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** A report as text for a person. Nothing of the evidence reaches it unescaped. */
final class TextReport {
  private static final int WIDTH = 100;
  private static final int NEWEST_CRUMBS = 20;
  private static final int MAX_VALUE = 160;
  private static final int MAX_NAME = 80;
  private static final int MAX_SPANS = 50;
  private static final int SPARK_COLUMNS = 30;
  private static final String SPARKS = "▁▂▃▄▅▆▇█";
  private static final long UNKNOWN = Long.MIN_VALUE;
  private static final List<String> CLOCKS = List.of("nanos", "wallMillis", "processStart");

  private final Report report;
  private final StringBuilder out = new StringBuilder();

  TextReport(Report report) {
    this.report = report;
  }

  String render(ReportPart... parts) {
    List<ReportPart> wanted = List.of(parts);
    for (ReportPart part : ReportPart.values()) {
      if (wanted.contains(part)) {
        render(part);
      }
    }
    return out.toString();
  }

  private void render(ReportPart part) {
    switch (part) {
      case HEADLINE -> wrap(report.verdict().headline(), "", "");
      case OPEN_SPANS -> openSpans();
      case PRESSURE -> pressure();
      case EVIDENCE -> evidence();
      case ADVICE -> advice();
      case TRAIL -> trail();
      case VITALS -> vitals();
      case SCOPE -> scope();
      case RUN -> run();
      case COUNTERS -> counters();
      case FINDINGS -> findings();
    }
  }

  private void title(String title) {
    if (out.length() > 0) {
      out.append('\n');
    }
    out.append(title).append('\n');
  }

  private void line(String text) {
    out.append("  ").append(text.stripTrailing()).append('\n');
  }

  /** Adds escaped text, broken at spaces so that a line keeps to the width where it can. */
  private void wrap(String text, String first, String next) {
    String indent = first;
    String rest = text;
    while (indent.length() + rest.length() > WIDTH) {
      int room = WIDTH - indent.length();
      int space = rest.lastIndexOf(' ', room);
      while (space > 0 && Character.isDigit(rest.charAt(space - 1))) {
        space = rest.lastIndexOf(' ', space - 1); // not between a number and its unit
      }
      if (space <= 0) {
        space = rest.indexOf(' ', room);
      }
      if (space <= 0) {
        break;
      }
      out.append(indent).append(rest, 0, space).append('\n');
      rest = rest.substring(space + 1);
      indent = next;
    }
    out.append(indent).append(rest).append('\n');
  }

  private void openSpans() {
    List<UnfinishedSpan> spans = report.openSpans();
    String count = report.spansMayBeMissing() ? "at least " + spans.size() : "" + spans.size();
    boolean isKnown = report.isOfBox() || !spans.isEmpty();
    title(isKnown ? "Open spans (" + count + "), oldest first" : "Open spans");
    if (spans.isEmpty() && !report.spansMayBeMissing()) {
      line(report.spansAreWhole() ? "none" : unknown("the box is truncated or damaged"));
    }
    for (UnfinishedSpan span : spans.subList(0, Math.min(spans.size(), MAX_SPANS))) {
      StringBuilder text = new StringBuilder();
      text.append(pad(span.ageMillis() < 0 ? "?" : Names.duration(span.ageMillis()), 11));
      text.append(SafeText.cut(span.name(), MAX_NAME));
      if (span.thread() != null) {
        text.append("  [").append(SafeText.cut(span.thread(), MAX_NAME)).append(']');
      }
      line(text.toString());
      if (!span.attributes().isEmpty()) {
        line(pad("", 11) + SafeText.map(span.attributes(), MAX_VALUE));
      }
      if (span.status() != null || span.events() > 0) {
        line(pad("", 11) + state(span));
      }
      StringBuilder ids = new StringBuilder("span ").append(span.spanId());
      if (span.parentSpanId() != null) {
        ids.append("  parent ").append(span.parentSpanId());
      }
      if (span.traceId() != null) {
        ids.append("  trace ").append(span.traceId());
      }
      if (span.kind() != null) {
        ids.append("  ").append(span.kind().toLowerCase(Locale.ROOT));
      }
      line(pad("", 11) + ids);
    }
    if (spans.size() > MAX_SPANS) {
      line("… " + (spans.size() - MAX_SPANS) + " more, see the JSON");
    }
  }

  /** {@return that something is unknown, and why if it should be known} */
  private String unknown(String why) {
    return report.isOfBox() ? "unknown: " + why : "unknown";
  }

  private static String state(UnfinishedSpan span) {
    StringBuilder text = new StringBuilder();
    if (span.status() != null) {
      text.append("status ").append(span.status());
      if (span.statusDescription() != null) {
        text.append(": ").append(SafeText.cut(span.statusDescription(), MAX_VALUE));
      }
    }
    if (span.events() > 0) {
      text.append(text.isEmpty() ? "" : "  ");
      text.append(Names.count(span.events(), "event", "events"));
    }
    return text.toString();
  }

  private void pressure() {
    if (report.pressure().isEmpty()) {
      return;
    }
    title("When memory was tight, times in UTC");
    for (PressureSnapshot snapshot : report.pressure()) {
      StringBuilder text = new StringBuilder("At ");
      text.append(snapshot.percent()).append(" % of the ");
      text.append(snapshot.limit() == PressureSnapshot.Limit.HEAP ? "heap" : "cgroup's limit");
      if (snapshot.at() != null) {
        text.append(", ").append(Names.time(snapshot.at()));
      }
      text.append(": ").append(size(snapshot.usedBytes()));
      text.append(" of ").append(size(snapshot.limitBytes()));
      if (snapshot.openSpans() >= 0) {
        text.append("; ").append(Names.count(snapshot.openSpans(), "span", "spans"));
        text.append(" open");
      }
      line(text.toString());
      snapshot.spans().forEach(this::pressured);
    }
  }

  private void pressured(PressureSnapshot.Span span) {
    StringBuilder text = new StringBuilder(pad("", 2));
    text.append(pad(Names.duration(span.ageMillis()), 9));
    text.append(SafeText.cut(span.name(), MAX_NAME));
    if (span.thread() != null) {
      text.append("  [").append(SafeText.cut(span.thread(), MAX_NAME)).append(']');
    }
    if (span.allocatedBytes() >= 0) {
      text.append("  allocated ").append(Names.bytes(span.allocatedBytes()));
      text.append(" in ").append(Names.duration(span.allocatedMillis()));
    }
    line(text.toString());
  }

  private static String size(long bytes) {
    return bytes < 0 ? "?" : Names.bytes(bytes);
  }

  private void evidence() {
    title("Why we think so");
    for (Evidence.Kind kind : Evidence.Kind.values()) {
      for (Evidence evidence : report.verdict().evidence()) {
        if (evidence.kind() == kind) {
          String name = pad(kind.name().toLowerCase(Locale.ROOT), 9);
          wrap(evidence.text(), "  " + name, "  " + pad("", 9));
        }
      }
    }
  }

  private void advice() {
    advice(Advice.Kind.LOOK, "What to look at next");
    advice(Advice.Kind.MORE, "How to know more next time");
  }

  private void advice(Advice.Kind kind, String title) {
    boolean titled = false;
    for (Advice advice : report.advice()) {
      if (advice.kind() == kind) {
        if (!titled) {
          title(title);
          titled = true;
        }
        wrap(advice.text(), "  ", "    ");
      }
    }
  }

  private void trail() {
    List<Breadcrumb> all = report.trail();
    int from = Math.max(0, all.size() - NEWEST_CRUMBS);
    List<Breadcrumb> newest = all.subList(from, all.size());
    if (newest.isEmpty() && !report.isOfBox() && !report.trailIsWhole()) {
      title("Trail");
      line("unknown");
      return;
    }
    title(
        "Trail (newest "
            + newest.size()
            + " of "
            + all.size()
            + "), times in UTC, the last line is the newest");
    if (newest.isEmpty()) {
      line("none");
    }
    List<String> categories = new ArrayList<>();
    int width = 0;
    for (Breadcrumb crumb : newest) {
      String category = crumb.category() == null ? "" : SafeText.cut(crumb.category(), 24);
      categories.add(category);
      width = Math.max(width, category.length());
    }
    width = Math.min(width, 16);
    for (int i = 0; i < newest.size(); i++) {
      line(crumb(newest.get(i), pad(categories.get(i), width)));
    }
  }

  private static String crumb(Breadcrumb crumb, String category) {
    StringBuilder text = new StringBuilder();
    text.append(crumb.at().equals(Instant.EPOCH) ? pad("?", 12) : Names.time(crumb.at()));
    text.append(' ').append(pad(level(crumb.level()), 8)).append(category);
    if (crumb.message() != null) {
      text.append(' ').append(SafeText.cut(crumb.message(), MAX_VALUE));
    }
    if (!crumb.data().isEmpty()) {
      text.append(' ').append(SafeText.map(crumb.data(), MAX_VALUE));
    }
    if (crumb.thread() != null) {
      text.append(" [").append(SafeText.cut(crumb.thread(), 40)).append(']');
    }
    return text.toString();
  }

  private static String level(Level level) {
    return Names.level(level);
  }

  // Vitals

  private void vitals() {
    List<VitalsSample> samples = recent(report.vitals());
    if (samples.isEmpty()) {
      title("Vitals");
      line(report.isOfBox() ? "none" : "unknown");
      return;
    }
    Instant first = samples.get(0).at();
    Instant last = samples.get(samples.size() - 1).at();
    title(
        "Vitals, "
            + Names.time(first)
            + " to "
            + Names.time(last)
            + " UTC ("
            + Names.duration(Math.max(0, Duration.between(first, last).toMillis()))
            + ")");
    graph("heap", values(samples, "heapUsed"), Names::bytes, limit(samples, "heapMax"));
    graph("rss", values(samples, "rss"), Names::bytes, limit(samples, "cgroupLimit"));
    graph("threads", values(samples, "threads"), Long::toString, "");
    graph("files", values(samples, "openFiles"), Long::toString, count(samples, "maxFiles"));
    graph("cpu", share(samples, "cpuMillis"), value -> value + " %", "");
    graph("gc", share(samples, "gcMillis"), value -> value + " %", "");
  }

  /** {@return the samples of the last ten minutes} */
  private static List<VitalsSample> recent(List<VitalsSample> all) {
    if (all.isEmpty()) {
      return all;
    }
    Instant from = all.get(all.size() - 1).at().minus(Duration.ofMinutes(10));
    int i = all.size();
    while (i > 0 && !all.get(i - 1).at().isBefore(from)) {
      i--;
    }
    return all.subList(i, all.size());
  }

  private static long[] values(List<VitalsSample> samples, String name) {
    ToLongFunction<VitalsSample> value = sample -> sample.value(name).orElse(UNKNOWN);
    return samples.stream().mapToLong(value).toArray();
  }

  /** {@return the growth of a count of milliseconds as a share of the time passed, in percent} */
  private static long[] share(List<VitalsSample> samples, String name) {
    long[] shares = new long[samples.size()];
    shares[0] = UNKNOWN;
    for (int i = 1; i < shares.length; i++) {
      OptionalLong before = samples.get(i - 1).value(name);
      OptionalLong after = samples.get(i).value(name);
      long passed = Duration.between(samples.get(i - 1).at(), samples.get(i).at()).toMillis();
      shares[i] =
          before.isEmpty() || after.isEmpty() || passed <= 0
              ? UNKNOWN
              : Math.max(
                  0,
                  Math.round(100.0 * ((double) after.getAsLong() - before.getAsLong()) / passed));
    }
    return shares;
  }

  private static String limit(List<VitalsSample> samples, String name) {
    OptionalLong limit = samples.get(samples.size() - 1).value(name);
    // A container without a limit reports a number near the largest.
    return limit.isEmpty() || limit.getAsLong() <= 0 || limit.getAsLong() >= 1L << 60
        ? ""
        : " of " + Names.bytes(limit.getAsLong());
  }

  private static String count(List<VitalsSample> samples, String name) {
    OptionalLong limit = samples.get(samples.size() - 1).value(name);
    return limit.isEmpty() ? "" : " of " + limit.getAsLong();
  }

  private interface Unit {
    String format(long value);
  }

  private void graph(String name, long[] values, Unit unit, String limit) {
    long min = Long.MAX_VALUE;
    long max = UNKNOWN;
    long last = UNKNOWN;
    for (long value : values) {
      if (value != UNKNOWN) {
        min = Math.min(min, value);
        max = Math.max(max, value);
        last = value;
      }
    }
    if (last == UNKNOWN) {
      line(pad(name, 8) + "unknown");
      return;
    }
    line(
        pad(name, 8)
            + spark(values, min, max)
            + "  min "
            + unit.format(min)
            + "  max "
            + unit.format(max)
            + "  last "
            + unit.format(last)
            + limit);
  }

  /** {@return one column per sample, or per several, of which the highest is shown} */
  private static String spark(long[] values, long min, long max) {
    int columns = Math.min(values.length, SPARK_COLUMNS);
    StringBuilder spark = new StringBuilder();
    for (int i = 0; i < columns; i++) {
      int from = (int) ((long) i * values.length / columns);
      int to = (int) ((long) (i + 1) * values.length / columns);
      long highest = UNKNOWN;
      for (int j = from; j < to; j++) {
        highest = Math.max(highest, values[j]);
      }
      if (highest == UNKNOWN) {
        spark.append(' ');
      } else {
        double share = max == min ? 0 : ((double) highest - min) / ((double) max - min);
        spark.append(SPARKS.charAt((int) Math.min(7, Math.max(0, share * 8))));
      }
    }
    return spark.toString();
  }

  // The rest

  private void scope() {
    title("Scope");
    ScopeSnapshot scope = report.scope();
    int before = out.length();
    if (!scope.user().isEmpty()) {
      line(pad("user", 13) + SafeText.map(scope.user(), MAX_VALUE));
    }
    entries("tag", scope.tags());
    entries("context", scope.contexts());
    entries("extra", scope.extras());
    if (scope.level() != null) {
      line(pad("level", 13) + level(scope.level()));
    }
    if (scope.transaction() != null) {
      line(pad("transaction", 13) + SafeText.cut(scope.transaction(), MAX_VALUE));
    }
    if (!scope.fingerprint().isEmpty()) {
      line(pad("fingerprint", 13) + SafeText.value(scope.fingerprint(), MAX_VALUE));
    }
    if (!scope.trace().isEmpty()) {
      line(pad("trace", 13) + SafeText.map(scope.trace(), MAX_VALUE));
    }
    if (out.length() == before) {
      line(report.isOfBox() || report.scopeIsKnown() ? "empty" : "unknown");
    }
  }

  private void entries(String kind, Map<String, @Nullable Object> values) {
    for (Map.Entry<String, @Nullable Object> entry : values.entrySet()) {
      line(
          pad(kind, 13)
              + SafeText.cut(entry.getKey(), MAX_NAME)
              + " = "
              + SafeText.value(entry.getValue(), MAX_VALUE));
    }
  }

  private void run() {
    title("Run");
    RunIdentity run = report.run();
    field("id", run.id());
    field("app", run.app());
    field("release", run.release());
    field("environment", run.environment());
    field("pid", run.pid() < 0 ? null : Long.toString(run.pid()));
    field("host", run.host());
    field("started", run.startedAt() == null ? null : Names.rfc3339(run.startedAt()));
    field("last seen", run.lastSeenAt() == null ? null : Names.rfc3339(run.lastSeenAt()));
    field("durability", run.durability());
    for (Map.Entry<String, @Nullable Object> entry : run.more().entrySet()) {
      if (CLOCKS.contains(entry.getKey())) {
        continue; // for machines
      }
      field(SafeText.cut(entry.getKey(), MAX_NAME), SafeText.value(entry.getValue(), MAX_VALUE));
    }
  }

  private void field(String name, @Nullable String value) {
    if (value != null) {
      line(pad(name, 17) + " " + SafeText.cut(value, MAX_VALUE));
    }
  }

  private void counters() {
    title("Counters");
    int before = out.length();
    report
        .counters()
        .forEach(
            (name, value) -> {
              if (!Objects.equals(value, 0L)) {
                line(pad(name, 21) + value);
              }
            });
    if (out.length() == before) {
      line(report.counters().isEmpty() ? "unknown" : "all zero: nothing was dropped or cut");
    }
  }

  private void findings() {
    title("Findings");
    if (report.findings().isEmpty()) {
      line(report.isOfBox() ? "none: everything in the box is sound" : "none");
    }
    for (Finding finding : report.findings()) {
      wrap(
          SafeText.escape(finding.where() + ": " + finding.text()),
          "  " + pad(finding.severity().name().toLowerCase(Locale.ROOT), 9),
          "  " + pad("", 9));
    }
  }

  private static String pad(String text, int width) {
    return text.length() >= width ? text : text + " ".repeat(width - text.length());
  }
}
