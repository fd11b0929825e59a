package cairn.format;

import java.util.List;

/**
 * An open slot of the span table that proved itself.
 *
 * @param offset of the slot within the section
 * @param begin a map with the {@code BEGIN_} keys of {@link SpanLayout}
 * @param attributes in the order they were set; a key may come again
 */
public record BoxSpan(int offset, CborSlice begin, List<Attribute> attributes) {
  /**
   * One attribute.
   *
   * @param offset of its entry within the slot
   * @param key name
   * @param value what it was set to
   */
  public record Attribute(int offset, String key, CborSlice value) {}
}
