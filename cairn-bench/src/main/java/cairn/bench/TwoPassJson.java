package cairn.bench;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Normalises a value to a tree of its own, then encodes the tree as JSON: how it was done before
 * one pass did both.
 */
final class TwoPassJson {
  private static final String HEX = "0123456789abcdef";
  private static final int MAX_DEPTH = 16;

  private TwoPassJson() {}

  /** {@return a copy of maps with text keys, lists, strings, numbers and booleans only} */
  static @Nullable Object normalised(@Nullable Object v) {
    return normalised(v, MAX_DEPTH);
  }

  private static @Nullable Object normalised(@Nullable Object v, int levels) {
    if (v == null
        || v instanceof String
        || v instanceof Long
        || v instanceof Integer
        || v instanceof Boolean
        || v instanceof Double) {
      return v;
    }
    if (levels == 0) {
      return "…";
    }
    if (v instanceof Map<?, ?> m) {
      // As many buckets as it takes for this size not to grow.
      Map<String, @Nullable Object> copy = new LinkedHashMap<>(m.size() * 4 / 3 + 1);
      for (Map.Entry<?, ?> e : m.entrySet()) {
        Object key = e.getKey();
        copy.put(
            key instanceof String s ? s : String.valueOf(key),
            normalised(e.getValue(), levels - 1));
      }
      return copy;
    }
    if (v instanceof List<?> l) {
      List<@Nullable Object> copy = new ArrayList<>(l.size());
      for (Object element : l) {
        copy.add(normalised(element, levels - 1));
      }
      return copy;
    }
    return v instanceof Number ? v : String.valueOf(v);
  }

  /** By way of a String, its bytes, and a spare buffer. {@return the length} */
  static int throughString(Object value, byte[] spare, byte[] destination) {
    StringBuilder json = new StringBuilder();
    append(json, normalised(value));
    byte[] bytes = json.toString().getBytes(StandardCharsets.UTF_8);
    System.arraycopy(bytes, 0, spare, 0, bytes.length);
    System.arraycopy(spare, 0, destination, 0, bytes.length);
    return bytes.length;
  }

  private static void append(StringBuilder json, @Nullable Object v) {
    if (v instanceof String s) {
      append(json, s);
    } else if (v instanceof Map<?, ?> m) {
      char separator = '{';
      for (Map.Entry<?, ?> e : m.entrySet()) {
        json.append(separator);
        separator = ',';
        append(json, (String) e.getKey());
        json.append(':');
        append(json, e.getValue());
      }
      json.append(m.isEmpty() ? "{}" : "}");
    } else if (v instanceof List<?> l) {
      char separator = '[';
      for (Object element : l) {
        json.append(separator);
        separator = ',';
        append(json, element);
      }
      json.append(l.isEmpty() ? "[]" : "]");
    } else if (v instanceof Integer n) {
      json.append(n.intValue());
    } else if (v instanceof Long n) {
      json.append(n.longValue());
    } else if (v instanceof Double d) {
      json.append(d.doubleValue());
    } else {
      json.append(v);
    }
  }

  /** Runs without anything to escape are copied at once. */
  private static void append(StringBuilder json, String s) {
    json.append('"');
    int copied = 0;
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c < 0x20 || c == '"' || c == '\\') {
        json.append(s, copied, i).append('\\');
        copied = i + 1;
        switch (c) {
          case '"', '\\' -> json.append(c);
          case '\n' -> json.append('n');
          case '\r' -> json.append('r');
          case '\t' -> json.append('t');
          default -> json.append("u00").append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 15));
        }
      }
    }
    json.append(s, copied, s.length()).append('"');
  }

  /** Straight to bytes, from the start of the array; the tree needs no guards. {@return whether} */
  static boolean throughTree(Object value, JsonBytes out) {
    out.reset(0, out.bytes().length);
    return write(out, normalised(value));
  }

  private static boolean write(JsonBytes out, @Nullable Object v) {
    if (v instanceof String s) {
      return out.string(s, Integer.MAX_VALUE) == JsonBytes.WHOLE;
    }
    if (v instanceof Long n) {
      return out.integer(n);
    }
    if (v instanceof Integer n) {
      return out.integer(n);
    }
    if (v instanceof Boolean b) {
      return out.bool(b);
    }
    if (v instanceof Double d) {
      return out.floating(d);
    }
    if (v instanceof Map<?, ?> m) {
      boolean whole = out.one('{');
      for (Map.Entry<?, ?> e : m.entrySet()) {
        whole &= out.separate() && out.key((String) e.getKey()) && write(out, e.getValue());
      }
      return whole && out.one('}');
    }
    if (v instanceof List<?> l) {
      boolean whole = out.one('[');
      for (int i = 0; i < l.size(); i++) {
        whole &= out.separate() && write(out, l.get(i));
      }
      return whole && out.one(']');
    }
    return v == null ? out.nul() : out.string(v.toString(), Integer.MAX_VALUE) == JsonBytes.WHOLE;
  }
}
