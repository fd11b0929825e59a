package cairn.bench;

import cairn.format.CborToJson;
import cairn.format.CborWriter;
import cairn.format.EncodeLimits;
import cairn.format.JsonWriter;
import cairn.format.KeyCache;
import cairn.format.ValueEncoder;
import com.alibaba.fastjson2.JSONWriter;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * From CBOR, as the box holds it, to JSON in memory that is used again; beside Jackson copying
 * events from its CBOR parser to its JSON generator, and fastjson2 writing the value itself, which
 * has no CBOR to read.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CborToJsonBenchmark {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int CAPACITY = 1 << 20;

  /** The value in both forms, and what each contender keeps between calls. */
  @State(Scope.Thread)
  public static class Values extends Calls.Caller {
    @Param({"230", "1200", "20000", "238000"})
    int size;

    @Param({"cairn", "jackson-cbor", "fastjson2"})
    String contender = "";

    private final Calls calls = new Calls();
    private int mask;

    private Map<String, Object>[] maps;
    private byte[][] items;

    private final JsonWriter json = new JsonWriter(new byte[CAPACITY]);
    private final CborToJson converter = new CborToJson(json);
    private final Bytes out = new Bytes();
    private final CBORFactory cborFactory = new CBORFactory();
    private final JsonFactory jsonFactory = new JsonFactory();

    /** Fails the run unless all contenders write the same values. */
    @Setup(Level.Trial)
    @SuppressWarnings("unchecked") // An array of maps.
    public void open() throws Exception {
      List<Map<String, Object>> values = EncodePayload.values(size);
      maps = values.toArray(Map[]::new);
      items = new byte[maps.length][];
      CborWriter cbor = new CborWriter(new byte[CAPACITY], new KeyCache());
      ValueEncoder encoder =
          new ValueEncoder(cbor, new EncodeLimits(CAPACITY, 100_000, 16, 8 * 1024, 10_000, 64));
      for (int i = 0; i < maps.length; i++) {
        cbor.reset(0, CAPACITY);
        encoder.value(maps[i]);
        items[i] = Arrays.copyOf(cbor.bytes(), cbor.position());
        JsonNode expected = MAPPER.readTree(MAPPER.writeValueAsBytes(maps[i]));
        cairn(i);
        check("cairn", MAPPER.readTree(json.bytes(), 0, json.size()), expected);
        jackson(i);
        check("jackson", MAPPER.readTree(out.array(), 0, out.length()), expected);
        fastjson(i);
        check("fastjson2", MAPPER.readTree(out.array(), 0, out.length()), expected);
      }
      Evidence.require(encoder.cuts() == 0, "cuts " + size, encoder.cuts(), 0);
      mask = items.length - 1;
      calls.join(this);
      WarmUp.untilCompiled(this::write);
    }

    int write() throws IOException {
      int i = next() & mask;
      return switch (contender) {
        case "cairn" -> cairn(i);
        case "jackson-cbor" -> jackson(i);
        default -> fastjson(i);
      };
    }

    private static void check(String contender, JsonNode written, JsonNode expected) {
      Evidence.require(written.equals(expected), contender, written, expected);
    }

    private int cairn(int i) throws IOException {
      json.reset();
      converter.write(items[i], 0, items[i].length);
      return json.size();
    }

    private int jackson(int i) throws IOException {
      out.reset();
      try (JsonParser parser = cborFactory.createParser(items[i]);
          JsonGenerator generator = jsonFactory.createGenerator(out)) {
        parser.nextToken();
        generator.copyCurrentStructure(parser);
      }
      return out.length();
    }

    private int fastjson(int i) throws IOException {
      out.reset();
      // Closing it gives its buffer back.
      try (JSONWriter writer = JSONWriter.ofUTF8()) {
        writer.write(maps[i]);
        writer.flushTo(out);
      }
      return out.length();
    }
  }

  @Benchmark
  public int write(Values values) throws IOException {
    return values.write();
  }
}
