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

  private final boolean isOfSdk;

  /**
   * Makes one for a world.
   *
   * @param isOfSdk whether a text that the SDK has cut in the middle of a character is shown as
   *     Cairn cuts it
   */
  FuzzText(boolean isOfSdk) {
    this.isOfSdk = isOfSdk;
  }

  /** {@return a value with its type; a long text by its beginning, length and hash} */
  String of(@Nullable Object value) {
    return show(value, false);
  }

  /** As {@link #of}, for what a tracer may have cut. */
  String ofCut(@Nullable Object value) {
    return show(value, isOfSdk);
  }

  private String show(@Nullable Object value, boolean isCut) {
    if (value instanceof String text) {
      return quoted(isCut ? whole(text) : text);
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
      return complex.getType() + ":" + quoted(isCut ? whole(complex) : complex.asString());
    }
    if (value instanceof List<?> list) {
      StringBuilder text = new StringBuilder("[");
      for (Object element : list) {
        text.append(show(element, isCut)).append(' ');
      }
      return text.append(']').toString();
    }
    if (value instanceof Throwable thrown) {
      return thrown.getClass().getName();
    }
    return String.valueOf(value);
  }

  private String whole(Value<?> complex) {
    // Only a text by itself is shown as it is; in others, it is escaped.
    return complex.getValue() instanceof String text ? whole(text) : complex.asString();
  }

  private String whole(String text) {
    int last = text.length() - 1;
    if (last > 0 && Character.isHighSurrogate(text.charAt(last))) {
      Deviation.WHOLE_CHARACTERS.occurred();
      return text.substring(0, last);
    }
    return text;
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
  private String ofAttributes(Attributes attributes) {
    StringBuilder text = new StringBuilder("{");
    int[] count = {0};
    attributes.forEach(
        (key, value) -> {
          count[0]++;
          text.append(key.getType())
              .append(' ')
              .append(quoted(key.getKey()))
              .append('=')
              .append(ofCut(value))
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

  private String ofContext(SpanContext context) {
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

  private String ofStatus(StatusData status) {
    return status.getStatusCode() + " " + quoted(status.getDescription());
  }

  String ofEvents(List<EventData> events) {
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

  String ofLinks(List<LinkData> links) {
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
