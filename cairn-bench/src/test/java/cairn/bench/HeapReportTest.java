package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.bench.Bootstrap.Difference;
import cairn.bench.HeapResults.Row;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

final class HeapReportTest {
  private static final String NO_START = "did not start: OutOfMemoryError: Java heap space";

  @TempDir Path directory;
  private HeapPlan plan;
  private HeapResults results;

  @BeforeEach
  void measure() throws IOException {
    plan =
        new HeapPlan(
            List.of(48, 64, 80),
            List.of(HeapArm.NONE, HeapArm.CAIRN, HeapArm.DATADOG),
            2,
            1,
            2,
            100,
            8,
            directory);
    results = HeapResults.open(directory, plan.settings());
    for (int round = 1; round <= 2; round++) {
      results.add(
          List.of(
              HeapResultsTest.ok(48, HeapArm.NONE, 1, round, 2000),
              HeapResultsTest.ok(48, HeapArm.CAIRN, 1, round, 1900 + 40 * round),
              Row.without(48, HeapArm.DATADOG, 1, round, NO_START)));
    }
  }

  @Test
  void differenceIsShownWithItsInterval() {
    assertThat(HeapReport.text(new Difference(-0.1234, -0.2, 0.0001)))
        .isEqualTo("-12.3 % (-20.0 to 0.0)");
  }

  @Test
  void rowOfAHeapHasTheBaseAndEachArm() {
    assertThat(new HeapReport(plan, results).text())
        .contains("| 48 | 1,000 | -2.0 % (-3.0 to -1.0) | " + NO_START + " |");
  }

  @Test
  void heapThatWasNotMeasuredYetHasNoRow() {
    assertThat(new HeapReport(plan, results).text())
        .doesNotContain("| 64 |")
        .doesNotContain("| 80 |");
  }

  @Test
  void shopThatDiesOnTheWayKeepsItsRoundsAndSaysSo() throws IOException {
    results.add(
        List.of(
            HeapResultsTest.ok(48, HeapArm.NONE, 1, 3, 2000),
            Row.without(48, HeapArm.CAIRN, 1, 3, "died: exit=3"),
            Row.without(48, HeapArm.DATADOG, 1, 3, NO_START)));

    assertThat(new HeapReport(plan, results).text())
        .contains("| -2.0 % (-3.0 to -1.0); then died: exit=3 |");
  }

  @Test
  void detailsAreMediansOverTheRounds() {
    assertThat(new HeapReport(plan, results).text())
        .contains("| 48 | Cairn API | 2 | 980 | 1.50 | 9.00 | 0.969 | 1.0 | 2.0 | 31 | 0 |")
        .contains("| 48 | Datadog agent | 0 |  |  |  |  |  |  |  | 0 |");
  }

  @Test
  void chartIsWellFormedAndHasADotForEachDifferenceAndACrossForEachAbsence() throws Exception {
    new HeapReport(plan, results).write();

    String svg = Files.readString(directory.resolve("heaps.svg"));
    Document document =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
    assertThat(document.getDocumentElement().getTagName()).isEqualTo("svg");
    assertThat(svg)
        .contains("<title>Cairn API, 48 MiB: -2.0 % (-3.0 to -1.0)</title>")
        .contains("<title>Datadog agent, 48 MiB: no shop to measure</title>")
        .contains("prefers-color-scheme:dark")
        .doesNotContain("NaN");
    assertThat(Files.readString(directory.resolve("heaps.md"))).contains("| 48 |");
  }
}
