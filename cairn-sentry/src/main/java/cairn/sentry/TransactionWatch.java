package cairn.sentry;

import cairn.OpenSpans;
import io.sentry.CompositePerformanceCollector;
import io.sentry.ISpan;
import io.sentry.ITransaction;
import io.sentry.PerformanceCollectionData;
import io.sentry.Span;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One open transaction in the box. Stands where Sentry tells a collector of performance data of the
 * transaction's spans, and passes all of it on.
 */
final class TransactionWatch implements CompositePerformanceCollector {
  /*
   * Sentry tells a collector when a span starts and ends, if its transaction is sampled; of the
   * transaction's own end it tells a callback of the transaction's options, sampled or not. Spans that
   * were open then end with no word. The rest is caught up once a second: spans of what is not sampled,
   * names that were given late, and ends of transactions that another factory has made.
   */

  private static final int MAX_UNNAMED = 1_000;

  private final OpenTransactions transactions;
  private final @Nullable CompositePerformanceCollector collector;
  private final AtomicInteger openChildren = new AtomicInteger();

  /** Spans that had no description when they began. */
  private final Set<Long> unnamed = ConcurrentHashMap.newKeySet();

  private volatile WeakReference<ITransaction> transaction = new WeakReference<>(null);
  private volatile long id;
  private volatile long handle;
  private volatile String name = "";

  TransactionWatch(
      OpenTransactions transactions, @Nullable CompositePerformanceCollector collector) {
    this.transactions = transactions;
    this.collector = collector;
  }

  long id() {
    return id;
  }

  long handle() {
    return handle;
  }

  void begin(ITransaction begun) {
    transaction = new WeakReference<>(begun);
    id = SpanIds.of(begun.getSpanContext().getSpanId());
    name = begun.getName();
    handle = transactions.begin(begun, name);
    transactions.add(this);
  }

  /**
   * Puts it into another slot, without attributes but its operation; the old one is to be ended by
   * the caller.
   *
   * @return the old handle
   */
  long beginAgain() {
    long old = handle;
    ITransaction begun = transaction.get();
    if (begun != null) {
      handle = transactions.begin(begun, name);
    }
    return old;
  }

  void end(ITransaction ended) {
    transactions.remove(this);
    transactions.spans.end(handle, id);
    if (openChildren.get() > 0) {
      for (Span child : ended.getSpans()) {
        long childId = SpanIds.of(child.getSpanContext().getSpanId());
        transactions.spans.end(transactions.spans.find(childId), childId);
      }
    }
  }

  void catchUp() {
    ITransaction watched = transaction.get();
    if (watched == null) {
      transactions.remove(this); // never finished, and nobody has it any more
      transactions.spans.end(handle, id);
      return;
    }
    if (watched.isFinished()) {
      end(watched);
      return;
    }
    rename(watched);
    for (Span child : watched.getSpans()) {
      long childId = SpanIds.of(child.getSpanContext().getSpanId());
      long found = transactions.spans.find(childId);
      if (child.isFinished()) {
        if (found != OpenSpans.NONE) {
          transactions.spans.end(found, childId);
        }
      } else if (found == OpenSpans.NONE) {
        openChildren.incrementAndGet();
        beginChild(child);
        if (child.isFinished()) {
          transactions.spans.end(transactions.spans.find(childId), childId);
        }
      } else if (child.getDescription() != null && unnamed.remove(childId)) {
        transactions.spans.rename(found, child.getDescription());
      }
    }
  }

  /** Takes over the name that the transaction has by now. */
  void rename() {
    ITransaction watched = transaction.get();
    if (watched != null) {
      rename(watched);
    }
  }

  private void rename(ITransaction watched) {
    String now = watched.getName();
    if (!name.equals(now)) {
      name = now;
      transactions.spans.rename(handle, now);
    }
  }

  private void beginChild(ISpan child) {
    String description = child.getDescription();
    if (description == null && unnamed.size() < MAX_UNNAMED) {
      unnamed.add(SpanIds.of(child.getSpanContext().getSpanId()));
    }
    transactions.begin(child, description == null ? child.getOperation() : description);
  }

  // Of the collector

  @Override
  public void start(ITransaction started) {
    if (collector != null) {
      collector.start(started);
    }
  }

  @Override
  public void start(String started) {
    if (collector != null) {
      collector.start(started);
    }
  }

  @Override
  public void onSpanStarted(ISpan span) {
    if (collector != null) {
      collector.onSpanStarted(span);
    }
    try {
      openChildren.incrementAndGet();
      beginChild(span);
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      transactions.note("onSpanStarted", e);
    }
  }

  @Override
  public void onSpanFinished(ISpan span) {
    if (collector != null) {
      collector.onSpanFinished(span);
    }
    try {
      openChildren.decrementAndGet();
      long childId = SpanIds.of(span.getSpanContext().getSpanId());
      transactions.spans.end(transactions.spans.find(childId), childId);
      if (!unnamed.isEmpty()) {
        unnamed.remove(childId);
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      transactions.note("onSpanFinished", e);
    }
  }

  @Override
  public @Nullable List<PerformanceCollectionData> stop(ITransaction stopped) {
    return collector == null ? null : collector.stop(stopped);
  }

  @Override
  public @Nullable List<PerformanceCollectionData> stop(String stopped) {
    return collector == null ? null : collector.stop(stopped);
  }

  @Override
  public void close() {
    if (collector != null) {
      collector.close();
    }
  }
}
