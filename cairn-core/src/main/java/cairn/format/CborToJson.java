package cairn.format;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Turns CBOR into JSON in one pass, from bytes to bytes.
 *
 * <p>Byte strings become base64, NaN and the infinities text, big integers and decimal fractions
 * numbers, invalid UTF-8 U+FFFD. A key that is no text is written as {@link CborReader#value} names
 * it. Equal keys are written as often as they were recorded: the last one counts.
 */
public final class CborToJson {
  private CborToJson() {}

  /** Writes one item; it was checked when the slice was made. */
  public static void write(JsonWriter json, CborSlice slice) throws IOException {
    try {
      CborReader reader = slice.reader();
      item(json, slice.bytes(), reader, reader.next(), 0);
    } catch (CborReader.Malformed e) {
      throw new IllegalStateException("slice changed after it was checked", e);
    }
  }

  private static void item(
      JsonWriter json, byte[] bytes, CborReader reader, CborReader.Kind kind, int depth)
      throws IOException, CborReader.Malformed {
    long argument = reader.argument();
    boolean open = reader.indefinite();
    switch (kind) {
      case UNSIGNED -> {
        if (argument >= 0) {
          json.number(argument);
        } else {
          json.number(CborReader.unsigned(argument));
        }
      }
      case NEGATIVE -> {
        if (argument >= 0) {
          json.number(-1 - argument);
        } else {
          json.number(CborReader.unsigned(argument).not());
        }
      }
      case BYTES -> json.base64(reader.contents(kind));
      case TEXT -> text(json, bytes, reader);
      case FLOAT -> json.number(reader.number());
      case FALSE, TRUE -> json.bool(kind == CborReader.Kind.TRUE);
      case SIMPLE -> json.string("simple(" + argument + ")");
      case TAG -> {
        if (argument >= 2 && argument <= 4) {
          value(json, CborReader.interpret(argument, reader.value()));
        } else {
          item(json, bytes, reader, reader.next(), depth + 1);
        }
      }
      case ARRAY -> {
        json.beginArray();
        for (long i = 0; open || i != argument; i++) {
          CborReader.Kind next = reader.next();
          if (next == CborReader.Kind.BREAK) {
            break;
          }
          item(json, bytes, reader, next, depth + 1);
        }
        json.endArray();
      }
      case MAP -> {
        json.beginObject();
        for (long i = 0; open || i != argument; i++) {
          CborReader.Kind next = reader.next();
          if (next == CborReader.Kind.BREAK) {
            break;
          }
          if (next == CborReader.Kind.TEXT) {
            text(json, bytes, reader);
            json.endName();
          } else {
            json.name(reader.key(next, depth + 1));
          }
          item(json, bytes, reader, reader.next(), depth + 1);
        }
        json.endObject();
      }
      default -> json.nothing();
    }
  }

  private static void text(JsonWriter json, byte[] bytes, CborReader reader)
      throws IOException, CborReader.Malformed {
    json.beginString();
    if (reader.indefinite()) {
      while (reader.nextChunk(CborReader.Kind.TEXT)) {
        json.text(bytes, reader.start(), reader.end());
      }
    } else {
      json.text(bytes, reader.start(), reader.end());
    }
    json.endString();
  }

  /** Writes a value as {@link CborReader#value} returns it. */
  public static void value(JsonWriter json, @Nullable Object value) throws IOException {
    if (value instanceof String text) {
      json.string(text);
    } else if (value instanceof Long number) {
      json.number(number);
    } else if (value instanceof Double number) {
      json.number(number);
    } else if (value instanceof BigInteger number) {
      json.number(number);
    } else if (value instanceof BigDecimal number) {
      json.number(number);
    } else if (value instanceof Boolean flag) {
      json.bool(flag);
    } else if (value instanceof byte[] contents) {
      json.base64(contents);
    } else if (value instanceof List<?> list) {
      json.beginArray();
      for (Object item : list) {
        value(json, item);
      }
      json.endArray();
    } else if (value instanceof Map<?, ?> map) {
      json.beginObject();
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        json.name(String.valueOf(entry.getKey()));
        value(json, entry.getValue());
      }
      json.endObject();
    } else {
      json.nothing();
    }
  }
}
