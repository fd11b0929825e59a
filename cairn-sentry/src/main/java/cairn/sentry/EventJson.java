package cairn.sentry;

import io.sentry.JsonDeserializer;
import io.sentry.JsonObjectReader;
import io.sentry.JsonObjectWriter;
import io.sentry.JsonSerializable;
import io.sentry.NoOpLogger;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.StringReader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What sentry-java's types write, without the options that its serialiser needs. */
final class EventJson {
  private static final int MAX_DEPTH = 100;

  private EventJson() {}

  /** {@return UTF-8 in one line} */
  static byte[] bytes(JsonSerializable value) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream(1 << 14);
    try (Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8)) {
      value.serialize(new JsonObjectWriter(writer, MAX_DEPTH), NoOpLogger.getInstance());
    }
    return out.toByteArray();
  }

  /**
   * {@return the value as sentry-java reads it from JSON} Not by its MapObjectReader: that loops
   * without end over a value of a kind that isn't expected.
   *
   * @throws Exception if it is no such thing; of any kind
   */
  static <T> T read(Map<String, @Nullable Object> value, JsonDeserializer<T> type)
      throws Exception {
    byte[] json = bytes((writer, logger) -> writer.value(logger, value));
    try (JsonObjectReader reader =
        new JsonObjectReader(new StringReader(new String(json, StandardCharsets.UTF_8)))) {
      T read = type.deserialize(reader, NoOpLogger.getInstance());
      // A number too large for a float is read as infinite, which can't be written again.
      bytes((writer, logger) -> writer.value(logger, read));
      return read;
    }
  }

  /** {@return how many bytes such a value is} */
  static int size(Object value) throws IOException {
    return bytes((writer, logger) -> writer.value(logger, value)).length;
  }
}
