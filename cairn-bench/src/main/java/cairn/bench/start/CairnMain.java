package cairn.bench.start;

import cairn.Level;
import cairn.Recorder;
import java.nio.file.Path;

/** Opens a recorder and adds a breadcrumb. */
public final class CairnMain {
  private CairnMain() {}

  /** Argument: the root directory. */
  public static void main(String[] args) {
    Recorder recorder = Recorder.builder("start").directory(Path.of(args[0])).open();
    recorder.breadcrumb(Level.INFO, "app", "started");
    if (!recorder.isEnabled()) {
      System.exit(3);
    }
  }
}
