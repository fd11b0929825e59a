package cairn.sentry;

import io.sentry.JsonObjectWriter;
import io.sentry.JsonSerializable;
import io.sentry.NoOpLogger;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

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

  /** {@return how many bytes such a value is} */
  static int size(Object value) throws IOException {
    return bytes((writer, logger) -> writer.value(logger, value)).length;
  }
}
