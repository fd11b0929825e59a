package cairn.demo;

import cairn.Recorder;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** A client span for each statement, with the attributes that an agent gives it. */
@Component
@Primary
@ConditionalOnProperty(Tracing.PROPERTY)
class TracedSql extends Sql {
  private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("db.system.name");
  private static final AttributeKey<String> NAMESPACE = AttributeKey.stringKey("db.namespace");
  private static final AttributeKey<String> TEXT = AttributeKey.stringKey("db.query.text");
  private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("db.operation.name");

  private final Tracer tracer;

  TracedSql(JdbcClient jdbc, Recorder recorder, Tracer tracer) {
    super(jdbc, recorder);
    this.tracer = tracer;
  }

  @Override
  <T> List<T> list(Class<T> type, String sql, Object... values) {
    return traced(sql, () -> super.list(type, sql, values));
  }

  @Override
  <T> void forEach(Class<T> type, Consumer<T> action, String sql, Object... values) {
    traced(
        sql,
        () -> {
          super.forEach(type, action, sql, values);
          return true;
        });
  }

  @Override
  int update(String sql, Object... values) {
    return traced(sql, () -> super.update(sql, values));
  }

  @Override
  long insert(String sql, Object... values) {
    return traced(sql, () -> super.insert(sql, values));
  }

  @SuppressWarnings("try") // Of the scope only the end matters.
  private <T> T traced(String sql, Supplier<T> statement) {
    String operation = sql.substring(0, sql.indexOf(' '));
    Span span =
        tracer
            .spanBuilder(operation)
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute(SYSTEM, "h2database")
            .setAttribute(NAMESPACE, "shop")
            .setAttribute(TEXT, sql)
            .setAttribute(OPERATION, operation)
            .startSpan();
    try (Scope ignored = span.makeCurrent()) {
      return statement.get();
    } catch (RuntimeException e) {
      span.recordException(e).setStatus(StatusCode.ERROR);
      throw e;
    } finally {
      span.end();
    }
  }
}
