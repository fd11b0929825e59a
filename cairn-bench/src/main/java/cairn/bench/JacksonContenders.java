package cairn.bench;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.core.TSFBuilder;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectWriter;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Jackson. A generator is made anew for each value, as there is no way to reset one; its buffers
 * come from a pool, here the fastest for one thread, and go to a stream that is used again.
 */
final class JacksonContenders {
  private JacksonContenders() {}

  /** Walks the value by hand, as the streaming API is meant to be used. */
  static Contender streaming() {
    return streaming(json(), Contender.Format.JSON);
  }

  static Contender streamingCbor() {
    return streaming(configured(CBORFactory.builder()).build(), Contender.Format.CBOR);
  }

  private static Contender streaming(JsonFactory factory, Contender.Format format) {
    Bytes out = new Bytes();
    return new Contender(
        value -> {
          out.reset();
          try (JsonGenerator json = factory.createGenerator(out)) {
            write(json, value);
          }
          return out.length();
        },
        out::array,
        format);
  }

  static Contender databind() {
    return databind(json(), Contender.Format.JSON);
  }

  static Contender databindCbor() {
    return databind(configured(CBORFactory.builder()).build(), Contender.Format.CBOR);
  }

  private static Contender databind(JsonFactory factory, Contender.Format format) {
    Bytes out = new Bytes();
    // A writer for the type looks its serializer up once.
    ObjectWriter writer =
        new ObjectMapper(factory)
            .writerFor(new TypeReference<Map<String, Object>>() {})
            .without(SerializationFeature.FLUSH_AFTER_WRITE_VALUE);
    return new Contender(
        value -> {
          out.reset();
          writer.writeValue(out, value);
          return out.length();
        },
        out::array,
        format);
  }

  static Contender jr() {
    Bytes out = new Bytes();
    JSON json = JSON.builder(json()).disable(JSON.Feature.FLUSH_AFTER_WRITE_VALUE).build();
    return new Contender(
        value -> {
          out.reset();
          json.write(value, out);
          return out.length();
        },
        out::array,
        Contender.Format.JSON);
  }

  private static JsonFactory json() {
    // As everyone else here: four bytes for what is two chars, not two escapes.
    return configured(JsonFactory.builder())
        .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
        .build();
  }

  private static <F extends JsonFactory, B extends TSFBuilder<F, B>> B configured(
      TSFBuilder<F, B> builder) {
    return builder
        .recyclerPool(JsonRecyclerPools.threadLocalPool())
        .enable(StreamWriteFeature.USE_FAST_DOUBLE_WRITER)
        .disable(StreamWriteFeature.FLUSH_PASSED_TO_STREAM)
        .disable(StreamWriteFeature.AUTO_CLOSE_TARGET);
  }

  private static void write(JsonGenerator json, @Nullable Object v) throws IOException {
    if (v instanceof String s) {
      json.writeString(s);
    } else if (v instanceof Long n) {
      json.writeNumber(n);
    } else if (v instanceof Integer n) {
      json.writeNumber(n);
    } else if (v instanceof Boolean b) {
      json.writeBoolean(b);
    } else if (v instanceof Double d) {
      json.writeNumber(d);
    } else if (v instanceof Map<?, ?> m) {
      // The size spares CBOR the end byte.
      json.writeStartObject(v, m.size());
      for (Map.Entry<?, ?> e : m.entrySet()) {
        json.writeFieldName((String) e.getKey());
        write(json, e.getValue());
      }
      json.writeEndObject();
    } else if (v instanceof List<?> l) {
      json.writeStartArray(v, l.size());
      for (int i = 0; i < l.size(); i++) {
        write(json, l.get(i));
      }
      json.writeEndArray();
    } else {
      throw new IllegalArgumentException("unknown type: class=" + v);
    }
  }
}
