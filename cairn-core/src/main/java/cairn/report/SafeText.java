package cairn.report;

import cairn.format.Hostile;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Text from the evidence, made safe to print: on one line, nothing hidden, cut where too long. */
final class SafeText {
  /** So that one long value doesn't hide the others of a map. */
  private static final int MAX_IN_MAP = 60;

  private SafeText() {}

  /** {@return {@code text} with everything that {@link Hostile} names as {@code \}{@code u{..}}} */
  static String escape(String text) {
    StringBuilder out = new StringBuilder(text.length());
    for (int i = 0; i < text.length(); ) {
      int codePoint = text.codePointAt(i);
      append(out, codePoint);
      i += Character.charCount(codePoint);
    }
    return out.toString();
  }

  /** As {@link #escape}, and a text of more than {@code limit} characters ends with its length. */
  static String cut(String text, int limit) {
    if (text.codePointCount(0, text.length()) <= limit) {
      return escape(text);
    }
    int end = text.offsetByCodePoints(0, limit);
    return escape(text.substring(0, end))
        + String.format(Locale.ROOT, "… (%,d characters)", text.codePointCount(0, text.length()));
  }

  private static void append(StringBuilder out, int codePoint) {
    if (Hostile.is(codePoint)) {
      out.append("\\u{").append(Integer.toHexString(codePoint)).append('}');
    } else {
      out.appendCodePoint(codePoint);
    }
  }

  /** {@return a value of the evidence, short enough for one line} */
  static String value(@Nullable Object value, int limit) {
    if (value instanceof byte[] bytes) {
      int shown = Math.min(bytes.length, limit / 2);
      String hex = "0x" + HexFormat.of().formatHex(bytes, 0, shown);
      return shown == bytes.length ? hex : hex + "… (" + bytes.length + " bytes)";
    }
    if (value instanceof Map<?, ?> map) {
      return map(map, limit);
    }
    if (value instanceof List<?> list) {
      StringBuilder out = new StringBuilder("[");
      int shown = 0;
      for (Object item : list) {
        if (out.length() > limit) {
          return out + ", … (" + list.size() + " items)]";
        }
        out.append(shown++ == 0 ? "" : ", ").append(value(item, limit));
      }
      return out.append(']').toString();
    }
    return cut(String.valueOf(value), limit);
  }

  /** {@return {@code {key=value, …}}, short enough for one line} */
  static String map(Map<?, ?> map, int limit) {
    StringBuilder out = new StringBuilder("{");
    int shown = 0;
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      if (out.length() > limit) {
        return out + ", … (" + map.size() + " entries)}";
      }
      out.append(shown++ == 0 ? "" : ", ");
      out.append(cut(String.valueOf(entry.getKey()), limit)).append('=');
      out.append(value(entry.getValue(), Math.min(limit, MAX_IN_MAP)));
    }
    return out.append('}').toString();
  }
}
