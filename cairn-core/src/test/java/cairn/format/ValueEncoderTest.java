package cairn.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.AbstractList;
import java.util.AbstractMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Date;
import java.util.EnumMap;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.DoubleAdder;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

class ValueEncoderTest {
  private static final EncodeLimits SMALL = new EncodeLimits(100_000, 500, 6, 40, 10, 3);

  private final CborWriter out = new CborWriter(new byte[300_000], new KeyCache());
  private final ValueEncoder encoder = new ValueEncoder(out, EncodeLimits.DEFAULT);
  private final ValueEncoder small = new ValueEncoder(out, SMALL);

  private Object encoded(ValueEncoder by, Object value) {
    out.reset(0, 300_000);
    by.resetCounts();
    assertThat(by.value(value)).isTrue();
    assertThat(out.limit()).isEqualTo(300_000);
    return CborJudge.read(out);
  }

  private Object encoded(Object value) {
    Object read = encoded(encoder, value);
    assertThat(encoder.cuts()).isZero();
    assertThat(encoder.placeholders()).isZero();
    return read;
  }

  @SuppressWarnings("unchecked")
  private Map<String, Object> encodedMap(ValueEncoder by, Object value) {
    return (Map<String, Object>) encoded(by, value);
  }

  private static BigInteger big(long v) {
    return BigInteger.valueOf(v);
  }

  private static List<Object> bigs(long... v) {
    List<Object> list = new ArrayList<>();
    Arrays.stream(v).forEach(n -> list.add(big(n)));
    return list;
  }

  enum Colour {
    RED,
    BLUE {
      @Override
      public String toString() {
        return "not the name";
      }
    }
  }

  record Point(int x, String label) {}

  private record Hidden(Object value) {}

  record Throwing(int fine) {
    @Override
    public int fine() {
      throw new IllegalStateException("no");
    }
  }

  /** Throws what it is given, whatever it is asked. */
  static final class Bad {
    private final Throwable thrown;

    Bad(Throwable thrown) {
      this.thrown = thrown;
    }

    @Override
    public String toString() {
      throw ValueEncoderTest.<RuntimeException>sneaky(thrown);
    }
  }

  @SuppressWarnings("unchecked")
  private static <T extends Throwable> T sneaky(Throwable thrown) throws T {
    throw (T) thrown;
  }

  private static Bad bad() {
    return new Bad(new IllegalStateException("no"));
  }

  @Test
  void scalarsKeepValueAndKind() {
    assertThat(encoded(null)).isNull();
    assertThat(encoded(true)).isEqualTo(true);
    assertThat(encoded(false)).isEqualTo(false);
    assertThat(encoded("text")).isEqualTo("text");
    assertThat(encoded('é')).isEqualTo("é");
    assertThat(encoded('\ud800')).isEqualTo("?");
    assertThat(encoded(new StringBuilder("builder"))).isEqualTo("builder");
    for (long v : new long[] {0, 23, 24, -1, -25, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE}) {
      assertThat(encoded(v)).isEqualTo(big(v));
    }
    assertThat(encoded(Integer.MIN_VALUE)).isEqualTo(big(Integer.MIN_VALUE));
    assertThat(encoded((short) -7)).isEqualTo(big(-7));
    assertThat(encoded((byte) -8)).isEqualTo(big(-8));
    for (double v :
        new double[] {0.1, -0.0, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE}) {
      assertThat(encoded(v)).isEqualTo(v);
    }
    for (float v : new float[] {0.1f, -0.0f, Float.NaN, Float.POSITIVE_INFINITY}) {
      assertThat(encoded(v)).isEqualTo(v);
    }
  }

  @Test
  void bigNumbersAreExact() {
    BigInteger two64 = BigInteger.ONE.shiftLeft(64);
    for (BigInteger v :
        new BigInteger[] {
          BigInteger.ZERO,
          BigInteger.TEN.negate(),
          big(Long.MAX_VALUE),
          big(Long.MIN_VALUE),
          big(Long.MAX_VALUE).add(BigInteger.ONE),
          two64.subtract(BigInteger.ONE),
          two64,
          two64.negate(),
          two64.negate().subtract(BigInteger.ONE),
          BigInteger.TEN.pow(300),
          BigInteger.TEN.pow(301).negate()
        }) {
      assertThat(encoded(v)).as("%s", v).isEqualTo(v);
    }
    for (String v :
        new String[] {"0", "273.15", "-1.50", "1E+400", "1E-400", "12345678901234567890.5"}) {
      assertThat(encoded(new BigDecimal(v))).isEqualTo(new BigDecimal(v));
    }
    // RFC 8949, appendix A: 18446744073709551616, -18446744073709551616, -18446744073709551617;
    // and 273.15 of section 3.4.4.
    assertThat(hex(two64)).isEqualTo("c249010000000000000000");
    assertThat(hex(two64.negate())).isEqualTo("3bffffffffffffffff");
    assertThat(hex(two64.negate().subtract(BigInteger.ONE))).isEqualTo("c349010000000000000000");
    assertThat(hex(new BigDecimal("273.15"))).isEqualTo("c48221196ab3");
    // By hand: the judge takes the highest bit of a big number for its sign.
    assertThat(hex(two64.shiftLeft(7))).isEqualTo("c249800000000000000000");
    assertThat(hex(new BigDecimal(two64.shiftLeft(7), 1)))
        .isEqualTo("c48220c249800000000000000000");
    assertThat(hex(new BigDecimal(two64.negate().subtract(BigInteger.ONE), -1)))
        .isEqualTo("c48201c349010000000000000000");
  }

  private String hex(Object value) {
    encoded(value);
    return CborJudge.hex(out.bytes(), 0, out.position());
  }

  @Test
  void numberTooLargeForTheLimitsIsAPlaceholder() {
    assertThat(encoded(small, BigInteger.ONE.shiftLeft(400))).isEqualTo("<number of 401 bits>");
    assertThat(encoded(small, new BigDecimal(BigInteger.ONE.shiftLeft(400), 3)))
        .isEqualTo("<number of 401 bits>");
    assertThat(small.placeholders()).isEqualTo(1);
  }

  @Test
  void typesOfThePlatformHaveForms() throws Exception {
    UUID uuid = UUID.fromString("7f3c9a52-1b4d-4e8f-9c3a-2d5e6f708192");
    Instant instant = Instant.parse("2026-11-30T10:11:12.013Z");
    Map<Object, Object> forms = new LinkedHashMap<>();
    forms.put(Colour.RED, "RED");
    forms.put(Colour.BLUE, "BLUE");
    forms.put(instant, "2026-11-30T10:11:12.013Z");
    forms.put(LocalDate.of(2026, 11, 30), "2026-11-30");
    forms.put(
        OffsetDateTime.ofInstant(instant, ZoneOffset.ofHours(2)), "2026-11-30T12:11:12.013+02:00");
    forms.put(Duration.ofMillis(1500), "PT1.5S");
    forms.put(Date.from(instant), "2026-11-30T10:11:12.013Z");
    forms.put(GregorianCalendar.from(instant.atZone(ZoneOffset.UTC)), "2026-11-30T10:11:12.013Z");
    forms.put(TimeZone.getTimeZone("Europe/Berlin"), "Europe/Berlin");
    forms.put(uuid, "7f3c9a52-1b4d-4e8f-9c3a-2d5e6f708192");
    forms.put(URI.create("http://a/b?c"), "http://a/b?c");
    forms.put(new URL("http://name.invalid/x"), "http://name.invalid/x");
    forms.put(Path.of("a", "b"), "a/b");
    forms.put(new File("a/b"), "a/b");
    forms.put(Locale.GERMANY, "de-DE");
    forms.put(String.class, "java.lang.String");
    forms.put(int[].class, "[I");
    forms.put(Optional.of(7), big(7));
    forms.put(OptionalInt.of(7), big(7));
    forms.put(OptionalLong.of(7), big(7));
    forms.put(OptionalDouble.of(0.5), 0.5);
    forms.put(new AtomicBoolean(true), true);
    forms.put(new AtomicInteger(3), big(3));
    forms.put(new AtomicLong(4), big(4));
    forms.put(new AtomicReference<>("r"), "r");
    forms.put(new AtomicIntegerArray(new int[] {1, 2}), bigs(1, 2));
    forms.put(new AtomicLongArray(new long[] {1, 2}), bigs(1, 2));
    forms.put(new AtomicReferenceArray<>(new String[] {"a", "b"}), List.of("a", "b"));
    forms.put(new Point(1, "p"), Map.of("x", big(1), "label", "p"));
    forms.put(new Hidden(List.of()), Map.of("value", List.of()));
    forms.put(Map.entry("k", 1), Map.of("k", big(1)));
    for (Map.Entry<Object, Object> form : forms.entrySet()) {
      assertThat(encoded(form.getKey())).as("%s", form.getKey()).isEqualTo(form.getValue());
    }
    for (Object none :
        new Object[] {
          Optional.empty(),
          OptionalInt.empty(),
          OptionalLong.empty(),
          OptionalDouble.empty(),
          new AtomicReference<>()
        }) {
      assertThat(encoded(none)).isNull();
    }
    LongAdder longs = new LongAdder();
    longs.add(5);
    DoubleAdder doubles = new DoubleAdder();
    doubles.add(0.5);
    assertThat(encoded(List.of(longs, doubles))).isEqualTo(List.of(big(5), 0.5));
    Date withoutTime =
        new Date(0) {
          private static final long serialVersionUID = 1;

          @Override
          public Instant toInstant() {
            throw new UnsupportedOperationException("as java.sql.Date does");
          }
        };
    assertThat(encoded(withoutTime)).isEqualTo("1970-01-01T00:00:00Z");
  }

  @Test
  void arraysAndCollectionsAreArrays() {
    assertThat(encoded(new int[] {1, -2})).isEqualTo(bigs(1, -2));
    assertThat(encoded(new long[] {1, 1L << 40})).isEqualTo(bigs(1, 1L << 40));
    assertThat(encoded(new short[] {3})).isEqualTo(bigs(3));
    assertThat(encoded(new double[] {0.5})).isEqualTo(List.of(0.5));
    assertThat(encoded(new float[] {0.5f})).isEqualTo(List.of(0.5f));
    assertThat(encoded(new boolean[] {true, false})).isEqualTo(List.of(true, false));
    assertThat(encoded(new char[] {'a', 'é'})).isEqualTo("aé");
    assertThat(encoded(new Object[] {"a", null, 1})).isEqualTo(Arrays.asList("a", null, big(1)));
    assertThat(encoded(new String[][] {{"a"}, {}})).isEqualTo(List.of(List.of("a"), List.of()));
    assertThat(encoded(new byte[] {1, -1})).isEqualTo(ByteBuffer.wrap(new byte[] {1, -1}));
    assertThat(encoded(List.of("a", List.of()))).isEqualTo(List.of("a", List.of()));
    assertThat(encoded(new LinkedList<>(List.of("a")))).isEqualTo(List.of("a"));
    assertThat(encoded(Set.of("a"))).isEqualTo(List.of("a"));
    assertThat(encoded(new ArrayDeque<>(List.of("a", "b")))).isEqualTo(List.of("a", "b"));
    assertThat(encoded((Iterable<String>) () -> List.of("i").iterator())).isEqualTo(List.of("i"));
  }

  @Test
  void byteBufferIsWhatRemainsAndIsNotMoved() {
    ByteBuffer buffer = ByteBuffer.allocateDirect(4).put(new byte[] {1, 2, 3, 4}).position(1);
    assertThat(encoded(buffer)).isEqualTo(ByteBuffer.wrap(new byte[] {2, 3, 4}));
    assertThat(buffer.position()).isEqualTo(1);
  }

  @Test
  void everyKindOfMapIsAMapWithTextKeys() {
    Map<String, Object> expected = Map.of("a", big(1), "b", "x");
    Map<String, Object> map = new HashMap<>(Map.of("a", 1, "b", "x"));
    for (Map<String, Object> m :
        List.of(
            map,
            new LinkedHashMap<>(map),
            new TreeMap<>(map),
            new ConcurrentHashMap<>(map),
            Map.copyOf(map),
            Collections.unmodifiableMap(map),
            Collections.synchronizedMap(map))) {
      assertThat(encoded(m)).as("%s", m.getClass()).isEqualTo(expected);
      out.reset(0, 1000);
      assertThat(encoder.map(m)).isTrue();
      assertThat(CborJudge.read(out)).isEqualTo(expected);
    }
    assertThat(encoded(Map.of("a", "b"))).isEqualTo(Map.of("a", "b"));
    assertThat(encoded(Map.of())).isEqualTo(Map.of());
    assertThat(encoded(Collections.singletonMap(null, null)))
        .isEqualTo(Collections.singletonMap("null", null));
    assertThat(encoded(new EnumMap<>(Map.of(Colour.BLUE, 2)))).isEqualTo(Map.of("BLUE", big(2)));
    assertThat(encoded(Map.of(1, "one"))).isEqualTo(Map.of("1", "one"));
    assertThat(encoded(Map.of(new StringBuilder("sb"), "x"))).isEqualTo(Map.of("sb", "x"));
    assertThat(encoded(Map.of(Long.class, "x"))).isEqualTo(Map.of("java.lang.Long", "x"));
  }

  @Test
  void throwableIsTypeMessageStackCauseAndSuppressed() {
    Exception e = new IllegalStateException("outer", new RuntimeException("inner"));
    e.addSuppressed(new java.io.IOException("closed"));
    Map<?, ?> read = (Map<?, ?>) encoded(encoder, e);
    assertThat(read.get("type")).isEqualTo("java.lang.IllegalStateException");
    assertThat(read.get("message")).isEqualTo("outer");
    assertThat(((List<?>) read.get("stack")).get(0)).isEqualTo(e.getStackTrace()[0].toString());
    assertThat(((Map<?, ?>) read.get("cause")).get("message")).isEqualTo("inner");
    assertThat(((Map<?, ?>) ((List<?>) read.get("suppressed")).get(0)).get("message"))
        .isEqualTo("closed");

    Map<?, ?> bounded = (Map<?, ?>) encoded(small, e);
    assertThat((List<?>) bounded.get("stack")).hasSize(4).last().isEqualTo("…");
  }

  @Test
  void throwableThatIsItsOwnCauseEnds() {
    Exception a = new Exception("a");
    Exception b = new Exception("b", a);
    a.initCause(b);
    a.setStackTrace(new StackTraceElement[0]);
    b.setStackTrace(new StackTraceElement[0]);
    assertThat(encoded(encoder, a))
        .isEqualTo(
            Map.of(
                "type",
                "java.lang.Exception",
                "message",
                "a",
                "cause",
                Map.of("type", "java.lang.Exception", "message", "b", "cause", "<cycle>")));
    assertThat(encoder.placeholders()).isEqualTo(1);
  }

  @Test
  void throwableIsNotIteratedEvenIfItCanBe() {
    class Chained extends Exception implements Iterable<Throwable> {
      private static final long serialVersionUID = 1;

      Chained() {
        super("down, as java.sql.SQLException says it");
      }

      @Override
      public Iterator<Throwable> iterator() {
        return List.<Throwable>of(this).iterator();
      }
    }
    assertThat(encodedMap(encoder, new Chained())).containsEntry("type", Chained.class.getName());
  }

  @Test
  void whatThrowsIsAPlaceholderInItsPlaceAndCostsNoOther() {
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("before", 1);
    m.put("bad", bad());
    m.put("list", List.of("x", bad(), "y"));
    m.put("after", 2);
    assertThat(encoded(encoder, m))
        .isEqualTo(
            Map.of(
                "before", big(1),
                "bad", "<threw IllegalStateException>",
                "list", List.of("x", "<threw IllegalStateException>", "y"),
                "after", big(2)));
    assertThat(encoder.placeholders()).isEqualTo(2);
    assertThat(encoder.cuts()).isZero();
  }

  @Test
  void anythingThrownButFatalErrorsIsAPlaceholder() {
    for (Throwable thrown :
        new Throwable[] {
          new NullPointerException(), new java.io.IOException(), new StackOverflowError(),
          new NoClassDefFoundError(), new AssertionError(), new Error()
        }) {
      assertThat(encoded(encoder, List.of(new Bad(thrown), "ok")))
          .isEqualTo(List.of("<threw " + thrown.getClass().getSimpleName() + ">", "ok"));
    }
  }

  @Test
  void fatalErrorCostsNoOtherValueAndReachesTheCallerAfterTheRecord() {
    for (Error fatal :
        new Error[] {new OutOfMemoryError(), new InternalError(), new ThreadDeath()}) {
      String placeholder = "<threw " + fatal.getClass().getSimpleName() + ">";
      assertThat(encoded(encoder, List.of(1, new Bad(fatal), 2)))
          .isEqualTo(List.of(big(1), placeholder, big(2)));
      assertThatThrownBy(encoder::rethrowFatal).isSameAs(fatal);
      assertThatCode(encoder::rethrowFatal).doesNotThrowAnyException();
      assertThat(encoded(List.of(1))).isEqualTo(bigs(1));
    }
  }

  @Test
  void everyPlaceWhereTheApplicationRunsMayThrow() {
    Map<Object, Object> badKey = new LinkedHashMap<>();
    badKey.put("a", 1);
    badKey.put(bad(), 2);
    badKey.put("c", 3);
    assertThat(encoded(encoder, badKey))
        .isEqualTo(Map.of("a", big(1), "<threw IllegalStateException>", big(2), "c", big(3)));

    List<Object> badGet =
        new java.util.ArrayList<>(List.of(1, 2, 3)) {
          private static final long serialVersionUID = 1;

          @Override
          public Object get(int i) {
            if (i == 1) {
              throw new IllegalStateException();
            }
            return super.get(i);
          }
        };
    assertThat(encoded(encoder, badGet))
        .isEqualTo(List.of(big(1), "<threw IllegalStateException>", big(3)));

    Iterable<Object> badIterator =
        () -> {
          throw new IllegalStateException();
        };
    Iterable<Object> noIterator = () -> null;
    assertThat(encoded(encoder, List.of(badIterator, noIterator, 1)))
        .isEqualTo(
            List.of("<threw IllegalStateException>", "<threw NullPointerException>", big(1)));

    Exception badMessage =
        new Exception() {
          private static final long serialVersionUID = 1;

          @Override
          public String getMessage() {
            throw new IllegalStateException();
          }
        };
    badMessage.setStackTrace(new StackTraceElement[0]);
    assertThat(encoded(encoder, badMessage))
        .isEqualTo(
            Map.of(
                "type",
                badMessage.getClass().getName(),
                "message",
                "<threw IllegalStateException>"));

    assertThat(encoded(encoder, new Throwing(1)))
        .isEqualTo(Map.of("fine", "<threw IllegalStateException>"));
  }

  @Test
  void entryWhoseValueThrowsCostsOnlyThatEntry() {
    Map.Entry<String, Object> lazy =
        new AbstractMap.SimpleEntry<>("lazy", null) {
          private static final long serialVersionUID = 1;

          @Override
          public Object getValue() {
            throw new IllegalStateException();
          }
        };
    Map<String, Object> m =
        new AbstractMap<>() {
          @Override
          public Set<Map.Entry<String, Object>> entrySet() {
            return new java.util.AbstractSet<>() {
              @Override
              public Iterator<Map.Entry<String, Object>> iterator() {
                return List.of(lazy, Map.<String, Object>entry("z", 1)).iterator();
              }

              @Override
              public int size() {
                return 2;
              }
            };
          }
        };
    assertThat(encoded(encoder, m))
        .isEqualTo(Map.of("lazy", "<threw IllegalStateException>", "z", big(1)));
  }

  @Test
  void toStringOfNullIsNull() {
    Object silent =
        new Object() {
          @Override
          public String toString() {
            return null;
          }
        };
    assertThat(encoded(silent)).isNull();
    assertThat(encoded(Map.of(silent, 1))).isEqualTo(Map.of("null", big(1)));
  }

  @Test
  void whatContainsItselfEndsThere() {
    Map<String, Object> m = new HashMap<>();
    m.put("self", m);
    assertThat(encoded(encoder, m)).isEqualTo(Map.of("self", "<cycle>"));
    List<Object> l = new ArrayList<>();
    l.add(new Object[] {l});
    assertThat(encoded(encoder, l)).isEqualTo(List.of(List.of("<cycle>")));
    AtomicReference<Object> r = new AtomicReference<>();
    r.set(r);
    assertThat(encoded(encoder, r)).isEqualTo("<cycle>");
    assertThat(encoder.placeholders()).isEqualTo(1);
    List<Object> twice = List.of(List.of(1), List.of(1));
    assertThat(encoded(Arrays.asList(twice, twice)))
        .isEqualTo(List.of(encoded(twice), encoded(twice)));
  }

  @Test
  void oneMillionLevelsAreCutAtTheLimit() {
    Object deep = "bottom";
    for (int i = 0; i < 1_000_000; i++) {
      deep = i % 2 == 0 ? List.of(deep) : Map.of("k", deep);
    }
    assertThat(encoded(small, deep).toString()).isEqualTo("{k=[{k=[{k=[…]}]}]}");
    assertThat(small.cuts()).isEqualTo(1);
  }

  @Test
  void endlessIterableIsCutAtTheLimit() {
    Iterable<Object> endless =
        () ->
            new Iterator<>() {
              @Override
              public boolean hasNext() {
                return true;
              }

              @Override
              public Object next() {
                return 1;
              }
            };
    assertThat((List<?>) encoded(small, endless)).hasSize(11).last().isEqualTo("…");
    Iterable<Object> ofItself =
        new Iterable<>() {
          @Override
          public Iterator<Object> iterator() {
            return List.<Object>of(this, this).iterator();
          }
        };
    assertThat(encoded(small, ofItself)).isEqualTo(List.of("<cycle>", "<cycle>"));
  }

  @Test
  void iterableThatBranchesEndlesslyEndsWithTheNodes() {
    class Branching implements Iterable<Object> {
      @Override
      public Iterator<Object> iterator() {
        return List.<Object>of(new Branching(), new Branching(), new Branching()).iterator();
      }
    }
    assertThat(encoded(small, new Branching()).toString()).contains("…");
    assertThat(out.position()).isLessThan(6000);
  }

  @Test
  void oneGigabyteOfCharactersIsReadOnlyToTheCut() {
    class Lazy implements CharSequence {
      int asked;

      @Override
      public int length() {
        return 1 << 30;
      }

      @Override
      public char charAt(int index) {
        asked++;
        return 'x';
      }

      @Override
      public CharSequence subSequence(int start, int end) {
        throw new IllegalStateException();
      }

      @Override
      public String toString() {
        throw new OutOfMemoryError();
      }
    }
    Lazy lazy = new Lazy();
    assertThat(encoded(small, lazy)).isEqualTo("x".repeat(37) + "…");
    assertThat(lazy.asked).isLessThan(50);
    assertThat(small.cuts()).isEqualTo(1);
    assertThat(encoded(small, Map.of(lazy, 1))).isEqualTo(Map.of("x".repeat(125) + "…", big(1)));
  }

  @Test
  void everythingCutIsMarkedAndCounted() {
    assertThat(encoded(small, "y".repeat(41))).isEqualTo("y".repeat(37) + "…");
    assertThat(small.cuts()).isEqualTo(1);
    assertThat(encoded(small, new int[11])).isEqualTo(Arrays.asList(cutZeros()));
    assertThat(small.cuts()).isEqualTo(1);
    Map<Object, Object> m = new TreeMap<>();
    for (int i = 10; i < 30; i++) {
      m.put(i, i);
    }
    Map<String, Object> read = encodedMap(small, m);
    assertThat(read).hasSize(11).containsEntry("…", true).containsEntry("19", big(19));
    assertThat(small.cuts()).isEqualTo(1);
    assertThat(encoded(small, new byte[41])).isEqualTo(List.of(ByteBuffer.wrap(new byte[40]), "…"));
    assertThat(small.cuts()).isEqualTo(1);
    assertThat(encoded(small, Map.of("k".repeat(200), 1)))
        .isEqualTo(Map.of("k".repeat(125) + "…", big(1)));
    assertThat(small.cuts()).isEqualTo(1);
  }

  private static Object[] cutZeros() {
    Object[] zeros = new Object[11];
    Arrays.fill(zeros, BigInteger.ZERO);
    zeros[10] = "…";
    return zeros;
  }

  @Test
  void mapThatChangesMeanwhileKeepsWhatWasEncodedAndIsMarked() {
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("a", 1);
    m.put(
        "b",
        new Object() {
          @Override
          public String toString() {
            m.put("later" + m.size(), 1);
            return "b";
          }
        });
    assertThat(encodedMap(encoder, m)).containsEntry("a", big(1)).containsEntry("…", true);
    assertThat(encoder.cuts()).isEqualTo(1);
  }

  @Test
  void collectionsChangedByAnotherThreadAreWellFormed() throws InterruptedException {
    Map<Object, Object> map = new HashMap<>();
    List<Object> list = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    AtomicBoolean stop = new AtomicBoolean();
    Thread changing =
        new Thread(
            () -> {
              for (int i = 0; !stop.get(); i++) {
                map.put(i % 100, i);
                map.remove((i + 50) % 100);
                list.add(i);
                if (list.size() > 50) {
                  list.subList(0, 40).clear();
                }
                text.append("aé");
                if (text.length() > 100) {
                  text.setLength(1);
                }
              }
            });
    changing.start();
    try {
      for (int i = 0; i < 5_000; i++) {
        encoded(encoder, Arrays.asList(map, list, text));
      }
    } finally {
      stop.set(true);
      changing.join();
    }
  }

  @Test
  void valueThatEncodesMeanwhileDisturbsNothing() {
    KeyCache keys = new KeyCache();
    CborWriter innerOut = new CborWriter(new byte[1000], keys);
    ValueEncoder inner = new ValueEncoder(innerOut, EncodeLimits.DEFAULT);
    Object logging =
        new Object() {
          @Override
          public String toString() {
            innerOut.reset(0, 1000);
            return "inner wrote "
                + inner.value(Map.of("key", List.of("inner")))
                + innerOut.position();
          }
        };
    assertThat(encoded(Map.of("key", List.of("outer", logging, "outer"))))
        .isEqualTo(Map.of("key", List.of("outer", "inner wrote true14", "outer")));
  }

  @Test
  void callerWithLittleStackLeftGetsAnAnswer() {
    Object deep = List.of(Map.of("a", List.of(Map.of("b", new Point(1, "x")))));
    for (int i = 0; i < 20; i++) {
      atTheEndOfTheStack(deep);
    }
    assertThat(encoded(deep).toString()).isEqualTo("[{a=[{b={x=1, label=x}}]}]");
  }

  private int atTheEndOfTheStack(Object value) {
    int below;
    try {
      below = 1 + atTheEndOfTheStack(value);
    } catch (StackOverflowError e) {
      below = 0;
    }
    if (below < 60) {
      // In the outermost frames it may overflow in this test; in the encoder it must not escape.
      try {
        out.reset(0, 300_000);
      } catch (StackOverflowError e) {
        return below;
      }
      boolean written;
      try {
        written = encoder.value(value);
      } catch (StackOverflowError e) {
        // Thrown by the call itself, before its first instruction.
        return below;
      }
      if (below > 40) {
        assertThat(written ? 1 : out.position()).isLessThan(2);
      }
    }
    return below;
  }

  @Test
  void valueWithinEveryRoomIsWellFormedAndWithinIt() {
    List<Object> nasty = new ArrayList<>();
    Map<String, Object> m = new LinkedHashMap<>();
    m.put("text", "aé水😀\ud800");
    m.put(
        "numbers", new Object[] {1, -1L, 0.5, 0.5f, BigInteger.TEN.pow(30), new BigDecimal("1.5")});
    m.put("bytes", new byte[30]);
    m.put("deep", List.of(List.of(List.of(Map.of("k", List.of("bottom"))))));
    m.put("bad", List.of(bad(), Map.of(bad(), bad())));
    m.put("self", m);
    Exception error = new IllegalStateException("x", new RuntimeException());
    error.setStackTrace(Arrays.copyOf(error.getStackTrace(), 5));
    error.getCause().setStackTrace(Arrays.copyOf(error.getStackTrace(), 2));
    m.put("error", error);
    m.put("record", new Point(1, "label"));
    m.put("empty", List.of(List.of(), Map.of(), "", new byte[0], Optional.empty()));
    m.put("long", "z".repeat(300));
    nasty.add(m);
    nasty.add("😀".repeat(20));
    nasty.add(new byte[60]);
    nasty.add(Map.of("k", new byte[60]));
    nasty.add(new BigDecimal("12345678901234567890.12345"));
    nasty.add(List.of(Map.of("a", 1), Map.of("b", 2)));
    for (Object value : nasty) {
      for (ValueEncoder by : List.of(small, encoder)) {
        Object full = encoded(by, value);
        int size = out.position();
        for (int room = 0; room <= size + 40; room++) {
          judgeWithin(by, value, room, full);
        }
      }
    }
  }

  private void judgeWithin(ValueEncoder by, Object value, int room, Object full) {
    int from = 11;
    Arrays.fill(out.bytes(), from + room, from + room + 64, (byte) 0x55);
    out.reset(from, from + room);
    by.resetCounts();
    boolean written = by.value(value);
    assertThat(out.limit()).isEqualTo(from + room);
    boolean untouched = true;
    for (int i = from + room; i < from + room + 64; i++) {
      untouched &= out.bytes()[i] == (byte) 0x55;
    }
    assertThat(untouched).isTrue();
    if (written) {
      Object read = CborJudge.read(out.bytes(), from, out.position());
      if (by.cuts() == 0) {
        assertThat(read).isEqualTo(full);
      } else {
        assertThat(read.toString()).contains("…");
      }
    } else {
      assertThat(out.position()).isEqualTo(from);
      assertThat(room).isLessThan(40);
    }
  }

  @Test
  void maxBytesBoundsTheWholeValue() {
    ValueEncoder tight = new ValueEncoder(out, new EncodeLimits(50, 1000, 5, 100, 100, 1));
    assertThat((List<?>) encoded(tight, new int[100])).last().isEqualTo("…");
    assertThat(out.position()).isLessThanOrEqualTo(50);
  }

  @Test
  void limitWithoutRoomForAMarkIsRefused() {
    assertThatThrownBy(() -> new EncodeLimits(100, 100, 5, 7, 10, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("encode limit is too small: maxStringBytes=7, least=8");
  }

  @Test
  void listThatGrowsWhileItIsReadEndsAtTheLimit() {
    List<Object> growing = new Growing();
    assertThat((List<?>) encoded(small, growing)).hasSize(11);
  }

  private static final class Growing extends AbstractList<Object>
      implements java.util.RandomAccess {
    private int size = 1;

    @Override
    public Object get(int index) {
      size++;
      return index;
    }

    @Override
    public int size() {
      return size;
    }
  }

  @Test
  void commonValuesAllocateNothingOnceWarm() {
    Map<String, Object> map = new HashMap<>();
    map.put("url", "https://shop.example.com/api/v2/orders/1234567");
    map.put("method", "POST");
    map.put("status", 200);
    map.put("bytes", 1L << 40);
    map.put("cached", false);
    map.put("ratio", 0.75);
    map.put("name", "grün");
    Map<String, Object> values = new LinkedHashMap<>();
    values.put("HashMap", map);
    values.put("LinkedHashMap", new LinkedHashMap<>(map));
    values.put("TreeMap", new TreeMap<>(map));
    values.put("Map.of one", Map.of("rows", 3));
    values.put("ArrayList", new ArrayList<>(map.values()));
    values.put("List.of", List.of("a", 1));
    values.put("array", new Object[] {"a", 1, 2L});
    values.put("longs", new long[] {1, 2, 3});
    values.put("bytes", new byte[100]);
    values.put("nested", new HashMap<>(Map.of("a", map, "b", List.of(1, 2))));
    values.forEach(this::assertAllocatesNothingOnceWarm);
  }

  // The iterator of Map.of has to be dissolved by the compiler, which depends on what else it has
  // seen: nothing in a process that mostly encodes; up to all its objects in this one.
  @Test
  void immutableMapOfManyAllocatesItsIteratorAtMost() {
    Map<String, Object> map = Map.of("url", "/orders", "method", "POST", "status", 200);
    for (int i = 0; i < 50_000; i++) {
      out.reset(0, 1000);
      encoder.value(map);
    }
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 2_000; i++) {
      out.reset(0, 1000);
      encoder.value(map);
    }
    long perCall = (THREADS.getCurrentThreadAllocatedBytes() - before) / 2_000;
    // Entry set, iterator, three entries.
    assertThat(perCall).isLessThanOrEqualTo(16 + 24 + 3 * 24);
  }

  @Test
  void mapThatIsNewForEachCallAllocatesNothing() {
    List<Map<String, Object>> maps = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      maps.add(new HashMap<>(Map.of("rows", i)));
    }
    assertAllocatesNothingOnceWarm("warm", new HashMap<>(Map.of("rows", 1)));
    long before = THREADS.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < maps.size(); i++) {
      out.reset(0, 1000);
      encoder.value(maps.get(i));
    }
    assertThat(THREADS.getCurrentThreadAllocatedBytes() - before).isLessThan(maps.size());
  }

  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();

  private void assertAllocatesNothingOnceWarm(String name, Object value) {
    long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    long bytes;
    do {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < 2_000; i++) {
        out.reset(0, 1000);
        encoder.value(value);
      }
      bytes = THREADS.getCurrentThreadAllocatedBytes() - before;
    } while (bytes > 0 && System.nanoTime() < limit);
    assertThat(bytes).as("%s: bytes in 2,000 calls", name).isZero();
  }
}
