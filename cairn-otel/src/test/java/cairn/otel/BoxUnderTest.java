package cairn.otel;

import static org.assertj.core.api.Assertions.assertThat;

import cairn.Recorder;
import cairn.report.Breadcrumb;
import cairn.report.Report;
import cairn.report.Run;
import cairn.report.Runs;
import cairn.report.UnfinishedSpan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;

/** A recorder of its own directory, and what a reader sees of it. */
final class BoxUnderTest implements AutoCloseable {
  static final int SLOTS = 64;

  private final Path root;
  final Recorder recorder;

  BoxUnderTest(Path root) {
    this(root, SLOTS);
  }

  BoxUnderTest(Path root, int slots) {
    this.root = root;
    this.recorder =
        Recorder.builder("otel-test").directory(root).spanSlots(slots).trailBytes(1 << 20).open();
    assertThat(recorder.isEnabled()).as(recorder.mode()).isTrue();
  }

  Report report() {
    return report(root);
  }

  static Report report(Path root) {
    try {
      List<Run> runs = Runs.under(root).list();
      assertThat(runs).hasSize(1);
      return runs.get(0).report();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<UnfinishedSpan> open() {
    return report().openSpans();
  }

  UnfinishedSpan only() {
    List<UnfinishedSpan> open = open();
    assertThat(open).hasSize(1);
    return open.get(0);
  }

  Breadcrumb lastBreadcrumb() {
    List<Breadcrumb> trail = report().trail();
    assertThat(trail).isNotEmpty();
    return trail.get(trail.size() - 1);
  }

  @Override
  public void close() {
    recorder.close();
  }
}
