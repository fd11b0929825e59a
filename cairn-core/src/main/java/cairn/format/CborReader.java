package cairn.format;

import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Pull parser of CBOR (RFC 8949) over a range of bytes that nobody vouches for.
 *
 * <p>One thread. Takes definite and indefinite lengths, every integer and float, text, byte
 * strings, tags 2, 3 and 4; other tags are skipped and their content kept. Each length is checked
 * before it is used, nesting is limited to {@link #MAX_DEPTH}, and an item costs time and memory in
 * proportion to its bytes. Malformed input throws {@link Malformed}, never anything else.
 */
public final class CborReader {
  /** Arrays, maps and tags may nest this deep. */
  public static final int MAX_DEPTH = 64;

  /**
   * Big integers of more bytes are kept as byte strings: their decimal form would cost more than
   * its length, and JSON parsers refuse numbers of more than about 1,000 digits.
   */
  public static final int MAX_BIG_INTEGER_BYTES = 400;

  /** What the head of an item says it is. */
  public enum Kind {
    /** {@link #argument()} is the value, unsigned. */
    UNSIGNED,
    /** The value is -1 - {@link #argument()}, the argument taken as unsigned. */
    NEGATIVE,
    /** Bytes from {@link #start()} to {@link #end()}; or chunks, if {@link #indefinite()}. */
    BYTES,
    /** As {@link #BYTES}, in UTF-8. */
    TEXT,
    /** {@link #argument()} items follow; or up to a break, if {@link #indefinite()}. */
    ARRAY,
    /** As {@link #ARRAY}, in pairs. */
    MAP,
    /** {@link #argument()} is the tag; its content follows. */
    TAG,
    /** A float; {@link #number()} is its value. */
    FLOAT,
    /** False. */
    FALSE,
    /** True. */
    TRUE,
    /** Null, or undefined. */
    NULL,
    /** Another simple value; {@link #argument()} is its number. */
    SIMPLE,
    /** The end of an item of indefinite length. */
    BREAK
  }

  /**
   * The bytes are not well-formed CBOR. Without a stack trace: it is an answer, not an accident.
   */
  public static final class Malformed extends Exception {
    private static final long serialVersionUID = 1L;

    Malformed(String what, int offset) {
      super(what + ": offset=" + offset, null, false, false);
    }
  }

  private final byte[] bytes;
  private final int limit;
  private int offset;

  private long argument;
  private boolean indefinite;
  private int start;
  private int end;
  private double number;

  /**
   * Reads from {@code offset} up to {@code limit}.
   *
   * @throws IndexOutOfBoundsException if that is not a range of {@code bytes}
   */
  public CborReader(byte[] bytes, int offset, int limit) {
    if (offset < 0 || limit < offset || limit > bytes.length) {
      throw new IndexOutOfBoundsException(
          "no such range: offset=" + offset + ", limit=" + limit + ", length=" + bytes.length);
    }
    this.bytes = bytes;
    this.offset = offset;
    this.limit = limit;
  }

  /** {@return where the next item begins} */
  public int offset() {
    return offset;
  }

  /** {@return whether all bytes are read} */
  public boolean atEnd() {
    return offset == limit;
  }

  /** {@return the argument of the last head} */
  public long argument() {
    return argument;
  }

  /** {@return whether the last head opens an item of indefinite length} */
  public boolean indefinite() {
    return indefinite;
  }

  /** {@return where the bytes of the last text or byte string begin} */
  public int start() {
    return start;
  }

  /** {@return where the bytes of the last text or byte string end} */
  public int end() {
    return end;
  }

  /** {@return the value of the last float} */
  public double number() {
    return number;
  }

  /** Reads one head, and the bytes of a string of definite length with it. */
  public Kind next() throws Malformed {
    if (offset >= limit) {
      throw new Malformed("item is cut", offset);
    }
    int at = offset;
    int initial = bytes[offset++] & 0xff;
    int major = initial >> 5;
    int info = initial & 31;
    indefinite = false;
    if (info < 24) {
      argument = info;
    } else if (info <= 27) {
      int width = 1 << (info - 24);
      if (width > limit - offset) {
        throw new Malformed("head is cut", at);
      }
      long value = 0;
      for (int i = 0; i < width; i++) {
        value = value << 8 | (bytes[offset++] & 0xff);
      }
      argument = value;
    } else if (info == 31 && major >= 2 && major != 6) {
      argument = 0;
      indefinite = major != 7;
    } else {
      throw new Malformed("reserved length", at);
    }
    return switch (major) {
      case 0 -> Kind.UNSIGNED;
      case 1 -> Kind.NEGATIVE;
      case 2 -> string(Kind.BYTES, at);
      case 3 -> string(Kind.TEXT, at);
      case 4 -> Kind.ARRAY;
      case 5 -> Kind.MAP;
      case 6 -> Kind.TAG;
      default -> special(info, at);
    };
  }

  private Kind string(Kind kind, int at) throws Malformed {
    if (!indefinite) {
      if (argument < 0 || argument > limit - offset) {
        throw new Malformed("string is longer than what is left", at);
      }
      start = offset;
      end = offset + (int) argument;
      offset = end;
    }
    return kind;
  }

  private Kind special(int info, int at) throws Malformed {
    return switch (info) {
      case 20 -> Kind.FALSE;
      case 21 -> Kind.TRUE;
      case 22, 23 -> Kind.NULL;
      case 25 -> floating(half((int) argument));
      case 26 -> floating(shortest(Float.intBitsToFloat((int) argument)));
      case 27 -> floating(Double.longBitsToDouble(argument));
      case 31 -> Kind.BREAK;
      default -> {
        if (info == 24 && argument < 32) {
          throw new Malformed("simple value in two bytes", at);
        }
        yield Kind.SIMPLE;
      }
    };
  }

  private Kind floating(double value) {
    number = value;
    return Kind.FLOAT;
  }

  /** {@return the double with the same shortest decimal form: 0.1f is 0.1} */
  private static double shortest(float value) {
    return Float.isFinite(value) ? Double.parseDouble(ShortestDecimal.text(value)) : value;
  }

  static double half(int bits) {
    int exponent = (bits >> 10) & 0x1f;
    int mantissa = bits & 0x3ff;
    double value;
    if (exponent == 0) {
      value = Math.scalb((double) mantissa, -24);
    } else if (exponent < 31) {
      value = Math.scalb((double) (mantissa + 1024), exponent - 25);
    } else {
      value = mantissa == 0 ? Double.POSITIVE_INFINITY : Double.NaN;
    }
    return (bits & 0x8000) == 0 ? value : -value;
  }

  /** Checks one whole item and moves behind it. */
  public void skip() throws Malformed {
    if (skipOrBreak(0)) {
      throw new Malformed("break outside of an item", offset - 1);
    }
  }

  /** {@return whether it was a break} */
  private boolean skipOrBreak(int depth) throws Malformed {
    int at = offset;
    Kind kind = next();
    switch (kind) {
      case BREAK -> {
        return true;
      }
      case BYTES, TEXT -> {
        if (indefinite) {
          while (nextChunk(kind)) {}
        }
      }
      case TAG -> {
        enter(depth, at);
        if (skipOrBreak(depth + 1)) {
          throw new Malformed("break in a tag", offset - 1);
        }
      }
      case ARRAY, MAP -> {
        enter(depth, at);
        skipItems(kind, depth);
      }
      default -> {}
    }
    return false;
  }

  private void skipItems(Kind kind, int depth) throws Malformed {
    boolean open = indefinite;
    long count = argument;
    for (long i = 0; open || i != count; i++) {
      if (skipOrBreak(depth + 1)) {
        if (!open) {
          throw new Malformed("break in an item of definite length", offset - 1);
        }
        return;
      }
      if (kind == Kind.MAP && skipOrBreak(depth + 1)) {
        throw new Malformed("key without a value", offset - 1);
      }
    }
  }

  private static void enter(int depth, int at) throws Malformed {
    if (depth >= MAX_DEPTH) {
      throw new Malformed("nested too deep, limit=" + MAX_DEPTH, at);
    }
  }

  /**
   * Reads the next chunk of a string of indefinite length.
   *
   * @return false if it was the break
   */
  boolean nextChunk(Kind kind) throws Malformed {
    int at = offset;
    Kind chunk = next();
    if (chunk == Kind.BREAK) {
      return false;
    }
    if (chunk != kind || indefinite) {
      throw new Malformed("chunk of another kind", at);
    }
    return true;
  }

  /**
   * {@return the next item as null, Boolean, Long, BigInteger, Double, BigDecimal, String, byte[],
   * an unmodifiable List or an unmodifiable Map with String keys}
   *
   * <p>A key that is no text becomes one: a number its decimal form, a container {@code (array)} or
   * {@code (map)}. The last value of a key wins.
   */
  public @Nullable Object value() throws Malformed {
    return value(next(), 0);
  }

  private @Nullable Object value(Kind kind, int depth) throws Malformed {
    int at = offset;
    return switch (kind) {
      case UNSIGNED, NEGATIVE -> whole(kind);
      case BYTES -> contents(kind);
      case TEXT -> text();
      case FLOAT -> number;
      case FALSE -> false;
      case TRUE -> true;
      case NULL -> null;
      case SIMPLE -> "simple(" + argument + ")";
      case TAG -> {
        enter(depth, at);
        yield tagged(argument, depth);
      }
      case ARRAY -> {
        enter(depth, at);
        yield list(depth);
      }
      case MAP -> {
        enter(depth, at);
        yield map(depth);
      }
      case BREAK -> throw new Malformed("break outside of an item", offset - 1);
    };
  }

  private List<@Nullable Object> list(int depth) throws Malformed {
    boolean open = indefinite;
    long count = argument;
    List<@Nullable Object> list = new ArrayList<>();
    for (long i = 0; open || i != count; i++) {
      Kind item = next();
      if (item == Kind.BREAK && open) {
        break;
      }
      list.add(value(item, depth + 1));
    }
    return Collections.unmodifiableList(list);
  }

  private Map<String, @Nullable Object> map(int depth) throws Malformed {
    boolean open = indefinite;
    long count = argument;
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    for (long i = 0; open || i != count; i++) {
      Kind item = next();
      if (item == Kind.BREAK && open) {
        break;
      }
      String key = key(item, depth + 1);
      map.put(key, value(next(), depth + 1));
    }
    return Collections.unmodifiableMap(map);
  }

  /** {@return a key whose head was just read, as text} */
  String key(Kind kind, int depth) throws Malformed {
    Object key = value(kind, depth);
    if (key instanceof String text) {
      return text;
    }
    if (key instanceof List) {
      return "(array)";
    }
    if (key instanceof Map) {
      return "(map)";
    }
    if (key instanceof byte[]) {
      return "(bytes)";
    }
    if (key instanceof Double number && Double.isFinite(number)) {
      return ShortestDecimal.text(number);
    }
    return String.valueOf(key);
  }

  private @Nullable Object tagged(long tag, int depth) throws Malformed {
    Object content = value(next(), depth + 1);
    return interpret(tag, content);
  }

  /** {@return the big number of tag 2, 3 or 4, or {@code content} if it is none} */
  static @Nullable Object interpret(long tag, @Nullable Object content) {
    if ((tag == 2 || tag == 3)
        && content instanceof byte[] magnitude
        && magnitude.length <= MAX_BIG_INTEGER_BYTES) {
      BigInteger value = new BigInteger(1, magnitude);
      return tag == 2 ? value : value.not();
    }
    if (tag == 4
        && content instanceof List<?> pair
        && pair.size() == 2
        && pair.get(0) instanceof Long exponent
        && exponent > -Integer.MAX_VALUE
        && exponent < Integer.MAX_VALUE) {
      int scale = (int) -exponent;
      if (pair.get(1) instanceof Long mantissa) {
        return BigDecimal.valueOf(mantissa, scale);
      }
      if (pair.get(1) instanceof BigInteger mantissa) {
        return new BigDecimal(mantissa, scale);
      }
    }
    return content;
  }

  /** {@return the integer whose head was just read, a Long if it is one} */
  Number whole(Kind kind) {
    boolean negative = kind == Kind.NEGATIVE;
    if (argument >= 0) {
      return negative ? -1 - argument : argument;
    }
    BigInteger unsigned = BigInteger.valueOf(argument & Long.MAX_VALUE).setBit(63);
    return negative ? unsigned.not() : unsigned;
  }

  /** {@return the text whose head was just read; U+FFFD where it is no UTF-8} */
  private String text() throws Malformed {
    if (!indefinite) {
      return new String(bytes, start, end - start, StandardCharsets.UTF_8);
    }
    StringBuilder text = new StringBuilder();
    while (nextChunk(Kind.TEXT)) {
      text.append(new String(bytes, start, end - start, StandardCharsets.UTF_8));
    }
    return text.toString();
  }

  /** {@return the bytes of the byte string whose head was just read} */
  byte[] contents(Kind kind) throws Malformed {
    if (!indefinite) {
      return Arrays.copyOfRange(bytes, start, end);
    }
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    while (nextChunk(kind)) {
      all.write(bytes, start, end - start);
    }
    return all.toByteArray();
  }
}
