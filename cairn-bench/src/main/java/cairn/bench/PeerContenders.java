package cairn.bench;

import com.alibaba.fastjson2.JSONWriter;
import com.dslplatform.json.DslJson;
import com.dslplatform.json.JsonWriter;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.reflect.TypeToken;
import io.sentry.JsonSerializer;
import io.sentry.SentryOptions;
import java.io.BufferedWriter;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.reflect.Type;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Supplier;

/** The other peers, each as its documentation has it for speed. */
final class PeerContenders {
  private static final Type MAP = new TypeToken<Map<String, Object>>() {}.getType();

  private PeerContenders() {}

  /** A writer that is used again is all the memory it needs. */
  static Contender dslJson() {
    DslJson<Object> json = new DslJson<>();
    JsonWriter writer = json.newWriter(new byte[Bytes.CAPACITY]);
    return new Contender(
        value -> {
          writer.reset();
          json.serializeMap(value, writer);
          return writer.size();
        },
        writer::getByteBuffer,
        Contender.Format.JSON);
  }

  /** A writer is made anew for each value; its buffer comes from a cache. */
  static Contender fastjson() {
    return fastjson(JSONWriter::ofUTF8, Contender.Format.JSON);
  }

  /** Its own binary format. */
  static Contender fastjsonBinary() {
    return fastjson(JSONWriter::ofJSONB, Contender.Format.JSONB);
  }

  private static Contender fastjson(Supplier<JSONWriter> writers, Contender.Format format) {
    Bytes out = new Bytes();
    return new Contender(
        value -> {
          out.reset();
          // Closing it gives the buffer back.
          try (JSONWriter writer = writers.get()) {
            writer.write(value);
            writer.flushTo(out);
          }
          return out.length();
        },
        out::array,
        format);
  }

  /** To characters only: the writer that makes bytes of them is used again. */
  static Contender gson() {
    Gson gson = new GsonBuilder().disableHtmlEscaping().create();
    Bytes out = new Bytes();
    Writer writer = utf8(out);
    return new Contender(
        value -> {
          out.reset();
          gson.toJson(value, MAP, writer);
          writer.flush();
          return out.length();
        },
        out::array,
        Contender.Format.JSON);
  }

  /** As the SDK itself does, but with a writer that is used again. */
  static Contender sentry() {
    JsonSerializer serializer = new JsonSerializer(SentryOptions.empty());
    Bytes out = new Bytes();
    Writer writer = utf8(out);
    return new Contender(
        value -> {
          out.reset();
          serializer.serialize(value, writer);
          return out.length();
        },
        out::array,
        Contender.Format.JSON);
  }

  private static Writer utf8(Bytes out) {
    return new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
  }
}
