package cairn.bench;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * One way to turn a value of {@link EncodePayload} into bytes in memory that is used again. One
 * thread.
 *
 * @param encoder returns how many bytes it wrote
 * @param output where they are, from the start
 * @param format what they are
 */
record Contender(Encoder encoder, Supplier<byte[]> output, Format format) {

  /** What encodes. */
  interface Encoder {
    int encode(Map<String, Object> value) throws Exception;
  }

  /** Which reader the bytes are for. */
  enum Format {
    JSON,
    CBOR,
    JSONB
  }

  /** All names that {@link #open} knows. */
  static final List<String> NAMES =
      List.of(
          "a",
          "b",
          "c",
          "d",
          "d-redacting",
          "jackson",
          "jackson-databind",
          "jackson-cbor",
          "jackson-cbor-databind",
          "jackson-jr",
          "dsl-json",
          "fastjson2",
          "fastjson2-jsonb",
          "gson",
          "sentry");

  static Contender open(String name) {
    return switch (name) {
      case "a" -> CairnContenders.twoPassesThroughString();
      case "b" -> CairnContenders.twoPasses();
      case "c" -> CairnContenders.onePassToJson();
      case "d" -> CairnContenders.onePassToCbor();
      case "d-redacting" -> CairnContenders.onePassToCborRedacting();
      case "jackson" -> JacksonContenders.streaming();
      case "jackson-databind" -> JacksonContenders.databind();
      case "jackson-cbor" -> JacksonContenders.streamingCbor();
      case "jackson-cbor-databind" -> JacksonContenders.databindCbor();
      case "jackson-jr" -> JacksonContenders.jr();
      case "dsl-json" -> PeerContenders.dslJson();
      case "fastjson2" -> PeerContenders.fastjson();
      case "fastjson2-jsonb" -> PeerContenders.fastjsonBinary();
      case "gson" -> PeerContenders.gson();
      case "sentry" -> PeerContenders.sentry();
      default ->
          throw new IllegalArgumentException(
              "unknown contender: name=" + name + ", known=" + NAMES);
    };
  }

  /** {@return what a table calls it} */
  static String label(String name) {
    return switch (name) {
      case "a" -> "(a) two passes: tree, String, bytes, spare buffer";
      case "b" -> "(b) two passes: tree, bytes";
      case "c" -> "(c) one pass to JSON";
      case "d" -> "**(d) Cairn: one pass to CBOR**";
      case "d-redacting" -> "Cairn, looking for secrets, as by default";
      case "jackson" -> "Jackson, streaming";
      case "jackson-databind" -> "Jackson, databind";
      case "jackson-cbor" -> "Jackson CBOR, streaming";
      case "jackson-cbor-databind" -> "Jackson CBOR, databind";
      case "fastjson2-jsonb" -> "fastjson2, JSONB";
      case "sentry" -> "sentry-java's serializer";
      default -> name;
    };
  }
}
