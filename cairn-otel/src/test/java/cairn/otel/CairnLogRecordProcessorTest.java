package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import cairn.Level;
import cairn.report.Breadcrumb;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.logs.Logger;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.logs.ReadWriteLogRecord;
import io.opentelemetry.sdk.logs.SdkLoggerProvider;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CairnLogRecordProcessorTest {
  @TempDir Path root;

  private BoxUnderTest box;
  private CairnLogRecordProcessor processor;
  private SdkLoggerProvider provider;
  private Logger logger;

  @BeforeEach
  void open() {
    box = new BoxUnderTest(root);
    use(CairnLogRecordProcessor.builder(box.recorder));
  }

  @AfterEach
  void close() {
    provider.close();
    box.close();
  }

  private void use(CairnLogRecordProcessor.Builder builder) {
    processor = builder.build();
    provider = SdkLoggerProvider.builder().addLogRecordProcessor(processor).build();
    logger = provider.get("com.example.Orders");
  }

  @Test
  void logRecordIsABreadcrumbOfItsLoggerLevelAndSpan() {
    SpanContext span =
        SpanContext.create(
            "0af7651916cd43dd8448eb211c80319c",
            "b7ad6b7169203331",
            TraceFlags.getSampled(),
            TraceState.getDefault());

    logger
        .logRecordBuilder()
        .setContext(Context.root().with(Span.wrap(span)))
        .setSeverity(Severity.WARN)
        .setBody("order 17 is late")
        .emit();

    Breadcrumb crumb = box.lastBreadcrumb();
    assertThat(crumb.level()).isEqualTo(Level.WARNING);
    assertThat(crumb.category()).isEqualTo("com.example.Orders");
    assertThat(crumb.message()).isEqualTo("order 17 is late");
    assertThat(crumb.spanId()).isEqualTo("b7ad6b7169203331");
    assertThat(crumb.thread()).isEqualTo(Thread.currentThread().getName());
    assertThat(crumb.data()).isEmpty();
  }

  @Test
  void eachSeverityHasALevel() {
    for (Severity severity : Severity.values()) {
      logger.logRecordBuilder().setSeverity(severity).setBody(severity.name()).emit();

      String name = severity.name().replaceAll("\\d", "");
      Level expected =
          switch (name) {
            case "TRACE", "DEBUG" -> Level.DEBUG;
            case "WARN" -> Level.WARNING;
            case "ERROR" -> Level.ERROR;
            case "FATAL" -> Level.FATAL;
            default -> Level.INFO;
          };
      assertThat(box.lastBreadcrumb().level()).as(severity.name()).isEqualTo(expected);
    }
  }

  @Test
  void exceptionAndListedAttributesAreItsDataAndOthersAreNot() {
    use(CairnLogRecordProcessor.builder(box.recorder).attributes(List.of("order.id:long")));
    String trace =
        "java.lang.IllegalStateException: boom\n" + "\tat some.Where(Where.java)\n".repeat(400);

    logger
        .logRecordBuilder()
        .setSeverity(Severity.ERROR)
        .setBody("failed")
        .setAttribute(AttributeKey.longKey("order.id"), 17L)
        .setAttribute(AttributeKey.stringKey("card.number"), "4111")
        .setAttribute(AttributeKey.stringKey("exception.type"), "java.lang.IllegalStateException")
        .setAttribute(AttributeKey.stringKey("exception.message"), "boom")
        .setAttribute(AttributeKey.stringKey("exception.stacktrace"), trace)
        .emit();

    Breadcrumb crumb = box.lastBreadcrumb();
    assertThat(crumb.data().keySet())
        .containsExactly("order.id", "exception.type", "exception.message", "exception.stacktrace");
    assertThat(crumb.data())
        .containsEntry("order.id", 17L)
        .containsEntry("exception.type", "java.lang.IllegalStateException")
        .containsEntry("exception.message", "boom");
    assertThat((String) crumb.data().get("exception.stacktrace"))
        .isEqualTo(trace.substring(0, 4_000) + "…");
  }

  @Test
  void cutExceptionMessageIsCutBetweenCharacters() {
    // opentelemetry-java 4740: a limit that splits a surrogate pair.
    logger
        .logRecordBuilder()
        .setBody("failed")
        .setAttribute(AttributeKey.stringKey("exception.message"), "x".repeat(999) + "\uD83E\uDDC0")
        .emit();

    assertThat(box.lastBreadcrumb().data())
        .containsEntry("exception.message", "x".repeat(999) + "…");
  }

  @Test
  void eventWithoutABodyIsShownByItsName() {
    logger.logRecordBuilder().setEventName("session.start").emit();

    assertThat(box.lastBreadcrumb().message()).isEqualTo("session.start");
    assertThat(box.lastBreadcrumb().data()).containsEntry("event.name", "session.start");
  }

  @Test
  void emptyLogRecordIsABreadcrumbToo() {
    logger.logRecordBuilder().emit();

    assertThat(box.lastBreadcrumb().level()).isEqualTo(Level.INFO);
    assertThat(box.lastBreadcrumb().message()).isNull();
    assertThat(box.lastBreadcrumb().spanId()).isNull();
  }

  @Test
  void logRecordWhoseMethodsThrowIsCountedAndNothingReachesTheApplication() {
    ReadWriteLogRecord hostile =
        (ReadWriteLogRecord)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {ReadWriteLogRecord.class},
                (proxy, method, arguments) -> {
                  throw new IllegalStateException("hostile");
                });

    assertThatCode(() -> processor.onEmit(Context.root(), hostile)).doesNotThrowAnyException();

    assertThat(processor.faults()).isEqualTo(1);
  }

  @Test
  void shutdownSucceedsAndLeavesTheRecorderOpen() {
    assertThat(provider.shutdown().join(20, TimeUnit.SECONDS).isSuccess()).isTrue();

    assertThat(box.recorder.isEnabled()).isTrue();
  }

  @Test
  void recorderThatIsClosedUnderTheProcessorIsNotNoticed() {
    box.close();

    logger.logRecordBuilder().setBody("late").emit();

    assertThat(processor.faults()).isZero();
  }

  @Test
  void textOfProcessorAndBuilderHasTheSettings() {
    CairnLogRecordProcessor.Builder builder =
        CairnLogRecordProcessor.builder(box.recorder).attributes(List.of("order.id:long"));

    assertThat(builder.toString())
        .isEqualTo("CairnLogRecordProcessor.Builder{attributes=[order.id]}");
    assertThat(builder.build().toString()).contains("[order.id]").contains("mode=mapped");
  }
}
