package cairn.report;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Level;
import cairn.format.CounterLayout;
import cairn.format.RecordLayout;
import cairn.format.SpanLayout;
import cairn.format.VitalsLayout;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  private static final long GIB = 1L << 30;

  private final FakeHost host = new FakeHost();

  @TempDir Path root;

  private Report report(BoxBuilder box) throws IOException {
    return box.writeTo(root).report(host);
  }

  private static Instant at(long millis) {
    return Instant.ofEpochMilli(BoxBuilder.START_WALL + millis);
  }

  @Test
  void everythingInAHandMadeBoxComesBack() throws IOException {
    Map<Object, Object> child = BoxBuilder.begin("SELECT orders", 3, 59_000, "http-1");
    child.put(SpanLayout.BEGIN_PARENT_SPAN_ID, 2L);
    child.put(SpanLayout.BEGIN_TRACE_ID, new byte[16]);
    Report report =
        report(
            BoxBuilder.box()
                .beat(60_000)
                .second(60_000, VitalsLayout.HEAP_USED, 5, VitalsLayout.THREADS, 7)
                .counter(CounterLayout.CUT, 3)
                .scope(RecordLayout.KIND_USER, null, Map.of("id", "42"))
                .scope(RecordLayout.KIND_TAG, "region", "us")
                .scope(RecordLayout.KIND_TAG, "region", "eu")
                .scope(RecordLayout.KIND_CONTEXT, "cart", Map.of("items", 3L))
                .scope(RecordLayout.KIND_EXTRA, "note", "x")
                .scope(RecordLayout.KIND_LEVEL, null, "WARNING")
                .scope(RecordLayout.KIND_TRANSACTION, null, "POST /orders")
                .scope(RecordLayout.KIND_FINGERPRINT, null, List.of("a", "b"))
                .scope(RecordLayout.KIND_TRACE, null, Map.of("traceId", "t"))
                .span(5, child, "rows", 3L, "rows", 4L)
                .span(1, BoxBuilder.begin("POST /export", 2, 19_000, "http-1"), "tenant", "acme")
                .crumb(59_500, 1, "db", "SELECT orders", "rows", 3L)
                .crumb(59_900, 3, "web", "slow"));

    assertThat(report.findings()).isEmpty();
    assertThat(report.run().id()).isEqualTo(BoxBuilder.RUN_ID);
    assertThat(report.run().pid()).isEqualTo(4711);
    assertThat(report.run().startedAt()).isEqualTo(at(0));
    assertThat(report.run().lastSeenAt()).isEqualTo(at(60_000));
    assertThat(report.run().more()).containsEntry("cairn", "0.1.0");
    assertThat(report.openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactly("POST /export", "SELECT orders");
    UnfinishedSpan oldest = report.openSpans().get(0);
    assertThat(oldest.ageMillis()).isEqualTo(41_000);
    assertThat(oldest.startedAt()).isEqualTo(at(19_000));
    assertThat(oldest.attributes()).containsOnly(Map.entry("tenant", "acme"));
    UnfinishedSpan newest = report.openSpans().get(1);
    assertThat(newest.spanId()).isEqualTo("0000000000000003");
    assertThat(newest.parentSpanId()).isEqualTo("0000000000000002");
    assertThat(newest.traceId()).isEqualTo("0".repeat(32));
    assertThat(newest.attributes()).containsOnly(Map.entry("rows", 4L));
    assertThat(report.trail())
        .extracting(Breadcrumb::message)
        .containsExactly("SELECT orders", "slow");
    assertThat(report.trail().get(1).level()).isEqualTo(Level.ERROR);
    assertThat(report.trail().get(0).data()).containsOnly(Map.entry("rows", 3L));
    assertThat(report.trail().get(0).at()).isEqualTo(at(59_500));
    assertThat(report.scope())
        .isEqualTo(
            new ScopeSnapshot(
                Map.of("id", "42"),
                Map.of("region", "eu"),
                Map.of("cart", Map.of("items", 3L)),
                Map.of("note", "x"),
                Level.WARNING,
                "POST /orders",
                List.of("a", "b"),
                Map.of("traceId", "t")));
    assertThat(report.vitals()).hasSize(1);
    assertThat(report.vitals().get(0).value("heapUsed")).hasValue(5);
    assertThat(report.vitals().get(0).value("rss")).isEmpty();
    assertThat(report.counters()).containsEntry("cut", 3L).containsEntry("dropped", 0L);
    assertThat(report.verdict().headline())
        .isEqualTo(
            "Killed (SIGKILL or Runtime.halt, likely) at 14:01:00.000 UTC ±1 s;"
                + " 2 operations in flight, oldest 41 s: POST /export {tenant=acme}");
  }
}
