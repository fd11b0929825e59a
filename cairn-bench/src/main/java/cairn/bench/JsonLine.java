package cairn.bench;

import java.util.Map;

/**
 * An event as one line of JSON in a reused array: what a careful user would write by hand before
 * {@code write()}. One thread. Knows the types that {@link Payload} uses.
 */
final class JsonLine {
  private final byte[] bytes = new byte[8192];
  private int length;

  byte[] bytes() {
    return bytes;
  }

  /** {@return the length of the line, which ends with a line feed} */
  int encode(Payload.Event event, long wallMillis) {
    length = 0;
    ascii("{\"timestamp\":");
    number(wallMillis);
    ascii(",\"level\":\"info\",\"category\":");
    string(event.category());
    ascii(",\"message\":");
    string(event.message());
    ascii(",\"data\":");
    map(event.data());
    ascii("}\n");
    return length;
  }

  private void map(Map<?, ?> map) {
    char separator = '{';
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      bytes[length++] = (byte) separator;
      separator = ',';
      string((String) entry.getKey());
      bytes[length++] = ':';
      value(entry.getValue());
    }
    bytes[length++] = '}';
  }

  private void value(Object value) {
    if (value instanceof String s) {
      string(s);
    } else if (value instanceof Integer || value instanceof Long) {
      number(((Number) value).longValue());
    } else if (value instanceof Map<?, ?> map) {
      map(map);
    } else if (value instanceof Iterable<?> list) {
      char separator = '[';
      for (Object element : list) {
        bytes[length++] = (byte) separator;
        separator = ',';
        value(element);
      }
      bytes[length++] = ']';
    } else {
      ascii(String.valueOf(value));
    }
  }

  private void number(long value) {
    if (value < 0) {
      bytes[length++] = '-';
      value = -value;
    }
    int digits = 1;
    for (long rest = value; rest >= 10; rest /= 10) {
      digits++;
    }
    for (int at = length + digits - 1; at >= length; at--) {
      bytes[at] = (byte) ('0' + value % 10);
      value /= 10;
    }
    length += digits;
  }

  private void string(String s) {
    bytes[length++] = '"';
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) {
        escape(c);
      } else {
        bytes[length++] = (byte) c;
      }
    }
    bytes[length++] = '"';
  }

  private void escape(char c) {
    ascii("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) {
      bytes[length++] = (byte) Character.forDigit((c >> shift) & 0xf, 16);
    }
  }

  private void ascii(String s) {
    for (int i = 0; i < s.length(); i++) {
      bytes[length++] = (byte) s.charAt(i);
    }
  }
}
