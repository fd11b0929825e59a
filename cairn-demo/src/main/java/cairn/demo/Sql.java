package cairn.demo;

import cairn.Level;
import cairn.Recorder;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;
import org.springframework.stereotype.Component;

/** Runs SQL and leaves a breadcrumb for each statement: its text, never its values. */
@Component
class Sql {
  private final JdbcClient jdbc;
  private final Recorder recorder;

  Sql(JdbcClient jdbc, Recorder recorder) {
    this.jdbc = jdbc;
    this.recorder = recorder;
  }

  <T> List<T> list(Class<T> type, String sql, Object... values) {
    List<T> rows = jdbc.sql(sql).params(values).query(type).list();
    breadcrumb(sql, rows.size());
    return rows;
  }

  /** Row after row, never all of them in memory. */
  <T> void forEach(Class<T> type, Consumer<T> action, String sql, Object... values) {
    breadcrumb(sql, -1);
    try (Stream<T> rows = jdbc.sql(sql).params(values).query(type).stream()) {
      rows.forEach(action);
    }
  }

  int update(String sql, Object... values) {
    int rows = jdbc.sql(sql).params(values).update();
    breadcrumb(sql, rows);
    return rows;
  }

  /** {@return the generated key} */
  long insert(String sql, Object... values) {
    KeyHolder key = new GeneratedKeyHolder();
    breadcrumb(sql, jdbc.sql(sql).params(values).update(key, "id"));
    return Objects.requireNonNull(key.getKey(), "key").longValue();
  }

  private void breadcrumb(String sql, int rows) {
    recorder.breadcrumb(Level.INFO, "db", sql, rows < 0 ? null : Map.of("rows", rows));
  }
}
