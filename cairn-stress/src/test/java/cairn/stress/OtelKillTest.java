package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.otel.CairnOpenTelemetry;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import cairn.stress.OtelPlan.Mark;
import cairn.stress.OtelPlan.Pipeline;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;

/** SIGKILL in the middle of thousands of spans, made through the OpenTelemetry API. */
@Tag("slow")
class OtelKillTest {
  private static final int KILLS = Integer.getInteger("cairn.stress.otelKills", 0);
  private static final int MAX_KILLS = 30;
  private static final long BUDGET_NANOS = 20_000_000_000L;
  private static final int THREADS = 8;
  private static final int MIN_MILLIS = 20;
  private static final int MAX_MILLIS = 500;

  @TempDir(cleanup = CleanupMode.ON_SUCCESS)
  Path directory;

  @Test
  @Timeout(3600)
  void everyBegunSpanIsInTheReportAsItWasAndNoEndedOneIs() throws Exception {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    long deadline = System.nanoTime() + BUDGET_NANOS;
    long begun = 0;
    long open = 0;
    int kills = 0;
    while (KILLS > 0
        ? kills < KILLS
        : kills < Pipeline.values().length || kills < MAX_KILLS && System.nanoTime() < deadline) {
      OtelPlan plan =
          new OtelPlan(
              random.nextLong(), THREADS, Pipeline.values()[kills % Pipeline.values().length]);
      Path home = Files.createDirectory(directory.resolve("kill-" + kills));
      Oracle oracle = Oracle.create(home.resolve("oracle"), THREADS);
      killAfter(plan, home, oracle, random.nextInt(MIN_MILLIS, MAX_MILLIS));

      List<Run> runs = Runs.under(home.resolve("root")).list();
      assertThat(runs).hasSize(1);
      Report report = runs.get(0).report();

      assertThat(report.verdict().cause().isClean()).isFalse();
      assertThat(report.counters())
          .containsEntry("spansOverflowed", 0L)
          .containsEntry("attributesOverflowed", 0L);
      assertThat(OtelCheck.of(plan, oracle, report.openSpans()))
          .as("seed=" + seed + ", plan=" + plan + ", evidence=" + home)
          .isEmpty();
      assertThat(report.openSpans()).hasSizeGreaterThan(THREADS);
      begun += begun(plan, oracle);
      open += report.openSpans().size();
      kills++;
      VictimProcess.delete(home);
    }
    System.out.println(
        "otel kills=" + kills + " begun=" + begun + " open=" + open + " seed=" + seed);
    assertThat(begun).isGreaterThan(200L * kills);
  }

  private static void killAfter(OtelPlan plan, Path home, Oracle oracle, long millis)
      throws IOException, InterruptedException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath(),
            OtelVictim.class.getName(),
            plan.toString(),
            home.resolve("root").toString(),
            home.resolve("oracle").toString());
    try (Child child = Child.start(command, home.resolve("log"))) {
      assertThat(child.readLine()).isEqualTo("ready");
      for (int t = 0; t < plan.threads(); t++) {
        while (oracle.returned(t, Oracle.Stream.SPANS) == 0) {
          child.liveOn(1);
        }
      }
      child.liveOn(millis);
    }
  }

  static String classPath() {
    return Stream.of(
            Recorder.class,
            CairnOpenTelemetry.class,
            OtelVictim.class,
            Span.class,
            Context.class,
            ComponentLoader.class,
            Clock.class,
            SpanProcessor.class)
        .map(OtelKillTest::location)
        .distinct()
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String location(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  private static long begun(OtelPlan plan, Oracle oracle) {
    long begun = 0;
    for (int t = 0; t < plan.threads(); t++) {
      OtelPlan.Walk walk = plan.new Walk(t);
      for (long step = 0; step < oracle.returned(t, Oracle.Stream.SPANS); step++) {
        begun += walk.next() == OtelPlan.Kind.BEGIN ? 1 : 0;
      }
    }
    return begun;
  }

  // ---- the check itself --------------------------------------------------------------------

  private static final long RETURNED = 500;

  @Test
  void theCheckIsContentWithExactlyWhatIsOpen() throws Exception {
    assertThat(checked(spans -> {})).isEmpty();
  }

  @Test
  void theCheckSeesASpanThatIsLost() throws Exception {
    assertThat(checked(spans -> spans.remove(3))).singleElement().asString().startsWith("lost");
  }

  @Test
  void theCheckSeesASpanThatHasEndedAndOneThatNobodyBegan() throws Exception {
    assertThat(checked(spans -> spans.add(renamed(spans.get(0), "w0-100000", "00000000000000ff"))))
        .singleElement()
        .asString()
        .startsWith("ended or never begun");
    assertThat(checked(spans -> spans.add(renamed(spans.get(0), "stray", "00000000000000ff"))))
        .singleElement()
        .asString()
        .startsWith("no thread began it");
  }

  @Test
  void theCheckSeesWhatIsNotAsItWas() throws Exception {
    assertThat(
            checked(
                spans -> spans.set(0, renamed(spans.get(0), spans.get(0).name() + "-r1", "01"))))
        .anyMatch(violation -> violation.startsWith("is not as it was"));
    assertThat(
            checked(
                spans -> {
                  UnfinishedSpan span = spans.get(0);
                  Map<String, @Nullable Object> foreign = new LinkedHashMap<>(span.attributes());
                  foreign.put("foreign", 1L);
                  spans.set(0, with(span, foreign, span.parentSpanId()));
                }))
        .singleElement()
        .asString()
        .startsWith("is not as it was");
    assertThat(
            checked(
                spans -> {
                  UnfinishedSpan span =
                      spans.stream().filter(each -> each.parentSpanId() == null).findFirst().get();
                  spans.set(
                      spans.indexOf(span), with(span, span.attributes(), spans.get(1).spanId()));
                }))
        .singleElement()
        .asString()
        .startsWith("is not as it was");
  }

  private interface Damage {
    void damage(List<UnfinishedSpan> spans);
  }

  private List<String> checked(Damage damage) throws IOException {
    OtelPlan plan = new OtelPlan(7, 2, Pipeline.ALONE);
    Oracle oracle = Oracle.create(directory.resolve("oracle-" + System.nanoTime()), 2);
    List<UnfinishedSpan> spans = new ArrayList<>();
    Map<String, String> idByName = new HashMap<>();
    for (int t = 0; t < 2; t++) {
      oracle.start(t, Oracle.Stream.SPANS, RETURNED - 1);
      oracle.returned(t, Oracle.Stream.SPANS, RETURNED - 1);
      for (Mark mark : plan.new Walk(t).after(RETURNED).values()) {
        String id = String.format("%016x", spans.size() + 1);
        idByName.put(OtelPlan.name(t, mark.begunAt), id);
        String parent =
            mark.isRoot()
                ? null
                : idByName.getOrDefault(OtelPlan.name(t, mark.parentBegunAt), "00000000000000aa");
        spans.add(
            new UnfinishedSpan(
                mark.name,
                id,
                parent,
                "4bf92f3577b34da6a3ce929d0e0e4736",
                OtelPlan.threadName(t),
                null,
                -1,
                new LinkedHashMap<>(mark.attributes),
                mark.kind,
                3,
                mark.status,
                mark.description,
                mark.events));
      }
    }
    damage.damage(spans);
    return OtelCheck.of(plan, oracle, spans);
  }

  private static UnfinishedSpan renamed(UnfinishedSpan span, String name, String id) {
    return new UnfinishedSpan(
        name,
        id,
        span.parentSpanId(),
        span.traceId(),
        span.thread(),
        span.startedAt(),
        span.ageMillis(),
        span.attributes(),
        span.kind(),
        span.traceFlags(),
        span.status(),
        span.statusDescription(),
        span.events());
  }

  private static UnfinishedSpan with(
      UnfinishedSpan span, Map<String, @Nullable Object> attributes, @Nullable String parent) {
    return new UnfinishedSpan(
        span.name(),
        span.spanId(),
        parent,
        span.traceId(),
        span.thread(),
        span.startedAt(),
        span.ageMillis(),
        attributes,
        span.kind(),
        span.traceFlags(),
        span.status(),
        span.statusDescription(),
        span.events());
  }
}
