package cairn.journal;

import cairn.format.CborSlice;
import cairn.format.CborToJson;
import cairn.format.JournalLayout;
import cairn.format.JsonWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** One record of a journal, as it was appended. Immutable but for the array it hands out. */
public final class Entry {
  private static final DateTimeFormatter MILLIS =
      new DateTimeFormatterBuilder().appendInstant(3).toFormatter();

  private final long sequence;
  private final long millis;
  private final int type;
  private final byte[] bytes;

  Entry(long sequence, long millis, int type, byte[] bytes) {
    this.sequence = sequence;
    this.millis = millis;
    this.type = type;
    this.bytes = bytes;
  }

  /** {@return its number: 1 for a journal's first, and one more for each} */
  public long sequence() {
    return sequence;
  }

  /** {@return when it was appended, by the wall clock of the process that did} */
  public Instant time() {
    return Instant.ofEpochMilli(millis);
  }

  /**
   * {@return what was appended; of an event its CBOR} Not copied: this entry holds the same array.
   */
  public byte[] bytes() {
    return bytes;
  }

  /** {@return whether it was appended as a map and not as bytes} */
  public boolean isEvent() {
    return type == JournalLayout.TYPE_EVENT;
  }

  /** {@return the map that was appended, decoded; empty for an entry of bytes} */
  @SuppressWarnings("unchecked")
  public Map<String, Object> event() {
    CborSlice slice = slice();
    Object value = slice == null ? null : slice.value();
    return value instanceof Map<?, ?> map ? (Map<String, Object>) map : Map.of();
  }

  private @Nullable CborSlice slice() {
    return isEvent() ? CborSlice.of(bytes, 0, bytes.length) : null;
  }

  /**
   * {@return one line of JSON without its end: {@code sequence}, {@code time}, and one of {@code
   * event}, {@code text} (the bytes, if they are UTF-8) and {@code base64}}
   */
  public String toJson() {
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length + 64);
    try {
      JsonWriter json = new JsonWriter(out);
      json.beginObject();
      json.name("sequence").number(sequence);
      json.name("time").string(MILLIS.format(time()));
      CborSlice slice = slice();
      String text = slice == null ? text() : null;
      if (slice != null) {
        json.name("event");
        new CborToJson(json).write(slice);
      } else if (text != null) {
        json.name("text").string(text);
      } else {
        json.name("base64").string(Base64.getEncoder().encodeToString(bytes));
      }
      json.endObject();
      json.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // memory does not fail
    }
    return out.toString(StandardCharsets.UTF_8);
  }

  private @Nullable String text() {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return toJson();
  }
}
