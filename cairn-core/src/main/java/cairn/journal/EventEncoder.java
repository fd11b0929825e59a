package cairn.journal;

import cairn.format.CborWriter;
import cairn.format.EncodeLimits;
import cairn.format.Forms;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import cairn.format.ValueEncoder;
import java.util.Map;

/** Encodes one event at a time, as a breadcrumb's data is encoded. */
final class EventEncoder {
  private final byte[] bytes;
  private final CborWriter writer;
  private final ValueEncoder encoder;

  EventEncoder(int maxBytes, Secrets secrets) {
    bytes = new byte[maxBytes];
    writer = new CborWriter(bytes, new KeyCache(secrets));
    encoder = new ValueEncoder(writer, EncodeLimits.DEFAULT, Forms.NONE);
  }

  /** {@return how many bytes of {@link #bytes} the event takes; 0 if nothing of it fits} */
  int encode(Map<String, ?> event) {
    writer.reset(0, bytes.length);
    boolean fits = encoder.map(event);
    encoder.resetCounts();
    encoder.rethrowFatal();
    return fits ? writer.position() : 0;
  }

  byte[] bytes() {
    return bytes;
  }
}
