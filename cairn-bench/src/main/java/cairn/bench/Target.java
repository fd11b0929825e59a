package cairn.bench;

import java.nio.file.Path;
import java.util.List;

/** One way to record an event of {@link Payload}: Cairn, or what would be used instead. */
interface Target {
  /** All names that {@link #open} knows. */
  List<String> NAMES =
      List.of(
          "cairn",
          "jfr",
          "sentry-memory",
          "log4j2-mapped",
          "logback-buffered",
          "logback",
          "chronicle",
          "write",
          "sqlite",
          "otel-span");

  /** Records the variant {@code index} of the small event. */
  void record(int index) throws Exception;

  /** Writes and forces what this target has promised to force and still holds back. */
  default void settle() throws Exception {}

  /**
   * {@return how often this target has forced its file since it was opened; -1 if it can't tell}
   */
  default long forces() {
    return -1;
  }

  /** Ends recording, then throws unless the files prove that {@code calls} events are there. */
  void finish(long calls) throws Exception;

  /**
   * Opens a target.
   *
   * @param directory an empty directory of its own, deleted by the caller
   */
  static Target open(String name, Path directory) throws Exception {
    return switch (name) {
      case "cairn" -> new CairnTarget(directory);
      case "control" -> new MemoryTarget();
      case "jfr" -> new JfrTarget(directory);
      case "sentry-memory" -> new SentryTarget();
      case "log4j2-mapped" -> new Log4jTarget(directory);
      case "logback-buffered" -> new LogbackTarget(directory, false);
      case "logback" -> new LogbackTarget(directory, true);
      case "chronicle" -> new ChronicleTarget(directory);
      case "write" -> new WriteTarget(directory);
      case "sqlite" -> new SqliteTarget(directory);
      case "otel-span" -> new OtelTarget();
      default -> throw new IllegalArgumentException("unknown target: name=" + name);
    };
  }

  /** {@return what a table calls it} */
  static String label(String name) {
    return switch (name) {
      case "cairn" -> "**Cairn breadcrumb**";
      case "cairn-tmpfs" -> "Cairn breadcrumb, box on tmpfs";
      case "control" -> "control: plain memory, no file";
      case "jfr" -> "JFR event, 5 fields, recording to disk";
      case "sentry-memory" -> "sentry-java `addBreadcrumb`, in memory only";
      case "log4j2-mapped" -> "log4j2 MemoryMappedFile appender";
      case "logback-buffered" -> "logback FileAppender, immediateFlush=false";
      case "logback" -> "logback FileAppender, default";
      case "chronicle" -> "Chronicle Queue append";
      case "write" -> "`FileChannel.write` per event";
      case "sqlite" -> "SQLite insert, WAL, synchronous=NORMAL";
      case "otel-span" -> "OpenTelemetry SDK span, 4 attributes";
      default -> name;
    };
  }
}
