package cairn.format;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORParser;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads CBOR with a library that isn't ours, into plain values that compare by kind and value. */
final class CborJudge {
  // The feature: -1 - n, as in the standard; the library's default is -n.
  private static final CBORFactory CBOR =
      CBORFactory.builder()
          .enable(CBORParser.Feature.DECODE_USING_STANDARD_NEGATIVE_BIGINT_ENCODING)
          .build();

  /** The one item that these bytes are; fails if they are more, less or malformed. */
  static Object read(byte[] bytes, int from, int to) {
    try (JsonParser parser = CBOR.createParser(bytes, from, to - from)) {
      parser.nextToken();
      Object value = value(parser);
      if (parser.nextToken() != null) {
        throw new AssertionError("more than one item");
      }
      return value;
    } catch (IOException e) {
      throw new AssertionError("malformed: " + hex(bytes, from, to), e);
    }
  }

  static Object read(CborWriter out) {
    return read(out.bytes(), 0, out.position());
  }

  static String hex(byte[] bytes, int from, int to) {
    StringBuilder hex = new StringBuilder();
    for (int i = from; i < to; i++) {
      hex.append(Character.forDigit(bytes[i] >> 4 & 15, 16));
      hex.append(Character.forDigit(bytes[i] & 15, 16));
    }
    return hex.toString();
  }

  private static Object value(JsonParser parser) throws IOException {
    JsonToken token = parser.currentToken();
    if (token == null) {
      throw new AssertionError("truncated");
    }
    return switch (token) {
      case VALUE_NULL -> null;
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT -> parser.getBigIntegerValue();
      case VALUE_NUMBER_FLOAT -> parser.getNumberValue();
      case VALUE_EMBEDDED_OBJECT -> ByteBuffer.wrap(parser.getBinaryValue());
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case START_OBJECT -> {
        Map<String, Object> map = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String key = parser.currentName();
          parser.nextToken();
          map.put(key, value(parser));
        }
        yield map;
      }
      default -> throw new AssertionError("unexpected: " + token);
    };
  }

  private CborJudge() {}
}
