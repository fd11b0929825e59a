package cairn.sentry;

import io.sentry.SentryEnvelopeHeader;
import io.sentry.SentryEnvelopeItemHeader;
import io.sentry.SentryEvent;
import io.sentry.SentryItemType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.Date;
import java.util.zip.GZIPOutputStream;

/** An envelope with one event. */
final class Envelope {
  private Envelope() {}

  /**
   * {@return its bytes: a header, the header of the item, the event; each a line}
   *
   * @param sentAt when it is sent: Sentry tells by it how wrong the clock is
   */
  static byte[] of(SentryEvent event, Instant sentAt) {
    try {
      SentryEnvelopeHeader header = new SentryEnvelopeHeader(event.getEventId(), event.getSdk());
      header.setSentAt(Date.from(sentAt));
      byte[] payload = EventJson.bytes(event);
      SentryEnvelopeItemHeader item =
          new SentryEnvelopeItemHeader(
              SentryItemType.Event, payload.length, "application/json", null, null, null, null);
      ByteArrayOutputStream out = new ByteArrayOutputStream(payload.length + 512);
      for (byte[] line : new byte[][] {EventJson.bytes(header), EventJson.bytes(item), payload}) {
        out.write(line);
        out.write('\n');
      }
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // cannot be: it is written to memory
    }
  }

  static byte[] gzip(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length / 4 + 64);
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e); // cannot be: it is written to memory
    }
    return out.toByteArray();
  }
}
