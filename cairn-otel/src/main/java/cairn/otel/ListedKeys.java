package cairn.otel;

import cairn.OpenSpans;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.logs.ReadWriteLogRecord;
import io.opentelemetry.sdk.trace.ReadableSpan;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The attributes that are recorded: those of a list, each asked for by its key. Immutable.
 *
 * <p>A span is asked for a few keys when it starts, which depend on its kind, and for all of them
 * once it is older than the refresh interval.
 */
final class ListedKeys {
  /*
   * Asking key by key allocates nothing; getAttributes() copies all of them, 160 bytes and more.
   * But each question takes the span's lock, so only those keys are asked for at the start that an
   * instrumentation of that kind sets before the start; the rest can wait for the refresher.
   */

  /** Stands for the default list in a list of names. */
  static final String DEFAULT = "default";

  private static final int ALL_KINDS = -1;
  private static final int SERVER = 1 << number(SpanKind.SERVER);
  private static final int CLIENT = 1 << number(SpanKind.CLIENT);
  private static final int PRODUCER = 1 << number(SpanKind.PRODUCER);
  private static final int CONSUMER = 1 << number(SpanKind.CONSUMER);
  private static final int LATE = 0;

  /** Semantic conventions 1.44, and the names before for databases, which agents still send. */
  private static final List<Key> DEFAULTS =
      List.of(
          text("http.request.method", SERVER | CLIENT),
          text("url.path", SERVER),
          text("http.route", LATE),
          integer("http.response.status_code", LATE),
          text("error.type", LATE),
          text("server.address", CLIENT),
          integer("server.port", LATE),
          text("db.system.name", CLIENT),
          text("db.namespace", LATE),
          text("db.query.summary", LATE),
          text("db.query.text", CLIENT),
          text("db.system", CLIENT),
          text("db.name", LATE),
          text("db.statement", CLIENT),
          text("rpc.service", LATE),
          text("rpc.method", CLIENT | SERVER),
          text("messaging.system", LATE),
          text("messaging.destination.name", PRODUCER | CONSUMER),
          text("messaging.message.id", CONSUMER),
          text("enduser.id", LATE));

  private final Key[] keys;
  private final int[][] atStart = new int[SpanKind.values().length][];

  /**
   * A name, the forms in which it may be there, and the kinds of span asked for it at the start.
   */
  private record Key(String name, List<AttributeKey<?>> forms, int kinds) {}

  private ListedKeys(List<Key> keys) {
    this.keys = keys.toArray(new Key[0]);
    for (int kind = 0; kind < atStart.length; kind++) {
      int bit = 1 << kind;
      List<Integer> asked = new ArrayList<>();
      for (int i = 0; i < this.keys.length; i++) {
        if ((this.keys[i].kinds & bit) != 0) {
          asked.add(i);
        }
      }
      atStart[kind] = asked.stream().mapToInt(Integer::intValue).toArray();
    }
  }

  /** {@return the number of a kind, as OpenSpans and the box have it} */
  @SuppressWarnings("EnumOrdinal") // the order of OpenTelemetry's kinds is that of FORMAT.md
  static int number(SpanKind kind) {
    return kind.ordinal();
  }

  private static Key text(String name, int kinds) {
    return new Key(name, List.of(AttributeKey.stringKey(name)), kinds);
  }

  private static Key integer(String name, int kinds) {
    return new Key(name, List.of(AttributeKey.longKey(name)), kinds);
  }

  /** {@return the list of common attributes of HTTP, databases, messaging and RPC} */
  static ListedKeys defaults() {
    return new ListedKeys(DEFAULTS);
  }

  /**
   * {@return a list of those names}
   *
   * @param entries a name; a name, a colon and one of {@code string}, {@code long}, {@code double},
   *     {@code boolean} and {@code strings}; or {@link #DEFAULT} for the default list. A name alone
   *     that is not in that list is asked for in each of those forms
   * @throws IllegalArgumentException for an unknown form
   */
  static ListedKeys of(Iterable<String> entries) {
    Map<String, Key> keys = new LinkedHashMap<>();
    for (String entry : entries) {
      String trimmed = entry.strip();
      if (trimmed.equals(DEFAULT)) {
        DEFAULTS.forEach(key -> keys.put(key.name, key));
      } else if (!trimmed.isEmpty()) {
        Key key = key(trimmed);
        keys.put(key.name, key);
      }
    }
    return new ListedKeys(List.copyOf(keys.values()));
  }

  private static Key key(String entry) {
    int colon = entry.lastIndexOf(':');
    if (colon < 0) {
      for (Key known : DEFAULTS) {
        if (known.name.equals(entry)) {
          return known;
        }
      }
      return new Key(
          entry,
          List.of(
              AttributeKey.stringKey(entry),
              AttributeKey.longKey(entry),
              AttributeKey.booleanKey(entry),
              AttributeKey.doubleKey(entry),
              AttributeKey.stringArrayKey(entry)),
          ALL_KINDS);
    }
    String name = entry.substring(0, colon);
    String form = entry.substring(colon + 1).toLowerCase(Locale.ROOT);
    AttributeKey<?> key =
        switch (form) {
          case "string" -> AttributeKey.stringKey(name);
          case "long" -> AttributeKey.longKey(name);
          case "double" -> AttributeKey.doubleKey(name);
          case "boolean" -> AttributeKey.booleanKey(name);
          case "strings" -> AttributeKey.stringArrayKey(name);
          default ->
              throw new IllegalArgumentException(
                  "form of an attribute is unknown: attribute="
                      + entry
                      + " (use string, long, double, boolean or strings)");
        };
    return new Key(name, List.of(key), ALL_KINDS);
  }

  int count() {
    return keys.length;
  }

  /** {@return the keys to ask a span of that kind for when it starts, as indexes} */
  int[] atStart(SpanKind kind) {
    return atStart[number(kind)];
  }

  /** {@return the value of that key, or null} Takes the span's lock; allocates nothing. */
  @Nullable Object value(ReadableSpan span, int index) {
    List<AttributeKey<?>> forms = keys[index].forms;
    for (int i = 0; i < forms.size(); i++) {
      Object value = span.getAttribute(forms.get(i));
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  /** As {@link #value(ReadableSpan, int)}. */
  @Nullable Object value(ReadWriteLogRecord record, int index) {
    List<AttributeKey<?>> forms = keys[index].forms;
    for (int i = 0; i < forms.size(); i++) {
      Object value = record.getAttribute(forms.get(i));
      if (value != null) {
        return value;
      }
    }
    return null;
  }

  /** {@return a key of that name; a value may have been found under another form of it} */
  AttributeKey<?> key(int index) {
    return keys[index].forms.get(0);
  }

  String name(int index) {
    return keys[index].name;
  }

  /** Sets the attribute of an open span. What is none of OpenTelemetry's types does nothing. */
  void set(OpenSpans spans, long handle, int index, Object value) {
    String name = keys[index].name;
    if (value instanceof String text) {
      spans.set(handle, name, text);
    } else if (value instanceof Long number) {
      spans.set(handle, name, number.longValue());
    } else if (value instanceof Boolean bool) {
      spans.set(handle, name, bool.booleanValue());
    } else if (value instanceof Double number) {
      spans.set(handle, name, number.doubleValue());
    } else if (value instanceof List<?> list) {
      spans.set(handle, name, list);
    }
  }

  /** {@return the names} */
  @Override
  public String toString() {
    List<String> names = new ArrayList<>();
    for (Key key : keys) {
      names.add(key.name);
    }
    return names.toString();
  }
}
