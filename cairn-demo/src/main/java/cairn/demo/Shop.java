package cairn.demo;

import cairn.Level;
import cairn.Recorder;
import ch.qos.logback.classic.LoggerContext;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;

/**
 * The shop. Listens on a free port of 127.0.0.1, which it prints.
 *
 * <p>Properties of interest: {@code cairn.dir} is where the run is recorded; {@code
 * shop.ready-file} is written, in one piece, once the shop answers, with the lines {@code port},
 * {@code run} and {@code mode}; {@code shop.witness-file} see {@link Witness}; {@code
 * shop.end-with-parent} ends the shop when the process that started it is gone; {@code
 * shop.recorder} set to false records nothing, and {@code shop.tracer} see {@link Tracing}: both
 * are for measuring; {@code shop.sentry} see {@link SentryRequests}.
 */
@SpringBootApplication(proxyBeanMethods = false)
public class Shop {
  private static final Logger log = LoggerFactory.getLogger(Shop.class);

  /** Opens the recorder before anything else, so that a failed start is on record too. */
  public static void main(String[] args) throws IOException {
    boolean records = Boolean.parseBoolean(System.getProperty("shop.recorder", "true"));
    start(
        records
            ? Recorder.builder("cairn-demo").release("1.4.2").environment("demo").open()
            : Recorder.global(), // None was opened yet: this one is disabled.
        args);
  }

  static ConfigurableApplicationContext start(Recorder recorder, String... args)
      throws IOException {
    SpringApplication application = new SpringApplication(Shop.class);
    application.addInitializers(
        context -> context.getBeanFactory().registerSingleton("recorder", recorder));
    ConfigurableApplicationContext context = application.run(args);
    announce(recorder, context.getEnvironment());
    return context;
  }

  /** Log lines become breadcrumbs from here on. */
  @Bean
  TrailAppender trailAppender(Recorder recorder) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    TrailAppender appender = new TrailAppender(recorder);
    appender.setContext(context);
    appender.start();
    context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
    return appender;
  }

  @Bean
  Witness witness(Environment environment) throws IOException {
    String file = environment.getProperty("shop.witness-file");
    return file == null ? Witness.none() : Witness.writingTo(Path.of(file));
  }

  private static void announce(Recorder recorder, Environment environment) throws IOException {
    int port = environment.getRequiredProperty("local.server.port", Integer.class);
    recorder.scope().tag("region", "eu-west").tag("port", Integer.toString(port));
    recorder.breadcrumb(Level.INFO, "shop", "listening", Map.of("port", port));
    log.info("listening on http://127.0.0.1:{}", port);

    if (environment.getProperty("shop.end-with-parent", Boolean.class, false)) {
      ProcessHandle.current().parent().ifPresent(Shop::haltAfter);
    }
    String readyFile = environment.getProperty("shop.ready-file");
    if (readyFile != null) {
      Path ready = Path.of(readyFile);
      Path unfinished = Path.of(readyFile + ".new");
      Files.write(
          unfinished,
          List.of("port=" + port, "run=" + recorder.runId(), "mode=" + recorder.mode()));
      Files.move(unfinished, ready, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static void haltAfter(ProcessHandle parent) {
    CompletableFuture<Void> unused = parent.onExit().thenRun(() -> Runtime.getRuntime().halt(1));
  }
}
