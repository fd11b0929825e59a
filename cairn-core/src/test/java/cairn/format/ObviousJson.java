package cairn.format;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** JSON for a value as {@link CborReader#value} returns it, slow and obvious. */
final class ObviousJson {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private ObviousJson() {}

  static String of(Object value) throws JsonProcessingException {
    if (value instanceof byte[] bytes) {
      return quoted(Base64.getEncoder().encodeToString(bytes));
    }
    if (value instanceof Double number && !Double.isFinite(number)) {
      return quoted(number.toString());
    }
    if (value instanceof List<?> list) {
      StringJoiner array = new StringJoiner(",", "[", "]");
      for (Object item : list) {
        array.add(of(item));
      }
      return array.toString();
    }
    if (value instanceof Map<?, ?> map) {
      StringJoiner object = new StringJoiner(",", "{", "}");
      for (Map.Entry<?, ?> entry : map.entrySet()) {
        object.add(quoted((String) entry.getKey()) + ":" + of(entry.getValue()));
      }
      return object.toString();
    }
    return value instanceof String text ? quoted(text) : String.valueOf(value);
  }

  private static String quoted(String text) throws JsonProcessingException {
    return MAPPER.writeValueAsString(text);
  }
}
