package cairn.sentry;

import cairn.Level;
import cairn.report.Advice;
import cairn.report.Breadcrumb;
import cairn.report.Finding;
import cairn.report.Report;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads all files of one directory, and makes a report of them. */
final class CacheReading {
  private static final String SCOPE_CACHE = ".scope-cache";
  private static final String OPTIONS_CACHE = ".options-cache";
  private static final String OUTBOX = "outbox";
  private static final String NATIVE = ".sentry-native";
  private static final String ENVELOPE = ".envelope";
  private static final int MAX_LISTED = 50;
  private static final int MAX_MARKER = 1024;

  /** As {@code ReportEvent} finds it again. */
  private static final String REQUEST = "sentry.request";

  private static final String OPTIONS = "sentry.options";
  private static final String REPLAY_ID = "sentry.replay_id";

  /** A crash marker. */
  record Marker(String file, @Nullable Instant time) {}

  /** A session that the SDK kept beside its envelopes. */
  record Session(String file, Map<String, @Nullable Object> json) {
    String status() {
      return json.get("status") instanceof String text ? text : "unknown";
    }

    @Nullable Instant time() {
      return SentryTime.of(json.get("timestamp"));
    }
  }

  private record Listed(String file, @Nullable Instant time, String text) {}

  private final CacheFolder folder;
  private final @Nullable String scopeFolder;

  private final FieldFiles scope;
  private final FieldFiles options;
  private @Nullable List<Breadcrumb> trail;
  private @Nullable FoundEvent newestEvent;
  private @Nullable FoundEvent newestUnhandled;
  private @Nullable Object envelopeSdk;
  private final List<Listed> envelopes = new ArrayList<>();

  private CacheReading(
      CacheFolder folder, @Nullable String scopeFolder, @Nullable String optionsFolder) {
    this.folder = folder;
    this.scopeFolder = scopeFolder;
    this.scope = FieldFiles.read(folder, scopeFolder, FieldFiles.SCOPE);
    this.options = FieldFiles.read(folder, optionsFolder, FieldFiles.OPTIONS);
  }

  /** {@return what lies in a directory; null if that is nothing of sentry-java's} */
  static @Nullable CacheReading of(CacheFolder folder) {
    String name = name(folder.directory());
    List<String> names = folder.names("");
    if (name.equals(NATIVE)) {
      return null; // of its marker alone it is not known whose it is
    }
    boolean isWhole =
        names.stream().anyMatch(file -> file.endsWith(ENVELOPE))
            || List.of(
                    SCOPE_CACHE,
                    OPTIONS_CACHE,
                    "session.json",
                    "previous_session.json",
                    "last_crash")
                .stream()
                .anyMatch(names::contains)
            || folder.has(NATIVE + "/last_crash")
            || (folder.isFolder(OUTBOX) && !folder.names(OUTBOX).isEmpty())
            || (name.equals(OUTBOX) && !names.isEmpty());
    if (isWhole) {
      return new CacheReading(folder, SCOPE_CACHE, OPTIONS_CACHE);
    }
    if (name.equals(OPTIONS_CACHE)
        || names.contains("release.json")
        || names.contains("sdk-version.json")) {
      return hasField(names, FieldFiles.OPTIONS) ? new CacheReading(folder, null, "") : null;
    }
    return name.equals(SCOPE_CACHE) || hasField(names, FieldFiles.SCOPE)
        ? new CacheReading(folder, "", null)
        : null;
  }

  private static boolean hasField(List<String> names, List<String> fields) {
    return fields.stream().anyMatch(field -> names.contains(field + FieldFiles.SUFFIX));
  }

  private static String name(Path directory) {
    Path name = directory.getFileName();
    return name == null ? "" : name.toString();
  }

  @Nullable Instant newestChange() {
    return folder.newestChange();
  }

  Report report() {
    readTrail();
    readEnvelopes();
    Session session = session("session.json");
    Session previous = session("previous_session.json");
    Marker java = marker("last_crash");
    Marker jni = marker(NATIVE + "/last_crash");
    Marker startup = marker(OUTBOX + "/startup_crash");
    if (startup == null) {
      startup = marker("startup_crash");
    }

    FoundEvent event = scope.isThere() ? null : newestEvent;
    Report.Builder report = builder();
    identity(report, session);
    if (scope.isThere()) {
      scope(report);
    } else if (event != null) {
      folder.info(
          event.file(),
          "scope and breadcrumbs are those of this event: there is no " + SCOPE_CACHE);
      scope(report, event);
    }
    if (trail != null) {
      report.trail(trail);
    }
    Instant seen = newestEvent == null ? null : newestEvent.time();
    if (trail != null) {
      for (Breadcrumb crumb : trail) {
        seen = SentryTime.later(seen, crumb.at().equals(Instant.EPOCH) ? null : crumb.at());
      }
    }
    seen = SentryTime.later(seen, session == null ? null : session.time());
    CacheVerdict verdict = new CacheVerdict(seen);
    verdict.judge(java, jni, startup, session, previous, newestUnhandled, scope.isThere());
    report.verdict(verdict.verdict());
    FoundEvent death = verdict.death();
    if (death != null && death.uncaught() != null) {
      report.uncaught(death.uncaught());
    }
    if (verdict.lastSeen() != null) {
      report.lastSeenAt(verdict.lastSeen());
    }
    report.advice(
        new Advice(
            Advice.Kind.MORE,
            "open spans, vitals and what ended the process: Cairn's integration for sentry-java"
                + " records them"));
    listEnvelopes();
    for (Finding finding : folder.findings()) {
      report.finding(finding);
    }
    return report.build();
  }

  // Reading

  private void readTrail() {
    if (scopeFolder == null || !scope.isThere()) {
      return;
    }
    String name = (scopeFolder.isEmpty() ? "" : scopeFolder + "/") + "breadcrumbs.json";
    byte[] file = folder.read(name);
    if (file == null) {
      trail = folder.has(name) ? null : List.of();
      return;
    }
    List<Map<String, @Nullable Object>> objects = new ArrayList<>();
    if (QueueFileReader.isList(file)) {
      SalvagedJson json = SalvagedJson.of(file);
      if (json.damage() != null) {
        folder.warning(
            name, "list is damaged: " + json.damage() + ", offset=" + json.damageOffset());
      }
      SentryValues.list(json.value()).forEach(value -> addObject(objects, value));
    } else {
      QueueFileReader.read(file, name, folder).forEach(element -> objects.add(element.object()));
    }
    trail = breadcrumbs(objects);
  }

  private static void addObject(
      List<Map<String, @Nullable Object>> objects, @Nullable Object value) {
    Map<String, @Nullable Object> object = SentryValues.object(value);
    if (object != null) {
      objects.add(object);
    }
  }

  private static List<Breadcrumb> breadcrumbs(List<Map<String, @Nullable Object>> objects) {
    List<Breadcrumb> breadcrumbs = new ArrayList<>(objects.size());
    for (Map<String, @Nullable Object> object : objects) {
      breadcrumbs.add(SentryValues.breadcrumb(breadcrumbs.size(), object));
    }
    return breadcrumbs;
  }

  private void readEnvelopes() {
    for (String name : folder.names("")) {
      if (name.endsWith(ENVELOPE)) {
        readEnvelope(name);
      }
    }
    for (String name : folder.names(OUTBOX)) {
      if (!name.equals("startup_crash")) {
        readEnvelope(OUTBOX + "/" + name);
      }
    }
  }

  private void readEnvelope(String name) {
    EnvelopeFile envelope = EnvelopeFile.read(name, folder);
    if (envelope == null) {
      return;
    }
    FoundEvent event = envelope.event();
    String title = event == null ? null : event.title();
    envelopes.add(
        new Listed(
            name,
            envelope.time(),
            envelope.contents()
                + (envelope.eventId() == null ? "" : ", id=" + envelope.eventId())
                + (envelope.time() == null ? "" : ", at=" + envelope.time())
                + ", size="
                + envelope.size()
                + (title == null ? "" : ": " + title)));
    envelopeSdk = envelope.sdk() == null ? envelopeSdk : envelope.sdk();
    if (event == null || event.time() == null || !event.isError()) {
      return;
    }
    // Only these two are kept: there may be many, and large ones.
    if (isNewer(event, newestEvent)) {
      newestEvent = event;
    }
    if (event.isUnhandled() && isNewer(event, newestUnhandled)) {
      newestUnhandled = event;
    }
  }

  private static boolean isNewer(FoundEvent event, @Nullable FoundEvent other) {
    Instant before = other == null ? null : other.time();
    return before == null || (event.time() != null && event.time().isAfter(before));
  }

  /** Each is worth knowing: nobody sends it. */
  private void listEnvelopes() {
    envelopes.sort(
        Comparator.comparing(Listed::time, Comparator.nullsLast(Comparator.reverseOrder())));
    for (Listed envelope : envelopes.subList(0, Math.min(MAX_LISTED, envelopes.size()))) {
      folder.info(envelope.file(), "envelope was not sent: " + envelope.text());
    }
    if (envelopes.size() > MAX_LISTED) {
      folder.info(
          "directory",
          "more envelopes were not sent: count="
              + (envelopes.size() - MAX_LISTED)
              + ", listed="
              + MAX_LISTED);
    }
  }

  private @Nullable Session session(String name) {
    byte[] bytes = folder.read(name);
    if (bytes == null) {
      return null;
    }
    SalvagedJson json = SalvagedJson.of(bytes);
    if (json.damage() != null) {
      folder.warning(
          name, "session is torn or damaged: " + json.damage() + ", offset=" + json.damageOffset());
    }
    Map<String, @Nullable Object> object = json.object();
    return object == null || object.isEmpty() ? null : new Session(name, object);
  }

  private @Nullable Marker marker(String name) {
    byte[] bytes = folder.read(name);
    if (bytes == null) {
      return null;
    }
    int length = Math.min(bytes.length, MAX_MARKER);
    Instant time = SentryTime.of(new String(bytes, 0, length, StandardCharsets.UTF_8).strip());
    if (time == null && bytes.length > 0) {
      folder.warning(name, "crash marker has no time: offset=0, size=" + bytes.length);
    }
    return new Marker(name, time);
  }

  // The report

  private Report.Builder builder() {
    String id = name(folder.directory());
    if (id.equals(SCOPE_CACHE) || id.equals(OPTIONS_CACHE) || id.equals(OUTBOX)) {
      Path parent = folder.directory().getParent();
      id = parent == null ? id : name(parent);
    }
    String release = release();
    int at = release == null ? -1 : release.indexOf('@');
    String app = at > 0 && release != null ? release.substring(0, at) : id;
    Report.Builder report = Report.builder(id, app);
    return release == null ? report : report.release(release);
  }

  private @Nullable String release() {
    String release = options.text("release");
    return release != null ? release : eventText("release");
  }

  private @Nullable String eventText(String key) {
    return newestEvent != null && newestEvent.json().get(key) instanceof String text ? text : null;
  }

  private void identity(Report.Builder report, @Nullable Session session) {
    String environment = scope.text("environment");
    environment = environment != null ? environment : options.text("environment");
    environment = environment != null ? environment : eventText("environment");
    if (environment != null) {
      report.environment(environment);
    }
    String host = eventText("server_name");
    if (host != null) {
      report.host(host);
    }
    report.more("directory", folder.directory().toString());
    String dist = options.text("dist");
    dist = dist != null ? dist : eventText("dist");
    if (dist != null) {
      report.more("dist", dist);
    }
    Map<String, @Nullable Object> sdk = sdk();
    if (sdk != null && sdk.get("name") != null) {
      Object version = sdk.get("version");
      report.more("sdk", sdk.get("name") + (version == null ? "" : " " + version));
    }
    if (session != null) {
      report.more("session", session.json());
    }
    if (folder.newestChange() != null) {
      report.more("newestFile", folder.newestChange().toString());
    }
  }

  private @Nullable Map<String, @Nullable Object> sdk() {
    Map<String, @Nullable Object> sdk = SentryValues.object(options.value("sdk-version"));
    return sdk != null ? sdk : SentryValues.object(envelopeSdk);
  }

  private void scope(Report.Builder report) {
    if (isKnownObject("user")) {
      report.user(scope.object("user"));
    }
    if (isKnownObject("tags")) {
      Map<String, @Nullable Object> tags = new LinkedHashMap<>(options.object("tags"));
      tags.putAll(scope.object("tags"));
      report.tags(tags);
    }
    if (isKnownObject("extras")) {
      report.extras(scope.object("extras"));
    }
    Map<String, @Nullable Object> contexts = new LinkedHashMap<>();
    if (isKnownObject("contexts")) {
      contexts.putAll(scope.object("contexts"));
    }
    if (isKnownObject("request") && !scope.object("request").isEmpty()) {
      contexts.put(REQUEST, scope.object("request"));
    }
    if (scope.text("replay") != null) {
      contexts.put(REPLAY_ID, scope.text("replay"));
    }
    putOptions(contexts);
    if (scope.isKnown("contexts") || !contexts.isEmpty()) {
      report.contexts(contexts);
    }
    Level level = SentryValues.level(scope.value("level"));
    if (level != null) {
      report.level(level);
    } else if (scope.value("level") != null) {
      foreign("level");
    }
    if (scope.isKnown("fingerprint")) {
      report.fingerprint(SentryValues.texts(SentryValues.list(scope.value("fingerprint"))));
    }
    String transaction = scope.text("transaction");
    if (transaction != null) {
      report.transaction(transaction);
    }
    if (isKnownObject("trace")) {
      report.trace(SentryValues.trace(scope.object("trace")));
    }
  }

  /** {@return whether a field is known, and an object or not set; notes one that is neither} */
  private boolean isKnownObject(String field) {
    Object value = scope.value(field);
    if (value != null && SentryValues.object(value) == null) {
      foreign(field);
      return false;
    }
    return scope.isKnown(field);
  }

  private void foreign(String field) {
    folder.warning(
        (scopeFolder == null || scopeFolder.isEmpty() ? "" : scopeFolder + "/")
            + field
            + FieldFiles.SUFFIX,
        "value is of another kind than the SDK writes: offset=0");
  }

  private void putOptions(Map<String, @Nullable Object> contexts) {
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (String field : FieldFiles.OPTIONS) {
      if (options.value(field) != null) {
        values.put(
            field.equals("sdk-version") ? "sdk" : field.replace('-', '_'), options.value(field));
      }
    }
    if (!values.isEmpty()) {
      contexts.put(OPTIONS, values);
    }
  }

  private void scope(Report.Builder report, FoundEvent event) {
    Map<String, @Nullable Object> json = event.json();
    report.user(orEmpty(json.get("user")));
    report.tags(orEmpty(json.get("tags")));
    report.extras(orEmpty(json.get("extra")));
    Map<String, @Nullable Object> contexts = new LinkedHashMap<>(orEmpty(json.get("contexts")));
    report.trace(SentryValues.trace(orEmpty(contexts.remove("trace"))));
    Map<String, @Nullable Object> request = orEmpty(json.get("request"));
    if (!request.isEmpty()) {
      contexts.put(REQUEST, request);
    }
    putOptions(contexts);
    report.contexts(contexts);
    Level level = SentryValues.level(json.get("level"));
    if (level != null) {
      report.level(level);
    }
    report.fingerprint(SentryValues.texts(SentryValues.list(json.get("fingerprint"))));
    if (json.get("transaction") instanceof String transaction) {
      report.transaction(transaction);
    }
    Object crumbs = json.get("breadcrumbs");
    Map<String, @Nullable Object> wrapped = SentryValues.object(crumbs);
    List<Map<String, @Nullable Object>> objects = new ArrayList<>();
    SentryValues.list(wrapped == null ? crumbs : wrapped.get("values"))
        .forEach(value -> addObject(objects, value));
    trail = breadcrumbs(objects);
  }

  private static Map<String, @Nullable Object> orEmpty(@Nullable Object value) {
    Map<String, @Nullable Object> object = SentryValues.object(value);
    return object == null ? Map.of() : object;
  }

  /** {@return a status as the JSON has it, for a sentence} */
  static String lower(String status) {
    return status.toLowerCase(Locale.ROOT);
  }
}
