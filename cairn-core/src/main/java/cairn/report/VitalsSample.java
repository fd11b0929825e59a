package cairn.report;

import java.time.Instant;
import java.util.Map;
import java.util.OptionalLong;

/**
 * One sample of the vitals.
 *
 * @param at wall-clock time
 * @param values what was read, by name as in the JSON; a name is absent if it could not be read
 */
public record VitalsSample(Instant at, Map<String, Long> values) {
  /**
   * {@return the value of that name, or empty if unknown}
   *
   * @param name such as {@code heapUsed}
   */
  public OptionalLong value(String name) {
    Long value = values.get(name);
    return value == null ? OptionalLong.empty() : OptionalLong.of(value);
  }
}
