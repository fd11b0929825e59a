package cairn.sentry;

import io.sentry.Sentry;
import io.sentry.TransactionOptions;
import io.sentry.protocol.User;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A JVM with sentry-java and the integration, which ends as it is told. */
final class SentryChild {
  /** What it says when everything is set. */
  static final String READY = "ready";

  private SentryChild() {}

  static ProcessBuilder command(String dsn, Path cache, String end, String... options) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of(options));
    command.addAll(
        List.of(
            "-cp",
            System.getProperty("java.class.path"),
            SentryChild.class.getName(),
            dsn,
            String.valueOf(cache),
            end));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  /** Runs it until it says that it is ready, and kills it, or lets it end. */
  static void run(String dsn, Path cache, String end, String... options)
      throws IOException, InterruptedException {
    Process process = command(dsn, cache, end, options).start();
    try {
      String said = new String(process.getInputStream().readNBytes(READY.length()));
      if (!said.equals(READY)) {
        throw new AssertionError("child said: " + said);
      }
      if (end.equals("killed")) {
        process.destroyForcibly();
      }
      process.waitFor();
    } finally {
      process.destroyForcibly();
    }
  }

  /** Sentry writes it on a thread of its own. */
  private static void awaitSession(Path cache) {
    while (!Files.exists(cache.resolve("session.json"))) {
      Thread.onSpinWait();
    }
  }

  public static void main(String[] args) throws Exception {
    Sentry.init(
        options -> {
          options.setDsn(args[0]);
          if (!args[1].equals("null")) {
            options.setCacheDirPath(args[1]);
          }
          options.setRelease("shop@1.2.3");
          options.setEnvironment("prod");
          options.setDist("7");
          options.setTracesSampleRate(1.0);
          options.addIntegration(new CairnIntegration());
        });
    Sentry.startSession();
    User user = new User();
    user.setId("42");
    Sentry.setUser(user);
    Sentry.setTag("region", "eu");
    Sentry.configureScope(scope -> scope.setContexts("cart", Map.of("items", 3)));
    Sentry.addBreadcrumb("before the end");
    TransactionOptions options = new TransactionOptions();
    options.setBindToScope(true);
    Sentry.startTransaction("POST /orders", "http.server", options).startChild("db", "SELECT 1");
    if (args[2].equals("in order")) {
      Sentry.close();
    }
    if (!args[1].equals("null") && !args[2].equals("in order")) {
      awaitSession(Path.of(Sentry.getCurrentScopes().getOptions().getCacheDirPath()));
    }
    System.out.print(READY);
    System.out.flush();
    switch (args[2]) {
      case "killed" -> Thread.sleep(60_000);
      case "uncaught" -> throw new IllegalStateException("boom");
      default -> {}
    }
  }
}
