package cairn.stress;

import cairn.Level;
import cairn.Recorder;
import java.nio.file.Path;

/** Records from shutdown hooks that were added before and after the recorder's own. */
final class HookVictim {
  static final int CRUMBS = 1_000;
  static final int STATUS = 3;

  private HookVictim() {}

  public static void main(String[] args) {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> record("early"), "early"));
    Recorder recorder = Recorder.builder("victim").directory(Path.of(args[0])).open();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> record("late"), "late"));
    recorder.breadcrumb(Level.INFO, "main", "crumb");
    System.exit(STATUS);
  }

  private static void record(String category) {
    Recorder recorder = Recorder.global();
    for (int i = 0; i < CRUMBS; i++) {
      recorder.breadcrumb(Level.INFO, category, "crumb " + i);
      recorder.scope().tag(category, Integer.toString(i));
      recorder.begin(category).set("i", i).close();
    }
  }
}
