package cairn.sentry;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import io.sentry.Sentry;
import io.sentry.SentryOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** sentry-java started with the integration, which sends nothing, and what a reader sees. */
final class SentryUnderTest implements AutoCloseable {
  private final Path root;
  final Recorder recorder;
  final CairnIntegration integration;

  SentryUnderTest(Path root) {
    this(root, options -> {});
  }

  SentryUnderTest(Path root, Consumer<SentryOptions> configuration) {
    this.root = root;
    recorder = Recorder.builder("app").directory(root).scopeBytes(512 * 1024).open();
    assertThat(recorder.isEnabled()).as(recorder.mode()).isTrue();
    integration = new CairnIntegration(recorder);
    Sentry.init(
        options -> {
          options.setDsn("http://key@localhost:9/42");
          options.setTransportFactory(io.sentry.NoOpTransportFactory.getInstance());
          options.setTracesSampleRate(1.0);
          options.setRelease("app@1.2.3");
          options.addIntegration(integration);
          configuration.accept(options);
        });
  }

  Report report() {
    try {
      List<Run> runs = Runs.under(root).list();
      assertThat(runs).hasSize(1);
      return runs.get(0).report();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Map<String, Object> context(String key) {
    return map(report().scope().contexts().get(key));
  }

  @SuppressWarnings("unchecked")
  static Map<String, Object> map(Object value) {
    assertThat(value).isInstanceOf(Map.class);
    return (Map<String, Object>) value;
  }

  UnfinishedSpan span(String name) {
    List<UnfinishedSpan> open =
        report().openSpans().stream().filter(span -> span.name().equals(name)).toList();
    assertThat(open).as("open spans of that name: " + name).hasSize(1);
    return open.get(0);
  }

  List<String> messages() {
    return report().trail().stream().map(Breadcrumb::message).toList();
  }

  /** How often the text is in the box, whether a reader shows it or not. */
  int occurrences(String text) {
    try {
      byte[] box = Files.readAllBytes(recorder.directory().resolve("box"));
      return new String(box, StandardCharsets.ISO_8859_1).split(text, -1).length - 1;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  void catchUp() {
    integration.catchUp();
  }

  @Override
  public void close() {
    Sentry.close();
    recorder.close();
  }
}
