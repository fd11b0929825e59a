package cairn.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.AttributeType;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.common.KeyValue;
import io.opentelemetry.api.common.Value;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.sdk.trace.SpanLimits;
import io.opentelemetry.sdk.trace.SpanLimitsBuilder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The values that a fuzzed call may have, by number: every number gives one, and always the same
 * object, so that two worlds get the same arguments.
 */
final class FuzzValues {
  private static final String LONG_TEXT = "0123456789".repeat(30);
  private static final String SURROGATES = "a\ud83d\ude00b\ud83d\ude00c";

  private static final @Nullable String[] NAMES = {
    "GET /orders/{id}", "SELECT", "a", "", " ", "\t\n", null, "\u00e9t\u00e9", LONG_TEXT, SURROGATES
  };

  // Few, so that a key is often set again; the first are the most frequent ones.
  private static final @Nullable String[] KEYS = {
    "a", "b", "c", "d", "e", "f", "g", "h", "http.route", "A", "", " ", null, LONG_TEXT, "k\ud83d"
  };

  private static final @Nullable String[] TEXTS = {
    "x", "", "value", LONG_TEXT, SURROGATES, "\ud83d", "\u0000", "\u00fcber", null
  };

  private static final long[] LONGS = {0, 1, -1, 42, Long.MAX_VALUE, Long.MIN_VALUE};

  private static final double[] DOUBLES = {
    0.0, -0.0, 1.5, Double.NaN, Double.POSITIVE_INFINITY, Double.MIN_VALUE
  };

  private static final AttributeType[] TYPES = AttributeType.values();

  private static final List<Object>[] LISTS = lists();
  private static final Value<?>[] VALUES = {
    Value.of("text"),
    Value.of(7L),
    Value.of(2.5),
    Value.of(true),
    Value.of(new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9}),
    Value.of(Value.of("p"), Value.of(1L), Value.of(LONG_TEXT)),
    Value.of(KeyValue.of("m", Value.of(LONG_TEXT)), KeyValue.of("n", Value.of(Value.of("deep")))),
    Value.empty(),
    Value.of(LONG_TEXT),
    Value.of(List.of()),
  };

  private static final @Nullable Attributes[] ATTRIBUTES = attributeSets();

  private static final @Nullable SpanContext[] CONTEXTS = {
    remote(1, TraceFlags.getSampled(), TraceState.getDefault()),
    remote(2, TraceFlags.getDefault(), TraceState.builder().put("vendor", "v1").build()),
    remote(3, TraceFlags.fromByte((byte) 3), TraceState.builder().put("a", "1").build()),
    remote(4, TraceFlags.fromByte((byte) 2), TraceState.getDefault()),
    remote(5, TraceFlags.fromByte((byte) 0xff), TraceState.getDefault()),
    SpanContext.create(
        "0af7651916cd43dd8448eb211c80319c",
        "b7ad6b7169203331",
        TraceFlags.getSampled(),
        TraceState.getDefault()),
    SpanContext.getInvalid(),
    // Half valid: the API makes the invalid context of it.
    SpanContext.create(
        "0af7651916cd43dd8448eb211c80319c",
        "0000000000000000",
        TraceFlags.getSampled(),
        TraceState.getDefault()),
    null
  };

  private static final long[] TIMES = {
    0, 1, -1, 1_800_000_000_000_000_000L, 1_700_000_000_000L, Long.MAX_VALUE, Long.MIN_VALUE, 77
  };

  private static final @Nullable TimeUnit[] UNITS = {
    TimeUnit.NANOSECONDS, TimeUnit.MILLISECONDS, TimeUnit.SECONDS, TimeUnit.DAYS, null
  };

  private static final @Nullable Instant[] INSTANTS = {
    Instant.ofEpochSecond(1_800_000_001, 5),
    Instant.EPOCH,
    Instant.ofEpochSecond(-1, 1),
    Instant.MAX,
    Instant.MIN,
    null
  };

  private static final @Nullable Throwable[] EXCEPTIONS = exceptions();

  private FuzzValues() {}

  static @Nullable String name(int number) {
    return NAMES[number % NAMES.length];
  }

  static @Nullable String key(int number) {
    // Two numbers multiplied prefer the first keys.
    int high = number / 16 % 16;
    return KEYS[Math.min(number % 16, high) % KEYS.length];
  }

  static @Nullable String text(int number) {
    return TEXTS[number % TEXTS.length];
  }

  static long whole(int number) {
    return LONGS[number % LONGS.length];
  }

  static double fraction(int number) {
    return DOUBLES[number % DOUBLES.length];
  }

  static AttributeType type(int number) {
    return TYPES[number % TYPES.length];
  }

  /** {@return a key of that type, null if there is none of that name} */
  static @Nullable AttributeKey<?> key(AttributeType type, @Nullable String name) {
    if (name == null) {
      return null;
    }
    return switch (type.name()) {
      case "STRING" -> AttributeKey.stringKey(name);
      case "BOOLEAN" -> AttributeKey.booleanKey(name);
      case "LONG" -> AttributeKey.longKey(name);
      case "DOUBLE" -> AttributeKey.doubleKey(name);
      case "STRING_ARRAY" -> AttributeKey.stringArrayKey(name);
      case "BOOLEAN_ARRAY" -> AttributeKey.booleanArrayKey(name);
      case "LONG_ARRAY" -> AttributeKey.longArrayKey(name);
      case "DOUBLE_ARRAY" -> AttributeKey.doubleArrayKey(name);
      default -> AttributeKey.valueKey(name);
    };
  }

  /** {@return a value for a key of that type, now and then null} */
  static @Nullable Object value(AttributeType type, int number) {
    if (number % 23 == 22) {
      return null;
    }
    return switch (type.name()) {
      case "STRING" -> text(number);
      case "BOOLEAN" -> number % 2 == 0;
      case "LONG" -> whole(number);
      case "DOUBLE" -> fraction(number);
      case "STRING_ARRAY" -> LISTS[number % 5];
      case "BOOLEAN_ARRAY" -> LISTS[5 + number % 3];
      case "LONG_ARRAY" -> LISTS[8 + number % 3];
      case "DOUBLE_ARRAY" -> LISTS[11 + number % 3];
      default -> VALUES[number % VALUES.length];
    };
  }

  static Value<?> complex(int number) {
    return VALUES[number % VALUES.length];
  }

  static @Nullable Attributes attributes(int number) {
    return ATTRIBUTES[number % ATTRIBUTES.length];
  }

  static @Nullable SpanContext context(int number) {
    return CONTEXTS[number % CONTEXTS.length];
  }

  static int contexts() {
    return CONTEXTS.length;
  }

  static long time(int number) {
    return TIMES[number % TIMES.length];
  }

  static @Nullable TimeUnit unit(int number) {
    return UNITS[number % UNITS.length];
  }

  static @Nullable Instant instant(int number) {
    return INSTANTS[number % INSTANTS.length];
  }

  static @Nullable SpanKind kind(int number) {
    int kinds = SpanKind.values().length;
    return number % (kinds + 1) == kinds ? null : SpanKind.values()[number % (kinds + 1)];
  }

  static @Nullable StatusCode status(int number) {
    int codes = StatusCode.values().length;
    return number % (codes + 1) == codes ? null : StatusCode.values()[number % (codes + 1)];
  }

  static @Nullable Throwable exception(int number) {
    return EXCEPTIONS[number % EXCEPTIONS.length];
  }

  /** {@return limits: half of them the defaults, the others tight} */
  static SpanLimits limits(int number) {
    if (number % 2 == 0) {
      return SpanLimits.getDefault();
    }
    SpanLimitsBuilder limits = SpanLimits.builder();
    int bits = number / 2;
    limits.setMaxNumberOfAttributes(bits % 5);
    limits.setMaxNumberOfEvents(bits / 5 % 4);
    limits.setMaxNumberOfLinks(bits / 20 % 4);
    limits.setMaxNumberOfAttributesPerEvent(bits / 80 % 3);
    limits.setMaxNumberOfAttributesPerLink(bits / 240 % 3);
    if (bits / 720 % 2 == 0) {
      limits.setMaxAttributeValueLength(bits / 1440 % 12);
    }
    return limits.build();
  }

  private static SpanContext remote(int number, TraceFlags flags, TraceState state) {
    return SpanContext.createFromRemoteParent(
        "4bf92f3577b34da6a3ce929d0e0e470" + number, "00f067aa0ba902b" + number, flags, state);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static List<Object>[] lists() {
    return new List[] {
      List.of("x", "y"),
      Arrays.asList("x", null, LONG_TEXT),
      List.of(),
      List.of(LONG_TEXT, SURROGATES, ""),
      Arrays.asList((Object) null),
      List.of(true, false),
      List.of(),
      Arrays.asList(true, null),
      List.of(1L, Long.MIN_VALUE),
      List.of(),
      Arrays.asList(null, 5L),
      List.of(1.5, Double.NaN),
      List.of(),
      Arrays.asList(null, -0.0),
    };
  }

  private static @Nullable Attributes[] attributeSets() {
    List<@Nullable Attributes> sets = new ArrayList<>();
    sets.add(null);
    sets.add(Attributes.empty());
    sets.add(Attributes.of(AttributeKey.stringKey("a"), "x"));
    sets.add(Attributes.of(AttributeKey.longKey("a"), 5L, AttributeKey.stringKey("b"), LONG_TEXT));
    AttributesBuilder many = Attributes.builder();
    for (int i = 0; i < 6; i++) {
      many.put("m" + i, LONG_TEXT.substring(i)).put("n" + i, i);
    }
    sets.add(many.put("list", "p", LONG_TEXT, SURROGATES).put("flags", true, false).build());
    sets.add(
        Attributes.builder()
            .put("exception.type", "Mine")
            .put("exception.message", 5)
            .put("z", 1.5)
            .build());
    sets.add(
        Attributes.builder()
            .put(AttributeKey.stringArrayKey("c"), Arrays.asList("x", null))
            .put(AttributeKey.valueKey("v"), Value.of(LONG_TEXT))
            .put("exception.stacktrace", "short")
            .build());
    AttributesBuilder beyondDefault = Attributes.builder();
    for (int i = 0; i < 140; i++) {
      beyondDefault.put("w" + i, i);
    }
    sets.add(beyondDefault.build());
    return sets.toArray(new Attributes[0]);
  }

  @SuppressWarnings("serial")
  private static @Nullable Throwable[] exceptions() {
    Throwable chained = new IllegalStateException("outer", new RuntimeException("inner"));
    chained.addSuppressed(new Exception("suppressed"));
    Throwable first = new Exception("first");
    Throwable circular = new Exception("second", first);
    first.initCause(circular);
    Throwable anonymous = new RuntimeException("anonymous") {};
    Throwable traceless =
        new Exception("no trace") {
          @Override
          public Throwable fillInStackTrace() {
            return this;
          }
        };
    Throwable withoutFrames = new Error(LONG_TEXT);
    withoutFrames.setStackTrace(new StackTraceElement[0]);
    return new Throwable[] {
      new IllegalArgumentException("no such order: 17"),
      new NullPointerException(),
      chained,
      circular,
      anonymous,
      traceless,
      withoutFrames,
      new FuzzException(""),
      null,
    };
  }

  /** A nested class: its canonical name isn't its name. */
  static final class FuzzException extends Exception {
    private static final long serialVersionUID = 1;

    FuzzException(String message) {
      super(message);
    }
  }
}
