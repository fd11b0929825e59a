package cairn.demo;

import cairn.Level;
import cairn.Recorder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.Map;

/** Log line to breadcrumb. */
final class TrailAppender extends AppenderBase<ILoggingEvent> {
  private final Recorder recorder;

  TrailAppender(Recorder recorder) {
    this.recorder = recorder;
  }

  @Override
  protected void append(ILoggingEvent event) {
    recorder.breadcrumb(
        level(event.getLevel()),
        "log",
        event.getFormattedMessage(),
        Map.of("logger", event.getLoggerName()));
  }

  private static Level level(ch.qos.logback.classic.Level level) {
    return switch (level.toInt()) {
      case ch.qos.logback.classic.Level.ERROR_INT -> Level.ERROR;
      case ch.qos.logback.classic.Level.WARN_INT -> Level.WARNING;
      case ch.qos.logback.classic.Level.INFO_INT -> Level.INFO;
      default -> Level.DEBUG;
    };
  }
}
