package cairn.format;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicMarkableReference;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.AtomicStampedReference;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;

/**
 * Random graphs of values, each with what it must become: slow, simple, and written down where the
 * value is made.
 *
 * <p>A model is a tree of null, Boolean, BigInteger, BigDecimal, Double, Float, ByteBuffer, List,
 * Map with String keys, {@link Text}, {@link Fixed} and {@link Placeholder}.
 */
final class Graphs {
  /** A value and its model. */
  record Case(Object value, Object model) {}

  /**
   * A text of the application.
   *
   * @param raw as a rule hears it: lone surrogates and all
   * @param secret what must be gone after redaction; null if nothing is secret
   */
  record Text(String raw, String secret) {
    String text() {
      return asUtf8(raw);
    }

    String redacted() {
      return text().replace(secret, Secrets.MARK);
    }
  }

  /** A text that no rule is asked for. */
  record Fixed(String text) {}

  /** Stands for what could not be encoded. */
  record Placeholder(String text) {}

  record Pair(Object left, Object right) {}

  /** Has a form of the application. */
  static final class Formed {
    final Object instead;

    Formed(Object instead) {
      this.instead = instead;
    }
  }

  static final Forms FORMS = Forms.NONE.with(Formed.class, f -> ((Formed) f).instead);

  static final String[] SECRET_KEYS = {"password", "apiKey", "X-Auth-Token", "db.passwd", "cvv"};

  private static final String[] SECRETS = {
    "4111111111111111", "hunter2-and-more", "eyJhbGciOiJIUzI1NiJ9.e30.SflKxwRJSMeKKF2QT4"
  };

  private static final CborWriter INNER_OUT = new CborWriter(new byte[4000], new KeyCache());
  private static final ValueEncoder INNER =
      new ValueEncoder(INNER_OUT, EncodeLimits.DEFAULT, FORMS);

  private final Random random;

  Graphs(Random random) {
    this.random = random;
  }

  Case next(int depth) {
    return random.nextInt(depth == 0 ? 4 : 8) < 4 || depth == 0 ? leaf() : branch(depth);
  }

  // ---- leaves

  private Case leaf() {
    return switch (random.nextInt(12)) {
      case 0 -> new Case(null, null);
      case 1 -> same(random.nextBoolean());
      case 2, 3 -> integer();
      case 4 -> floating();
      case 5, 6, 7 -> texts();
      case 8 -> secretText();
      case 9 -> platform();
      case 10 -> numbers();
      default -> hostile();
    };
  }

  private static Case same(Object value) {
    return new Case(value, value);
  }

  private static BigInteger big(long v) {
    return BigInteger.valueOf(v);
  }

  private Case integer() {
    long any = random.nextLong() >> random.nextInt(64);
    // No number of a card by chance: those are made on purpose.
    long v = Cards.isNumber(any) ? 7 : any;
    return switch (random.nextInt(9)) {
      case 0 -> new Case(v, big(v));
      case 1 -> new Case((int) v, big((int) v));
      case 2 -> new Case((short) v, big((short) v));
      case 3 -> new Case((byte) v, big((byte) v));
      case 4 -> new Case(new AtomicInteger((int) v), big((int) v));
      case 5 -> new Case(new AtomicLong(v), big(v));
      case 6 -> {
        LongAdder adder = new LongAdder();
        adder.add(v);
        yield new Case(adder, big(v));
      }
      case 7 -> new Case(OptionalLong.of(v), big(v));
      default -> bigInteger();
    };
  }

  private Case bigInteger() {
    BigInteger one = new BigInteger(random.nextInt(300), random);
    one = one.subtract(BigInteger.ONE.shiftLeft(random.nextInt(250)));
    if (one.bitLength() < 64 && Cards.isNumber(one.longValue())) {
      one = BigInteger.TEN;
    }
    // The judge takes the highest bit of a big number for its sign; see bigNumbersAreExact.
    return same(one.bitLength() > 64 && one.bitLength() % 8 == 0 ? one.shiftRight(1) : one);
  }

  private Case floating() {
    double d = Double.longBitsToDouble(random.nextLong());
    float f = Float.intBitsToFloat(random.nextInt());
    double simple = random.nextInt(2000) / 8.0;
    return switch (random.nextInt(8)) {
      case 0 -> same(d);
      case 1 -> same(f);
      case 2 -> same(simple);
      case 3 -> same((float) simple);
      case 4 -> same(new double[] {0.0, -0.0, Double.NaN, 1 / 0.0, -1 / 0.0}[random.nextInt(5)]);
      case 5 -> {
        DoubleAdder adder = new DoubleAdder();
        adder.add(simple);
        yield new Case(adder, simple);
      }
      case 6 -> new Case(OptionalDouble.of(d), d);
      default -> {
        BigInteger unscaled = new BigInteger(random.nextInt(63), random);
        int scale = 1 + random.nextInt(30);
        yield same(new BigDecimal(unscaled, random.nextBoolean() ? scale : -scale));
      }
    };
  }

  private Case texts() {
    String text = text();
    Text model = new Text(text, null);
    return switch (random.nextInt(6)) {
      case 0, 1 -> new Case(text, model);
      case 2 -> new Case(new StringBuilder(text), model);
      case 3 -> new Case(text.toCharArray(), model);
      case 4 -> new Case(described(text), model);
      default ->
          text.isEmpty()
              ? new Case('x', new Text("x", null))
              : new Case(text.charAt(0), new Text(text.substring(0, 1), null));
    };
  }

  private Case secretText() {
    String secret = SECRETS[random.nextInt(SECRETS.length)];
    String before = secret.startsWith("hunter") ? "password=" : "is ";
    String text = "水 ".repeat(random.nextInt(4)) + before + secret + " é".repeat(random.nextInt(4));
    if (random.nextInt(3) == 0) {
      long card = Long.parseLong(SECRETS[0]);
      return new Case(random.nextBoolean() ? card : new BigDecimal(card), new SecretNumber(card));
    }
    return new Case(random.nextBoolean() ? text : described(text), new Text(text, secret));
  }

  /** The number of a card, as one; a decimal stays one if it isn't redacted. */
  record SecretNumber(long number) {}

  private static Object described(String text) {
    return new Object() {
      @Override
      public String toString() {
        return text;
      }
    };
  }

  private Case platform() {
    long seconds = random.nextInt();
    Instant instant = Instant.ofEpochSecond(seconds, random.nextInt(1_000) * 1_000_000L);
    UUID uuid = new UUID(random.nextLong(), random.nextLong());
    Object value =
        switch (random.nextInt(12)) {
          case 0 -> TimeUnit.values()[random.nextInt(7)];
          case 1 -> instant;
          case 2 -> LocalDate.ofEpochDay(random.nextInt(40_000));
          case 3 -> Duration.ofMillis(random.nextInt());
          case 4 -> URI.create("http://host/" + random.nextInt(100));
          case 5 -> Path.of("a", "b" + random.nextInt(100));
          case 6 -> new File("a/b" + random.nextInt(100));
          case 7 -> Date.from(instant);
          case 8 -> Locale.GERMANY;
          case 9 -> String.class;
          case 10 -> OptionalInt.empty();
          default -> uuid;
        };
    if (value instanceof OptionalInt) {
      return new Case(value, null);
    }
    String text =
        value instanceof Date
            ? instant.toString()
            : value == Locale.GERMANY
                ? "de-DE"
                : value == String.class ? "java.lang.String" : value.toString();
    return new Case(value, value instanceof UUID ? new Fixed(text) : new Text(text, null));
  }

  private Case numbers() {
    int length = random.nextInt(6);
    List<Object> model = new ArrayList<>();
    switch (random.nextInt(9)) {
      case 0 -> {
        byte[] bytes = new byte[random.nextInt(70)];
        random.nextBytes(bytes);
        return new Case(bytes, ByteBuffer.wrap(bytes));
      }
      case 1 -> {
        byte[] bytes = new byte[2 + random.nextInt(70)];
        random.nextBytes(bytes);
        ByteBuffer buffer = ByteBuffer.wrap(bytes, 1, bytes.length - 2);
        return new Case(buffer, ByteBuffer.wrap(bytes, 1, bytes.length - 2).slice());
      }
      case 2 -> {
        int[] a = random.ints(length).toArray();
        for (int n : a) {
          model.add(big(n));
        }
        return new Case(random.nextBoolean() ? a : new AtomicIntegerArray(a), model);
      }
      case 3 -> {
        long[] a = random.longs(length, 0, 1_000_000).toArray();
        for (long n : a) {
          model.add(big(n));
        }
        return new Case(random.nextBoolean() ? a : new AtomicLongArray(a), model);
      }
      case 4 -> {
        double[] a = random.doubles(length).toArray();
        for (double n : a) {
          model.add(n);
        }
        return new Case(a, model);
      }
      case 5 -> {
        float[] a = new float[length];
        for (int i = 0; i < length; i++) {
          a[i] = random.nextFloat();
          model.add(a[i]);
        }
        return new Case(a, model);
      }
      case 6 -> {
        short[] a = new short[length];
        for (int i = 0; i < length; i++) {
          a[i] = (short) random.nextInt();
          model.add(big(a[i]));
        }
        return new Case(a, model);
      }
      case 7 -> {
        boolean[] a = new boolean[length];
        for (int i = 0; i < length; i++) {
          a[i] = random.nextBoolean();
          model.add(a[i]);
        }
        return new Case(a, model);
      }
      default -> {
        boolean flag = random.nextBoolean();
        return new Case(new AtomicBoolean(flag), flag);
      }
    }
  }

  // ---- what throws, contains itself, changes, or encodes meanwhile

  private Case hostile() {
    return switch (random.nextInt(8)) {
      case 0 ->
          new Case(
              new Object() {
                @Override
                public String toString() {
                  throw new IllegalArgumentException();
                }
              },
              new Placeholder("<threw IllegalArgumentException>"));
      case 1 -> {
        List<Object> self = new ArrayList<>();
        self.add(1);
        self.add(self);
        yield new Case(self, List.of(big(1), new Placeholder("<cycle>")));
      }
      case 2 -> {
        Map<String, Object> self = new HashMap<>();
        self.put("self", Optional.of(new Object[] {self}));
        yield new Case(self, Map.of("self", List.of(new Placeholder("<cycle>"))));
      }
      case 3 -> {
        Iterable<Object> bad =
            () -> {
              throw new IllegalStateException();
            };
        yield new Case(bad, new Placeholder("<threw IllegalStateException>"));
      }
      case 4 -> {
        List<Object> growing = new ArrayList<>();
        growing.add(
            new Object() {
              @Override
              public String toString() {
                if (growing.size() == 1) {
                  growing.add(1);
                }
                return "grows";
              }
            });
        yield new Case(growing, List.of(new Text("grows", null), big(1)));
      }
      case 5 ->
          new Case(
              new Object() {
                @Override
                public String toString() {
                  INNER_OUT.reset(0, 4000);
                  return "encoded " + INNER.value(Map.of("key", List.of("inner")));
                }
              },
              new Text("encoded true", null));
      case 6 -> {
        Exception thrown =
            new Exception() {
              private static final long serialVersionUID = 1;

              @Override
              public String getMessage() {
                throw new IllegalStateException();
              }
            };
        thrown.setStackTrace(new StackTraceElement[0]);
        Map<String, Object> model = new LinkedHashMap<>();
        model.put("type", new Text(thrown.getClass().getName(), null));
        model.put("message", new Placeholder("<threw IllegalStateException>"));
        yield new Case(thrown, model);
      }
      default -> {
        Map<String, Object> bad =
            new AbstractMap<>() {
              @Override
              public java.util.Set<Map.Entry<String, Object>> entrySet() {
                throw new IllegalStateException();
              }
            };
        yield new Case(bad, new Placeholder("<threw IllegalStateException>"));
      }
    };
  }

  // ---- branches

  private Case branch(int depth) {
    return switch (random.nextInt(10)) {
      case 0, 1, 2 -> list(depth);
      case 3 -> held(depth);
      case 4 -> {
        Case left = next(depth - 1);
        Case right = next(depth - 1);
        Map<String, Object> model = new LinkedHashMap<>();
        model.put("left", left.model());
        model.put("right", right.model());
        yield new Case(new Pair(left.value(), right.value()), model);
      }
      case 5 -> throwable(depth);
      case 6 -> {
        Case inner = next(depth - 1);
        Map<String, Object> model = new LinkedHashMap<>();
        model.put("k", inner.model());
        yield new Case(new AbstractMap.SimpleEntry<>("k", inner.value()), model);
      }
      default -> map(depth);
    };
  }

  private Case held(int depth) {
    Case inner = next(depth - 1);
    Object value = inner.value();
    return new Case(
        switch (random.nextInt(5)) {
          case 0 -> Optional.ofNullable(value);
          case 1 -> new AtomicReference<>(value);
          case 2 -> new AtomicMarkableReference<>(value, true);
          case 3 -> new AtomicStampedReference<>(value, 7);
          default -> new Formed(value);
        },
        inner.model());
  }

  private Case list(int depth) {
    List<Object> values = new ArrayList<>();
    List<Object> model = new ArrayList<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      Case one = next(depth - 1);
      values.add(one.value());
      model.add(one.model());
    }
    Object value =
        switch (random.nextInt(7)) {
          case 0 -> values;
          case 1 -> values.toArray();
          case 2 -> Collections.unmodifiableCollection(values);
          case 3 -> new LinkedList<>(values);
          case 4 -> new AtomicReferenceArray<>(values.toArray());
          case 5 -> values.contains(null) ? values : new ArrayDeque<>(values);
          default -> (Iterable<Object>) values::iterator;
        };
    return new Case(value, model);
  }

  private Case map(int depth) {
    Map<Object, Object> values = new LinkedHashMap<>();
    Map<Object, Object> models = new IdentityHashMap<>();
    Map<Object, String> names = new HashMap<>();
    for (int i = random.nextInt(6); i > 0; i--) {
      Object key = mapKey();
      String name = asUtf8(String.valueOf(key));
      if (name.getBytes(StandardCharsets.UTF_8).length > KeyCache.MAX_KEY_BYTES
          || names.containsValue(name)) {
        continue;
      }
      Case one = next(depth - 1);
      boolean plain = one.value() == null || one.value() instanceof Boolean;
      boolean looksPlain = one.model() == null || one.model() instanceof Boolean;
      if (looksPlain && !plain && GraphCheck.isSecretKey(name)) {
        // Only null and Boolean themselves stay; an optional of one doesn't, nor an atomic.
        continue;
      }
      names.put(key, name);
      values.put(key, one.value());
      models.put(key, one.model());
    }
    boolean texts = values.keySet().stream().allMatch(key -> key instanceof String);
    Map<Object, Object> map =
        switch (random.nextInt(8)) {
          case 0 -> new HashMap<>(values);
          case 1 -> texts ? new TreeMap<>(values) : values;
          case 2 -> Collections.unmodifiableMap(values);
          case 3 -> values.containsValue(null) ? values : Map.copyOf(values);
          case 4 -> values.containsValue(null) ? values : new ConcurrentHashMap<>(values);
          case 5 -> Collections.synchronizedMap(values);
          default -> values;
        };
    Map<String, Object> model = new LinkedHashMap<>();
    for (Object key : map.keySet()) {
      model.put(names.get(key), models.get(key));
    }
    return new Case(map, model);
  }

  private Object mapKey() {
    return switch (random.nextInt(8)) {
      case 0 -> random.nextInt(1000);
      case 1 -> TimeUnit.values()[random.nextInt(7)];
      case 2 -> SECRET_KEYS[random.nextInt(SECRET_KEYS.length)];
      case 3 -> "key" + random.nextInt(10);
      default -> text();
    };
  }

  private Case throwable(int depth) {
    String message = random.nextBoolean() ? text() : null;
    boolean linked = depth > 1 && random.nextBoolean();
    Case cause = linked ? throwable(depth - 1) : null;
    Exception thrown = new Exception(message, cause == null ? null : (Throwable) cause.value());
    StackTraceElement[] frames = new StackTraceElement[random.nextInt(4)];
    List<Object> stack = new ArrayList<>();
    for (int i = 0; i < frames.length; i++) {
      frames[i] = new StackTraceElement("Type" + i, "method", "Type.java", random.nextInt(100));
      stack.add(new Text(frames[i].toString(), null));
    }
    thrown.setStackTrace(frames);
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("type", new Text("java.lang.Exception", null));
    if (message != null) {
      model.put("message", new Text(message, null));
    }
    if (!stack.isEmpty()) {
      model.put("stack", stack);
    }
    if (cause != null) {
      model.put("cause", cause.model());
    }
    if (random.nextInt(4) == 0) {
      Exception other = new Exception("other");
      other.setStackTrace(new StackTraceElement[0]);
      thrown.addSuppressed(other);
      Map<String, Object> otherModel = new LinkedHashMap<>();
      otherModel.put("type", new Text("java.lang.Exception", null));
      otherModel.put("message", new Text("other", null));
      model.put("suppressed", List.of(otherModel));
    }
    return new Case(thrown, model);
  }

  // ---- texts

  private String text() {
    int kind = random.nextInt(5);
    int length = random.nextInt(40) == 0 ? random.nextInt(3000) : random.nextInt(40);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      switch (random.nextInt(20) == 0 ? random.nextInt(5) : kind) {
        case 0, 1 -> text.append((char) (' ' + random.nextInt(95)));
        case 2 -> text.append((char) random.nextInt(256));
        case 3 -> text.append((char) random.nextInt(65_536));
        default -> text.appendCodePoint(random.nextInt(0x110000));
      }
    }
    // No URL by chance: in some million texts there was one, with an '@'.
    return text.toString().replace("://", ":/.");
  }

  /** As the JDK's own encoder has it. */
  private static String asUtf8(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
