package cairn.otel;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.LogsData;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.TracesData;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The protocol's own classes as the judge of what is exported. */
final class Protocol {
  private static final Set<String> IDS = Set.of("traceId", "spanId", "parentSpanId");

  private Protocol() {}

  static TracesData traces(byte[] line) {
    return decode(line, TracesData.newBuilder()).build();
  }

  static LogsData logs(byte[] line) {
    return decode(line, LogsData.newBuilder()).build();
  }

  static List<Span> spans(List<byte[]> lines) {
    List<Span> spans = new ArrayList<>();
    for (byte[] line : lines) {
      traces(line)
          .getResourceSpansList()
          .forEach(of -> of.getScopeSpansList().forEach(in -> spans.addAll(in.getSpansList())));
    }
    return spans;
  }

  static List<LogRecord> records(List<byte[]> lines) {
    List<LogRecord> records = new ArrayList<>();
    for (byte[] line : lines) {
      logs(line)
          .getResourceLogsList()
          .forEach(
              of -> of.getScopeLogsList().forEach(in -> records.addAll(in.getLogRecordsList())));
    }
    return records;
  }

  /** Refuses what is no UTF-8, no JSON, more than one line, or has a field that OTLP hasn't. */
  private static <B extends Message.Builder> B decode(byte[] line, B builder) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
      if (text.indexOf('\n') >= 0) {
        throw new AssertionError("more than one line: " + text);
      }
      JsonNode tree = new ObjectMapper().readTree(text);
      toBase64(tree);
      JsonFormat.parser().merge(tree.toString(), builder);
      return builder;
    } catch (CharacterCodingException
        | JsonProcessingException
        | InvalidProtocolBufferException e) {
      throw new AssertionError(new String(line, StandardCharsets.UTF_8), e);
    }
  }

  /** OTLP has ids in hex where protobuf's JSON has bytes in base64. */
  private static void toBase64(JsonNode node) {
    if (node instanceof ObjectNode object) {
      for (String name : IDS) {
        JsonNode id = object.get(name);
        if (id != null) {
          byte[] bytes = HexFormat.of().parseHex(id.textValue());
          object.put(name, Base64.getEncoder().encodeToString(bytes));
        }
      }
    }
    node.forEach(Protocol::toBase64);
  }

  static String hex(com.google.protobuf.ByteString id) {
    return HexFormat.of().formatHex(id.toByteArray());
  }

  /** {@return plain values by key} */
  static Map<String, Object> attributes(List<KeyValue> attributes) {
    Map<String, Object> map = new LinkedHashMap<>();
    for (KeyValue attribute : attributes) {
      if (map.put(attribute.getKey(), value(attribute.getValue())) != null) {
        throw new AssertionError("twice: " + attribute.getKey());
      }
    }
    return map;
  }

  private static Object value(AnyValue value) {
    return switch (value.getValueCase()) {
      case STRING_VALUE -> value.getStringValue();
      case BOOL_VALUE -> value.getBoolValue();
      case INT_VALUE -> value.getIntValue();
      case DOUBLE_VALUE -> value.getDoubleValue();
      case ARRAY_VALUE ->
          value.getArrayValue().getValuesList().stream().map(Protocol::value).toList();
      default -> throw new AssertionError("no form that every version has: " + value);
    };
  }
}
