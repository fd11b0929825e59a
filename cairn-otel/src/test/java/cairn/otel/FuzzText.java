package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.StatusData;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can be asked of what a tracer gave, as text: two texts are the same when the
 * answers are.
 */
final class FuzzText {
  private static final int MAX_SHOWN = 24;

  private FuzzText() {}

  /** {@return a value with its type; a long text by its beginning, length and hash} */
  static String of(@Nullable Object value) {
    if (value instanceof String text) {
      return quoted(text);
    }
    if (value instanceof Long || value instanceof Integer) {
      return value + (value instanceof Long ? "L" : "");
    }
    if (value instanceof Attributes attributes) {
      return ofAttributes(attributes);
    }
    if (value instanceof AttributeKey<?> key) {
      return key.getType() + " " + quoted(key.getKey());
    }
    if (value instanceof SpanContext context) {
      return ofContext(context);
    }
    if (value instanceof StatusData status) {
      return ofStatus(status);
    }
    if (value instanceof Value<?> complex) {
      return complex.getType() + ":" + quoted(complex.asString());
    }
    if (value instanceof List<?> list) {
      StringBuilder text = new StringBuilder("[");
      for (Object element : list) {
        text.append(of(element)).append(' ');
      }
      return text.append(']').toString();
    }
    if (value instanceof Throwable thrown) {
      return thrown.getClass().getName();
    }
    return String.valueOf(value);
  }

  private static String quoted(@Nullable String text) {
    if (text == null) {
      return "null";
    }
    if (text.length() <= MAX_SHOWN) {
      return '"' + text + '"';
    }
    return '"'
        + text.substring(0, MAX_SHOWN)
        + "\"... length "
        + text.length()
        + " hash "
        + text.hashCode();
  }

  /** {@return the attributes in their order, with types; the other ways to ask are compared too} */
  private static String ofAttributes(Attributes attributes) {
    StringBuilder text = new StringBuilder("{");
    int[] count = {0};
    attributes.forEach(
        (key, value) -> {
          count[0]++;
          text.append(key.getType())
              .append(' ')
              .append(quoted(key.getKey()))
              .append('=')
              .append(of(value))
              .append(' ');
          Object same = attributes.get(key);
          if (same != value && !value.equals(same)) {
            text.append("but get says ").append(of(same)).append(' ');
          }
        });
    text.append('}');
    if (count[0] != attributes.size()
        || attributes.isEmpty() != (count[0] == 0)
        || attributes.asMap().size() != count[0]) {
      text.append(" but size says ").append(attributes.size());
    }
    return text.toString();
  }

  private static String ofContext(SpanContext context) {
    String text =
        context.getTraceId()
            + '-'
            + context.getSpanId()
            + '-'
            + context.getTraceFlags().asHex()
            + (context.isSampled() ? " sampled" : "")
            + (context.isRemote() ? " remote" : "")
            + (context.isValid() ? "" : " invalid")
            + (context.getTraceState().isEmpty() ? "" : " " + context.getTraceState().asMap());
    SpanContext copy =
        context.isRemote()
            ? SpanContext.createFromRemoteParent(
                context.getTraceId(),
                context.getSpanId(),
                context.getTraceFlags(),
                context.getTraceState())
            : SpanContext.create(
                context.getTraceId(),
                context.getSpanId(),
                context.getTraceFlags(),
                context.getTraceState());
    return copy.equals(context) && context.equals(copy) && copy.hashCode() == context.hashCode()
        ? text
        : text + " unlike its copy";
  }

  private static String ofStatus(StatusData status) {
    return status.getStatusCode() + " " + quoted(status.getDescription());
  }

  static String ofEvents(List<EventData> events) {
    StringBuilder text = new StringBuilder("[");
    for (EventData event : events) {
      text.append(quoted(event.getName()))
          .append('@')
          .append(event.getEpochNanos())
          .append(of(event.getAttributes()))
          .append(event.getTotalAttributeCount())
          .append('-')
          .append(event.getDroppedAttributesCount())
          .append(' ');
    }
    return text.append(']').toString();
  }

  static String ofLinks(List<LinkData> links) {
    StringBuilder text = new StringBuilder("[");
    for (LinkData link : links) {
      text.append(of(link.getSpanContext()))
          .append(of(link.getAttributes()))
          .append(link.getTotalAttributeCount())
          .append(' ');
    }
    return text.append(']').toString();
  }
}
