package cairn.bench;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** SQLite: a prepared insert an event, each its own transaction. One thread. */
final class SqliteTarget implements Target {
  private final Connection connection;
  private final PreparedStatement insert;

  SqliteTarget(Path directory) throws SQLException {
    connection = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("bench.db"));
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode=WAL");
      statement.execute("PRAGMA synchronous=NORMAL");
      statement.execute(
          "CREATE TABLE crumb (at INTEGER, category TEXT, message TEXT, url TEXT,"
              + " status INTEGER, millis INTEGER)");
    }
    insert = connection.prepareStatement("INSERT INTO crumb VALUES (?, ?, ?, ?, ?, ?)");
  }

  @Override
  public void record(int index) throws SQLException {
    Payload.Event event = Payload.SMALL[index];
    insert.setLong(1, System.currentTimeMillis());
    insert.setString(2, event.category());
    insert.setString(3, event.message());
    insert.setString(4, event.url());
    insert.setInt(5, event.status());
    insert.setLong(6, event.millis());
    insert.executeUpdate();
  }

  @Override
  public void finish(long calls) throws SQLException {
    try (connection;
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT count(*) FROM crumb")) {
      rows.next();
      Evidence.require(rows.getLong(1) == calls, "rows", rows.getLong(1), calls);
    }
  }
}
