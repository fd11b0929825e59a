package cairn.sentry;

import cairn.OpenSpans;
import io.sentry.ISpan;
import io.sentry.ITransaction;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The transactions that are open, and their spans, in the box. Any thread. */
final class OpenTransactions {
  final OpenSpans spans;
  private final Faults faults;
  private final ConcurrentHashMap<Long, TransactionWatch> open = new ConcurrentHashMap<>();

  OpenTransactions(OpenSpans spans, Faults faults) {
    this.spans = spans;
    this.faults = faults;
  }

  void add(TransactionWatch watch) {
    open.put(watch.id(), watch);
  }

  void remove(TransactionWatch watch) {
    open.remove(watch.id(), watch);
  }

  /**
   * {@return the watch of a transaction that is open} One that was begun before there was a watch,
   * or by another factory, is begun in the box now.
   */
  @Nullable TransactionWatch of(ITransaction transaction) {
    if (transaction.isNoOp() || transaction.isFinished()) {
      return null;
    }
    long id = SpanIds.of(transaction.getSpanContext().getSpanId());
    TransactionWatch known = open.get(id);
    if (known != null || id == 0) {
      return known;
    }
    TransactionWatch late = new TransactionWatch(this, null);
    late.begin(transaction);
    return late;
  }

  void ended(ITransaction transaction) {
    TransactionWatch watch = open.get(SpanIds.of(transaction.getSpanContext().getSpanId()));
    if (watch != null) {
      watch.end(transaction);
    }
  }

  void note(String call, Throwable fault) {
    faults.note(call, fault);
  }

  /** Catches up names, spans that nobody announced, and ends. */
  void catchUp() {
    open.values().forEach(TransactionWatch::catchUp);
  }

  /** Begins a span of Sentry's. */
  long begin(ISpan span, @Nullable String name) {
    var context = span.getSpanContext();
    String operation = span.getOperation();
    long handle =
        spans.begin(
            name,
            SpanIds.high(context.getTraceId()),
            SpanIds.low(context.getTraceId()),
            SpanIds.of(context.getSpanId()),
            SpanIds.of(context.getParentSpanId()),
            0,
            Boolean.TRUE.equals(span.isSampled()) ? 1 : 0,
            span.getStartDate().nanoTimestamp(),
            0,
            operation == null ? null : new Operation(operation));
    return handle;
  }

  /** The one attribute that each has from the start. */
  private record Operation(String operation) implements OpenSpans.Attributes {
    @Override
    public int count() {
      return 1;
    }

    @Override
    public String name(int index) {
      return ReportEvent.PREFIX + "op";
    }

    @Override
    public int kind(int index) {
      return TEXT;
    }

    @Override
    public String text(int index) {
      return operation;
    }

    @Override
    public long bits(int index) {
      return 0;
    }
  }
}
