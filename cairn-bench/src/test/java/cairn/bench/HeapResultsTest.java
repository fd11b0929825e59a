package cairn.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import cairn.bench.Bootstrap.Pair;
import cairn.bench.HeapResults.Row;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HeapResultsTest {
  private static final List<HeapArm> ARMS = List.of(HeapArm.NONE, HeapArm.CAIRN);

  @TempDir Path directory;

  @Test
  void whatWasAddedIsThereAfterAnotherOpen() throws IOException {
    Row row = ok(64, HeapArm.CAIRN, 1, 1, 190);
    Row died = Row.without(64, HeapArm.NONE, 1, 1, "died: exit=3, \"why\"\nno one knows");
    open().add(List.of(row, died));

    List<Row> rows = open().rows();

    assertThat(rows).hasSize(2).contains(row);
    assertThat(rows.get(1).isOk()).isFalse();
    assertThat(rows.get(1).status()).isEqualTo("died: exit=3; 'why' no one knows");
  }

  @Test
  void roundCountsOnceAllItsArmsAreThere() throws IOException {
    HeapResults results = open();
    assertThat(results.rounds(64, ARMS)).isZero();

    results.add(List.of(ok(64, HeapArm.NONE, 1, 1, 200)));
    assertThat(results.rounds(64, ARMS)).isZero();

    results.add(List.of(ok(64, HeapArm.CAIRN, 1, 1, 190)));
    assertThat(results.rounds(64, ARMS)).isEqualTo(1);
    assertThat(results.rounds(80, ARMS)).isZero();
  }

  @Test
  void startsAreNumberedAtEachHeap() throws IOException {
    HeapResults results = open();
    results.add(List.of(ok(64, HeapArm.NONE, 2, 1, 200)));

    assertThat(results.nextStart(64)).isEqualTo(3);
    assertThat(results.nextStart(80)).isEqualTo(1);
  }

  @Test
  void pairsAreOfTheSameRoundAndOfShopsThatAnswered() throws IOException {
    HeapResults results = open();
    results.add(List.of(ok(64, HeapArm.NONE, 1, 1, 200), ok(64, HeapArm.CAIRN, 1, 1, 190)));
    results.add(List.of(ok(64, HeapArm.NONE, 1, 2, 100), ok(64, HeapArm.CAIRN, 1, 2, 98)));
    results.add(
        List.of(Row.without(64, HeapArm.NONE, 2, 3, "died"), ok(64, HeapArm.CAIRN, 2, 3, 150)));
    results.add(List.of(ok(80, HeapArm.NONE, 1, 1, 7), ok(80, HeapArm.CAIRN, 1, 1, 7)));

    assertThat(results.pairs(64, HeapArm.CAIRN, HeapArm.NONE))
        .containsExactly(new Pair(95, 100), new Pair(49, 50));
  }

  @Test
  void resultsOfAnotherPlanAreRefused() throws IOException {
    open();

    assertThatThrownBy(() -> HeapResults.open(directory, "seconds=5"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("theirs=# seconds=2")
        .hasMessageContaining("now=# seconds=5");
  }

  private HeapResults open() throws IOException {
    return HeapResults.open(directory, "seconds=2");
  }

  static Row ok(int heap, HeapArm arm, int start, int round, long answers) {
    return new Row(
        heap, arm, start, round, HeapResults.OK, answers, 0, 2, 1500, 9000, 1900, 19, 40, 8, 60);
  }
}
