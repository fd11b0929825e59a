package cairn.otel;

import cairn.Level;
import cairn.report.Breadcrumb;
import cairn.report.Cause;
import cairn.report.Evidence;
import cairn.report.Report;
import cairn.report.RunIdentity;
import cairn.report.ScopeSnapshot;
import cairn.report.UncaughtException;
import cairn.report.UnfinishedSpan;
import cairn.report.Verdict;
import cairn.report.VitalsSample;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A report in OpenTelemetry's terms; docs/OTEL.md has the table. Immutable once made.
 *
 * <p>None of the classes whose names begin with Otlp needs OpenTelemetry on the class path: the
 * command line has them without it.
 */
final class OtlpTelemetry {
  /*
   * One mapping, two ways out: OtlpJson writes it, ReportTelemetry shows it as the SDK's interfaces.
   * A test compares them through the official exporter.
   *
   * The same death gives the same records at each export but for the time of observation, so that
   * who gets it twice can tell: app.crash.id and log.record.uid from the run id, trace ids that
   * were not recorded from the run id and the topmost span that is known.
   *
   * Nothing in a box can be trusted: ids may be zero or missing, times in any order, parents in a
   * circle. What OTLP requires is made up from what is next to it, never left out.
   */

  static final String SCOPE_NAME = "cairn";

  /** Where an application may put the Resource of its SDK, as a context of the scope. */
  static final String RESOURCE_CONTEXT = "otel.resource";

  private static final int SAMPLED = 1;
  private static final int SEVERITY_FATAL = 21;

  /** Of field 22 of /proc/self/stat, on every Linux that Java runs on. */
  private static final long NANOS_PER_TICK = 10_000_000;

  private static final Duration START_UP = Duration.ofMinutes(10);
  private static final Pattern CONTAINER_ID = Pattern.compile("[0-9a-f]{64}");
  private static final Instant LATEST = Instant.ofEpochSecond(Long.MAX_VALUE / 1_000_000_000L);

  private final String runId;
  private final @Nullable String version;
  private final long observedNanos;
  private final OtlpAttributes resource = new OtlpAttributes();
  private final List<OtlpSpan> spans = new ArrayList<>();
  private final List<OtlpLog> logs = new ArrayList<>();

  private final Report report;
  private final Map<String, OtlpSpan> spansById = new HashMap<>();

  /** Where the run ended, as far as that is known. */
  private final long lastNanos;

  /**
   * @throws IllegalArgumentException if the run is alive
   */
  OtlpTelemetry(Report report, Instant observed) {
    if (report.verdict().cause() == Cause.RUNNING) {
      throw new IllegalArgumentException(
          "run is alive: run=" + report.run().id() + " (export it when it has ended)");
    }
    this.report = report;
    this.runId = report.run().id();
    this.version = text(report.run().more().get("cairn"));
    this.observedNanos = nanos(observed);
    Instant last = report.run().lastSeenAt();
    Instant known = last == null ? report.run().startedAt() : last;
    this.lastNanos = known == null ? observedNanos : nanos(known);
    resource();
    spans(report.openSpans());
    breadcrumbs();
    if (!report.endedWell()) {
      crash();
    }
  }

  String runId() {
    return runId;
  }

  /** {@return the version of Cairn that recorded; null if unknown} */
  @Nullable String version() {
    return version;
  }

  long observedNanos() {
    return observedNanos;
  }

  OtlpAttributes resourceAttributes() {
    return resource;
  }

  /** {@return the open spans, oldest first} */
  List<OtlpSpan> spans() {
    return spans;
  }

  /** {@return the breadcrumbs, oldest first, and last the death, unless the run ended in order} */
  List<OtlpLog> logs() {
    return logs;
  }

  // Resource

  private void resource() {
    RunIdentity run = report.run();
    Map<String, @Nullable Object> more = run.more();
    resource
        .putIfKnown("service.name", run.app())
        .putIfKnown("service.version", run.release())
        .putIfKnown("service.instance.id", runId)
        .putIfKnown("deployment.environment.name", run.environment())
        .putIfKnown("telemetry.sdk.name", "cairn")
        .putIfKnown("telemetry.sdk.language", "java")
        .putIfKnown("telemetry.sdk.version", version)
        .putIfKnown("process.pid", run.pid() < 0 ? null : run.pid())
        .putIfKnown("process.creation.time", processStart(run))
        .putIfKnown("process.working_directory", text(more.get("workingDirectory")))
        .putIfKnown("process.runtime.version", text(more.get("javaVersion")))
        .putIfKnown("process.runtime.description", text(more.get("javaVendor")))
        .putIfKnown("host.name", run.host())
        .putIfKnown("host.id", text(more.get("hostId")))
        .putIfKnown("container.id", containerId(text(more.get("cgroup"))))
        .putIfKnown("os.type", osType(text(more.get("os"))))
        .putIfKnown("os.description", text(more.get("os")));
    osNameAndVersion(text(more.get("os")));
    // The SDK's own attributes win: telemetry from before the death came under them.
    if (report.scope().contexts().get(RESOURCE_CONTEXT) instanceof Map<?, ?> own) {
      own.forEach((key, value) -> resource.putIfKnown(String.valueOf(key), value));
    }
    resource.put("cairn.run.id", runId);
  }

  /**
   * {@return when the process was created} From its age when the recorder opened: the recorder's
   * monotonic clock counts from boot, as the ticks do, but not while the machine sleeps. What
   * doesn't look like a start-up is not told.
   */
  private static @Nullable String processStart(RunIdentity run) {
    Instant opened = run.startedAt();
    if (opened == null
        || !(run.more().get("nanos") instanceof Long nanos)
        || !(run.more().get("processStart") instanceof Long ticks)
        || ticks <= 0
        || ticks > Long.MAX_VALUE / NANOS_PER_TICK) {
      return null;
    }
    long age = nanos - ticks * NANOS_PER_TICK;
    return age < 0 || age > START_UP.toNanos()
        ? null
        : opened.minusNanos(age).truncatedTo(ChronoUnit.MILLIS).toString();
  }

  private static @Nullable String containerId(@Nullable String cgroup) {
    String id = null;
    if (cgroup != null) {
      for (Matcher matcher = CONTAINER_ID.matcher(cgroup); matcher.find(); ) {
        id = matcher.group(); // the last: containers in containers
      }
    }
    return id;
  }

  private static @Nullable String osType(@Nullable String os) {
    if (os == null) {
      return null;
    }
    String name = os.toLowerCase(Locale.ROOT);
    return name.startsWith("linux")
        ? "linux"
        : name.startsWith("mac") ? "darwin" : name.startsWith("windows") ? "windows" : null;
  }

  /** The recorder writes name, version and architecture of the system, parted by blanks. */
  private void osNameAndVersion(@Nullable String os) {
    int architecture = os == null ? -1 : os.lastIndexOf(' ');
    int version = os == null ? -1 : os.lastIndexOf(' ', architecture - 1);
    if (os != null && version > 0) {
      resource
          .put("os.name", os.substring(0, version))
          .put("os.version", os.substring(version + 1, architecture));
    }
  }

  // Spans

  private void spans(List<UnfinishedSpan> open) {
    Map<String, UnfinishedSpan> byId = new HashMap<>();
    open.forEach(span -> byId.putIfAbsent(span.spanId(), span));
    int number = 0;
    for (UnfinishedSpan span : open) {
      OtlpSpan exported = span(span, traceId(span, byId), number++);
      spans.add(exported);
      spansById.putIfAbsent(span.spanId(), exported);
    }
  }

  private OtlpSpan span(UnfinishedSpan span, String traceId, int number) {
    Verdict verdict = report.verdict();
    String kind = span.kind();
    int traceFlags = span.traceFlags();
    OtlpAttributes attributes = new OtlpAttributes().putAll("", span.attributes());
    attributes
        .putIfKnown("cairn.span.error.type", attributes.get("error.type"))
        .put("error.type", "process_terminated")
        .put("cairn.span.incomplete", true)
        .putIfKnown("cairn.span.status", span.status())
        .putIfKnown("cairn.span.status.description", span.statusDescription())
        .putIfKnown("thread.name", span.thread())
        .put("cairn.run.id", runId)
        .put("cairn.cause", verdict.cause().name())
        .put("cairn.confidence", confidence());
    long start = start(span);
    return new OtlpSpan(
        traceId,
        isId(span.spanId()) ? span.spanId() : madeUp("span:" + number).substring(0, 16),
        isId(span.parentSpanId()) ? span.parentSpanId() : null,
        traceFlags < 0 ? SAMPLED : traceFlags,
        span.name(),
        kind == null ? "INTERNAL" : kind,
        start,
        Math.max(start, lastNanos),
        attributes,
        span.events(),
        "the process ended before the span: " + verdict.cause().name() + " (" + confidence() + ")");
  }

  private long start(UnfinishedSpan span) {
    Instant started = span.startedAt();
    if (started != null) {
      return nanos(started);
    }
    long ageMillis = Math.max(0, Math.min(span.ageMillis(), lastNanos / 1_000_000));
    return lastNanos - ageMillis * 1_000_000;
  }

  /**
   * {@return the span's trace id, else that of the nearest open ancestor that has one, else one
   * that is the same for all below the topmost ancestor that is known}
   */
  private String traceId(UnfinishedSpan span, Map<String, UnfinishedSpan> byId) {
    Set<String> seen = new HashSet<>();
    UnfinishedSpan at = span;
    while (true) {
      String traceId = at.traceId();
      if (isId(traceId)) {
        return traceId;
      }
      String parentId = at.parentSpanId();
      if (!isId(parentId)) {
        return madeUp("trace:" + at.spanId());
      }
      UnfinishedSpan parent = byId.get(parentId);
      if (parent == null || !seen.add(parentId)) {
        return madeUp("trace:" + parentId);
      }
      at = parent;
    }
  }

  private String madeUp(String what) {
    byte[] name = ("cairn:" + runId + ":" + what).getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(name).toString().replace("-", "");
  }

  private static boolean isId(@Nullable String id) {
    return id != null && id.chars().anyMatch(c -> c != '0');
  }

  // Logs

  private void breadcrumbs() {
    Map<Long, Integer> positions = new HashMap<>();
    for (Breadcrumb crumb : report.trail()) {
      String spanId = crumb.spanId();
      OtlpSpan span = spanId == null ? null : spansById.get(spanId);
      OtlpAttributes attributes =
          new OtlpAttributes()
              .putAll("", crumb.data())
              .putIfKnown("thread.name", crumb.thread())
              .putIfKnown("cairn.category", crumb.category())
              .put("cairn.run.id", runId)
              .put("log.record.uid", recordId(crumb.position(), positions));
      if (span == null) {
        // Its trace is not known any more, and a span id is nothing without it.
        attributes.putIfKnown("cairn.span.id", spanId);
      }
      logs.add(
          new OtlpLog(
              nanos(crumb.at()),
              severity(crumb.level()),
              crumb.level().name(),
              crumb.message(),
              null,
              span == null ? null : span.traceId(),
              span == null ? null : span.spanId(),
              span == null ? 0 : span.traceFlags(),
              attributes));
    }
  }

  /** {@return an id} A run may have several trails, one for each class loader that recorded. */
  private String recordId(long position, Map<Long, Integer> positions) {
    int trail = positions.merge(position, 1, Integer::sum);
    return runId + "-" + position + (trail == 1 ? "" : "-" + trail);
  }

  private static int severity(Level level) {
    return switch (level) {
      case DEBUG -> 5;
      case INFO -> 9;
      case WARNING -> 13;
      case ERROR -> 17;
      case FATAL -> SEVERITY_FATAL;
    };
  }

  private void crash() {
    RunIdentity run = report.run();
    Verdict verdict = report.verdict();
    UncaughtException exception = fatalException();
    String thread = exception == null ? null : exception.thread();
    OtlpSpan span = failingSpan(thread);
    OtlpAttributes attributes =
        new OtlpAttributes()
            .put("app.crash.id", runId)
            .put("log.record.uid", runId)
            .put("cairn.run.id", runId)
            .put("cairn.cause", verdict.cause().name())
            .put("cairn.confidence", confidence())
            .putIfKnown("cairn.durability", run.durability())
            .put("cairn.evidence", evidence(verdict))
            .putIfKnown("thread.name", thread != null ? thread : threadOf(span));
    // Of the instance that died, so that they hold whatever Resource a reporter puts it under.
    for (String key :
        List.of(
            "service.name",
            "service.version",
            "service.instance.id",
            "os.name",
            "os.version",
            "process.pid")) {
      attributes.putIfKnown(key, resource.get(key));
    }
    if (exception != null) {
      attributes
          .putIfKnown("exception.type", exception.type())
          .putIfKnown("exception.message", exception.message())
          .putIfKnown("exception.stacktrace", stackTrace(exception));
    }
    if (report.exitStatus().isPresent()) {
      attributes.put("process.exit.code", report.exitStatus().getAsInt());
    }
    attributes
        .put("cairn.open_spans", report.openSpans().size())
        .put("cairn.breadcrumbs", report.trail().size())
        .put("cairn.findings", report.findings().size());
    report
        .counters()
        .forEach((name, count) -> attributes.putIfKnown("cairn.counters." + name, notZero(count)));
    scope(attributes);
    List<VitalsSample> vitals = report.vitals();
    if (!vitals.isEmpty()) {
      attributes.putAll("cairn.vitals.", vitals.get(vitals.size() - 1).values());
    }
    logs.add(
        new OtlpLog(
            lastNanos,
            SEVERITY_FATAL,
            "FATAL",
            verdict.headline(),
            "app.crash",
            span == null ? null : span.traceId(),
            span == null ? null : span.spanId(),
            span == null ? 0 : span.traceFlags(),
            attributes));
  }

  private @Nullable UncaughtException fatalException() {
    UncaughtException uncaught = report.uncaught();
    if (uncaught == null) {
      return null;
    }
    return switch (report.verdict().cause()) {
      case UNCAUGHT -> uncaught;
      case JAVA_OOM ->
          String.valueOf(uncaught.type()).equals(OutOfMemoryError.class.getName())
              ? uncaught
              : null;
      default -> null;
    };
  }

  /** {@return the newest open span of that thread; without a thread the only open span} */
  private @Nullable OtlpSpan failingSpan(@Nullable String thread) {
    if (thread == null) {
      return spans.size() == 1 ? spans.get(0) : null;
    }
    for (int i = spans.size() - 1; i >= 0; i--) {
      if (thread.equals(threadOf(spans.get(i)))) {
        return spans.get(i);
      }
    }
    return null;
  }

  private static @Nullable String threadOf(@Nullable OtlpSpan span) {
    return span == null ? null : text(span.attributes().get("thread.name"));
  }

  private static List<String> evidence(Verdict verdict) {
    List<String> lines = new ArrayList<>();
    for (Evidence evidence : verdict.evidence()) {
      lines.add(evidence.kind().name().toLowerCase(Locale.ROOT) + ": " + evidence.text());
    }
    return lines;
  }

  /** {@return as {@code printStackTrace} has it; null without a frame} */
  private static @Nullable String stackTrace(UncaughtException exception) {
    if (exception.stack().isEmpty()) {
      return null;
    }
    StringBuilder trace = new StringBuilder(512).append(exception.type());
    String message = exception.message();
    if (message != null) {
      trace.append(": ").append(message);
    }
    for (String frame : exception.stack()) {
      trace.append("\n\tat ").append(frame);
    }
    return trace.append('\n').toString();
  }

  private void scope(OtlpAttributes attributes) {
    ScopeSnapshot scope = report.scope();
    scope
        .user()
        .forEach(
            (key, value) ->
                attributes.put(
                    switch (key) {
                      case "id", "name", "email" -> "user." + key;
                      case "username" -> "user.name";
                      default -> "cairn.user." + key;
                    },
                    value));
    attributes
        .putIfKnown("cairn.transaction", scope.transaction())
        .putAll("cairn.tags.", scope.tags())
        .putAll("cairn.extras.", scope.extras());
    scope
        .contexts()
        .forEach(
            (key, value) -> {
              if (!key.equals(RESOURCE_CONTEXT)) {
                attributes.put("cairn.contexts." + key, value);
              }
            });
  }

  // Values

  private String confidence() {
    return report.verdict().confidence().name().toLowerCase(Locale.ROOT);
  }

  private static @Nullable Long notZero(Long count) {
    return count == 0 ? null : count;
  }

  private static @Nullable String text(@Nullable Object value) {
    return value instanceof String text ? text : null;
  }

  private static long nanos(Instant time) {
    if (time.isBefore(Instant.EPOCH)) {
      return 0;
    }
    return time.isAfter(LATEST)
        ? Long.MAX_VALUE
        : time.getEpochSecond() * 1_000_000_000L + time.getNano();
  }
}
