package cairn.format;

import java.util.List;
import java.util.Map;

/**
 * An open slot of the span table that proved itself.
 *
 * @param begin a map with the {@code BEGIN_} keys of {@link SpanLayout}
 * @param attributes key and value, in the order they were set; a key may come again
 */
public record BoxSpan(CborSlice begin, List<Map.Entry<String, CborSlice>> attributes) {}
