package cairn.bench;

import java.nio.file.Path;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.wire.DocumentContext;
import net.openhft.chronicle.wire.Wire;
import org.jspecify.annotations.Nullable;

/** Chronicle Queue: one self-describing document an event. One thread. */
final class ChronicleTarget implements Target {
  private final ChronicleQueue queue;
  private @Nullable ExcerptAppender appender;

  ChronicleTarget(Path directory) {
    queue = ChronicleQueue.singleBuilder(directory).build();
  }

  @Override
  public void record(int index) {
    ExcerptAppender appender = this.appender;
    if (appender == null) {
      // An appender belongs to the thread that makes it.
      appender = queue.createAppender();
      this.appender = appender;
    }
    Payload.Event event = Payload.SMALL[index];
    try (DocumentContext document = appender.writingDocument()) {
      Wire wire = document.wire();
      wire.write("timestamp").int64(System.currentTimeMillis());
      wire.write("category").text(event.category());
      wire.write("message").text(event.message());
      wire.write("url").text(event.url());
      wire.write("status").int32(event.status());
      wire.write("millis").int64(event.millis());
    }
  }

  @Override
  public void finish(long calls) {
    try (queue) {
      // The first cycle of a fresh queue: its sequence numbers count the entries.
      long entries = queue.rollCycle().toSequenceNumber(queue.lastIndex()) + 1;
      Evidence.require(entries >= calls, "entries", entries, calls);
    }
  }
}
