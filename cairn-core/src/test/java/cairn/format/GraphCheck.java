package cairn.format;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.gson.stream.JsonReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;

/** Encodes graphs and compares what is read back with their models. */
final class GraphCheck {
  private static final int CAPACITY = 2_000_000;
  private static final JsonFactory JSON = new JsonFactory();
  private static final Pattern LONG_NUMBER = Pattern.compile("[0-9]{20}");

  /** Of every hash: these texts the rule changes. */
  private static final Secrets.Rule RULE =
      (key, text) ->
          switch (text.hashCode() & 31) {
            case 0 -> null;
            case 1 -> throw new IllegalStateException("in the rule");
            case 2 -> "ruled";
            default -> text;
          };

  private final long seed;
  private final Random random;
  private final Graphs graphs;
  private final CborWriter plainOut = new CborWriter(new byte[CAPACITY], new KeyCache());
  private final ValueEncoder plain = ample(plainOut);
  private final CborWriter hidingOut = hiding(Secrets.STANDARD);
  private final ValueEncoder hiding = ample(hidingOut);
  private final CborWriter ruledOut = hiding(Secrets.STANDARD.withRule(RULE));
  private final ValueEncoder ruled = ample(ruledOut);
  private long graph;
  private long nodes;

  /** What a model comes to, and how much of it is of a kind that is counted. */
  private static final class Expected {
    final boolean hide;
    final boolean rule;
    int placeholders;
    int redactions;

    Expected(boolean hide, boolean rule) {
      this.hide = hide;
      this.rule = rule;
    }
  }

  GraphCheck(long seed) {
    this.seed = seed;
    this.random = new Random(seed);
    this.graphs = new Graphs(random);
  }

  private static CborWriter hiding(Secrets secrets) {
    return new CborWriter(new byte[CAPACITY], new KeyCache(secrets));
  }

  private static ValueEncoder ample(CborWriter out) {
    return new ValueEncoder(
        out, new EncodeLimits(CAPACITY, 1_000_000, 60, CAPACITY, 1_000_000, 1_000), Graphs.FORMS);
  }

  /** {@return nodes of all graphs so far} */
  long nodes() {
    return nodes;
  }

  /** Makes one graph, encodes it in four ways, and throws if one is wrong. */
  void one() {
    graph++;
    Graphs.Case made = graphs.next(random.nextInt(6));
    try {
      Object read = whole(plain, plainOut, made, new Expected(false, false));
      whole(hiding, hidingOut, made, new Expected(true, false));
      whole(ruled, ruledOut, made, new Expected(true, true));
      for (int i = 0; i < 3; i++) {
        tight(made, read);
      }
    } catch (Throwable e) {
      throw new AssertionError("seed=" + seed + ", graph=" + graph + ": " + e.getMessage(), e);
    }
  }

  private Object whole(ValueEncoder encoder, CborWriter out, Graphs.Case made, Expected expected) {
    Object model = resolved(made.model(), expected);
    out.reset(0, CAPACITY);
    encoder.resetCounts();
    check(encoder.value(made.value()), "not written");
    Object read = CborJudge.read(out);
    equal(read, model, "CBOR");
    equal(encoder.cuts(), 0, "cuts");
    equal(encoder.placeholders(), expected.placeholders, "placeholders");
    equal(out.redactions(), expected.redactions, "redactions");
    equal(out.limit(), CAPACITY, "limit");
    encoder.rethrowFatal();

    if (expected.hide && random.nextInt(4) != 0) {
      return read;
    }
    String json = json(out);
    check(sameJson(model, jackson(json)), "JSON by Jackson", json);
    check(sameJson(model, gson(json)), "JSON by Gson", json);
    return read;
  }

  private void tight(Graphs.Case made, Object full) {
    int size = plainOut.position();
    EncodeLimits limits =
        new EncodeLimits(
            1 + random.nextInt(size + 20),
            1 + random.nextInt(60),
            1 + random.nextInt(6),
            8 + random.nextInt(60),
            random.nextInt(10),
            random.nextInt(3));
    boolean hide = random.nextInt(3) == 0;
    CborWriter out =
        new CborWriter(new byte[size + 200], new KeyCache(hide ? Secrets.STANDARD : Secrets.NONE));
    ValueEncoder encoder = new ValueEncoder(out, limits, Graphs.FORMS);
    int from = random.nextInt(100);
    int to = from + random.nextInt(size + 30);
    out.reset(from, to);
    Arrays.fill(out.bytes(), to, out.bytes().length, (byte) 0x55);
    boolean written = encoder.value(made.value());
    equal(out.limit(), to, "limit");
    check(out.position() <= Math.min(to, from + limits.maxBytes()), "beyond the limit");
    for (int i = to; i < out.bytes().length; i++) {
      check(out.bytes()[i] == 0x55, "written behind the limit");
    }
    if (!written) {
      equal(out.position(), from, "position");
      return;
    }
    Object read = CborJudge.read(out.bytes(), from, out.position());
    if (hide) {
      check(!String.valueOf(read).contains("hunter2-and-more"), "secret");
      check(!String.valueOf(read).contains("4111111111111111"), "card");
      return;
    }
    int[] marks = {0};
    check(isCutOf(read, full, marks), "no cut of it", read);
    check(encoder.cuts() == marks[0], "cuts", read);
    check(encoder.placeholders() == placeholders(read), "placeholders", read);
  }

  // ---- the model

  private Object resolved(Object model, Expected expected) {
    nodes++;
    if (model instanceof Graphs.Text t) {
      return resolvedText(t, expected);
    }
    if (model instanceof Graphs.Fixed f) {
      return f.text();
    }
    if (model instanceof Graphs.Placeholder p) {
      expected.placeholders++;
      return p.text();
    }
    if (model instanceof Graphs.SecretNumber n) {
      if (expected.hide) {
        expected.redactions++;
        return Secrets.MARK;
      }
      return n;
    }
    if (model instanceof List<?> list) {
      List<Object> all = new ArrayList<>();
      for (Object one : list) {
        all.add(resolved(one, expected));
      }
      return all;
    }
    if (model instanceof Map<?, ?> map) {
      Map<String, Object> all = new LinkedHashMap<>();
      for (Map.Entry<?, ?> e : map.entrySet()) {
        String key = (String) e.getKey();
        Object v = e.getValue();
        if (expected.hide && v != null && !(v instanceof Boolean) && isSecretKey(key)) {
          expected.redactions++;
          all.put(key, Secrets.MARK);
        } else {
          all.put(key, resolved(v, expected));
        }
      }
      return all;
    }
    return model;
  }

  private static String resolvedText(Graphs.Text t, Expected expected) {
    String ruled = t.text();
    if (expected.rule) {
      String by;
      try {
        by = RULE.apply(null, t.raw());
      } catch (IllegalStateException e) {
        by = null;
      }
      if (!t.raw().equals(by)) {
        expected.redactions++;
        return by == null ? Secrets.MARK : by;
      }
    }
    if (expected.hide && t.secret() != null) {
      expected.redactions++;
      return t.redacted();
    }
    return ruled;
  }

  private static final Pattern BOUNDARIES =
      Pattern.compile(
          "[\\p{ASCII}&&[^A-Za-z0-9]]+"
              + "|(?<=[a-z0-9\\P{ASCII}])(?=[A-Z])"
              + "|(?<=[A-Z])(?=[A-Z][a-z\\P{ASCII}])"
              + "|(?<=[A-Za-z\\P{ASCII}])(?=[0-9])");

  /** As Redaction.standard says it. */
  static boolean isSecretKey(String key) {
    String joined = key.replaceAll("[\\p{ASCII}&&[^A-Za-z0-9]]", "").toLowerCase(Locale.ROOT);
    for (String name :
        new String[] {
          "password",
          "passwd",
          "passphrase",
          "secret",
          "authorization",
          "credential",
          "apikey",
          "accesskey",
          "privatekey",
          "cookie"
        }) {
      if (joined.contains(name)) {
        return true;
      }
    }
    for (String name :
        new String[] {
          "token", "pwd", "jwt", "sessionid", "cardnumber", "creditcard", "dbpass", "userpass"
        }) {
      if (joined.endsWith(name)) {
        return true;
      }
    }
    String[] words = BOUNDARIES.split(key, 0);
    for (int i = 0; i < words.length; i++) {
      StringBuilder some = new StringBuilder();
      for (int k = i; k < words.length && some.length() < 4; k++) {
        some.append(words[k]);
        String name = some.toString().toLowerCase(Locale.ROOT);
        if (name.equals("cvv") || name.equals("cvc") || name.equals("ssn")) {
          return true;
        }
      }
    }
    return joined.equals("auth") || joined.equals("pass");
  }

  // ---- cuts

  /** Whether {@code read} is {@code full} but for cuts, each of which is marked. */
  private static boolean isCutOf(Object read, Object full, int[] marks) {
    if (read instanceof List<?> some && full instanceof List<?> all) {
      for (int i = 0; i < some.size(); i++) {
        if (i == some.size() - 1
            && "…".equals(some.get(i))
            && !(i == all.size() - 1 && "…".equals(all.get(i)))) {
          marks[0]++; // the list's, or that of a last element that lies too deep
          return true;
        }
        if (i >= all.size() || !isCutOf(some.get(i), all.get(i), marks)) {
          return false;
        }
      }
      return some.size() == all.size();
    }
    if (read instanceof Map<?, ?> some && full instanceof Map<?, ?> all) {
      Iterator<? extends Map.Entry<?, ?>> whole = all.entrySet().iterator();
      int left = some.size();
      for (Map.Entry<?, ?> e : some.entrySet()) {
        left--;
        if (left == 0
            && e.getKey().equals("…")
            && Boolean.TRUE.equals(e.getValue())
            && !all.containsKey("…")) {
          marks[0]++;
          return true;
        }
        if (!whole.hasNext()) {
          return false;
        }
        Map.Entry<?, ?> other = whole.next();
        if (!e.getKey().equals(other.getKey()) || !isCutOf(e.getValue(), other.getValue(), marks)) {
          return false;
        }
      }
      return !whole.hasNext();
    }
    if (read instanceof List<?> some && full instanceof ByteBuffer bytes) {
      marks[0]++;
      return some.size() == 2
          && "…".equals(some.get(1))
          && some.get(0) instanceof ByteBuffer beginning
          && bytes.slice(0, Math.min(beginning.remaining(), bytes.remaining())).equals(beginning);
    }
    if (read == null || read.equals(full)) {
      return read == null ? full == null : true;
    }
    if (read.equals("…")) {
      marks[0]++;
      return true;
    }
    if (read instanceof String some && full instanceof String all && some.endsWith("…")) {
      marks[0]++;
      return all.startsWith(some.substring(0, some.length() - 1));
    }
    // Levels, for a container that contains itself; numbers, that can't be cut.
    return (read instanceof String some && some.matches("<number of \\d+ bits>"))
        && (full instanceof BigInteger || full instanceof BigDecimal);
  }

  private static int placeholders(Object read) {
    int count = 0;
    if (read instanceof List<?> list) {
      for (Object one : list) {
        count += placeholders(one);
      }
    } else if (read instanceof Map<?, ?> map) {
      for (Object one : map.values()) {
        count += placeholders(one);
      }
    } else if (read instanceof String text
        && text.startsWith("<")
        && text.matches("<threw [A-Za-z]+>|<cycle>|<number of \\d+ bits>")) {
      count = 1;
    }
    return count;
  }

  // ---- JSON

  /** A number as it is written. */
  private record Literal(String text) {}

  private static String json(CborWriter out) {
    check(CborSlice.of(out.bytes(), 0, out.position()) != null, "our own reader refuses it");
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    try {
      JsonWriter writer = new JsonWriter(json);
      check(new CborToJson(writer).write(out.bytes(), 0, out.position()) == null, "damage");
      writer.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return json.toString(StandardCharsets.UTF_8);
  }

  /** Fails if this is not one JSON value to both parsers. */
  static void parse(String json) {
    jackson(json);
    // Gson 2.14 takes digits for leading zeros where they are, as far as read, a multiple of 2^64.
    if (!LONG_NUMBER.matcher(json).find()) {
      gson(json);
    }
  }

  private static Object jackson(String json) {
    try (JsonParser parser = JSON.createParser(json)) {
      parser.nextToken();
      Object value = jackson(parser);
      check(parser.nextToken() == null, "more than one value");
      return value;
    } catch (IOException e) {
      throw new UncheckedIOException(json, e);
    }
  }

  private static Object jackson(JsonParser parser) throws IOException {
    return switch (parser.currentToken()) {
      case VALUE_NULL -> null;
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_STRING -> parser.getText();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Literal(parser.getText());
      case START_ARRAY -> {
        List<Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(jackson(parser));
        }
        yield list;
      }
      case START_OBJECT -> {
        Map<String, Object> map = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String key = parser.currentName();
          parser.nextToken();
          map.put(key, jackson(parser));
        }
        yield map;
      }
      default -> throw new AssertionError(parser.currentToken());
    };
  }

  private static Object gson(String json) {
    try (JsonReader reader = new JsonReader(new StringReader(json))) {
      return gson(reader);
    } catch (IOException e) {
      throw new UncheckedIOException(json, e);
    }
  }

  private static Object gson(JsonReader reader) throws IOException {
    return switch (reader.peek()) {
      case NULL -> {
        reader.nextNull();
        yield null;
      }
      case BOOLEAN -> reader.nextBoolean();
      case STRING -> reader.nextString();
      case NUMBER -> new Literal(reader.nextString());
      case BEGIN_ARRAY -> {
        List<Object> list = new ArrayList<>();
        reader.beginArray();
        while (reader.hasNext()) {
          list.add(gson(reader));
        }
        reader.endArray();
        yield list;
      }
      case BEGIN_OBJECT -> {
        Map<String, Object> map = new LinkedHashMap<>();
        reader.beginObject();
        while (reader.hasNext()) {
          String key = reader.nextName();
          map.put(key, gson(reader));
        }
        reader.endObject();
        yield map;
      }
      default -> throw new AssertionError(reader.peek());
    };
  }

  private static boolean sameJson(Object model, Object read) {
    if (model instanceof List<?> a && read instanceof List<?> b) {
      boolean same = a.size() == b.size();
      for (int i = 0; same && i < a.size(); i++) {
        same = sameJson(a.get(i), b.get(i));
      }
      return same;
    }
    if (model instanceof Map<?, ?> a && read instanceof Map<?, ?> b) {
      boolean same = a.size() == b.size();
      for (Map.Entry<?, ?> e : a.entrySet()) {
        same = same && b.containsKey(e.getKey()) && sameJson(e.getValue(), b.get(e.getKey()));
      }
      return same;
    }
    if (read instanceof Literal literal) {
      return sameNumber(model, literal.text());
    }
    if (model instanceof Double || model instanceof Float) {
      return model.toString().equals(read); // NaN and infinities
    }
    if (model instanceof ByteBuffer bytes) {
      byte[] copy = new byte[bytes.remaining()];
      bytes.get(bytes.position(), copy);
      return Base64.getEncoder().encodeToString(copy).equals(read);
    }
    return model == null ? read == null : model.equals(read);
  }

  private static boolean sameNumber(Object model, String text) {
    if (model instanceof Double d) {
      return Double.doubleToLongBits(d) == Double.doubleToLongBits(Double.parseDouble(text));
    }
    if (model instanceof Float f) {
      return Float.floatToIntBits(f) == Float.floatToIntBits(Float.parseFloat(text));
    }
    if (model instanceof Graphs.SecretNumber n) {
      return new BigDecimal(text).compareTo(new BigDecimal(n.number())) == 0;
    }
    return model instanceof BigDecimal
        ? model.equals(new BigDecimal(text))
        : model.equals(new BigInteger(text));
  }

  // ---- what is said when it is wrong

  private static void check(boolean right, String what) {
    if (!right) {
      throw new AssertionError(what);
    }
  }

  private static void check(boolean right, String what, Object of) {
    if (!right) {
      throw new AssertionError(what + ": " + of);
    }
  }

  private static void equal(Object is, Object expected, String what) {
    if (!(is == null ? expected == null : matches(is, expected))) {
      throw new AssertionError(what + ": is " + is + ", expected " + expected);
    }
  }

  private static boolean matches(Object is, Object expected) {
    if (is instanceof List<?> a && expected instanceof List<?> b) {
      boolean same = a.size() == b.size();
      for (int i = 0; same && i < a.size(); i++) {
        same = a.get(i) == null ? b.get(i) == null : matches(a.get(i), b.get(i));
      }
      return same;
    }
    if (is instanceof Map<?, ?> a && expected instanceof Map<?, ?> b) {
      boolean same = a.keySet().equals(b.keySet());
      for (Map.Entry<?, ?> e : a.entrySet()) {
        Object other = b.get(e.getKey());
        same = same && (e.getValue() == null ? other == null : matches(e.getValue(), other));
      }
      return same;
    }
    if (expected instanceof Graphs.SecretNumber n) {
      return is.equals(BigInteger.valueOf(n.number())) || is.equals(new BigDecimal(n.number()));
    }
    return is.equals(expected);
  }
}
