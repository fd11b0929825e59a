package cairn.sentry;

import cairn.Level;
import cairn.report.Evidence;
import cairn.report.Report;
import cairn.report.RunIdentity;
import cairn.report.ScopeSnapshot;
import cairn.report.UncaughtException;
import cairn.report.UnfinishedSpan;
import cairn.report.Verdict;
import cairn.report.VitalsSample;
import io.sentry.Breadcrumb;
import io.sentry.SentryEvent;
import io.sentry.SentryLevel;
import io.sentry.SpanContext;
import io.sentry.SpanId;
import io.sentry.protocol.Contexts;
import io.sentry.protocol.Mechanism;
import io.sentry.protocol.Request;
import io.sentry.protocol.SdkVersion;
import io.sentry.protocol.SentryException;
import io.sentry.protocol.SentryId;
import io.sentry.protocol.SentryThread;
import io.sentry.protocol.User;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A dead run as one event of sentry-java: level fatal, with the scope, the breadcrumbs and the open
 * spans that the run had. docs/SENTRY-SEND.md says what becomes of what.
 *
 * <p>Nothing of the process that makes it gets into it, and the same report gives the same event,
 * with the same id: deliver at least once, and Sentry tells. It is not larger than Sentry takes;
 * what was left out for that, its context {@code cairn} says.
 */
public final class ReportEvent {
  /*
   * Sentry has fields that a scope of Cairn has not. The integration keeps them where these names say,
   * and here they move to their places:
   *
   *   context sentry.options      release, environment, dist, server_name, sdk {name, version}, tags
   *   context sentry.request      as Request writes itself
   *   context sentry.replay_id    a text
   *   breadcrumb data             sentry.type, sentry.origin
   *   span attributes             sentry.op, sentry.transaction, sentry.user.<field>,
   *                               sentry.tag.<key>, sentry.extra.<key>, sentry.request.<field>
   *
   * Whose request it was. The scope of the run is that of no request. An event has one user, so one
   * request must be meant: that of the thread whose exception ended the run, else the only one that
   * is open. Of several none is taken, as the event would name a user who had nothing to do with it;
   * each is in the context open_spans with its own user and tags.
   *
   * Nothing in a box can be trusted, and sentry-java's deserialisers throw on what they don't expect:
   * then the value is kept as the plain one it is.
   */

  /** As {@code SentryOptions.getMaxBreadcrumbs} has it when nothing was set. */
  static final int MAX_BREADCRUMBS = 100;

  /** Of an event, uncompressed; what Sentry documents. */
  static final int MAX_BYTES = 1 << 20;

  static final String MECHANISM = "cairn";

  static final String OPTIONS_CONTEXT = "sentry.options";
  static final String REQUEST_CONTEXT = "sentry.request";
  static final String REPLAY_CONTEXT = "sentry.replay_id";

  /** What is only Sentry's: of attributes, breadcrumb data and contexts. */
  static final String PREFIX = "sentry.";

  private static final String TRACE = "trace";
  private static final DateTimeFormatter RUN_ID_TIME =
      DateTimeFormatter.ofPattern("uuuuMMdd-HHmmss-SSS", Locale.ROOT);
  private static final int RUN_ID_TIME_LENGTH = 19;

  private final Report report;
  private final SentryEvent event;
  private final ScopeSnapshot scope;
  private final Map<String, @Nullable Object> options;
  private final List<UnfinishedSpan> spans;
  private final @Nullable UncaughtException fatal;
  private final Requests requests;

  private ReportEvent(Report report) {
    this.report = report;
    this.scope = report.scope();
    this.options = mapOf(scope.contexts().get(OPTIONS_CONTEXT));
    this.spans = report.openSpans();
    this.fatal = fatalException(report);
    this.requests = new Requests(spans, fatal == null ? null : fatal.thread());
    this.event = new SentryEvent(Date.from(diedAt()));
  }

  /** {@return the event; null if the run is alive or ended in order} */
  public static @Nullable SentryEvent of(Report report) {
    return of(report, MAX_BYTES);
  }

  /** {@return the event, of at most that many bytes; null if the run is alive or ended in order} */
  static @Nullable SentryEvent of(Report report, int maxBytes) {
    Objects.requireNonNull(report, "report");
    return report.endedWell() ? null : new EventTrim(new ReportEvent(report).build()).to(maxBytes);
  }

  /** {@return the id of that run's event: the same for the same run, always} */
  public static SentryId id(Report report) {
    byte[] name = ("cairn event " + report.run().id()).getBytes(StandardCharsets.UTF_8);
    return new SentryId(UUID.nameUUIDFromBytes(name));
  }

  private SentryEvent build() {
    RunIdentity run = report.run();
    event.setEventId(id(report));
    event.setPlatform("java");
    event.setLevel(SentryLevel.FATAL);
    event.setLogger("cairn");
    event.setServerName(first(text(options.get("server_name")), run.host()));
    event.setRelease(first(text(options.get("release")), run.release()));
    event.setEnvironment(first(text(options.get("environment")), run.environment()));
    event.setDist(text(options.get("dist")));
    event.setSdk(sdk());
    event.setTransaction(first(requests.transaction(), scope.transaction()));
    exception();
    threads();
    scope();
    breadcrumbs();
    contexts();
    return event;
  }

  private static @Nullable String first(@Nullable String preferred, @Nullable String otherwise) {
    return preferred == null ? otherwise : preferred;
  }

  private SdkVersion sdk() {
    Map<String, @Nullable Object> sdk = mapOf(options.get("sdk"));
    String name = text(sdk.get("name"));
    String version = text(sdk.get("version"));
    return name == null || version == null
        ? new SdkVersion("cairn", Version.TEXT)
        : new SdkVersion(name, version);
  }

  /** {@return the last proof of life, else when it began, as exactly as that is known} */
  private Instant diedAt() {
    RunIdentity run = report.run();
    Instant last = run.lastSeenAt() == null ? run.startedAt() : run.lastSeenAt();
    if (last != null) {
      return last;
    }
    try {
      String begin = run.id().substring(0, Math.min(RUN_ID_TIME_LENGTH, run.id().length()));
      return LocalDateTime.parse(begin, RUN_ID_TIME).toInstant(ZoneOffset.UTC);
    } catch (DateTimeException e) {
      return Instant.EPOCH; // Sentry shows when it came then
    }
  }

  // Exception and threads

  private static @Nullable UncaughtException fatalException(Report report) {
    UncaughtException uncaught = report.uncaught();
    if (uncaught == null) {
      return null;
    }
    return switch (report.verdict().cause()) {
      case UNCAUGHT -> uncaught;
      case JAVA_OOM -> OutOfMemoryError.class.getName().equals(uncaught.type()) ? uncaught : null;
      default -> null;
    };
  }

  /**
   * {@return the headline without the attributes of the oldest span, which may name a user} They
   * are in the context open_spans; in a title they would stand for all that was in flight.
   */
  private String headline() {
    String headline = report.verdict().headline();
    int spans = headline.indexOf("in flight");
    int attributes = spans < 0 ? -1 : headline.indexOf(" {", spans);
    return attributes < 0 ? headline : headline.substring(0, attributes);
  }

  private void exception() {
    Verdict verdict = report.verdict();
    SentryException exception = new SentryException();
    Mechanism mechanism = new Mechanism();
    mechanism.setType(MECHANISM);
    mechanism.setHandled(false);
    mechanism.setDescription(headline());
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("cause", verdict.cause().name());
    data.put("confidence", lower(verdict.confidence()));
    data.put("evidence", evidence());
    mechanism.setData(data);
    exception.setMechanism(mechanism);
    String type = fatal == null ? null : fatal.type();
    if (fatal == null || type == null) {
      exception.setType(verdict.cause().name());
      exception.setValue(headline());
      // The headline has times and sizes: by it, no two deaths were the same issue.
      event.setFingerprints(List.of("cairn", verdict.cause().name()));
    } else {
      int dot = type.lastIndexOf('.');
      exception.setType(type.substring(dot + 1));
      exception.setModule(dot < 0 ? null : type.substring(0, dot));
      exception.setValue(fatal.message());
      if (!fatal.stack().isEmpty()) {
        exception.setStacktrace(StackFrames.trace(fatal.stack()));
      }
    }
    event.setExceptions(new ArrayList<>(List.of(exception)));
  }

  private List<String> evidence() {
    List<String> lines = new ArrayList<>();
    for (Evidence evidence : report.verdict().evidence()) {
      lines.add(lower(evidence.kind()) + ": " + evidence.text());
    }
    return lines;
  }

  /** Threads by name: Sentry wants numbers, and the recorder knows none. */
  private void threads() {
    Map<String, SentryThread> threads = new LinkedHashMap<>();
    String failed = fatal == null ? null : fatal.thread();
    if (failed != null) {
      SentryThread thread = thread(threads, failed);
      thread.setCrashed(true);
      thread.setCurrent(true);
      for (SentryException exception : event.getExceptions()) {
        exception.setThreadId(thread.getId());
      }
    }
    for (UnfinishedSpan span : spans) {
      String name = span.thread();
      if (name != null) {
        thread(threads, name);
      }
    }
    if (!threads.isEmpty()) {
      event.setThreads(new ArrayList<>(threads.values()));
    }
  }

  private static SentryThread thread(Map<String, SentryThread> threads, String name) {
    SentryThread known = threads.get(name);
    if (known == null) {
      known = new SentryThread();
      known.setId(threads.size() + 1L);
      known.setName(name);
      known.setMain(name.equals("main"));
      known.setCrashed(false);
      known.setCurrent(false);
      threads.put(name, known);
    }
    return known;
  }

  // Scope and trail

  private void scope() {
    mapOf(options.get("tags")).forEach((key, value) -> event.setTag(key, PlainValues.text(value)));
    scope.tags().forEach((key, value) -> event.setTag(key, PlainValues.text(value)));
    requests.allOf("tag").forEach((key, value) -> event.setTag(key, PlainValues.text(value)));
    event.setTag("cairn.cause", report.verdict().cause().name());
    event.setTag("cairn.confidence", lower(report.verdict().confidence()));
    Map<String, Object> extras = new LinkedHashMap<>();
    putKnown(extras, scope.extras());
    putKnown(extras, requests.allOf("extra"));
    event.setExtras(extras);
    Map<String, @Nullable Object> ofRequest = requests.lastOf("user");
    Map<String, @Nullable Object> user = ofRequest.isEmpty() ? scope.user() : ofRequest;
    if (!user.isEmpty()) {
      event.setUser(user(PlainValues.map(user)));
    }
    Map<String, @Nullable Object> requestOfSpan = requests.lastOf("request");
    Map<String, @Nullable Object> request =
        requestOfSpan.isEmpty()
            ? mapOf(scope.contexts().get(REQUEST_CONTEXT))
            : PlainValues.map(requestOfSpan);
    if (!request.isEmpty()) {
      event.setRequest(request(request));
    }
    if (!scope.fingerprint().isEmpty()) {
      event.setFingerprints(new ArrayList<>(scope.fingerprint()));
    }
  }

  private static void putKnown(Map<String, Object> to, Map<String, @Nullable Object> values) {
    PlainValues.map(values)
        .forEach(
            (key, value) -> {
              if (value != null) {
                to.put(key, value);
              }
            });
  }

  private static User user(Map<String, @Nullable Object> fields) {
    Map<String, @Nullable Object> known = new LinkedHashMap<>(fields);
    // A Long id is a fine id, and the deserialiser throws on it.
    for (String name : List.of("id", "email", "username", "ip_address", "name")) {
      Object value = known.get(name);
      if (value != null) {
        known.put(name, PlainValues.text(value));
      }
    }
    try {
      return EventJson.read(known, new User.Deserializer());
    } catch (Exception e) {
      User user = new User();
      Object id = fields.get("id");
      user.setId(id == null ? null : PlainValues.text(id));
      Map<String, String> data = new LinkedHashMap<>();
      fields.forEach((key, value) -> data.put(key, PlainValues.text(value)));
      user.setData(data);
      return user;
    }
  }

  private static Request request(Map<String, @Nullable Object> fields) {
    try {
      return EventJson.read(fields, new Request.Deserializer());
    } catch (Exception e) {
      Request request = new Request();
      request.setData(fields);
      return request;
    }
  }

  private void breadcrumbs() {
    List<cairn.report.Breadcrumb> trail = uncleared(report.trail());
    List<Breadcrumb> last = new ArrayList<>();
    for (cairn.report.Breadcrumb crumb :
        trail.subList(Math.max(0, trail.size() - MAX_BREADCRUMBS), trail.size())) {
      Breadcrumb converted = new Breadcrumb(Date.from(crumb.at()));
      converted.setLevel(level(crumb.level()));
      converted.setCategory(crumb.category());
      converted.setMessage(crumb.message());
      PlainValues.map(crumb.data())
          .forEach(
              (key, value) -> {
                if (key.equals(PREFIX + "type")) {
                  converted.setType(PlainValues.text(value));
                } else if (key.equals(PREFIX + "origin")) {
                  converted.setOrigin(PlainValues.text(value));
                } else {
                  converted.setData(key, value);
                }
              });
      converted.setData("cairn.thread", crumb.thread());
      converted.setData("cairn.span_id", crumb.spanId());
      last.add(converted);
    }
    event.setBreadcrumbs(last);
  }

  /** {@return those that their scope had not cleared; the box has them still, to look at it} */
  private static List<cairn.report.Breadcrumb> uncleared(List<cairn.report.Breadcrumb> trail) {
    List<cairn.report.Breadcrumb> left = new ArrayList<>(trail);
    for (cairn.report.Breadcrumb mark : trail) {
      if (CairnScopeObserver.CLEARED.equals(mark.category())) {
        boolean isOfThread = "thread".equals(mark.data().get("scope"));
        left.removeIf(
            crumb ->
                crumb.position() <= mark.position()
                    && Objects.equals(crumb.spanId(), mark.spanId())
                    && (!isOfThread || Objects.equals(crumb.thread(), mark.thread())));
      }
    }
    return left;
  }

  private static SentryLevel level(Level level) {
    return switch (level) {
      case DEBUG -> SentryLevel.DEBUG;
      case INFO -> SentryLevel.INFO;
      case WARNING -> SentryLevel.WARNING;
      case ERROR -> SentryLevel.ERROR;
      case FATAL -> SentryLevel.FATAL;
    };
  }

  // Contexts

  private void contexts() {
    Contexts contexts = event.getContexts();
    ofProcess(contexts);
    scope
        .contexts()
        .forEach(
            (key, value) -> {
              if (!key.equals(OPTIONS_CONTEXT)
                  && !key.equals(REQUEST_CONTEXT)
                  && !key.equals(REPLAY_CONTEXT)
                  && !key.equals(CairnScopeObserver.CRASH_CONTEXT)
                  && !key.equals(TRACE)) {
                put(contexts, key, PlainValues.value(value));
              }
            });
    String replay = text(scope.contexts().get(REPLAY_CONTEXT));
    if (replay != null) {
      contexts.put(Contexts.REPLAY_ID, replay);
    }
    if (!spans.isEmpty()) {
      contexts.put("open_spans", openSpans());
    }
    contexts.put("cairn", own());
    trace(contexts);
  }

  /** What sentry-java says of the process that sends, here of the one that died. */
  private void ofProcess(Contexts contexts) {
    RunIdentity run = report.run();
    Map<String, @Nullable Object> more = run.more();
    Map<String, @Nullable Object> runtime = new LinkedHashMap<>();
    runtime.put("name", text(more.get("javaVendor")));
    runtime.put("version", text(more.get("javaVersion")));
    putIfAny(contexts, "runtime", runtime);
    String system = text(more.get("os"));
    if (system != null) {
      // Name, version and architecture, parted by blanks.
      int architecture = system.lastIndexOf(' ');
      int version = system.lastIndexOf(' ', architecture - 1);
      Map<String, @Nullable Object> os = new LinkedHashMap<>();
      os.put("name", version > 0 ? system.substring(0, version) : system);
      os.put("version", version > 0 ? system.substring(version + 1, architecture) : null);
      putIfAny(contexts, "os", os);
    }
    Map<String, @Nullable Object> app = new LinkedHashMap<>();
    app.put("app_name", run.app());
    app.put("app_start_time", run.startedAt() == null ? null : run.startedAt().toString());
    putIfAny(contexts, "app", app);
  }

  private static void putIfAny(
      Contexts contexts, String key, Map<String, @Nullable Object> values) {
    values.values().removeIf(Objects::isNull);
    if (!values.isEmpty()) {
      put(contexts, key, values);
    }
  }

  /**
   * Puts it with its type if Sentry has one of that name, so that its processors find it. What is
   * no such thing goes under a name of its own: who reads the event back would throw all of it
   * away.
   */
  private static void put(Contexts contexts, String key, @Nullable Object value) {
    if (value == null) {
      return;
    }
    // As sentry-java does: a context is an object.
    Object object = value instanceof Map<?, ?> ? value : Map.of("value", value);
    Map<String, @Nullable Object> one = new LinkedHashMap<>();
    one.put(key, object);
    try {
      Object typed = EventJson.read(one, new Contexts.Deserializer()).get(key);
      contexts.put(key, typed == null ? object : typed);
    } catch (Exception e) {
      contexts.put(key + "_recorded", object);
    }
  }

  private Map<String, @Nullable Object> openSpans() {
    List<@Nullable Object> list = new ArrayList<>();
    for (UnfinishedSpan span : spans) {
      Map<String, @Nullable Object> entry = new LinkedHashMap<>();
      entry.put("name", span.name());
      entry.put("op", PlainValues.value(span.attributes().get(PREFIX + "op")));
      entry.put("span_id", span.spanId());
      entry.put("parent_span_id", span.parentSpanId());
      entry.put("trace_id", span.traceId());
      entry.put("thread", span.thread());
      entry.put("started_at", span.startedAt() == null ? null : span.startedAt().toString());
      entry.put("age_ms", span.ageMillis() < 0 ? null : span.ageMillis());
      entry.put("status", span.status());
      entry.put("status_description", span.statusDescription());
      Map<String, @Nullable Object> plain = new LinkedHashMap<>();
      span.attributes()
          .forEach(
              (key, value) -> {
                if (!key.startsWith(PREFIX)) {
                  plain.put(key, PlainValues.value(value));
                }
              });
      entry.put("user", Requests.fields(span, "user"));
      entry.put("tags", Requests.fields(span, "tag"));
      entry.put("extra", Requests.fields(span, "extra"));
      entry.put("request", Requests.fields(span, "request"));
      entry.put("attributes", plain);
      entry.values().removeIf(value -> value == null || value.equals(Map.of()));
      list.add(entry);
    }
    Map<String, @Nullable Object> context = new LinkedHashMap<>();
    context.put("count", spans.size());
    context.put("spans", list);
    return context;
  }

  private Map<String, @Nullable Object> own() {
    RunIdentity run = report.run();
    Verdict verdict = report.verdict();
    Map<String, @Nullable Object> own = new LinkedHashMap<>();
    own.put("run_id", run.id());
    own.put("app", run.app());
    own.put("pid", run.pid() < 0 ? null : run.pid());
    own.put("cause", verdict.cause().name());
    own.put("confidence", lower(verdict.confidence()));
    own.put("headline", headline());
    own.put("evidence", evidence());
    own.put("durability", run.durability());
    own.put("version", text(run.more().get("cairn")));
    own.put("scope_level", scope.level() == null ? null : lower(scope.level()));
    if (report.exitStatus().isPresent()) {
      own.put("exit_status", report.exitStatus().getAsInt());
    }
    own.put("breadcrumbs", report.trail().size());
    own.put("findings", report.findings().size());
    List<VitalsSample> vitals = report.vitals();
    if (!vitals.isEmpty()) {
      own.put("vitals", new LinkedHashMap<>(vitals.get(vitals.size() - 1).values()));
    }
    own.values().removeIf(Objects::isNull);
    return own;
  }

  /** The request that is meant, else the trace of the run, else the youngest span that has one. */
  private void trace(Contexts contexts) {
    UnfinishedSpan span = requests.innermost();
    if (span != null && setTrace(contexts, span)) {
      return;
    }
    Map<String, @Nullable Object> trace = scope.trace();
    Map<String, @Nullable Object> context = mapOf(scope.contexts().get(TRACE));
    if (setTrace(contexts, text(trace.get("traceId")), text(trace.get("spanId")), null, null, null)
        || setTrace(
            contexts,
            text(context.get("trace_id")),
            text(context.get("span_id")),
            text(context.get("parent_span_id")),
            text(context.get("op")),
            null)) {
      return;
    }
    for (int i = spans.size() - 1; i >= 0; i--) {
      if (setTrace(contexts, spans.get(i))) {
        return;
      }
    }
  }

  private static boolean setTrace(Contexts contexts, UnfinishedSpan span) {
    return setTrace(
        contexts,
        span.traceId(),
        span.spanId(),
        span.parentSpanId(),
        first(text(span.attributes().get(PREFIX + "op")), span.name()),
        span.thread());
  }

  private static boolean setTrace(
      Contexts contexts,
      @Nullable String traceId,
      @Nullable String spanId,
      @Nullable String parentSpanId,
      @Nullable String operation,
      @Nullable String thread) {
    if (traceId == null || !isId(traceId, 32)) {
      return false;
    }
    SpanContext trace =
        new SpanContext(
            new SentryId(traceId),
            isId(spanId, 16) ? new SpanId(spanId) : new SpanId(traceId.substring(16)),
            operation == null ? "default" : operation,
            isId(parentSpanId, 16) ? new SpanId(parentSpanId) : null,
            null);
    // It takes them from the thread that makes it.
    trace.setData("thread.id", null);
    trace.setData("thread.name", thread);
    contexts.setTrace(trace);
    return true;
  }

  private static boolean isId(@Nullable String id, int length) {
    return id != null
        && id.length() == length
        && id.chars().allMatch(c -> Character.digit(c, 16) >= 0)
        && id.chars().anyMatch(c -> c != '0');
  }

  // Values

  private static Map<String, @Nullable Object> mapOf(@Nullable Object value) {
    return value instanceof Map<?, ?> map ? PlainValues.map(map) : Collections.emptyMap();
  }

  private static @Nullable String text(@Nullable Object value) {
    return value instanceof String text ? text : null;
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
