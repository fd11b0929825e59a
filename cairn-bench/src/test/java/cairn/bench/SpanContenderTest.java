package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.annotations.Benchmark;

final class SpanContenderTest {
  @TempDir Path directory;

  /** What the forks of the benchmark are given as arguments. */
  @BeforeAll
  static void keepDatadogQuiet() {
    for (String argument : DatadogCore.quiet()) {
      String[] property = argument.substring("-D".length()).split("=", 2);
      System.setProperty(property[0], property[1]);
    }
  }

  @Test
  void everyContenderThatNeedsNoAgentAnswersEachOfItsCasesAndProvesIt() throws Exception {
    for (String name : SpanContender.NAMES) {
      if (DatadogCore.isNeededBy(name)) {
        continue; // Its classes are in an agent that a build does not fetch.
      }
      for (SpanCase asked : SpanCase.values()) {
        if (asked.suits(name)) {
          Path files = Files.createDirectories(directory.resolve(name + "-" + asked));
          // On a thread that nobody has left a current span on.
          FutureTask<Void> answered = new FutureTask<>(() -> answers(name, asked, files), null);
          new Thread(answered, name + " " + asked).start();
          answered.get();
        }
      }
    }
  }

  private static void answers(String name, SpanCase asked, Path files) {
    SpanContender spans =
        SpanContender.open(SpanContender.opened(name), asked != SpanCase.SAMPLED_OUT, files);
    Calls.Caller caller = new Calls.Caller();
    if (asked == SpanCase.CHILD || asked == SpanCase.CHILD_CURRENT) {
      spans.enter();
    }
    for (int i = 0; i < 3; i++) {
      assertThat(asked.ask(spans, caller)).as(name + " " + asked).isNotNull();
    }
    assertThatCode(() -> spans.finish(caller.calls()))
        .as(name + " " + asked)
        .doesNotThrowAnyException();
  }

  @Test
  void everyContenderHasALabelOfItsOwn() {
    assertThat(SpanContender.NAMES.stream().map(SpanContender::label).distinct().toList())
        .hasSameSizeAs(SpanContender.NAMES);
  }

  @Test
  void everyCaseNamesAMethodOfTheBenchmark() {
    List<String> methods =
        List.of(SpanBenchmark.class.getDeclaredMethods()).stream()
            .filter(method -> method.isAnnotationPresent(Benchmark.class))
            .map(Method::getName)
            .toList();

    assertThat(methods).containsExactlyInAnyOrderElementsOf(SpanCase.names());
  }
}
