package cairn.demo;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Cause;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.sentry.CairnIntegration;
import io.sentry.Sentry;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;

/**
 * A Spring Boot application with Sentry's starter, in a process of its own: the starter is of
 * another version than what the shop is compiled with.
 */
class SentrySpringTest {
  private static final String READY = "ready";

  @TempDir Path root;

  @Test
  void startersBeanRecordsTheScopeOfAnApplicationThatIsKilled() throws Exception {
    Path cache = root.resolve("cache");
    Process process = start(cache);
    try (BufferedReader out =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      StringBuilder said = new StringBuilder();
      String line = out.readLine();
      while (line != null && !line.equals(READY)) {
        said.append(line).append('\n');
        line = out.readLine();
      }
      assertThat(line).as(said.toString()).isEqualTo(READY);
    } finally {
      process.destroyForcibly().waitFor();
    }

    List<Run> runs = Runs.under(cache.resolve("cairn")).list();
    assertThat(runs).hasSize(1);
    Report report = runs.get(0).report();
    assertThat(report.verdict().cause()).isEqualTo(Cause.KILLED);
    assertThat(report.run().app()).isEqualTo("orders");
    assertThat(report.scope().tags()).containsEntry("region", "eu");
    assertThat(report.trail()).extracting(cairn.report.Breadcrumb::message).contains("paid");
  }

  private static Process start(Path cache) throws IOException {
    List<String> classPath = new ArrayList<>();
    try (Stream<Path> jars = Files.list(Path.of("target", "sentry-spring"))) {
      jars.map(jar -> jar.toAbsolutePath().toString()).forEach(classPath::add);
    }
    assertThat(classPath).hasSize(3);
    Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(entry -> !Path.of(entry).getFileName().toString().matches("sentry-[0-9.]+\\.jar"))
        .forEach(classPath::add);
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            String.join(File.pathSeparator, classPath),
            SentrySpringTest.class.getName(),
            "--spring.main.web-application-type=none",
            // Nobody listens there: nothing leaves the machine.
            "--sentry.dsn=http://key@127.0.0.1:9/42",
            "--sentry.cache-dir-path=" + cache,
            "--sentry.release=orders@1.4.2")
        .redirectErrorStream(true)
        .start();
  }

  /** What an application has to do for it: a bean. No component, or the shop would find it. */
  @EnableAutoConfiguration(
      excludeName = "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration")
  static class Application {
    @Bean
    CairnIntegration cairn() {
      return new CairnIntegration();
    }
  }

  public static void main(String[] args) throws InterruptedException {
    SpringApplication.run(Application.class, args);
    Sentry.setTag("region", "eu");
    Sentry.addBreadcrumb("paid");
    System.out.println(READY);
    Thread.sleep(60_000);
  }
}
