package cairn.stress;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.report.Report;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.io.TempDir;

/** Spans of the OpenTelemetry SDK when its process is killed. */
class SdkKillTest {
  @TempDir Path directory;

  @RepeatedTest(5)
  void everySpanThatBeganAndDidNotEndIsInTheReportAndNoOther() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    Path root = Files.createDirectory(directory.resolve("root"));
    Path file = directory.resolve("words");
    SharedWords words = SharedWords.create(file, SdkVictim.WORDS_BYTES);
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-cp",
            System.getProperty("java.class.path"),
            SdkVictim.class.getName(),
            root.toString(),
            file.toString());
    try (Child child = Child.start(command, directory.resolve("log"))) {
      assertThat(child.readLine()).isEqualTo("mapped");
      child.liveOn(100 + new Random(seed).nextInt(300));
      child.kill();
    }

    Report report = Runs.under(root).list().get(0).report();
    Map<String, UnfinishedSpan> open = new HashMap<>();
    report.openSpans().forEach(span -> open.put(span.spanId(), span));
    assertThat(open).as("spans with an id of their own").hasSameSizeAs(report.openSpans());
    int certain = 0;
    for (int thread = 0; thread < SdkVictim.THREADS; thread++) {
      for (int place = 0; place < SdkVictim.PLACES; place++) {
        long begun = words.getAcquire(SdkVictim.begun(thread, place));
        if (begun == words.getAcquire(SdkVictim.ending(thread, place))) {
          continue; // it was ending, or had ended and the next had not yet said that it began
        }
        UnfinishedSpan span = open.remove(String.format("%016x", begun));
        assertThat(span).as("begun and not ended: thread=%s, place=%s", thread, place).isNotNull();
        assertThat(span.name()).isIn("work " + thread, SdkVictim.LATE + thread);
        assertThat(span.kind()).isEqualTo("CONSUMER");
        assertThat(span.traceId()).hasSize(32);
        assertThat(span.thread()).startsWith(SdkVictim.threadName(thread));
        assertThat(span.attributes())
            .containsEntry(SdkVictim.PLACE, (long) place)
            .containsEntry("messaging.destination.name", "queue-" + thread);
        certain++;
      }
    }
    System.out.println("open spans in the report: " + certain + " and " + open.size());
    assertThat(certain).isGreaterThanOrEqualTo(SdkVictim.THREADS * (SdkVictim.PLACES - 1));
    assertThat(open)
        .as("one a thread was about to end or had just begun")
        .hasSizeLessThanOrEqualTo(8);
    assertThat(report.openSpans()).anyMatch(span -> span.name().startsWith(SdkVictim.LATE));
    assertThat(report.counters()).containsEntry("spansOverflowed", 0L);
    assertThat(report.findings()).isEmpty();
  }
}
