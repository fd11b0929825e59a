package cairn.otel;

import cairn.Recorder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Recorders for tests of what doesn't depend on one. */
final class Recorders {
  private Recorders() {}

  /** {@return one that records nothing} */
  static Recorder disabled() {
    return Disabled.RECORDER;
  }

  private static final class Disabled {
    static final Recorder RECORDER = open();

    private static Recorder open() {
      try {
        // No directory can be made below a file.
        Path file = Files.createTempFile("cairn", "file");
        Recorder recorder = Recorder.builder("disabled").directory(file.resolve("root")).open();
        Files.delete(file);
        return recorder;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
