package cairn.bench;

import cairn.Level;
import cairn.Recorder;
import java.nio.file.Path;

/** The breadcrumb of a recorder with default settings. */
final class CairnTarget implements Target {
  private final Path root;
  private final Recorder recorder;

  CairnTarget(Path root) {
    this.root = root;
    recorder = Evidence.open(root);
  }

  @Override
  public void record(int index) {
    Payload.Event event = Payload.SMALL[index];
    recorder.breadcrumb(Level.INFO, event.category(), event.message(), event.data());
  }

  @Override
  public void finish(long calls) throws Exception {
    recorder.close();
    Evidence.requireTrail(root, calls);
  }
}
