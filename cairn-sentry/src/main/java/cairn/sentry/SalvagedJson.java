package cairn.sentry;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One JSON value, read from bytes that nobody vouches for: all of it, or all up to the damage.
 *
 * <p>Never throws. Costs time and memory in proportion to the bytes, whatever is nested in what.
 */
final class SalvagedJson {
  /*
   * Iterative: `open` holds the containers that were begun, so neither a flat value nor a deep one
   * costs stack. What lies deeper than a report can hold is passed over by counting brackets.
   *
   * A value counts once it is complete. A text, number or literal that is cut off is left out, and the
   * key before it; the containers around it are closed where they were. So a prefix of an object is an
   * object with fewer entries, and no value is there that was never written.
   */
  static final int MAX_DEPTH = 48;

  /** Scalars and containers of one value; a file of larger ones is no file of the SDK's. */
  static final int MAX_NODES = 250_000;

  private static final int MAX_NUMBER = 400;
  private static final int MAX_LONG_DIGITS = 18;

  /** Stands for what is too deep. */
  private static final String TOO_DEEP = "…";

  private record Open(
      @Nullable Map<String, @Nullable Object> map, @Nullable List<@Nullable Object> list) {}

  private final byte[] bytes;
  private final int limit;
  private int at;

  private final Deque<Open> open = new ArrayDeque<>();
  private final Deque<String> keys = new ArrayDeque<>();
  private int nodes;

  private @Nullable Object value;
  private boolean hasValue;
  private @Nullable String damage;
  private int damageOffset;
  private int end;

  private SalvagedJson(byte[] bytes, int from, int limit) {
    this.bytes = bytes;
    this.at = from;
    this.limit = limit;
  }

  /** Reads a whole range: what follows the value is damage, white space excepted. */
  static SalvagedJson of(byte[] bytes) {
    SalvagedJson json = prefix(bytes, 0, bytes.length);
    if (json.isWhole()) {
      json.skipSpace();
      if (json.at < json.limit) {
        json.damaged("bytes behind the value");
      }
    }
    return json;
  }

  /** Reads the value that a range begins with. */
  static SalvagedJson prefix(byte[] bytes, int from, int limit) {
    SalvagedJson json = new SalvagedJson(bytes, from, limit);
    json.read();
    json.end = json.at;
    return json;
  }

  /** {@return the value; null also if nothing of it is sound} */
  @Nullable Object value() {
    return value;
  }

  /** {@return the value as an object; null if it is none} */
  @SuppressWarnings("unchecked") // Made here.
  @Nullable Map<String, @Nullable Object> object() {
    return value instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : null;
  }

  /** {@return whether there is a value, and all of it is sound} */
  boolean isWhole() {
    return hasValue && damage == null;
  }

  /** {@return what is wrong; null if nothing is} */
  @Nullable String damage() {
    return damage;
  }

  /** {@return where it is wrong} */
  int damageOffset() {
    return damageOffset;
  }

  /** {@return where reading ended, behind the value if that is whole} */
  int end() {
    return end;
  }

  private void read() {
    skipSpace();
    if (at == limit) {
      damaged("there is no value");
      return;
    }
    boolean wantsValue = true;
    while (damage == null) {
      if (wantsValue) {
        wantsValue = !readValue();
      }
      if (damage == null && !wantsValue) {
        if (open.isEmpty()) {
          return;
        }
        wantsValue = next();
      }
    }
    close();
  }

  /**
   * Begins or reads a value.
   *
   * @return whether it is complete, and not a container whose first value comes next
   */
  private boolean readValue() {
    skipSpace();
    if (at >= limit) {
      damaged("value is cut");
      return false;
    }
    if (++nodes > MAX_NODES) {
      damaged("more values than limit=" + MAX_NODES);
      return false;
    }
    byte b = bytes[at];
    if (b == '{' || b == '[') {
      return container(b == '{');
    }
    if (b == '"') {
      String text = text();
      if (text != null) {
        add(text);
      }
      return text != null;
    }
    if (b == '-' || (b >= '0' && b <= '9')) {
      return number();
    }
    return literal("true", true)
        || literal("false", false)
        || literal("null", null)
        || unexpected();
  }

  private boolean container(boolean isObject) {
    if (open.size() >= MAX_DEPTH) {
      if (!skipContainer()) {
        return false;
      }
      add(TOO_DEEP);
      return true;
    }
    at++;
    if (isObject) {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      open(map, new Open(map, null));
    } else {
      List<@Nullable Object> list = new ArrayList<>();
      open(list, new Open(null, list));
    }
    skipSpace();
    if (at < limit && bytes[at] == (isObject ? '}' : ']')) {
      at++;
      open.pop();
      return true;
    }
    if (isObject) {
      key();
    }
    return false;
  }

  private void open(Object container, Open entry) {
    add(container);
    open.push(entry);
  }

  /** Passes over a container that is too deep, by its brackets alone. */
  private boolean skipContainer() {
    int begin = at;
    long depth = 0;
    while (at < limit) {
      byte b = bytes[at];
      if (b == '"') {
        if (text() == null) {
          return false;
        }
        continue;
      }
      at++;
      depth += b == '{' || b == '[' ? 1 : b == '}' || b == ']' ? -1 : 0;
      if (depth == 0) {
        return true;
      }
    }
    at = begin;
    damaged("value is cut");
    return false;
  }

  /**
   * Reads what stands between two values of a container, and closes those that end.
   *
   * @return whether a value comes next; else the outermost container has ended, or there is damage
   */
  private boolean next() {
    while (damage == null && !open.isEmpty()) {
      skipSpace();
      if (at >= limit) {
        damaged("value is cut");
        return false;
      }
      boolean isObject = open.getFirst().map() != null;
      byte b = bytes[at];
      if (b == ',') {
        at++;
        if (isObject) {
          skipSpace();
          key();
        }
        return damage == null;
      }
      if (b != (isObject ? '}' : ']')) {
        unexpected();
        return false;
      }
      at++;
      open.pop();
    }
    return false;
  }

  private void key() {
    if (at >= limit) {
      damaged("value is cut");
      return;
    }
    if (bytes[at] != '"') {
      unexpected();
      return;
    }
    String key = text();
    if (key == null) {
      return;
    }
    skipSpace();
    if (at >= limit) {
      damaged("value is cut");
    } else if (bytes[at] != ':') {
      unexpected();
    } else {
      at++;
      keys.push(key);
    }
  }

  private void add(@Nullable Object item) {
    Open parent = open.peek();
    if (parent == null) {
      value = item;
      hasValue = true;
    } else if (parent.list() != null) {
      parent.list().add(item);
    } else if (parent.map() != null) {
      parent.map().put(keys.pop(), item);
    }
  }

  /** {@return a text; null if it is damaged, which is then noted} */
  private @Nullable String text() {
    int begin = at++;
    int from = at;
    StringBuilder decoded = null;
    while (at < limit) {
      byte b = bytes[at];
      if (b == '"') {
        String rest = utf8(from, at++);
        return decoded == null ? rest : decoded.append(rest).toString();
      }
      if (b >= 0 && b < ' ') {
        unexpected();
        return null;
      }
      if (b != '\\') {
        at++;
        continue;
      }
      decoded = decoded == null ? new StringBuilder() : decoded;
      decoded.append(utf8(from, at));
      int escaped = escape();
      if (escaped < 0) {
        return null;
      }
      decoded.append((char) escaped);
      from = at;
    }
    at = begin;
    damaged("text is cut");
    return null;
  }

  /** {@return the character of an escape; -1 if it is damaged} */
  private int escape() {
    if (at + 1 >= limit) {
      at = limit;
      damaged("text is cut");
      return -1;
    }
    byte b = bytes[at + 1];
    if (b == 'u') {
      if (at + 6 > limit) {
        at = limit;
        damaged("text is cut");
        return -1;
      }
      int code = 0;
      for (int i = at + 2; i < at + 6; i++) {
        int digit = Character.digit(bytes[i], 16);
        if (digit < 0) {
          at = i;
          unexpected();
          return -1;
        }
        code = code << 4 | digit;
      }
      at += 6;
      return code;
    }
    int code = "\"\\/bfnrt".indexOf(b);
    if (code < 0) {
      at++;
      unexpected();
      return -1;
    }
    at += 2;
    return "\"\\/\b\f\n\r\t".charAt(code);
  }

  private String utf8(int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  private boolean number() {
    int from = at;
    boolean whole = true;
    while (at < limit && "+-.eE0123456789".indexOf(bytes[at]) >= 0) {
      whole &= bytes[at] == '-' ? at == from : bytes[at] >= '0' && bytes[at] <= '9';
      at++;
    }
    if (at - from > MAX_NUMBER) {
      at = from;
      return damaged("number is longer than limit=" + MAX_NUMBER);
    }
    if (at == limit && !open.isEmpty()) {
      at = from;
      return damaged("value is cut"); // There may have been more digits.
    }
    String text = new String(bytes, from, at - from, StandardCharsets.ISO_8859_1);
    try {
      Number number;
      if (!whole) {
        number = Double.parseDouble(text);
      } else if (text.length() <= MAX_LONG_DIGITS) {
        number = Long.parseLong(text);
      } else {
        BigInteger large = new BigInteger(text);
        number = large.bitLength() < Long.SIZE ? (Number) large.longValue() : large;
      }
      add(number);
      return true;
    } catch (NumberFormatException e) {
      at = from;
      return unexpected();
    }
  }

  private boolean literal(String word, @Nullable Object meaning) {
    for (int i = 0; i < word.length(); i++) {
      if (at + i >= limit) {
        return i > 0 && damaged("value is cut");
      }
      if (bytes[at + i] != word.charAt(i)) {
        return false;
      }
    }
    at += word.length();
    add(meaning);
    return true;
  }

  private void skipSpace() {
    while (at < limit) {
      byte b = bytes[at];
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        return;
      }
      at++;
    }
  }

  private boolean unexpected() {
    return damage == null
        && damaged(String.format("unexpected byte 0x%02x", at < limit ? bytes[at] : 0));
  }

  /** {@return false} */
  private boolean damaged(String what) {
    if (damage == null) {
      damage = what;
      damageOffset = at;
    }
    return false;
  }

  private void close() {
    open.clear();
    keys.clear();
  }
}
