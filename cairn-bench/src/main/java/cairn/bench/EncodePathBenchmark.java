package cairn.bench;

import com.alibaba.fastjson2.JSONB;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** From an application's value to encoded bytes in memory that is used again. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class EncodePathBenchmark {
  private static final TypeReference<Map<String, Object>> MAP = new TypeReference<>() {};

  /** One contender, proven to write everything, and what it is to write. */
  @State(Scope.Thread)
  public static class Encoding extends Calls.Caller {
    @Param({"230", "1200", "20000", "238000"})
    int size;

    @Param({
      "a",
      "b",
      "c",
      "d",
      "d-redacting",
      "jackson",
      "jackson-databind",
      "jackson-cbor",
      "jackson-cbor-databind",
      "jackson-jr",
      "dsl-json",
      "fastjson2",
      "fastjson2-jsonb",
      "gson",
      "sentry"
    })
    String contender = "";

    private final Calls calls = new Calls();
    private Contender.Encoder encoder;
    private Map<String, Object>[] values;
    private int mask;

    /** Fails the run unless what the contender writes reads back as the value, for each variant. */
    @Setup(Level.Trial)
    @SuppressWarnings("unchecked") // An array of maps.
    public void open() throws Exception {
      Contender opened = Contender.open(contender);
      List<Map<String, Object>> all = EncodePayload.values(size);
      for (Map<String, Object> value : all) {
        int length = opened.encoder().encode(value);
        byte[] bytes = Arrays.copyOf(opened.output().get(), length);
        Object read = normal(read(opened.format(), bytes));
        Evidence.require(normal(value).equals(read), contender + " " + size, read, value);
      }
      encoder = opened.encoder();
      values = all.toArray(Map[]::new);
      mask = all.size() - 1;
      calls.join(this);
      WarmUp.untilCompiled(this::encode);
    }

    int encode() throws Exception {
      return encoder.encode(values[next() & mask]);
    }
  }

  @Benchmark
  public int encode(Encoding encoding) throws Exception {
    return encoding.encode();
  }

  /** {@return what is in the bytes, by another hand than the contender's where there is one} */
  private static Map<String, Object> read(Contender.Format format, byte[] bytes)
      throws IOException {
    return switch (format) {
      case JSON ->
          new ObjectMapper()
              .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
              .readValue(bytes, MAP);
      case CBOR ->
          new ObjectMapper(new CBORFactory())
              .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
              .readValue(bytes, MAP);
      case JSONB -> JSONB.parseObject(bytes);
    };
  }

  /** {@return the same with each integer as a long, whatever the reader made of it} */
  private static Object normal(@Nullable Object v) {
    if (v instanceof Integer n) {
      return (long) n;
    }
    if (v instanceof Map<?, ?> m) {
      Map<Object, Object> copy = new LinkedHashMap<>();
      // Not forEach: the call in it would be one that contenders share with this.
      for (Map.Entry<?, ?> e : m.entrySet()) {
        copy.put(e.getKey(), normal(e.getValue()));
      }
      return copy;
    }
    if (v instanceof List<?> l) {
      List<Object> copy = new ArrayList<>();
      for (Object element : l) {
        copy.add(normal(element));
      }
      return copy;
    }
    return v == null ? "null" : v;
  }
}
