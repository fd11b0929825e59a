package cairn.format;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One CBOR item where it lies, checked to be well-formed and decoded only on demand. Immutable as
 * long as nobody writes to the bytes.
 */
public final class CborSlice {
  private static final byte BREAK = (byte) 0xff;

  private final byte[] bytes;
  private final int offset;
  private final int end;

  private CborSlice(byte[] bytes, int offset, int end) {
    this.bytes = bytes;
    this.offset = offset;
    this.end = end;
  }

  /** {@return the item that fills this range, or null if that is not one well-formed item} */
  public static @Nullable CborSlice of(byte[] bytes, int offset, int end) {
    try {
      CborReader reader = new CborReader(bytes, offset, end);
      reader.skip();
      return reader.atEnd() ? new CborSlice(bytes, offset, end) : null;
    } catch (CborReader.Malformed e) {
      return null;
    }
  }

  /** {@return the item that begins at {@code offset}, or null if it is malformed} */
  public static @Nullable CborSlice at(byte[] bytes, int offset, int limit) {
    try {
      CborReader reader = new CborReader(bytes, offset, limit);
      reader.skip();
      return new CborSlice(bytes, offset, reader.offset());
    } catch (CborReader.Malformed e) {
      return null;
    }
  }

  int offset() {
    return offset;
  }

  /** {@return where the item ends} */
  public int end() {
    return end;
  }

  CborReader reader() {
    return new CborReader(bytes, offset, end);
  }

  byte[] bytes() {
    return bytes;
  }

  /** {@return the item as {@link CborReader#value}} */
  public @Nullable Object value() {
    try {
      return reader().value();
    } catch (CborReader.Malformed e) {
      return null; // cannot be: the item was checked whole
    }
  }

  /** {@return the item as text, or null if it is none} */
  public @Nullable String text() {
    return value() instanceof String text ? text : null;
  }

  /** {@return the item as a byte string, or null if it is none} */
  public byte @Nullable [] byteString() {
    return value() instanceof byte[] contents ? contents : null;
  }

  /** {@return the item as an integer, or empty if it is none or has more than 64 bits, signed} */
  public OptionalLong integer() {
    return value() instanceof Long value ? OptionalLong.of(value) : OptionalLong.empty();
  }

  /** {@return the item as an unsigned integer of 64 bits, or empty if it is none} */
  public OptionalLong unsigned() {
    try {
      CborReader reader = reader();
      return reader.next() == CborReader.Kind.UNSIGNED
          ? OptionalLong.of(reader.argument())
          : OptionalLong.empty();
    } catch (CborReader.Malformed e) {
      return OptionalLong.empty();
    }
  }

  /** {@return whether the item is a map} */
  public boolean isMap() {
    return !entries().isEmpty() || value() instanceof Map;
  }

  /** {@return the items of an array, undecoded; empty if the item is no array} */
  public List<CborSlice> items() {
    try {
      CborReader reader = reader();
      if (reader.next() != CborReader.Kind.ARRAY) {
        return List.of();
      }
      boolean open = reader.indefinite();
      long count = reader.argument();
      List<CborSlice> items = new ArrayList<>();
      for (long i = 0; open || i != count; i++) {
        int from = reader.offset();
        if (open && bytes[from] == BREAK) {
          break;
        }
        reader.skip();
        items.add(new CborSlice(bytes, from, reader.offset()));
      }
      return Collections.unmodifiableList(items);
    } catch (CborReader.Malformed e) {
      return List.of();
    }
  }

  /**
   * {@return the entries of a map by key, undecoded; empty if the item is no map} A key is text as
   * it is, a small unsigned integer in decimal. The last value of a key wins, at the place of the
   * first.
   */
  public Map<String, CborSlice> entries() {
    try {
      CborReader reader = reader();
      if (reader.next() != CborReader.Kind.MAP) {
        return Map.of();
      }
      boolean open = reader.indefinite();
      long count = reader.argument();
      Map<String, CborSlice> entries = new LinkedHashMap<>();
      for (long i = 0; open || i != count; i++) {
        CborReader.Kind kind = reader.next();
        if (kind == CborReader.Kind.BREAK) {
          break;
        }
        String key = reader.key(kind, 1);
        int from = reader.offset();
        reader.skip();
        entries.put(key, new CborSlice(bytes, from, reader.offset()));
      }
      return Collections.unmodifiableMap(entries);
    } catch (CborReader.Malformed e) {
      return Map.of();
    }
  }
}
