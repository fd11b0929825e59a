package cairn.format;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Turns CBOR into JSON in one pass, from bytes to bytes.
 *
 * <p>Byte strings become base64, NaN and the infinities text, big integers and decimal fractions
 * numbers, invalid UTF-8 U+FFFD. A key that is no text is written as {@link CborReader#value} names
 * it. Equal keys are written as often as they were recorded: the last one counts.
 *
 * <p>Each item becomes exactly one JSON value, whatever its bytes are. Where they stop being CBOR,
 * the value is ended as one that was cut: a text with {@code …}, an array with a last element
 * {@code …}, a map with a last key {@code …}.
 *
 * <p>One thread. Memory is constant, however long a stream or a string in it is: no length is
 * trusted. Nothing is allocated but big numbers (tags 2, 3 and 4) and what says where the damage
 * is.
 */
public final class CborToJson {
  /*
   * One loop over the items, with the open containers on a stack of fixed size. A tag is on it too, as
   * a container of one item that writes nothing. The input is a window: a whole array, or a buffer that
   * `fill` refills; the loop doesn't know which. A head is read whole, a string in as many parts as
   * the window makes of it.
   *
   * `run` takes what nearly all items are, with its state in local variables, and stops where something
   * else comes, or the end of the window or of the writer's buffer. Then the loop takes one item of any
   * kind, refilling and flushing as needed, and `run` goes on. Both write the same: a stream that comes
   * byte by byte is never `run`'s, and the tests compare it with the array.
   *
   * CborReader isn't used: it hands out whole strings, which a window doesn't hold. It is the judge in
   * the tests instead.
   */

  /** Where the input stops being CBOR, and why. */
  public record Damage(long offset, String what) {
    @Override
    public String toString() {
      return what + ": offset=" + offset;
    }
  }

  /** Stops the loop. Without a stack trace, as {@link CborReader.Malformed}. */
  private static final class Stop extends Exception {
    private static final long serialVersionUID = 1L;
    private final transient Damage damage;

    private Stop(Damage damage) {
      super(null, null, false, false);
      this.damage = damage;
    }
  }

  /** What encloses an item: nothing, or as its major type says. */
  private static final byte ROOT = 0;

  private static final byte ARRAY = 4;
  private static final byte MAP = 5;
  private static final byte TAG = 6;

  private static final int BYTES = 2;
  private static final int TEXT = 3;
  private static final int FALSE = 0xf4;
  private static final int TRUE = 0xf5;
  private static final int NULL = 0xf6;
  private static final int DOUBLE = 0xfb;
  private static final int BREAK = 0xff;

  private static final String CUT = "…";

  private static final int BUFFER_SIZE = 1 << 16;

  /** Texts up to here are copied without asking at each word whether to go on. */
  private static final int SHORT = 64;

  /** A big number is taken for one if it has no more bytes than this behind its first tag. */
  private static final int MAX_NUMBER_BYTES = 1024;

  private static final byte[] NONE = {};

  private final JsonWriter json;

  private @Nullable InputStream in;
  private byte[] buffer = NONE;
  private byte[] window = NONE;
  private int at;
  private int end;

  /** Where in the input the window begins. */
  private long base;

  /** Of the last head: where in the input it began, and its argument. */
  private long headOffset;

  private long argument;

  private final byte[] kinds = new byte[CborReader.MAX_DEPTH];
  private final long[] lefts = new long[CborReader.MAX_DEPTH];
  private int depth;
  private byte kind;

  /** Items, or pairs, that the container still lacks; negative if only a break ends it. */
  private long left;

  /** Whether the map has a key that lacks its value. */
  private boolean named;

  /** Whether a string was begun and not ended, and whether that is a key. */
  private boolean inString;

  private boolean inKey;

  /** A converter that writes to {@code json}; flushing that is up to the caller. */
  public CborToJson(JsonWriter json) {
    this.json = json;
  }

  /** Writes one item; it was checked when the slice was made. */
  public void write(CborSlice slice) throws IOException {
    Damage damage = write(slice.bytes(), slice.offset(), slice.end());
    if (damage != null) {
      throw new IllegalStateException("slice changed after it was checked: " + damage);
    }
  }

  /**
   * Writes the item that begins at {@code offset}; {@link #offset} then says where it ends.
   *
   * @return null, or where it is damaged
   * @throws IndexOutOfBoundsException if that is not a range of {@code bytes}
   */
  public @Nullable Damage write(byte[] bytes, int offset, int limit) throws IOException {
    if (offset < 0 || limit < offset || limit > bytes.length) {
      throw new IndexOutOfBoundsException(
          "no such range: offset=" + offset + ", limit=" + limit + ", length=" + bytes.length);
    }
    begin(null, bytes, offset, limit);
    return item();
  }

  /**
   * Writes the items of a stream, each as a line, up to its end or its first damage.
   *
   * @param source blocking; for a channel what {@code Channels.newInputStream} makes of it
   * @return null, or where it is damaged
   * @throws IOException from {@code source} or from the writer's stream; the JSON ends anywhere
   *     then
   */
  public @Nullable Damage writeLines(InputStream source) throws IOException {
    if (buffer.length == 0) {
      buffer = new byte[BUFFER_SIZE];
    }
    begin(source, buffer, 0, 0);
    Damage damage = null;
    while (damage == null && fill(1)) {
      damage = item();
      json.endLine();
    }
    return damage;
  }

  /** {@return where in the input the next item begins} */
  public long offset() {
    return base + at;
  }

  private void begin(@Nullable InputStream source, byte[] bytes, int offset, int limit) {
    in = source;
    window = bytes;
    at = offset;
    end = limit;
    base = 0;
  }

  private @Nullable Damage item() throws IOException {
    depth = 0;
    kind = ROOT;
    left = 1;
    named = false;
    inString = false;
    inKey = false;
    try {
      items();
      return null;
    } catch (Stop stop) {
      cut();
      return stop.damage;
    }
  }

  private void items() throws IOException, Stop {
    while (true) {
      run();
      if (left == 0) {
        if (kind == ROOT) {
          return;
        }
        leave();
        continue;
      }
      int initial = head();
      if (initial == BREAK) {
        endOpen();
      } else if (kind == MAP && !named) {
        key(initial);
        named = true;
      } else {
        if (initial >> 5 >= ARRAY && initial >> 5 <= TAG) {
          checkDepth(depth);
        }
        left--;
        named = false;
        value(initial);
      }
    }
  }

  /**
   * Takes items of the commonest kinds, as long as they are whole in the window and the writer has
   * room for whatever they become. {@link #value} and {@link #key} can take all that this can; here
   * everything that changes is in registers, which is what makes it fast (see RATIONALE).
   */
  private void run() {
    byte[] from = window;
    byte[] to = json.buffer;
    int i = at;
    int p = json.used;
    int lastOut = to.length - JsonWriter.ROOM;
    boolean needsComma = json.needsComma;
    boolean hasName = named;
    long missing = left;
    while (p <= lastOut) {
      if (missing == 0) {
        if (kind == ROOT) {
          break;
        }
        if (kind != TAG) {
          to[p++] = (byte) (kind == MAP ? '}' : ']');
        }
        depth--;
        kind = kinds[depth];
        missing = lefts[depth];
        needsComma = true;
        continue;
      }
      if (i == end) {
        break;
      }
      int initial = from[i] & 0xff;
      if (initial == BREAK) {
        if (missing > 0 || hasName) {
          break;
        }
        i++;
        missing = 0;
        continue;
      }
      int major = initial >> 5;
      int info = initial & 31;
      int next = i + 1;
      long value = info;
      if (info == 24 && next < end) {
        value = from[next++] & 0xff;
      } else if (info >= 24 && info < 28) {
        int width = 1 << (info - 24);
        if (width > end - next || next > from.length - Long.BYTES) {
          break;
        }
        value = JsonWriter.bigEndian(from, next, width);
        next += width;
        if (value < 0 && initial != DOUBLE) {
          break;
        }
      } else if (info >= 28) {
        if (info != 31 || (major != ARRAY && major != MAP)) {
          break;
        }
        value = -1;
      }
      boolean isKey = kind == MAP && !hasName;
      int q = p;
      if (needsComma) {
        to[q++] = ',';
      }
      if (major == TEXT) {
        if (value > end - next || value > (lastOut - p) / JsonWriter.MAX_EXPANSION) {
          break;
        }
        int start = next;
        next += (int) value;
        to[q++] = '"';
        q =
            value <= SHORT && JsonWriter.copy(from, start, next, to, q)
                ? q + (int) value
                : JsonWriter.characters(from, start, next, to, q);
        to[q++] = '"';
      } else if (isKey) {
        break;
      } else if (major == 0 || (major == 1 && value != Long.MAX_VALUE)) {
        if (major == 1) {
          to[q++] = '-';
          value++;
        }
        q = Digits.write(value, Digits.count(value), to, q);
      } else if (initial == DOUBLE && Double.isFinite(Double.longBitsToDouble(value))) {
        q = ShortestDecimal.write(Double.longBitsToDouble(value), to, q);
      } else if (initial == FALSE || initial == TRUE || initial == NULL) {
        q = JsonWriter.literal(initial == NULL ? null : initial == TRUE, to, q);
      } else if ((major == ARRAY || major == MAP) && depth < kinds.length) {
        to[q++] = (byte) (major == MAP ? '{' : '[');
        p = q;
        i = next;
        kinds[depth] = kind;
        lefts[depth] = missing - 1;
        depth++;
        kind = (byte) major;
        missing = value;
        hasName = false;
        needsComma = false;
        continue;
      } else {
        break;
      }
      i = next;
      p = q;
      if (isKey) {
        to[p++] = ':';
        needsComma = false;
        hasName = true;
      } else {
        needsComma = true;
        hasName = false;
        missing--;
      }
    }
    at = i;
    left = missing;
    named = hasName;
    json.used = p;
    json.needsComma = needsComma;
  }

  private void value(int initial) throws IOException, Stop {
    switch (initial >> 5) {
      case 0 -> json.unsigned(argument);
      case 1 -> json.negative(argument);
      case BYTES, TEXT -> {
        json.beginString();
        string(initial);
        json.endString();
      }
      case ARRAY -> {
        json.beginArray();
        enter(ARRAY, count(initial));
      }
      case MAP -> {
        json.beginObject();
        enter(MAP, count(initial));
      }
      case TAG -> {
        Number number = bigNumber(depth);
        if (number != null) {
          json.bigNumber(number);
        } else {
          enter(TAG, 1);
        }
      }
      default -> simple(initial);
    }
  }

  private void simple(int initial) throws IOException {
    switch (initial & 31) {
      case 20, 21 -> json.bool(initial == TRUE);
      case 22, 23 -> json.nothing();
      case 25 -> json.number(CborReader.half((int) argument));
      case 26 -> json.number(Float.intBitsToFloat((int) argument));
      case 27 -> json.number(Double.longBitsToDouble(argument));
      default -> json.string("simple(" + argument + ")");
    }
  }

  private void key(int first) throws IOException, Stop {
    int initial = first;
    int inner = depth;
    Number number = null;
    while (initial >> 5 == TAG && number == null) {
      checkDepth(inner);
      number = bigNumber(inner);
      if (number == null) {
        inner++;
        initial = head();
        if (initial == BREAK) {
          throw stop("break in a tag", offset() - 1);
        }
      }
    }
    String name =
        switch (initial >> 5) {
          case BYTES -> "(bytes)";
          case ARRAY -> "(array)";
          case MAP -> "(map)";
          default -> null;
        };
    if (name != null) {
      json.name(name);
      named = true;
      skip(initial, inner);
    } else if (number == null && initial >> 5 == 7 && isText(initial)) {
      simple(initial);
      json.endName();
    } else {
      json.beginString();
      if (number != null) {
        json.bigNumber(number);
      } else if (initial >> 5 == TEXT) {
        inKey = true;
        string(initial);
        inKey = false;
      } else {
        value(initial);
      }
      json.endString();
      json.endName();
    }
  }

  /** {@return whether {@link #simple} writes a text for this} */
  private boolean isText(int initial) {
    return switch (initial & 31) {
      case 20, 21, 22, 23 -> false;
      case 25 -> !Double.isFinite(CborReader.half((int) argument));
      case 26 -> !Float.isFinite(Float.intBitsToFloat((int) argument));
      case 27 -> !Double.isFinite(Double.longBitsToDouble(argument));
      default -> true;
    };
  }

  private void enter(byte inner, long count) {
    kinds[depth] = kind;
    lefts[depth] = left;
    depth++;
    kind = inner;
    left = count;
  }

  private void leave() throws IOException {
    if (kind == ARRAY) {
      json.endArray();
    } else if (kind == MAP) {
      json.endObject();
    }
    depth--;
    kind = kinds[depth];
    left = lefts[depth];
  }

  /** Takes a break. */
  private void endOpen() throws Stop {
    if (left > 0 || named) {
      String what =
          switch (kind) {
            case ROOT -> "break outside of an item";
            case TAG -> "break in a tag";
            default -> named ? "key without a value" : "break in an item of definite length";
          };
      throw stop(what, offset() - 1);
    }
    left = 0;
  }

  /** Ends what is open as something that was cut. */
  private void cut() throws IOException {
    if (inString) {
      json.endBase64();
      json.cutMark();
      json.endString();
      if (inKey) {
        json.endName();
        named = true;
      }
    }
    while (kind != ROOT) {
      if (kind == MAP) {
        if (named) {
          json.string(CUT);
        }
        json.name(CUT).bool(true);
      } else if (kind == ARRAY || left > 0) {
        json.string(CUT);
      }
      named = false;
      leave();
    }
    if (left > 0) {
      json.string(CUT);
    }
  }

  /** {@return how many items a container has, or less than 0 if only a break ends it} */
  private long count(int initial) {
    if (isOpen(initial)) {
      return -1;
    }
    // So many that nobody will count whether one is missing.
    return argument < 0 ? Long.MAX_VALUE : argument;
  }

  private static boolean isOpen(int initial) {
    return (initial & 31) == 31;
  }

  private void checkDepth(int depth) throws Stop {
    if (depth >= CborReader.MAX_DEPTH) {
      throw stop("nested too deep, limit=" + CborReader.MAX_DEPTH, headOffset);
    }
  }

  /** Writes the contents of a string of any length, in as many parts as it takes. */
  private void string(int initial) throws IOException, Stop {
    inString = true;
    int major = initial >> 5;
    if (isOpen(initial)) {
      while (nextChunk(major)) {
        contents(major);
      }
    } else {
      contents(major);
    }
    json.endBase64();
    inString = false;
  }

  private boolean nextChunk(int major) throws IOException, Stop {
    int initial = head();
    if (initial == BREAK) {
      return false;
    }
    if (initial >> 5 != major || isOpen(initial)) {
      throw stop("chunk of another kind", headOffset);
    }
    return true;
  }

  /** Writes the bytes that a head announced; or only reads them, if {@code major} is 0. */
  private void contents(int major) throws IOException, Stop {
    long missing = argument; // unsigned
    while (missing != 0) {
      int available = end - at;
      boolean last = missing > 0 && missing <= available;
      int part = last ? (int) missing : available;
      if (major == TEXT) {
        part -= last ? 0 : Utf8.incomplete(window, at, end);
        json.text(window, at, at + part);
      } else if (major == BYTES) {
        json.base64(window, at, at + part);
      }
      at += part;
      missing -= part;
      if (!last && !fill(end - at + 1)) {
        throw stop("string is longer than what is left", headOffset);
      }
    }
  }

  /** Reads the rest of an item and writes nothing. */
  private void skip(int initial, int depth) throws IOException, Stop {
    int major = initial >> 5;
    if (major == BYTES || major == TEXT) {
      if (isOpen(initial)) {
        while (nextChunk(major)) {
          contents(0);
        }
      } else {
        contents(0);
      }
    } else if (major >= ARRAY && major <= TAG) {
      checkDepth(depth);
      long count = major == TAG ? 1 : count(initial);
      for (long i = 0; i != count; i++) {
        int next = head();
        if (next == BREAK && count < 0) {
          return;
        }
        skipInner(
            next, depth, major == TAG ? "break in a tag" : "break in an item of definite length");
        if (major == MAP) {
          skipInner(head(), depth, "key without a value");
        }
      }
    }
  }

  private void skipInner(int initial, int depth, String ifBreak) throws IOException, Stop {
    if (initial == BREAK) {
      throw stop(ifBreak, offset() - 1);
    }
    skip(initial, depth + 1);
  }

  /** Takes the number that the last head, a tag, begins; or returns null and takes nothing. */
  private @Nullable Number bigNumber(int depth) throws IOException {
    if (argument < 2 || argument > 4) {
      return null;
    }
    while (true) {
      int available = Math.min(end - at, MAX_NUMBER_BYTES);
      try {
        CborReader reader = new CborReader(window, at, at + available);
        Number number = number(reader, argument, depth, true);
        if (number != null) {
          at = reader.offset();
        }
        return number;
      } catch (CborReader.Malformed e) {
        if (available == MAX_NUMBER_BYTES || !fill(available + 1)) {
          return null;
        }
      }
    }
  }

  /** {@return what an integer, or tags and what follows them stand for; null if it's no number} */
  private static @Nullable Number number(
      CborReader reader, long tag, int depth, boolean mayBeDecimal) throws CborReader.Malformed {
    long integerTag = tag == 4 ? 0 : tag;
    boolean isDecimal = tag == 4;
    int inner = depth + 1;
    CborReader.Kind next = reader.next();
    for (; next == CborReader.Kind.TAG; next = reader.next()) {
      integerTag =
          reader.argument() == 2 || reader.argument() == 3 ? reader.argument() : integerTag;
      isDecimal |= reader.argument() == 4;
      inner++;
    }
    if (inner > CborReader.MAX_DEPTH) {
      return null;
    }
    return switch (next) {
      case UNSIGNED, NEGATIVE -> mayBeDecimal ? null : reader.whole(next);
      case BYTES ->
          CborReader.interpret(integerTag, reader.contents(next)) instanceof BigInteger integer
              ? integer
              : null;
      case ARRAY -> isDecimal && mayBeDecimal ? decimal(reader, inner) : null;
      default -> null;
    };
  }

  private static @Nullable Number decimal(CborReader reader, int depth)
      throws CborReader.Malformed {
    boolean isOpen = reader.indefinite();
    if (depth >= CborReader.MAX_DEPTH || (!isOpen && reader.argument() != 2)) {
      return null;
    }
    Number exponent = number(reader, 0, depth, false);
    Number mantissa = exponent == null ? null : number(reader, 0, depth, false);
    if (exponent == null
        || mantissa == null
        || (isOpen && reader.next() != CborReader.Kind.BREAK)) {
      return null;
    }
    Object value = CborReader.interpret(4, List.of(exponent, mantissa));
    return value instanceof BigDecimal decimal ? decimal : null;
  }

  /** Reads one head. */
  private int head() throws IOException, Stop {
    if (at == end && !fill(1)) {
      throw stop("item is cut", offset());
    }
    headOffset = base + at;
    int initial = window[at++] & 0xff;
    int info = initial & 31;
    if (info < 24) {
      argument = info;
    } else if (info < 28) {
      longArgument(1 << (info - 24), initial);
    } else if (info != 31 || initial >> 5 < BYTES || initial >> 5 == TAG) {
      throw stop("reserved length", headOffset);
    }
    return initial;
  }

  private void longArgument(int width, int initial) throws IOException, Stop {
    if (end - at < width && !fill(width)) {
      throw stop("head is cut", headOffset);
    }
    long value = 0;
    for (int i = 0; i < width; i++) {
      value = value << Byte.SIZE | (window[at++] & 0xff);
    }
    if (initial == 0xf8 && value < 32) {
      throw stop("simple value in two bytes", headOffset);
    }
    argument = value;
  }

  /** {@return whether there are {@code count} bytes in the window now} */
  private boolean fill(int count) throws IOException {
    int kept = end - at;
    if (kept >= count || in == null) {
      return kept >= count;
    }
    System.arraycopy(window, at, window, 0, kept);
    base += at;
    at = 0;
    end = kept;
    while (end < count) {
      int read = in.read(window, end, window.length - end);
      if (read < 0) {
        return false;
      }
      if (read == 0) {
        throw new IOException("source has neither bytes nor an end: offset=" + (base + end));
      }
      end += read;
    }
    return true;
  }

  private static Stop stop(String what, long offset) {
    return new Stop(new Damage(offset, what));
  }
}
