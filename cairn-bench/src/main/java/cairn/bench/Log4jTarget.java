package cairn.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;
import org.apache.logging.log4j.core.config.builder.impl.BuiltConfiguration;

/** log4j2 with a synchronous logger and the MemoryMappedFile appender. */
final class Log4jTarget implements Target {
  private final Path file;
  private final LoggerContext context;
  private final Logger logger;

  Log4jTarget(Path directory) {
    file = directory.resolve("bench.log");
    ConfigurationBuilder<BuiltConfiguration> builder =
        ConfigurationBuilderFactory.newConfigurationBuilder();
    builder.add(
        builder
            .newAppender("file", "MemoryMappedFile")
            .addAttribute("fileName", file.toString())
            .addAttribute("immediateFlush", false)
            .add(
                builder
                    .newLayout("PatternLayout")
                    .addAttribute("pattern", "%d %-5level %logger - %msg%n")));
    builder.add(builder.newRootLogger(Level.INFO).add(builder.newAppenderRef("file")));
    context = Configurator.initialize(builder.build());
    logger = context.getLogger("bench");
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
    Configurator.shutdown(context);
    Evidence.require(Files.size(file) >= calls * 100, "bytes", Files.size(file), calls * 100);
  }
}
