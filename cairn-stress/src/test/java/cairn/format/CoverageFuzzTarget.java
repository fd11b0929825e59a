package cairn.format;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * What a coverage-guided fuzzer calls with bytes of its choice. They are read as CBOR, and by
 * another way as the description of a value that is encoded.
 */
public final class CoverageFuzzTarget {
  private static final int CAPACITY = 1 << 16;
  private static final KeyCache KEYS = new KeyCache(Secrets.STANDARD);

  private final byte[] data;
  private int at;

  private CoverageFuzzTarget(byte[] data) {
    this.data = data;
  }

  /** Called by the fuzzer. */
  public static void fuzzerTestOneInput(byte[] data) throws IOException {
    if (data.length == 0) {
      return;
    }
    if ((data[0] & 1) == 0) {
      read(Arrays.copyOfRange(data, 1, data.length));
    } else {
      new CoverageFuzzTarget(data).encode();
    }
  }

  /** Our reader takes it or refuses it; what it takes is JSON, the same from array and stream. */
  private static void read(byte[] cbor) throws IOException {
    CborSlice slice = CborSlice.of(cbor, 0, cbor.length);
    if (slice != null) {
      slice.value();
    }
    byte[] json = json(cbor);
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    JsonWriter writer = new JsonWriter(lines);
    new CborToJson(writer).writeLines(new ByteArrayInputStream(cbor));
    writer.flush();
    if (slice != null && !lines.toString(StandardCharsets.UTF_8).strip().equals(text(json))) {
      throw new AssertionError(text(json) + " is not " + lines);
    }
    GraphCheck.parse(text(json));
  }

  private static byte[] json(byte[] cbor) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    JsonWriter writer = new JsonWriter(out);
    new CborToJson(writer).write(cbor, 0, cbor.length);
    writer.flush();
    return out.toByteArray();
  }

  private static String text(byte[] json) {
    return new String(json, StandardCharsets.UTF_8).strip();
  }

  /** What is encoded, within limits, is one well-formed item and legal JSON. */
  private void encode() throws IOException {
    at = 1;
    EncodeLimits limits =
        new EncodeLimits(
            1 + (next() << 3), 1 + next(), 1 + (next() & 15), 8 + next(), next() & 31, 2);
    int room = next() << 2;
    CborWriter out = new CborWriter(new byte[CAPACITY], KEYS);
    ValueEncoder encoder = new ValueEncoder(out, limits);
    out.reset(7, 7 + room);
    if (!encoder.value(value(0))) {
      if (out.position() != 7) {
        throw new AssertionError("position moved: " + out.position());
      }
      return;
    }
    if (out.position() > 7 + Math.min(room, limits.maxBytes())) {
      throw new AssertionError("beyond the limit: " + out.position());
    }
    CborJudge.read(out.bytes(), 7, out.position());
    byte[] cbor = Arrays.copyOfRange(out.bytes(), 7, out.position());
    if (CborSlice.of(cbor, 0, cbor.length) == null) {
      throw new AssertionError("our own reader refuses it");
    }
    GraphCheck.parse(text(json(cbor)));
  }

  private int next() {
    return at < data.length ? data[at++] & 0xff : 0;
  }

  private Object value(int depth) {
    int kind = next();
    return switch (depth > 40 ? kind % 9 : kind % 16) {
      case 0 -> null;
      case 1 -> next() - 128L;
      case 2 -> new BigInteger(1, bytes()).negate();
      case 3 -> Double.longBitsToDouble(new BigInteger(1, bytes()).longValue());
      case 4, 5, 6 -> new String(bytes(), StandardCharsets.UTF_8);
      case 7 -> bytes();
      case 8 -> new BigDecimal(new BigInteger(1, bytes()), next() - 128);
      case 9, 10 -> {
        List<Object> list = new ArrayList<>();
        for (int i = next() & 15; i > 0; i--) {
          list.add(value(depth + 1));
        }
        yield (kind & 16) == 0 ? list : list.toArray();
      }
      case 11, 12 -> {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = next() & 15; i > 0; i--) {
          map.put(new String(bytes(), StandardCharsets.ISO_8859_1), value(depth + 1));
        }
        yield map;
      }
      case 13 -> Optional.ofNullable(value(depth + 1));
      case 14 -> new AtomicReference<>(value(depth + 1));
      default ->
          new Object() {
            @Override
            public String toString() {
              throw new IllegalStateException();
            }
          };
    };
  }

  private byte[] bytes() {
    int length = Math.min(next(), data.length - at);
    byte[] bytes = Arrays.copyOfRange(data, at, at + Math.max(0, length));
    at += bytes.length;
    return bytes;
  }
}
