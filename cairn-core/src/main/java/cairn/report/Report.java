package cairn.report;

import cairn.Level;
import cairn.format.CborSlice;
import cairn.format.RecordLayout;
import cairn.format.VitalsLayout;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What one run left behind, and how it ended. Immutable; any thread.
 *
 * <p>Holds the bytes of the box. The lists are decoded at each call and unmodifiable; a byte array
 * among the values is the caller's own.
 */
public final class Report {
  private final RunIdentity run;
  private final Verdict verdict;
  private final List<Advice> advice;
  private final OptionalInt exitStatus;
  private final Salvage salvage;

  Report(
      String id,
      String app,
      Salvage salvage,
      Verdict verdict,
      List<Advice> advice,
      OptionalInt exitStatus) {
    this.salvage = salvage;
    this.verdict = verdict;
    this.advice = List.copyOf(advice);
    this.exitStatus = exitStatus;
    this.run = identity(id, app, salvage);
  }

  /**
   * {@return a builder of the report on a run that another recorder than Cairn's kept} For adapters
   * that read what those left behind. What is not given is unknown: it is not in the JSON.
   *
   * @param id of the run, or of what is known of it
   * @param app application name
   */
  public static Builder builder(String id, String app) {
    return new Builder(Objects.requireNonNull(id, "id"), Objects.requireNonNull(app, "app"));
  }

  static RunIdentity identity(String id, String app, Salvage salvage) {
    String recordedId = Salvage.text(salvage.identity, "runId");
    String recordedApp = Salvage.text(salvage.identity, "app");
    return new RunIdentity(
        recordedId == null ? id : recordedId,
        recordedApp == null ? app : recordedApp,
        Salvage.text(salvage.identity, "release"),
        Salvage.text(salvage.identity, "environment"),
        Salvage.integer(salvage.identity, "pid").orElse(-1),
        Salvage.text(salvage.identity, "host"),
        Judge.startedAt(salvage),
        salvage.lastSeen,
        salvage.durability(),
        Salvage.decode(salvage.moreIdentity()));
  }

  /** {@return who recorded the run} */
  public RunIdentity run() {
    return run;
  }

  /** {@return what ended it} */
  public Verdict verdict() {
    return verdict;
  }

  /** {@return what to look at next, then how to know more about the next death} */
  public List<Advice> advice() {
    return advice;
  }

  /** {@return the exit status, if a witness or the JVM itself told it} */
  public OptionalInt exitStatus() {
    return exitStatus;
  }

  /**
   * {@return whether the run lives or ended in order, with no exit status but 0 that is known}
   * Stopped by a signal is in order.
   */
  public boolean endedWell() {
    boolean failed = verdict.cause() == Cause.EXIT && exitStatus.orElse(0) != 0;
    return verdict.cause() == Cause.RUNNING || (verdict.cause().isClean() && !failed);
  }

  /**
   * {@return the last exception that no handler caught, of any thread; null if there was none} Once
   * there is one of the thread that {@code main} runs on, that stays.
   */
  public @Nullable UncaughtException uncaught() {
    Map<String, CborSlice> uncaught = salvage.uncaught;
    if (uncaught.isEmpty()) {
      return null;
    }
    List<String> stack = new ArrayList<>();
    CborSlice frames = uncaught.get("stack");
    if (frames != null && frames.value() instanceof List<?> list) {
      list.forEach(frame -> stack.add(String.valueOf(frame)));
    }
    Salvage.Clocks when = Salvage.clocks(uncaught);
    return new UncaughtException(
        Salvage.text(uncaught, "type"),
        Salvage.text(uncaught, "message"),
        Salvage.text(uncaught, "thread"),
        stack,
        when == null ? null : Names.instant(when.wallMillis()));
  }

  /** {@return spans that had begun and not ended, oldest first} */
  public List<UnfinishedSpan> openSpans() {
    List<UnfinishedSpan> spans = new ArrayList<>(salvage.spans.size());
    for (Salvage.Span span : salvage.spans) {
      spans.add(
          new UnfinishedSpan(
              span.name(),
              Names.hex(span.id()),
              span.parentSpanId(),
              span.traceId(),
              span.thread(),
              salvage.startedAt(span),
              salvage.ageMillis(span),
              Salvage.decode(span.attributes()),
              UnfinishedSpan.kind(span.kind()),
              span.traceFlags() > 255 ? -1 : span.traceFlags(),
              UnfinishedSpan.status(span.status()),
              span.statusDescription(),
              span.events()));
    }
    return Collections.unmodifiableList(spans);
  }

  /** {@return snapshots of when memory had become tight, the latest last} */
  public List<PressureSnapshot> pressure() {
    return salvage.pressure;
  }

  /** {@return breadcrumbs, oldest first} */
  public List<Breadcrumb> trail() {
    List<Breadcrumb> trail = new ArrayList<>(salvage.trail.size());
    for (Salvage.Crumb crumb : salvage.trail) {
      trail.add(
          new Breadcrumb(
              crumb.position(),
              instant(crumb.wallMillis()),
              crumb.level(),
              text(crumb.category()),
              text(crumb.message()),
              map(crumb.data()),
              text(crumb.thread()),
              crumb.spanId()));
    }
    return Collections.unmodifiableList(trail);
  }

  /** {@return the scope as last set} */
  public ScopeSnapshot scope() {
    return new ScopeSnapshot(
        map(salvage.scope(RecordLayout.KIND_USER)),
        Salvage.decode(salvage.scopeByKey(RecordLayout.KIND_TAG)),
        Salvage.decode(salvage.scopeByKey(RecordLayout.KIND_CONTEXT)),
        Salvage.decode(salvage.scopeByKey(RecordLayout.KIND_EXTRA)),
        salvage.scopeLevel(),
        text(salvage.scope(RecordLayout.KIND_TRANSACTION)),
        fingerprint(salvage),
        map(salvage.scope(RecordLayout.KIND_TRACE)));
  }

  /** {@return whether more spans may have been open than are there} */
  boolean spansMayBeMissing() {
    return salvage.spansMayBeMissing;
  }

  /** {@return whether it is made from a box, whose sections are all known but for damage} */
  boolean isOfBox() {
    return salvage.isOfBox;
  }

  /** {@return whether anything is known of the scope} */
  boolean scopeIsKnown() {
    return salvage.isOfBox || !salvage.knownScope.isEmpty();
  }

  /** {@return whether no breadcrumb means that there was none} */
  boolean trailIsWhole() {
    return salvage.trailIsWhole;
  }

  /** {@return whether no open span means that there was none} */
  boolean spansAreWhole() {
    return salvage.spansAreWhole;
  }

  static List<String> fingerprint(Salvage salvage) {
    CborSlice slice = salvage.scope(RecordLayout.KIND_FINGERPRINT);
    List<String> parts = new ArrayList<>();
    if (slice != null && slice.value() instanceof List<?> list) {
      list.forEach(part -> parts.add(String.valueOf(part)));
    }
    return Collections.unmodifiableList(parts);
  }

  /**
   * {@return one sample a second for the last ten minutes, before them one a minute; oldest first}
   */
  public List<VitalsSample> vitals() {
    List<VitalsSample> samples = new ArrayList<>(salvage.vitals.size());
    for (long[] sample : salvage.vitals) {
      Map<String, Long> values = new LinkedHashMap<>();
      Salvage.vitalNames()
          .forEach(
              (name, index) -> {
                if (sample[index] != VitalsLayout.UNKNOWN) {
                  values.put(name, sample[index]);
                }
              });
      samples.add(
          new VitalsSample(
              instant(sample[VitalsLayout.WALL_MILLIS]), Collections.unmodifiableMap(values)));
    }
    return Collections.unmodifiableList(samples);
  }

  /** {@return what was evicted, dropped or cut, by name; a name is absent if unknown} */
  public Map<String, Long> counters() {
    return salvage.counters;
  }

  /** {@return damage, gaps and limits} */
  public List<Finding> findings() {
    return Collections.unmodifiableList(salvage.findings);
  }

  /** {@return the report as JSON, as {@code docs/REPORT.md} documents it} */
  public String toJson() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      writeJson(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // cannot be: the stream is memory
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  /**
   * Writes {@link #toJson} as UTF-8. Does not close or flush {@code out}.
   *
   * @throws IOException from {@code out}
   */
  public void writeJson(OutputStream out) throws IOException {
    JsonReport.write(out, this, salvage);
  }

  /** {@return everything as text, at most 100 columns where the content allows, without colour} */
  public String toText() {
    return toText(ReportPart.values());
  }

  /**
   * {@return these parts as text} Control characters and invisible ones are shown as {@code
   * \}{@code u{..}}, long values are cut and end with their length.
   *
   * @param parts shown in the order of {@link ReportPart}
   */
  public String toText(ReportPart... parts) {
    return new TextReport(this).render(parts);
  }

  private static Instant instant(long wallMillis) {
    Instant instant = Names.instant(wallMillis);
    return instant == null ? Instant.EPOCH : instant;
  }

  private static @Nullable String text(@Nullable CborSlice slice) {
    return slice == null ? null : slice.text();
  }

  private static Map<String, @Nullable Object> map(@Nullable CborSlice slice) {
    return slice == null ? Map.of() : Salvage.decode(slice.entries());
  }

  /**
   * Puts together a report on a run that has no box. Not safe for use by several threads.
   *
   * <p>Values are those that {@link Breadcrumb#data} names; they are copied at the call. What is
   * too deep or too long is cut, visibly, and a finding says so.
   */
  public static final class Builder {
    private static final int MAX_SENTENCE = 500;

    final Map<String, CborSlice> identity = new LinkedHashMap<>();
    final Map<String, CborSlice> uncaught = new LinkedHashMap<>();
    final Map<Salvage.Field, CborSlice> scope = new LinkedHashMap<>();
    final Set<Integer> knownScope = new HashSet<>();
    final List<Finding> findings = new ArrayList<>();
    final PlainValues values = new PlainValues();
    @Nullable List<Salvage.Crumb> trail;
    @Nullable Instant lastSeen;

    private final String id;
    private final String app;
    private final List<Advice> advice = new ArrayList<>();
    private Verdict verdict =
        new Verdict(Cause.UNKNOWN, Confidence.UNKNOWN, "Nothing says how the run ended", List.of());

    Builder(String id, String app) {
      this.id = id;
      this.app = app;
    }

    /** Sets the release; by default unknown. */
    public Builder release(String release) {
      return identity("release", release);
    }

    /** Sets the environment; by default unknown. */
    public Builder environment(String environment) {
      return identity("environment", environment);
    }

    /** Sets the name of the host; by default unknown. */
    public Builder host(String host) {
      return identity("host", host);
    }

    /** Sets when the run began; by default unknown. */
    public Builder startedAt(Instant time) {
      return identity("wallMillis", millis(time));
    }

    /** Sets the last sign of life; by default unknown. */
    public Builder lastSeenAt(Instant time) {
      lastSeen = Objects.requireNonNull(time, "time");
      return this;
    }

    /** Adds something else that is known of the run, as {@link RunIdentity#more} has it. */
    public Builder more(String name, @Nullable Object value) {
      return identity(Objects.requireNonNull(name, "name"), value);
    }

    private Builder identity(String name, @Nullable Object value) {
      identity.put(name, values.of(value));
      return this;
    }

    /** Sets what ended the run; by default {@link Cause#UNKNOWN}. Made safe to print. */
    public Builder verdict(Verdict verdict) {
      List<Evidence> evidence = new ArrayList<>();
      for (Evidence each : verdict.evidence()) {
        evidence.add(new Evidence(each.kind(), SafeText.cut(each.text(), MAX_SENTENCE)));
      }
      String headline = SafeText.cut(verdict.headline(), MAX_SENTENCE);
      this.verdict = new Verdict(verdict.cause(), verdict.confidence(), headline, evidence);
      return this;
    }

    /** Adds advice. */
    public Builder advice(Advice advice) {
      this.advice.add(Objects.requireNonNull(advice, "advice"));
      return this;
    }

    /** Sets the last exception that no handler caught; by default none is known. */
    public Builder uncaught(UncaughtException exception) {
      uncaught.clear();
      uncaught.put("type", values.of(exception.type()));
      uncaught.put("message", values.of(exception.message()));
      uncaught.put("thread", values.of(exception.thread()));
      uncaught.put("stack", values.of(exception.stack()));
      if (exception.at() != null) {
        uncaught.put("wallMillis", values.of(millis(exception.at())));
        uncaught.put("nanos", values.of(0L));
      }
      return this;
    }

    /**
     * Sets the breadcrumbs, oldest first; by default unknown, which is not the same as none.
     *
     * @param trail one at {@link Instant#EPOCH} has no known time
     */
    public Builder trail(List<Breadcrumb> trail) {
      List<Salvage.Crumb> crumbs = new ArrayList<>(trail.size());
      for (Breadcrumb crumb : trail) {
        crumbs.add(
            new Salvage.Crumb(
                crumb.position(),
                crumb.at().equals(Instant.EPOCH) ? -1 : millis(crumb.at()),
                crumb.level(),
                crumb.category() == null ? null : values.of(crumb.category()),
                crumb.message() == null ? null : values.of(crumb.message()),
                values.of(crumb.data()),
                crumb.thread() == null ? null : values.of(crumb.thread()),
                crumb.spanId()));
      }
      this.trail = crumbs;
      return this;
    }

    /** Sets the fields of the user, none if empty; by default unknown. */
    public Builder user(Map<String, ?> user) {
      return field(RecordLayout.KIND_USER, user.isEmpty() ? null : user);
    }

    /** Sets the tags; by default unknown. */
    public Builder tags(Map<String, ?> tags) {
      return fields(RecordLayout.KIND_TAG, tags);
    }

    /** Sets the contexts; by default unknown. */
    public Builder contexts(Map<String, ?> contexts) {
      return fields(RecordLayout.KIND_CONTEXT, contexts);
    }

    /** Sets the extras; by default unknown. */
    public Builder extras(Map<String, ?> extras) {
      return fields(RecordLayout.KIND_EXTRA, extras);
    }

    /** Sets the level; by default unknown. */
    public Builder level(Level level) {
      return field(RecordLayout.KIND_LEVEL, level.name());
    }

    /** Sets the transaction; by default unknown. */
    public Builder transaction(String transaction) {
      return field(RecordLayout.KIND_TRANSACTION, transaction);
    }

    /** Sets the fingerprint, none if empty; by default unknown. */
    public Builder fingerprint(List<String> fingerprint) {
      return field(RecordLayout.KIND_FINGERPRINT, fingerprint.isEmpty() ? null : fingerprint);
    }

    /** Sets trace id and span id, none if empty; by default unknown. */
    public Builder trace(Map<String, ?> trace) {
      return field(RecordLayout.KIND_TRACE, trace.isEmpty() ? null : trace);
    }

    private Builder field(int kind, @Nullable Object value) {
      knownScope.add(kind);
      scope.keySet().removeIf(field -> field.kind() == kind);
      if (value != null) {
        scope.put(new Salvage.Field(kind, ""), values.of(value));
      }
      return this;
    }

    private Builder fields(int kind, Map<String, ?> entries) {
      field(kind, null);
      entries.forEach((key, value) -> scope.put(new Salvage.Field(kind, key), values.of(value)));
      return this;
    }

    /** Adds damage, a gap, or what else a reader should know of the evidence. */
    public Builder finding(Finding finding) {
      findings.add(Objects.requireNonNull(finding, "finding"));
      return this;
    }

    /** {@return the report} */
    public Report build() {
      return new Report(id, app, new Salvage(this), verdict, advice, OptionalInt.empty());
    }

    private static long millis(Instant time) {
      return Names.millis(Objects.requireNonNull(time, "time"));
    }
  }
}
