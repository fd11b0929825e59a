package cairn.report;

import cairn.format.CborReader;
import cairn.format.CborSlice;
import cairn.format.CborWriter;
import cairn.format.EncodeLimits;
import cairn.format.KeyCache;
import cairn.format.ValueEncoder;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes the plain values that an adapter found elsewhere, as a box holds them. */
final class PlainValues {
  private static final int MAX_BYTES = 16 << 20;
  private static final int MAX_DEPTH = CborReader.MAX_DEPTH - 4;
  private static final EncodeLimits LIMITS =
      new EncodeLimits(MAX_BYTES, 1_000_000, MAX_DEPTH, 1 << 20, 100_000, 64);

  /** {@code null} in CBOR. */
  private static final byte[] NULL = {(byte) 0xf6};

  /** For a head or a number, and the end of a container with the mark of a cut. */
  private static final int ROOM = 32;

  private int cuts;

  /** {@return how many values were cut so far} */
  int cuts() {
    return cuts;
  }

  /** {@return the value, encoded} */
  CborSlice of(@Nullable Object value) {
    byte[] bytes = new byte[(int) Math.min(MAX_BYTES, bound(value, 0))];
    CborWriter writer = new CborWriter(bytes, new KeyCache());
    writer.reset(0, bytes.length);
    ValueEncoder encoder = new ValueEncoder(writer, LIMITS);
    boolean written = encoder.value(value);
    cuts += encoder.cuts() + encoder.placeholders() + (written ? 0 : 1);
    encoder.rethrowFatal();
    CborSlice slice = written ? CborSlice.of(bytes, 0, writer.position()) : null;
    if (slice == null) {
      slice = CborSlice.of(NULL, 0, NULL.length);
    }
    if (slice == null) {
      throw new AssertionError("CBOR reader refuses null");
    }
    return slice;
  }

  /** {@return what the value takes at most, unless it is cut} */
  private static long bound(@Nullable Object value, int depth) {
    if (value instanceof String text) {
      return ROOM + 3L * text.length();
    }
    if (value instanceof byte[] bytes) {
      return ROOM + (long) bytes.length;
    }
    long bound = ROOM;
    if (depth > MAX_DEPTH) {
      return bound;
    }
    if (value instanceof Map<?, ?> map) {
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        bound += bound(entry.getKey(), depth) + bound(entry.getValue(), depth + 1);
      }
    } else if (value instanceof List<?> list) {
      for (Object item : list) {
        bound += bound(item, depth + 1);
      }
    } else if (value instanceof Number && !(value instanceof Long || value instanceof Double)) {
      bound += value.toString().length();
    }
    return bound;
  }
}
