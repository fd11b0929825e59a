package cairn.format;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An open slot of the span table that proved itself.
 *
 * @param offset of the slot within the section
 * @param begin a map with the {@code BEGIN_} keys of {@link SpanLayout}
 * @param attributes in the order they were set; a key may come again
 * @param notes what else is known of it, in the order of their entries; a key may come again
 */
public record BoxSpan(int offset, CborSlice begin, List<Attribute> attributes, List<Note> notes) {
  /**
   * One attribute.
   *
   * @param offset of its entry within the slot
   * @param key name
   * @param value what it was set to
   */
  public record Attribute(int offset, String key, CborSlice value) {}

  /**
   * One note.
   *
   * @param offset of its entry within the slot
   * @param key one of the {@code NOTE_} keys of {@link SpanLayout}, or one of a newer writer
   * @param value what it says
   */
  public record Note(int offset, long key, CborSlice value) {
    /** {@return whether this one is newer than an earlier entry of the same key} */
    public boolean supersedes(Note earlier) {
      if (key == SpanLayout.NOTE_EVENTS || key == SpanLayout.NOTE_THREAD) {
        return order() > earlier.order();
      }
      return true;
    }

    private long order() {
      List<CborSlice> items = key == SpanLayout.NOTE_THREAD ? value.items() : List.of(value);
      return items.isEmpty() ? -1 : items.get(0).unsigned().orElse(-1);
    }
  }

  /** {@return a name for a note among attributes, of which the application has none like it} */
  public static String noteName(long key) {
    return "\0" + key;
  }

  /** {@return the newest note of each key} */
  public Map<Long, Note> newestNotes() {
    Map<Long, Note> newest = new LinkedHashMap<>();
    for (Note note : notes) {
      Note earlier = newest.get(note.key);
      if (earlier == null || note.supersedes(earlier)) {
        newest.put(note.key, note);
      }
    }
    return newest;
  }
}
