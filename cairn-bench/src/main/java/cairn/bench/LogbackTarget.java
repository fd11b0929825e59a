package cairn.bench;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.FileAppender;
import java.nio.file.Files;
import java.nio.file.Path;

/** logback with a synchronous FileAppender. */
final class LogbackTarget implements Target {
  private final Path file;
  private final LoggerContext context = new LoggerContext();
  private final Logger logger;

  LogbackTarget(Path directory, boolean immediateFlush) {
    file = directory.resolve("bench.log");
    // Without one the appender swallows every event.
    context.setMDCAdapter(new LogbackMDCAdapter());
    context.start();
    PatternLayoutEncoder encoder = new PatternLayoutEncoder();
    encoder.setContext(context);
    encoder.setPattern("%d %-5level %logger - %msg%n");
    encoder.start();
    FileAppender<ILoggingEvent> appender = new FileAppender<>();
    appender.setContext(context);
    appender.setFile(file.toString());
    appender.setEncoder(encoder);
    appender.setImmediateFlush(immediateFlush);
    appender.start();
    logger = context.getLogger("bench");
    logger.setLevel(Level.INFO);
    logger.addAppender(appender);
  }

  @Override
  public void record(int index) {
    Payload.Event event = Payload.SMALL[index];
    logger.info(
        "{} {} url={} status={} millis={}",
        event.category(),
        event.message(),
        event.url(),
        event.status(),
        event.millis());
  }

  @Override
  public void finish(long calls) throws Exception {
    context.stop();
    Evidence.require(Files.size(file) >= calls * 100, "bytes", Files.size(file), calls * 100);
  }
}
