package cairn.bench;

import com.squareup.tape2.QueueFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.wire.DocumentContext;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;
import org.apache.logging.log4j.core.config.builder.impl.BuiltConfiguration;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;

/**
 * What would be used instead of a journal, each with the defaults of its version but for what is
 * named. Any thread; what isn't made for many threads has a lock around it.
 */
final class DurablePeers {
  private DurablePeers() {}

  /** Tape's queue, which writes through ({@code rwd}); nothing is taken out of it. */
  static Target tape(Path directory) throws IOException {
    QueueFile queue = new QueueFile.Builder(directory.resolve("tape").toFile()).build();
    return new Target() {
      @Override
      public void record(int index) throws IOException {
        synchronized (queue) {
          queue.add(DurableContender.RECORDS[index]);
        }
      }

      @Override
      public void finish(long calls) throws IOException {
        try (queue) {
          Evidence.require(queue.size() == calls, "elements", queue.size(), calls);
        }
      }
    };
  }

  /** One connection for all threads: a transaction for each record. */
  static Target sqlite(Path directory, String synchronous) throws SQLException {
    Connection connection =
        DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("bench.db"));
    try (Statement statement = connection.createStatement()) {
      statement.execute("PRAGMA journal_mode=WAL");
      statement.execute("PRAGMA synchronous=" + synchronous);
      statement.execute("CREATE TABLE record (bytes BLOB)");
    }
    PreparedStatement insert = connection.prepareStatement("INSERT INTO record VALUES (?)");
    return new Target() {
      @Override
      public void record(int index) throws SQLException {
        synchronized (connection) {
          insert.setBytes(1, DurableContender.RECORDS[index]);
          insert.executeUpdate();
        }
      }

      @Override
      public void finish(long calls) throws SQLException {
        try (connection;
            Statement statement = connection.createStatement();
            ResultSet rows = statement.executeQuery("SELECT count(*) FROM record")) {
          rows.next();
          Evidence.require(rows.getLong(1) == calls, "rows", rows.getLong(1), calls);
        }
      }
    };
  }

  /**
   * H2's store: a chunk for each record, unless threads happen to meet in one.
   *
   * @param force whether to call {@code sync}; {@code commit} only writes
   */
  static Target h2(Path directory, boolean force) {
    MVStore store = new MVStore.Builder().fileName(directory.resolve("h2.mv").toString()).open();
    MVMap<Long, byte[]> map = store.openMap("records");
    AtomicLong keys = new AtomicLong();
    return new Target() {
      @Override
      public void record(int index) {
        map.put(keys.incrementAndGet(), DurableContender.RECORDS[index]);
        store.commit();
        if (force) {
          store.sync();
        }
      }

      @Override
      public void finish(long calls) {
        long size = map.sizeAsLong();
        Evidence.require(size == calls && !store.hasUnsavedChanges(), "entries", size, calls);
        store.closeImmediately();
      }
    };
  }

  /** An appender for each thread, as its manual asks for. */
  static Target chronicle(Path directory) {
    ChronicleQueue queue = ChronicleQueue.singleBuilder(directory).build();
    ThreadLocal<ExcerptAppender> appenders = ThreadLocal.withInitial(queue::createAppender);
    return new Target() {
      @Override
      public void record(int index) {
        try (DocumentContext document = appenders.get().writingDocument()) {
          document.wire().bytes().write(DurableContender.RECORDS[index]);
        }
      }

      @Override
      public void finish(long calls) {
        try (queue) {
          // The first cycle of a fresh queue: its sequence numbers count the entries.
          long entries = queue.rollCycle().toSequenceNumber(queue.lastIndex()) + 1;
          Evidence.require(entries >= calls, "entries", entries, calls);
        }
      }
    };
  }

  /** A synchronous logger whose appender writes each line at once. */
  static Target log4j2(Path directory) {
    Path file = directory.resolve("bench.log");
    ConfigurationBuilder<BuiltConfiguration> builder =
        ConfigurationBuilderFactory.newConfigurationBuilder();
    builder.add(
        builder
            .newAppender("file", "RandomAccessFile")
            .addAttribute("fileName", file.toString())
            .addAttribute("immediateFlush", true)
            .add(builder.newLayout("PatternLayout").addAttribute("pattern", "%m%n")));
    builder.add(builder.newRootLogger(Level.INFO).add(builder.newAppenderRef("file")));
    LoggerContext context = Configurator.initialize(builder.build());
    Logger logger = context.getLogger("bench");
    return new Target() {
      @Override
      public void record(int index) {
        logger.info(DurableContender.TEXTS[index]);
      }

      @Override
      public void finish(long calls) throws IOException {
        Configurator.shutdown(context);
        try (Stream<String> lines = Files.lines(file)) {
          long count = lines.count();
          Evidence.require(count == calls, "lines", count, calls);
        }
      }
    };
  }
}
