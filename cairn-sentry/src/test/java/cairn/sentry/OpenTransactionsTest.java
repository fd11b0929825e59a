package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.UnfinishedSpan;
import io.sentry.ISpan;
import io.sentry.ITransaction;
import io.sentry.Sentry;
import io.sentry.SpanStatus;
import io.sentry.TransactionOptions;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Transactions and spans of Sentry as open spans. */
class OpenTransactionsTest {
  private static final int MAX_COLLECTIONS = 200;

  @TempDir Path root;

  private SentryUnderTest sentry;

  @BeforeEach
  void start() {
    sentry = new SentryUnderTest(root);
  }

  @AfterEach
  void close() {
    sentry.close();
  }

  private void withSampleRate(double rate) {
    sentry.close();
    sentry = new SentryUnderTest(root.resolve("rate"), o -> o.setTracesSampleRate(rate));
  }

  @Test
  void openTransactionAndSpanAreInTheReportWithSentrysIds() {
    ITransaction transaction = Sentry.startTransaction("POST /orders", "http.server");
    ISpan child = transaction.startChild("db", "SELECT 1");
    ISpan grandchild = child.startChild("db.row");

    UnfinishedSpan root = sentry.span("POST /orders");
    assertThat(root.spanId()).isEqualTo(transaction.getSpanContext().getSpanId().toString());
    assertThat(root.traceId()).isEqualTo(transaction.getSpanContext().getTraceId().toString());
    assertThat(root.attributes()).containsEntry("sentry.op", "http.server");
    assertThat(root.thread()).isEqualTo(Thread.currentThread().getName());
    UnfinishedSpan query = sentry.span("SELECT 1");
    assertThat(query.parentSpanId()).isEqualTo(root.spanId());
    assertThat(query.attributes()).containsEntry("sentry.op", "db");
    assertThat(sentry.span("db.row").parentSpanId()).isEqualTo(query.spanId());

    grandchild.finish();
    child.finish();
    assertThat(sentry.report().openSpans()).hasSize(1);
    transaction.finish();
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void transactionThatFinishesEndsTheSpansThatItsCodeForgot() {
    ITransaction transaction = Sentry.startTransaction("job", "task");
    transaction.startChild("step", "never finished");
    transaction.finish();
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void transactionThatIsNotSampledIsThereAndItsSpansAfterASecond() {
    withSampleRate(0.0);
    ITransaction transaction = Sentry.startTransaction("job", "task");
    assertThat(transaction.isSampled()).isFalse();
    ISpan first = transaction.startChild("step", "one");
    assertThat(sentry.span("job").traceFlags()).isZero();
    sentry.catchUp();
    assertThat(sentry.span("one").parentSpanId()).isEqualTo(sentry.span("job").spanId());
    first.finish();
    sentry.catchUp();
    assertThat(sentry.report().openSpans()).hasSize(1);
    transaction.startChild("step", "two");
    sentry.catchUp();
    transaction.finish();
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void namesThatComeLateAreThereAfterASecond() {
    ITransaction transaction = Sentry.startTransaction("GET /**", "http.server");
    ISpan child = transaction.startChild("db");
    transaction.setName("GET /orders/{id}");
    child.setDescription("SELECT 1");
    sentry.catchUp();
    assertThat(sentry.report().openSpans())
        .extracting(UnfinishedSpan::name)
        .containsExactlyInAnyOrder("GET /orders/{id}", "SELECT 1");
    transaction.finish();
  }

  @Test
  void callbackOfTheApplicationIsCalledOnceForEachTransactionOfTheSameOptions() {
    AtomicInteger finished = new AtomicInteger();
    TransactionOptions options = new TransactionOptions();
    options.setTransactionFinishedCallback(t -> finished.incrementAndGet());
    for (int i = 1; i <= 5; i++) {
      Sentry.startTransaction("job", "task", options).finish(SpanStatus.OK);
      assertThat(finished).hasValue(i);
    }
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void transactionThatNobodyFinishesEndsWhenItIsCollected() {
    Sentry.startTransaction("leaked", "task");
    for (int i = 0; i < MAX_COLLECTIONS && !sentry.report().openSpans().isEmpty(); i++) {
      System.gc();
      sentry.catchUp();
    }
    assertThat(sentry.report().openSpans()).isEmpty();
  }

  @Test
  void factoryOfTheApplicationIsUsedAndBackWhenSentryIsClosed() {
    var options = Sentry.getCurrentScopes().getOptions();
    assertThat(options.getSpanFactory()).isInstanceOf(WatchingSpanFactory.class);
    sentry.integration.close();
    assertThat(options.getSpanFactory()).isNotInstanceOf(WatchingSpanFactory.class);
    ITransaction transaction = Sentry.startTransaction("late", "task");
    assertThat(sentry.report().openSpans()).isEmpty();
    transaction.finish();
  }

  @Test
  void nothingIsOpenWithoutTracing() {
    sentry.close();
    sentry = new SentryUnderTest(root.resolve("off"), o -> o.setTracesSampleRate(null));
    Sentry.startTransaction("none", "task");
    assertThat(sentry.report().openSpans()).isEmpty();
  }
}
