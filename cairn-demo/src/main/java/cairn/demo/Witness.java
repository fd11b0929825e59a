package cairn.demo;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * A second account of which requests were here, which owes nothing to Cairn: {@code cairn demo}
 * compares the two. A shop of your own needs no such thing.
 *
 * <p>One line for each event, in a file opened for appending: {@code A id} when a request arrives,
 * before anything is recorded; {@code B id} when its span has begun and holds the request id;
 * {@code E id} when its span has ended. A line is one {@code write} call, so every line whose
 * method returned outlives the process, whatever kills it. Any thread.
 */
abstract class Witness {
  /** The request reached the shop. */
  final void arrived(String requestId) {
    write("A " + requestId + "\n");
  }

  /** {@code Recorder.begin} returned, and so did the call that set the request id. */
  final void begun(String requestId) {
    write("B " + requestId + "\n");
  }

  /** {@code OpenSpan.close} returned. */
  final void ended(String requestId) {
    write("E " + requestId + "\n");
  }

  abstract void write(String line);

  /** Sees nothing. */
  static Witness none() {
    return new Witness() {
      @Override
      void write(String line) {}
    };
  }

  static Witness writingTo(Path file) throws IOException {
    OutputStream out = new FileOutputStream(file.toFile(), true);
    return new Witness() {
      @Override
      void write(String line) {
        try {
          out.write(line.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    };
  }
}
