package cairn.stress;

import cairn.Level;
import cairn.OpenSpan;
import cairn.Recorder;
import java.nio.file.Path;
import java.util.Map;

/** Opens a recorder under each root it is given, uses it, and closes it. */
final class ManyRootsVictim {
  static final int CRUMBS = 100;

  private ManyRootsVictim() {}

  public static void main(String[] args) {
    for (String root : args) {
      Recorder recorder =
          Recorder.builder("victim")
              .directory(Path.of(root))
              .trailBytes(64 << 10)
              .spanSlots(16)
              .open();
      System.out.println(
          "root=" + root + " enabled=" + recorder.isEnabled() + " mode=" + recorder.mode());
      for (int i = 0; i < CRUMBS; i++) {
        recorder.breadcrumb(Level.INFO, "test", "crumb " + i, Map.of("i", i));
        recorder.scope().tag("i", Integer.toString(i));
        try (OpenSpan span = recorder.begin("op " + i)) {
          span.set("i", i);
        }
      }
      recorder.close();
    }
    System.out.println("end");
  }
}
