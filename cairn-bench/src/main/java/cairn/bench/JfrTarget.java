package cairn.bench;

import java.nio.file.Path;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import jdk.jfr.consumer.RecordingFile;

/** A flight recorder event with five fields, without stack trace, recording to disk. */
final class JfrTarget implements Target {
  private static final long MAX_BYTES = 64L << 20;

  private final Path file;
  private final Recording recording = new Recording();

  @Name("cairn.bench.Crumb")
  @StackTrace(false)
  static final class Crumb extends Event {
    String category = "";
    String message = "";
    String url = "";
    int status;
    long millis;
  }

  JfrTarget(Path directory) throws Exception {
    file = directory.resolve("bench.jfr");
    recording.setToDisk(true);
    recording.setMaxSize(MAX_BYTES);
    recording.setDestination(file);
    recording.enable(Crumb.class).withoutThreshold();
    recording.start();
  }

  @Override
  public void record(int index) {
    Payload.Event event = Payload.SMALL[index];
    Crumb crumb = new Crumb();
    crumb.category = event.category();
    crumb.message = event.message();
    crumb.url = event.url();
    crumb.status = event.status();
    crumb.millis = event.millis();
    crumb.commit();
  }

  @Override
  public void finish(long calls) throws Exception {
    recording.stop();
    recording.close();
    long found = 0;
    long enough = Math.min(calls, 1000);
    try (RecordingFile events = new RecordingFile(file)) {
      while (found < enough && events.hasMoreEvents()) {
        if (events.readEvent().getEventType().getName().equals("cairn.bench.Crumb")) {
          found++;
        }
      }
    }
    Evidence.require(found == enough, "events in the recording", found, enough);
  }
}
