package cairn.cli;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What {@code profile} writes again and again: the values of an order, of a given length as JSON.
 * One thread's own.
 */
final class ProfileEvent {
  /** The shortest: what the fields take without a note. */
  static final int MIN_BYTES = 160;

  /** A note may be no longer than what the recorder takes of one text. */
  static final int MAX_BYTES = 8000;

  private static final String WORDS = "two walkers left their cairn standing on the ridge; ";
  private static final long FIRST = 1_000_000_000_000L;

  private final Map<String, Object> values = new LinkedHashMap<>();
  private long number = FIRST;

  /**
   * @param bytes its length as JSON, {@link #MIN_BYTES} to {@link #MAX_BYTES}
   */
  ProfileEvent(int bytes) {
    values.put("type", "order.placed");
    values.put("order", number);
    values.put("customer", "c-2041");
    values.put("region", "eu-north");
    values.put("items", 3);
    values.put("total", 149.95);
    values.put("express", true);
    values.put("note", "");
    int missing = bytes - toJson().length;
    if (missing < 0) {
      throw new IllegalArgumentException("bytes=" + bytes + ", missing=" + missing);
    }
    values.put("note", WORDS.repeat(missing / WORDS.length() + 1).substring(0, missing));
  }

  /** Makes it another event of the same length. */
  void next() {
    values.put("order", ++number);
  }

  Map<String, Object> values() {
    return values;
  }

  byte[] toJson() {
    return Json.of(values).getBytes(StandardCharsets.UTF_8);
  }
}
