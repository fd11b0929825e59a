package cairn.cli;

import java.time.Instant;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes plain values as JSON; the values are those of {@link cairn.report.Breadcrumb#data}. */
final class Json {
  private Json() {}

  /** {@return {@code value} as JSON on one line} */
  static String of(@Nullable Object value) {
    StringBuilder json = new StringBuilder(256);
    append(json, value);
    return json.toString();
  }

  /** {@return the rows as a JSON array, one row a line} */
  static String lines(List<? extends Map<String, ?>> rows) {
    if (rows.isEmpty()) {
      return "[]";
    }
    StringBuilder json = new StringBuilder(256 * rows.size()).append("[\n");
    for (Iterator<? extends Map<String, ?>> i = rows.iterator(); i.hasNext(); ) {
      append(json.append("  "), i.next());
      json.append(i.hasNext() ? ",\n" : "\n");
    }
    return json.append(']').toString();
  }

  private static void append(StringBuilder json, @Nullable Object value) {
    if (value instanceof Map<?, ?> map) {
      String separator = "{";
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        json.append(separator);
        appendString(json, String.valueOf(entry.getKey()));
        json.append(':');
        append(json, entry.getValue());
        separator = ",";
      }
      json.append(map.isEmpty() ? "{}" : "}");
    } else if (value instanceof List<?> list) {
      String separator = "[";
      for (Object element : list) {
        append(json.append(separator), element);
        separator = ",";
      }
      json.append(list.isEmpty() ? "[]" : "]");
    } else if (value instanceof Double number && !Double.isFinite(number)) {
      appendString(json, number.toString());
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      json.append(value);
    } else if (value instanceof byte[] bytes) {
      appendString(json, Base64.getEncoder().encodeToString(bytes));
    } else if (value instanceof Instant instant) {
      appendString(json, Units.rfc3339(instant));
    } else {
      appendString(json, value.toString());
    }
  }

  private static void appendString(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      switch (c) {
        case '"' -> json.append("\\\"");
        case '\\' -> json.append("\\\\");
        case '\n' -> json.append("\\n");
        case '\r' -> json.append("\\r");
        case '\t' -> json.append("\\t");
        default -> {
          // Also the C1 controls: JSON allows them, a terminal obeys them.
          if (c < ' ' || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000)) {
            json.append("\\u");
            for (int shift = 12; shift >= 0; shift -= 4) {
              json.append(Character.forDigit(c >> shift & 0xf, 16));
            }
          } else {
            json.appendCodePoint(c);
          }
        }
      }
    }
    json.append('"');
  }
}
