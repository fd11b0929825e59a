package cairn.report;

import cairn.Level;
import cairn.format.CborSlice;
import cairn.format.CborToJson;
import cairn.format.JsonWriter;
import cairn.format.RecordLayout;
import cairn.format.VitalsLayout;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A report as JSON, from the box's CBOR straight to bytes. {@code docs/REPORT.md} has the schema.
 */
final class JsonReport {
  private static final int SCHEMA = 1;

  private final JsonWriter json;
  private final CborToJson cbor;
  private final Salvage salvage;

  private JsonReport(JsonWriter json, Salvage salvage) {
    this.json = json;
    this.cbor = new CborToJson(json);
    this.salvage = salvage;
  }

  static void write(OutputStream out, Report report, Salvage salvage) throws IOException {
    JsonWriter json = new JsonWriter(out);
    new JsonReport(json, salvage).write(report);
    json.flush();
  }

  private void write(Report report) throws IOException {
    json.beginObject();
    json.name("schema").number(SCHEMA);
    json.name("run");
    run(report.run());
    json.name("verdict");
    verdict(report);
    // An empty array says that there was none; of a truncated box that is not known.
    if (salvage.spansAreWhole || !salvage.spans.isEmpty()) {
      json.name("openSpans").beginArray();
      for (Salvage.Span span : salvage.spans) {
        span(span);
      }
      json.endArray();
    }
    if (salvage.pressureIsWhole || !salvage.pressure.isEmpty()) {
      json.name("pressure").beginArray();
      for (PressureSnapshot snapshot : salvage.pressure) {
        pressure(snapshot);
      }
      json.endArray();
    }
    if (salvage.trailIsWhole || !salvage.trail.isEmpty()) {
      json.name("trail").beginArray();
      for (Salvage.Crumb crumb : salvage.trail) {
        crumb(crumb);
      }
      json.endArray();
    }
    json.name("scope");
    scope();
    if (salvage.isOfBox) {
      vitals();
      counters();
    }
    json.name("findings").beginArray();
    for (Finding finding : salvage.findings) {
      json.beginObject();
      json.name("severity").string(lower(finding.severity()));
      json.name("where").string(finding.where());
      json.name("text").string(finding.text());
      json.endObject();
    }
    json.endArray();
    json.endObject();
  }

  private void vitals() throws IOException {
    json.name("vitals").beginArray();
    for (long[] sample : salvage.vitals) {
      sample(sample);
    }
    json.endArray();
  }

  private void counters() throws IOException {
    json.name("counters").beginObject();
    for (Map.Entry<String, Long> counter : salvage.counters.entrySet()) {
      json.name(counter.getKey()).number(counter.getValue());
    }
    json.endObject();
  }

  private void run(RunIdentity run) throws IOException {
    json.beginObject();
    text("id", run.id());
    text("app", run.app());
    text("release", run.release());
    text("environment", run.environment());
    if (run.pid() >= 0) {
      json.name("pid").number(run.pid());
    }
    text("host", run.host());
    time("startedAt", run.startedAt());
    time("lastSeenAt", run.lastSeenAt());
    text("durability", run.durability());
    json.name("more");
    map(salvage.moreIdentity());
    json.endObject();
  }

  private void verdict(Report report) throws IOException {
    Verdict verdict = report.verdict();
    json.beginObject();
    text("cause", verdict.cause().name());
    text("confidence", lower(verdict.confidence()));
    text("headline", verdict.headline());
    json.name("evidence").beginArray();
    for (Evidence evidence : verdict.evidence()) {
      json.beginObject();
      text("kind", lower(evidence.kind()));
      text("text", evidence.text());
      json.endObject();
    }
    json.endArray();
    if (report.exitStatus().isPresent()) {
      json.name("exitStatus").number(report.exitStatus().getAsInt());
    }
    json.name("advice").beginArray();
    for (Advice advice : report.advice()) {
      json.beginObject();
      text("kind", lower(advice.kind()));
      text("text", advice.text());
      json.endObject();
    }
    json.endArray();
    json.endObject();
  }

  private void span(Salvage.Span span) throws IOException {
    json.beginObject();
    text("name", span.name());
    text("spanId", Names.hex(span.id()));
    text("parentSpanId", span.parentSpanId());
    text("traceId", span.traceId());
    text("thread", span.thread());
    time("startedAt", salvage.startedAt(span));
    long age = salvage.ageMillis(span);
    if (age >= 0) {
      json.name("ageMillis").number(age);
    }
    text("kind", UnfinishedSpan.kind(span.kind()));
    text("status", UnfinishedSpan.status(span.status()));
    text("statusDescription", span.statusDescription());
    if (span.events() > 0) {
      json.name("events").number(span.events());
    }
    json.name("attributes");
    map(span.attributes());
    json.endObject();
  }

  private void pressure(PressureSnapshot snapshot) throws IOException {
    json.beginObject();
    time("at", snapshot.at());
    text("limit", lower(snapshot.limit()));
    json.name("percent").number(snapshot.percent());
    known("usedBytes", snapshot.usedBytes());
    known("limitBytes", snapshot.limitBytes());
    known("openSpans", snapshot.openSpans());
    json.name("spans").beginArray();
    for (PressureSnapshot.Span span : snapshot.spans()) {
      json.beginObject();
      text("name", span.name());
      text("spanId", span.spanId());
      text("thread", span.thread());
      known("ageMillis", span.ageMillis());
      known("allocatedBytes", span.allocatedBytes());
      known("allocatedMillis", span.allocatedMillis());
      json.endObject();
    }
    json.endArray();
    json.endObject();
  }

  private void known(String name, long value) throws IOException {
    if (value >= 0) {
      json.name(name).number(value);
    }
  }

  private void crumb(Salvage.Crumb crumb) throws IOException {
    json.beginObject();
    time("at", Names.instant(crumb.wallMillis()));
    text("level", Names.level(crumb.level()));
    value("category", crumb.category());
    value("message", crumb.message());
    json.name("data");
    if (crumb.data() == null) {
      json.beginObject().endObject();
    } else {
      cbor.write(crumb.data());
    }
    value("thread", crumb.thread());
    text("spanId", crumb.spanId());
    json.endObject();
  }

  private void scope() throws IOException {
    json.beginObject();
    mapOf("user", RecordLayout.KIND_USER);
    mapByKey("tags", RecordLayout.KIND_TAG);
    mapByKey("contexts", RecordLayout.KIND_CONTEXT);
    mapByKey("extras", RecordLayout.KIND_EXTRA);
    Level level = salvage.scopeLevel();
    text("level", level == null ? null : Names.level(level));
    CborSlice transaction = salvage.scope(RecordLayout.KIND_TRANSACTION);
    text("transaction", transaction == null ? null : transaction.text());
    if (salvage.isKnown(RecordLayout.KIND_FINGERPRINT)) {
      json.name("fingerprint").beginArray();
      for (String part : Report.fingerprint(salvage)) {
        json.string(part);
      }
      json.endArray();
    }
    mapOf("trace", RecordLayout.KIND_TRACE);
    json.endObject();
  }

  private void mapByKey(String name, int kind) throws IOException {
    if (salvage.isKnown(kind)) {
      json.name(name);
      map(salvage.scopeByKey(kind));
    }
  }

  private void mapOf(String name, int kind) throws IOException {
    if (!salvage.isKnown(kind)) {
      return;
    }
    CborSlice slice = salvage.scope(kind);
    json.name(name);
    if (slice != null && slice.isMap()) {
      cbor.write(slice);
    } else {
      json.beginObject().endObject();
    }
  }

  private void sample(long[] sample) throws IOException {
    json.beginObject();
    time("at", Names.instant(sample[VitalsLayout.WALL_MILLIS]));
    for (Map.Entry<String, Integer> name : Salvage.vitalNames().entrySet()) {
      long value = sample[name.getValue()];
      if (value != VitalsLayout.UNKNOWN) {
        json.name(name.getKey()).number(value);
      }
    }
    json.endObject();
  }

  private void map(Map<String, CborSlice> values) throws IOException {
    json.beginObject();
    for (Map.Entry<String, CborSlice> entry : values.entrySet()) {
      json.name(entry.getKey());
      cbor.write(entry.getValue());
    }
    json.endObject();
  }

  private void value(String name, @Nullable CborSlice value) throws IOException {
    if (value != null && value.text() != null) {
      json.name(name);
      cbor.write(value);
    }
  }

  private void text(String name, @Nullable String value) throws IOException {
    if (value != null) {
      json.name(name).string(value);
    }
  }

  private void time(String name, @Nullable Instant instant) throws IOException {
    if (instant != null) {
      json.name(name).string(Names.rfc3339(instant));
    }
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }
}
