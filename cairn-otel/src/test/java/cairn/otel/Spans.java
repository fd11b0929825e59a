package cairn.otel;

import cairn.Recorder;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What tests of spans need. */
final class Spans {
  private Spans() {}

  /** A recorder that could not be opened: only processors see spans. */
  static Recorder disabled() {
    return Recorder.builder("spans").directory(Path.of("/proc/none")).open();
  }

  /** {@return the open spans in the boxes under that directory, of living processes too} */
  static List<UnfinishedSpan> inBox(Path root) throws IOException {
    List<UnfinishedSpan> spans = new ArrayList<>();
    for (Run run : Runs.under(root)) {
      spans.addAll(run.report().openSpans());
    }
    return spans;
  }

  /** Keeps what it is shown. */
  static class Collecting implements SpanProcessor {
    final List<ReadWriteSpan> started = Collections.synchronizedList(new ArrayList<>());
    final List<Context> parents = Collections.synchronizedList(new ArrayList<>());
    final List<ReadableSpan> ended = Collections.synchronizedList(new ArrayList<>());
    int flushes;
    int shutdowns;

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
      parents.add(parent);
      started.add(span);
    }

    @Override
    public boolean isStartRequired() {
      return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {
      ended.add(span);
    }

    @Override
    public boolean isEndRequired() {
      return true;
    }

    @Override
    public CompletableResultCode forceFlush() {
      flushes++;
      return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
      shutdowns++;
      return CompletableResultCode.ofSuccess();
    }

    /** {@return the ended spans, as an exporter reads them} */
    List<SpanData> data() {
      return ended.stream().map(ReadableSpan::toSpanData).toList();
    }

    SpanData only() {
      List<SpanData> all = data();
      if (all.size() != 1) {
        throw new AssertionError("not one span: " + all);
      }
      return all.get(0);
    }
  }
}
