package cairn.sentry;

import io.sentry.CompositePerformanceCollector;
import io.sentry.IScopes;
import io.sentry.ISpan;
import io.sentry.ISpanFactory;
import io.sentry.ITransaction;
import io.sentry.SpanContext;
import io.sentry.SpanOptions;
import io.sentry.TransactionContext;
import io.sentry.TransactionFinishedCallback;
import io.sentry.TransactionOptions;
import org.jspecify.annotations.Nullable;

/** Makes transactions as another factory does, and keeps them in the box while they are open. */
final class WatchingSpanFactory implements ISpanFactory {
  private final ISpanFactory factory;
  private final OpenTransactions transactions;
  private volatile boolean isClosed;

  WatchingSpanFactory(ISpanFactory factory, OpenTransactions transactions) {
    this.factory = factory;
    this.transactions = transactions;
  }

  ISpanFactory factory() {
    return factory;
  }

  void close() {
    isClosed = true;
  }

  @Override
  public ITransaction createTransaction(
      TransactionContext context,
      IScopes scopes,
      TransactionOptions options,
      @Nullable CompositePerformanceCollector collector) {
    if (isClosed) {
      return factory.createTransaction(context, scopes, options, collector);
    }
    TransactionWatch watch = new TransactionWatch(transactions, collector);
    ITransaction transaction = factory.createTransaction(context, scopes, options, watch);
    try {
      if (!transaction.isNoOp()) {
        // Read when the transaction finishes. The same options may serve many.
        TransactionFinishedCallback before = options.getTransactionFinishedCallback();
        if (!(before instanceof Ended)) {
          options.setTransactionFinishedCallback(new Ended(transactions, before));
        }
        watch.begin(transaction);
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      transactions.note("createTransaction", e);
    }
    return transaction;
  }

  @Override
  public ISpan createSpan(
      IScopes scopes, SpanOptions options, SpanContext context, @Nullable ISpan parent) {
    return factory.createSpan(scopes, options, context, parent);
  }

  /** Called with whichever transaction has finished. */
  private static final class Ended implements TransactionFinishedCallback {
    private final OpenTransactions transactions;
    private final @Nullable TransactionFinishedCallback before;

    Ended(OpenTransactions transactions, @Nullable TransactionFinishedCallback before) {
      this.transactions = transactions;
      this.before = before;
    }

    @Override
    public void execute(ITransaction transaction) {
      try {
        transactions.ended(transaction);
      } catch (RuntimeException | LinkageError | StackOverflowError e) {
        transactions.note("finish", e);
      }
      if (before != null) {
        before.execute(transaction);
      }
    }
  }
}
