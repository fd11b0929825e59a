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

  /** Of the last event: values shortened, replaced by a placeholder, redacted. */
  int cuts;

  int placeholders;
  int redactions;

  EventEncoder(int maxBytes, Secrets secrets) {
    bytes = new byte[maxBytes];
    writer = new CborWriter(bytes, new KeyCache(secrets));
    encoder = new ValueEncoder(writer, limits(maxBytes), Forms.NONE);
  }

  /** A journal is read by programs: more room than for what a person reads after a death. */
  private static EncodeLimits limits(int maxBytes) {
    return new EncodeLimits(maxBytes, 50_000, 16, 64 * 1024, 10_000, 64);
  }

  /** {@return how many bytes of {@link #bytes} the event takes; 0 if nothing of it fits} */
  int encode(Map<String, ?> event) {
    writer.reset(0, bytes.length);
    boolean fits = encoder.map(event);
    cuts = encoder.cuts() + (fits ? 0 : 1);
    placeholders = encoder.placeholders();
    redactions = writer.redactions();
    encoder.resetCounts();
    writer.redactions(0);
    encoder.rethrowFatal();
    return fits ? writer.position() : 0;
  }

  byte[] bytes() {
    return bytes;
  }
}
