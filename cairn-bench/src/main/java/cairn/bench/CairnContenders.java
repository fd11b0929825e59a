package cairn.bench;

import cairn.format.CborWriter;
import cairn.format.EncodeLimits;
import cairn.format.KeyCache;
import cairn.format.Secrets;
import cairn.format.ValueEncoder;

/** The steps from two passes to Cairn's one. */
final class CairnContenders {
  /** So wide that nothing of {@link EncodePayload} is cut. */
  static final EncodeLimits LIMITS =
      new EncodeLimits(Bytes.CAPACITY, 100_000, 16, 8 * 1024, 10_000, 64);

  private CairnContenders() {}

  static Contender twoPassesThroughString() {
    byte[] spare = new byte[Bytes.CAPACITY];
    byte[] destination = new byte[Bytes.CAPACITY];
    return new Contender(
        value -> TwoPassJson.throughString(value, spare, destination),
        () -> destination,
        Contender.Format.JSON);
  }

  static Contender twoPasses() {
    JsonBytes out = new JsonBytes();
    return new Contender(
        value -> {
          if (!TwoPassJson.throughTree(value, out)) {
            throw notWhole();
          }
          return out.position();
        },
        out::bytes,
        Contender.Format.JSON);
  }

  static Contender onePassToJson() {
    JsonBytes out = new JsonBytes();
    OnePassJson encoder = new OnePassJson(out, LIMITS);
    return new Contender(
        value -> {
          int length = encoder.encode(value);
          if (encoder.replaced() != 0) {
            throw notWhole();
          }
          return length;
        },
        out::bytes,
        Contender.Format.JSON);
  }

  static Contender onePassToCbor() {
    return onePassToCbor(Secrets.NONE);
  }

  /** As a recorder does by default; nothing of {@link EncodePayload} is secret. */
  static Contender onePassToCborRedacting() {
    return onePassToCbor(Secrets.STANDARD);
  }

  private static Contender onePassToCbor(Secrets secrets) {
    byte[] bytes = new byte[Bytes.CAPACITY];
    CborWriter out = new CborWriter(bytes, new KeyCache(secrets));
    ValueEncoder encoder = new ValueEncoder(out, LIMITS);
    return new Contender(
        value -> {
          out.reset(0, bytes.length);
          if (!encoder.map(value) || encoder.cuts() + encoder.placeholders() != 0) {
            throw notWhole();
          }
          return out.position();
        },
        () -> bytes,
        Contender.Format.CBOR);
  }

  static IllegalStateException notWhole() {
    return new IllegalStateException("value was not encoded whole: limits=" + LIMITS);
  }
}
