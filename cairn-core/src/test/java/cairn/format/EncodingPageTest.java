package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.MonthDay;
import java.time.OffsetDateTime;
import java.time.OffsetTime;
import java.time.Period;
import java.time.Year;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Collections;
import java.util.Currency;
import java.util.Date;
import java.util.GregorianCalendar;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
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
import java.util.concurrent.atomic.DoubleAccumulator;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** The tables of docs/ENCODING.md: each row is what a live value is encoded to. */
class EncodingPageTest {
  private static final Path PAGE = Path.of("..", "docs", "ENCODING.md");

  /** No table but those of live values has this heading. */
  private static final String HEADING = "| value | CBOR | example | JSON |";

  private final CborWriter out = new CborWriter(new byte[100_000], new KeyCache(Secrets.STANDARD));
  private final ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT, forms());

  private final List<String> rows = new ArrayList<>();

  record Point(int x, int y) {}

  record Money(long cents) {}

  /** As of a library: a number that only its {@code toString} tells. */
  static final class Fraction extends Number {
    private static final long serialVersionUID = 1;

    @Override
    public int intValue() {
      return 0;
    }

    @Override
    public long longValue() {
      return 0;
    }

    @Override
    public float floatValue() {
      return 0.5f;
    }

    @Override
    public double doubleValue() {
      return 0.5;
    }

    @Override
    public String toString() {
      return "1/2";
    }
  }

  private static Forms forms() {
    return Forms.NONE.with(Money.class, money -> ((Money) money).cents());
  }

  @Test
  void everyRowIsWhatALiveValueIsEncodedToAndEveryValueHasARow() throws IOException {
    scalars();
    numbers();
    time();
    platform();
    containers();
    marks();
    redacted();

    List<String> page = new ArrayList<>();
    boolean table = false;
    for (String line : Files.readAllLines(PAGE)) {
      if (table && !line.startsWith("|")) {
        table = false;
      }
      if (table && !line.startsWith("|---")) {
        page.add(line);
      }
      table |= line.equals(HEADING);
    }
    assertThat(page).as("%s should have:%n%s", PAGE, String.join("\n", rows)).isEqualTo(rows);
  }

  private void row(String label, String example, Object value) {
    out.reset(0, 100_000);
    assertThat(encoder.value(value)).isTrue();
    rows.add("| " + label + " | " + form() + " | `" + example + "` | `" + json() + "` |");
  }

  private String json() {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    try {
      JsonWriter writer = new JsonWriter(json);
      assertThat(new CborToJson(writer).write(out.bytes(), 0, out.position())).isNull();
      writer.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return json.toString(StandardCharsets.UTF_8);
  }

  /** By the first byte: RFC 8949, section 3. */
  private String form() {
    int first = out.bytes()[0] & 0xff;
    return switch (first >> 5) {
      case 0 -> "unsigned";
      case 1 -> "negative";
      case 2 -> "byte string";
      case 3 -> "text";
      case 4 -> "array";
      case 5 -> "map";
      case 6 -> "tag " + (first & 31);
      default ->
          switch (first) {
            case 0xf4 -> "false";
            case 0xf5 -> "true";
            case 0xf6 -> "null";
            case 0xfa -> "float 32";
            default -> "float 64";
          };
    };
  }

  private void scalars() {
    row("null", "null", null);
    row("Boolean", "true", true);
    row("String", "\"grün\"", "grün");
    row("…, a lone surrogate in it", "\"a\\ud83d\"", "a\ud83d");
    row("Character", "'é'", 'é');
    row("CharSequence", "new StringBuilder(\"sb\")", new StringBuilder("sb"));
    row("enum: its name", "TimeUnit.SECONDS", TimeUnit.SECONDS);
  }

  private void numbers() {
    row("Byte, Short, Integer, Long", "42", 42);
    row("…, negative", "-42L", -42L);
    row("Float", "0.1f", 0.1f);
    row("Double", "0.1", 0.1);
    row("…, negative zero", "-0.0", -0.0);
    row("…, not a number", "Double.NaN", Double.NaN);
    row("…, infinite", "Double.NEGATIVE_INFINITY", Double.NEGATIVE_INFINITY);
    row("BigInteger of 64 bits", "BigInteger.TWO.pow(63)", BigInteger.TWO.pow(63));
    row("…, larger", "BigInteger.TWO.pow(64)", BigInteger.TWO.pow(64));
    row(
        "…, larger and negative",
        "BigInteger.TEN.pow(20).negate()",
        BigInteger.TEN.pow(20).negate());
    row("BigDecimal: exact, scale included", "new BigDecimal(\"1.50\")", new BigDecimal("1.50"));
    row("AtomicInteger", "new AtomicInteger(3)", new AtomicInteger(3));
    row("AtomicLong", "new AtomicLong(4)", new AtomicLong(4));
    LongAdder longs = new LongAdder();
    longs.add(5);
    row("LongAdder", "5 added", longs);
    row("LongAccumulator", "new LongAccumulator(Long::max, 6)", new LongAccumulator(Long::max, 6));
    DoubleAdder doubles = new DoubleAdder();
    doubles.add(0.5);
    row("DoubleAdder", "0.5 added", doubles);
    row(
        "DoubleAccumulator",
        "new DoubleAccumulator(Double::max, 0.5)",
        new DoubleAccumulator(Double::max, 0.5));
    row("any other Number: its `toString`", "a fraction", new Fraction());
  }

  @SuppressWarnings("JavaUtilDate")
  private void time() {
    Instant instant = Instant.parse("2026-11-30T10:11:12.013Z");
    LocalDate date = LocalDate.of(2026, 11, 30);
    LocalTime time = LocalTime.of(10, 11, 12);
    ZoneId berlin = ZoneId.of("Europe/Berlin");
    ZoneOffset two = ZoneOffset.ofHours(2);
    row("Instant", "Instant.now()", instant);
    row("LocalDate", "LocalDate.now()", date);
    row("LocalTime", "LocalTime.now()", time);
    row("LocalDateTime", "LocalDateTime.now()", LocalDateTime.of(date, time));
    row("OffsetDateTime", "instant.atOffset(two)", OffsetDateTime.ofInstant(instant, two));
    row("OffsetTime", "time.atOffset(two)", OffsetTime.of(time, two));
    row("ZonedDateTime", "instant.atZone(berlin)", ZonedDateTime.ofInstant(instant, berlin));
    row("ZoneId", "ZoneId.of(\"Europe/Berlin\")", berlin);
    row("ZoneOffset", "ZoneOffset.ofHours(2)", two);
    row("Duration", "Duration.ofMillis(1500)", Duration.ofMillis(1500));
    row("Period", "Period.ofDays(3)", Period.ofDays(3));
    row("Year", "Year.of(2026)", Year.of(2026));
    row("YearMonth", "YearMonth.of(2026, 11)", YearMonth.of(2026, 11));
    row("MonthDay", "MonthDay.of(11, 30)", MonthDay.of(11, 30));
    row("DayOfWeek, Month: enums", "DayOfWeek.MONDAY", DayOfWeek.MONDAY);
    row("Date, java.sql's too", "new Date()", Date.from(instant));
    Calendar calendar = GregorianCalendar.from(instant.atZone(berlin));
    row("Calendar", "Calendar.getInstance()", calendar);
    row("TimeZone", "TimeZone.getTimeZone(\"UTC\")", TimeZone.getTimeZone("UTC"));
  }

  private void platform() {
    row("UUID", "UUID.randomUUID()", UUID.fromString("7f3c9a52-1b4d-4e8f-9c3a-2d5e6f708192"));
    row("URI", "URI.create(\"http://a/b?c\")", URI.create("http://a/b?c"));
    row("URL: no name is resolved", "new URL(\"http://a/b\")", url());
    row("Path: not iterated", "Path.of(\"b.txt\")", Path.of("b.txt"));
    row("File", "new File(\"b.txt\")", new File("b.txt"));
    row("Locale", "Locale.GERMANY", Locale.GERMANY);
    row("Class: its name", "String.class", String.class);
    row("Optional: what it holds", "Optional.of(\"x\")", Optional.of("x"));
    row("…, empty", "Optional.empty()", Optional.empty());
    row("OptionalInt", "OptionalInt.of(7)", OptionalInt.of(7));
    row("OptionalLong", "OptionalLong.of(8)", OptionalLong.of(8));
    row("OptionalDouble", "OptionalDouble.empty()", OptionalDouble.empty());
    row("AtomicBoolean", "new AtomicBoolean(true)", new AtomicBoolean(true));
    row("AtomicReference", "new AtomicReference<>(\"r\")", new AtomicReference<>("r"));
    row(
        "AtomicMarkableReference",
        "new AtomicMarkableReference<>(\"m\", true)",
        new AtomicMarkableReference<>("m", true));
    row(
        "AtomicStampedReference",
        "new AtomicStampedReference<>(\"s\", 1)",
        new AtomicStampedReference<>("s", 1));
    row(
        "anything else: its `toString`",
        "Currency.getInstance(\"EUR\")",
        Currency.getInstance("EUR"));
    row("…, which returns null", "toString() is null", withoutText());
  }

  private static URL url() {
    try {
      return new URL("http://a/b");
    } catch (MalformedURLException e) {
      throw new AssertionError(e);
    }
  }

  private static Object withoutText() {
    return new Object() {
      @Override
      public String toString() {
        return null;
      }
    };
  }

  private void containers() {
    row("byte[]", "{1, 2, -1}", new byte[] {1, 2, -1});
    row(
        "ByteBuffer: what remains; not moved",
        "ByteBuffer.wrap(bytes, 1, 2)",
        ByteBuffer.wrap(new byte[] {0, 1, 2}, 1, 2));
    row("char[]", "{'h', 'i'}", new char[] {'h', 'i'});
    row("boolean[]", "{true, false}", new boolean[] {true, false});
    row("short[]", "{1, 2}", new short[] {1, 2});
    row("int[]", "{1, 2}", new int[] {1, 2});
    row("long[]", "{1, 2}", new long[] {1, 2});
    row("float[]", "{0.5f}", new float[] {0.5f});
    row("double[]", "{0.5}", new double[] {0.5});
    row("Object[]", "{\"a\", 1, null}", new Object[] {"a", 1, null});
    row("AtomicIntegerArray", "…(new int[] {1})", new AtomicIntegerArray(new int[] {1}));
    row("AtomicLongArray", "…(new long[] {1})", new AtomicLongArray(new long[] {1}));
    row(
        "AtomicReferenceArray",
        "…(new String[] {\"a\"})",
        new AtomicReferenceArray<>(new String[] {"a"}));
    row("List", "Arrays.asList(\"a\", null)", Arrays.asList("a", null));
    row("Set and any other Collection", "Set.of(1)", Set.of(1));
    row(
        "any other Iterable",
        "() -> list.iterator()",
        (Iterable<Integer>) () -> List.of(1).iterator());
    row("Map", "Map.of(\"rows\", 3)", Map.of("rows", 3));
    row("…, key that is no text: its `toString`", "Map.of(404, true)", Map.of(404, true));
    row("…, key that is null", "{null: 1}", Collections.singletonMap(null, 1));
    row("Map.Entry", "Map.entry(\"k\", 1)", Map.entry("k", 1));
    row("record: its components", "new Point(1, 2)", new Point(1, 2));
    Exception thrown = new IllegalStateException("no stock", new IOException("timeout"));
    thrown.addSuppressed(new IOException("close"));
    StackTraceElement[] frames = {new StackTraceElement("Shop", "order", "Shop.java", 17)};
    thrown.setStackTrace(frames);
    thrown.getCause().setStackTrace(new StackTraceElement[0]);
    thrown.getSuppressed()[0].setStackTrace(new StackTraceElement[0]);
    row("Throwable: what is there of these", "catch (… e)", thrown);
    row("type with a form of its own", "new Money(995)", new Money(995));
  }

  private void marks() {
    row("text of more than 8,192 bytes", "\"x\".repeat(9000)", "x".repeat(9000));
    String last = rows.remove(rows.size() - 1);
    rows.add(last.replaceFirst("x{8000,}", "xxx"));
    row("array of more than 1,000", "new int[1001]", new int[1001]);
    last = rows.remove(rows.size() - 1);
    rows.add(last.replaceFirst("(0,){900,}", "0,0,"));
    Map<String, Integer> large = new LinkedHashMap<>();
    for (int i = 0; i < 1001; i++) {
      large.put("k" + i, i);
    }
    row("map of more than 1,000", "1,001 entries", large);
    last = rows.remove(rows.size() - 1);
    rows.add(last.replaceFirst(",\"k1\":.*\"k999\":999", ""));
    row("byte[] of more than 8,192", "new byte[9000]", new byte[9000]);
    last = rows.remove(rows.size() - 1);
    rows.add(last.replaceFirst("A{8000,}", "AAA"));
    Object deep = "bottom";
    for (int i = 0; i < 17; i++) {
      deep = List.of(deep);
    }
    row("more than 16 levels", "17 lists", deep);
    row("key of more than 128 bytes", "Map.of(\"k\".repeat(200), 1)", Map.of("k".repeat(200), 1));
    last = rows.remove(rows.size() - 1);
    rows.add(last.replaceFirst("k{100,}", "kkk"));
    row(
        "value that throws",
        "toString() throws",
        new Object() {
          @Override
          public String toString() {
            throw new IllegalStateException();
          }
        });
    List<Object> self = new ArrayList<>();
    self.add(self);
    row("value that contains itself", "list.add(list)", self);
    row(
        "number that fits nowhere",
        "BigInteger.ONE.shiftLeft(70_000)",
        BigInteger.ONE.shiftLeft(70_000));
  }

  private void redacted() {
    row("under a secret key", "Map.of(\"apiKey\", 17)", Map.of("apiKey", 17));
    row("…, true, false and null", "Map.of(\"password\", true)", Map.of("password", true));
    row("in a text: a named value", "\"password=hunter2&x=1\"", "password=hunter2&x=1");
    row("…, in JSON", "\"{'token': 'a1b2'}\"", "{'token': 'a1b2'}");
    row("…, in XML", "\"<secret>a1b2</secret>\"", "<secret>a1b2</secret>");
    row("…, cookies", "\"Cookie: SID=31d4d96e; lang=en\"", "Cookie: SID=31d4d96e; lang=en");
    row(
        "…, a JSON web token",
        "\"as eyJhbGciOiJIUzI1NiJ9.e30.Sfl…\"",
        "as eyJhbGciOiJIUzI1NiJ9.e30.SflKxwRJSMeKKF2QT4");
    row("…, a bearer token", "\"Bearer a1b2c3d4e5\"", "Bearer a1b2c3d4e5");
    row("…, a user with a password", "\"ftp://me:pw@host/\"", "ftp://me:pw@host/");
    row("…, a card number", "\"paid by 4111 1111 1111 1111\"", "paid by 4111 1111 1111 1111");
    row(
        "…, a private key",
        "\"-----BEGIN PRIVATE KEY-----\\nMII…\"",
        "-----BEGIN PRIVATE KEY-----\nMIIEvQ==\n-----END PRIVATE KEY-----\n");
    row("a card number as an integer", "4111111111111111L", 4111111111111111L);
    row("…, as a double", "4111111111111111d", 4111111111111111d);
  }
}
