package cairn.otel;

import cairn.report.Report;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.logs.data.LogRecordData;
import io.opentelemetry.sdk.logs.export.LogRecordExporter;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;

/**
 * A dead run as telemetry of OpenTelemetry's SDK, for any exporter: its open spans, its breadcrumbs
 * and its death. Immutable; any thread. docs/OTEL.md says what becomes of what.
 *
 * <p>Everything is under the Resource of the process that died, with its original times and ids. An
 * open span ends at the last sign of life, with an error. The death of a run that did not end in
 * order is one log record, the event {@code app.crash}; a run that ended in order has none.
 *
 * <p>Exported again, all ids are the same ({@code app.crash.id}, {@code log.record.uid}, trace and
 * span ids): deliver at least once, and let the backend tell.
 *
 * <pre>{@code
 * for (Run run : Runs.under(root)) {
 *   if (!run.isRunning()) {
 *     run.deliver(
 *         report -> {
 *           if (!ReportTelemetry.of(report)
 *               .export(spanExporter, logExporter)
 *               .join(10, TimeUnit.SECONDS)
 *               .isSuccess()) {
 *             throw new IOException("not exported: run=" + run.id());
 *           }
 *         });
 *   }
 * }
 * }</pre>
 */
public final class ReportTelemetry {
  /** At once to an exporter: what many backends take in a request. */
  private static final int BATCH = 512;

  private final Resource resource;
  private final List<SpanData> spans = new ArrayList<>();
  private final List<LogRecordData> logs = new ArrayList<>();

  ReportTelemetry(OtlpTelemetry telemetry) {
    resource = Resource.create(attributes(telemetry.resourceAttributes()));
    // The same objects for all: exporters group by their identity.
    InstrumentationScopeInfo scope = scope(telemetry);
    telemetry.spans().forEach(span -> spans.add(new DeadSpan(span, resource, scope)));
    telemetry
        .logs()
        .forEach(
            log -> logs.add(new DeadLogRecord(log, telemetry.observedNanos(), resource, scope)));
  }

  /**
   * {@return that report as telemetry}
   *
   * @throws IllegalArgumentException if the run is alive
   */
  public static ReportTelemetry of(Report report) {
    return new ReportTelemetry(
        new OtlpTelemetry(Objects.requireNonNull(report, "report"), Instant.now()));
  }

  private static InstrumentationScopeInfo scope(OtlpTelemetry telemetry) {
    String version = telemetry.version();
    return version == null
        ? InstrumentationScopeInfo.create(OtlpTelemetry.SCOPE_NAME)
        : InstrumentationScopeInfo.builder(OtlpTelemetry.SCOPE_NAME).setVersion(version).build();
  }

  /** {@return the Resource of the process that died, as far as it is known} */
  public Resource resource() {
    return resource;
  }

  /** {@return the open spans, oldest first} */
  public List<SpanData> spans() {
    return Collections.unmodifiableList(spans);
  }

  /** {@return the breadcrumbs, oldest first, and last the death, unless the run ended in order} */
  public List<LogRecordData> logs() {
    return Collections.unmodifiableList(logs);
  }

  /**
   * Gives everything to two exporters, the log records only after they took the spans. Does not
   * wait, flush or shut them down. Never throws: what an exporter throws is a failure.
   *
   * @return succeeds once both have taken everything; fails at the first failure, and what comes
   *     behind it is not tried
   */
  public CompletableResultCode export(SpanExporter spanExporter, LogRecordExporter logExporter) {
    Objects.requireNonNull(spanExporter, "spanExporter");
    Objects.requireNonNull(logExporter, "logExporter");
    CompletableResultCode result = new CompletableResultCode();
    // The death comes last: where it is, everything is.
    export(spans, 0, spanExporter::export, result, () -> exportLogs(logExporter, result));
    return result;
  }

  private void exportLogs(LogRecordExporter exporter, CompletableResultCode result) {
    export(logs, 0, exporter::export, result, result::succeed);
  }

  private static <T> void export(
      List<T> all,
      int from,
      Function<Collection<T>, CompletableResultCode> exporter,
      CompletableResultCode result,
      Runnable then) {
    int start = from;
    while (start < all.size()) {
      int end = Math.min(start + BATCH, all.size());
      CompletableResultCode taken;
      try {
        // A list of its own: an exporter may work on it after it returned.
        taken = exporter.apply(List.copyOf(all.subList(start, end)));
      } catch (RuntimeException | LinkageError e) {
        result.fail();
        return;
      }
      if (taken == null) {
        result.fail();
        return;
      }
      if (!taken.isDone()) {
        taken.whenComplete(
            () -> {
              if (taken.isSuccess()) {
                export(all, end, exporter, result, then);
              } else {
                result.fail();
              }
            });
        return;
      }
      if (!taken.isSuccess()) {
        result.fail();
        return;
      }
      start = end;
    }
    then.run();
  }

  @SuppressWarnings("unchecked") // a list of OtlpAttributes holds one kind
  static Attributes attributes(OtlpAttributes values) {
    AttributesBuilder builder = Attributes.builder();
    values
        .values()
        .forEach(
            (key, value) -> {
              if (value instanceof Boolean flag) {
                builder.put(AttributeKey.booleanKey(key), flag);
              } else if (value instanceof Long number) {
                builder.put(AttributeKey.longKey(key), number);
              } else if (value instanceof Double number) {
                builder.put(AttributeKey.doubleKey(key), number);
              } else if (value instanceof List<?> list) {
                Object first = list.isEmpty() ? "" : list.get(0);
                if (first instanceof Boolean) {
                  builder.put(AttributeKey.booleanArrayKey(key), (List<Boolean>) list);
                } else if (first instanceof Long) {
                  builder.put(AttributeKey.longArrayKey(key), (List<Long>) list);
                } else if (first instanceof Double) {
                  builder.put(AttributeKey.doubleArrayKey(key), (List<Double>) list);
                } else {
                  builder.put(AttributeKey.stringArrayKey(key), (List<String>) list);
                }
              } else {
                builder.put(AttributeKey.stringKey(key), String.valueOf(value));
              }
            });
    return builder.build();
  }
}
